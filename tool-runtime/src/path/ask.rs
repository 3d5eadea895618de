//! One question for all calls of a turn.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Ending;
use super::accept::as_given;
use super::decide::Decided;
use super::inquiry::{Inquiry, refused_before};
use super::record::{is_cleared, not_recorded};
use super::state::{Approval, State};
use crate::execute::until;
use crate::gate::{Answer, Approver, Grants, Guard, Policy, Question, QuestionId, QuestionSet, judge, what_runs};
use crate::ledger::{AskedRecord, Binding, Bound, Ledger, LedgerKey};
use crate::tool::{Access, CatchPanic, LabelKind, caught};

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
    grants: Grants,
    token: Option<&'a CancellationToken>,
}

impl<'a> Asking<'a> {
    /// Nobody is asked yet, and nothing is granted. What is approved is judged again by `policy` and
    /// `guards`. The ledger is shared, since the end of a question is recorded also if nobody waits for
    /// it any more.
    pub fn new(policy: &'a dyn Policy, guards: &'a [Arc<dyn Guard>], ledger: Arc<dyn Ledger>) -> Self {
        Asking { policy, guards, ledger, approver: None, grants: Grants::new(), token: None }
    }

    /// Sets who is asked.
    #[must_use]
    pub fn approver(mut self, approver: &'a dyn Approver) -> Self {
        self.approver = Some(approver);
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

    /// Judges again what was approved.
    fn after_the_answer(&self, call: Decided) -> Asked {
        let Decided(mut state) = call;
        let Some(question) = state.question.clone() else { return Asked::Decided(Decided(state)) };
        if self.is_cancelled() {
            return Asked::Decided(Decided(state).cancelled());
        }
        match state.approval {
            Approval::Pending => return Asked::Pending(Pending(state)),
            Approval::Given(scope) => {
                state.ruling = judge(self.policy, self.guards, &state.facts());
                // What is denied now is not granted for later.
                if let (Some(scope), true) = (scope, state.ruling.denied.is_empty()) {
                    self.grants.add(state.tool(), state.canonical(), scope, question);
                }
            }
            _ => {}
        }
        Asked::Decided(Decided(state))
    }

    /// The answers to a set, as far as there are any. Without a question or an approver, and once
    /// it is withdrawn, there are none.
    async fn answers(&self, questions: Vec<Question>, notices: Vec<String>) -> Vec<Answer> {
        let Some(approver) = self.approver.filter(|_| !questions.is_empty() && !self.is_cancelled()) else {
            return Vec::new();
        };
        let token = self.token.map_or_else(CancellationToken::new, CancellationToken::child_token);
        // Whoever still shows a question can tell when nobody waits for it.
        let _over = token.clone().drop_guard();
        let set = QuestionSet::cancelled_by(token, questions, notices);
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

/// Asks about all calls of a turn that wait for a go-ahead, in one set; the others pass, and so do
/// those that were granted for the session.
///
/// Each question is in the ledger before anybody is asked, and its end after that. Whatever was
/// approved is judged again: the world may have changed while a person thought. What is denied then
/// does not run; a further reason to ask asks nobody a second time. What can't have changed is what was shown: a call goes from stage to stage by value, with its arguments and with
/// the definition that was judged; a registry that replaces the tool meanwhile is another registry.
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
    let key = LedgerKey::of(&*asking.ledger);
    let key = &key;
    let mut open = Vec::new();
    let (mut questions, mut notices) = (Vec::new(), Vec::new());
    // What the ledger said to those that it didn't take.
    let mut unrecorded = HashMap::new();
    for call in calls.iter_mut().filter(|call| call.waits()) {
        refused_before(&mut call.0, &*asking.ledger, key).await;
    }
    for (place, call) in calls.iter_mut().enumerate().filter(|(_, call)| call.waits()) {
        let (question, told) = question(&call.0, key);
        let binding = bound(&call.0, key);
        call.0.question = Some(question.id.clone());
        let mut inquiry = Inquiry::new(
            Arc::clone(&asking.ledger),
            AskedRecord::new(question.clone(), told.clone(), call.0.place.clone(), binding),
        );
        match until(asking.token, inquiry.recorded()).await {
            Some(Err(detail)) => {
                unrecorded.insert(place, detail);
                continue;
            }
            Some(Ok(())) if !asking.is_cancelled() => {
                tell(place, &question);
                questions.push(question);
                notices.extend(told.into_iter().filter(|notice| !notices.contains(notice)).collect::<Vec<_>>());
            }
            // Cancelled, as all the others are. The ledger has both ends of it.
            Some(Ok(())) | None => {}
        }
        open.push((place, inquiry));
    }
    let mut answers = asking.answers(questions, notices).await.into_iter();
    for (place, mut inquiry) in open {
        // Whatever was answered before or after: nothing is to begin any more. Dropped, the question is
        // withdrawn.
        if asking.is_cancelled() {
            continue;
        }
        let answer = answers.next().unwrap_or(Answer::Unavailable);
        // Only what somebody said is signed.
        let signer = asking.approver.filter(|_| answer.is_yes() || answer == Answer::No);
        let signer = signer.and_then(|approver| caught(|| approver.signer()).ok().flatten());
        match until(asking.token, inquiry.answered(answer, signer)).await {
            Some(Ok(())) => calls[place].0.approval = asking.comes_to(answer),
            Some(Err(detail)) => {
                unrecorded.insert(place, detail);
            }
            None => {}
        }
    }
    let ends = |(place, call): (usize, Decided)| match unrecorded.remove(&place) {
        Some(detail) => Asked::Ended(not_recorded(call.0, detail)),
        None => asking.after_the_answer(call),
    };
    calls.into_iter().enumerate().map(ends).collect()
}

/// What an answer is for.
pub(super) fn bound(state: &State, key: &LedgerKey) -> Binding {
    let tool = state.tool();
    let bound =
        Bound { call_id: &state.call.id, tool: tool.name(), definition: tool.digest(), revision: state.revision };
    Binding::of(key, bound, state.canonical())
}

/// What is asked about a call, and what the person has to be told.
fn question(state: &State, key: &LedgerKey) -> (Question, Vec<String>) {
    let tool = state.tool();
    let said: Vec<String> = state.ruling.asked.iter().map(ToString::to_string).collect();
    let mut reasons = if said.is_empty() { vec!["no rule says that it may run".to_owned()] } else { said };
    let mut card =
        state.args.as_ref().zip(tool.present_call()).and_then(|(args, present)| caught(|| present(args)).ok());
    let shown = card.iter_mut().flat_map(|card| std::iter::once(&mut card.title).chain(&mut card.body));
    state.without_secrets(reasons.iter_mut().chain(shown));
    let defaults = match &state.canonical {
        Some(canonical) => tool.built().filled_in(&as_given(&state.call), canonical),
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
        reasons,
        definition: *tool.digest(),
        digest: key.of_what_runs(what_runs(tool, state.canonical())),
    };
    let notices = tool.labels().iter().filter(|label| label.kind() == LabelKind::Notice);
    (question, notices.map(|label| label.text().to_owned()).collect())
}
