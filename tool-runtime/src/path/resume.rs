//! Going on with a call that has waited for an answer, in this process or another.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::accept::{Acceptance, Accepted, Draft};
use super::ask::{Asked, argument, bound, takes};
use super::decide::Decided;
use super::state::{Approval, Listed, State};
use crate::call::{Place, Reported, ToolCall};
use crate::checklist::examine::Filled;
use crate::checklist::{Checklist, Kept, Slot, SlotKind, SlotState, Snapshot, TakesValue};
use crate::gate::{Addressee, Answer, FillError, Grants, Written};
use crate::ledger::{Claimed, Fill, GivenValue, LedgerKey, Reply, Stored};
use crate::schema::JsonPath;
use crate::schema::json::Json;
use crate::tool::HostTool;

/// The call as it was accepted then: its text is the canonical one. What was open is open, and where the rest was found
/// is where the model had pointed.
pub(crate) fn proposal(claimed: &Claimed) -> (Place, ToolCall) {
    let verdict = claimed.verdict();
    let place = Place { case: verdict.case(), conversation: verdict.conversation().map(Arc::from) };
    let slots = verdict.slots();
    let found = slots.iter().filter_map(|slot| match slot.state() {
        SlotState::Found { at, .. } => Some((slot.name(), at.pointer().to_string())),
        _ => None,
    });
    let reported = Reported::new(found.chain(change(&slots).map(|change| ("@change", change))));
    let call = ToolCall::new(verdict.call_id().clone(), verdict.tool(), claimed.canonical().unwrap_or_default())
        .with_no_result(verdict.open().into_iter().filter_map(argument))
        .with_reported(reported);
    (place, call)
}

/// What the change is, as the model reported it. It stands there as a value, since no place says it.
pub(super) fn change(slots: &[Slot]) -> Option<String> {
    let change = slots.iter().find(|slot| slot.name() == "@change")?;
    Some(Json::parse(change.value()?).ok()?.as_str()?.to_owned())
}

/// What is known of a slot since the model wrote the call.
fn filled(slot: &Slot) -> Option<Filled> {
    let SlotState::Answered(question) = slot.state() else { return None };
    match argument(slot.name()).filter(|_| slot.kind() == SlotKind::Value) {
        Some(path) => Some(Filled::Given(path, question.clone())),
        None => {
            let words = Json::parse(slot.value()?).ok()?;
            Some(Filled::Said(slot.name().into(), words.as_str()?.to_owned(), question.clone()))
        }
    }
}

/// The text without what the tool had filled in.
fn without_defaults(canonical: &str, asked: &Stored) -> String {
    let Ok(mut arguments) = Json::parse(canonical) else { return canonical.to_owned() };
    for path in asked.defaults().into_iter().filter_map(argument) {
        arguments.take_out(path.segments());
    }
    arguments.to_string()
}

/// What an answer needs to be taken up: who judges what was given with it, and by which key it is bound.
pub(crate) struct Answering<'a> {
    pub(crate) claimed: &'a Claimed,
    pub(crate) key: &'a LedgerKey,
    pub(crate) checklist: &'a Checklist,
    pub(crate) list: &'a Arc<Snapshot>,
    pub(crate) now: SystemTime,
    /// The host says who the user is.
    pub(crate) user_apart: bool,
}

impl Acceptance {
    /// What was answered counts no more.
    pub(crate) fn revoked(self, claimed: &Claimed) -> Self {
        self.goes_on(claimed, |state, open| {
            state.approval = Approval::Void("it was taken back");
            open
        })
    }

    /// Takes up what was answered meanwhile: unless the call is the same to the byte, and the tool is, nothing that was
    /// answered counts. What was given with a yes makes the next revision, before anything is looked up. Gives what the
    /// user wants to have kept besides.
    pub(crate) fn answered(self, by: &Answering<'_>) -> (Self, Vec<Kept>) {
        let Answering { claimed, key, .. } = *by;
        let mut kept = Vec::new();
        let going = self.goes_on(claimed, |state, open| {
            state.user_apart = by.user_apart;
            state.approval = comes_to(state, claimed, key, by.now);
            let mut listed = Listed::new(Arc::clone(by.list), open);
            listed.filled.extend(claimed.verdict().slots().iter().filter_map(filled));
            state.listed = Some(Box::new(listed));
            state.given = Some(without_defaults(state.canonical(), claimed.asked()));
            state.hears_again(claimed, key);
            if let (Approval::Given(_), Some(question)) = (state.approval, claimed.asked().question()) {
                let written = |Fill { slot, value, keep, .. }| Written {
                    question: question.clone(),
                    slot,
                    value,
                    keep,
                    at: None,
                };
                let filled = claimed.fills().into_iter().map(written).collect();
                kept = state.fill_in(Some(by.checklist), filled);
                let user = state.falls_to(&Addressee::User);
                if state.said.iter().any(|said| said.by == user && said.is_yes()) {
                    state.is_told();
                }
            }
            state.listed.as_ref().map(|listed| listed.open.clone()).unwrap_or_default()
        });
        (going, kept)
    }

    fn goes_on(self, claimed: &Claimed, with: impl FnOnce(&mut State, Vec<JsonPath>) -> Vec<JsonPath>) -> Self {
        let (mut state, open) = match self {
            Acceptance::Accepted(Accepted(state)) => (state, Vec::new()),
            Acceptance::Draft(Draft(state, open)) => (state, open),
        };
        state.revision = claimed.verdict().revision().unwrap_or(state.revision);
        state.plan = claimed.verdict().plan().map(Arc::new);
        state.question = claimed.asked().question();
        let open = with(&mut state, open);
        match open.is_empty() {
            true => Acceptance::Accepted(Accepted(state)),
            false => Acceptance::Draft(Draft(state, open)),
        }
    }
}

impl Decided {
    /// It was judged anew, with the answer. `true` if somebody has to be asked or told before it runs: whoever is heard
    /// after this one, or because of what was filled in.
    pub(crate) fn goes_on(self, grants: &Grants) -> (Self, bool) {
        let is_yes = matches!(self.0.approval, Approval::Given(_));
        if is_yes && (self.has_to_tell() || (self.waits() && !self.0.asked_of().is_empty())) {
            return (self, true);
        }
        self.0.grants(grants);
        (self, false)
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
    // Bound by the key of then, which may not be the one of now.
    let key = claimed.asked().key_id().and_then(|id| key.named(id)).unwrap_or(key);
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
    /// If it is going to wait: how long, from now on. Without a bound, for good.
    pub(crate) fn waits_for(mut self, patience: Option<Duration>) -> Self {
        if let Asked::Pending(pending) = &mut self {
            pending.0.expires = patience.and_then(|patience| SystemTime::now().checked_add(patience));
        }
        self
    }
}

/// Says whether a tool takes a value for a blank of a call that waits.
pub(crate) fn takes_for<'a>(tool: &'a HostTool, verdict: &'a Stored) -> TakesValue<'a> {
    let blanks: Vec<JsonPath> = verdict.open().into_iter().filter_map(argument).collect();
    let arguments = verdict.arguments().unwrap_or("{}");
    Box::new(move |slot, value| takes(tool, arguments, &blanks, slot, value).is_ok())
}

/// Does the tool take what is given for the blanks of a call that waits?
pub(crate) fn fits(tool: &HostTool, verdict: &Stored, reply: &Reply) -> Result<(), FillError> {
    let blanks: Vec<JsonPath> = verdict.open().into_iter().filter_map(argument).collect();
    let arguments = verdict.arguments().unwrap_or("{}");
    for GivenValue { slot, json, .. } in reply.filled() {
        let value = Json::parse(json).map_err(|_| FillError::no_json())?;
        if !verdict.open().contains(&slot.as_str()) {
            return Err(FillError::unknown());
        }
        takes(tool, arguments, &blanks, slot, &value).map_err(FillError::new)?;
    }
    Ok(())
}
