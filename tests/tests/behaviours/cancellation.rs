//! How a call that is stopped ends: before it began or after, by whom, and what is left running.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tool_runtime::{
    AllowAll, Answer, CallContext, CallFacts, Code, Decision, Final, Harness, MemoryLedger, QuestionSet, ToolCall, tool,
};

use super::support::{Goes, Log, ends, lines, logged, millis};

/// Notes when it is dropped.
struct Dropped(Log);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.note("dropped");
    }
}

/// Never ends.
#[tool(host(concurrency_safe, finalize = note_final))]
async fn forever(#[host] log: Log) -> u8 {
    log.note("began");
    let _dropped = Dropped(log);
    std::future::pending().await
}

fn note_final(_: Option<&ForeverArgs>, last: &Final<'_>) -> Option<tool_runtime::Content> {
    Some(format!("{} (final)", last.content.to_text()).into())
}

/// Stops when it is told to, and then does what it was asked for.
#[tool(host(timeout = "80ms"))]
async fn stops(
    /// `value`, `error`, or `ignore`.
    how: String,
    /// How long it cleans up, in milliseconds.
    clean_up: u64,
    #[host] cx: &CallContext,
    #[host] log: &Log,
) -> Result<String, String> {
    log.note("began");
    cx.token().cancelled().await;
    millis(clean_up).await;
    log.note("cleaned up");
    match how.as_str() {
        "value" => Ok("a value".to_owned()),
        "error" => Err("its own error".to_owned()),
        _ => std::future::pending().await,
    }
}

fn stops_call(how: &str, clean_up: u64) -> ToolCall {
    ToolCall::new("1", "stops", format!(r#"{{"how":"{how}","clean_up":{clean_up}}}"#))
}

fn cancel_after(span: u64) -> CancellationToken {
    let token = CancellationToken::new();
    let cancel = token.clone();
    tokio::spawn(async move {
        millis(span).await;
        cancel.cancel();
    });
    token
}

#[tokio::test]
async fn d35_cancelled_before_it_is_judged() {
    let (registry, log) = logged([ForeverTool::host()]);
    let (policy_log, approver_log, review_log) = (log.clone(), log.clone(), log.clone());
    let harness = Harness::new(registry, move |_: &CallFacts<'_>| {
        policy_log.note("policy");
        Decision::ask("so")
    })
    .approver(move |_: QuestionSet| -> tool_runtime::BoxFuture<'static, Vec<Answer>> {
        approver_log.note("approver");
        Box::pin(async { vec![Answer::Yes] })
    })
    .review(move |_: &tool_runtime::StoredResult| {
        review_log.note("review");
        tool_runtime::path::Reviewed::Accept
    });
    let token = CancellationToken::new();
    token.cancel();
    let settled = harness.run_settled([ToolCall::new("1", "forever", "")], Some(token)).await;
    assert_eq!(ends(&settled), [("1", Code::CancelledBeforeStart, false)]);
    assert_eq!(log.take(), [""; 0]);
    // Finalised once, and the record has what was accepted.
    assert_eq!(settled[0].result().text(), "`forever` was cancelled before it began; nothing happened. (final)");
    assert_eq!(settled[0].record().verdict().map(|verdict| verdict.arguments()), Some("{}"));
}

#[tokio::test]
async fn d36_cancelled_while_the_gate_thinks() {
    for (decision, code) in [
        (Some(Decision::Allow), Code::CancelledBeforeStart),
        (Some(Decision::ask("so")), Code::CancelledBeforeStart),
        // The more specific word wins.
        (Some(Decision::deny("no")), Code::Denied),
        (None, Code::Denied),
    ] {
        let (registry, log) = logged([ForeverTool::host()]);
        let token = CancellationToken::new();
        let cancel = token.clone();
        let harness = Harness::new(registry, move |_: &CallFacts<'_>| {
            cancel.cancel();
            decision.clone().expect("this policy breaks")
        });
        let settled = harness.run_settled([ToolCall::new("1", "forever", "")], Some(token)).await;
        assert_eq!(ends(&settled), [("1", code, false)]);
        assert_eq!(log.take(), [""; 0]);
    }
}

#[tokio::test]
async fn d37_d70_cancelled_while_a_person_is_asked() {
    let (registry, log) = logged([ForeverTool::host()]);
    let late = log.clone();
    let harness = Harness::new(registry, |_: &CallFacts<'_>| Decision::ask("so")).approver(
        move |_: QuestionSet| -> tool_runtime::BoxFuture<'static, Vec<Answer>> {
            let late = late.clone();
            Box::pin(async move {
                millis(200).await;
                late.note("answered");
                vec![Answer::Yes]
            })
        },
    );
    let settled = harness.run_settled([ToolCall::new("1", "forever", "")], Some(cancel_after(10))).await;
    assert_eq!(ends(&settled), [("1", Code::CancelledBeforeStart, false)]);
    assert_eq!(log.take(), [""; 0]);
}

#[tokio::test]
async fn d38_d39_cancelled_while_the_body_runs() {
    let (registry, _) = logged([StopsTool::host()]);
    let harness = Harness::new(registry, AllowAll);
    let cancelled = harness.run_settled([stops_call("value", 0)], Some(cancel_after(10))).await;
    assert_eq!(ends(&cancelled), [("1", Code::Cancelled, true)]);
    assert_eq!(cancelled[0].value(), None);
    let text = cancelled[0].result().text();
    assert!(text.contains("its effects may have happened") || text.contains("Its effects may have happened"), "{text}");
    assert!(!text.contains("a value"), "{text}");
    let failed = harness.run_settled([stops_call("error", 0)], Some(cancel_after(10))).await;
    assert_eq!(ends(&failed), [("1", Code::ToolError, true)]);
}

#[tokio::test]
async fn d43_the_deadline_wins_over_the_words_of_the_body() {
    let (registry, _) = logged([StopsTool::host()]);
    let harness = Harness::new(registry, AllowAll);
    for how in ["value", "error", "ignore"] {
        let settled = harness.run_settled([stops_call(how, 0)], None).await;
        assert_eq!(ends(&settled), [("1", Code::Timeout, true)], "{how}");
        let text = settled[0].result().text();
        assert!(text.contains("80 ms") && !text.contains("its own error") && !text.contains("a value"), "{text}");
    }
}

/// Says how much time it has.
#[tool(host(timeout = "200ms"))]
async fn quick(#[host] cx: &CallContext) -> bool {
    cx.deadline().is_some()
}

/// Is without a bound, and waits for its token.
#[tool]
async fn unbounded(#[host] cx: &CallContext) -> u8 {
    assert!(cx.deadline().is_none(), "nobody gave it a budget");
    cx.token().cancelled().await;
    1
}

#[tokio::test]
async fn d43_a_fast_body_keeps_its_result_and_one_without_a_budget_has_no_deadline() {
    let (registry, _) = logged([QuickTool::host(), UnboundedTool::host()]);
    let harness = Harness::new(registry, AllowAll);
    assert_eq!(harness.run([ToolCall::new("1", "quick", "")]).await[0].text(), "true");
    // Long after the other's budget it still waits; only the caller ends it.
    let began = std::time::Instant::now();
    let settled = harness.run_settled([ToolCall::new("1", "unbounded", "")], Some(cancel_after(300))).await;
    assert_eq!(ends(&settled), [("1", Code::Cancelled, true)]);
    assert!(began.elapsed() >= Duration::from_millis(300));
}

#[tokio::test]
async fn d44_the_first_cause_wins() {
    let (registry, log) = logged([StopsTool::host()]);
    let harness = Harness::new(registry, AllowAll).grace(Duration::from_millis(300));
    // The deadline at 80 ms; the caller while the body cleans up.
    let settled = harness.run_settled([stops_call("value", 100)], Some(cancel_after(120))).await;
    assert_eq!(ends(&settled), [("1", Code::Timeout, true)]);
    // The caller at 20 ms; the deadline while the body cleans up.
    let settled = harness.run_settled([stops_call("value", 100)], Some(cancel_after(20))).await;
    assert_eq!(ends(&settled), [("1", Code::Cancelled, true)]);
    assert_eq!(log.take(), ["began", "cleaned up", "began", "cleaned up"]);
}

#[tokio::test]
async fn the_grace_is_bounded_and_only_for_those_who_watch() {
    let (registry, log) = logged([StopsTool::host(), ForeverTool::host()]);
    let harness = Harness::new(registry, AllowAll).grace(Duration::from_millis(30));
    let began = std::time::Instant::now();
    harness.run_settled([stops_call("value", 10_000)], Some(cancel_after(5))).await;
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(log.take(), ["began"]);
    harness.run_settled([ToolCall::new("1", "forever", "")], Some(cancel_after(5))).await;
    assert_eq!(log.take(), ["began", "dropped"]);
}

#[tokio::test]
async fn d45_the_clock_runs_for_the_body_only() {
    let (registry, _) = logged([StopsTool::host()]);
    let harness = Harness::new(registry, |_: &CallFacts<'_>| Decision::ask("so")).approver(
        |_: QuestionSet| -> tool_runtime::BoxFuture<'static, Vec<Answer>> {
            Box::pin(async {
                millis(150).await;
                vec![Answer::Yes]
            })
        },
    );
    let settled = harness.run_settled([stops_call("error", 0)], Some(cancel_after(180))).await;
    assert_eq!(ends(&settled), [("1", Code::ToolError, true)]);
}

#[tokio::test]
async fn b56_nothing_runs_on_once_the_turn_is_over() {
    let (registry, log) = logged([ForeverTool::host(), StopsTool::host()]);
    let harness = Harness::new(registry, AllowAll);
    let forever = |id: &str| ToolCall::new(id, "forever", "");
    let settled = harness.run_settled([forever("1"), forever("2")], Some(cancel_after(10))).await;
    assert_eq!(ends(&settled), [("1", Code::Cancelled, true), ("2", Code::Cancelled, true)]);
    assert_eq!(log.take(), ["began", "began", "dropped", "dropped"]);
}

#[tokio::test]
async fn inv03_a_dropped_turn_has_one_result_a_call() {
    let (registry, log) = logged([ForeverTool::host(), StopsTool::host()]);
    let ledger = Arc::new(MemoryLedger::default());
    let harness = Harness::new(registry, AllowAll).ledger(Arc::clone(&ledger));
    let calls = || {
        [
            ToolCall::new("bad", "forever", "[]"),
            ToolCall::new("runs", "forever", ""),
            ToolCall::new("waits", "stops", r#"{"how":"value","clean_up":0}"#),
            ToolCall::new("unknown", "nobody", ""),
        ]
    };
    let mut turn = harness.turn(calls());
    tokio::select! {
        () = turn.run() => panic!("it never ends"),
        () = millis(20) => {}
    }
    assert_eq!(log.take(), ["began", "dropped"]);
    let settled = turn.settled();
    let expected = [
        ("bad", Code::InvalidArguments, false),
        ("runs", Code::Cancelled, true),
        ("waits", Code::CancelledBeforeStart, false),
        ("unknown", Code::UnknownTool, false),
    ];
    assert_eq!(ends(&settled), expected);
    assert!(settled[1].result().text().ends_with("(final)"));
    let mut recorded: Vec<String> = lines(&ledger);
    recorded.sort();
    let mut wanted: Vec<String> = expected.iter().map(|(id, code, _)| format!("end {id} {code}")).collect();
    wanted.push("verdict runs".to_owned());
    wanted.sort();
    assert_eq!(recorded, wanted);
    // Asked again it says the same, and a turn that never ran has results too.
    assert_eq!(turn.results().len(), 4);
    assert_eq!(harness.turn(calls()).results().len(), 4);
}

#[tokio::test]
async fn a_turn_is_cancelled_by_each_of_the_tokens_that_it_was_given() {
    for by in 0..4 {
        let (registry, log) = logged([ForeverTool::host()]);
        let harness = Harness::new(registry, AllowAll);
        let tokens = [CancellationToken::new(), CancellationToken::new(), CancellationToken::new()];
        let turn = harness.turn([ToolCall::new("1", "forever", "")]);
        // Taken before the others were added, it is the turn's all the same.
        let own = turn.token();
        let mut turn = tokens.iter().fold(turn, |turn, token| turn.cancelled_by(token));
        let cancelled = tokens.get(by).unwrap_or(&own).clone();
        {
            let mut running = pin!(turn.run());
            let mut task = Context::from_waker(Waker::noop());
            assert_eq!(running.as_mut().poll(&mut task), Poll::Pending, "{by}");
            cancelled.cancel();
            // At once, and not when somebody comes to look.
            assert!(own.is_cancelled(), "{by}");
            running.await;
        }
        assert_eq!(ends(&turn.settled()), [("1", Code::Cancelled, true)], "{by}");
        assert_eq!(log.take(), ["began", "dropped"]);
        // The others are their owners'.
        assert_eq!(tokens.iter().filter(|token| token.is_cancelled()).count(), usize::from(by < 3));
        // One that was cancelled before keeps all from beginning.
        let mut late = harness.turn([ToolCall::new("1", "forever", "")]).cancelled_by(&CancellationToken::new());
        late = late.cancelled_by(&cancelled).cancelled_by(&CancellationToken::new());
        late.run().await;
        assert_eq!(ends(&late.settled()), [("1", Code::CancelledBeforeStart, false)], "{by}");
        assert_eq!(log.take(), [""; 0]);
    }
}

#[tokio::test]
async fn a_turn_dropped_at_any_await_has_one_result_a_call() {
    let (registry, log) = logged([StopsTool::host(), YieldsTool::host()]);
    let harness = Harness::new(registry, AllowAll);
    let calls = || (0..4).map(|id| ToolCall::new(format!("{id}"), "yields", ""));
    let mut polls = 0;
    loop {
        let mut turn = harness.turn(calls());
        let ended = {
            let mut running = pin!(turn.run());
            let mut task = Context::from_waker(Waker::noop());
            (0..polls).any(|_| running.as_mut().poll(&mut task) == Poll::Ready(()))
        };
        let ids: Vec<String> = turn.results().iter().map(|result| result.call_id().to_string()).collect();
        assert_eq!(ids, ["0", "1", "2", "3"]);
        assert_eq!(RUNNING.load(Ordering::SeqCst), 0);
        if ended {
            break;
        }
        polls += 1;
    }
    assert!(polls > 3, "{polls}");
    assert!(log.take().is_empty());
}

static RUNNING: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// Yields a few times.
#[tool(host(concurrency_safe))]
async fn yields() -> u8 {
    struct Running;
    impl Drop for Running {
        fn drop(&mut self) {
            RUNNING.fetch_sub(1, Ordering::SeqCst);
        }
    }
    RUNNING.fetch_add(1, Ordering::SeqCst);
    let _running = Running;
    for _ in 0..3 {
        tokio::task::yield_now().await;
    }
    1
}

/// Blocks its thread until the flag is up.
#[tool(host(timeout = "200ms", writes(what)))]
fn stubborn(
    /// What it holds.
    what: String,
    #[host] flag: Arc<AtomicBool>,
) -> String {
    while !flag.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(2));
    }
    what
}

/// Says who holds it.
#[tool(host(timeout = "60ms", reads(what)))]
async fn holder(
    /// What is held.
    what: String,
) -> String {
    what
}

#[tokio::test]
async fn b55_a_blocking_body_that_was_given_up_is_said_to_run_and_bars_what_it_touches() {
    let flag = Arc::new(AtomicBool::new(false));
    let go = Goes(Arc::clone(&flag));
    let ledger = Arc::new(MemoryLedger::default());
    let registry = tool_runtime::Registry::builder()
        .tools([StubbornTool::host(), HolderTool::host()])
        .state(Arc::clone(&flag))
        .build()
        .expect("the tools are sound");
    let harness = Harness::new(registry, AllowAll).ledger(Arc::clone(&ledger)).max_abandoned(1);
    let stubborn = |id: &str| ToolCall::new(id, "stubborn", format!(r#"{{"what":"{id}"}}"#));
    let began = std::time::Instant::now();
    let settled = harness.run_settled([stubborn("a")], None).await;
    assert!(began.elapsed() < Duration::from_secs(2));
    assert_eq!(ends(&settled), [("a", Code::Timeout, true)]);
    assert!(settled[0].result().text().contains("may still be running"), "{}", settled[0].result().text());
    // There is room for no second one; what touches the same waits, what doesn't runs.
    let holder = |id: &str, what: &str| ToolCall::new(id, "holder", format!(r#"{{"what":"{what}"}}"#));
    let settled = harness.run_settled([stubborn("b"), holder("c", "a"), holder("d", "other")], None).await;
    assert_eq!(ends(&settled), [("b", Code::Busy, false), ("c", Code::Busy, false), ("d", Code::Ok, true)]);
    drop(go);
    let settled = harness.run_settled([holder("e", "a")], None).await;
    assert_eq!(ends(&settled), [("e", Code::Ok, true)]);
    millis(20).await;
    let late: Vec<String> = lines(&ledger).into_iter().filter(|line| line.starts_with("late")).collect();
    assert_eq!(late, ["late a"]);
    let settled = harness.run_settled([stubborn("f")], None).await;
    assert_eq!(ends(&settled), [("f", Code::Ok, true)]);
}

/// Notes that it runs, on a thread of its own.
#[tool]
fn noted(#[host] log: &Log) -> u8 {
    log.note("ran");
    1
}

#[test]
fn b56_a_body_that_waits_for_a_thread_does_not_begin_after_its_call_has_ended() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build();
    let runtime = runtime.expect("a runtime");
    for budget in [None, Some(Duration::from_millis(20))] {
        let tool = NotedTool::host();
        let (registry, log) = logged([match budget {
            Some(budget) => tool.with_timeout(budget),
            None => tool,
        }]);
        let ledger = Arc::new(MemoryLedger::default());
        let harness = Harness::new(registry, AllowAll).ledger(Arc::clone(&ledger)).max_abandoned(1);
        let (free, wait) = std::sync::mpsc::channel::<()>();
        let settled = runtime.block_on(async {
            // The only thread there is.
            let busy = tokio::task::spawn_blocking(move || wait.recv());
            let token = budget.is_none().then(|| cancel_after(20));
            let settled = harness.run_settled([ToolCall::new("1", "noted", "")], token).await;
            drop(free);
            assert!(busy.await.is_ok());
            // Whatever stood behind it has had its turn.
            assert!(tokio::task::spawn_blocking(|| ()).await.is_ok());
            settled
        });
        assert_eq!(log.take(), [""; 0], "{budget:?}");
        let code = if budget.is_none() { Code::CancelledBeforeStart } else { Code::Busy };
        assert_eq!(ends(&settled), [("1", code, false)]);
        assert!(!lines(&ledger).iter().any(|line| line.starts_with("late")), "{:?}", lines(&ledger));
        let settled = runtime.block_on(harness.run_settled([ToolCall::new("2", "noted", "")], None));
        assert_eq!(ends(&settled), [("2", Code::Ok, true)], "it counts as abandoned");
    }
}
