use std::sync::Arc;
use std::time::SystemTime;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::history::{CaseHistory, CaseState, History, Leases};
use super::stored::{Owner, Stored};
use crate::call::{CallId, CaseId, Code, Content, Place, ToolCall, ToolResult, Word, placed};

/// What can be said of a call whose host stopped before its end. Only this crate can make one.
#[derive(Debug, PartialEq, Eq)]
pub struct Repaired {
    place: Place,
    call_id: CallId,
    tool: Word,
    code: Code,
    content: Content,
}

placed! {
    Repaired: place;
}

impl Repaired {
    /// The call.
    pub fn call_id(&self) -> &CallId {
        &self.call_id
    }

    /// The tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// `not_started` or `outcome_unknown`.
    pub fn code(&self) -> Code {
        self.code
    }

    /// What the model reads of it.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// What the model reads of it.
    pub fn to_result(&self) -> ToolResult {
        failed(self.call_id.clone(), self.tool.clone(), self.content.clone())
    }

    fn of(case: &CaseHistory, code: Code) -> Option<Self> {
        let first = case.entries().first()?;
        let repeatable = case.verdict().is_some_and(Stored::is_repeatable);
        Some(Repaired {
            place: Place { case: case.id(), conversation: case.conversation().map(Into::into) },
            call_id: first.call_id().clone(),
            tool: case.tool().into(),
            code,
            content: said(case.tool(), code, repeatable, Some(case.id())),
        })
    }
}

impl Serialize for Repaired {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Repaired", 7)?;
        fields.serialize_field("entry", "repaired")?;
        self.place.serialize_into(&mut fields)?;
        fields.serialize_field("call_id", &self.call_id)?;
        fields.serialize_field("tool", &*self.tool)?;
        fields.serialize_field("code", &self.code)?;
        fields.serialize_field("content", &self.content)?;
        fields.end()
    }
}

/// What a model reads of a call that was cut off.
fn said(tool: &str, code: Code, repeatable: bool, case: Option<CaseId>) -> Content {
    let tool = crate::schema::text::shown(tool, 80);
    let record = case.map(|case| format!(" (record {case})")).unwrap_or_default();
    Content::text(match code {
        Code::NotStarted => {
            format!("`{tool}` did not start: the host stopped before. Call it again if it is still wanted.{record}")
        }
        _ if repeatable => format!(
            "The outcome of this call of `{tool}` is not known: the host stopped meanwhile. It does no harm to call it again.{record}"
        ),
        _ => format!(
            "The outcome of this call of `{tool}` is not known: the host stopped meanwhile, and its effects may have happened. Don't repeat it; look at the state first, or ask.{record}"
        ),
    })
}

fn failed(call_id: CallId, name: Word, content: Content) -> ToolResult {
    ToolResult { call_id, name, content, is_error: true, asides: Vec::new() }
}

impl History {
    /// What can be said of calls whose hosts have stopped: those that were never cleared did not start;
    /// those that were cleared and have no end have an outcome that nobody knows.
    ///
    /// Depends on nothing but what is given, changes nothing, and says nothing of what it said before:
    /// to settle these calls, append the entries. It leaves alone calls that wait for an answer, and
    /// those of hosts that may be alive: of `me`, and of others whose lease lasts longer than `now`.
    /// An earlier start of my own host is over.
    pub fn repair(&self, now: SystemTime, me: &Owner) -> Vec<Arc<Repaired>> {
        let is_over = |case: &CaseHistory| match case.entries().iter().rev().find_map(Stored::owner) {
            None => true,
            Some(owner) if owner == me => false,
            Some(owner) if owner.host() == me.host() => true,
            Some(owner) => match &self.leases {
                Leases::OneWriter => true,
                Leases::Until(leases) => leases.get(owner).is_none_or(|until| *until <= now),
            },
        };
        let repaired = |case: &CaseHistory| match case.state() {
            CaseState::Running => Repaired::of(case, Code::OutcomeUnknown),
            CaseState::Asked | CaseState::Refused(_) => Repaired::of(case, Code::NotStarted),
            CaseState::Waiting | CaseState::Answered | CaseState::Ended(_) => None,
        };
        self.cases().iter().filter(|case| is_over(case)).filter_map(repaired).map(Arc::new).collect()
    }

    /// One result for each call of a turn whose host has stopped, in their order: what the ledger has,
    /// and for calls that it doesn't know, that they did not start.
    ///
    /// Where a provider repeats its ids, the newest call of an id is the one that counts: read a
    /// [conversation](super::Query::conversation), and its last turn.
    pub fn results(&self, calls: &[ToolCall]) -> Vec<ToolResult> {
        calls.iter().map(|call| self.result(call)).collect()
    }

    fn result(&self, call: &ToolCall) -> ToolResult {
        let (call_id, name) = (call.id.clone(), call.name.clone());
        let newest =
            self.cases().iter().rev().find(|case| case.call_id() == Some(&call.id) && case.tool() == &*call.name);
        let Some(case) = newest else {
            return failed(call_id, name, said(&call.name, Code::NotStarted, false, None));
        };
        if let Some((end, content)) = case.end().and_then(|end| end.content().map(|content| (end, content))) {
            let is_error = end.code() != Some(Code::Ok);
            return ToolResult { call_id, name, content, is_error, asides: Vec::new() };
        }
        let repeatable = case.verdict().is_some_and(Stored::is_repeatable);
        let content = match case.state() {
            CaseState::Waiting | CaseState::Answered => Content::text(format!(
                "`{}` has not run yet: a person has been asked about this call, and the answer comes later.",
                &*name
            )),
            CaseState::Running => said(&name, Code::OutcomeUnknown, repeatable, Some(case.id())),
            _ => said(&name, Code::NotStarted, repeatable, Some(case.id())),
        };
        failed(call_id, name, content)
    }
}
