//! What a model writes at random of every form of every schema of our own: none of it panics, and what the full schema
//! allows is accepted.
//!
//! 10,000 sets of arguments, or `MODEL_SETS=30000`.

#![allow(missing_docs, reason = "the types of the schemas say what they are by their fields")]

#[path = "../../../tests/properties/json.rs"]
#[allow(dead_code, reason = "shared with the properties")]
mod json;
#[path = "../../../tests/properties/oracle.rs"]
#[allow(dead_code, reason = "shared with the properties")]
mod oracle;
#[path = "../../../tests/export/schemas.rs"]
mod schemas;
#[path = "../../../tests/export/support.rs"]
#[allow(unused_imports, reason = "shared with the tests of exports")]
mod support;
#[path = "../../../tests/properties/tape.rs"]
#[allow(dead_code, reason = "shared with the properties")]
mod tape;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use random_model::RandomModel;
use tool_runtime::wire::export::{Provider, Strict};
use tool_runtime::{AllowAll, Harness, HostTool, Registry, ToolCall};

use json::Tree;
use oracle::{has_exempt_number, validator};
use support::{accept, export, forms, in_json_schema, is_refused, parse};

/// What came of one form, or of all.
#[derive(Default)]
struct Tally {
    tried: usize,
    accepted: usize,
    unfinished: usize,
    /// Which grammars can't be made, and why.
    unknown: BTreeMap<String, String>,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.tried += other.tried;
        self.accepted += other.accepted;
        self.unfinished += other.unfinished;
        self.unknown.extend(other.unknown);
    }
}

/// What the model reads of a call.
fn said(registry: &Registry, tool: &str, arguments: &str) -> String {
    let harness = Harness::new(registry.clone(), AllowAll);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let results = runtime
        .unwrap_or_else(|error| panic!("{error}"))
        .block_on(harness.run([ToolCall::new("call", tool, arguments)]));
    results[0].text()
}

fn try_out(tool: &HostTool, form: (Provider, Strict), sets: usize, model: &mut RandomModel) -> Tally {
    let mut tally = Tally::default();
    let Ok(registry) = Registry::builder().tool(tool.clone()).build() else { return tally };
    let full = validator(&parse(tool.schema().parameters()));
    let export = export(form, tool);
    let exported = &export.tools()[0];
    let Some(shown) = exported.parameters() else {
        assert!(is_refused(exported));
        return tally;
    };
    let grammar = match model.grammar(in_json_schema(&parse(shown))) {
        Ok(grammar) => grammar,
        Err(why) => {
            tally.unknown.insert(format!("{} for {form:?}", tool.name()), why);
            return tally;
        }
    };
    // Some come to no end; others are written in their place, but not for ever.
    for _ in 0..2 * sets {
        if tally.tried == sets {
            break;
        }
        let Some(text) = model.write(&grammar) else {
            tally.unfinished += 1;
            continue;
        };
        tally.tried += 1;
        let call = export.restore(ToolCall::new("call", exported.wire_name(), text.as_str()));
        let arguments = call.arguments().to_string_lossy().into_owned();
        let taken = accept(&registry, call);
        tally.accepted += usize::from(taken.is_some());
        let Ok(value) = serde_json::from_str(&arguments) else {
            assert!(taken.is_none(), "{form:?} of `{}`: {text} was taken", tool.name());
            continue;
        };
        if full.is_valid(&value) && !has_exempt_number(&Tree::from(&value)) {
            // JSON Schema sees one member where a text has two of one name.
            let twice = || said(&registry, tool.name(), &arguments).contains("twice");
            assert!(taken.is_some() || twice(), "{form:?} of `{}`: {text} was refused", tool.name());
        }
    }
    tally
}

#[test]
fn what_a_form_allows_is_read_and_what_the_schema_allows_is_accepted() {
    let sets: usize = std::env::var("MODEL_SETS").ok().and_then(|sets| sets.parse().ok()).unwrap_or(10_000);
    // One is a bomb for grammars as well.
    let tools: Vec<HostTool> = schemas::all().into_iter().filter(|tool| tool.name() != "bomb").collect();
    let (tools, forms) = (&tools, &forms());
    let jobs: Vec<_> = tools.iter().flat_map(|tool| forms.iter().map(move |form| (tool, *form))).collect();
    // For those that have no form, and those that come to no end.
    let each = (sets * 5).div_ceil(jobs.len() * 4);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut tally = Tally::default();
        while let Some((index, (tool, form))) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|index| Some((index, jobs.get(index)?)))
        {
            let mut model = RandomModel::new(index as u64).unwrap_or_else(|error| panic!("{error}"));
            tally.add(try_out(tool, *form, each, &mut model));
        }
        tally
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all = Tally::default();
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for thread in running {
            match thread.join() {
                Ok(tally) => all.add(tally),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    let Tally { tried, accepted, unfinished, unknown } = all;
    println!("{tried} sets of arguments, {accepted} of them accepted, {unfinished} without an end; no grammar for:");
    unknown.iter().for_each(|(tool, why)| println!("  {tool}: {why}"));
    assert!(tried >= sets && accepted * 2 > tried, "{tried} were tried, {accepted} accepted, {unfinished} unfinished");
    assert!(unknown.len() < 12, "{unknown:#?}");
}
