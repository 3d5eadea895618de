//! Section E, as far as one call after another goes: panics, cancellation, sync bodies, and one result a call.
//!
//! What needs calls that overlap, grace periods or layers is among the behaviours (see the table in `main.rs`).

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};
use tokio_util::sync::CancellationToken;
use tool_runtime::path::Settled;
use tool_runtime::{
    AllowAll, Answer, BoxFuture, CallFacts, Code, Decision, DenyAll, DynamicTool, Entry, Harness, HostTool, Ledger,
    LedgerError, QuestionSet, ToolCall, ToolResult, tool, tool_type,
};

use crate::support::{lock, registry};

/// Answers.
#[tool]
fn ping() -> &'static str {
    "pong"
}

/// Panics at once.
#[tool]
fn panics() -> u8 {
    panic!("boom")
}

/// Panics at once, on the caller's task.
#[tool(host(inline))]
fn panics_inline() -> u8 {
    panic!("boom")
}

/// Panics later.
#[tool]
async fn panics_later() -> u8 {
    tokio::task::yield_now().await;
    panic!("boom")
}

/// Panics later, within a budget.
#[tool(host(timeout = "5s"))]
async fn panics_in_time() -> u8 {
    tokio::time::sleep(Duration::from_millis(1)).await;
    panic!("boom")
}

/// Something that can't be written.
#[derive(schemars::JsonSchema)]
struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("boom")
    }
}

/// Gives what can't be written.
#[tool]
async fn panics_in_serialize() -> Unwritable {
    Unwritable
}

/// An argument that doesn't go quietly.
#[tool_type]
#[derive(Debug)]
struct Bomb {
    armed: bool,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.armed {
            panic!("boom")
        }
    }
}

/// Drops what it was given.
#[tool]
async fn panics_in_drop(
    /// It.
    #[arg(default = Bomb { armed: false })]
    bomb: Bomb,
) -> bool {
    bomb.armed
}

/// A tool whose closure panics before there is a future.
fn panics_early() -> HostTool {
    let tool = DynamicTool::builder("panics_early", "Panics before it begins.")
        .output("true")
        .run(|_, _| -> BoxFuture<'static, Result<String, Box<dyn std::error::Error + Send + Sync>>> { panic!("boom") });
    match tool {
        Ok(tool) => tool,
        Err(error) => panic!("{error}"),
    }
}

fn panicking() -> Vec<HostTool> {
    vec![
        PanicsTool::host(),
        PanicsInlineTool::host(),
        PanicsLaterTool::host(),
        PanicsInTimeTool::host(),
        PanicsInSerializeTool::host(),
        PanicsInDropTool::host(),
        panics_early(),
    ]
}

const UNEXPECTED: &str = "failed unexpectedly. Its effects may have happened; look before you call it again.";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b52_a_panic_in_the_middle_of_a_batch_is_one_result() {
    let names: Vec<_> = panicking().iter().map(|tool| tool.name().to_owned()).collect();
    let harness = Harness::new(registry(panicking().into_iter().chain([PingTool::host()])), AllowAll);
    for name in names {
        let calls = [
            ToolCall::new("1", "ping", ""),
            ToolCall::new("2", name.as_str(), r#"{"bomb":{"armed":true}}"#),
            ToolCall::new("3", "ping", "{}"),
        ];
        let calls = calls.map(|call| {
            if name == "panics_in_drop" || call.name() == "ping" {
                call
            } else {
                ToolCall::new(call.id().as_str(), call.name(), "{}")
            }
        });
        let settled = harness.run_settled(calls, None).await;
        let ids: Vec<_> = settled.iter().map(|settled| settled.result().call_id().as_str()).collect();
        assert_eq!(ids, ["1", "2", "3"], "{name}");
        let codes: Vec<_> = settled.iter().map(|settled| settled.record().code()).collect();
        assert_eq!(codes, [Code::Ok, Code::Panicked, Code::Ok], "{name}");
        assert!(settled[1].result().is_error(), "{name}");
        assert_eq!(settled[1].result().text(), format!("`{name}` {UNEXPECTED}"));
        assert_eq!(settled[2].result().text(), "pong");
    }
    // The workers are alive.
    let harness = Arc::new(harness);
    let tasks: Vec<_> = (0..16)
        .map(|index: u32| {
            let harness = Arc::clone(&harness);
            tokio::spawn(async move { harness.run([ToolCall::new(index.to_string(), "ping", "")]).await.len() })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.ok(), Some(1));
    }
}

/// An argument that is never handed to a body is dropped as well.
#[tokio::test]
async fn b52_an_argument_that_panics_when_it_is_dropped_unused_is_one_result() {
    let harness = Harness::new(registry([PanicsInDropTool::host(), PingTool::host()]), DenyAll);
    let task = tokio::spawn(async move {
        let calls = [
            ToolCall::new("1", "ping", ""),
            ToolCall::new("2", "panics_in_drop", r#"{"bomb":{"armed":true}}"#),
            ToolCall::new("3", "ping", ""),
        ];
        harness.run(calls).await
    });
    match task.await {
        Ok(results) => assert_eq!(results.len(), 3),
        Err(error) => panic!("the whole batch was lost: {error}"),
    }
}

/// Panics with text that is made up.
#[tool]
fn with_text(
    /// Which.
    id: u8,
) -> u8 {
    panic!("cannot open /srv/k/{id}")
}

/// Panics with no text.
#[tool]
fn with_number() -> u8 {
    std::panic::panic_any(42_u8)
}

/// Panics on nothing.
#[tool]
async fn with_none() -> u8 {
    let nothing: Option<u8> = std::hint::black_box(None);
    nothing.unwrap()
}

/// Panics on an error.
#[tool]
async fn with_error() -> u8 {
    let error: Result<u8, &str> = std::hint::black_box(Err("/srv/secret"));
    error.unwrap()
}

#[tokio::test]
async fn b53_the_words_of_a_panic_are_the_hosts() {
    for (tool, detail) in [
        (WithTextTool::host(), "panicked: cannot open /srv/k/7"),
        (WithNumberTool::host(), "panicked: a payload that is no text"),
        (WithNoneTool::host(), "panicked: called `Option::unwrap()` on a `None` value"),
        (WithErrorTool::host(), "panicked: called `Result::unwrap()` on an `Err` value: \"/srv/secret\""),
        (PanicsLaterTool::host(), "panicked: boom"),
    ] {
        let name = tool.name().to_owned();
        let arguments = if name == "with_text" { r#"{"id":7}"# } else { "" };
        let harness = Harness::new(registry([tool]), AllowAll);
        let settled = harness.run_settled([ToolCall::new("c", name.as_str(), arguments)], None).await;
        assert_eq!(settled[0].result().text(), format!("`{name}` {UNEXPECTED}"));
        assert_eq!(settled[0].record().detail(), Some(detail));
        assert_eq!(settled[0].record().code(), Code::Panicked);
        assert!(settled[0].record().started());
    }
}

static SHARED: Mutex<u32> = Mutex::new(0);

/// Panics with a lock in its hand, once.
#[tool]
fn clumsy(
    /// Panic?
    panic: bool,
) -> u32 {
    let mut shared = lock(&SHARED);
    if panic {
        panic!("boom");
    }
    *shared += 1;
    *shared
}

/// What the host's own code does when it is its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Culprit {
    Policy,
    Guard,
    Approver,
    ApproverLater,
    Ledger,
    LedgerLater,
}

/// A ledger that panics where it is told to.
struct ClumsyLedger(Option<Culprit>, AtomicUsize);

impl Ledger for ClumsyLedger {
    fn append(&self, _: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        let first = self.1.fetch_add(1, Ordering::SeqCst) == 0;
        assert!(!(first && self.0 == Some(Culprit::Ledger)), "boom");
        let later = first && self.0 == Some(Culprit::LedgerLater);
        Box::pin(async move {
            tokio::task::yield_now().await;
            assert!(!later, "boom");
            Ok(())
        })
    }
}

/// A harness that asks about everything, and in which `culprit` panics the first time.
fn clumsy_harness(culprit: Culprit) -> Harness {
    let once = |of: Culprit| {
        let left = AtomicUsize::new(usize::from(culprit == of));
        move || {
            let panics = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
            assert!(panics.is_err(), "boom");
        }
    };
    let (policy, guard, approver) = (once(Culprit::Policy), once(Culprit::Guard), once(Culprit::Approver));
    let later = Arc::new(once(Culprit::ApproverLater));
    Harness::new(registry([ClumsyTool::host()]), move |_: &CallFacts<'_>| {
        policy();
        Decision::ask("everything is asked about")
    })
    .guard(move |_: &CallFacts<'_>| {
        guard();
        None
    })
    .approver(move |questions: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        approver();
        let later = Arc::clone(&later);
        Box::pin(async move {
            tokio::task::yield_now().await;
            later();
            vec![Answer::Yes; questions.questions.len()]
        })
    })
    .ledger(ClumsyLedger(Some(culprit), AtomicUsize::new(0)))
}

#[tokio::test]
async fn b54_a_panic_costs_one_call_and_no_lock() {
    let call = |panic: bool| ToolCall::new("c", "clumsy", format!(r#"{{"panic":{panic}}}"#));
    let harness = Harness::new(registry([ClumsyTool::host()]), AllowAll);
    let settled = harness.run_settled([call(true)], None).await;
    assert_eq!(settled[0].record().code(), Code::Panicked);
    for _ in 0..100 {
        let results = harness.run([call(false)]).await;
        assert!(!results[0].is_error(), "{}", results[0].text());
    }
    for (culprit, code) in [
        (Culprit::Policy, Code::Denied),
        (Culprit::Guard, Code::Denied),
        (Culprit::Approver, Code::ApprovalUnavailable),
        (Culprit::ApproverLater, Code::ApprovalUnavailable),
        (Culprit::Ledger, Code::NotRecorded),
        (Culprit::LedgerLater, Code::NotRecorded),
    ] {
        let harness = clumsy_harness(culprit);
        let settled = harness.run_settled([call(false)], None).await;
        assert_eq!(settled[0].record().code(), code, "{culprit:?}");
        assert!(!settled[0].record().started(), "{culprit:?}: it ran");
        assert!(settled[0].result().is_error(), "{culprit:?}");
        assert!(!settled[0].result().text().contains("boom"), "{culprit:?}: {}", settled[0].result().text());
        for _ in 0..100 {
            let results = harness.run([call(false)]).await;
            assert!(!results[0].is_error(), "{culprit:?}: {}", results[0].text());
        }
    }
}

/// The same of whoever only watches, or comes after the body: the call has run, and its result is one.
#[tokio::test]
async fn b54_whoever_breaks_behind_the_body_breaks_one_call() {
    use tool_runtime::path::Reviewed;
    use tool_runtime::{Attempt, Event, Layer, Ran, StoredResult};

    /// Panics in the first call that it meets.
    #[derive(Clone, Default)]
    struct Once(Arc<AtomicUsize>);
    impl Once {
        fn breaks(&self) {
            assert!(self.0.fetch_add(1, Ordering::SeqCst) > 0, "boom");
        }
    }
    struct Around(Once);
    impl Layer for Around {
        fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
            Box::pin(async move {
                let ran = attempt.run().await;
                self.0.breaks();
                ran
            })
        }
    }
    let plain = || Harness::new(registry([ClumsyTool::host()]), AllowAll);
    let (observed, reviewed) = (Once::default(), Once::default());
    for (harness, code) in [
        (plain().observer(move |_: &Event| observed.breaks()), Code::Ok),
        (plain().layer(Around(Once::default())), Code::Panicked),
        (
            plain().review(move |_: &StoredResult| {
                reviewed.breaks();
                Reviewed::Accept
            }),
            Code::Withheld,
        ),
    ] {
        let call = || [ToolCall::new("c", "clumsy", r#"{"panic":false}"#)];
        let settled = harness.run_settled(call(), None).await;
        assert_eq!(outline(&settled), [("c", code, true)]);
        assert!(!settled[0].result().text().contains("boom"));
        for _ in 0..100 {
            let settled = harness.run_settled(call(), None).await;
            assert_eq!(outline(&settled), [("c", Code::Ok, true)]);
        }
    }
}

/// Reads, or fails.
#[tool(host(read_only, concurrency_safe))]
async fn check(
    /// What.
    q: String,
) -> Result<String, String> {
    tokio::task::yield_now().await;
    if q == "bad" { Err("exit status 1".to_owned()) } else { Ok(format!("found {q}")) }
}

fn texts(results: &[ToolResult]) -> Vec<String> {
    results.iter().map(ToolResult::text).collect()
}

fn about(id: &str, tool: &str, q: &str) -> ToolCall {
    ToolCall::new(id, tool, format!(r#"{{"q":"{q}"}}"#))
}

#[tokio::test]
async fn b57_one_that_fails_leaves_its_siblings_alone() {
    let harness = Harness::new(registry([CheckTool::host()]), AllowAll);
    let calls = [("1", "a"), ("2", "bad"), ("3", "b"), ("4", "c")].map(|(id, q)| about(id, "check", q));
    let results = harness.run(calls).await;
    assert_eq!(texts(&results), ["found a", "exit status 1", "found b", "found c"]);
    let errors: Vec<_> = results.iter().map(ToolResult::is_error).collect();
    assert_eq!(errors, [false, true, false, false]);
}

static SEARCHED: AtomicUsize = AtomicUsize::new(0);

/// Searches.
#[tool(host(read_only, concurrency_safe))]
async fn search(
    /// What for.
    q: String,
) -> String {
    SEARCHED.fetch_add(1, Ordering::SeqCst);
    format!("found {q}")
}

#[tokio::test]
async fn b59_two_calls_of_one_tool_are_two_calls() {
    let harness = Harness::new(registry([SearchTool::host()]), AllowAll);
    // Even if they say the same, or have one identifier.
    let calls = [("1", "X"), ("2", "Y"), ("3", "Y"), ("3", "Z")].map(|(id, q)| about(id, "search", q));
    let results = harness.run(calls).await;
    assert_eq!(texts(&results), ["found X", "found Y", "found Y", "found Z"]);
    let ids: Vec<_> = results.iter().map(|result| result.call_id().as_str()).collect();
    assert_eq!(ids, ["1", "2", "3", "3"]);
    assert_eq!(SEARCHED.load(Ordering::SeqCst), 4);
}

/// Never comes back.
#[tool]
async fn forever() -> u8 {
    std::future::pending().await
}

fn outline(settled: &[Settled]) -> Vec<(&str, Code, bool)> {
    settled
        .iter()
        .map(|settled| {
            let record = settled.record();
            assert_eq!(record.call_id(), settled.result().call_id());
            assert_eq!(settled.result().is_error(), record.code() != Code::Ok);
            (settled.result().call_id().as_str(), record.code(), record.started())
        })
        .collect()
}

#[tokio::test]
async fn b58_every_call_has_one_result_however_the_turn_ends() {
    let policy = |call: &CallFacts<'_>| match call.call_id().as_str() {
        "denied" => Decision::deny("not this one"),
        _ => Decision::Allow,
    };
    let harness = Harness::new(registry([PingTool::host(), ForeverTool::host()]), policy);
    let batch = || {
        [
            ToolCall::new("1", "ping", ""),
            ToolCall::new("denied", "ping", ""),
            ToolCall::new("slow", "forever", ""),
            ToolCall::new("4", "ping", ""),
            ToolCall::new("5", "nothing", ""),
        ]
    };
    for _ in 0..2 {
        let token = CancellationToken::new();
        let cancel = token.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            cancel.cancel();
        });
        let settled = harness.run_settled(batch(), Some(token)).await;
        assert_eq!(
            outline(&settled),
            [
                ("1", Code::Ok, true),
                ("denied", Code::Denied, false),
                ("slow", Code::Cancelled, true),
                ("4", Code::CancelledBeforeStart, false),
                ("5", Code::UnknownTool, false),
            ]
        );
        assert!(settled[2].result().text().contains("Its effects may have happened"));
        assert_eq!(settled[3].result().text(), "`ping` was cancelled before it began; nothing happened.");
    }
    let token = CancellationToken::new();
    token.cancel();
    let settled = harness.run_settled(batch(), Some(token)).await;
    assert_eq!(
        outline(&settled),
        [
            ("1", Code::CancelledBeforeStart, false),
            // Nobody was asked what he thinks of it.
            ("denied", Code::CancelledBeforeStart, false),
            ("slow", Code::CancelledBeforeStart, false),
            ("4", Code::CancelledBeforeStart, false),
            ("5", Code::UnknownTool, false),
        ]
    );
}

const NAP: Duration = Duration::from_millis(300);

/// Sleeps as a thread does.
#[tool]
fn nap() -> &'static str {
    std::thread::sleep(NAP);
    "awake"
}

#[tokio::test]
async fn b61_a_sync_body_stalls_nobody() {
    let harness = Harness::new(registry([NapTool::host()]), AllowAll);
    let longest = Arc::new(Mutex::new(Duration::ZERO));
    let gap = Arc::clone(&longest);
    let heart = tokio::spawn(async move {
        let mut last = Instant::now();
        loop {
            tokio::time::sleep(Duration::from_millis(10)).await;
            let mut gap = lock(&gap);
            *gap = (*gap).max(last.elapsed());
            last = Instant::now();
        }
    });
    let begun = Instant::now();
    let nap = || harness.run([ToolCall::new("c", "nap", "")]);
    let (one, other) = tokio::join!(nap(), nap());
    let took = begun.elapsed();
    heart.abort();
    assert_eq!(one[0].text(), "awake");
    assert_eq!(other[0].text(), "awake");
    assert!(took >= NAP && took < NAP * 2, "the two did not overlap: {took:?}");
    let longest = *lock(&longest);
    assert!(longest < NAP / 2, "the heart stood still for {longest:?}");
}

#[test]
fn b61_a_sync_body_without_a_runtime_is_a_result() {
    let harness = Harness::new(registry([NapTool::host()]), AllowAll);
    let mut running = pin!(harness.run_settled([ToolCall::new("c", "nap", "")], None));
    let polled = running.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    let Poll::Ready(settled) = polled else {
        panic!("nobody would ever wake it");
    };
    assert_eq!(settled[0].record().code(), Code::HostError);
    assert!(!settled[0].record().started());
    assert_eq!(
        settled[0].result().text(),
        "`nap` did not run: the host can't run tools now. This is not the call's fault."
    );
}
