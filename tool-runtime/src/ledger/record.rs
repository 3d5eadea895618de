use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::LedgerError;
use super::asked::{AnsweredRecord, AskedRecord};
use super::declaration::DeclarationRecord;
use super::form::FormRecord;
use super::limits::LimitUse;
use super::repair::Repaired;
use super::ruled::RulingRecord;
use crate::call::{CallId, CaseId, Code, Content, Place, Word, placed};
use crate::checklist::Slot;
use crate::gate::{Addressee, QuestionId};
use crate::schema::{Digest, json};
use crate::tool::{Card, CardData};

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
    Verdict: 0.place;
    Record: 0.place;
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

/// Microseconds since 1970, as ledgers write times.
pub(crate) fn to_micros(time: SystemTime) -> i64 {
    let since = |span: Duration| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
    time.duration_since(UNIX_EPOCH).map_or_else(|before| -since(before.duration()), since)
}

/// The time that was written so. `None` if no clock can show it.
pub(crate) fn from_micros(micros: i64) -> Option<SystemTime> {
    let span = Duration::from_micros(micros.unsigned_abs());
    if micros < 0 { UNIX_EPOCH.checked_sub(span) } else { UNIX_EPOCH.checked_add(span) }
}

pub(super) fn in_micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

/// Is a verdict a yes?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerdictKind {
    /// The call may run, once.
    Cleared,
    /// It may not; the code says why.
    Blocked(Code),
}

/// What was decided of one revision of one call, and why. Only this crate can make one.
#[derive(Debug, PartialEq, Eq)]
pub struct Verdict(VerdictParts);

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct VerdictParts {
    pub(crate) place: Place,
    pub(crate) call_id: CallId,
    pub(crate) tool: Word,
    pub(crate) definition: Digest,
    pub(crate) revision: u32,
    /// Canonical text with its secrets redacted.
    pub(crate) arguments: String,
    pub(crate) kind: VerdictKind,
    pub(crate) reasons: Vec<String>,
    pub(crate) open: Vec<String>,
    pub(crate) question: Option<QuestionId>,
    /// Of a call that waits for several answers: the other questions.
    pub(crate) besides: Vec<QuestionId>,
    /// Who has agreed, in which question.
    pub(crate) approvals: Vec<(Addressee, QuestionId)>,
    /// The question to which a yes for the session spared one about this call.
    pub(crate) grant: Option<QuestionId>,
    /// Which checklist it was held against.
    pub(crate) list: Option<Digest>,
    pub(crate) slots: Vec<Slot>,
    /// Running it twice does no harm, its author says.
    pub(crate) repeatable: bool,
    /// Of a call that waits: until when it does.
    pub(crate) expires: Option<SystemTime>,
    /// Of a call from one of several sampled plans.
    pub(crate) plan: Option<Arc<RulingRecord>>,
    /// What running it takes of limits.
    pub(crate) uses: Vec<LimitUse>,
}

impl Verdict {
    /// Where its call belongs.
    pub(super) fn place(&self) -> &Place {
        &self.0.place
    }

    pub(crate) fn new(parts: VerdictParts) -> Self {
        Verdict(parts)
    }

    /// The call.
    pub fn call_id(&self) -> &CallId {
        &self.0.call_id
    }

    /// Of a call that waits for an answer: until when.
    pub fn expires(&self) -> Option<SystemTime> {
        self.0.expires
    }

    /// The tool.
    pub fn tool(&self) -> &str {
        &self.0.tool
    }

    /// The definition that was judged.
    pub fn definition(&self) -> &Digest {
        &self.0.definition
    }

    /// Which revision of the call was judged, from 1.
    pub fn revision(&self) -> u32 {
        self.0.revision
    }

    /// The accepted arguments as canonical text, secrets redacted.
    pub fn arguments(&self) -> &str {
        &self.0.arguments
    }

    /// May it run?
    pub fn kind(&self) -> VerdictKind {
        self.0.kind
    }

    /// Every rule that applied, not only the one that decided.
    pub fn reasons(&self) -> &[String] {
        &self.0.reasons
    }

    /// The slots that nobody has filled: JSON Pointers of arguments, and names of other lines.
    pub fn open(&self) -> &[String] {
        &self.0.open
    }

    /// The question that a person was asked about this very call. `None`: nobody was asked.
    pub fn question(&self) -> Option<&QuestionId> {
        self.0.question.as_ref()
    }

    /// Of a call that waits for several people: the questions that it waits for beside [that one](Self::question).
    pub fn besides(&self) -> &[QuestionId] {
        &self.0.besides
    }

    /// Who has agreed to it, each in which question.
    pub fn approvals(&self) -> impl ExactSizeIterator<Item = (&Addressee, &QuestionId)> {
        self.0.approvals.iter().map(|(by, question)| (by, question))
    }

    /// The earlier question whose answer, a yes for the session, spared a question about this call.
    pub fn grant(&self) -> Option<&QuestionId> {
        self.0.grant.as_ref()
    }

    /// Identifies the checklist that the call was held against: see [`Checklist::digest`](crate::Checklist::digest).
    /// `None` if none asked for anything.
    pub fn checklist(&self) -> Option<&Digest> {
        self.0.list.as_ref()
    }

    /// What was ruled of the sampled plans that the call is from. `None` if it was proposed alone.
    pub fn plan(&self) -> Option<&RulingRecord> {
        self.0.plan.as_deref()
    }

    /// Of a cleared call: what it takes of which limits.
    pub fn uses(&self) -> &[LimitUse] {
        &self.0.uses
    }

    /// Every line of the checklist that was about the call, and what came of it.
    pub fn slots(&self) -> &[Slot] {
        &self.0.slots
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = &self.0;
        let mut fields = serializer.serialize_struct("Verdict", 20)?;
        fields.serialize_field("entry", "verdict")?;
        parts.place.serialize_into(&mut fields)?;
        fields.serialize_field("call_id", &parts.call_id)?;
        fields.serialize_field("tool", &*parts.tool)?;
        fields.serialize_field("definition", &parts.definition.to_string())?;
        fields.serialize_field("revision", &parts.revision)?;
        fields.serialize_field("arguments", &parts.arguments)?;
        match parts.kind {
            VerdictKind::Cleared => fields.serialize_field("verdict", "cleared")?,
            VerdictKind::Blocked(code) => fields.serialize_field("verdict", &code)?,
        }
        fields.serialize_field("reasons", &parts.reasons)?;
        fields.serialize_field("open", &parts.open)?;
        match &parts.question {
            Some(question) => fields.serialize_field("question", question)?,
            None => fields.skip_field("question")?,
        }
        match parts.besides.is_empty() {
            true => fields.skip_field("besides")?,
            false => fields.serialize_field("besides", &parts.besides)?,
        }
        match parts.approvals.is_empty() {
            true => fields.skip_field("approvals")?,
            false => {
                let approvals: BTreeMap<String, &QuestionId> =
                    parts.approvals.iter().map(|(by, question)| (by.to_string(), question)).collect();
                fields.serialize_field("approvals", &approvals)?;
            }
        }
        match &parts.grant {
            Some(grant) => fields.serialize_field("grant", grant)?,
            None => fields.skip_field("grant")?,
        }
        match &parts.list {
            Some(list) => fields.serialize_field("checklist", &list.to_string())?,
            None => fields.skip_field("checklist")?,
        }
        match parts.slots.is_empty() {
            true => fields.skip_field("slots")?,
            false => fields.serialize_field("slots", &parts.slots)?,
        }
        match parts.repeatable {
            true => fields.serialize_field("repeatable", &true)?,
            false => fields.skip_field("repeatable")?,
        }
        match &parts.plan {
            Some(plan) => fields.serialize_field("plan", &**plan)?,
            None => fields.skip_field("plan")?,
        }
        match parts.uses.is_empty() {
            true => fields.skip_field("limits")?,
            false => fields.serialize_field("limits", &parts.uses)?,
        }
        match parts.expires {
            Some(expires) => fields.serialize_field("expires_us", &to_micros(expires))?,
            None => fields.skip_field("expires_us")?,
        }
        fields.end()
    }
}

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
