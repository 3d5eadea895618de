use std::sync::Arc;
use std::time::Duration;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::fills::Fills;
use super::micros::in_micros;
use super::verdict::Verdict;
use crate::call::{CallId, CaseId};
use crate::schema::json::Json;

/// What became of a form that a running call had a person fill in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FormEnd {
    /// It was filled in.
    FilledIn,
    /// The person said no.
    TurnedDown,
    /// It was closed, or nobody could be asked.
    LeftOpen,
    /// The call ended before anybody answered.
    GivenUp,
}

impl FormEnd {
    /// Its name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            FormEnd::FilledIn => "filled",
            FormEnd::TurnedDown => "declined",
            FormEnd::LeftOpen => "closed",
            FormEnd::GivenUp => "given_up",
        }
    }

    pub(super) fn read(word: &str) -> Option<Self> {
        let all = [FormEnd::FilledIn, FormEnd::TurnedDown, FormEnd::LeftOpen, FormEnd::GivenUp];
        all.into_iter().find(|end| end.as_str() == word)
    }
}

/// A running call had a person fill in a form. In the ledger before whoever asked for it has the answer. Only this crate
/// can make one.
#[derive(Debug, PartialEq, Eq)]
pub struct FormRecord {
    /// On which the call runs.
    verdict: Arc<Verdict>,
    server: Option<String>,
    asks: String,
    fields: Json,
    end: FormEnd,
    filled: Fills,
    waited: Duration,
}

impl FormRecord {
    #[cfg(feature = "mcp")]
    pub(crate) fn new(verdict: Arc<Verdict>, server: Option<String>, asks: String, fields: Json) -> Self {
        let (end, filled, waited) = (FormEnd::GivenUp, Fills::default(), Duration::ZERO);
        FormRecord { verdict, server, asks, fields, end, filled, waited }
    }

    #[cfg(feature = "mcp")]
    pub(crate) fn ended(self, end: FormEnd, filled: Fills, waited: Duration) -> Self {
        FormRecord { end, filled, waited, ..self }
    }

    /// The call's way through the host.
    pub fn case(&self) -> CaseId {
        self.verdict.case()
    }

    /// The conversation that the call belongs to.
    pub fn conversation(&self) -> Option<&str> {
        self.verdict.conversation()
    }

    /// The call.
    pub fn call_id(&self) -> &CallId {
        self.verdict.call_id()
    }

    /// The tool.
    pub fn tool(&self) -> &str {
        self.verdict.tool()
    }

    /// The remote server that asked. `None`: the tool did.
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// What the person read.
    pub fn asks(&self) -> &str {
        &self.asks
    }

    /// What became of it.
    pub fn end(&self) -> FormEnd {
        self.end
    }

    /// How long it took.
    pub fn waited(&self) -> Duration {
        self.waited
    }
}

impl Serialize for FormRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("FormRecord", 13)?;
        fields.serialize_field("entry", "form")?;
        self.verdict.place().serialize_into(&mut fields)?;
        fields.serialize_field("call_id", self.call_id())?;
        fields.serialize_field("tool", self.tool())?;
        match &self.server {
            Some(server) => fields.serialize_field("server", server)?,
            None => fields.skip_field("server")?,
        }
        fields.serialize_field("asks", &self.asks)?;
        fields.serialize_field("fields", &self.fields)?;
        fields.serialize_field("form", self.end.as_str())?;
        self.filled.serialize_into(&mut fields)?;
        fields.serialize_field("waited_us", &in_micros(self.waited))?;
        fields.end()
    }
}
