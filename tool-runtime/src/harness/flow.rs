//! The path of the calls of one turn, put together from its stages.

use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Parts;
use crate::call::{Code, ToolCall};
use crate::checklist::Snapshot;
use crate::execute::{schedule, until};
use crate::gate::Question;
use crate::path::ask::{Asking, ask_and_tell};
use crate::path::flight::{Flight, Landing};
use crate::path::limits::{Counting, TurnUses};
use crate::path::{Asked, Ending, Settled};
use crate::tool::{Access, Lineage, Surroundings};

/// A call that was judged, unless it has ended before that.
pub(super) type Judged<'t> = (Flight<'t>, Option<Asked>);

impl Parts {
    pub(super) fn landing(&self) -> Landing<'_> {
        Landing::new(&self.ledger, &self.observers, self.result_cap, self.conversation.clone())
    }

    /// The calls of one turn, from their proposals to their results.
    pub(super) async fn fly<T: Send>(
        self: &Arc<Self>,
        landing: &Landing<'_>,
        calls: impl IntoIterator<Item = ToolCall>,
        token: Option<CancellationToken>,
        keep: impl Fn(usize, Settled) -> T + Sync,
    ) -> Vec<T> {
        let token = token.as_ref();
        let mut calls = calls.into_iter();
        let calls = match (calls.next(), calls.next()) {
            // What most turns are needs no schedule.
            (Some(call), None) => {
                let judged = self.judge_alone(landing, (call, None), token).await;
                let flight = self.carry_out(judged, token).await;
                return vec![keep(0, flight.settle(self.review.as_deref()).await)];
            }
            (first, second) => first.into_iter().chain(second).chain(calls),
        };
        schedule(
            self.judge_all(landing, calls, token).await,
            self.room,
            |call| touches(call),
            |call| self.carry_out(call, token),
            |flight: Flight<'_>| async { keep(flight.position(), flight.settle(self.review.as_deref()).await) },
        )
        .await
    }

    /// Judges calls in their order, and asks about all of them together.
    async fn judge_all<'t>(
        &self,
        landing: &'t Landing<'t>,
        calls: impl Iterator<Item = ToolCall>,
        token: Option<&CancellationToken>,
    ) -> Vec<Judged<'t>> {
        let mut judged = Vec::with_capacity(calls.size_hint().0);
        let turn = self.begin();
        for (position, call) in calls.enumerate() {
            judged.push(self.judge_at(position, &turn, landing, (call, None), token).await);
        }
        if judged.iter().any(has_to_hear) { self.ask_together(judged, token).await } else { judged }
    }

    /// Judges a call that is a turn of its own, and asks about it.
    pub(super) async fn judge_alone<'t>(
        &self,
        landing: &'t Landing<'t>,
        call: (ToolCall, Option<Arc<Lineage>>),
        token: Option<&CancellationToken>,
    ) -> Judged<'t> {
        let judged = self.judge_at(0, &self.begin(), landing, call, token).await;
        if has_to_hear(&judged) { self.ask_alone(judged, token).await } else { judged }
    }

    /// What all calls of a turn are judged by.
    fn begin(&self) -> TurnBasis<'_> {
        self.checklist.refresh();
        TurnBasis { list: self.checklist.snapshot(), uses: TurnUses::default() }
    }

    async fn judge_at<'t>(
        &self,
        position: usize,
        turn: &TurnBasis<'_>,
        landing: &'t Landing<'t>,
        (call, lineage): (ToolCall, Option<Arc<Lineage>>),
        token: Option<&CancellationToken>,
    ) -> Judged<'t> {
        let counting = Counting { ledger: &self.ledger, turn: &turn.uses, place: position };
        let mut flight = Flight::new(landing, position, &call);
        // What is looked up meanwhile may take its time.
        let judged = until(token, pin!(self.judge(&mut flight, call, lineage, (&turn.list, counting), token))).await;
        match judged {
            Some(Ok(asked)) => (flight, Some(asked)),
            Some(Err(ending)) => (flight.ended(ending), None),
            None => (flight.cut_short(), None),
        }
    }

    /// From the proposal to the decision.
    async fn judge(
        &self,
        flight: &mut Flight<'_>,
        call: ToolCall,
        lineage: Option<Arc<Lineage>>,
        (list, counting): (&Arc<Snapshot>, Counting<'_>),
        token: Option<&CancellationToken>,
    ) -> Result<Asked, Ending> {
        let mut proposed = self.registry.resolve_at(flight.place().clone(), call, &self.loaded)?;
        // A model's own call, and not one of a tool's.
        let is_proposed = lineage.is_none();
        if let Some(lineage) = lineage {
            proposed = proposed.made_by(lineage);
        }
        flight.resolved(proposed.tool());
        let mut checked = proposed.accept()?.check_by(&self.checklist, list, Some(counting)).await;
        if is_proposed && self.plan.is_some() {
            checked = checked.ruled(self.plan.clone());
        }
        if let Some(repeats) = self.repeats.as_ref().filter(|_| is_proposed) {
            let (tool, canonical) = checked.said();
            if let Some(aside) = repeats.note(tool, canonical, || checked.redacted()) {
                flight.aside(aside);
            }
        }
        if is_cancelled(token) {
            return Ok(Asked::Decided(checked.cancelled()));
        }
        let decided = checked.decide(&*self.policy, &self.guards);
        if !decided.may_run() {
            counting.forgets();
        }
        Ok(Asked::Decided(if is_cancelled(token) { decided.cancelled() } else { decided }))
    }

    /// Asks about one call.
    pub(super) async fn ask_alone<'t>(&self, judged: Judged<'t>, token: Option<&CancellationToken>) -> Judged<'t> {
        match self.ask_together(vec![judged], token).await.pop() {
            Some(judged) => judged,
            None => unreachable!("as many calls as were asked about"),
        }
    }

    /// Asks about all calls that wait for a go-ahead, and leaves each in its place.
    async fn ask_together<'t>(&self, judged: Vec<Judged<'t>>, token: Option<&CancellationToken>) -> Vec<Judged<'t>> {
        let (mut waiting, mut waiting_at) = (Vec::new(), Vec::new());
        let mut places = Vec::with_capacity(judged.len());
        for (flight, call) in judged {
            match call {
                Some(Asked::Decided(decided)) => {
                    waiting_at.push(places.len());
                    waiting.push(decided);
                    places.push((flight, None));
                }
                other => places.push((flight, Some(other))),
            }
        }
        // Borrowed mutably, since a flight may move between threads but not be shared by them.
        let mut tell = |place: usize, question: &Question| {
            if let Some((flight, _)) = waiting_at.get(place).and_then(|&place| places.get_mut(place)) {
                flight.asked(|| question.reasons.clone());
            }
        };
        let mut asking = Asking::new(&*self.policy, &self.guards, Arc::clone(&self.ledger))
            .checklist(&self.checklist)
            .grants(&self.grants);
        if let Some(approver) = self.approver.as_deref() {
            asking = asking.approver(approver);
        }
        if let Some(user) = self.user.as_deref() {
            asking = asking.user(user);
        }
        for (name, approver) in &self.people {
            asking = asking.person(name, &**approver);
        }
        if let Some(token) = token {
            asking = asking.token(token);
        }
        let mut asked = ask_and_tell(waiting, asking, &mut tell).await.into_iter();
        places.into_iter().map(|(flight, place)| (flight, place.unwrap_or_else(|| asked.next()))).collect()
    }

    /// From the answer to the outcome.
    pub(super) async fn carry_out<'t>(
        self: &Arc<Self>,
        (mut flight, call): Judged<'t>,
        token: Option<&CancellationToken>,
    ) -> Flight<'t> {
        let Some(asked) = call else { return flight };
        if !self.execution.is_clear() {
            let access = asked.access();
            match until(token, self.execution.clear_of(access, flight.budget())).await {
                Some(true) => {}
                Some(false) => return flight.busy(),
                None => return flight.cut_short(),
            }
        }
        let asked = asked.waits_for(self.patience);
        let recorded = match until(token, pin!(asked.record_or(&*self.ledger, self.runs_unrecorded))).await {
            Some(Ok(recorded)) => recorded,
            Some(Err(ending)) => {
                if ending.code() == Code::NotRecorded {
                    flight.not_recorded(ending.detail().unwrap_or_default());
                }
                return flight.ended(ending);
            }
            None => return flight.cut_short(),
        };
        if let Some(error) = recorded.unrecorded() {
            flight.not_recorded(error);
        }
        flight.recorded(recorded.shared_verdict());
        let permit = match recorded.permit() {
            Ok(permit) => permit,
            Err(ending) => return flight.ended(ending),
        };
        flight.started();
        let around = permit.tool().sees_context().then(|| Arc::clone(self) as Arc<dyn Surroundings>);
        let outcome = permit.execute_within(&self.execution, token.cloned(), around).await;
        flight.ended(outcome.into())
    }
}

/// What all calls of a turn are judged by.
struct TurnBasis<'h> {
    /// One state of the list for all of them.
    list: Cow<'h, Arc<Snapshot>>,
    uses: TurnUses,
}

/// Somebody has to be asked about it, or told of it, before it runs.
fn has_to_hear((_, call): &Judged<'_>) -> bool {
    call.as_ref().is_some_and(|call| call.has_to_ask() || call.has_to_tell())
}

/// What running a call would touch.
pub(super) fn touches((_, call): &Judged<'_>) -> Access {
    call.as_ref().map_or_else(Asked::touches_nothing, Asked::access)
}

fn is_cancelled(token: Option<&CancellationToken>) -> bool {
    token.is_some_and(CancellationToken::is_cancelled)
}
