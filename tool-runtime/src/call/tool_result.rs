use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::{CallId, Content, Word};
use crate::schema::{ModelFacing, sealed::Sealed};

/// What a model reads of one call: always exactly one, whatever happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    pub(crate) call_id: CallId,
    pub(crate) name: Word,
    pub(crate) content: Content,
    pub(crate) is_error: bool,
    pub(crate) asides: Vec<Content>,
}

impl ToolResult {
    /// The call that this answers.
    pub fn call_id(&self) -> &CallId {
        &self.call_id
    }

    /// The name under which the model called the tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the model reads.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// The text of the content.
    pub fn text(&self) -> String {
        self.content.to_text()
    }

    /// Messages that ride on the result and are given to the model after the results of its turn:
    /// nothing may stand between a call and its result.
    pub fn asides(&self) -> &[Content] {
        &self.asides
    }

    /// The call failed, or did not run.
    pub fn is_error(&self) -> bool {
        self.is_error
    }
}

impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("ToolResult", 5)?;
        fields.serialize_field("call_id", &self.call_id)?;
        fields.serialize_field("name", &*self.name)?;
        fields.serialize_field("content", &self.content)?;
        fields.serialize_field("is_error", &self.is_error)?;
        match self.asides.as_slice() {
            [] => fields.skip_field("asides")?,
            asides => fields.serialize_field("asides", asides)?,
        }
        fields.end()
    }
}

impl Sealed for ToolResult {}
#[diagnostic::do_not_recommend]
impl ModelFacing for ToolResult {}
