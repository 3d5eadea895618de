//! What a host sees of a call, stage by stage: the behaviours of the reference harness (D01 to D85), in our words.
//!
//! Each test bears the number of its behaviour. "A fact of types" is one that the compiler keeps: its cases are in
//! `tests/ui`. Tests without a number are ours.
//!
//! | behaviour | what it is about | where it is tested |
//! |---|---|---|
//! | D01 | nothing but the named fields | `invariants::inv01`, `invariants::inv02`; reading a host field: a fact of types (trybuild) |
//! | D02 | required says exactly what is required | `schema` |
//! | D03 | same tools, same bytes | `registry`, `invariants::inv13` |
//! | D04 | a configured order is checked | `registry` |
//! | D05 | no tool without an output | `schema`; in the macro a fact of types (trybuild) |
//! | D06 | a budget is a positive span | `registry`; in the attribute a fact of types (trybuild) |
//! | D07 | what can't be enforced can't be registered | `registry`, `invariants::inv06` |
//! | D08 | a refused change leaves no trace | `registry` |
//! | D09 | a handle removes its own registration | we differ: registries are values, so there is nothing to take back |
//! | D10 | every fault, once, with its path | `arguments` |
//! | D11 | the check is total and agrees with the schema | `properties` |
//! | D12 | broken argument text is data | `arguments` |
//! | D13 | nobody is asked about a call that can't run | `arguments` |
//! | D14 | unknown names are faults | `field_reports::arguments` (B47, B48) |
//! | D15 | defaults are applied once, for all | `arguments` |
//! | D16 | a value that breaks its contract | `outputs` |
//! | D17 | check, then narrate | `outputs` |
//! | D18 | a failing renderer fails one call | `outputs` |
//! | D19 | an author's error keeps its name | `outputs` |
//! | D20 | any root, and text stays text | `outputs`; where an object is needed: `mcp::listing` |
//! | D21 | the trace of an allowed call | `gate`; skipping or repeating a stage: a fact of types (trybuild) |
//! | D22 | a guard can only say no | `gate`, `rules`; that it can't allow: a fact of types (trybuild) |
//! | D23 | deny, ask, allow | `rules`, `invariants::inv07` |
//! | D24 | a broken policy is a no | `gate` |
//! | D25 | no approver | `approvals` |
//! | D26 | each kind of no has its own words | `approvals` |
//! | D27 | denied results are reviewed, crashed gates aren't | `review` |
//! | D28 | replacing the words | `review` |
//! | D29 | replacing the value | `review` |
//! | D30 | blocking | `review` |
//! | D31 | layers see outcomes, not unwinding | `layers` |
//! | D32 | finalised once, whatever the result | `finalise` |
//! | D33 | content and nothing else | `finalise` |
//! | D34 | a failing finaliser is not retried | `finalise` |
//! | D35 | cancelled before entry | `cancellation` |
//! | D36 | cancelled while the gate thinks | `cancellation` |
//! | D37 | cancelled while a person is asked | `cancellation`, `approvals` |
//! | D38 | cancelled while the body runs | `cancellation` |
//! | D39 | two states, never one word | `cancellation` |
//! | D40 | who may touch the token | a fact of types (trybuild) |
//! | D41 | fused, not swapped | `layers` |
//! | D42 | the replacement ends with the layer | `layers` |
//! | D43 | the deadline wins | `cancellation` |
//! | D44 | the first cause wins | `cancellation`, `layers` |
//! | D45 | the clock runs for the body only | `cancellation` |
//! | D46 | who may overlap | `concurrency` |
//! | D47 | barriers | `concurrency` |
//! | D48 | a rolling pool | `concurrency` |
//! | D49 | classified again before each start | `concurrency`; we differ: no call can change the tools of its turn, and what was judged is what runs (`invariants::inv05`) |
//! | D50 | results come in call order | `concurrency` |
//! | D51 | judged and reviewed in call order | `concurrency` |
//! | D52 | a sub-call is a call | `sub_calls` |
//! | D53 | its failure is its caller's to handle | `sub_calls` |
//! | D54 | no way round the scope | `sub_calls` |
//! | D55 | the same scheduling inside | `sub_calls` |
//! | D56 | nothing outlives the composite | `sub_calls` |
//! | D57 | cards and caps are for the outer call | `sub_calls` |
//! | D58 | the order of asides | `review` |
//! | D59 | asides survive failure, not a block | `review` |
//! | D60 | never started | `ledger::repair` |
//! | D61 | outcome unknown | `ledger::repair` |
//! | D62 | repair is a pure function | `ledger::repair` |
//! | D63 | on disk before the body | `records`, `invariants::inv10`; of a tool's own calls: `sub_calls` |
//! | D64 | the order of records | `concurrency` |
//! | D65 | one final event, what the caller got | `events` |
//! | D66 | what is kept | `review`, `outputs`; read back: `ledger::repair` |
//! | D67 | what the approver gets | `approvals` |
//! | D68 | asked and decided | `approvals` |
//! | D69 | the first answer decides | `approvals` |
//! | D70 | withdrawn | `cancellation`, `approvals` |
//! | D71 | answers from outside are checked | `approvals` |
//! | D72 | cut, kept, told | `size` |
//! | D73 | left alone | `size`; what a review says is cut like anything: we differ, since it fills a model's context all the same |
//! | D74 | storing the whole fails | we differ: the record in hand has the whole, so there is no second store; a ledger that fails costs no result (`invariants::inv10`) |
//! | D75 | never inside a character | `field_reports::outputs` (B77) |
//! | D76 | reading back is not cut again | we differ: no tool reads stored results back; a host that makes one pages below its own cap |
//! | D77 | cards are pure and repeatable | `review`, `cards` |
//! | D78 | old arguments are no crash | `cards` |
//! | D79 | a failing presenter loses only its card | `cards` |
//! | D80 | hidden is absent | `registry`, `search` |
//! | D81 | filters | `registry`; changing one later: a fact of types, as they are values |
//! | D82 | wrong filters are loud | `registry`, `search` |
//! | D83 | one name, one tool | `registry` |
//! | D84 | remote lists are all or nothing | `mcp::client`, `mcp::hostile`; we differ: a tool that can't be told from another, or can't be enforced, is refused alone, and so is one whose output can't be |
//! | D85 | the same call again and again | `repeats` |

#![allow(missing_docs, reason = "the types here say what they are by their fields")]

mod approvals;
mod arguments;
mod cancellation;
mod cards;
mod concurrency;
mod events;
mod finalise;
mod gate;
mod layers;
mod outputs;
mod records;
mod registry;
mod repeats;
mod review;
mod rules;
mod schema;
mod search;
mod size;
mod sub_calls;
mod support;

use std::path::Path;

/// Has a source a test for this number?
fn has_test(source: &str, number: &str) -> bool {
    source.lines().any(|line| {
        let line = line.trim_start();
        let name = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ").unwrap_or_default();
        let is_number = |part: &&str| part.len() == 3 && part[1..].bytes().all(|byte| byte.is_ascii_digit());
        name.split('_').take_while(is_number).any(|part| part.strip_prefix('d') == Some(number))
    })
}

/// The rows of the table above: the number, and the place that it names.
fn table() -> Vec<(&'static str, &'static str)> {
    let rows = include_str!("main.rs").lines().filter_map(|line| line.strip_prefix("//! | D"));
    rows.map(|row| match row.trim_end_matches(" |").split(" | ").collect::<Vec<_>>()[..] {
        [number, _, place] => (number, place),
        _ => panic!("a row of the table has other than three cells: {row}"),
    })
    .collect()
}

#[test]
fn the_table_names_every_behaviour_once() {
    let numbers: Vec<&str> = table().into_iter().map(|(number, _)| number).collect();
    let expected: Vec<String> = (1..=85).map(|number| format!("{number:02}")).collect();
    assert_eq!(numbers, expected);
}

/// All modules that have tests for behaviours, as the table calls them.
fn modules() -> Vec<(String, String)> {
    let of = |group: &'static str| {
        tests::modules(group).into_iter().map(move |(name, source)| (format!("{group}::{name}"), source))
    };
    tests::modules("behaviours").into_iter().chain(of("ledger")).chain(of("mcp")).collect()
}

/// A behaviour has tests in exactly those modules that its row names, and a row names nothing that isn't there.
#[test]
fn the_table_is_true() {
    let modules = modules();
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for (number, place) in table() {
        for (name, source) in &modules {
            assert_eq!(place.contains(&format!("`{name}`")), has_test(source, number), "D{number} and `{name}`");
        }
        for named in place.split('`').skip(1).step_by(2) {
            let there = match named.split_once("::") {
                Some(("invariants", invariant)) => {
                    let mut files = std::fs::read_dir(tests.join("invariants")).expect("there are invariants");
                    files.any(|file| file.is_ok_and(|file| file.file_name().to_string_lossy().starts_with(invariant)))
                }
                Some((target, module)) => {
                    let module = tests.join(target).join(module);
                    module.is_dir() || module.with_extension("rs").exists()
                }
                None => tests.join(named).is_dir() || modules.iter().any(|(name, _)| name == named),
            };
            assert!(there, "D{number} names `{named}`");
        }
        let known = ["`", "a fact of types (trybuild)", "we differ: "];
        assert!(known.iter().any(|known| place.contains(known)), "D{number}: {place}");
    }
}
