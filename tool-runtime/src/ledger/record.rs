//! What came of a call.

use std::sync::Arc;
use std::time::Duration;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::micros::in_micros;
use super::verdict::Verdict;
use crate::call::{CallId, Code, Content, Place, Word, placed};
use crate::tool::{Card, CardData};

/// What came of one call: one record for each, however it ended. Only this crate can make one.
#[derive(Debug, PartialEq)]
pub struct Record(RecordParts);

#[derive(Debug, PartialEq)]
pub(crate) struct RecordParts {
    pub(crate) place: Place,
    pub(crate) call_id: CallId,
    pub(crate) tool: Word,
    pub(crate) code: Code,
    /// Of a tool's own error: its author's code.
    pub(crate) error_code: Option<Arc<str>>,
    /// The body had begun.
    pub(crate) started: bool,
    pub(crate) took: Duration,
    pub(crate) verdict: Option<Arc<Verdict>>,
    /// What the model read.
    pub(crate) content: Content,
    /// What it read only part of.
    pub(crate) whole: Option<Content>,
    /// What only the host may know.
    pub(crate) detail: Option<String>,
    pub(crate) card: Option<Card>,
    pub(crate) card_data: Option<CardData>,
    pub(crate) parent: Option<CallId>,
}

placed! {
    Record: 0.place;
}

impl Record {
    pub(crate) fn new(parts: RecordParts) -> Self {
        Record(parts)
    }

    /// The call.
    pub fn call_id(&self) -> &CallId {
        &self.0.call_id
    }

    /// The name under which the model called.
    pub fn tool(&self) -> &str {
        &self.0.tool
    }

    pub(crate) fn name(&self) -> &Word {
        &self.0.tool
    }

    /// How it ended.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The code that the tool's own error has: see [`CodedError`](crate::CodedError).
    pub fn error_code(&self) -> Option<&str> {
        self.0.error_code.as_deref()
    }

    /// The body had begun, so its effects may have happened.
    pub fn started(&self) -> bool {
        self.0.started
    }

    /// How long the body ran.
    pub fn took(&self) -> Duration {
        self.0.took
    }

    /// What was decided of it. `None` for a call that never came so far.
    pub fn verdict(&self) -> Option<&Verdict> {
        self.0.verdict.as_deref()
    }

    /// What the model read.
    pub fn content(&self) -> &Content {
        &self.0.content
    }

    /// The whole result, where the model read only its head and tail.
    pub fn whole(&self) -> Option<&Content> {
        self.0.whole.as_ref()
    }

    /// What only the host may know: causes of an error, the words of a panic, unreadable arguments.
    pub fn detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }

    /// The call whose tool made this one.
    pub fn parent(&self) -> Option<&CallId> {
        self.0.parent.as_ref()
    }

    /// What the body has left for a card, so that it can be made anew.
    pub fn card_data(&self) -> Option<&CardData> {
        self.0.card_data.as_ref()
    }

    /// What a person is shown.
    pub fn card(&self) -> Option<&Card> {
        self.0.card.as_ref()
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = &self.0;
        let mut fields = serializer.serialize_struct("Record", 15)?;
        fields.serialize_field("entry", "end")?;
        parts.place.serialize_into(&mut fields)?;
        fields.serialize_field("call_id", &parts.call_id)?;
        fields.serialize_field("tool", &*parts.tool)?;
        fields.serialize_field("code", &parts.code)?;
        match &parts.error_code {
            Some(code) => fields.serialize_field("error_code", &**code)?,
            None => fields.skip_field("error_code")?,
        }
        fields.serialize_field("started", &parts.started)?;
        fields.serialize_field("took_us", &in_micros(parts.took))?;
        fields.serialize_field("content", &parts.content)?;
        fields.serialize_field("whole", &parts.whole)?;
        fields.serialize_field("detail", &parts.detail)?;
        fields.serialize_field("card", &parts.card)?;
        match &parts.card_data {
            Some(data) => fields.serialize_field("card_data", data)?,
            None => fields.skip_field("card_data")?,
        }
        match &parts.parent {
            Some(parent) => fields.serialize_field("parent", parent)?,
            None => fields.skip_field("parent")?,
        }
        fields.end()
    }
}
