//! A line of a ledger.

use std::sync::Arc;
use std::time::Duration;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::LedgerError;
use super::asked::{AnsweredRecord, AskedRecord};
use super::declaration::DeclarationRecord;
use super::form::FormRecord;
use super::micros::in_micros;
use super::record::Record;
use super::repair::Repaired;
use super::verdict::Verdict;
use crate::call::{CallId, CaseId, Place, Word, placed};
use crate::schema::json;

/// One line of a ledger. Serialisable, and not model-facing. Cheap to clone.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Entry {
    /// A person is about to be asked about a call.
    Asked(Arc<AskedRecord>),
    /// What came of a question.
    Answered(Arc<AnsweredRecord>),
    /// What was decided of a call, before anything ran.
    Verdict(Arc<Verdict>),
    /// What came of a call.
    End(Arc<Record>),
    /// A body ended after its call had.
    LateEnd(Arc<LateEnd>),
    /// What can be said of a call whose host stopped before its end.
    Repaired(Arc<Repaired>),
    /// A running call had a person fill in a form.
    Form(Arc<FormRecord>),
    /// A tool's declaration went into quarantine, or came out of it. About no call.
    Declaration(Arc<DeclarationRecord>),
}

impl Entry {
    /// The call that it is about; of a declaration, a case of its own.
    pub fn case(&self) -> CaseId {
        match self {
            Entry::Asked(asked) => asked.case(),
            Entry::Answered(answered) => answered.case(),
            Entry::Verdict(verdict) => verdict.case(),
            Entry::End(record) => record.case(),
            Entry::LateEnd(late) => late.case(),
            Entry::Repaired(repaired) => repaired.case(),
            Entry::Form(form) => form.case(),
            Entry::Declaration(declaration) => declaration.case(),
        }
    }

    /// As ledgers keep it: one line of JSON, written by this crate alone, so that a build's other
    /// crates have no say in it.
    ///
    /// # Errors
    /// If something of the host's in it has no JSON form, such as a card's number that is infinite.
    pub fn to_text(&self) -> Result<String, LedgerError> {
        json::ser::write(self).map_err(LedgerError::new)
    }
}

placed! {
    LateEnd: place;
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Entry::Asked(asked) => asked.serialize(serializer),
            Entry::Answered(answered) => answered.serialize(serializer),
            Entry::Verdict(verdict) => verdict.serialize(serializer),
            Entry::End(record) => record.serialize(serializer),
            Entry::LateEnd(late) => late.serialize(serializer),
            Entry::Repaired(repaired) => repaired.serialize(serializer),
            Entry::Form(form) => form.serialize(serializer),
            Entry::Declaration(declaration) => declaration.serialize(serializer),
        }
    }
}

/// A body that could not be stopped has ended, after its call did. Only this crate can make one.
#[derive(Debug, PartialEq, Eq)]
pub struct LateEnd {
    place: Place,
    call_id: CallId,
    tool: Word,
    took: Duration,
}

impl LateEnd {
    pub(crate) fn new(place: Place, call_id: CallId, tool: Word, took: Duration) -> Self {
        LateEnd { place, call_id, tool, took }
    }

    /// The call that had ended before.
    pub fn call_id(&self) -> &CallId {
        &self.call_id
    }

    /// The tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// How long the body ran in all.
    pub fn took(&self) -> Duration {
        self.took
    }
}

impl Serialize for LateEnd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("LateEnd", 6)?;
        fields.serialize_field("entry", "late_end")?;
        self.place.serialize_into(&mut fields)?;
        fields.serialize_field("call_id", &self.call_id)?;
        fields.serialize_field("tool", &*self.tool)?;
        fields.serialize_field("took_us", &in_micros(self.took))?;
        fields.end()
    }
}
