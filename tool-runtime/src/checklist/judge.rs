//! The conditions of one call: the state that they need is observed together, then each is judged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::applied::{Applied, Kind, Test};
use super::condition::State;
use super::examine::{Around, Examined, Findings, party_of};
#[cfg(feature = "cel")]
use super::expression::{Expression, Facts, Truth};
use super::file::How;
use super::look_up::all;
use super::slot::{Party, SlotState, Unknown};
use crate::BoxFuture;
use crate::gate::Addressee;
#[cfg(feature = "cel")]
use crate::schema::json::Json;
use crate::tool::CatchPanic;

/// What was observed, by name: JSON text, or why it could not be.
pub(super) type Observed = BTreeMap<String, Result<String, String>>;

/// What a record keeps of that: names with JSON text.
pub(super) type Kept = Vec<(Arc<str>, Arc<str>)>;

/// How much of one observation a record keeps, in bytes.
#[cfg(feature = "cel")]
const MOST_KEPT: usize = 4096;

fn state_named(name: &str) -> String {
    format!("state.{name}")
}

fn check_named(name: &str) -> String {
    format!("check.{name}")
}

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
    let judged: Vec<(&Applied, How, &Test, &Addressee)> = lines
        .iter()
        .filter_map(|line| match &line.kind {
            Kind::Condition { how, test, approver } => Some((line, *how, test, approver)),
            _ => None,
        })
        .collect();
    if judged.is_empty() {
        return;
    }
    let registered = judged.iter().map(|(_, _, test, _)| -> BoxFuture<'_, Option<Judged>> {
        match test {
            Test::Registered(name, condition) => Box::pin(async move {
                if let Some(recorded) = around.recorded {
                    return Some(match recorded.fact(&check_named(name)) {
                        Ok("true") => Ok(true),
                        Ok("false") => Ok(false),
                        Ok(_) => Err("the record can't be read".to_owned()),
                        Err(why) => Err(why),
                    });
                }
                let checking = CatchPanic::of(|| condition.check(call.checked()));
                Some(checking.await.unwrap_or_else(|_| panicked()))
            }),
            #[cfg(feature = "cel")]
            Test::Expression(_) => Box::pin(std::future::ready(None)),
        }
    });
    let truths = all(registered.collect()).await;
    for ((line, how, test, approver), truth) in judged.into_iter().zip(truths) {
        let truth = truth.unwrap_or_else(|| test.judge(around, call, observed));
        let facts = test.kept(around, call, observed, &truth);
        let failed = test.states().find_map(|name| observed.get(name).and_then(|observed| observed.as_ref().err()));
        settle(call, (line, how, approver), (truth, facts), failed.is_some(), findings);
    }
}

fn panicked() -> Judged {
    Err("the check panicked".to_owned())
}

fn settle(
    call: &Examined<'_>,
    (line, how, approver): (&Applied, How, &Addressee),
    (truth, facts): (Judged, Kept),
    state_failed: bool,
    findings: &mut Findings,
) {
    let words = || line.words.as_deref().unwrap_or(&line.name).to_owned();
    match (how, truth) {
        (How::Holds, Ok(true)) | (How::Prohibits | How::Approve, Ok(false)) => {
            findings.judged(line, SlotState::Holds, facts);
        }
        (How::Holds, Ok(false)) | (How::Prohibits, Ok(true)) => {
            findings.judged(line, SlotState::Fails, facts);
            findings.unmet.push(format!("{} ({})", words(), line.origin));
        }
        (How::Approve, Ok(true)) => {
            let slot = findings.judged(line, SlotState::Unconfirmed, facts);
            findings.has_to_agree(format!("{} ({})", words(), line.origin), approver.clone(), slot);
        }
        (_, Err(mut why)) => {
            // It was shown the arguments as they are, and may quote them.
            call.tool.built().without_secrets(call.canonical, call.open, [&mut why]);
            let party = if state_failed { Party::Host } else { party_of(&line.origin) };
            findings.judged(line, SlotState::Open { party, why }, facts);
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
        if let Some(recorded) = around.recorded {
            let fact = recorded.fact(&state_named(name)).map(str::to_owned);
            return Box::pin(std::future::ready(fact));
        }
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
    CatchPanic::of(|| state.observe(call.checked())).await.unwrap_or_else(panicked)
}

/// The names of the states that a line reads.
fn states_of(kind: &Kind) -> Vec<&str> {
    match kind {
        Kind::Condition { test, .. } => test.states().collect(),
        #[cfg(feature = "cel")]
        Kind::Value(line) => line.derive.iter().flat_map(|derivation| derivation.formula().reads().state()).collect(),
        _ => Vec::new(),
    }
}

impl Test {
    /// The names of the states that it reads.
    fn states(&self) -> impl Iterator<Item = &str> {
        let names: Vec<&str> = match self {
            Test::Registered(..) => Vec::new(),
            #[cfg(feature = "cel")]
            Test::Expression(expression) => expression.reads().state().collect(),
        };
        names.into_iter()
    }

    /// What a record keeps of what it was judged by.
    fn kept(&self, around: Around<'_>, call: &Examined<'_>, observed: &Observed, truth: &Judged) -> Kept {
        match self {
            Test::Registered(name, _) => {
                let _ = (around, call, observed);
                let said = truth.as_ref().ok().map(|truth| (check_named(name).into(), truth.to_string().into()));
                said.into_iter().collect()
            }
            #[cfg(feature = "cel")]
            Test::Expression(expression) => kept(expression, &facts(around, call, observed), call, observed),
        }
    }

    fn judge(&self, around: Around<'_>, call: &Examined<'_>, observed: &Observed) -> Judged {
        match self {
            Test::Registered(..) => {
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
    match (around.recorded, around.now) {
        (Some(recorded), _) => match recorded.fact("now").ok().and_then(|now| Json::parse(now).ok()) {
            Some(now) => facts.at(now.as_str().unwrap_or_default()),
            None => facts,
        },
        (None, Some(now)) => facts.now(now),
        (None, None) => facts,
    }
}

/// What a record keeps of what an expression was judged by: no secret, and nothing large.
#[cfg(feature = "cel")]
pub(super) fn kept(expression: &Expression, facts: &Facts, call: &Examined<'_>, observed: &Observed) -> Kept {
    let reads = expression.reads();
    let mut kept = Kept::new();
    let mut secrets = None;
    for name in reads.state() {
        let Some(Ok(json)) = observed.get(name) else { continue };
        let secrets = secrets.get_or_insert_with(|| call.tool.built().secrets(call.canonical, call.open));
        if json.len() <= MOST_KEPT && !quotes(json, secrets) {
            kept.push((state_named(name).into(), json.as_str().into()));
        }
    }
    if let Some(now) = facts.time().filter(|_| reads.now()) {
        kept.push(("now".into(), Json::string(now).to_string().into()));
    }
    kept
}

/// Does a JSON text hold one of these, as it is written or as it reads?
#[cfg(feature = "cel")]
fn quotes(json: &str, secrets: &[String]) -> bool {
    fn within(json: &Json, secret: &str) -> bool {
        match json {
            Json::String(text) => text.contains(secret),
            Json::Array(list) => list.iter().any(|json| within(json, secret)),
            Json::Object(members) => members.iter().any(|(name, json)| name.contains(secret) || within(json, secret)),
            _ => false,
        }
    }
    let parsed = Json::parse(json).ok();
    secrets
        .iter()
        .filter(|secret| !secret.is_empty())
        .any(|secret| json.contains(secret.as_str()) || parsed.as_ref().is_some_and(|json| within(json, secret)))
}
