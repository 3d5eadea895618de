//! One set of questions for everybody who has to be heard about the calls of a turn.

mod asking;
mod filling;
mod heard;
mod round;

use std::collections::HashMap;
use std::pin::pin;

pub use self::asking::Asking;
use self::filling::blank;
pub(super) use self::filling::{argument, takes};
pub(super) use self::heard::Said;
use self::round::{Wanted, round};
use super::Ending;
use super::decide::Decided;
use super::inquiry::refused_before;
use super::limits::reconsider;
use super::record::{is_cleared, not_recorded};
use super::state::{Approval, State};
use crate::execute::until;
use crate::gate::{Addressee, Question, QuestionId, Written, judge, what_runs};
use crate::ledger::{Binding, Bound, LedgerKey};
use crate::tool::{Access, CatchPanic, caught};

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

impl Asking<'_> {
    /// Before anybody is asked about it: what has been granted, and what has been refused.
    async fn before(&self, call: &mut Decided, key: &LedgerKey) {
        call.looks_for_a_grant(&self.grants);
        call.0.user_apart = self.user.is_some();
        if call.waits() && !call.0.asked_of().is_empty() {
            until(self.token, pin!(refused_before(&mut call.0, &*self.ledger, key))).await;
        }
    }

    /// Takes up what was said about a call: writes in what was filled in, and judges again what was approved.
    async fn take_up(&self, call: &mut Decided, filled: Vec<Written>) {
        let state = &mut call.0;
        state.put_together();
        if !matches!(state.approval, Approval::Given(_)) {
            return;
        }
        let kept = state.fill_in(self.checklist, filled);
        // The world may have changed while a person thought.
        if let Some(checklist) = self.checklist {
            let looks = pin!(async {
                checklist.keep(kept).await;
                state.examine(checklist).await;
            });
            // Cancelled, it doesn't run whatever would have been found.
            until(self.token, looks).await;
        }
        state.ruling = judge(self.policy, self.guards, &state.facts());
    }

    /// Tells the user what calls that are about to run have to say first, and nobody has said yet. It costs no answer; what
    /// becomes of a call if nobody can be told is up to [`Notices`](crate::Notices).
    async fn tell_notices(&self, calls: &mut [Decided]) {
        let mut notices: Vec<String> = Vec::new();
        for notice in calls.iter().filter(|call| call.has_to_tell()).flat_map(|call| call.0.notices()) {
            if !notices.contains(notice) {
                notices.push(notice.clone());
            }
        }
        let Some(user) = self.whom(&Addressee::User).filter(|_| !notices.is_empty()) else { return };
        let told = until(self.token, CatchPanic::of(|| user.tell(notices))).await;
        match told.unwrap_or(Ok(false)) {
            Ok(true) => calls.iter_mut().filter(|call| call.has_to_tell()).for_each(|call| call.0.is_told()),
            Ok(false) => {}
            Err(panic) => tracing::error!(target: "tool_runtime", panic, "a notice could not be shown"),
        }
    }

    /// What it comes to in the end.
    fn ends(&self, call: Decided) -> Asked {
        match call.0.approval {
            _ if self.is_cancelled() && (call.0.question.is_some() || call.waits()) => Asked::Decided(call.cancelled()),
            Approval::Pending => Asked::Pending(Pending(call.0)),
            _ => Asked::Decided(call),
        }
    }

    /// What is asked about the calls next, in their order. Whoever fills in blanks comes first, so that everybody else is
    /// asked about all calls at once, with all their values.
    fn wanted(&self, calls: &[Decided], unrecorded: &HashMap<usize, String>) -> Vec<Wanted> {
        let open = calls.iter().enumerate().filter(|(place, call)| call.waits() && !unrecorded.contains_key(place));
        let mut wanted: Vec<Wanted> = open
            .flat_map(|(place, call)| {
                call.0.asked_of().into_iter().map(move |(to, reasons)| Wanted { place, to, reasons })
            })
            .collect();
        if let Some(first) = wanted.iter().find(|wanted| !calls[wanted.place].0.unknowns().is_empty()) {
            let to = first.to.clone();
            wanted.retain(|wanted| wanted.to == to);
        }
        wanted
    }
}

/// How many rounds of questions there are at most. Nearly always it is one; a second asks others about what was filled in
/// by the first, and further ones are only ever made of reasons that came up because of what was filled in.
const MOST_ROUNDS: usize = 4;

/// Asks about all calls of a turn that wait for a go-ahead or for a value: everybody who has to be heard, each in one set
/// and all at the same time. The others pass, and so do those that were granted for the session.
///
/// Blanks come first: who doesn't fill them in is asked once all values are there. A no of one is a no; what others are
/// still being asked about that call alone is withdrawn.
///
/// Each question is in the ledger before anybody is asked, and its end after that. Whatever was
/// approved is judged again: the world may have changed while a person thought. What is denied then
/// does not run; a further reason to ask asks nobody a second time, but for a limit that others have used up meanwhile:
/// nobody has agreed to more who was not shown that it is more. What was filled in makes the next revision of the
/// call, which is accepted, looked up and judged anew; only if that brings up a reason which nobody has seen, a second
/// set goes out. A call for which those before it had left no room in a limit is counted anew once they are refused; if it
/// has to be asked about, that is another set, too. What can't have changed is what was shown: a call goes from stage to
/// stage by value, with its arguments and with the definition that was judged; a registry that replaces the tool meanwhile
/// is another registry.
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
    let mut calls = calls;
    // What the ledger said to those that it didn't take.
    let mut unrecorded = HashMap::new();
    let key = LedgerKey::of(&*asking.ledger);
    for call in &mut calls {
        asking.before(call, &key).await;
    }
    let mut rounds = MOST_ROUNDS;
    loop {
        let is_lost = |place: usize, call: &Decided| unrecorded.contains_key(&place) || call.0.is_refused();
        let regained = until(asking.token, pin!(reconsider(&mut calls, is_lost))).await;
        for place in regained.unwrap_or_default() {
            asking.before(&mut calls[place], &key).await;
            // Each time it is because another call was refused, so there is an end of them.
            rounds += 1;
        }
        let wanted = asking.wanted(&calls, &unrecorded);
        if wanted.is_empty() || rounds == 0 {
            break;
        }
        rounds -= 1;
        for (place, filled) in round(&mut calls, wanted, &asking, &key, &mut unrecorded, tell).await {
            asking.take_up(&mut calls[place], filled).await;
        }
        if asking.is_cancelled() {
            break;
        }
    }
    calls.iter().for_each(|call| call.0.grants(&asking.grants));
    asking.tell_notices(&mut calls).await;
    let ends = |(place, call): (usize, Decided)| match unrecorded.remove(&place) {
        Some(detail) => Asked::Ended(not_recorded(call.0, detail)),
        None => asking.ends(call),
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

/// What somebody is asked about a call, and what they have to be told.
fn question(
    state: &State,
    binding: &Binding,
    key: &LedgerKey,
    to: &Addressee,
    reasons: Vec<String>,
) -> (Question, Vec<String>) {
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
    let is_user = state.falls_to(&Addressee::User) == *to;
    let question = Question {
        id: QuestionId::fresh(),
        call_id: state.call.id.clone(),
        tool: tool.name().to_owned(),
        arguments: state.redacted(),
        defaults,
        card,
        to: to.clone(),
        reasons,
        blanks: if is_user {
            state.unknowns().iter().map(|unknown| blank(state, unknown)).collect()
        } else {
            Vec::new()
        },
        confirmed: state.confirmed(binding, to),
        definition: *tool.digest(),
        digest: key.of_what_runs(what_runs(tool, state.canonical())),
    };
    let mut notices: Vec<String> = Vec::new();
    for notice in state.notices().iter().filter(|_| is_user) {
        if !notices.contains(notice) {
            notices.push(notice.clone());
        }
    }
    (question, notices)
}
