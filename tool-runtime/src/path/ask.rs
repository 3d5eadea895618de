//! One question for all calls of a turn.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Ending;
use super::confirmed::Agreed;
use super::decide::Decided;
use super::inquiry::{Inquiry, refused_before};
use super::record::{is_cleared, not_recorded};
use super::state::{Approval, State};
use crate::checklist::examine::Filled;
use crate::checklist::{Checklist, Unknown, put};
use crate::execute::until;
use crate::gate::{
    Answer, Approver, Blank, Grants, Guard, Policy, Question, QuestionId, QuestionSet, Sheet, Takes, Written, judge,
    what_runs,
};
use crate::ledger::{AskedRecord, Binding, Bound, Fills, Ledger, LedgerKey};
use crate::schema::json::Json;
use crate::schema::{JsonPath, Problem, Segment, Step};
use crate::tool::{Access, CatchPanic, HostTool, LabelKind, caught};

/// A call that waits for an answer which won't come in this turn. Recorded like any other, and
/// ended for now.
#[derive(Debug)]
#[must_use = "a call that isn't settled leaves the model without a result"]
pub struct Pending(pub(super) Box<State>);

/// What asking comes to for one call.
#[derive(Debug)]
pub enum Asked {
    /// Answered, or nothing was to be asked.
    Decided(Decided),
    /// The answer comes later.
    Pending(Pending),
    /// The question or its answer could not be recorded (`not_recorded`).
    Ended(Ending),
}

impl Asked {
    /// What a call touches that won't run.
    pub(crate) fn touches_nothing() -> Access {
        Access::Shared(Vec::new())
    }

    /// What running it would touch.
    pub(crate) fn access(&self) -> Access {
        match self {
            Asked::Decided(Decided(state)) if is_cleared(state) => state.access(),
            _ => Asked::touches_nothing(),
        }
    }

    /// Somebody has to be told something before it runs.
    pub(crate) fn has_to_tell(&self) -> bool {
        matches!(self, Asked::Decided(decided) if decided.has_to_tell())
    }

    /// A person has to say so first.
    pub fn has_to_ask(&self) -> bool {
        match self {
            Asked::Decided(decided) => decided.has_to_ask(),
            Asked::Pending(_) | Asked::Ended(_) => false,
        }
    }
}

/// What asking needs: who judges, where questions are recorded, and, if there is somebody, who is
/// asked.
#[derive(Clone)]
pub struct Asking<'a> {
    policy: &'a dyn Policy,
    guards: &'a [Arc<dyn Guard>],
    ledger: Arc<dyn Ledger>,
    approver: Option<&'a dyn Approver>,
    checklist: Option<&'a Checklist>,
    grants: Grants,
    token: Option<&'a CancellationToken>,
}

impl<'a> Asking<'a> {
    /// Nobody is asked yet, and nothing is granted. What is approved is judged again by `policy` and
    /// `guards`. The ledger is shared, since the end of a question is recorded also if nobody waits for
    /// it any more.
    pub fn new(policy: &'a dyn Policy, guards: &'a [Arc<dyn Guard>], ledger: Arc<dyn Ledger>) -> Self {
        Asking { policy, guards, ledger, approver: None, checklist: None, grants: Grants::new(), token: None }
    }

    /// Sets who is asked.
    #[must_use]
    pub fn approver(mut self, approver: &'a dyn Approver) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Sets the checklist that the calls were checked by: what it asks for is looked up again once there are answers.
    #[must_use]
    pub fn checklist(mut self, checklist: &'a Checklist) -> Self {
        self.checklist = Some(checklist);
        self
    }

    /// Sets what was granted for the session, and where further grants go.
    #[must_use]
    pub fn grants(mut self, grants: &Grants) -> Self {
        self.grants = grants.clone();
        self
    }

    /// Sets what withdraws the questions. Once it is cancelled nobody waits for an answer, and none
    /// counts.
    #[must_use]
    pub fn token(mut self, token: &'a CancellationToken) -> Self {
        self.token = Some(token);
        self
    }

    fn is_cancelled(&self) -> bool {
        self.token.is_some_and(CancellationToken::is_cancelled)
    }

    fn comes_to(&self, answer: Answer) -> Approval {
        match answer {
            Answer::Yes => Approval::Given(None),
            Answer::YesForSession(scope) => Approval::Given(Some(scope)),
            Answer::No => Approval::Refused,
            Answer::Later => Approval::Pending,
            Answer::Unavailable if self.approver.is_none() => Approval::NotAsked,
            Answer::Unavailable => Approval::Unavailable,
            Answer::Expired => Approval::Expired,
            Answer::Forbidden => Approval::Forbidden,
        }
    }

    /// Takes up what was answered: writes in what was filled in, and judges again what was approved. `true` if that
    /// brought up a reason to ask which nobody has seen.
    async fn take_up(&self, call: &mut Decided, binding: Binding, filled: Vec<Written>) -> bool {
        let state = &mut call.0;
        let Approval::Given(scope) = state.approval else { return false };
        state.agreed = state.question.clone().map(|question| Box::new(Agreed { binding, question }));
        let filled = filled.into_iter().map(|written| (written.slot, written.value));
        let revised = state.question.clone().is_some_and(|question| fill_in(state, self.checklist, &question, filled));
        // The world may have changed while a person thought.
        if let Some(checklist) = self.checklist {
            state.examine(checklist).await;
        }
        state.ruling = judge(self.policy, self.guards, &state.facts());
        if revised && call.brings_up_more() {
            return true;
        }
        call.granted(scope, &self.grants);
        false
    }

    /// Tells the user what calls that run unasked have to say first. It costs no answer; if nobody can be told, the
    /// record says so.
    async fn tell_notices(&self, calls: &mut [Decided]) {
        let mut notices: Vec<String> = Vec::new();
        for notice in calls.iter().filter(|call| call.has_to_tell()).flat_map(|call| call.0.notices()) {
            if !notices.contains(notice) {
                notices.push(notice.clone());
            }
        }
        let Some(approver) = self.approver.filter(|_| !notices.is_empty()) else { return };
        let told = match caught(|| approver.tell(notices)) {
            Ok(telling) => until(self.token, CatchPanic::new(telling)).await,
            Err(_) => None,
        };
        if let Some(Ok(true)) = told {
            calls.iter_mut().filter(|call| call.has_to_tell()).for_each(|call| call.0.is_told());
        }
    }

    /// What it comes to in the end.
    fn ends(&self, call: Decided) -> Asked {
        match call.0.approval {
            _ if call.0.question.is_some() && self.is_cancelled() => Asked::Decided(call.cancelled()),
            Approval::Pending => Asked::Pending(Pending(call.0)),
            _ => Asked::Decided(call),
        }
    }

    /// The answers to a set, as far as there are any. Without a question or an approver, and once
    /// it is withdrawn, there are none.
    async fn answers(&self, sheet: &Sheet, questions: Vec<Question>, notices: Vec<String>) -> Vec<Answer> {
        let Some(approver) = self.approver.filter(|_| !questions.is_empty() && !self.is_cancelled()) else {
            return Vec::new();
        };
        let token = self.token.map_or_else(CancellationToken::new, CancellationToken::child_token);
        // Whoever still shows a question can tell when nobody waits for it.
        let _over = token.clone().drop_guard();
        let set = QuestionSet::with(token, sheet.clone(), questions, notices);
        let answered = match caught(|| approver.ask(set)) {
            Ok(answering) => until(self.token, CatchPanic::new(answering)).await.unwrap_or_else(|| Ok(Vec::new())),
            Err(panic) => Err(panic),
        };
        answered.unwrap_or_else(|panic| {
            tracing::error!(target: "tool_runtime", panic, "the approver panicked; nothing was approved");
            Vec::new()
        })
    }
}

impl fmt::Debug for Asking<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asking").field("grants", &self.grants).finish_non_exhaustive()
    }
}

/// Writes what a person gave into the call. `true` if that made a revision.
pub(super) fn fill_in(
    state: &mut State,
    checklist: Option<&Checklist>,
    question: &QuestionId,
    filled: impl IntoIterator<Item = (String, Json)>,
) -> bool {
    let mut fills = Vec::new();
    for (slot, value) in filled {
        match argument(&slot) {
            Some(path) => fills.push((Filled::Given(path.clone(), question.clone()), path, value)),
            None => {
                let words = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                if let Some(listed) = &mut state.listed {
                    listed.filled.push(Filled::Said(slot.into(), words, question.clone()));
                }
            }
        }
    }
    // What the tool takes was checked when it was written down, one by one; together it may still be refused, and
    // then the call stays without it.
    let given: Vec<(JsonPath, Json)> = fills.iter().map(|(_, path, value)| (path.clone(), value.clone())).collect();
    if fills.is_empty() || state.revise(fills).is_err() {
        return false;
    }
    if let Some(checklist) = checklist {
        given.iter().for_each(|(path, value)| checklist.answered(state.tool(), &state.call.id, path, value));
    }
    true
}

/// Which argument a slot is, if it is one.
pub(super) fn argument(slot: &str) -> Option<JsonPath> {
    JsonPath::from_pointer(slot).filter(|path| !path.segments().is_empty())
}

/// How often at most people are asked about the calls of one turn. A second set is only ever made of reasons that came up
/// because of what was filled in.
const MOST_SETS: usize = 3;

/// Asks about all calls of a turn that wait for a go-ahead or for a value, in one set; the others pass, and so do
/// those that were granted for the session.
///
/// Each question is in the ledger before anybody is asked, and its end after that. Whatever was
/// approved is judged again: the world may have changed while a person thought. What is denied then
/// does not run; a further reason to ask asks nobody a second time. What was filled in makes the next revision of the
/// call, which is accepted, looked up and judged anew; only if that brings up a reason which nobody has seen, a second
/// set goes out. What can't have changed is what was shown: a call goes from stage to stage by value, with its arguments
/// and with the definition that was judged; a registry that replaces the tool meanwhile is another registry.
///
/// No approver, one that panics, and a missing answer are all no yes. Once the token is cancelled,
/// nobody waits for an answer, and none counts.
pub async fn ask(calls: Vec<Decided>, asking: Asking<'_>) -> Vec<Asked> {
    ask_and_tell(calls, asking, &mut |_, _| {}).await
}

/// As [`ask`]. `tell` is told of each question that is in the ledger, with the place of its call.
pub(crate) async fn ask_and_tell(
    calls: Vec<Decided>,
    asking: Asking<'_>,
    tell: &mut (dyn FnMut(usize, &Question) + Send),
) -> Vec<Asked> {
    let mut calls: Vec<Decided> = calls.into_iter().map(|call| call.spared_by(&asking.grants)).collect();
    // What the ledger said to those that it didn't take.
    let mut unrecorded = HashMap::new();
    let key = LedgerKey::of(&*asking.ledger);
    for call in calls.iter_mut().filter(|call| call.waits()) {
        refused_before(&mut call.0, &*asking.ledger, &key).await;
    }
    asking.tell_notices(&mut calls).await;
    let mut waiting: Vec<usize> = (0..calls.len()).filter(|&place| calls[place].waits()).collect();
    for _ in 0..MOST_SETS {
        let mut again = Vec::new();
        for (place, binding, filled) in one_set(&mut calls, waiting, &asking, &key, &mut unrecorded, tell).await {
            if asking.take_up(&mut calls[place], binding, filled).await {
                again.push(place);
            }
        }
        waiting = again;
        if waiting.is_empty() || asking.is_cancelled() {
            break;
        }
    }
    let ends = |(place, call): (usize, Decided)| match unrecorded.remove(&place) {
        Some(detail) => Asked::Ended(not_recorded(call.0, detail)),
        None => asking.ends(call),
    };
    calls.into_iter().enumerate().map(ends).collect()
}

/// Asks about some calls, and writes down what was said of each. Gives those about which something was, with what was
/// filled in.
async fn one_set(
    calls: &mut [Decided],
    waiting: Vec<usize>,
    asking: &Asking<'_>,
    key: &LedgerKey,
    unrecorded: &mut HashMap<usize, String>,
    tell: &mut (dyn FnMut(usize, &Question) + Send),
) -> Vec<(usize, Binding, Vec<Written>)> {
    let mut open = Vec::new();
    let (mut questions, mut notices, mut takes) = (Vec::new(), Vec::new(), Vec::new());
    for place in waiting {
        let call = &mut calls[place];
        let binding = bound(&call.0, key);
        let (question, told) = question(&call.0, &binding, key);
        call.0.question = Some(question.id.clone());
        call.0.is_shown(&question.reasons, &question.id);
        let mut inquiry = Inquiry::new(
            Arc::clone(&asking.ledger),
            AskedRecord::new(question.clone(), told.clone(), call.0.place.clone(), binding.clone()),
        );
        match until(asking.token, inquiry.recorded()).await {
            Some(Err(detail)) => {
                unrecorded.insert(place, detail);
                continue;
            }
            Some(Ok(())) if !asking.is_cancelled() => {
                tell(place, &question);
                takes.push((question.id.clone(), takes_values(&call.0)));
                open.push((place, question.id.clone(), binding, inquiry));
                questions.push(question);
                notices.extend(told.into_iter().filter(|notice| !notices.contains(notice)).collect::<Vec<_>>());
            }
            // Cancelled, as all the others are. The ledger has both ends of it.
            Some(Ok(())) | None => open.push((place, question.id.clone(), binding, inquiry)),
        }
    }
    let sheet = Sheet::new(takes);
    let mut answers = asking.answers(&sheet, questions, notices).await.into_iter();
    let mut answered = Vec::new();
    for (place, question, binding, mut inquiry) in open {
        // Whatever was answered before or after: nothing is to begin any more. Dropped, the question is
        // withdrawn.
        if asking.is_cancelled() {
            continue;
        }
        let answer = answers.next().unwrap_or(Answer::Unavailable);
        // Only what somebody said is signed.
        let signer = asking.approver.filter(|_| answer.is_yes() || answer == Answer::No);
        let signer = signer.and_then(|approver| caught(|| approver.signer()).ok().flatten());
        let written = if answer.is_yes() { sheet.of(&question) } else { Vec::new() };
        let fills = recorded_fills(&calls[place].0, &written);
        match until(asking.token, inquiry.answered(answer, fills, signer)).await {
            Some(Ok(())) => {
                calls[place].0.approval = asking.comes_to(answer);
                if answer.is_yes() || answer == Answer::No {
                    // Whoever has answered has seen the set.
                    calls[place].0.is_told();
                }
                answered.push((place, binding, written));
            }
            Some(Err(detail)) => {
                unrecorded.insert(place, detail);
            }
            None => {}
        }
    }
    answered
}

/// What was written into blanks, as the record of the answer has it.
fn recorded_fills(state: &State, written: &[Written]) -> Fills {
    let mut fills = Fills::default();
    for Written { slot, value, .. } in written {
        fills.add(slot.as_str(), value.clone(), is_secret(state, slot));
    }
    fills
}

fn is_secret(state: &State, slot: &str) -> bool {
    argument(slot).is_some_and(|path| state.tool().built().said_of(&path).secret)
}

/// Judges what is written into the blanks of a call: the tool has to take it, whatever stands in the other blanks.
fn takes_values(state: &State) -> Takes {
    let tool = state.tool().clone();
    let canonical = state.canonical().to_owned();
    let blanks: Vec<JsonPath> = state.unknowns().iter().filter_map(|unknown| unknown.path().cloned()).collect();
    Arc::new(move |slot: &str, value: &Json| takes(&tool, &canonical, &blanks, slot, value))
}

/// May the value stand in the blank? If not, why.
pub(super) fn takes(
    tool: &HostTool,
    canonical: &str,
    blanks: &[JsonPath],
    slot: &str,
    value: &Json,
) -> Result<(), String> {
    let Some(path) = argument(slot) else {
        return match value.as_str() {
            Some(words) if !words.trim().is_empty() => Ok(()),
            _ => Err("it has to be some words".to_owned()),
        };
    };
    let mut arguments = Json::parse(canonical).unwrap_or(Json::Null);
    if *value == Json::Null || !put(&mut arguments, &path, value.clone()) {
        return Err("it has to be a value".to_owned());
    }
    let others: Vec<JsonPath> = blanks.iter().filter(|blank| **blank != path).cloned().collect();
    let Err(problems) = tool.built().accept(&arguments.to_string(), &others) else { return Ok(()) };
    // What is wrong elsewhere is not this value's fault.
    let is_about = |problem: &&Problem| {
        let (at, path) = (problem.path().segments(), path.segments());
        at.starts_with(path) || path.starts_with(at)
    };
    let said: Vec<String> = problems.iter().filter(is_about).map(ToString::to_string).collect();
    if said.is_empty() { Ok(()) } else { Err(said.join("; ")) }
}

/// Why a person has to be asked about a call: every reason there is.
pub(super) fn reasons(state: &State) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    if state.ruling.has_to_ask() && state.grant.is_none() {
        reasons.extend(state.ruling.asked.iter().map(ToString::to_string));
        if reasons.is_empty() {
            reasons.push("no rule says that it may run".to_owned());
        }
    }
    reasons.extend(state.agree().iter().map(|agree| agree.words.clone()));
    state.without_secrets(&mut reasons);
    reasons
}

/// What an answer is for.
pub(super) fn bound(state: &State, key: &LedgerKey) -> Binding {
    let tool = state.tool();
    let bound =
        Bound { call_id: &state.call.id, tool: tool.name(), definition: tool.digest(), revision: state.revision };
    Binding::of(key, bound, state.canonical())
}

/// What is asked about a call, and what the person has to be told.
fn question(state: &State, binding: &Binding, key: &LedgerKey) -> (Question, Vec<String>) {
    let tool = state.tool();
    let mut card =
        state.args.as_ref().zip(tool.present_call()).and_then(|(args, present)| caught(|| present(args)).ok());
    let shown = card.iter_mut().flat_map(|card| std::iter::once(&mut card.title).chain(&mut card.body));
    state.without_secrets(shown);
    let defaults = match &state.canonical {
        Some(canonical) => tool.built().filled_in(&state.given(), canonical),
        // It is the model's own text.
        None => Vec::new(),
    };
    let question = Question {
        id: QuestionId::fresh(),
        call_id: state.call.id.clone(),
        tool: tool.name().to_owned(),
        arguments: state.redacted(),
        defaults,
        card,
        reasons: state.asks_because(),
        blanks: state.unknowns().iter().map(|unknown| blank(state, unknown)).collect(),
        confirmed: state.confirmed(binding),
        definition: *tool.digest(),
        digest: key.of_what_runs(what_runs(tool, state.canonical())),
    };
    let of_tool = tool.labels().iter().filter(|label| label.kind() == LabelKind::Notice).map(|label| label.text());
    let mut notices: Vec<String> = of_tool.map(str::to_owned).collect();
    for notice in state.notices() {
        if !notices.contains(notice) {
            notices.push(notice.clone());
        }
    }
    (question, notices)
}

fn blank(state: &State, unknown: &Unknown) -> Blank {
    let mut blank = Blank::new(unknown.slot(), unknown.asks());
    let Some(path) = unknown.path() else {
        blank.types = "string".to_owned();
        return blank;
    };
    let step = |segment: &Segment| match segment {
        Segment::Key(key) => Step::Member(key.clone()),
        Segment::Index(index) => Step::Index(*index),
    };
    let steps: Vec<Step> = path.segments().iter().map(step).collect();
    if let Ok(reached) = state.tool().built().reach(&steps) {
        blank.types = reached.types();
        blank.choices = reached.words.unwrap_or_default();
    }
    if let Some(found) = state.conflict_at(unknown.slot()) {
        blank.choices = found;
    }
    blank.secret = is_secret(state, unknown.slot());
    blank
}
