//! Nothing of what the host keeps is in anything that a model can be sent.
//!
//! That a host tool can't be serialised at all, and no other type made model-facing, are facts of types (trybuild).

use std::fmt;
use std::time::Duration;

use tool_runtime::wire::openai_chat::{self, Declarations};
use tool_runtime::{
    Answer, BoxFuture, CallContext, CallFacts, Card, Content, Decision, Entry, Final, Harness, HostTool, ModelFacing,
    QuestionSet, Record, Registry, StoredResult, ToolCall, ToolResult, ToolSchema, Verdict, tool, toolset,
};

use crate::support::{Kept, implements};

/// A word that only the host's things have, each its own.
const MARK: &str = "hostword";

/// State, whose type's name is the host's too.
#[derive(Debug, Clone)]
struct HostwordClient;

#[derive(Debug)]
struct Outer(std::io::Error);

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("The service refused")
    }
}

impl std::error::Error for Outer {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

fn hostword_call(args: &GoArgs) -> Card {
    Card::new(format!("hostword card {}", args.how)).with_body("hostword body")
}

fn hostword_result(_: &GoArgs, result: &StoredResult) -> Card {
    Card::new("hostword card").with_body(format!("hostword {}", result.code))
}

fn hostword_finalize(_: Option<&GoArgs>, _: &Final<'_>) -> Option<Content> {
    None
}

fn hostword_safe(_: &GoArgs) -> bool {
    true
}

/// Goes.
#[tool(host(
    timeout = "4321ms",
    concurrency_safe = hostword_safe,
    reads(place),
    writes(place),
    destructive,
    idempotent,
    deterministic,
    changes("hostword change"),
    present_call = hostword_call,
    present_result = hostword_result,
    finalize = hostword_finalize,
))]
async fn go(
    /// In which way.
    #[arg(alias = "hostword_alias")]
    how: String,
    /// To where.
    #[arg(default = String::new(), path)]
    place: String,
    /// With which key.
    #[arg(secret, authored)]
    key: Option<String>,
    #[host] _client: HostwordClient,
    #[host] cx: &CallContext,
) -> Result<String, Outer> {
    assert!(cx.state::<HostwordClient>().is_some());
    let _ = (&place, key);
    match how.as_str() {
        "fails" => Err(Outer(std::io::Error::other("hostword cause"))),
        "panics" => panic!("hostword payload"),
        _ => Ok("went".to_owned()),
    }
}

#[derive(Debug)]
struct HostwordShelf;

#[toolset]
impl HostwordShelf {
    /// Takes.
    #[tool(type = Take, host(read_only, inline))]
    fn take(
        &self,
        /// Which.
        index: u32,
        #[host] client: &HostwordClient,
    ) -> u32 {
        let _ = client;
        index
    }
}

/// Waits.
#[tool(host(timeout = "20ms"))]
async fn wait(#[host] _client: HostwordClient) -> u32 {
    std::future::pending().await
}

fn tools() -> Vec<HostTool> {
    let mut tools = std::sync::Arc::new(HostwordShelf).tools();
    tools.extend([GoTool::host(), WaitTool::host()]);
    tools
}

fn registry() -> Registry {
    match Registry::builder().tools(tools()).state(HostwordClient).build() {
        Ok(registry) => registry,
        Err(error) => panic!("{error}"),
    }
}

/// Words that belong to the host's side whoever writes them, and the names of types and modules of this file.
const HOST_WORDS: [&str; 24] = [
    MARK,
    "Hostword",
    "timeout",
    "4321",
    "concurrency",
    "read_only",
    "destructive",
    "idempotent",
    "deterministic",
    "changes",
    "execute",
    "project",
    "finalize",
    "present",
    "output",
    "client",
    "cx",
    "GoArgs",
    "GoTool",
    "inv02",
    "invariants",
    "x-tool",
    "\"secret\"",
    "tool_runtime",
];

fn without_host_words(what: &str, text: &str) {
    for word in HOST_WORDS {
        assert!(!text.contains(word), "{what} has {word:?}: {text}");
    }
}

#[test]
fn inv02_no_declaration_has_a_word_of_the_hosts() {
    let registry = registry();
    for schema in registry.schemas() {
        without_host_words("as_json", schema.as_json());
        without_host_words("to_string", &serde_json::to_string(schema).unwrap_or_default());
        without_host_words("parameters", schema.parameters());
        without_host_words("Debug", &format!("{schema:?}"));
    }
    let declarations = Declarations::of(registry.schemas()).to_json();
    assert!(declarations.contains(r#""name":"go""#) && declarations.contains(r#""name":"wait""#), "{declarations}");
    without_host_words("the declarations", &declarations);
}

/// One call for every way in which a call can end here.
fn calls() -> Vec<ToolCall> {
    let go = |how: &str| ToolCall::new("call_1", "go", format!(r#"{{"how":"{how}","key":"k"}}"#));
    let mut calls = ["well", "fails", "panics", "not", "no", "later", "nobody", "late"].map(go).to_vec();
    calls.push(ToolCall::new("call_2", "go", r#"{"how":3,"hoow":1}"#));
    calls.push(ToolCall::new("call_3", "gone", "{}"));
    calls.push(ToolCall::new("call_4", "wait", ""));
    calls.push(ToolCall::new("call_5", tools()[0].name(), r#"{"index":3}"#));
    calls
}

fn harness(ledger: Kept) -> Harness {
    let policy = |call: &CallFacts<'_>| match call.arguments().get("/how") {
        Some("\"not\"") => Decision::deny("not here"),
        Some("\"no\"" | "\"later\"" | "\"nobody\"" | "\"late\"") => Decision::ask("it is far"),
        _ => Decision::Allow,
    };
    let approver = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        let answer = |arguments: &str| match arguments {
            text if text.contains("\"no\"") => Answer::No,
            text if text.contains("\"later\"") => Answer::Later,
            text if text.contains("\"late\"") => Answer::Expired,
            _ => Answer::Unavailable,
        };
        let answers = set.questions.iter().map(|question| answer(&question.arguments)).collect();
        Box::pin(async move { answers })
    };
    Harness::new(registry(), policy).approver(approver).ledger(ledger)
}

#[tokio::test]
async fn inv02_no_result_has_a_word_of_the_hosts() {
    let ledger = Kept::default();
    let settled = harness(ledger.clone()).run_settled(calls(), None).await;
    let codes: Vec<&str> = settled.iter().map(|settled| settled.record().code().as_str()).collect();
    assert_eq!(
        codes,
        [
            "ok",
            "tool_error",
            "panicked",
            "denied",
            "rejected",
            "approval_pending",
            "approval_unavailable",
            "approval_expired",
            "invalid_arguments",
            "unknown_tool",
            "timeout",
            "ok"
        ]
    );
    for settled in &settled {
        let result = settled.result();
        let code = settled.record().code().as_str();
        for (what, text) in [
            ("the result", serde_json::to_string(result).unwrap_or_default()),
            ("the content", serde_json::to_string(result.content()).unwrap_or_default()),
            ("Debug", format!("{result:?}")),
            ("the message", openai_chat::message(result).to_json()),
            ("the serialised message", serde_json::to_string(&openai_chat::message(result)).unwrap_or_default()),
        ] {
            without_host_words(&format!("{what} of `{code}`"), &text);
            assert!(code == "ok" || !text.contains(code), "{what} of `{code}` has the code: {text}");
            assert!(!text.contains("took"), "{what} of `{code}`: {text}");
        }
    }
    // The words are there to be found: the host has them.
    let records = serde_json::to_string(&ledger.entries()).unwrap_or_default();
    for word in ["hostword card", "hostword ok", "hostword cause", "hostword payload", r#""code":"timeout""#] {
        assert!(records.contains(word), "{word:?} isn't in the records: {records}");
    }
}

/// What may reach a model is a closed list; being serialisable isn't enough.
#[test]
fn inv02_records_are_serialisable_and_not_model_facing() {
    assert!(implements!(ToolSchema: ModelFacing));
    assert!(implements!(ToolResult: ModelFacing));
    assert!(implements!(Content: ModelFacing));
    for (serialisable, facing) in [
        (implements!(Verdict: serde::Serialize), implements!(Verdict: ModelFacing)),
        (implements!(Record: serde::Serialize), implements!(Record: ModelFacing)),
        (implements!(Entry: serde::Serialize), implements!(Entry: ModelFacing)),
        (implements!(Card: serde::Serialize), implements!(Card: ModelFacing)),
        (implements!(String: serde::Serialize), implements!(String: ModelFacing)),
        (implements!(serde_json::Value: serde::Serialize), implements!(serde_json::Value: ModelFacing)),
    ] {
        assert!(serialisable && !facing);
    }
    assert!(!implements!(HostTool: ModelFacing));
    assert!(!implements!(Vec<ToolSchema>: ModelFacing));
    assert!(!implements!(Duration: ModelFacing));
}
