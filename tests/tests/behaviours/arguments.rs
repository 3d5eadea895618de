//! Arguments: every fault at once, before anybody is asked, and defaults that all see.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tool_runtime::{
    AllowAll, Answer, BoxFuture, CallFacts, Card, Code, Content, Decision, Final, Harness, MemoryLedger, QuestionSet,
    StoredResult, ToolCall, tool, tool_type,
};

use super::support::{ends, lock, logged};

/// Where to.
#[tool_type]
struct Config {
    /// Which host.
    host: String,
    /// Which port.
    port: Option<u16>,
}

/// Which colour.
#[tool_type]
enum Colour {
    Red,
    Green,
}

static RAN: AtomicUsize = AtomicUsize::new(0);

/// Takes many things.
#[tool]
async fn take(
    /// Where to.
    config: Config,
    /// How many.
    n: u32,
    /// Which.
    tags: Vec<String>,
    /// In which colour.
    color: Colour,
) -> u32 {
    RAN.fetch_add(1, Ordering::SeqCst);
    let _ = (config.host, config.port, color);
    n + tags.len() as u32
}

#[tokio::test]
async fn d10_every_fault_comes_once_with_its_path() {
    let harness = Harness::new(logged([TakeTool::host()]).0, AllowAll);
    let arguments = r#"{"color":"blue","tags":["a",2],"n":"7","config":{"port":1}}"#;
    let settled = harness.run_settled([ToolCall::new("1", "take", arguments)], None).await;
    assert_eq!(ends(&settled), [("1", Code::InvalidArguments, false)]);
    assert!(settled[0].result().is_error());
    let text = settled[0].result().text();
    let faults: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("- ")).collect();
    // In the order of the schema, not of the call.
    let expected = [("`config.host`: ", ""), ("`n`: ", "string"), ("`tags[1]`: ", "number"), ("`color`: ", "string")];
    assert_eq!(faults.len(), expected.len(), "{text}");
    for (fault, (place, came)) in faults.iter().zip(expected) {
        assert!(fault.starts_with(place) && fault.contains(came), "{fault} is not at {place}, of {came}");
    }
    assert!(faults[0].contains("missing"), "{text}");
    assert!(faults[1].contains("expected integer from 0 to 4294967295"), "{text}");
    assert!(faults[2].contains("expected string"), "{text}");
    assert!(faults[3].contains("Red") && faults[3].contains("Green"), "{text}");
    // A wrong root has no path: it is the arguments.
    let settled = harness.run_settled([ToolCall::new("1", "take", "[1]")], None).await;
    let text = settled[0].result().text();
    assert!(text.starts_with("The arguments of `take` were refused"), "{text}");
    assert!(text.lines().any(|line| line == "- expected object, got array"), "{text}");
    assert_eq!(RAN.load(Ordering::SeqCst), 0);
}

/// Needs nothing.
#[tool]
async fn free() -> &'static str {
    "free"
}

#[tokio::test]
async fn d12_broken_text_is_data() {
    let harness = Harness::new(logged([FreeTool::host()]).0, AllowAll);
    let long = format!("not json {}", "x".repeat(100_000));
    let calls = [
        ToolCall::new("1", "free", ""),
        ToolCall::new("2", "free", "not json"),
        ToolCall::new("3", "free", long),
        ToolCall::new("4", "free", "{}"),
    ];
    let settled = harness.run_settled(calls, None).await;
    let invalid = Code::InvalidArguments;
    assert_eq!(
        ends(&settled),
        [("1", Code::Ok, true), ("2", invalid, false), ("3", invalid, false), ("4", Code::Ok, true)]
    );
    let text = settled[1].result().text();
    assert!(text.contains("not valid JSON") && text.contains("(line 1, column "), "{text}");
    let kept = settled[1].record().detail().expect("what nobody could read is kept");
    assert_eq!(kept, "raw arguments: not json");
    let kept = settled[2].record().detail().expect("what nobody could read is kept");
    assert!(kept.starts_with("raw arguments: not json xxx") && kept.len() < 2048, "{} bytes", kept.len());
}

#[tokio::test]
async fn d13_nobody_is_asked_about_a_call_that_can_not_run() {
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let (judged, questions) = (Arc::clone(&asked), Arc::clone(&asked));
    let harness = Harness::new(logged([TakeTool::host(), FreeTool::host()]).0, move |call: &CallFacts<'_>| {
        lock(&judged).push(format!("judge {}", call.call_id()));
        Decision::ask("so")
    })
    .approver(move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        let mut asked = lock(&questions);
        asked.extend(set.questions.iter().map(|question| format!("ask {}", question.call_id)));
        Box::pin(async move { vec![Answer::Yes; set.questions.len()] })
    });
    let bad = || ToolCall::new("bad", "take", r#"{"config":{"host":"h"},"tags":[],"color":"Red"}"#);
    let settled = harness.run_settled([bad()], None).await;
    assert_eq!(ends(&settled), [("bad", Code::InvalidArguments, false)]);
    assert!(settled[0].result().text().contains("`n`: "), "{}", settled[0].result().text());
    assert_eq!(std::mem::take(&mut *lock(&asked)), [""; 0]);
    // Nor beside one that can run, whose answer it doesn't take.
    let settled = harness.run_settled([bad(), ToolCall::new("good", "free", "")], None).await;
    assert_eq!(ends(&settled), [("bad", Code::InvalidArguments, false), ("good", Code::Ok, true)]);
    assert_eq!(std::mem::take(&mut *lock(&asked)), ["judge good", "ask good", "judge good"]);
}

static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn saw(who: &str, limit: impl std::fmt::Display) {
    lock(&SEEN).push(format!("{who} {limit}"));
}

fn show_call(args: &ListArgs) -> Card {
    saw("present_call", args.limit);
    Card::new("list")
}

fn show_result(args: &ListArgs, _: &StoredResult) -> Card {
    saw("present_result", args.limit);
    Card::new("listed")
}

fn look(args: Option<&ListArgs>, _: &Final<'_>) -> Option<Content> {
    saw("finalize", args.map_or(0, |args| args.limit));
    None
}

/// Lists.
#[tool(host(present_call = show_call, present_result = show_result, finalize = look))]
async fn list(
    /// How many.
    #[arg(default = 25)]
    limit: u32,
) -> u32 {
    saw("body", limit);
    limit
}

#[tokio::test]
async fn d15_defaults_are_applied_once_for_all() {
    for arguments in ["", "{}", r#"{"limit":null}"#, r#"{"limit":25}"#] {
        let ledger = Arc::new(MemoryLedger::default());
        let harness = Harness::new(logged([ListTool::host()]).0, |call: &CallFacts<'_>| {
            saw("policy", call.arguments().as_str());
            Decision::ask("so")
        })
        .approver(|set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            saw("approver", &set.questions[0].arguments);
            Box::pin(async { vec![Answer::Yes] })
        })
        .ledger(Arc::clone(&ledger));
        let settled = harness.run_settled([ToolCall::new("1", "list", arguments)], None).await;
        assert_eq!(settled[0].record().verdict().map(|verdict| verdict.arguments()), Some(r#"{"limit":25}"#));
        let expected = [
            r#"policy {"limit":25}"#,
            "present_call 25",
            r#"approver {"limit":25}"#,
            r#"policy {"limit":25}"#,
            "body 25",
            "finalize 25",
            "present_result 25",
        ];
        assert_eq!(std::mem::take(&mut *lock(&SEEN)), expected, "{arguments}");
    }
}
