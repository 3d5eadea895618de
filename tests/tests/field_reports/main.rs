//! The bug log: what went wrong in other people's tools, agents and macro crates, entry by entry.
//!
//! Each test bears the number of its entry. `export` are the tests in `tool-runtime/src/wire/export/tests`. "A fact of types"
//! is one that the compiler keeps: its cases are in `tests/ui`.
//!
//! | entry | what it is about | where it is tested |
//! |---|---|---|
//! | B01 | undocumented generated items | `macros`, crate `pedantic` |
//! | B02 | non-`Send` futures | `macros`; the error is a fact of types (trybuild) |
//! | B03 | closures that take references in async bodies | `macros` |
//! | B04 | tools written by `macro_rules!` | `macros`; an empty toolset is a fact of types (trybuild) |
//! | B05 | raw identifiers | `macros` |
//! | B06 | underscored parameters and lints | `macros`, crate `pedantic` |
//! | B07 | destructured parameters | a fact of types (trybuild) |
//! | B08 | `mut` parameters | `macros`, crate `pedantic` |
//! | B09 | a local alias of `Result` | `macros` |
//! | B10 | the SDK renamed | `macros`, crate `renamed` |
//! | B11 | the SDK re-exported | `macros`, crates `mid` and `renamed` |
//! | B12 | authors' own error types | `macros`; a type that is no error is a fact of types (trybuild) |
//! | B13 | generics and lifetimes | `macros`; what is refused is a fact of types (trybuild) |
//! | B14 | special characters in doc text | `macros` |
//! | B15 | the layout of doc comments | `macros` |
//! | B16 | tools left out by `cfg` | `macros` |
//! | B17 | formats of integers | `schema` |
//! | B18 | tools without arguments | `schema`, `export`; over MCP: `mcp::listing` |
//! | B19 | `$ref` and `$defs` | `schema` (the full schema), `export` (each provider) |
//! | B20 | recursive types | `schema` (the full schema), `export` (each provider) |
//! | B21 | composition at the root | `schema`, `export` |
//! | B22 | `type` as a list | `schema` (the full schema), `export` (each provider) |
//! | B23 | free-form values | `schema` (the full schema), `export` (each provider) |
//! | B24 | tuples | `schema` (the full schema), `export` (each provider) |
//! | B25 | the dialect marker | `schema` (the full schema), `export` (each provider); over MCP: `mcp::listing` |
//! | B26 | illegal property names | `schema` (the full schema), `export` (each provider) |
//! | B27 | keywords that Gemini refuses | `schema` (the full schema), `export` (each provider) |
//! | B28 | defaults hidden from the model | `schema`, `export` |
//! | B29 | cut names that collide | `names` |
//! | B30 | cleaned names that collide | `names`; in the attribute a fact of types (trybuild) |
//! | B31 | declared names that can't be called | `names`, `export` |
//! | B32 | two tools of one name | `names`, `behaviours::registry` |
//! | B33 | the order of the list | `names` |
//! | B34 | filters that are ignored | `behaviours::registry` |
//! | B35 | empty text for no arguments | `arguments` |
//! | B36 | `null` for no arguments | `arguments` |
//! | B37 | unreadable JSON is not `{}` | `arguments` |
//! | B38 | JSON that is no object | `arguments` |
//! | B39 | cut-off calls, mended and run | `arguments` |
//! | B40 | the object sent as text | `arguments` |
//! | B41 | a list sent as text | `arguments` |
//! | B42 | a number sent as text | `arguments` |
//! | B43 | whole numbers with a point | `arguments` |
//! | B44 | integers beyond 2^53 | `arguments`; over MCP: `mcp::stdio` |
//! | B45 | surrogates | `arguments` |
//! | B46 | NUL and control characters | `arguments`, `behaviours::rules` |
//! | B47 | unknown names dropped | `arguments` |
//! | B48 | near-miss names | `arguments` |
//! | B49 | the spelling of enums | `arguments` |
//! | B50 | `null` for a default | `arguments` (the full schema), `export` (strict mode) |
//! | B51 | the wrong channel for errors | `arguments` (model loops); over MCP: `mcp::stdio` |
//! | B52 | panics that lose a result | `runtime` |
//! | B53 | the text of a panic | `runtime`; its place in the source: we differ: only a panic hook knows it, and a hook is the whole process's |
//! | B54 | poisoned locks | `runtime` |
//! | B55 | work that outlives its timeout | `behaviours::cancellation` |
//! | B56 | siblings that outlive their batch | `behaviours::cancellation` |
//! | B57 | one failure that cancels all | `runtime`, `behaviours::concurrency` |
//! | B58 | dangling call ids | `runtime` |
//! | B59 | two calls of one tool | `runtime`, `behaviours::concurrency` |
//! | B60 | races on one file | `behaviours::concurrency` |
//! | B61 | sync tools that stall the loop | `runtime`, `behaviours::concurrency` |
//! | B62 | one file, many spellings | `behaviours::rules` |
//! | B63 | look-alike names | `behaviours::rules`; marked in questions: `behaviours::approvals` |
//! | B64 | a remembered yes that beats a no | `behaviours::rules` (all orders); grants: `behaviours::approvals` |
//! | B65 | the edges of globs | `behaviours::rules` |
//! | B66 | rewritten after it was allowed | `behaviours::gate`; that nothing can: a fact of types (trybuild) |
//! | B67 | hidden characters in a question | `behaviours::approvals` |
//! | B68 | forged log lines | `audit`; on a terminal: `behaviours::approvals` |
//! | B69 | approvers shown other arguments | `behaviours::approvals` |
//! | B70 | approvals spent on other arguments | `behaviours::approvals`; resumed: `ledger::waiting` |
//! | B71 | double clicks | `behaviours::approvals`; over ledgers: `ledger::waiting`, `ledger::sql` |
//! | B72 | waiting too long | `behaviours::approvals`; elsewhere: `ledger::waiting`, `ledger::sql`; by a clock that is put back: `tool-runtime/src/ledger/desk.rs` |
//! | B73 | missing arguments that widen a grant | `behaviours::rules` (rules); grants: `behaviours::approvals` |
//! | B74 | digests over what doesn't matter | `behaviours::approvals` |
//! | B75 | NaN and infinity | `outputs` |
//! | B76 | roots that are no objects | `behaviours::outputs` (any root, as text); over MCP: `mcp::listing` |
//! | B77 | cuts inside a character | `outputs` |
//! | B78 | bytes that aren't UTF-8 | `outputs` |
//! | B79 | empty results | `outputs` |
//! | B80 | huge results | `outputs` |
//! | B81 | lost causes | `outputs` |
//! | B82 | secrets in records | `audit`, `invariants::inv11`; in questions: `behaviours::approvals`; sealed while a call waits: `ledger::file`, `ledger::sql`; filled in elsewhere: `ledger::drafts` |
//! | B83 | sinks that fail | `behaviours::records`, `invariants::inv10`; the switch: `ledger::failing`; a full disk: `ledger::processes` |
//! | B84 | refusals that quote the payload | `arguments` |

mod arguments;
mod audit;
mod macros;
mod names;
mod outputs;
mod runtime;
mod schema;
mod support;

use std::path::Path;

/// The entries of the table above with the place that each names.
fn table() -> Vec<(&'static str, &'static str)> {
    let rows = include_str!("main.rs").lines().filter_map(|line| line.strip_prefix("//! | B"));
    rows.map(|row| {
        let mut cells = row.trim_end_matches(" |").split(" | ");
        match (cells.next(), cells.next(), cells.next(), cells.next()) {
            (Some(number), Some(_), Some(place), None) => (number, place),
            _ => panic!("a row of the table has other than three cells: {row}"),
        }
    })
    .collect()
}

#[test]
fn the_table_names_every_entry_once() {
    let numbers: Vec<_> = table().into_iter().map(|(number, _)| number.to_owned()).collect();
    let expected: Vec<_> = (1..=84).map(|number| format!("{number:02}")).collect();
    assert_eq!(numbers, expected);
}

/// Has a source a test for this number?
fn has_test(source: &str, number: &str) -> bool {
    source.lines().any(|line| {
        let line = line.trim_start();
        let name = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ").unwrap_or_default();
        let is_number = |part: &&str| part.len() == 3 && part[1..].bytes().all(|byte| byte.is_ascii_digit());
        name.split('_').take_while(is_number).any(|part| part.strip_prefix('b') == Some(number))
    })
}

/// All modules that have tests for entries, as the table calls them.
fn modules() -> Vec<(String, String)> {
    let of = |group: &'static str| {
        tests::modules(group).into_iter().map(move |(name, source)| (format!("{group}::{name}"), source))
    };
    let export = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tool-runtime/src/wire/export/tests");
    let mut modules = tests::modules("field_reports");
    modules.push(("export".to_owned(), tests::source_of(&export)));
    modules.extend(of("behaviours").chain(of("ledger")).chain(of("mcp")));
    modules
}

/// An entry has tests in exactly those modules that its row names.
#[test]
fn the_table_is_true() {
    let modules = modules();
    for (number, place) in table() {
        for (module, source) in &modules {
            assert_eq!(place.contains(&format!("`{module}`")), has_test(source, number), "B{number} and `{module}`");
        }
        let known = ["a fact of types (trybuild)", "`"];
        assert!(known.iter().any(|known| place.contains(known)), "B{number}: {place}");
    }
}
