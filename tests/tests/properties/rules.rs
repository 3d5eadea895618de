//! What rules know of a schema is what values of it are.

use std::sync::{Arc, Mutex, PoisonError};

use proptest::prelude::*;
use serde_json::Value;
use tests::config;
use tool_runtime::{Absent, CallFacts, Decision, Harness, Policy, Registry, Rule, Rules, Scalar, Test, ToolCall};

use crate::agreement::{dynamic, registered};
use crate::schema;
use crate::tape::{Tape, tapes};

/// A scalar in an argument: as a rule names its place, and as a JSON Pointer.
struct Leaf {
    argument: String,
    pointer: String,
    value: Value,
}

fn leaves(value: &Value, argument: &str, pointer: &str, found: &mut Vec<Leaf>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let quoted = key.replace('\\', "\\\\").replace('"', "\\\"");
                let pointer = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                leaves(value, &format!("{argument}[\"{quoted}\"]"), &pointer, found);
            }
        }
        Value::Array(elements) => {
            for (index, value) in elements.iter().enumerate() {
                let pointer = format!("{pointer}/{index}");
                leaves(value, &format!("{argument}[{index}]"), &pointer, found);
                leaves(value, &format!("{argument}[*]"), &pointer, found);
            }
        }
        value => {
            found.push(Leaf { argument: argument.to_owned(), pointer: pointer.to_owned(), value: value.clone() });
        }
    }
}

/// What `equals` has to be for the value of a leaf. `None` where a pointer can't lead to it.
fn equal_to(leaf: &Leaf, call: &CallFacts<'_>) -> Option<Scalar> {
    Some(match &leaf.value {
        Value::Null => Scalar::NULL,
        Value::Bool(boolean) => Scalar::from(*boolean),
        Value::String(text) => Scalar::from(text.as_str()),
        // Its digits, which `serde_json` may have rounded.
        _ => Scalar::number(call.arguments().get(&leaf.pointer)?),
    })
}

/// Judges a call by a rule for each of the values that it has.
fn every_value_can_be_named(registry: &Registry, call: &CallFacts<'_>, always: &Mutex<Vec<(String, Rules)>>) {
    let text = call.arguments().as_str();
    let Ok(value) = serde_json::from_str::<Value>(text) else { panic!("{text}") };
    let mut found = Vec::new();
    leaves(&value, "", "", &mut found);
    for leaf in found.iter().take(40) {
        let Some(scalar) = equal_to(leaf, call) else { continue };
        let rule = Rule::deny("dynamic").because("it is").when(&leaf.argument, Test::equals(scalar));
        let rules = match Rules::builder().rule(rule.clone().absent(Absent::NoMatch)).build(registry) {
            Ok(rules) => rules,
            Err(error) => panic!("{text} has what a rule can't name: {error}"),
        };
        assert_eq!(rules.decide(call), Decision::deny("it is"), "{} of {text}", leaf.argument);
        if let Ok(rules) = Rules::builder().rule(rule).build(registry) {
            always.lock().unwrap_or_else(PoisonError::into_inner).push((leaf.argument.clone(), rules));
        }
    }
}

/// Could a rule not read a value since there was nothing, or `null`?
fn is_missing(value: &Value, mut argument: &str) -> bool {
    let mut here = value;
    while let Some(rest) = argument.strip_prefix('[') {
        if let Some(rest) = rest.strip_prefix("*]") {
            let Some(elements) = here.as_array() else { return here.is_null() };
            return elements.is_empty() || elements.iter().any(|element| is_missing(element, rest));
        }
        let end = if let Some(name) = rest.strip_prefix('"') {
            let mut escaped = false;
            let end = name.find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            end.map_or(rest.len(), |end| end + 2)
        } else {
            rest.find(']').unwrap_or(rest.len())
        };
        let (step, after) = rest.split_at(end);
        argument = &after[1..];
        let next = match step.strip_prefix('"') {
            Some(name) => {
                let Some(members) = here.as_object() else { return here.is_null() };
                members.get(&name[..name.len() - 1].replace("\\\"", "\"").replace("\\\\", "\\"))
            }
            None => {
                let Some(elements) = here.as_array() else { return here.is_null() };
                step.parse::<usize>().ok().and_then(|index| elements.get(index))
            }
        };
        match next {
            Some(next) => here = next,
            None => return true,
        }
    }
    here.is_null()
}

proptest! {
    #![proptest_config(config(400))]

    /// Whatever an accepted call has, a rule can be about; and what needn't say what its absence means is there in
    /// every accepted call.
    #[test]
    fn rules_know_what_values_can_be(choices in tapes(300), others in prop::collection::vec(tapes(100), 4)) {
        let mut tape = Tape::new(&choices);
        let parameters = schema::parameters(&mut tape);
        let first = schema::arguments(&parameters, &mut tape);
        if registered(&parameters).is_none() {
            return Ok(());
        }
        let Ok(registry) = Registry::builder().tool(dynamic(&parameters)).build() else { return Ok(()) };
        let always: Arc<Mutex<Vec<(String, Rules)>>> = Arc::default();
        let (known, tools) = (Arc::clone(&always), registry.clone());
        let harness = Harness::new(registry, move |call: &CallFacts<'_>| {
            every_value_can_be_named(&tools, call, &known);
            let known = known.lock().unwrap_or_else(PoisonError::into_inner);
            let Ok(value) = serde_json::from_str::<Value>(call.arguments().as_str()) else { return Decision::NoOpinion };
            for (argument, rules) in &*known {
                if let Decision::Ask(why) = rules.decide(call) {
                    assert!(!is_missing(&value, argument), "{argument} is missing in {value}: {why}");
                }
            }
            Decision::Allow
        });
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() else { return Ok(()) };
        let mut calls = vec![first];
        calls.extend(others.iter().map(|choices| schema::arguments(&parameters, &mut Tape::new(choices))));
        for tree in calls {
            let settled = runtime.block_on(harness.run_settled([ToolCall::new("1", "dynamic", tree.text())], None));
            // A policy that panics denies.
            let code = settled[0].record().code();
            prop_assert!(code != tool_runtime::Code::Denied, "{parameters}\n{}", tree.text());
        }
    }
}
