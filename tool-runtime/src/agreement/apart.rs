//! What sampled plans differ in.

use std::collections::{BTreeMap, BTreeSet};

use super::argument::members;
use super::declaration::PlanTools;
use super::key::{Keyed, KeyedPlan};
use crate::ledger::ApartRecord;
use crate::schema::REDACTED;

/// One argument about which samples that make the same calls differ.
pub(super) struct Difference<'k> {
    pub(super) tool: &'k str,
    pub(super) argument: String,
    /// Each value's canonical text, or that it is left out; how many samples have it; and the arguments of one of these
    /// calls.
    pub(super) values: Vec<(Option<&'k str>, usize, &'k str)>,
}

/// The arguments of the plurality's calls that differ among samples which make the same calls, in the order of calls and
/// names.
pub(super) fn differences<'k>(keyed: &'k [Keyed], plurality: usize) -> Vec<Difference<'k>> {
    let tools = |plan: &'k KeyedPlan| plan.calls.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>();
    let Some(chosen) = keyed.get(plurality).and_then(|one| one.plan.as_ref()) else { return Vec::new() };
    let wanted = tools(chosen);
    // Equal plans are read once, and counted.
    let mut alike: BTreeMap<&str, (&KeyedPlan, usize)> = BTreeMap::new();
    for plan in keyed.iter().filter_map(|one| one.plan.as_ref()).filter(|plan| tools(plan) == wanted) {
        alike.entry(&plan.key).or_insert((plan, 0)).1 += 1;
    }
    let mut found = Vec::new();
    if alike.len() < 2 {
        return found;
    }
    for (place, tool) in wanted.into_iter().enumerate() {
        let given: Vec<(BTreeMap<String, &str>, usize, &str)> = alike
            .values()
            .map(|(plan, count)| {
                let arguments = plan.calls[place].arguments.as_str();
                (members(arguments).unwrap_or_default().into_iter().collect(), *count, arguments)
            })
            .collect();
        let names: BTreeSet<&String> = given.iter().flat_map(|(members, ..)| members.keys()).collect();
        for name in names {
            let mut values: BTreeMap<Option<&str>, (usize, &str)> = BTreeMap::new();
            for (members, count, arguments) in &given {
                values.entry(members.get(name).copied()).or_insert((0, *arguments)).0 += count;
            }
            if values.len() > 1 {
                let values = values.into_iter().map(|(value, (count, arguments))| (value, count, arguments)).collect();
                found.push(Difference { tool, argument: name.clone(), values });
            }
        }
    }
    found
}

/// The same for a person and for the record: the most frequent values first, without secrets.
pub(super) fn side_by_side(keyed: &[Keyed], plurality: usize, tools: &PlanTools) -> Vec<ApartRecord> {
    let record = |difference: Difference<'_>| {
        let Difference { tool, argument, values } = difference;
        let mut values: Vec<(Option<String>, usize)> = values
            .into_iter()
            .map(|(value, count, arguments)| {
                (value.map(|value| shown(tools, tool, &argument, value, arguments)), count)
            })
            .collect();
        // Stable: equally frequent ones stay in the order of their canonical bytes.
        values.sort_by(|(_, a), (_, b)| b.cmp(a));
        ApartRecord { tool: tool.to_owned(), argument, values }
    };
    differences(keyed, plurality).into_iter().map(record).collect()
}

/// A value as it may be shown: without the secrets that the tool's schema names.
fn shown(tools: &PlanTools, tool: &str, argument: &str, value: &str, arguments: &str) -> String {
    let known = tools.get(tool).and_then(|tool| tool.tool.as_ref()).map(|tool| tool.built());
    let Some(built) = known.filter(|built| built.has_secrets()) else { return value.to_owned() };
    // Arguments that the schema refuses have nothing that anybody could tell from a secret.
    let redacted = built.redact(arguments, &[]);
    let members = members(&redacted).unwrap_or_default();
    let found = members.into_iter().find(|(name, _)| name == argument);
    found.map_or_else(|| format!("\"{REDACTED}\""), |(_, value)| value.to_owned())
}
