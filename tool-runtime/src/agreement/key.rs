//! A sample in the form in which it is compared.

use std::borrow::Cow;

use super::argument;
use super::canonical::{CanonicalForm, CanonicalStep, Numbers, is_empty, of_text};
use super::declaration::{PlanTool, PlanTools};
use super::references;
use super::sample::{Observed, Plan, PlannedCall, Sample};
use crate::schema::json::{object_of, write_string};
use crate::schema::{JsonPath, MAX_DEPTH};

/// The results of one sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Signal {
    /// Something that can agree.
    Text(String),
    /// Empty, or failed.
    Silent,
    NotRun,
}

/// A sample in the form in which it is compared.
#[derive(Debug)]
pub(super) struct Keyed {
    /// `None`: it agrees with nothing.
    pub(super) plan: Option<KeyedPlan>,
    pub(super) signal: Signal,
}

#[derive(Debug)]
pub(super) struct KeyedPlan {
    pub(super) key: String,
    /// Each call, in canonical order.
    pub(super) calls: Vec<KeyedCall>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct KeyedCall {
    pub(super) tool: String,
    /// Its canonical arguments.
    pub(super) arguments: String,
    /// What keeps accepted arguments apart from refused ones and from those that nobody has a schema for.
    pub(super) sign: char,
}

impl Keyed {
    pub(super) fn of(sample: &Sample, form: CanonicalForm, tools: &PlanTools) -> Self {
        match &sample.plan {
            Plan::Unparsable => Keyed { plan: None, signal: Signal::NotRun },
            Plan::Calls(calls) => match keyed(calls, form, tools) {
                Some((plan, order)) => Keyed { plan: Some(plan), signal: signal(&sample.results, &order) },
                None => Keyed { plan: None, signal: Signal::NotRun },
            },
        }
    }
}

/// The key of a plan, and the order of its calls in it.
fn keyed(calls: &[PlannedCall], form: CanonicalForm, tools: &PlanTools) -> Option<(KeyedPlan, Vec<usize>)> {
    let mut texts = Vec::with_capacity(calls.len());
    let mut keyed = Vec::with_capacity(calls.len());
    for (step, call) in calls.iter().enumerate() {
        if call.uses.iter().any(|(used, _)| *used >= step) {
            // Nothing can use what comes after it.
            return None;
        }
        let (sign, arguments) = canonical(call, form, tools.get(&call.tool))?;
        let mut text = String::with_capacity(call.tool.len() + arguments.len() + 3);
        write_string(&mut text, &call.tool);
        text.push(sign);
        text.push_str(&arguments);
        texts.push(text);
        keyed.push(Some(KeyedCall { tool: call.tool.clone(), arguments, sign }));
    }
    let order = match form.takes(CanonicalStep::Calls) {
        true => references::order(&texts, calls),
        false => (0..calls.len()).collect(),
    };
    let mut place = vec![0; calls.len()];
    for (at, &step) in order.iter().enumerate() {
        place[step] = at;
    }
    let mut key = String::new();
    for &step in &order {
        key.push_str(&texts[step]);
        let mut uses: Vec<(&Option<JsonPath>, usize)> =
            calls[step].uses.iter().map(|(used, at)| (at, place[*used])).collect();
        uses.sort();
        for (at, used) in uses {
            key.push('<');
            key.push_str(&used.to_string());
            if let Some(at) = at {
                write_string(&mut key, &at.to_pointer());
            }
        }
        key.push('\n');
    }
    let calls = order.iter().filter_map(|&step| keyed[step].take()).collect();
    Some((KeyedPlan { key, calls }, order))
}

/// The canonical arguments of a call, with their sign. `None` if they aren't JSON.
fn canonical(call: &PlannedCall, form: CanonicalForm, tool: Option<&PlanTool>) -> Option<(char, String)> {
    let numbers = if form.takes(CanonicalStep::Numbers) { Numbers::Canonical } else { Numbers::Written };
    if !form.takes(CanonicalStep::Keys) {
        of_text(&call.arguments, Numbers::Written, MAX_DEPTH)?;
        return Some((' ', call.arguments.clone()));
    }
    let schema = tool.and_then(|tool| tool.tool.as_ref()).filter(|_| form.takes(CanonicalStep::Schema));
    // As for a call that is to run: quotes around the whole, and nothing at all, are an object too.
    let given = match form.takes(CanonicalStep::Schema) {
        true => object_of(&call.arguments),
        false => Cow::Borrowed(call.arguments.as_str()),
    };
    // What another call's result will be isn't there yet.
    let open: Vec<JsonPath> = call.uses.iter().filter_map(|(_, at)| at.clone()).collect();
    let walked = schema.map(|tool| match form.takes(CanonicalStep::Sets) {
        true => tool.built().accept_sets(&given, &open),
        false => tool.built().accept(&given, &open),
    });
    let (sign, text) = match walked {
        None => (' ', None),
        Some(Ok(walked)) => ('=', walked.text),
        Some(Err(_)) => ('!', None),
    };
    let text = text.as_deref().unwrap_or(&given);
    let forms = tool.map(|tool| tool.forms.as_slice()).filter(|_| form.takes(CanonicalStep::Declared));
    let text = match forms {
        Some(forms) if !forms.is_empty() => &argument::rewritten(text, forms, numbers)?,
        _ => text,
    };
    Some((sign, of_text(text, numbers, MAX_DEPTH)?))
}

/// What the results of a sample say, in the canonical order of its calls.
fn signal(results: &[Observed], order: &[usize]) -> Signal {
    let mut key = String::new();
    let mut says_something = false;
    for &step in order {
        match results.get(step) {
            None | Some(Observed::NotRun) => return Signal::NotRun,
            Some(Observed::Failed) => return Signal::Silent,
            Some(Observed::Value(text)) => match of_text(text, Numbers::Canonical, MAX_DEPTH) {
                Some(text) => {
                    says_something |= !is_empty(&text);
                    key.push_str(&text);
                    key.push('\n');
                }
                None => return Signal::Silent,
            },
        }
    }
    if says_something { Signal::Text(key) } else { Signal::Silent }
}
