//! What a body returns, checked and narrated, and what of its errors is kept.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tool_runtime::path::{Reviewed, Settled};
use tool_runtime::wire::openai_chat;
use tool_runtime::{
    AllowAll, Attempt, BoxFuture, Code, CodedError, Content, DynamicTool, Entry, Event, EventKind, Harness, HostTool,
    Layer, MemoryLedger, Ran, StoredResult, ToolCall, tool, tool_type,
};

use super::support::{Log, ends, logged};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// One call without arguments.
async fn settle(tool: HostTool) -> Settled {
    let name = tool.name().to_owned();
    let (registry, _) = logged([tool]);
    let mut settled = Harness::new(registry, AllowAll).run_settled([ToolCall::new("1", name, "")], None).await;
    settled.pop().expect("one call has one result")
}

/// A tool without a type behind it, whose output may be anything but what its schema says.
fn promising(schema: &str, gives: &'static str, log: Log) -> HostTool {
    DynamicTool::builder("promising", "Promises something.")
        .output(schema)
        .run(move |_, _| {
            log.note("ran");
            async move { Ok(gives.to_owned()) }
        })
        .expect("the tool is sound")
}

#[tokio::test]
async fn d16_a_value_that_breaks_its_contract_is_no_success() {
    let schema = r#"{"type":"object","properties":{"list":{"type":"array","items":{"type":"integer"}}}}"#;
    for (gives, place) in
        [(r#"{"list":[1,2,"three"]}"#, " at `/list/2`"), (r#"{"list":7}"#, " at `/list`"), ("[]", ""), ("no JSON", "")]
    {
        let log = Log::default();
        let observed = log.clone();
        let harness =
            Harness::new(logged([promising(schema, gives, log.clone())]).0, AllowAll).observer(move |event: &Event| {
                if let EventKind::Finished(record) = event.kind() {
                    observed.note(record.code().as_str());
                }
            });
        let settled = harness.run_settled([ToolCall::new("1", "promising", "")], None).await;
        assert_eq!(ends(&settled), [("1", Code::InvalidOutput, true)], "{gives}");
        assert_eq!(log.take(), ["ran", "invalid_output"]);
        assert_eq!(settled[0].value(), None);
        let text = settled[0].result().text();
        let (said, after) = text.split_once(". ").expect("two sentences");
        assert!(said.starts_with("`promising` ran, but its output was refused: ") && said.ends_with(place), "{text}");
        assert!(after.contains("Its effects may have happened"), "{text}");
    }
    let fine = promising(schema, r#"{"list":[1,2.0]}"#, Log::default());
    assert_eq!(ends(&[settle(fine).await]), [("1", Code::Ok, true)]);
}

#[tokio::test]
async fn a_dynamic_body_that_returns_plain_text_is_told_of_json() {
    let settled = settle(promising("true", "plain text", Log::default())).await;
    let detail = settled.record().detail().expect("the host is told");
    assert!(detail.starts_with("a dynamic tool returns JSON text, where a text stands in quotes: "), "{detail}");
}

static PROJECTED: AtomicUsize = AtomicUsize::new(0);

fn project(value: &f64) -> Content {
    PROJECTED.fetch_add(1, Ordering::SeqCst);
    format!("about {value}").into()
}

/// Divides by a number.
#[tool(host(project = project))]
async fn divide(
    /// Which.
    by: f64,
) -> f64 {
    1.0 / by
}

#[tokio::test]
async fn d17_a_value_is_checked_before_it_is_narrated() {
    let harness = Harness::new(logged([DivideTool::host()]).0, AllowAll);
    let call = |by: &str| [ToolCall::new("1", "divide", format!(r#"{{"by":{by}}}"#))];
    let settled = harness.run_settled(call("0"), None).await;
    assert_eq!(ends(&settled), [("1", Code::InvalidOutput, true)]);
    assert_eq!(PROJECTED.load(Ordering::SeqCst), 0);
    let settled = harness.run_settled(call("2"), None).await;
    assert_eq!(settled[0].result().text(), "about 0.5");
    assert_eq!(PROJECTED.load(Ordering::SeqCst), 1);
}

fn breaks(_: &u8) -> Content {
    panic!("a word of the renderer's")
}

/// Is narrated by what breaks.
#[tool(host(project = breaks))]
async fn narrated() -> u8 {
    1
}

/// Is fine.
#[tool]
async fn fine() -> u8 {
    2
}

#[tokio::test]
async fn d18_a_renderer_that_breaks_costs_one_call() {
    let log = Log::default();
    let told = log.clone();
    let harness =
        Harness::new(logged([NarratedTool::host(), FineTool::host()]).0, AllowAll).observer(move |event: &Event| {
            if let EventKind::Finished(record) = event.kind() {
                told.note(format!("{} {}", record.call_id(), record.code()));
            }
        });
    let calls = [ToolCall::new("1", "narrated", ""), ToolCall::new("2", "fine", "")];
    let settled = harness.run_settled(calls, None).await;
    assert_eq!(ends(&settled), [("1", Code::InvalidOutput, true), ("2", Code::Ok, true)]);
    assert_eq!(log.take(), ["1 invalid_output", "2 ok"]);
    assert_eq!(settled[0].value(), None);
    let text = settled[0].result().text();
    assert!(text.contains("`project`") && !text.contains("a word of the renderer's"), "{text}");
    assert!(settled[0].record().detail().is_some_and(|detail| detail.contains("a word of the renderer's")));
}

/// What the service says.
#[derive(Debug)]
struct Limited;

impl fmt::Display for Limited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too many requests")
    }
}

impl std::error::Error for Limited {}

#[derive(Debug, thiserror::Error)]
enum Wrapped {
    #[error(transparent)]
    Same(CodedError),
    #[error("the page could not be read")]
    Behind(#[source] CodedError),
}

fn limited() -> CodedError {
    CodedError::new("rate_limited", Limited)
}

/// Fails in one of many ways.
#[tool]
async fn fails(
    /// Which.
    how: String,
) -> Result<u8, BoxError> {
    use anyhow::Context as _;

    Err(match how.as_str() {
        "itself" => limited().into(),
        "transparent" => Wrapped::Same(limited()).into(),
        "behind" => Wrapped::Behind(limited()).into(),
        "anyhow" => anyhow::Error::new(limited()).into(),
        "context" => Err::<u8, _>(limited()).context("no page").context("no site").unwrap_err().into(),
        "two" => CodedError::new("outer_1", limited()).into(),
        "illegal" => CodedError::new("Rate limited!", Limited).into(),
        "empty" => CodedError::new("", Limited).into(),
        "long" => CodedError::new("x".repeat(65), Limited).into(),
        "longest" => CodedError::new("x".repeat(64), Limited).into(),
        _ => Limited.into(),
    })
}

fn fails_call(how: &str) -> [ToolCall; 1] {
    [ToolCall::new("1", "fails", format!(r#"{{"how":"{how}"}}"#))]
}

#[tokio::test]
async fn d19_d66_an_authors_error_keeps_its_name() {
    let longest = "x".repeat(64);
    for (how, code, text) in [
        ("itself", Some("rate_limited"), "too many requests"),
        ("transparent", Some("rate_limited"), "too many requests"),
        ("behind", Some("rate_limited"), "the page could not be read"),
        ("anyhow", Some("rate_limited"), "too many requests"),
        ("context", Some("rate_limited"), "no site"),
        ("two", Some("outer_1"), "too many requests"),
        ("longest", Some(longest.as_str()), "too many requests"),
        ("illegal", None, "too many requests"),
        ("empty", None, "too many requests"),
        ("long", None, "too many requests"),
        ("none", None, "too many requests"),
    ] {
        let ledger = Arc::new(MemoryLedger::default());
        let log = Log::default();
        let reviewed = log.clone();
        let harness = Harness::new(logged([FailsTool::host()]).0, AllowAll).ledger(Arc::clone(&ledger)).review(
            move |seen: &StoredResult| {
                reviewed.note(format!("{:?}", seen.error_code.as_deref()));
                Reviewed::Accept
            },
        );
        let settled = harness.run_settled(fails_call(how), None).await;
        assert_eq!(ends(&settled), [("1", Code::ToolError, true)], "{how}");
        assert_eq!(settled[0].record().error_code(), code, "{how}");
        assert_eq!(log.take(), [format!("{code:?}")], "{how}");
        assert_eq!(StoredResult::from(settled[0].record()).error_code.as_deref(), code, "{how}");
        let Some(Entry::End(end)) = ledger.entries().pop() else { panic!("{how}: the end is not recorded") };
        let line = serde_json::to_value(&*end).expect("it is JSON");
        assert_eq!(line.get("error_code").and_then(|code| code.as_str()), code, "{how}");
        // The model reads the error, and the code nowhere.
        let result = settled[0].result();
        assert_eq!(result.text(), text, "{how}");
        let sent = openai_chat::message(result).to_json() + &serde_json::to_string(result).expect("it is JSON");
        assert!(code.is_none_or(|code| !sent.contains(code)), "{how}: {sent}");
    }
    // It is the tool's error's, and no other result's.
    let harness = Harness::new(logged([FailsTool::host()]).0, AllowAll)
        .review(|_: &StoredResult| Reviewed::Withhold("not for you".into()));
    let settled = harness.run_settled(fails_call("itself"), None).await;
    assert_eq!(ends(&settled), [("1", Code::Withheld, true)]);
    assert_eq!(settled[0].record().error_code(), None);
}

#[tokio::test]
async fn d19_a_layer_sees_the_code_and_a_chain_says_each_cause_once() {
    struct Sees(Log);
    impl Layer for Sees {
        fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
            Box::pin(async move {
                let ran = attempt.run().await;
                self.0.note(format!("{:?}", ran.error_code()));
                ran
            })
        }
    }
    let log = Log::default();
    let harness = Harness::new(logged([FailsTool::host()]).0, AllowAll).layer(Sees(log.clone()));
    let settled = harness.run_settled(fails_call("context"), None).await;
    assert_eq!(log.take(), [r#"Some("rate_limited")"#]);
    assert_eq!(settled[0].record().detail(), Some("no site: no page: too many requests"));
    // Its own words and no more.
    let error = limited();
    assert_eq!((error.code(), error.to_string().as_str()), ("rate_limited", "too many requests"));
    assert!(error.into_inner().is::<Limited>());
}

/// A place.
#[tool_type]
struct Place {
    /// How far.
    metres: u8,
}

mod roots {
    use tool_runtime::tool;

    use super::Place;

    /// Gives text that looks like JSON.
    #[tool]
    pub(super) async fn text() -> String {
        "{\"a\": \"b\"}\n".to_owned()
    }

    /// Gives a number.
    #[tool]
    pub(super) async fn number() -> f64 {
        2.5
    }

    /// Gives a list.
    #[tool]
    pub(super) async fn list() -> Vec<&'static str> {
        vec!["a", "b"]
    }

    /// Gives nothing.
    #[tool]
    pub(super) async fn nothing() {}

    /// Gives an object.
    #[tool]
    pub(super) async fn object() -> Place {
        Place { metres: 3 }
    }
}

#[tokio::test]
async fn b76_d20_any_root_is_fine_and_text_stays_text() {
    for (tool, text, value) in [
        (roots::TextTool::host(), "{\"a\": \"b\"}\n", r#""{\"a\": \"b\"}\n""#),
        (roots::NumberTool::host(), "2.5", "2.5"),
        (roots::ListTool::host(), r#"["a","b"]"#, r#"["a","b"]"#),
        (roots::NothingTool::host(), "(no output)", "null"),
        (roots::ObjectTool::host(), r#"{"metres":3}"#, r#"{"metres":3}"#),
    ] {
        let settled = settle(tool).await;
        assert_eq!(ends(std::slice::from_ref(&settled)), [("1", Code::Ok, true)]);
        assert_eq!(settled.result().text(), text);
        assert_eq!(settled.value(), Some(value));
    }
}
