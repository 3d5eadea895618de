//! The same of whole conversations: do trials agree on what they write, and which tools give the same twice?

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Write;

use tool_runtime::HostTool;
use tool_runtime::agreement::{
    AgreementGate, Bounds, Epoch, Observed, PlanTool, PlanTools, PlannedCall, Probe, ProbeFault, ProbeFinding, Sample,
    SampleSet,
};

use crate::grounding::Share;
use crate::grounding::conversations::{Airline, Recorded, read};

/// What was measured of conversations.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct AirlineFigures {
    /// How many writes there are, and how many of them the airline refused.
    pub refused: Share,
    /// For each number of trials that agree on what is written, from all down: of the tasks in which that is nothing, how
    /// many are right, and of the others.
    pub by_largest: Vec<(usize, [Share; 2])>,
    /// Tasks that are accepted if all trials have to agree, and how many of them are right.
    pub unanimous: Share,
    /// The same if four in five are enough, which of four are all, or three in four.
    pub majority: Share,
    /// By tool: what repeated calls show of it.
    pub probes: BTreeMap<String, Repeated>,
}

/// What the calls of one tool show that were made more than once in one state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repeated {
    /// All its calls.
    pub calls: usize,
    /// Calls that were compared with an earlier one.
    pub compared: usize,
    /// Of these, the ones that came to something else.
    pub different: usize,
    /// Of these, the ones whose arguments or results say nothing.
    pub silent: usize,
    /// Calls that came to something else than an equal one in any state: what a probe that lets the state move would say.
    pub different_in_other_states: usize,
}

/// A call of a conversation, with what it came to.
struct Made<'r> {
    tool: &'r str,
    arguments: &'r str,
    result: &'r str,
}

/// An error comes as an ordinary result.
fn is_error(result: &str) -> bool {
    result.starts_with("Error")
}

/// The calls, each with the result that follows it: identifiers repeat, so the order says which is whose.
fn calls(recorded: &Recorded) -> Result<Vec<Made<'_>>, Box<dyn Error>> {
    let mut found = Vec::new();
    let mut waiting = Vec::new();
    for message in &recorded.messages {
        waiting.extend(message.tool_calls.iter().flatten());
        if message.role == "tool" {
            let id = message.tool_call_id.as_deref().unwrap_or_default();
            let at = waiting.iter().position(|call| call.id == id).ok_or("a result of no call")?;
            let call = waiting.remove(at);
            let (tool, arguments) = (call.function.name.as_str(), call.function.arguments.as_str());
            found.push(Made { tool, arguments, result: message.content.as_deref().unwrap_or_default() });
        }
    }
    Ok(found)
}

/// Reads conversations, several trials a task, and writes what they agree about.
///
/// # Errors
/// If the file isn't one of conversations, or the report can't be written.
pub fn conversations(bytes: &[u8], out: &mut impl Write) -> Result<AirlineFigures, Box<dyn Error>> {
    let airline = Airline::new()?;
    let tools = airline.host_tools()?;
    let all: Vec<Recorded> = read(bytes)?;
    let mut figures = AirlineFigures::default();
    writes(&airline, &tools, &all, &mut figures, out)?;
    probes(&airline, &tools, &all, &mut figures, out)?;
    Ok(figures)
}

/// A plan is what a trial wrote and the airline didn't refuse.
fn writes(
    airline: &Airline,
    tools: &BTreeMap<String, HostTool>,
    all: &[Recorded],
    figures: &mut AirlineFigures,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let known = tools.iter().fold(PlanTools::new(), |known, (name, tool)| known.tool(name, PlanTool::of(tool)));
    let mut tasks: BTreeMap<u32, Vec<(Sample, bool)>> = BTreeMap::new();
    for recorded in all {
        let calls = calls(recorded)?;
        let written = || calls.iter().filter(|call| airline.writes(call.tool));
        written().for_each(|call| figures.refused.count(is_error(call.result)));
        let effective = written().filter(|call| !is_error(call.result));
        let plan = Sample::of(effective.map(|call| PlannedCall::new(call.tool, call.arguments)));
        tasks.entry(recorded.task).or_default().push((plan, recorded.reward >= 1.0));
    }
    let trials = tasks.values().map(Vec::len).max().unwrap_or(0);
    let gate = AgreementGate::new(Bounds::seed().min_samples(1));
    let mut rows = BTreeMap::<usize, [Share; 2]>::new();
    for samples in tasks.values() {
        let epoch = Epoch::begin();
        let mut set = SampleSet::new(epoch.clone());
        for (sample, _) in samples {
            set.push(sample.clone().within(&epoch))?;
        }
        let ruling = gate.rule(&set, &known);
        let Some(chosen) = ruling.figures().plurality else { continue };
        let (plan, right) = &samples[chosen];
        let largest = ruling.figures().groups.first().copied().unwrap_or(0);
        let [nothing, something] = rows.entry(largest).or_default();
        if plan.plan().calls().is_empty() { nothing } else { something }.count(*right);
        if largest == samples.len() {
            figures.unanimous.count(*right);
        }
        if largest * 4 >= samples.len() * 3 {
            figures.majority.count(*right);
        }
    }
    writeln!(out, "(a) Agreement on what is written, of {trials} trials: {} tasks", tasks.len())?;
    writeln!(out, "  {} writes, of which the airline refused {}", figures.refused.all, figures.refused.of)?;
    for (largest, shares) in rows.into_iter().rev() {
        let [nothing, something] = shares;
        writeln!(out, "  {largest} of {trials}   nothing: right {nothing}   something: right {something}")?;
        figures.by_largest.push((largest, shares));
    }
    writeln!(out, "  accepted if all have to agree: right {}", figures.unanimous)?;
    writeln!(out, "  accepted from three in four:   right {}", figures.majority)?;
    Ok(())
}

/// What each call, by its tool and canonical arguments, came to when it was made first.
type First<'r> = BTreeMap<(&'r str, String), &'r str>;

/// Of calls that were made twice in one state a probe says what they show. All conversations begin in the same state, and
/// a write that isn't refused moves it.
fn probes(
    airline: &Airline,
    tools: &BTreeMap<String, HostTool>,
    all: &[Recorded],
    figures: &mut AirlineFigures,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let mut first_in_state = vec![(Epoch::begin(), First::new())];
    let mut first_of_all = First::new();
    let mut faults = BTreeSet::new();
    for recorded in all {
        first_in_state.truncate(1);
        for Made { tool, arguments, result } in calls(recorded)? {
            let Some(host) = tools.get(tool) else {
                return Err(format!("`{tool}` is no tool of the airline's").into());
            };
            let seen = figures.probes.entry(tool.to_owned()).or_default();
            seen.calls += 1;
            let epoch_and_calls = first_in_state.last_mut().ok_or("no state")?;
            let epoch = epoch_and_calls.0.clone();
            let Some(probe) = Probe::new(host, &epoch, arguments) else {
                seen.silent += 1;
                continue;
            };
            // What a call leaves of its arguments isn't recorded.
            let canonical = probe.arguments().to_owned();
            let finding = |text: &str| ProbeFinding {
                // Texts that aren't JSON are compared as they are; that of an error is one.
                result: Observed::Value(serde_json::Value::from(text).to_string()),
                afterwards: canonical.clone(),
            };
            match epoch_and_calls.1.get(&(tool, canonical.clone())) {
                None => drop(epoch_and_calls.1.insert((tool, canonical.clone()), result)),
                Some(earlier) => {
                    seen.compared += 1;
                    match probe.compare([finding(earlier), finding(result)]) {
                        Ok(_) => {}
                        Err(ProbeFault::ResultsDiffer) => {
                            seen.different += 1;
                            faults.insert(tool);
                        }
                        Err(_) => seen.silent += 1,
                    }
                }
            }
            let earlier = *first_of_all.entry((tool, canonical)).or_insert(result);
            seen.different_in_other_states += usize::from(earlier != result);
            if airline.writes(tool) && !is_error(result) {
                first_in_state.push((Epoch::begin(), First::new()));
            }
        }
    }
    writeln!(out, "\n(b) What calls that were made twice show, as a probe would")?;
    writeln!(
        out,
        "  all tools are taken to be declared deterministic; what a call leaves of its arguments isn't recorded"
    )?;
    writeln!(out, "  {:31} calls  compared  different  different in other states", "")?;
    for (tool, seen) in &figures.probes {
        let Repeated { calls, compared, different, different_in_other_states: other, .. } = seen;
        writeln!(out, "  {tool:31} {calls:5} {compared:9} {different:10} {other:10}")?;
    }
    let named = |names: &mut dyn Iterator<Item = &str>| match names.collect::<Vec<_>>() {
        none if none.is_empty() => "none".to_owned(),
        names => names.join(", "),
    };
    let moved = figures.probes.iter().filter(|(_, seen)| seen.different_in_other_states > 0);
    let unprobed = tools.keys().filter(|name| figures.probes.get(*name).is_none_or(|seen| seen.compared == 0));
    writeln!(out, "  wrongly declared: {}", named(&mut faults.into_iter()))?;
    writeln!(out, "  would seem so if states were mixed: {}", named(&mut moved.map(|(name, _)| name.as_str())))?;
    writeln!(out, "  never made twice in one state: {}", named(&mut unprobed.map(String::as_str)))?;
    Ok(())
}
