//! The conditions of one call: the state that they need is observed together, then each is judged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::applied::{Applied, Kind, Test};
use super::condition::State;
use super::examine::{Around, Examined, Findings, party_of};
#[cfg(feature = "cel")]
use super::expression::{Facts, Truth};
use super::file::{Addressee, How};
use super::look_up::all;
use super::slot::{Party, SlotState, Unknown};
use crate::BoxFuture;
use crate::tool::{CatchPanic, caught};

/// What was observed, by name: JSON text, or why it could not be.
pub(super) type Observed = BTreeMap<String, Result<String, String>>;

/// What a condition comes to: `Err` says why it can't be told.
type Judged = Result<bool, String>;

/// Judges all conditions.
pub(super) async fn conditions(
    around: Around<'_>,
    call: &Examined<'_>,
    lines: &[Applied],
    observed: &Observed,
    findings: &mut Findings,
) {
    let judged: Vec<(&Applied, How, &Test, Addressee)> = lines
        .iter()
        .filter_map(|line| match &line.kind {
            Kind::Condition { how, test, approver } => Some((line, *how, test, *approver)),
            _ => None,
        })
        .collect();
    if judged.is_empty() {
        return;
    }
    let registered = judged.iter().map(|(_, _, test, _)| -> BoxFuture<'_, Option<Judged>> {
        match test {
            Test::Registered(condition) => Box::pin(async move {
                let checking = caught(|| condition.check(call.checked()));
                Some(match checking {
                    Ok(checking) => CatchPanic::new(checking).await.unwrap_or_else(|_| panicked()),
                    Err(_) => panicked(),
                })
            }),
            #[cfg(feature = "cel")]
            Test::Expression(_) => Box::pin(std::future::ready(None)),
        }
    });
    let truths = all(registered.collect()).await;
    for ((line, how, test, approver), truth) in judged.into_iter().zip(truths) {
        let truth = truth.unwrap_or_else(|| test.judge(around, call, observed));
        let failed = test.states().find_map(|name| observed.get(name).and_then(|observed| observed.as_ref().err()));
        settle(call, line, how, approver, truth, failed.is_some(), findings);
    }
}

fn panicked() -> Judged {
    Err("the check panicked".to_owned())
}

fn settle(
    call: &Examined<'_>,
    line: &Applied,
    how: How,
    approver: Addressee,
    truth: Judged,
    state_failed: bool,
    findings: &mut Findings,
) {
    let words = || line.words.as_deref().unwrap_or(&line.name).to_owned();
    match (how, truth) {
        (How::Holds, Ok(true)) | (How::Prohibits | How::Approve, Ok(false)) => {
            findings.line(line, SlotState::Holds);
        }
        (How::Holds, Ok(false)) | (How::Prohibits, Ok(true)) => {
            findings.line(line, SlotState::Fails);
            findings.unmet.push(format!("{} ({})", words(), line.origin));
        }
        (How::Approve, Ok(true)) => {
            let slot = findings.line(line, SlotState::Unconfirmed);
            findings.has_to_agree(format!("{} ({})", words(), line.origin), approver, slot);
        }
        (_, Err(why)) => {
            let party = if state_failed { Party::Host } else { party_of(&line.origin) };
            findings.line(line, SlotState::Open { party, why });
            // Of a draft it is judged again once it is complete: what is asked for is what isn't there.
            if call.open.is_empty() {
                findings.unknowns.push(Unknown::of_line(Arc::clone(&line.name), party, words()));
            }
        }
    }
}

/// Observes all state that the lines of a call read, together.
pub(super) async fn observe(around: Around<'_>, call: &Examined<'_>, lines: &[Applied]) -> Observed {
    let needed: BTreeSet<&str> = lines.iter().flat_map(|line| states_of(&line.kind)).collect();
    let looking = needed.iter().map(|name| -> BoxFuture<'_, Result<String, String>> {
        match around.registered.states.get(*name) {
            Some(state) => Box::pin(observe_one(&**state, call)),
            None => Box::pin(std::future::ready(Err("no such state is registered".to_owned()))),
        }
    });
    let observed = all(looking.collect()).await;
    needed.into_iter().map(str::to_owned).zip(observed).collect()
}

async fn observe_one(state: &dyn State, call: &Examined<'_>) -> Result<String, String> {
    let panicked = |_| Err("looking it up panicked".to_owned());
    match caught(|| state.observe(call.checked())) {
        Ok(observing) => CatchPanic::new(observing).await.unwrap_or_else(panicked),
        Err(panic) => panicked(panic),
    }
}

/// The names of the states that a line reads.
fn states_of(kind: &Kind) -> Vec<&str> {
    match kind {
        Kind::Condition { test, .. } => test.states().collect(),
        #[cfg(feature = "cel")]
        Kind::Value(line) => line.derive.iter().flat_map(|formula| formula.reads().state()).collect(),
        _ => Vec::new(),
    }
}

impl Test {
    /// The names of the states that it reads.
    fn states(&self) -> impl Iterator<Item = &str> {
        let names: Vec<&str> = match self {
            Test::Registered(_) => Vec::new(),
            #[cfg(feature = "cel")]
            Test::Expression(expression) => expression.reads().state().collect(),
        };
        names.into_iter()
    }

    fn judge(&self, around: Around<'_>, call: &Examined<'_>, observed: &Observed) -> Judged {
        match self {
            Test::Registered(_) => {
                let _ = (around, call, observed);
                Err("it was not checked".to_owned())
            }
            #[cfg(feature = "cel")]
            Test::Expression(expression) => match expression.judge(&facts(around, call, observed)) {
                Truth::True => Ok(true),
                Truth::False => Ok(false),
                Truth::Unknown(reason) => Err(reason.to_string()),
            },
        }
    }
}

/// What expressions are judged by.
#[cfg(feature = "cel")]
pub(super) fn facts(around: Around<'_>, call: &Examined<'_>, observed: &Observed) -> Facts {
    let mut facts = Facts::new(call.canonical);
    for path in call.open {
        facts = facts.open(path);
    }
    for (name, observed) in observed {
        // What could not be observed is not there, and whatever reads it has no answer.
        if let Ok(json) = observed {
            facts = facts.state(name.as_str(), json);
        }
    }
    match around.now {
        Some(now) => facts.now(now),
        None => facts,
    }
}
