//! Going on with a call that has waited for an answer, in this process or another.

use std::sync::Arc;
use std::time::SystemTime;

use super::ask::{Asked, bound};
use super::decide::Decided;
use super::state::{Approval, State};
use crate::call::{Place, ToolCall};
use crate::gate::{Answer, Grants};
use crate::ledger::{Claimed, LedgerKey};

/// The call as it was accepted then: its text is the canonical one.
pub(crate) fn proposal(claimed: &Claimed) -> (Place, ToolCall) {
    let verdict = claimed.verdict();
    let place = Place { case: verdict.case(), conversation: verdict.conversation().map(Arc::from) };
    let call = ToolCall::new(verdict.call_id().clone(), verdict.tool(), claimed.canonical().unwrap_or_default());
    (place, call)
}

impl Decided {
    /// What was answered counts no more.
    pub(crate) fn revoked(self, claimed: &Claimed) -> Self {
        let Decided(mut state) = self;
        state.revision = claimed.verdict().revision().unwrap_or(state.revision);
        state.question = claimed.asked().question();
        state.approval = Approval::Void("it was taken back");
        Decided(state)
    }

    /// Takes up what was answered meanwhile. The call was resolved, accepted, checked and judged anew;
    /// unless it is the same to the byte, and the tool is, nothing that was answered counts.
    pub(crate) fn answered(
        self,
        claimed: &Claimed,
        key: &LedgerKey,
        grants: &Grants,
        now: SystemTime,
        user_apart: bool,
    ) -> Self {
        let Decided(mut state) = self;
        state.revision = claimed.verdict().revision().unwrap_or(state.revision);
        state.question = claimed.asked().question();
        state.approval = comes_to(&state, claimed, key, now);
        state.hears_again(claimed, user_apart);
        // What is denied now is not granted for later.
        if let (Approval::Given(Some(scope)), true, Some(question)) =
            (state.approval, state.ruling.denied.is_empty(), state.question.clone())
        {
            grants.add(state.tool(), state.canonical(), scope, question);
        }
        Decided(state)
    }
}

fn comes_to(state: &State, claimed: &Claimed, key: &LedgerKey, now: SystemTime) -> Approval {
    let Some(answered) = claimed.answered() else { return Approval::Expired };
    if claimed.verdict().definition().as_ref() != Some(state.tool().digest()) {
        return Approval::Void("the tool has another definition now");
    }
    if claimed.canonical() != Some(state.canonical()) {
        return Approval::Void("the arguments read otherwise now");
    }
    let binds = answered.binds();
    if binds.is_none() || binds.as_ref() != Some(bound(state, key).digest()) {
        return Approval::Void("it was given for other values");
    }
    match answered.answer() {
        Some(Answer::No) => Approval::Refused,
        _ if claimed.verdict().expires().is_some_and(|expires| expires <= now) => Approval::Expired,
        Some(Answer::Yes) => Approval::Given(None),
        Some(Answer::YesForSession(scope)) => Approval::Given(Some(scope)),
        _ => Approval::Unavailable,
    }
}

impl Asked {
    /// If it is going to wait: until when.
    pub(crate) fn waits_until(mut self, expires: Option<SystemTime>) -> Self {
        if let Asked::Pending(pending) = &mut self {
            pending.0.expires = expires;
        }
        self
    }
}
