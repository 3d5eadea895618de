//! Declarations and digests are the same bytes in any order of registration, thread and process; maps in outputs are
//! written in the order of their keys.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::process::Command;

use proptest::prelude::*;
use serde_json::Value;
use tests::config;
use tool_runtime::wire::openai_chat::Declarations;
use tool_runtime::{AllowAll, Harness, HostTool, Registry, ToolCall, tool, tool_type};

use crate::support::{ActTool, block_on, echo, one, registry};

/// Holds maps.
#[tool_type]
struct Maps {
    /// By name.
    by_name: HashMap<String, u32>,
    /// By nothing.
    #[arg(default)]
    set: HashSet<u8>,
    /// Within.
    #[arg(default)]
    within: Option<Box<Maps>>,
}

fn many() -> HashMap<String, u32> {
    (0..40_u32).map(|n| (format!("key {}", n * 7 % 40), n)).collect()
}

/// Takes maps, with defaults that are maps.
#[tool(host(inline))]
fn take_maps(
    /// Some.
    maps: Maps,
    /// More.
    #[arg(default = many(), example = many())]
    more: HashMap<String, u32>,
    /// A nest.
    #[arg(default = HashMap::from([("b".to_owned(), many()), ("a".to_owned(), many())]))]
    nest: HashMap<String, HashMap<String, u32>>,
) -> usize {
    maps.by_name.len() + maps.set.len() + usize::from(maps.within.is_some()) + more.len() + nest.len()
}

/// An output with maps at every depth, and fields in an order of their own.
#[tool_type]
struct Report {
    zeta: HashMap<String, Vec<HashMap<String, u32>>>,
    alpha: u32,
    free: Value,
}

fn report() -> Report {
    let inner: HashMap<String, u32> = many();
    let free = serde_json::json!({ "z": 1, "a": { "y": 2, "b": [ { "x": 3, "c": 4 } ] } });
    Report { zeta: (0..12).map(|n| (format!("k{n}"), vec![inner.clone(), inner.clone()])).collect(), alpha: 1, free }
}

/// Gives maps.
#[tool(host(inline))]
fn give_maps() -> Report {
    report()
}

/// Takes a set, with a default that is one.
#[tool(host(inline))]
fn take_set(
    /// Some.
    #[arg(default = (0..40).collect())]
    set: HashSet<u32>,
) -> usize {
    set.len()
}

const NAMES: [&str; 6] = ["zebra", "Apple", "_under", "a-1", "a_1", "aa"];

fn tools() -> Vec<HostTool> {
    let dynamic = NAMES.map(|name| {
        echo(
            name,
            r#"{"type":"object","properties":{"z":{"type":"number","maximum":1e2},"a":{"enum":["b","a"]}},"required":["z","a"]}"#,
        )
    });
    [ActTool::host(), TakeMapsTool::host(), GiveMapsTool::host()].into_iter().chain(dynamic).collect()
}

/// All the bytes that have to be the same.
fn bytes_of(registry: &Registry) -> String {
    let digests: Vec<_> = registry.iter().map(|tool| format!("{} {}", tool.name(), tool.digest())).collect();
    let schemas: Vec<_> = registry.schemas().map(|schema| schema.as_json()).collect();
    let outputs: Vec<_> = registry.iter().map(HostTool::output_schema).collect();
    let declarations = Declarations::of(registry.schemas()).to_json();
    format!("{}|{}|{}|{declarations}", digests.join(","), schemas.join(","), outputs.join(","))
}

#[test]
fn inv13_declarations_are_ordered_by_name() {
    let registry = registry(tools());
    let names: Vec<_> = registry.schemas().map(|schema| schema.name().to_owned()).collect();
    let mut sorted = names.clone();
    sorted.sort();
    assert_eq!(names, sorted);
    assert_eq!(names.len(), NAMES.len() + 3);
}

proptest! {
    #![proptest_config(config(50))]

    #[test]
    fn inv13_the_order_of_registration_does_not_matter(order in Just((0..tools().len()).collect::<Vec<_>>()).prop_shuffle()) {
        let tools = tools();
        let shuffled = order.into_iter().map(|index| tools[index].clone());
        let one_by_one = shuffled.fold(Registry::builder().state(crate::support::Ran::default()), |builder, tool| builder.tool(tool));
        let one_by_one = one_by_one.build().unwrap_or_else(|error| panic!("{error}"));
        prop_assert_eq!(bytes_of(&one_by_one), bytes_of(&registry(tools)));
    }
}

#[test]
fn inv13_every_thread_has_the_same_bytes() {
    let here = bytes_of(&registry(tools()));
    let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(|| bytes_of(&registry(tools())))).collect();
    for thread in threads {
        match thread.join() {
            Ok(there) => assert_eq!(there, here),
            Err(_) => panic!("a thread panicked"),
        }
    }
}

/// Set in the processes that a test starts.
const CHILD: &str = "TOOL_RUNTIME_TESTS_CHILD";
const MARK: &str = "@@bytes@@";

/// What `bytes` gives here, and in other processes: each has hash seeds, and statics, of its own.
fn same_in_other_processes(test: &str, bytes: impl Fn() -> String) {
    let here = bytes();
    if std::env::var_os(CHILD).is_some() {
        println!("\n{MARK}{here}{MARK}");
        return;
    }
    let program = std::env::current_exe().unwrap_or_else(|error| panic!("{error}"));
    for child in 0..3 {
        let output = Command::new(&program)
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(CHILD, "1")
            .output()
            .unwrap_or_else(|error| panic!("{error}"));
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let there = said.split(MARK).nth(1);
        assert!(output.status.success(), "{said}");
        assert_eq!(there, Some(here.as_str()), "process {child}");
    }
}

#[test]
fn inv13_every_process_has_the_same_bytes() {
    same_in_other_processes("inv13_same_input_same_bytes::inv13_every_process_has_the_same_bytes", || {
        let harness = Harness::new(registry(tools()), AllowAll);
        let settled = block_on(one(&harness, ToolCall::new("1", "give_maps", "")));
        let taken = block_on(one(&harness, ToolCall::new("1", "take_maps", r#"{"maps":{"by_name":{"b":1,"a":2}}}"#)));
        let judged = taken.record().verdict().map(|verdict| verdict.arguments().to_owned()).unwrap_or_default();
        format!("{}|{}|{judged}", bytes_of(harness.registry()), settled.result().text())
    });
}

/// A set has no order, and its default is still shown in one.
#[test]
fn inv13_a_default_that_is_a_set_has_the_same_bytes_in_every_process() {
    same_in_other_processes(
        "inv13_same_input_same_bytes::inv13_a_default_that_is_a_set_has_the_same_bytes_in_every_process",
        || bytes_of(&registry([TakeSetTool::host()])),
    );
}

/// The keys of each object within a JSON text, in the order in which they are written.
fn keys(text: &str) -> Vec<Vec<String>> {
    let mut open: Vec<Option<Vec<String>>> = Vec::new();
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let mut taken = first.len_utf8();
        match first {
            '{' => open.push(Some(Vec::new())),
            '[' => open.push(None),
            '}' | ']' => found.extend(open.pop().flatten()),
            '"' => {
                let end = rest[1..].find('"').map_or(rest.len(), |end| end + 2);
                if rest[end..].starts_with(':')
                    && let Some(Some(keys)) = open.last_mut()
                {
                    keys.push(rest[1..end - 1].to_owned());
                }
                taken = end;
            }
            _ => {}
        }
        rest = &rest[taken..];
    }
    found
}

#[tokio::test]
async fn inv13_maps_in_outputs_are_written_in_key_order() {
    let harness = Harness::new(registry(tools()), AllowAll);
    let first = one(&harness, ToolCall::new("1", "give_maps", "")).await;
    let text = first.result().text();
    assert_eq!(first.value(), Some(text.as_str()));
    let keys = keys(&text);
    assert!(keys.len() > 24);
    for keys in &keys {
        // A struct keeps the order of its fields.
        if keys.first().is_some_and(|key| key == "zeta") {
            assert_eq!(*keys, ["zeta", "alpha", "free"]);
        } else {
            assert!(keys.is_sorted(), "{keys:?}");
        }
    }
    let sorted: BTreeMap<String, u32> = many().into_iter().collect();
    assert!(text.contains(&serde_json::to_string(&sorted).unwrap_or_default()), "{text}");
    // Every map is another one with other seeds.
    for _ in 0..20 {
        assert_eq!(one(&harness, ToolCall::new("1", "give_maps", "")).await.result().text(), text);
    }
}

/// The digest is taken over all that a model sees and the output, and over nothing else.
#[test]
fn inv13_a_digest_follows_what_is_shown() {
    let make = |name: &str, parameters: &str| *echo(name, parameters).digest();
    let base = r#"{"type":"object","properties":{"a":{"type":"integer","maximum":100},"b":{"type":"string"}}}"#;
    let digest = make("t", base);
    // Order of keywords and members, white space, and the spelling of numbers and strings say nothing.
    for same in [
        " { \"properties\" : {\"b\":{\"type\":\"string\"},\"a\":{\"maximum\":1e2,\"type\":\"integer\"}} , \"type\":\"object\" } ",
        r#"{"type":"\u006fbject","properties":{"a":{"type":"integer","maximum":100.0},"b":{"type":"string"}}}"#,
    ] {
        assert_eq!(make("t", same), digest, "{same}");
    }
    for other in [
        base.replace("100", "101"),
        base.replace("\"string\"", "\"integer\""),
        base.replace("\"b\"", "\"c\""),
        // Two integers that a float can't tell apart.
        base.replace("100", "9007199254740993"),
        base.replace("100", "9007199254740992"),
    ] {
        assert_ne!(make("t", &other), digest, "{other}");
    }
    assert_ne!(
        make("t", &base.replace("100", "9007199254740993")),
        make("t", &base.replace("100", "9007199254740992"))
    );
    assert_ne!(make("u", base), digest);
}
