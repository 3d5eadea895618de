//! Limits on executions: counted when a call is checked, and reserved with its verdict.
//!
//! A count says whether it is any use to ask somebody, and who comes first in a turn. What holds is the reservation: the
//! ledger counts again and keeps the verdict in one step, whoever else does the same meanwhile.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::decide::Decided;
use super::record::{self, Failed, Recorded};
use super::state::State;
use crate::checklist::limit::Counted;
use crate::checklist::number::Fraction;
use crate::ledger::{Amount, Clearing, Ledger, LedgerError, LimitUse, Tally, Verdict, VerdictKind};
use crate::schema::Digest;
use crate::tool::CatchPanic;

/// What the calls of one turn take that are judged and haven't run yet. Costs nothing where there are no limits.
#[derive(Debug, Default)]
pub(crate) struct TurnUses(OnceLock<Arc<Taken>>);

/// By limit, and by the place of the call in its turn.
type Taken = Mutex<BTreeMap<(Digest, usize), Fraction>>;

/// By what a call's limits are counted.
#[derive(Clone, Copy)]
pub(crate) struct Counting<'a> {
    pub(crate) ledger: &'a Arc<dyn Ledger>,
    pub(crate) turn: &'a TurnUses,
    /// The place of the call in its turn.
    pub(crate) place: usize,
}

/// The same, for as long as the call is on its way.
pub(super) struct Counter {
    ledger: Arc<dyn Ledger>,
    taken: Arc<Taken>,
    place: usize,
}

impl Counting<'_> {
    pub(super) fn counter(self) -> Counter {
        let taken = Arc::clone(self.turn.0.get_or_init(Arc::default));
        Counter { ledger: Arc::clone(self.ledger), taken, place: self.place }
    }

    /// The call won't run, so that those after it have what it would have taken.
    pub(crate) fn forgets(self) {
        if let Some(taken) = self.turn.0.get() {
            lock(taken).retain(|(_, place), _| *place != self.place);
        }
    }
}

/// Nothing of ours panics while it holds this lock.
fn lock(taken: &Taken) -> std::sync::MutexGuard<'_, BTreeMap<(Digest, usize), Fraction>> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Counter {
    /// The call won't run. Would it have taken anything?
    fn forgets(&self) -> bool {
        let mut taken = lock(&self.taken);
        let before = taken.len();
        taken.retain(|(_, place), _| *place != self.place);
        taken.len() < before
    }

    /// What the calls before this one take. And this one takes so much, from now on.
    fn before(&self, limit: Digest, takes: Option<Fraction>) -> Option<Fraction> {
        let mut taken = lock(&self.taken);
        match takes {
            Some(takes) => taken.insert((limit, self.place), takes),
            None => taken.remove(&(limit, self.place)),
        };
        let mut before = taken.range((limit, 0)..(limit, self.place)).map(|(_, takes)| *takes);
        before.try_fold(Fraction::ZERO, Fraction::plus)
    }
}

/// Answers have kept calls of a turn from running, or what was said before: what they would have taken is there for those
/// after them. Gives the places of those that nothing keeps from running any more, or only that somebody has to be asked.
pub(super) async fn reconsider(calls: &mut [Decided], is_lost: impl Fn(usize, &Decided) -> bool) -> Vec<usize> {
    let mut has_room = false;
    let mut regained = Vec::new();
    for (place, call) in calls.iter_mut().enumerate() {
        if has_room && !call.0.limits().is_empty() && !call.0.unmet().is_empty() {
            call.0.count_in_turn().await;
            if call.may_run() {
                regained.push(place);
            }
        }
        if is_lost(place, call) || !call.may_run() {
            has_room |= call.0.listed.as_ref().and_then(|listed| listed.counter.as_ref()).is_some_and(Counter::forgets);
        }
    }
    regained
}

impl State {
    pub(super) fn has_limits(&self) -> bool {
        !self.limits().is_empty()
    }

    fn limits(&self) -> &[Counted] {
        self.listed.as_ref().map_or(&[], |listed| &listed.findings.limits)
    }

    /// Counts the limits as they are now, together with what the calls before take.
    pub(super) async fn count_in_turn(&mut self) {
        let Some(counter) = self.listed.as_mut().and_then(|listed| listed.counter.take()) else { return };
        let used = used(&*counter.ledger, &self.tallies()).await;
        let with_before = |(used, counted): (Result<Fraction, String>, &Counted)| {
            let before = counter.before(counted.limit.id, counted.takes.as_ref().ok().copied());
            used.and_then(|used| before.and_then(|before| used.plus(before)).ok_or_else(too_much))
        };
        let used = used.into_iter().zip(self.limits()).map(with_before).collect();
        self.judge_limits(used);
        if let Some(listed) = &mut self.listed {
            listed.counter = Some(counter);
        }
    }

    /// Counts the limits by what the ledger has.
    async fn count(&mut self, ledger: &dyn Ledger) {
        let used = used(ledger, &self.tallies()).await;
        self.judge_limits(used);
    }

    fn judge_limits(&mut self, used: Vec<Result<Fraction, String>>) {
        if let Some(listed) = &mut self.listed {
            let is_whole = listed.open.is_empty();
            for (place, used) in used.into_iter().enumerate() {
                listed.findings.judge_limit(place, used, is_whole);
            }
        }
    }

    fn tallies(&self) -> Vec<Tally> {
        self.limits().iter().map(tally).collect()
    }

    /// What running it takes. In the shadow, and where somebody has agreed to more, it counts and is never too much.
    pub(super) fn taken(&self) -> Vec<LimitUse> {
        let shadow = self.listed.as_ref().is_some_and(|listed| listed.findings.shadow);
        let takes = |counted: &Counted| {
            let most = (!counted.is_beyond && !shadow).then_some(Amount(counted.limit.most));
            let takes = Amount(*counted.takes.as_ref().ok()?);
            Some(LimitUse::new(tally(counted), takes, most))
        };
        self.limits().iter().filter_map(takes).collect()
    }
}

fn tally(counted: &Counted) -> Tally {
    Tally::new(counted.limit.id, counted.limit.per)
}

fn too_much() -> String {
    "so much is used that it can't be counted exactly".to_owned()
}

/// How much of each was used.
async fn used(ledger: &dyn Ledger, tallies: &[Tally]) -> Vec<Result<Fraction, String>> {
    let counted = CatchPanic::of(|| ledger.used(tallies.to_vec())).await;
    let all_fail = |why: String| tallies.iter().map(|_| Err(why.clone())).collect();
    match counted {
        Ok(Ok(used)) if used.len() == tallies.len() => used.into_iter().map(|used| Ok(used.0)).collect(),
        Ok(Ok(_)) => all_fail("the ledger did not count every limit".to_owned()),
        Ok(Err(error)) => all_fail(Failed::of(error).text),
        Err(panic) => all_fail(format!("the ledger panicked: {panic}")),
    }
}

/// How often it is counted anew if others are faster: whoever is ahead of us has taken something.
const ATTEMPTS: usize = 8;

/// Records a call that has limits. If it is cleared, its verdict and what it takes are kept in one step, or neither is.
pub(super) async fn recorded(mut state: Box<State>, ledger: &dyn Ledger) -> Recorded {
    for _ in 0..ATTEMPTS {
        if !record::is_cleared(&state) {
            break;
        }
        state.count(ledger).await;
        if !record::is_cleared(&state) {
            break;
        }
        let before = Before::of(&state);
        let verdict = record::verdict(&mut state, VerdictKind::Cleared, None);
        match clear(ledger, &verdict).await {
            Ok(true) => {
                state.verdict = Some(verdict);
                return Recorded(state);
            }
            Ok(false) => before.put_back(&mut state),
            Err(failed) if failed.not_ours => {
                state.verdict = Some(verdict);
                (state.unrecorded, state.not_ours) = (Some(failed.text), true);
                return Recorded(state);
            }
            Err(failed) => {
                before.put_back(&mut state);
                state.is_uncounted(&failed.text);
                return record::as_it_is(state, ledger).await;
            }
        }
    }
    if record::is_cleared(&state) {
        state.is_uncounted("others were always faster");
    }
    record::as_it_is(state, ledger).await
}

impl State {
    /// Whether there is room can't be told.
    fn is_uncounted(&mut self, why: &str) {
        self.judge_limits(self.limits().iter().map(|_| Err(why.to_owned())).collect());
    }
}

/// What a verdict takes out of a call.
struct Before {
    canonical: Option<String>,
    slots: Vec<crate::checklist::Slot>,
}

impl Before {
    fn of(state: &State) -> Self {
        let slots = state.listed.as_ref().map(|listed| listed.findings.slots.clone());
        Before { canonical: Some(state.canonical().to_owned()), slots: slots.unwrap_or_default() }
    }

    fn put_back(self, state: &mut State) {
        state.canonical = self.canonical;
        if let Some(listed) = &mut state.listed {
            listed.findings.slots = self.slots;
        }
    }
}

async fn clear(ledger: &dyn Ledger, verdict: &Arc<Verdict>) -> Result<bool, Failed> {
    let cleared = CatchPanic::of(|| ledger.clear(Clearing::new(Arc::clone(verdict)))).await;
    cleared.unwrap_or_else(|panic| Err(LedgerError::new(panic))).map_err(Failed::of)
}
