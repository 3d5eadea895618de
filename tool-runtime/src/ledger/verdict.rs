//! What was decided of a call, before anything ran.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::limits::LimitUse;
use super::micros::to_micros;
use super::ruled::RulingRecord;
use crate::call::{CallId, Code, Place, Word, placed};
use crate::checklist::Slot;
use crate::gate::{Addressee, QuestionId};
use crate::schema::Digest;

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

placed! {
    Verdict: 0.place;
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
