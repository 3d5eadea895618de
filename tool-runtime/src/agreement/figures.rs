use std::collections::HashMap;

use super::apart::{Difference, differences};
use super::bounds::Estimator;
use super::key::{Keyed, KeyedCall, Signal};

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
    /// Of each call of the plurality's plan, in canonical order: its tool, and how many of all samples make the same
    /// call, as often. Plans of several calls may agree on each but one.
    pub calls: Vec<(String, f64)>,
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
            calls: plurality.map(|index| of_calls(keyed, index)).unwrap_or_default(),
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

/// How many samples make each call of the plurality's plan.
fn of_calls(keyed: &[Keyed], plurality: usize) -> Vec<(String, f64)> {
    let Some(chosen) = keyed.get(plurality).and_then(|one| one.plan.as_ref()) else { return Vec::new() };
    // For each call, and each further time that a plan makes it: in how many plans.
    let mut made: HashMap<(&KeyedCall, usize), usize> = HashMap::new();
    let mut times = HashMap::new();
    for plan in keyed.iter().filter_map(|one| one.plan.as_ref()) {
        times.clear();
        for call in &plan.calls {
            let time = times.entry(call).and_modify(|time| *time += 1).or_insert(0_usize);
            *made.entry((call, *time)).or_default() += 1;
        }
    }
    times.clear();
    let mut share = |call| {
        let time = times.entry(call).and_modify(|time| *time += 1).or_insert(0_usize);
        made.get(&(call, *time)).map_or(0.0, |&count| count as f64 / keyed.len() as f64)
    };
    chosen.calls.iter().map(|call| (call.tool.clone(), share(call))).collect()
}
