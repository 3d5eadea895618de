//! `finalize`: once for every result of a known tool, over the words and nothing else.

use std::sync::Mutex;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tool_runtime::path::Reviewed;
use tool_runtime::{
    AllowAll, Answer, BoxFuture, CallContext, CallFacts, Code, Content, Decision, Event, EventKind, Final, Harness,
    QuestionSet, StoredResult, ToolCall, tool,
};

use super::support::{Log, ends, lock, logged, millis};

static FINALISED: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn count(args: Option<&EndArgs>, last: &Final<'_>) -> Option<Content> {
    let how = args.map_or("no arguments", |args| args.how.as_str());
    assert_eq!(last.is_error, last.code != Code::Ok);
    lock(&FINALISED).push(format!("{how}: {}", last.code));
    None
}

/// Ends in one of many ways.
#[tool(host(timeout = "400ms", finalize = count))]
async fn end(
    /// How.
    how: String,
) -> Result<f64, String> {
    match how.as_str() {
        "error" => Err("no".to_owned()),
        "panic" => panic!("boom"),
        "timeout" | "cancelled" => std::future::pending().await,
        "bad output" => Ok(f64::NAN),
        _ => Ok(1.0),
    }
}

fn judge(call: &CallFacts<'_>) -> Decision {
    match call.arguments().read::<String>("/how").as_deref() {
        Some("denied") => Decision::deny("not this"),
        Some("rejected") => Decision::ask("really?"),
        Some("policy panic") => panic!("the policy breaks"),
        _ => Decision::Allow,
    }
}

fn no(set: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
    Box::pin(async move { vec![Answer::No; set.questions.len()] })
}

#[tokio::test]
async fn d32_once_for_every_result_of_a_known_tool() {
    let harness = Harness::new(logged([EndTool::host()]).0, judge).approver(no);
    let withholding =
        Harness::new(logged([EndTool::host()]).0, AllowAll).review(|_: &StoredResult| Reviewed::Withhold("no".into()));
    for (how, code) in [
        ("success", Code::Ok),
        ("error", Code::ToolError),
        ("panic", Code::Panicked),
        ("timeout", Code::Timeout),
        ("denied", Code::Denied),
        ("rejected", Code::Rejected),
        ("policy panic", Code::Denied),
        ("bad output", Code::InvalidOutput),
        ("withheld", Code::Withheld),
        ("before", Code::CancelledBeforeStart),
        ("cancelled", Code::Cancelled),
    ] {
        let harness = if how == "withheld" { &withholding } else { &harness };
        let call = ToolCall::new("1", "end", format!(r#"{{"how":"{how}"}}"#));
        let token = CancellationToken::new();
        let cancel = token.clone();
        match how {
            "before" => token.cancel(),
            "cancelled" => {
                tokio::spawn(async move {
                    millis(10).await;
                    cancel.cancel();
                });
            }
            _ => {}
        }
        let settled = harness.run_settled([call], Some(token)).await;
        assert_eq!(settled[0].record().code(), code, "{how}: {}", settled[0].result().text());
        assert_eq!(std::mem::take(&mut *lock(&FINALISED)), [format!("{how}: {code}")]);
    }
    // Without arguments where there are none, and not at all for a name that nobody has.
    let settled = harness.run_settled([ToolCall::new("1", "end", "{"), ToolCall::new("2", "ended", "")], None).await;
    assert_eq!(ends(&settled), [("1", Code::InvalidArguments, false), ("2", Code::UnknownTool, false)]);
    assert_eq!(std::mem::take(&mut *lock(&FINALISED)), ["no arguments: invalid_arguments"]);
}

fn shorten(_: Option<&LongArgs>, last: &Final<'_>) -> Option<Content> {
    (last.content.as_text() != Some("keep")).then(|| "short".into())
}

/// Says something.
#[tool(host(finalize = shorten))]
async fn long(
    /// What.
    says: String,
    /// Fail with it?
    #[arg(default)]
    fail: bool,
    #[host] cx: &CallContext,
) -> Result<String, String> {
    cx.aside("an aside");
    cx.card_data(&says).map_err(|error| error.to_string())?;
    if fail { Err(says) } else { Ok(says) }
}

#[tokio::test]
async fn d33_content_and_nothing_else() {
    let harness = Harness::new(logged([LongTool::host()]).0, AllowAll);
    for (says, fail, text) in
        [("keep", false, "keep"), ("much", false, "short"), ("keep", true, "keep"), ("much", true, "short")]
    {
        let call = ToolCall::new("1", "long", format!(r#"{{"says":"{says}","fail":{fail}}}"#));
        let settled = harness.run_settled([call], None).await;
        assert_eq!(ends(&settled), [("1", if fail { Code::ToolError } else { Code::Ok }, true)]);
        let (result, record) = (settled[0].result(), settled[0].record());
        assert_eq!((result.text().as_str(), result.is_error()), (text, fail));
        let value = format!("\"{says}\"");
        assert_eq!(settled[0].value(), (!fail).then_some(value.as_str()));
        assert_eq!(result.asides(), [Content::text("an aside")]);
        assert_eq!(record.card_data().map(|data| data.as_json()), Some(value.as_str()));
        assert_eq!(record.content(), result.content());
    }
}

static BROKE: Mutex<usize> = Mutex::new(0);

fn breaks(_: Option<&SecretiveArgs>, _: &Final<'_>) -> Option<Content> {
    *lock(&BROKE) += 1;
    panic!("a word of the finaliser's")
}

/// Says what its finaliser should have cut.
#[tool(host(finalize = breaks))]
async fn secretive() -> &'static str {
    "what must not be read"
}

#[tokio::test]
async fn d34_a_finaliser_that_breaks_is_not_asked_again() {
    let log = Log::default();
    let told = log.clone();
    let harness = Harness::new(logged([SecretiveTool::host()]).0, AllowAll).observer(move |event: &Event| {
        if let EventKind::Finished(record) = event.kind() {
            told.note(record.content().to_text());
        }
    });
    let settled = harness.run_settled([ToolCall::new("1", "secretive", "")], None).await;
    assert_eq!(*lock(&BROKE), 1);
    assert_eq!(ends(&settled), [("1", Code::InvalidOutput, true)]);
    let text = settled[0].result().text();
    assert_eq!(text, "The result of `secretive` could not be prepared. Its effects may have happened.");
    assert_eq!(log.take(), [text]);
    assert_eq!(settled[0].value(), None);
    assert!(settled[0].result().is_error());
    // What the record says, nobody but the host reads.
    assert_eq!(settled[0].record().detail(), Some("`finalize` panicked: a word of the finaliser's"));
    assert!(settled[0].record().took() < Duration::from_secs(5));
}
