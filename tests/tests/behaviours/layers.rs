//! Host code around execution: what it may do, and that it can do nothing else.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tool_runtime::path::Settled;
use tool_runtime::{
    AllowAll, Attempt, BoxFuture, CallContext, Code, DynamicTool, Harness, HostTool, Layer, Ran, Registry, ToolCall,
    tool,
};

use super::support::{Goes, Log, ends, lock, logged, millis};

/// How often it was asked.
#[derive(Clone, Default)]
struct Tries(Arc<AtomicUsize>);

/// Works the third time.
#[tool(host(idempotent))]
async fn flaky(
    /// What it gives back.
    word: String,
    #[host] tries: Tries,
) -> Result<String, String> {
    match tries.0.fetch_add(1, Ordering::SeqCst) {
        0 => panic!("the first time it breaks"),
        1 => Err("the second time it fails".to_owned()),
        _ => Ok(word),
    }
}

struct Retry(Log);

impl Layer for Retry {
    fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let mut ran = attempt.run().await;
            while ran.is_error() && attempt.tool().hints().idempotent {
                self.0.note(ran.code().as_str());
                ran = attempt.run().await;
            }
            ran
        })
    }
}

fn flaky_harness(layers: impl FnOnce(Harness) -> Harness) -> (Harness, Tries) {
    let tries = Tries::default();
    let registry = Registry::builder().tool(FlakyTool::host()).state(tries.clone()).build().expect("it is sound");
    (layers(Harness::new(registry, AllowAll)), tries)
}

const FLAKY: &str = r#"{"word":"hello"}"#;

#[tokio::test]
async fn d31_a_layer_sees_outcomes_and_never_an_unwinding() {
    let log = Log::default();
    let (harness, tries) = flaky_harness(|harness| harness.layer(Retry(log.clone())));
    let settled = harness.run_settled([ToolCall::new("1", "flaky", FLAKY)], None).await;
    assert_eq!(ends(&settled), [("1", Code::Ok, true)]);
    assert_eq!(settled[0].result().text(), "hello");
    assert_eq!(log.take(), ["panicked", "tool_error"]);
    assert_eq!(tries.0.load(Ordering::SeqCst), 3);
}

/// Keeps what succeeded, by tool, definition and arguments.
#[derive(Default)]
struct Cache(Mutex<BTreeMap<String, Ran>>);

impl Layer for Cache {
    fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let key = format!("{} {}", attempt.tool().name(), attempt.arguments().as_str());
            let kept = lock(&self.0).get(&key).cloned();
            match kept {
                Some(ran) => ran,
                None => {
                    let ran = attempt.run().await;
                    if !ran.is_error() {
                        lock(&self.0).insert(key, ran.clone());
                    }
                    ran
                }
            }
        })
    }
}

fn number(output: &str) -> HostTool {
    DynamicTool::builder("number", "Gives a number.")
        .output(output)
        .run(|_, _| async { Ok("7".to_owned()) })
        .expect("the tool is sound")
}

fn one_tool(tool: HostTool, cache: &Arc<Cache>) -> Harness {
    let registry = Registry::builder().tool(tool).build().expect("the tool is sound");
    Harness::new(registry, AllowAll).layer(Arc::clone(cache))
}

#[tokio::test]
async fn an_answer_from_elsewhere_is_checked_as_an_output_of_the_tool_is() {
    let cache = Arc::new(Cache::default());
    let call = || [ToolCall::new("1", "number", "")];
    let harness = one_tool(number(r#"{"type":"integer"}"#), &cache);
    assert_eq!(ends(&harness.run_settled(call(), None).await), [("1", Code::Ok, true)]);
    // The body did not run this time.
    assert_eq!(ends(&harness.run_settled(call(), None).await), [("1", Code::Ok, false)]);
    // The tool has changed meanwhile, and what was kept is none of its outputs any more.
    let harness = one_tool(number(r#"{"type":"string"}"#), &cache);
    assert_eq!(ends(&harness.run_settled(call(), None).await), [("1", Code::InvalidOutput, false)]);
}

struct Answers(&'static str);

impl Layer for Answers {
    fn around<'a>(&'a self, attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
        Box::pin(async move { attempt.answer(self.0) })
    }
}

#[tokio::test]
async fn a_layer_may_answer_in_the_tools_place() {
    for (json, code) in [("\"hi\"", Code::Ok), ("7", Code::InvalidOutput), ("not JSON", Code::InvalidOutput)] {
        let (harness, tries) = flaky_harness(|harness| harness.layer(Answers(json)));
        let settled = harness.run_settled([ToolCall::new("1", "flaky", FLAKY)], None).await;
        assert_eq!(ends(&settled), [("1", code, false)], "{json}");
        assert_eq!(tries.0.load(Ordering::SeqCst), 0);
    }
}

struct Panics;

impl Layer for Panics {
    fn around<'a>(&'a self, _: Attempt<'a>) -> BoxFuture<'a, Ran> {
        panic!("the layer breaks")
    }
}

struct Sleeps;

impl Layer for Sleeps {
    fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            millis(60_000).await;
            attempt.run().await
        })
    }
}

/// Waits until it is told to stop.
#[tool(host(timeout = "5s"))]
async fn waits(#[host] cx: &CallContext, #[host] log: &Log) -> String {
    log.note("began");
    cx.token().cancelled().await;
    log.note("told");
    "told".to_owned()
}

#[tokio::test]
async fn a_broken_layer_ends_its_own_call() {
    let (harness, _) = flaky_harness(|harness| harness.layer(Panics));
    let settled = harness.run_settled([ToolCall::new("1", "flaky", FLAKY)], None).await;
    assert_eq!(ends(&settled), [("1", Code::Panicked, false)]);
    assert!(!settled[0].result().text().contains("breaks"));
    // One that sleeps is held to the budget of the tool, and to the token.
    let (registry, log) = logged([WaitsTool::host().with_timeout(Duration::from_millis(30))]);
    let harness = Harness::new(registry, AllowAll).layer(Sleeps);
    let settled = harness.run_settled([ToolCall::new("1", "waits", "")], None).await;
    assert_eq!(ends(&settled), [("1", Code::Timeout, false)]);
    let token = CancellationToken::new();
    let cancel = token.clone();
    tokio::spawn(async move {
        millis(10).await;
        cancel.cancel();
    });
    let registry = logged([WaitsTool::host()]).0;
    let harness = Harness::new(registry, AllowAll).layer(Sleeps);
    let settled = harness.run_settled([ToolCall::new("1", "waits", "")], Some(token)).await;
    assert_eq!(ends(&settled), [("1", Code::CancelledBeforeStart, false)]);
    assert!(log.take().is_empty());
}

/// Runs what is inside under a token of its own, which it keeps.
#[derive(Clone, Default)]
struct OwnToken(CancellationToken);

impl Layer for OwnToken {
    fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
        Box::pin(async move { attempt.run_under(&self.0).await })
    }
}

#[tokio::test]
async fn d41_d42_a_layers_token_is_fused_with_the_callers() {
    for by_caller in [true, false] {
        let (registry, log) = logged([WaitsTool::host()]);
        let own = OwnToken::default();
        let harness = Harness::new(registry, AllowAll).layer(own.clone());
        let caller = CancellationToken::new();
        let cancel = if by_caller { caller.clone() } else { own.0.clone() };
        tokio::spawn(async move {
            millis(10).await;
            cancel.cancel();
        });
        let settled = harness.run_settled([ToolCall::new("1", "waits", "")], Some(caller.clone())).await;
        assert_eq!(ends(&settled), [("1", Code::Cancelled, true)]);
        assert_eq!(log.take(), ["began", "told"]);
        assert_eq!((caller.is_cancelled(), own.0.is_cancelled()), (by_caller, !by_caller));
    }
}

#[tokio::test]
async fn layers_nest_in_the_order_in_which_they_were_put() {
    struct Says(&'static str, Log);
    impl Layer for Says {
        fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
            Box::pin(async move {
                self.1.note(format!("{} in", self.0));
                let ran = attempt.run().await;
                self.1.note(format!("{} out", self.0));
                ran
            })
        }
    }
    let log = Log::default();
    let (harness, _) = flaky_harness(|harness| {
        harness.layer(Says("outer", log.clone())).layer(Says("inner", log.clone())).layer(Retry(Log::default()))
    });
    let results = harness.run([ToolCall::new("1", "flaky", FLAKY)]).await;
    assert_eq!(results[0].text(), "hello");
    assert_eq!(log.take(), ["outer in", "inner in", "inner out", "outer out"]);
}

#[tokio::test]
async fn spans_without_an_end_are_no_bounds() {
    let (registry, log) = logged([WaitsTool::host().with_timeout(Duration::MAX)]);
    let token = CancellationToken::new();
    let cancel = token.clone();
    tokio::spawn(async move {
        millis(10).await;
        cancel.cancel();
    });
    let harness = Harness::new(registry, AllowAll).grace(Duration::MAX).layer(Retry(Log::default()));
    let settled = harness.run_settled([ToolCall::new("1", "waits", "")], Some(token)).await;
    assert_eq!(ends(&settled), [("1", Code::Cancelled, true)]);
    assert_eq!(log.take(), ["began", "told"]);
}

/// Runs what is inside for a moment, or until a blocking body has begun, gives it up, and then does something else.
struct GivesUp(Then, Option<Arc<Thread>>);

#[derive(Clone, Copy)]
enum Then {
    Answers,
    Sleeps,
    Panics,
}

impl Layer for GivesUp {
    fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let enough = async {
                match &self.1 {
                    Some(thread) => thread.begins().await,
                    None => millis(5).await,
                }
            };
            tokio::select! {
                _ = attempt.run() => panic!("the body ended by itself"),
                () = enough => {}
            }
            match self.0 {
                Then::Answers => {}
                Then::Sleeps => millis(60_000).await,
                Then::Panics => panic!("the layer breaks"),
            }
            attempt.answer("\"in its place\"")
        })
    }
}

#[tokio::test]
async fn a_body_that_a_layer_gave_up_had_begun() {
    let (registry, log) = logged([WaitsTool::host()]);
    let harness = Harness::new(registry, AllowAll).layer(GivesUp(Then::Answers, None));
    let settled = harness.run_settled([ToolCall::new("1", "waits", "")], None).await;
    assert_eq!(ends(&settled), [("1", Code::Ok, true)]);
    assert_eq!(log.take(), ["began"]);
    // Cancelled after that, its effects may have happened.
    let (registry, log) = logged([WaitsTool::host()]);
    let harness = Harness::new(registry, AllowAll).layer(GivesUp(Then::Sleeps, None));
    let token = CancellationToken::new();
    let cancel = token.clone();
    tokio::spawn(async move {
        millis(50).await;
        cancel.cancel();
    });
    let settled = harness.run_settled([ToolCall::new("1", "waits", "")], Some(token)).await;
    assert_eq!(ends(&settled), [("1", Code::Cancelled, true)]);
    assert!(settled[0].result().text().contains("may have happened"), "{}", settled[0].result().text());
    assert_eq!(log.take(), ["began"]);
    // As are those of one that used its time up.
    let (registry, _) = logged([WaitsTool::host().with_timeout(Duration::from_millis(30))]);
    let harness = Harness::new(registry, AllowAll).layer(GivesUp(Then::Sleeps, None));
    let settled = harness.run_settled([ToolCall::new("1", "waits", "")], None).await;
    assert_eq!(ends(&settled), [("1", Code::Timeout, true)]);
}

/// Blocks its thread until it is told to go.
#[tool]
fn stuck(#[host] thread: Arc<Thread>) -> String {
    thread.begun.store(true, Ordering::SeqCst);
    while !thread.goes.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(1));
    }
    "went".to_owned()
}

/// The thread of a body that blocks it.
#[derive(Default)]
struct Thread {
    begun: AtomicBool,
    goes: Arc<AtomicBool>,
}

impl Thread {
    /// Waits until a body has begun that nobody has waited for yet.
    async fn begins(&self) {
        while !self.begun.swap(false, Ordering::SeqCst) {
            millis(1).await;
        }
    }
}

#[tokio::test]
async fn a_blocking_body_that_was_given_up_is_said_to_run_whoever_gave_it_up() {
    let thread = Arc::new(Thread::default());
    let go = Goes(Arc::clone(&thread.goes));
    let harness = |timeout: Option<u64>| {
        let tool = timeout.map(Duration::from_millis).into_iter().fold(StuckTool::host(), HostTool::with_timeout);
        let registry = Registry::builder().tool(tool).state(Arc::clone(&thread)).build();
        Harness::new(registry.expect("the tool is sound"), AllowAll)
    };
    let call = || [ToolCall::new("1", "stuck", "")];
    let cancelled = || {
        let token = CancellationToken::new();
        let (cancel, thread) = (token.clone(), Arc::clone(&thread));
        tokio::spawn(async move {
            thread.begins().await;
            cancel.cancel();
        });
        token
    };
    // The host cancels a call once a layer has given its body up.
    let cancelled_later = || {
        let token = CancellationToken::new();
        let cancel = token.clone();
        tokio::spawn(async move {
            millis(200).await;
            cancel.cancel();
        });
        token
    };
    let gives_up = |then: Then| GivesUp(then, Some(Arc::clone(&thread)));
    let mut texts = Vec::new();
    let mut said = |code: Code, settled: Vec<Settled>| {
        assert_eq!(ends(&settled), [("1", code, true)]);
        texts.push(settled[0].result().text());
    };
    // By the host, and by a layer that goes on without it until its time is over, the turn is cancelled, or it breaks.
    said(Code::Cancelled, harness(None).run_settled(call(), Some(cancelled())).await);
    said(Code::Timeout, harness(Some(300)).layer(gives_up(Then::Sleeps)).run_settled(call(), None).await);
    said(
        Code::Cancelled,
        harness(None).layer(gives_up(Then::Sleeps)).run_settled(call(), Some(cancelled_later())).await,
    );
    said(Code::Panicked, harness(None).layer(gives_up(Then::Panics)).run_settled(call(), None).await);
    // By whoever drops the turn.
    let dropping = harness(None);
    let mut turn = dropping.turn(call());
    tokio::select! {
        () = turn.run() => panic!("the body ended by itself"),
        () = thread.begins() => {}
    }
    said(Code::Cancelled, turn.settled());
    for text in &texts {
        assert!(text.contains("It may still be running. Its effects may have happened"), "{text}");
    }
    drop(go);
    // What ended in time isn't said to run.
    let settled = harness(None).run_settled(call(), None).await;
    assert_eq!((ends(&settled), settled[0].result().text()), (vec![("1", Code::Ok, true)], "went".to_owned()));
}

/// Tries twice, whatever comes of it.
struct Twice;

impl Layer for Twice {
    fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let ran = attempt.run().await;
            if ran.is_error() { attempt.run().await } else { ran }
        })
    }
}

/// Has the turn stopped, and fails.
#[tool(host(concurrency_safe))]
async fn stops_all(#[host] turn: CancellationToken) -> Result<u8, &'static str> {
    turn.cancel();
    Err("it failed")
}

/// Blocks its thread for a while.
#[tool(host(timeout = "20ms"))]
fn blocks() -> u8 {
    std::thread::sleep(Duration::from_millis(300));
    1
}

#[tokio::test]
async fn what_has_begun_once_never_ends_as_if_it_had_not() {
    let token = CancellationToken::new();
    let registry = Registry::builder().tools([StopsAllTool::host(), BlocksTool::host()]).state(token.clone()).build();
    let harness = Harness::new(registry.expect("the tools are sound"), AllowAll).layer(Twice).max_abandoned(1);
    let settled = harness.run_settled([ToolCall::new("1", "stops_all", "")], Some(token)).await;
    assert_eq!(ends(&settled), [("1", Code::Cancelled, true)]);
    assert!(settled[0].result().text().contains("may have happened"), "{}", settled[0].result().text());
    let settled = harness.run_settled([ToolCall::new("2", "blocks", "")], None).await;
    assert_eq!(ends(&settled), [("2", Code::Busy, true)]);
    assert!(settled[0].result().text().contains("may have happened"), "{}", settled[0].result().text());
}

/// Gives the body up, has the call cancelled, and sleeps.
struct Cancels(CancellationToken);

impl Layer for Cancels {
    fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let _ = tokio::time::timeout(Duration::from_millis(5), attempt.run()).await;
            self.0.cancel();
            millis(60_000).await;
            attempt.run().await
        })
    }
}

#[tokio::test]
async fn d44_the_first_cause_wins_over_a_layer_that_sleeps_too() {
    // The budget is used up as well before the layer is given up.
    let (registry, _) = logged([WaitsTool::host().with_timeout(Duration::from_millis(250))]);
    let token = CancellationToken::new();
    let harness = Harness::new(registry, AllowAll).layer(Cancels(token.clone())).grace(Duration::from_millis(400));
    let settled = harness.run_settled([ToolCall::new("1", "waits", "")], Some(token)).await;
    assert_eq!(ends(&settled), [("1", Code::Cancelled, true)]);
}
