//! Section C: the names of tools, names that two of them have, and the order in which they are declared.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::{Arc, Mutex};

use tool_runtime::wire::export::{Export, Provider};
use tool_runtime::{
    AllowAll, CallFacts, Code, Decision, DynamicTool, DynamicToolError, Harness, HostTool, Registry, ToolCall, tool,
};

use crate::support::{lock, parsed, registry};

/// A tool that says its own name.
fn named(name: &str) -> Result<HostTool, DynamicToolError> {
    let said = format!("{name:?}");
    DynamicTool::builder(name, "Says its name.").output(r#"{"type":"string"}"#).run(move |_, _| {
        let said = said.clone();
        async move { Ok(said) }
    })
}

fn legal(name: &str) -> HostTool {
    match named(name) {
        Ok(tool) => tool,
        Err(error) => panic!("`{name}` was refused: {error}"),
    }
}

/// Calls each name and gives what it says.
async fn answers(all: Registry, names: &[&str]) -> Vec<(Code, String)> {
    let harness = Harness::new(all, AllowAll);
    let calls: Vec<_> = names.iter().map(|name| ToolCall::new(*name, *name, "{}")).collect();
    harness
        .run_settled(calls, None)
        .await
        .iter()
        .map(|settled| (settled.record().code(), settled.result().text()))
        .collect()
}

#[tokio::test]
async fn b29_long_names_are_refused_and_never_cut() {
    let long = |at: usize, length: usize| {
        let mut name = "n".repeat(length);
        name.replace_range(at..=at, "m");
        name
    };
    for name in [long(35, 129), long(128, 129), "n".repeat(400)] {
        match named(&name) {
            Ok(_) => panic!("{} characters were taken", name.len()),
            Err(error) => {
                assert_eq!(error.tool(), name);
                assert!(error.to_string().contains("at most 128"), "{error}");
            }
        }
    }
    // As long as may be, longer than most providers take, and different in one place.
    let names = [long(35, 128), long(127, 128), long(0, 128), long(35, 70), long(69, 70)];
    let all = registry(names.iter().map(|name| legal(name)));
    for &provider in Provider::all() {
        let declared: BTreeSet<_> = declared_names(provider, &all).into_iter().collect();
        assert_eq!(declared.len(), names.len(), "{provider}");
        // As each of them takes names.
        let (longest, signs) = match provider {
            Provider::OpenAiChat | Provider::OpenAiResponses | Provider::OpenAiCompatible => (64, "_-"),
            Provider::Gemini => (128, "_-.:"),
            _ => (128, "_-"),
        };
        for name in &declared {
            let is_legal = name.chars().all(|letter| letter.is_ascii_alphanumeric() || signs.contains(letter));
            assert!(is_legal && name.len() <= longest, "{provider}: {name}");
        }
    }
    let names = names.each_ref().map(String::as_str);
    let said: Vec<_> = answers(all, &names).await.into_iter().map(|(_, said)| said).collect();
    assert_eq!(said, names);
}

#[tokio::test]
async fn b30_names_are_taken_as_they_are_or_not_at_all() {
    for name in ["", "ns:act", "with space", "日本", "bаsh", "bash\u{200b}", "ｂａｓｈ", "bash ", "a\nb", "$top"]
    {
        match named(name) {
            Ok(_) => panic!("{name:?} was taken"),
            Err(error) => {
                assert_eq!(error.tool(), name);
                assert!(error.to_string().contains("a name has letters, digits"), "{error}");
                assert!(!error.to_string().contains('\n'), "{error}");
            }
        }
    }
    let names =
        ["a-b", "a_b", "a.b", "cat.query", "cat_query", "Read", "read", "_x", "A1", "1a", "-a", "...", "..", "."];
    let all = registry(names.map(legal));
    assert_eq!(all.len(), names.len());
    let said: Vec<_> = answers(all, &names).await.into_iter().map(|(_, said)| said).collect();
    assert_eq!(said, names);
}

/// The names under which a provider's model calls the tools.
fn declared_names(provider: Provider, all: &Registry) -> Vec<String> {
    let declared = parsed(&Export::new(provider, all.schemas()).to_json());
    let declared = declared.pointer("/0/functionDeclarations").unwrap_or(&declared);
    let name = |tool: &serde_json::Value| {
        let name = tool.get("name").or(tool.pointer("/function/name"));
        name.and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
    };
    declared.as_array().map_or(&[][..], Vec::as_slice).iter().map(name).collect()
}

#[tokio::test]
async fn b31_every_declared_name_reaches_its_tool() {
    let all = registry(["a-b", "a_b", "a.b", "...", "Read", "read", "9", &"n".repeat(64), &"n".repeat(128)].map(legal));
    let judged = Arc::<Mutex<Vec<String>>>::default();
    let seen = Arc::clone(&judged);
    let harness = Harness::new(all.clone(), move |call: &CallFacts<'_>| {
        lock(&seen).push(call.tool().to_owned());
        match call.tool() {
            "a.b" => Decision::deny("not this one"),
            _ => Decision::Allow,
        }
    });
    for &provider in Provider::all() {
        let export = Export::new(provider, all.schemas());
        let declared = declared_names(provider, &all);
        assert_eq!(declared.iter().collect::<BTreeSet<_>>().len(), all.len());
        lock(&judged).clear();
        for (name, tool) in declared.iter().zip(all.iter()) {
            let call = export.restore(ToolCall::new("c", name.as_str(), ""));
            let settled = harness.run_settled([call], None).await;
            let record = settled[0].record();
            // The host speaks its own names, and the model reads those of the wire.
            assert_eq!(record.tool(), tool.name());
            let read = export.in_wire_words(settled[0].result());
            assert_eq!(read.name(), name);
            if tool.name() == "a.b" {
                assert_eq!(record.code(), Code::Denied);
            } else {
                assert_eq!(read.text(), tool.name());
            }
        }
        assert_eq!(*lock(&judged), all.iter().map(HostTool::name).collect::<Vec<_>>());
    }
}

mod one {
    use tool_runtime::tool;

    /// Reads one.
    #[tool]
    pub(super) fn read() -> u8 {
        1
    }
}

mod two {
    use tool_runtime::tool;

    /// Reads two.
    #[tool]
    pub(super) fn read() -> u8 {
        2
    }
}

/// Answers.
#[tool]
fn ping() -> u8 {
    1
}

#[test]
fn b32_a_name_that_two_tools_have_is_refused() {
    let here = module_path!();
    for (tools, said) in [
        (
            vec![one::ReadTool::host(), ping_tool(), two::ReadTool::host()],
            format!("tool `read`: two tools have this name, one in `{here}::one` and one in `{here}::two`"),
        ),
        (
            vec![one::ReadTool::host(), one::ReadTool::host()],
            format!("tool `read`: two tools have this name, one in `{here}::one` and one in `{here}::one`"),
        ),
        (
            vec![legal("read"), one::ReadTool::host()],
            format!("tool `read`: two tools have this name, one of them in `{here}::one`"),
        ),
        (vec![legal("read"), ping_tool(), legal("read")], "tool `read`: two tools have this name".to_owned()),
    ] {
        match Registry::builder().tools(tools).build() {
            Ok(all) => panic!("{all:?} was taken"),
            Err(error) => {
                let text = error.to_string();
                let (what, advice) = text.split_once("; ").unwrap_or_default();
                assert_eq!(what, said);
                assert!(advice.contains("`.replace(…)`") && advice.contains("`registry.scope()"), "{advice}");
                assert_eq!(error.tools().collect::<Vec<_>>(), ["read"]);
            }
        }
    }
    let all = registry([one::ReadTool::host(), ping_tool()]);
    assert_eq!(all.len(), 2);
    assert!(all.iter().all(|tool| all.get(tool.name()).is_some()));
}

fn ping_tool() -> HostTool {
    PingTool::host()
}

mod many {
    use std::collections::{BTreeMap, HashMap, HashSet};

    use tool_runtime::{tool, tool_type};

    /// A word.
    #[tool_type]
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub(super) enum Word {
        /// The last.
        Zulu,
        /// The first.
        Alpha,
    }

    #[tool_type]
    #[derive(Debug)]
    pub(super) struct Zebra {
        pub(super) stripes: u8,
        pub(super) age: u8,
        pub(super) colours: HashSet<String>,
    }

    /// Has one of everything that could come in any order.
    #[tool]
    pub(super) fn zoo(
        /// Words.
        words: HashSet<Word>,
        /// Zebras by name.
        zebras: HashMap<String, Zebra>,
        /// Apes by name.
        apes: BTreeMap<String, Option<Word>>,
        /// A zebra.
        #[arg(default = Word::Zulu, example = Word::Alpha)]
        word: Word,
    ) -> HashMap<String, Zebra> {
        let _ = (words, apes, word);
        zebras
    }
}

/// Twenty tools, registered in an order of the caller's.
fn declarations(backwards: bool) -> String {
    let mut tools: Vec<_> = (0..18).map(|n| legal(&format!("tool_{}", n * 7 % 18))).collect();
    tools.extend([many::ZooTool::host(), ping_tool()]);
    if backwards {
        tools.reverse();
    }
    let all = registry(tools);
    let digests: String = all.iter().map(|tool| format!("{}\n", tool.digest())).collect();
    format!("{}\n{digests}", Export::new(Provider::OpenAiChat, all.schemas()).to_json())
}

const CHILD: &str = "FIELD_REPORTS_B33_CHILD";
const MARK: &str = "b33 declarations: ";

#[test]
fn b33_declarations_are_the_same_bytes_in_every_process() {
    let here = declarations(false);
    if std::env::var_os(CHILD).is_some() {
        println!("\n{MARK}{}", here.replace('\n', "\t"));
        return;
    }
    assert_eq!(here, declarations(true), "the order of registration shows");
    let names = declared_names(Provider::OpenAiChat, &registry([legal("b"), legal("a"), legal("C")]));
    assert_eq!(names, ["C", "a", "b"], "ordered by name");
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => panic!("this test can't find itself: {error}"),
    };
    for _ in 0..5 {
        let child = Command::new(&program)
            .args(["--exact", "names::b33_declarations_are_the_same_bytes_in_every_process", "--nocapture"])
            .env(CHILD, "1")
            .output();
        let printed = match child {
            Ok(child) => String::from_utf8_lossy(&child.stdout).into_owned(),
            Err(error) => panic!("no other process could be started: {error}"),
        };
        let there = printed.lines().find_map(|line| line.strip_prefix(MARK));
        assert_eq!(there.map(|line| line.replace('\t', "\n")), Some(here.clone()));
    }
}

/// What the model reads of other tools, it reads under the names by which it can call them.
#[tokio::test]
async fn b31_suggestions_and_what_was_found_speak_the_names_of_the_wire() {
    let tool = |name: &str, deferred: bool| {
        let tool = DynamicTool::builder(name, "Finds the calendar.").output("true");
        let tool = tool.parameters(r#"{"type":"object","properties":{"$top":{"type":"integer"}}}"#);
        let tool = if deferred { tool.deferred() } else { tool };
        tool.run(|_, _| async { Ok("null".to_owned()) }).unwrap_or_else(|error| panic!("{error}"))
    };
    let tools = [tool("calendar.list", false), tool("calendar.find", true)];
    let all = Registry::builder().tools(tools).search().build().unwrap_or_else(|error| panic!("{error}"));
    let export = Export::new(Provider::Anthropic, all.iter().map(HostTool::schema));
    let harness = Harness::new(all, AllowAll);
    let said = async |name: &str, arguments: &str| {
        let results = harness.run([export.restore(ToolCall::new("c", name, arguments))]).await;
        export.in_wire_words(&results[0]).text()
    };
    let wire = |name: &str| export.wire_name(name).unwrap_or_default().to_owned();
    let unknown = said("calendar.lst", "{}").await;
    assert!(unknown.contains(&wire("calendar.list")) && !unknown.contains("`calendar.list`"), "{unknown}");
    let found = parsed(&said(Registry::SEARCH_TOOL, r#"{"query":"calendar"}"#).await);
    assert_eq!(found["tools"][0]["name"], wire("calendar.find"));
    let keys = found["tools"][0]["parameters"]["properties"].as_object().map(|keys| keys.keys().cloned().collect());
    let declared = export.tool("calendar.find").and_then(|tool| tool.parameters()).map(parsed);
    let declared = declared.and_then(|form| Some(form["properties"].as_object()?.keys().cloned().collect()));
    assert_eq!(keys, declared.map(|keys: Vec<String>| keys));
}
