//! A model without weights: it writes at random what the grammar of a declared schema allows, byte by byte, as a provider
//! that constrains its output would let it.
//!
//! By default two sets of arguments for each form of each tool; `MODEL_SETS=10000` for so many in all.

use std::collections::BTreeMap;

use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use toktrie::{ApproximateTokEnv, TokEnv};
use tool_runtime::{AllowAll, Harness, Registry, ToolCall};

use crate::json::Tree;
use crate::oracle::{has_exempt_number, validator};
use crate::schemas::all;
use crate::support::{accept, export, forms, in_json_schema, is_refused, parse};

/// After so many bytes it begins to close what it has opened, and soon after that it gives up.
const PATIENCE: usize = 300;

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[(self.roll() % all.len() as u64) as usize]
    }
}

/// One text of the grammar, if it came to an end.
fn written(matcher: &mut Matcher, dice: &mut Dice) -> Option<String> {
    let mut bytes = Vec::new();
    while bytes.len() < 2 * PATIENCE {
        if matcher.is_stopped() || (matcher.is_accepting().ok()? && dice.roll().is_multiple_of(2)) {
            return String::from_utf8(bytes).ok();
        }
        let mask = matcher.compute_mask().ok()?;
        let allowed: Vec<u32> = mask.iter().filter(|token| *token < 128).collect();
        let ends: Vec<u32> = allowed.iter().copied().filter(|token| b"\"]},".contains(&(*token as u8))).collect();
        let plain: Vec<u32> =
            allowed.iter().copied().filter(|token| !(*token as u8).is_ascii_whitespace() && *token >= 32).collect();
        let closing = bytes.len() > PATIENCE || dice.roll().is_multiple_of(4);
        let token = match (ends.as_slice(), plain.as_slice(), allowed.as_slice()) {
            (ends @ [_, ..], _, _) if closing => dice.one_of(ends),
            (_, plain @ [_, ..], _) => dice.one_of(plain),
            (_, _, any @ [_, ..]) => dice.one_of(any),
            _ => return if matcher.is_accepting().ok()? { String::from_utf8(bytes).ok() } else { None },
        };
        matcher.consume_token(token).ok()?;
        bytes.push(token as u8);
    }
    None
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

#[test]
fn what_a_form_allows_is_read_and_what_the_schema_allows_is_accepted() {
    let environment: TokEnv = ApproximateTokEnv::single_byte_env();
    let mut factory = ParserFactory::new_simple(&environment).unwrap();
    factory.quiet();
    let tools = all();
    let each = match std::env::var("MODEL_SETS").ok().and_then(|sets| sets.parse::<usize>().ok()) {
        Some(sets) => sets.div_ceil(tools.len() * forms().len()),
        None => 2,
    };
    let mut dice = Dice(7);
    let (mut tried, mut accepted, mut unfinished) = (0, 0, 0);
    // Which grammars can't be made, and why.
    let mut unknown: BTreeMap<String, String> = BTreeMap::new();
    for tool in &tools {
        // A bomb for grammars as well.
        if tool.name() == "bomb" {
            continue;
        }
        let registry = Registry::builder().tool(tool.clone()).build();
        let Ok(registry) = registry else { continue };
        let full = validator(&parse(tool.schema().parameters()));
        for form in forms() {
            let export = export(form, tool);
            let exported = &export.tools()[0];
            let Some(shown) = exported.parameters() else {
                assert!(is_refused(exported));
                continue;
            };
            let grammar = TopLevelGrammar::from_json_schema(in_json_schema(&parse(shown)));
            for _ in 0..each {
                let mut matcher = Matcher::new(factory.create_parser(grammar.clone()));
                if let Some(error) = matcher.get_error() {
                    let why = error.lines().next().unwrap_or_default().to_owned();
                    unknown.insert(format!("{} for {form:?}", tool.name()), why);
                    break;
                }
                let Some(text) = written(&mut matcher, &mut dice) else {
                    unfinished += 1;
                    continue;
                };
                tried += 1;
                let call = export.restore(ToolCall::new("call", exported.wire_name(), text.as_str()));
                let arguments = call.arguments().to_string_lossy().into_owned();
                let taken = accept(&registry, call);
                accepted += usize::from(taken.is_some());
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
        }
    }
    println!("{tried} sets of arguments, {accepted} of them accepted, {unfinished} without an end; no grammar for:");
    unknown.iter().for_each(|(tool, why)| println!("  {tool}: {why}"));
    assert!(tried > 400 && accepted * 2 > tried, "{tried} were tried, {accepted} accepted, {unfinished} unfinished");
    assert!(unknown.len() < 12, "{unknown:#?}");
}
