//! What would have been decided of recorded calls by another list or another policy.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::accept::{Acceptance, Accepted, Draft};
use super::decide::is_blank;
use super::resume::change;
use super::state::{Listed, State};
use crate::call::{CallId, CaseId, Code, Reported, ToolCall};
use crate::checklist::examine::examine;
use crate::checklist::{Checklist, Recorded, Slot, SlotState, Unknown};
use crate::gate::{Answer, Guard, Policy, judge};
use crate::ledger::{CaseHistory, History, Stored, StoredKind, VerdictKind};
use crate::registry::Registry;
use crate::schema::json::Json;
use crate::schema::{JsonPath, REDACTED};

/// Judges recorded calls anew, by a list and a policy that may have changed since: what would have been decided
/// otherwise, before a change is made, or of what a list in the shadow only recorded.
///
/// Nothing is looked up, nobody is asked and nothing runs: where a value was found then is where it is found, and a
/// condition is judged by the state that the record holds. What the record doesn't hold is unknown. It writes nothing,
/// so that it can read the ledger of a host that runs.
///
/// ```
/// use std::sync::Arc;
/// use tool_runtime::{CallFacts, Decision, Harness, Ledger, MemoryLedger, Query, Registry, Replay, ToolCall, tool};
///
/// /// Pays.
/// #[tool(host(inline))]
/// fn pay(
///     /// How much, in euros.
///     amount: u32,
/// ) -> String {
///     format!("paid {amount}")
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let registry = Registry::builder().tool(PayTool::host()).build()?;
/// let ledger = Arc::new(MemoryLedger::default());
/// let harness = Harness::new(registry.clone(), tool_runtime::AllowAll).ledger(Arc::clone(&ledger));
/// harness.run([ToolCall::new("call_1", "pay", r#"{"amount": 20}"#)]).await;
///
/// let stricter = |call: &CallFacts<'_>| match call.arguments().read::<u32>("/amount") {
///     Some(0..10) => Decision::Allow,
///     _ => Decision::deny("at most 9"),
/// };
/// let replayed = Replay::new(&registry, &stricter).of(&ledger.history(Query::all()).await?);
/// assert!(replayed[0].differs());
/// assert!(replayed[0].to_string().ends_with("cleared; would be denied: at most 9"), "{}", replayed[0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "nothing is replayed yet"]
pub struct Replay<'a> {
    registry: &'a Registry,
    policy: &'a dyn Policy,
    guards: &'a [Arc<dyn Guard>],
    checklist: Checklist,
}

impl<'a> Replay<'a> {
    /// By a policy and by what the tools themselves ask for.
    pub fn new(registry: &'a Registry, policy: &'a dyn Policy) -> Self {
        Replay { registry, policy, guards: &[], checklist: Checklist::new() }
    }

    /// With guards.
    pub fn guards(mut self, guards: &'a [Arc<dyn Guard>]) -> Self {
        self.guards = guards;
        self
    }

    /// By a list, as it is now. Its sources, states and checks aren't used: only their names are.
    pub fn checklist(mut self, checklist: &Checklist) -> Self {
        self.checklist = checklist.clone();
        self
    }

    /// All calls on which there is a verdict, each by the last.
    #[must_use]
    pub fn of(&self, history: &History) -> Vec<Replayed> {
        history.cases().iter().filter_map(|case| self.case(case)).collect()
    }

    /// One call. `None` if there is no verdict on it.
    #[must_use]
    pub fn case(&self, case: &CaseHistory) -> Option<Replayed> {
        let verdict = case.verdict()?;
        let was = match verdict.code() {
            _ if verdict.is_cleared() => VerdictKind::Cleared,
            Some(code) => VerdictKind::Blocked(code),
            None => return None,
        };
        let mut replayed = Replayed {
            case: case.id(),
            call_id: verdict.call_id().clone(),
            tool: verdict.tool().to_owned(),
            was,
            would: WouldBe::Certain(was),
            reasons: Vec::new(),
            redefined: false,
            before: verdict.slots(),
            slots: Vec::new(),
        };
        replayed.would = self.judge(case, verdict, &mut replayed);
        Some(replayed)
    }

    fn judge(&self, case: &CaseHistory, verdict: &Stored, replayed: &mut Replayed) -> WouldBe {
        let arguments = verdict.arguments().unwrap_or_default();
        // What isn't there was reported as not found.
        let given = Json::parse(arguments).unwrap_or(Json::Null);
        let is_absent = |slot: &&str| slot.starts_with('/') && given.pointer(slot).is_none();
        let open: Vec<&str> = verdict.open().into_iter().filter(is_absent).collect();
        let change = change(&replayed.before);
        let reported = open.iter().map(|slot| (*slot, Reported::NO_RESULT));
        let reported = Reported::new(reported.chain(change.as_deref().map(|change| ("@change", change))));
        let call = ToolCall::new(verdict.call_id().clone(), verdict.tool(), arguments).with_reported(reported);
        // It was loaded when it was called.
        let loaded = std::iter::once(verdict.tool().to_owned()).collect();
        let proposed = match self.registry.resolve(call, &loaded) {
            Ok(proposed) => proposed,
            Err(ending) => return WouldBe::Certain(VerdictKind::Blocked(ending.code())),
        };
        replayed.redefined = verdict.definition().as_ref() != Some(proposed.tool().digest());
        if proposed.0.has_secrets() && arguments.contains(REDACTED) {
            return WouldBe::Untold("the record doesn't have the call's secrets".to_owned());
        }
        let (mut state, open) = match proposed.accept() {
            Ok(Acceptance::Accepted(Accepted(state))) => (state, Vec::new()),
            Ok(Acceptance::Draft(Draft(state, open))) => (state, open),
            Err(ending) => return WouldBe::Certain(VerdictKind::Blocked(ending.code())),
        };
        if !self.look_up(&mut state, open, replayed) {
            return WouldBe::Untold("the record can't be held against the list".to_owned());
        }
        state.ruling = judge(self.policy, self.guards, &state.facts());
        state.plan = verdict.plan().map(Arc::new);
        decide(&state, case, verdict, replayed)
    }

    /// Holds the recorded slots against the list. `false` if that can't be done at once.
    fn look_up(&self, state: &mut State, open: Vec<JsonPath>, replayed: &mut Replayed) -> bool {
        let list = self.checklist.snapshot();
        if open.is_empty() && list.asks_nothing_of(state.tool()) {
            return true;
        }
        state.listed = Some(Box::new(Listed::new(Arc::clone(&list), open)));
        let recorded = Recorded::of(replayed.before.clone());
        let mut around = self.checklist.around(&list);
        around.recorded = Some(&recorded);
        let mut examined = Box::pin(examine(around, state.examined()));
        // A record is at hand, so nothing in it waits.
        let looked = examined.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        drop(examined);
        let Poll::Ready(findings) = looked else { return false };
        replayed.slots.clone_from(&findings.slots);
        if let Some(listed) = &mut state.listed {
            listed.findings = findings;
        }
        true
    }
}

/// In the order of judgement. What persons said then counts for what they were shown then.
fn decide(state: &State, case: &CaseHistory, verdict: &Stored, replayed: &mut Replayed) -> WouldBe {
    let blocked = |code| WouldBe::Certain(VerdictKind::Blocked(code));
    let was = match replayed.was {
        VerdictKind::Cleared => None,
        VerdictKind::Blocked(code) => Some(code),
    };
    if !state.ruling.denied.is_empty() {
        replayed.reasons = state.ruling.denied.iter().map(ToString::to_string).collect();
        return blocked(Code::Denied);
    }
    if state.rejected_plan().is_some() {
        return blocked(Code::PlanRejected);
    }
    if !state.unmet().is_empty() {
        replayed.reasons = state.unmet().to_vec();
        return blocked(Code::ConditionNotMet);
    }
    if was == Some(Code::CancelledBeforeStart) {
        return blocked(Code::CancelledBeforeStart);
    }
    let unknowns = state.unknowns();
    if !unknowns.is_empty() {
        let open = verdict.open();
        replayed.reasons = unknowns.iter().map(Unknown::asks).map(str::to_owned).collect();
        // Those were asked for, and nobody has answered.
        let is_known = unknowns.iter().all(|unknown| open.contains(&unknown.slot()));
        if !unknowns.iter().all(is_blank) {
            return blocked(Code::Unanswered);
        }
        return match was {
            Some(code @ (Code::Unanswered | Code::Rejected | Code::ApprovalVoid | Code::ApprovalPending))
                if is_known =>
            {
                blocked(code)
            }
            _ => WouldBe::UpToAnswers,
        };
    }
    let settled = settled(case, verdict);
    let mut needed = state.reasons();
    if verdict.grant().is_some() {
        // It spared whatever the policy would have asked, and nothing else.
        let agree = state.agree().iter().map(|agree| agree.words.clone());
        needed = agree.chain(state.unsettled_plan()).collect();
    }
    if needed.is_empty() {
        return WouldBe::Certain(VerdictKind::Cleared);
    }
    let is_settled = needed.iter().all(|reason| settled.contains(&reason.as_str()));
    replayed.reasons = needed;
    match was {
        None if is_settled => WouldBe::Certain(VerdictKind::Cleared),
        Some(
            code @ (Code::Rejected
            | Code::ApprovalExpired
            | Code::ApprovalPending
            | Code::ApprovalUnavailable
            | Code::ApprovalVoid),
        ) => blocked(code),
        // Not by a rule of the policy: by one against asking.
        Some(Code::Denied) if verdict.reasons().contains(&super::record::NO_ASKING) => blocked(Code::Denied),
        _ => WouldBe::UpToAnswers,
    }
}

/// The reasons that a person said yes to, or that needed none.
fn settled<'c>(case: &'c CaseHistory, verdict: &'c Stored) -> Vec<&'c str> {
    let said_yes = |asked: &&Stored| {
        let yes = |entry: &Stored| {
            entry.kind() == StoredKind::Answered
                && entry.question() == asked.question()
                && entry.answer().is_some_and(Answer::is_yes)
        };
        asked.kind() == StoredKind::Asked && case.entries().iter().any(yes)
    };
    let mut settled = if verdict.is_cleared() { verdict.reasons() } else { Vec::new() };
    settled.extend(case.entries().iter().filter(said_yes).flat_map(Stored::reasons));
    settled
}

/// What a call would come to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WouldBe {
    /// To this.
    Certain(VerdictKind),
    /// Somebody would be asked something that nobody was asked then, and it is up to that.
    UpToAnswers,
    /// That can't be told, and why.
    Untold(String),
}

/// One recorded call, judged anew. Shows as one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    case: CaseId,
    call_id: CallId,
    tool: String,
    was: VerdictKind,
    would: WouldBe,
    reasons: Vec<String>,
    redefined: bool,
    before: Vec<Slot>,
    slots: Vec<Slot>,
}

impl Replayed {
    /// The call's way through the host.
    pub fn case(&self) -> CaseId {
        self.case
    }

    /// The call.
    pub fn call_id(&self) -> &CallId {
        &self.call_id
    }

    /// The tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What was decided.
    pub fn was(&self) -> VerdictKind {
        self.was
    }

    /// What would be.
    pub fn would(&self) -> &WouldBe {
        &self.would
    }

    /// Why it would be that: rules, conditions, or what would be asked.
    pub fn reasons(&self) -> &[String] {
        &self.reasons
    }

    /// The tool has another definition by now, or is gone.
    pub fn is_redefined(&self) -> bool {
        self.redefined
    }

    /// Would something else be decided? What can't be told does differ.
    pub fn differs(&self) -> bool {
        self.would != WouldBe::Certain(self.was)
    }

    /// Every line that would be about the call, and what would come of it.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The lines that come to something else: what came of each then, and what would now. `None`: there is no such
    /// line.
    pub fn changed(&self) -> impl Iterator<Item = (&str, Option<&SlotState>, Option<&SlotState>)> {
        let of = |slots: &'_ [Slot], slot: &Slot| {
            slots.iter().position(|other| other.name() == slot.name() && other.kind() == slot.kind())
        };
        let now = self.slots.iter().map(move |slot| {
            let before = of(&self.before, slot).map(|at| self.before[at].state());
            (slot.name(), before, Some(slot.state()))
        });
        let gone = self.before.iter().filter(move |slot| of(&self.slots, slot).is_none());
        let gone = gone.map(|slot| (slot.name(), Some(slot.state()), None));
        // A yes to a line stands where it stood: of what was open then, and is now, only who said so differs.
        now.chain(gone).filter(|(_, before, now)| before.map(SlotState::as_str) != now.map(SlotState::as_str))
    }
}

fn words(kind: VerdictKind) -> &'static str {
    match kind {
        VerdictKind::Cleared => "cleared",
        VerdictKind::Blocked(code) => code.as_str(),
    }
}

impl fmt::Display for Replayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}: was {}", self.case, self.call_id, self.tool, words(self.was))?;
        match &self.would {
            _ if !self.differs() => f.write_str(", and would be again")?,
            WouldBe::Certain(kind) => write!(f, "; would be {}", words(*kind))?,
            WouldBe::UpToAnswers => f.write_str("; would be asked about")?,
            WouldBe::Untold(why) => write!(f, "; what it would be can't be told, since {why}")?,
        }
        if self.differs() && !self.reasons.is_empty() {
            write!(f, ": {}", self.reasons.join("; "))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Replay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay").field("checklist", &self.checklist).finish_non_exhaustive()
    }
}
