use std::collections::HashMap;
use std::ops::Range;

use super::apart::{Difference, differences};
use super::bounds::Estimator;
use super::canonical::{CanonicalForm, CanonicalStep, Numbers, of_text};
use super::declaration::{PlanTool, PlanTools};
use super::sample::{Observed, Plan, PlannedCall, Sample};
use crate::schema::json::{Cursor, Fault, write_string};
use crate::schema::{Digest, MAX_DEPTH};

/// What a ruling rests on. The same for the same samples in any order, except for which one stands for its group.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Figures {
    /// How many samples there were.
    pub samples: usize,
    /// How many of them agree with nothing because nobody can read them.
    pub unparsable: usize,
    /// The sizes of the groups of equal plans, largest first.
    pub groups: Vec<usize>,
    /// A sample of the largest group; of equally large ones, of that whose canonical bytes come first. `None` if nothing
    /// could be read.
    pub plurality: Option<usize>,
    /// Agreement about what to call with which arguments.
    pub argument_agreement: f64,
    /// Agreement of results, over the samples whose results say anything. `None` if there are none.
    pub result_agreement: Option<f64>,
    /// Of how many samples the results say anything.
    pub result_signals: usize,
    /// Wilson's 95 % interval of the plurality's share. It is not one of the agreement: the largest of several groups is
    /// larger than any one of them is expected to be.
    pub share_interval: (f64, f64),
    /// Of each argument of the plurality's calls, how many of the samples that make the same calls give the same value:
    /// the tool, the argument, the share. Only those about which there is no full agreement.
    pub diverging: Vec<(String, String, f64)>,
}

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
#[derive(Debug, Clone)]
pub(super) struct Keyed {
    /// `None`: it agrees with nothing.
    pub(super) plan: Option<KeyedPlan>,
    pub(super) signal: Signal,
}

#[derive(Debug, Clone)]
pub(super) struct KeyedPlan {
    pub(super) key: String,
    /// Each call's tool and canonical arguments, in canonical order.
    pub(super) calls: Vec<(String, String)>,
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
    // With what a call uses, so that it doesn't matter where in the plan that stands.
    let mut content: Vec<Option<Digest>> = Vec::with_capacity(calls.len());
    for (step, call) in calls.iter().enumerate() {
        let (tag, arguments) = canonical(call, form, tools.get(&call.tool))?;
        let mut text = String::with_capacity(call.tool.len() + arguments.len() + 3);
        write_string(&mut text, &call.tool);
        text.push(tag);
        text.push_str(&arguments);
        let mut bytes = Vec::new();
        for &used in &call.uses {
            if used >= step {
                // Nothing can use what comes after it.
                return None;
            }
            let used = content[used].unwrap_or_else(|| Digest::of_bytes(texts_of(&texts, used)));
            bytes.extend_from_slice(used.as_bytes());
        }
        content.push((!bytes.is_empty()).then(|| {
            bytes.extend_from_slice(text.as_bytes());
            Digest::of_bytes(&bytes)
        }));
        texts.push((text, arguments));
    }
    let mut order: Vec<usize> = (0..calls.len()).collect();
    if form.takes(CanonicalStep::Calls) {
        order.sort_by(|&a, &b| texts[a].0.cmp(&texts[b].0).then_with(|| content[a].cmp(&content[b])));
    }
    let mut place = vec![0; calls.len()];
    for (at, &step) in order.iter().enumerate() {
        place[step] = at;
    }
    let mut key = String::new();
    for &step in &order {
        key.push_str(&texts[step].0);
        for &used in &calls[step].uses {
            key.push('<');
            key.push_str(&place[used].to_string());
        }
        key.push('\n');
    }
    let calls = order.iter().map(|&step| (calls[step].tool.clone(), std::mem::take(&mut texts[step].1))).collect();
    Some((KeyedPlan { key, calls }, order))
}

fn texts_of(texts: &[(String, String)], step: usize) -> &[u8] {
    texts.get(step).map_or(&[], |(text, _)| text.as_bytes())
}

/// The canonical arguments of a call, and a sign that keeps accepted ones apart from refused ones and from those
/// that nobody has a schema for.
fn canonical(call: &PlannedCall, form: CanonicalForm, tool: Option<&PlanTool>) -> Option<(char, String)> {
    let numbers = if form.takes(CanonicalStep::Numbers) { Numbers::Canonical } else { Numbers::Written };
    if !form.takes(CanonicalStep::Keys) {
        of_text(&call.arguments, Numbers::Written, MAX_DEPTH)?;
        return Some((' ', call.arguments.clone()));
    }
    let schema = tool.and_then(|tool| tool.tool.as_ref()).filter(|_| form.takes(CanonicalStep::Schema));
    let (tag, text) = match schema.map(|tool| tool.built().accept(&call.arguments, &[])) {
        None => (' ', None),
        Some(Ok(walked)) => ('=', walked.text),
        Some(Err(_)) => ('!', None),
    };
    let mut text = text.unwrap_or_else(|| call.arguments.clone());
    let declared = tool.and_then(|tool| tool.canonicaliser.as_deref()).filter(|_| form.takes(CanonicalStep::Declared));
    if let Some(canonicalise) = declared {
        let mut out = String::from("{");
        for (name, value) in members(&text)? {
            if out.len() > 1 {
                out.push(',');
            }
            write_string(&mut out, &name);
            out.push(':');
            out.push_str(canonicalise(&name, value).as_deref().unwrap_or(value));
        }
        out.push('}');
        text = out;
    }
    Some((tag, of_text(&text, numbers, MAX_DEPTH)?))
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

/// Equal empty results are no agreement.
pub(super) fn is_empty(canonical: &str) -> bool {
    ["null", "\"\"", "[]", "{}"].contains(&canonical)
}

/// The members of an object's text, each with the text of its value.
pub(super) fn members(text: &str) -> Option<Vec<(String, &str)>> {
    let mut cursor = Cursor::new(text);
    let read = |cursor: &mut Cursor<'_>| -> Result<Vec<(String, Range<usize>)>, Fault> {
        let mut members = Vec::new();
        if !matches!(cursor.token()?, crate::schema::json::Token::ObjectStart) {
            return cursor.fail("expected an object");
        }
        let mut next = cursor.first_key()?;
        while let Some(key) = next {
            cursor.skip_space();
            let start = cursor.offset();
            cursor.skip_value(MAX_DEPTH)?;
            members.push((key.name().into_owned(), start..cursor.offset()));
            next = cursor.next_key()?;
        }
        cursor.finish()?;
        Ok(members)
    };
    let found = read(&mut cursor).ok()?;
    found.into_iter().map(|(name, range)| Some((name, text.get(range)?))).collect()
}

/// The sizes of groups of equal texts, and a member of the largest.
pub(super) fn group<'k>(keys: impl Iterator<Item = (usize, &'k str)>) -> (Vec<usize>, Option<usize>) {
    let mut groups: HashMap<&str, (usize, usize)> = HashMap::new();
    for (index, key) in keys {
        groups.entry(key).or_insert((0, index)).0 += 1;
    }
    let first = groups.iter().max_by(|(a, (n, _)), (b, (m, _))| n.cmp(m).then_with(|| b.cmp(a)));
    let plurality = first.map(|(_, &(_, index))| index);
    let mut sizes: Vec<usize> = groups.into_values().map(|(size, _)| size).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    (sizes, plurality)
}

impl Figures {
    pub(super) fn of<E: Estimator>(keyed: &[Keyed]) -> Self {
        let plans = keyed.iter().enumerate().filter_map(|(index, one)| Some((index, one.plan.as_ref()?.key.as_str())));
        let (groups, plurality) = group(plans);
        let signals: Vec<(usize, &str)> = keyed
            .iter()
            .enumerate()
            .filter_map(|(index, one)| match &one.signal {
                Signal::Text(text) => Some((index, text.as_str())),
                Signal::Silent | Signal::NotRun => None,
            })
            .collect();
        let result_signals = signals.len();
        let (results, _) = group(signals.into_iter());
        let largest = groups.first().copied().unwrap_or(0);
        Figures {
            samples: keyed.len(),
            unparsable: keyed.iter().filter(|one| one.plan.is_none()).count(),
            argument_agreement: E::estimate(&groups, keyed.len()),
            result_agreement: (result_signals > 0).then(|| E::estimate(&results, result_signals)),
            result_signals,
            share_interval: wilson(largest, keyed.len()),
            diverging: plurality.map(|index| diverging(keyed, index)).unwrap_or_default(),
            groups,
            plurality,
        }
    }
}

/// Wilson's score interval of a share, at 95 %.
fn wilson(hits: usize, n: usize) -> (f64, f64) {
    const Z: f64 = 1.959_963_984_540_054;
    if n == 0 {
        return (0.0, 1.0);
    }
    let (n, share) = (n as f64, hits as f64 / n as f64);
    let middle = share + Z * Z / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let whole = 1.0 + Z * Z / n;
    (((middle - half) / whole).max(0.0), ((middle + half) / whole).min(1.0))
}

/// Which arguments of the plurality's calls differ among samples that make the same calls.
fn diverging(keyed: &[Keyed], plurality: usize) -> Vec<(String, String, f64)> {
    let share = |difference: Difference<'_>| {
        let counts = || difference.values.iter().map(|(_, count, _)| *count);
        let (all, largest) = (counts().sum::<usize>(), counts().max().unwrap_or(0));
        (difference.tool.to_owned(), difference.argument, largest as f64 / all as f64)
    };
    differences(keyed, plurality).into_iter().map(share).collect()
}
