//! The verdict goes into the ledger before anything runs, the blocked ones too.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::ask::{Asked, Pending};
use super::decide::{Decided, is_blank};
use super::ending::{End, Ending};
use super::limits;
use super::state::{Approval, State};
use crate::BoxFuture;
use crate::call::Code;
use crate::checklist::examine::{Agree, Findings};
use crate::checklist::{Party, Slot, SlotState};
use crate::gate::QuestionId;
use crate::ledger::{Entry, Ledger, LedgerError, Parking, Verdict, VerdictKind, VerdictParts};
use crate::schema::Digest;
use crate::tool::{CatchPanic, caught};

/// A call whose verdict is in the ledger.
#[derive(Debug)]
#[must_use = "a call that isn't settled leaves the model without a result"]
pub struct Recorded(pub(super) Box<State>);

impl Recorded {
    /// The verdict.
    pub fn verdict(&self) -> Option<&Verdict> {
        self.0.verdict.as_deref()
    }

    /// Why the verdict is not in the ledger, if it isn't.
    pub(crate) fn unrecorded(&self) -> Option<&str> {
        self.0.unrecorded.as_deref()
    }

    /// What is cleared and not recorded ends. What won't run has nothing to wait for: a no stays the no
    /// that it is.
    fn or_ended(self) -> Result<Self, Ending> {
        let Recorded(mut state) = self;
        match state.verdict.as_ref().map(|verdict| verdict.kind()) {
            Some(VerdictKind::Cleared) => match state.unrecorded.take() {
                Some(detail) => Err(not_recorded(state, detail)),
                None => Ok(Recorded(state)),
            },
            _ => Ok(Recorded(state)),
        }
    }

    pub(crate) fn shared_verdict(&self) -> Option<&Arc<Verdict>> {
        self.0.verdict.as_ref()
    }
}

impl Decided {
    /// Writes the verdict down and waits until it is safe.
    ///
    /// # Errors
    /// `not_recorded`; the call does not run then.
    pub async fn record(self, ledger: &dyn Ledger) -> Result<Recorded, Ending> {
        let Decided(state) = self;
        record(state, ledger).await.or_ended()
    }
}

impl Pending {
    /// Writes down that the call waits.
    ///
    /// # Errors
    /// `not_recorded`; nobody will be able to resume it then.
    pub async fn record(self, ledger: &dyn Ledger) -> Result<Recorded, Ending> {
        let Pending(state) = self;
        record(state, ledger).await.or_ended()
    }
}

impl Asked {
    /// Writes the verdict down, for whichever it is.
    ///
    /// # Errors
    /// `not_recorded`.
    pub async fn record(self, ledger: &dyn Ledger) -> Result<Recorded, Ending> {
        self.record_or(ledger, false).await
    }

    /// As [`record`](Self::record). What is cleared may go on although it could not be written down, if
    /// the host wants that.
    pub(crate) async fn record_or(self, ledger: &dyn Ledger, go_on: bool) -> Result<Recorded, Ending> {
        let recorded = match self {
            Asked::Decided(Decided(state)) | Asked::Pending(Pending(state)) => record(state, ledger).await,
            Asked::Ended(ending) => return Err(ending),
        };
        let cleared = recorded.0.verdict.as_ref().is_some_and(|verdict| verdict.kind() == VerdictKind::Cleared);
        // Whoever else has it may be running it.
        let go_on = go_on && !recorded.0.not_ours;
        if cleared && !go_on { recorded.or_ended() } else { Ok(recorded) }
    }
}

async fn record(state: Box<State>, ledger: &dyn Ledger) -> Recorded {
    if state.has_limits() { limits::recorded(state, ledger).await } else { as_it_is(state, ledger).await }
}

/// Records what it comes to now.
pub(super) async fn as_it_is(mut state: Box<State>, ledger: &dyn Ledger) -> Recorded {
    let judged = kind(&state);
    let mut verdict = verdict(&mut state, judged, None);
    let kept = match judged {
        VerdictKind::Blocked(Code::ApprovalPending) => {
            let whole = state.has_secrets().then(|| Arc::from(state.canonical()));
            let parking = Parking::new(Arc::clone(&verdict), whole);
            written(|| ledger.park(parking)).await
        }
        _ => written(|| ledger.append(Entry::Verdict(Arc::clone(&verdict)))).await,
    };
    let kept = match kept {
        Err(failed) if failed.unsupported && state.has_secrets() => {
            // Whoever went on with it would not have what was approved.
            state.approval = Approval::Unavailable;
            let judged = kind(&state);
            verdict = self::verdict(&mut state, judged, Some(failed.text));
            append(ledger, Entry::Verdict(Arc::clone(&verdict))).await
        }
        kept => {
            state.not_ours = kept.as_ref().is_err_and(|failed| failed.not_ours);
            kept.map_err(|failed| failed.text)
        }
    };
    state.verdict = Some(verdict);
    state.unrecorded = kept.err();
    Recorded(state)
}

pub(super) fn verdict(state: &mut State, kind: VerdictKind, besides: Option<String>) -> Arc<Verdict> {
    let uses = if kind == VerdictKind::Cleared { state.taken() } else { Vec::new() };
    let mut reasons = reasons(state);
    reasons.extend(besides);
    let mut open: Vec<String> = state.unknowns().iter().map(|unknown| unknown.slot().to_owned()).collect();
    if kind == VerdictKind::Blocked(Code::Unanswered) && has_only_to_tell(state) {
        open.extend(nobody_was_told(state));
    }
    let (list, slots) = slots(state);
    // The values are read: the text moves on into the record, unless it has secrets.
    let arguments = if state.has_secrets() { state.redacted() } else { state.take_canonical() };
    let hints = state.tool().hints();
    Arc::new(Verdict::new(VerdictParts {
        place: state.place.clone(),
        call_id: state.call.id.clone(),
        tool: state.call.name.clone(),
        definition: *state.tool().digest(),
        revision: state.revision,
        arguments,
        kind,
        reasons,
        open,
        question: state.question.clone(),
        besides: match kind {
            VerdictKind::Blocked(Code::ApprovalPending) => state.waits_besides(),
            _ => Vec::new(),
        },
        approvals: state.approvals(),
        grant: state.grant.as_ref().map(|grant| grant.question().clone()),
        list,
        slots,
        repeatable: hints.read_only || hints.idempotent,
        expires: state.expires.filter(|_| kind == VerdictKind::Blocked(Code::ApprovalPending)),
        plan: state.plan.clone(),
        uses,
    }))
}

pub(super) fn not_recorded(state: Box<State>, detail: String) -> Ending {
    let said = format!(
        "`{}` did not run: the host could not record the call. This is not the call's fault.",
        state.tool().name()
    );
    Ending::of(state, End::new(Code::NotRecorded, said).with_detail(detail))
}

/// The list, and what came of its lines, with what a person has agreed to meanwhile.
fn slots(state: &mut State) -> (Option<Digest>, Vec<Slot>) {
    let agreed: Vec<(usize, QuestionId)> = match state.approval {
        Approval::Given(_) | Approval::Pending => {
            let by = |agree: &Agree| Some((agree.slot, state.agreed_by(agree)?.clone()));
            state.listed.iter().flat_map(|listed| &listed.findings.agree).filter_map(by).collect()
        }
        _ => Vec::new(),
    };
    let Some(listed) = &mut state.listed else { return (None, Vec::new()) };
    let mut slots = std::mem::take(&mut listed.findings.slots);
    if listed.told {
        for tell in &listed.findings.tells {
            if let Some(slot) = slots.get_mut(*tell) {
                slot.parts_mut().state = SlotState::Told;
            }
        }
    }
    for (slot, question) in agreed {
        if let Some(slot) = slots.get_mut(slot) {
            slot.parts_mut().is_agreed(&question);
        }
    }
    (listed.findings.list, slots)
}

/// The lines that nobody was told of, which only the host can change.
fn nobody_was_told(state: &mut State) -> Vec<String> {
    let Some(Findings { tells, slots, .. }) = state.listed.as_mut().map(|listed| &mut listed.findings) else {
        return Vec::new();
    };
    let mut untold = Vec::new();
    for tell in tells {
        let Some(slot) = slots.get_mut(*tell) else { continue };
        let why = "nobody could be shown it".to_owned();
        slot.parts_mut().state = SlotState::Open { party: Party::Host, why };
        untold.push(slot.name().to_owned());
    }
    untold
}

/// The reason of a no that stands because nobody may be asked.
pub(super) const NO_ASKING: &str = "a rule forbids asking";

/// Every rule that applied, and what answered in a person's place.
fn reasons(state: &State) -> Vec<String> {
    let ruling = &state.ruling;
    let mut reasons: Vec<String> = ruling.denied.iter().chain(&ruling.asked).map(ToString::to_string).collect();
    reasons.extend(state.unmet().iter().cloned());
    reasons.extend(state.agree().iter().map(|agree| agree.words.clone()));
    reasons.extend(state.unsettled_plan());
    reasons.extend(state.grant.as_ref().map(|grant| grant.reason()));
    if let Approval::Void(why) = state.approval {
        reasons.push(format!("the approval is void: {why}"));
    }
    if state.approval == Approval::Forbidden {
        reasons.push(NO_ASKING.to_owned());
    }
    if let Some(earlier) = &state.refused_before {
        reasons.push(format!("a person has said no to the same before, to question {earlier}"));
    }
    state.without_secrets(&mut reasons);
    reasons
}

/// An entry that is being written.
pub(super) type Appending = BoxFuture<'static, Result<(), String>>;

/// Appends an entry; a ledger that panics has failed. `Err` tells the host what happened.
pub(super) async fn append(ledger: &dyn Ledger, entry: Entry) -> Result<(), String> {
    written(|| ledger.append(entry)).await.map_err(|failed| failed.text)
}

/// What the host is told of a ledger that failed.
pub(super) struct Failed {
    pub(super) text: String,
    unsupported: bool,
    pub(super) not_ours: bool,
}

impl Failed {
    pub(super) fn of(error: LedgerError) -> Self {
        // The ledger's own words may panic as well.
        let words = || {
            let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            format!("{error}: {cause}")
        };
        let (unsupported, not_ours) = (error.is_unsupported(), error.is_not_ours());
        Failed { text: caught(words).unwrap_or_else(|_| error.to_string()), unsupported, not_ours }
    }
}

async fn written<'l>(write: impl FnOnce() -> BoxFuture<'l, Result<(), LedgerError>>) -> Result<(), Failed> {
    let panicked = |panic| Failed { text: panic, unsupported: false, not_ours: false };
    CatchPanic::of(write).await.map_err(panicked)?.map_err(Failed::of)
}

/// Hands an entry to a ledger without waiting for it: for those that can't wait. What isn't written
/// at once is written by the runtime. `failed` is told if it can't be.
pub(super) fn append_detached(
    ledger: Arc<dyn Ledger>,
    entry: Entry,
    runtime: Option<&tokio::runtime::Handle>,
    failed: impl FnOnce(&str) + Send + 'static,
) {
    detach(Box::pin(async move { append(&*ledger, entry).await }), runtime, failed);
}

/// Lets something be written without waiting for it.
pub(super) fn detach(
    mut appending: Appending,
    runtime: Option<&tokio::runtime::Handle>,
    failed: impl FnOnce(&str) + Send + 'static,
) {
    let mut report = Report(Some(failed));
    match (appending.as_mut().poll(&mut Context::from_waker(Waker::noop())), runtime) {
        (Poll::Ready(kept), _) => report.done(kept),
        (Poll::Pending, Some(runtime)) => {
            runtime.spawn(async move { report.done(appending.await) });
        }
        (Poll::Pending, None) => report.done(Err("nobody is left who could wait for the ledger".to_owned())),
    }
}

/// Tells of an entry that can't be recorded, also if whoever writes it ends before that.
struct Report<F: FnOnce(&str)>(Option<F>);

impl<F: FnOnce(&str)> Report<F> {
    fn done(&mut self, kept: Result<(), String>) {
        if let (Err(error), Some(failed)) = (kept, self.0.take()) {
            tracing::error!(target: "tool_runtime", error, "an entry could not be recorded");
            failed(&error);
        }
        self.0 = None;
    }
}

impl<F: FnOnce(&str)> Drop for Report<F> {
    fn drop(&mut self) {
        self.done(match self.0 {
            Some(_) => Err("the runtime ended before the ledger had answered".to_owned()),
            None => Ok(()),
        });
    }
}

/// Nothing keeps it from running but that somebody may have to be told something.
pub(super) fn has_only_to_tell(state: &State) -> bool {
    judged(state) == VerdictKind::Cleared
}

/// It may run.
pub(super) fn is_cleared(state: &State) -> bool {
    kind(state) == VerdictKind::Cleared
}

fn kind(state: &State) -> VerdictKind {
    match judged(state) {
        VerdictKind::Cleared if !state.untold().is_empty() => VerdictKind::Blocked(Code::Unanswered),
        judged => judged,
    }
}

/// Deny, then a plan that was rejected, then what doesn't hold, then that it was cancelled, then a person's no, then what
/// is unknown, then what else a person said. What a person can still fill in, elsewhere, waits.
fn judged(state: &State) -> VerdictKind {
    if !state.ruling.denied.is_empty() {
        return VerdictKind::Blocked(Code::Denied);
    }
    if state.rejected_plan().is_some() {
        return VerdictKind::Blocked(Code::PlanRejected);
    }
    if !state.unmet().is_empty() {
        return VerdictKind::Blocked(Code::ConditionNotMet);
    }
    if state.cancelled {
        return VerdictKind::Blocked(Code::CancelledBeforeStart);
    }
    // Of a draft in the shadow, nobody is asked for what is missing.
    let can_run = state.args.is_some() || (!state.unknowns().is_empty() && state.unknowns().iter().all(is_blank));
    match state.approval {
        // Whatever the policy says by now: a person has said no, or yes to something else.
        Approval::Refused => return VerdictKind::Blocked(Code::Rejected),
        Approval::Void(_) => return VerdictKind::Blocked(Code::ApprovalVoid),
        Approval::Pending if can_run => return VerdictKind::Blocked(Code::ApprovalPending),
        _ => {}
    }
    if !state.unknowns().is_empty() || state.args.is_none() {
        return VerdictKind::Blocked(Code::Unanswered);
    }
    if state.approval == Approval::Expired {
        return VerdictKind::Blocked(Code::ApprovalExpired);
    }
    let by_policy = state.ruling.has_to_ask() && state.grant.is_none();
    if !by_policy && !state.has_to_agree() {
        return VerdictKind::Cleared;
    }
    match state.approval {
        Approval::Given(_) if state.is_heard() => VerdictKind::Cleared,
        Approval::Forbidden => VerdictKind::Blocked(Code::Denied),
        _ => VerdictKind::Blocked(Code::ApprovalUnavailable),
    }
}
