//! One result per call, in call order, whatever happens.
//!
//! A turn that is dropped half way is in `behaviours::cancellation`.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use tests::config;
use tokio_util::sync::CancellationToken;
use tool_runtime::path::{Reviewed, Settled};
use tool_runtime::{
    AllowAll, Answer, BoxFuture, CallContext, CallFacts, Card, Code, Content, Decision, DynamicTool, Entry, Final,
    Harness, HostTool, JsonPath, Ledger, LedgerError, QuestionSet, Registry, StoredResult, ToolCall, tool,
};

use crate::support::{BoxError, Kept, Ran, one, registry};

/// Every way to end that a call has in one turn, with the code it ends with and whether its body begins.
const WAYS: [(&str, Code, bool); 19] = [
    ("well", Code::Ok, true),
    ("blocking", Code::Ok, true),
    ("empty", Code::Ok, true),
    ("fails", Code::ToolError, true),
    ("panics", Code::Panicked, true),
    ("panics_blocking", Code::Panicked, true),
    ("slow", Code::Timeout, true),
    ("wrong", Code::InvalidOutput, true),
    ("withheld", Code::Withheld, true),
    ("unreadable", Code::InvalidArguments, false),
    ("unfit", Code::InvalidArguments, false),
    ("unknown", Code::UnknownTool, false),
    ("deferred", Code::NotLoaded, false),
    ("open", Code::Unanswered, false),
    ("denied", Code::Denied, false),
    ("rejected", Code::Rejected, false),
    ("later", Code::ApprovalPending, false),
    ("expired", Code::ApprovalExpired, false),
    ("unrecorded", Code::NotRecorded, false),
];

/// Does what it is told.
#[tool(host(timeout = "30ms"))]
async fn way(
    /// Which way.
    kind: String,
) -> Result<String, String> {
    tokio::task::yield_now().await;
    match kind.as_str() {
        "empty" => Ok(String::new()),
        "fails" => Err("no".to_owned()),
        "panics" => panic!("boom"),
        "slow" => std::future::pending().await,
        _ => Ok(kind),
    }
}

/// Does it on a thread of its own.
#[tool]
fn blocking(
    /// Which way.
    kind: String,
) -> String {
    assert_ne!(kind, "panics_blocking", "boom");
    kind
}

/// Has to be searched for.
#[tool(defer)]
async fn deferred() -> u8 {
    0
}

/// Promises a number and gives text.
fn wrong() -> HostTool {
    let tool = DynamicTool::builder("wrong", "Gives a number.")
        .output(r#"{"type":"integer"}"#)
        .run(|_, _| async { Ok("\"text\"".to_owned()) });
    tool.unwrap_or_else(|error| panic!("{error}"))
}

fn call(id: &str, kind: &str) -> ToolCall {
    let arguments = format!(r#"{{"kind":"{kind}"}}"#);
    match kind {
        "blocking" | "panics_blocking" => ToolCall::new(id, "blocking", arguments),
        "wrong" | "deferred" => ToolCall::new(id, kind, ""),
        "unknown" => ToolCall::new(id, "nobody", arguments),
        "unreadable" => ToolCall::new(id, "way", "{\"kind\": \"half"),
        "unfit" => ToolCall::new(id, "way", r#"{"kind":[]}"#),
        "open" => ToolCall::new(id, "way", "{}").with_no_result(JsonPath::from_pointer("/kind")),
        _ => ToolCall::new(id, "way", arguments),
    }
}

/// Keeps all but the verdicts of some calls.
struct Choosy(Kept);

impl Ledger for Choosy {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        if let Entry::Verdict(verdict) = &entry
            && verdict.arguments().contains("unrecorded")
        {
            return Box::pin(async { Err(LedgerError::new("full")) });
        }
        self.0.append(entry)
    }
}

fn harness(ledger: Kept) -> Harness {
    let policy = |call: &CallFacts<'_>| match call.arguments().read::<String>("/kind").as_deref() {
        Some("denied") => Decision::deny("not this"),
        Some("rejected" | "later" | "expired") => Decision::ask("really?"),
        _ => Decision::Allow,
    };
    let approver = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        let answer = |arguments: &str| match arguments {
            r#"{"kind":"rejected"}"# => Answer::No,
            r#"{"kind":"later"}"# => Answer::Later,
            r#"{"kind":"expired"}"# => Answer::Expired,
            _ => Answer::Yes,
        };
        let answers = set.questions.iter().map(|question| answer(&question.arguments)).collect();
        Box::pin(async move { answers })
    };
    let review = |seen: &StoredResult| match seen.content.as_text() {
        Some("withheld") => Reviewed::Withhold(Content::text("Not for you.")),
        _ => Reviewed::Accept,
    };
    let tools = [WayTool::host(), BlockingTool::host(), DeferredTool::host(), wrong()];
    Harness::new(registry(tools), policy).approver(approver).review(review).ledger(Choosy(ledger))
}

/// One result, one record and one end in the ledger for each call, in order, and a verdict where it came so far.
fn check(calls: &[(String, usize)], settled: &[Settled], ledger: &Kept) {
    assert_eq!(settled.len(), calls.len());
    for ((id, way), settled) in calls.iter().zip(settled) {
        let (kind, code, started) = WAYS[*way];
        let (result, record) = (settled.result(), settled.record());
        assert_eq!(result.call_id().as_str(), id, "{kind}");
        assert_eq!(record.call_id(), result.call_id(), "{kind}");
        assert_eq!(record.code(), code, "{kind}: {}", result.text());
        assert_eq!(record.started(), started, "{kind}");
        assert_eq!(result.is_error(), code != Code::Ok, "{kind}");
        assert_eq!(result.name(), call(id, kind).name(), "{kind}");
        assert!(!result.text().is_empty(), "{kind}: a model can't read nothing");
        assert_eq!(record.content(), result.content(), "{kind}");
    }
    let ends: Vec<_> = ledger
        .entries()
        .into_iter()
        .filter_map(|entry| match entry {
            Entry::End(record) => Some((record.call_id().as_str().to_owned(), record.code())),
            _ => None,
        })
        .collect();
    let expected: Vec<_> = calls.iter().map(|(id, way)| (id.clone(), WAYS[*way].1)).collect();
    assert_eq!(ends, expected);
    let never_judged =
        [Code::InvalidArguments, Code::UnknownTool, Code::NotLoaded, /* judged, but not kept */ Code::NotRecorded];
    let judged: Vec<_> =
        calls.iter().filter(|(_, way)| !never_judged.contains(&WAYS[*way].1)).map(|(id, _)| id.clone()).collect();
    let verdicts: Vec<_> = ledger.verdicts().iter().map(|verdict| verdict.call_id().as_str().to_owned()).collect();
    assert_eq!(verdicts, judged);
}

#[tokio::test]
async fn inv03_every_ending_in_one_turn() {
    let ledger = Kept::default();
    let calls: Vec<_> = (0..WAYS.len()).map(|way| (format!("call_{way}"), way)).collect();
    let proposed: Vec<_> = calls.iter().map(|(id, way)| call(id, WAYS[*way].0)).collect();
    let settled = harness(ledger.clone()).run_settled(proposed, None).await;
    check(&calls, &settled, &ledger);
}

proptest! {
    #![proptest_config(config(24))]

    /// Any endings in any order, under identifiers that repeat, are empty, or nobody would choose.
    #[test]
    fn inv03_any_endings_in_any_order(
        calls in prop::collection::vec((prop::sample::select(vec!["", "a", "b", "a\nb", "\u{202e}"]), 0..WAYS.len()), 0..12)
    ) {
        let calls: Vec<_> = calls.into_iter().map(|(id, way)| (id.to_owned(), way)).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.unwrap_or_else(|error| panic!("{error}"));
        runtime.block_on(async {
            let ledger = Kept::default();
            let proposed: Vec<_> = calls.iter().map(|(id, way)| call(id, WAYS[*way].0)).collect();
            let settled = harness(ledger.clone()).run_settled(proposed, None).await;
            check(&calls, &settled, &ledger);
        });
    }
}

#[tokio::test]
async fn inv03_calls_that_are_the_same_are_still_several() {
    let harness = Harness::new(registry([WayTool::host()]), AllowAll);
    let results = harness.run(vec![call("same", "well"); 5]).await;
    assert_eq!(results.len(), 5);
    assert!(results.iter().all(|result| result.text() == "well" && result.call_id().as_str() == "same"));
    assert!(harness.run([]).await.is_empty());
}

/// Cancels its own turn, and waits to be stopped.
#[tool]
async fn cancels(#[host] turn: CancellationToken) -> u8 {
    turn.cancel();
    std::future::pending().await
}

/// Cancels its own turn, and ends well all the same: too late.
#[tool(host(inline))]
fn cancels_and_ends(#[host] turn: &CancellationToken) -> u8 {
    turn.cancel();
    7
}

#[tokio::test]
async fn inv03_a_cancelled_turn_still_answers_every_call() {
    for first in ["cancels", "cancels_and_ends"] {
        let turn = CancellationToken::new();
        let tools = [WayTool::host(), BlockingTool::host(), CancelsTool::host(), CancelsAndEndsTool::host()];
        let registry = Registry::builder().tools(tools).state(turn.clone()).build();
        let harness = Harness::new(registry.unwrap_or_else(|error| panic!("{error}")), AllowAll);
        let calls = [
            call("1", "well"),
            ToolCall::new("2", first, ""),
            call("3", "well"),
            call("4", "unfit"),
            call("5", "blocking"),
            call("6", "unknown"),
        ];
        let settled = harness.run_settled(calls, Some(turn)).await;
        let ends: Vec<_> = settled
            .iter()
            .map(|one| (one.result().call_id().as_str(), one.record().code(), one.record().started()))
            .collect();
        assert_eq!(
            ends,
            [
                ("1", Code::Ok, true),
                ("2", Code::Cancelled, true),
                ("3", Code::CancelledBeforeStart, false),
                ("4", Code::InvalidArguments, false),
                ("5", Code::CancelledBeforeStart, false),
                ("6", Code::UnknownTool, false),
            ]
        );
        for stopped in [&settled[2], &settled[4]] {
            assert!(stopped.result().text().contains("nothing happened"), "{}", stopped.result().text());
        }
    }
}

fn panics_call(_: &RenderedArgs) -> Card {
    panic!("boom")
}

fn panics_result(_: &RenderedArgs, _: &StoredResult) -> Card {
    panic!("boom")
}

fn panics_finalize(_: Option<&RenderedArgs>, _: &Final<'_>) -> Option<Content> {
    panic!("boom")
}

fn panics_project(_: &u8) -> Content {
    panic!("boom")
}

fn panics_judge(_: &RenderedArgs) -> bool {
    panic!("boom")
}

/// All that its author wrote beside it panics.
#[tool(host(
    concurrency_safe = panics_judge,
    present_call = panics_call,
    present_result = panics_result,
    finalize = panics_finalize,
    project = panics_project,
))]
async fn rendered(
    /// It.
    #[arg(default = 1)]
    n: u8,
    #[host] ran: Ran,
) -> u8 {
    ran.note();
    n
}

#[tokio::test]
async fn inv03_whatever_panics_around_a_body_costs_no_result() {
    let asks = |_: &CallFacts<'_>| Decision::ask("sure?");
    let yes = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(async move { vec![Answer::Yes; set.questions.len()] })
    };
    let harness = Harness::new(registry([RenderedTool::host(), WayTool::host()]), asks)
        .approver(yes)
        .review(|_: &StoredResult| -> Reviewed { panic!("boom") });
    let calls = [ToolCall::new("1", "rendered", ""), call("2", "well"), ToolCall::new("3", "rendered", r#"{"n":"x"}"#)];
    let settled = harness.run_settled(calls, None).await;
    let ends: Vec<_> = settled.iter().map(|one| (one.record().code(), one.record().started())).collect();
    assert_eq!(ends.len(), 3);
    assert!(ends[0].1 && ends[1].1 && !ends[2].1, "{ends:?}");
    assert_eq!(ends[1].0, Code::Withheld);
    for settled in &settled {
        assert!(settled.result().is_error());
        let text = settled.result().text();
        assert!(!text.contains("boom") && !text.is_empty(), "{text}");
    }
    // A model has to learn that a body ran whose result it can't have.
    for settled in &settled[..2] {
        let text = settled.result().text();
        assert!(text.contains("effects may have happened"), "{text}");
    }
}

/// Yields once.
#[tool(host(timeout = "5s"))]
async fn yields(#[host] cx: &CallContext) -> &'static str {
    let _ = cx.deadline();
    tokio::task::yield_now().await;
    "done"
}

#[tokio::test]
async fn inv03_a_budget_beyond_all_time_is_no_bound() {
    for budget in [Duration::MAX, Duration::from_secs(u64::MAX), Duration::from_nanos(1)] {
        let harness = Harness::new(registry([YieldsTool::host().with_timeout(budget)]), AllowAll);
        let task = tokio::spawn(async move { harness.run([ToolCall::new("1", "yields", "")]).await });
        match task.await {
            Ok(results) => {
                assert_eq!(results.len(), 1);
                assert!(budget.as_secs() == 0 || results[0].text() == "done", "{budget:?}: {}", results[0].text());
            }
            Err(error) => panic!("{budget:?}: the turn was lost: {error}"),
        }
    }
}

/// An error that can't say what it is.
#[derive(Debug)]
struct Speechless;

impl std::fmt::Display for Speechless {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("boom")
    }
}

impl std::error::Error for Speechless {}

/// An error whose formatting fails.
#[derive(Debug)]
struct Failing;

impl std::fmt::Display for Failing {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Err(std::fmt::Error)
    }
}

impl std::error::Error for Failing {}

/// Fails in an odd way.
#[tool]
async fn fails_oddly(
    /// With a failing text?
    failing: bool,
) -> Result<u8, BoxError> {
    if failing { Err(Box::new(Failing)) } else { Err(Box::new(Speechless)) }
}

#[tokio::test]
async fn inv03_an_error_that_cannot_speak_is_one_result() {
    let tools = || {
        let dynamic = DynamicTool::builder("dynamic", "Fails oddly.").output("true").run(|_, _| async {
            let error: BoxError = Box::new(Speechless);
            Err(error)
        });
        [FailsOddlyTool::host(), dynamic.unwrap_or_else(|error| panic!("{error}"))]
    };
    let harness = Arc::new(Harness::new(registry(tools()), AllowAll));
    for (tool, arguments) in
        [("fails_oddly", r#"{"failing":false}"#), ("fails_oddly", r#"{"failing":true}"#), ("dynamic", "")]
    {
        let harness = Arc::clone(&harness);
        let task = tokio::spawn(async move { one(&harness, ToolCall::new("1", tool, arguments)).await });
        match task.await {
            Ok(settled) => {
                assert!(settled.result().is_error());
                assert!(settled.record().started());
                assert!([Code::Panicked, Code::ToolError].contains(&settled.record().code()));
            }
            Err(error) => panic!("{tool} {arguments}: the turn was lost: {error}"),
        }
    }
}
