//! Calls that tools make: they take the whole path, and nothing of them outlasts the call that made them.

use std::sync::{Arc, Mutex};
use std::task::Poll;

use tokio_util::sync::CancellationToken;
use tool_runtime::{
    AllowAll, BoxFuture, CallContext, CallFacts, Code, Decision, Entry, Harness, Ledger, LedgerError, MemoryLedger,
    Registry, ToolCall, tool,
};

use super::support::{Log, ends, lines, lock, millis};

/// Says a word.
#[tool(host(concurrency_safe))]
async fn say(
    /// Which.
    word: String,
    /// How long it takes, in milliseconds.
    #[arg(default)]
    span: u64,
    #[host] log: &Log,
) -> Result<String, String> {
    log.note(format!("+{word}"));
    millis(span).await;
    log.note(format!("-{word}"));
    if word == "fail" { Err("it failed".to_owned()) } else { Ok(word) }
}

/// Says a word, alone.
#[tool]
async fn alone(
    /// Which.
    word: String,
    #[host] log: &Log,
) -> String {
    log.note(format!("+{word}"));
    millis(5).await;
    log.note(format!("-{word}"));
    word
}

fn word(word: &str, span: u64) -> String {
    format!(r#"{{"word":"{word}","span":{span}}}"#)
}

/// Makes calls of its own.
#[tool]
async fn composite(
    /// Which calls: `two`, `caught`, `itself`, `many`, `left`, or `forever`.
    what: String,
    #[host] cx: &CallContext,
    #[host] log: &Log,
) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    cx.progress("it begins", 0.5);
    match what.as_str() {
        "two" => {
            let first = cx.call("say", word("a", 0)).await?;
            let second = cx.call("say", word("b", 0)).await?;
            Ok(first + &second)
        }
        "caught" => {
            let denied = cx.call("say", word("denied", 0)).await.expect_err("it is denied");
            let failed = cx.call("say", word("fail", 0)).await.expect_err("it fails");
            let invalid = cx.call("say", "{}").await.expect_err("it is refused");
            Ok(format!("{}|{}|{}: {denied}|{failed}|{invalid}", denied.tool(), failed.tool(), invalid.tool()))
        }
        "itself" => Ok(cx.call("composite", r#"{"what":"two"}"#).await?),
        "many" => {
            let calls = [cx.call("say", word("1", 120)), cx.call("say", word("2", 5))];
            let barrier = cx.call("alone", r#"{"word":"3"}"#);
            let last = cx.call("say", word("4", 0));
            let [first, second] = calls;
            let (first, second, third, fourth) = tokio::join!(first, second, barrier, last);
            Ok([first?, second?, third?, fourth?].concat())
        }
        "left" => {
            let running = cx.call("say", word("left", 60_000));
            let queued = cx.call("alone", r#"{"word":"never"}"#);
            let running = tokio::spawn(running);
            let queued = tokio::spawn(queued);
            millis(10).await;
            drop((running, queued));
            let cx = cx.clone();
            let log = log.clone();
            tokio::spawn(async move {
                millis(100).await;
                let late = cx.call("say", word("late", 0)).await;
                log.note(format!("late: {}", late.is_err()));
            });
            Ok("done".to_owned())
        }
        _ => Ok(cx.call("say", word("forever", 600_000)).await?),
    }
}

fn harness(ledger: &Arc<MemoryLedger>) -> (Harness, Log) {
    let log = Log::default();
    let tools = [SayTool::host(), AloneTool::host(), CompositeTool::host()];
    let registry = Registry::builder().tools(tools).state(log.clone()).build().expect("the tools are sound");
    let policy = |call: &CallFacts<'_>| match call.arguments().get("/word") {
        Some("\"denied\"") => Decision::deny("not that word"),
        _ => Decision::Allow,
    };
    (Harness::new(registry, policy).ledger(Arc::clone(ledger)), log)
}

fn call(what: &str) -> [ToolCall; 1] {
    [ToolCall::new("c", "composite", format!(r#"{{"what":"{what}"}}"#))]
}

#[tokio::test]
async fn d52_a_sub_call_is_a_call() {
    let ledger = Arc::new(MemoryLedger::default());
    let (harness, _) = harness(&ledger);
    assert_eq!(harness.run(call("two")).await[0].text(), "\"a\"\"b\"");
    let expected = ["verdict c", "verdict c/1", "end c/1 ok", "verdict c/2", "end c/2 ok", "end c ok"];
    assert_eq!(lines(&ledger), expected);
    for entry in ledger.entries() {
        if let Entry::End(record) = entry {
            let parent = (record.call_id().as_str() != "c").then_some("c");
            assert_eq!(record.parent().map(|parent| parent.as_str()), parent);
        }
    }
}

/// Keeps no verdict of a call that a tool makes.
struct OuterOnly(Arc<MemoryLedger>);

impl Ledger for OuterOnly {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        match &entry {
            Entry::Verdict(verdict) if verdict.call_id().as_str() != "c" => {
                Box::pin(async { Err(LedgerError::new("the disk is full")) })
            }
            _ => self.0.append(entry),
        }
    }
}

/// No call rides on another's verdict.
#[tokio::test]
async fn d63_a_tools_own_call_is_on_disk_before_its_body_too() {
    let ledger = Arc::new(MemoryLedger::default());
    let (harness, log) = harness(&ledger);
    let settled = harness.ledger(OuterOnly(Arc::clone(&ledger))).run_settled(call("two"), None).await;
    assert_eq!(ends(&settled), [("c", Code::ToolError, true)]);
    assert_eq!(log.take(), [""; 0]);
    assert_eq!(lines(&ledger), ["verdict c", "end c/1 not_recorded", "end c tool_error"]);
}

#[tokio::test]
async fn d53_its_failure_is_its_callers_to_handle() {
    let ledger = Arc::new(MemoryLedger::default());
    let (harness, _) = harness(&ledger);
    let settled = harness.run_settled(call("caught"), None).await;
    let text = settled[0].result().text();
    assert_eq!(settled[0].record().code(), Code::Ok, "{text}");
    assert!(text.starts_with("say|say|say: A rule forbids"), "{text}");
    assert!(text.contains("not that word") && text.contains("|it failed|") && text.contains("`word`: "), "{text}");
    assert!(!text.contains("tool_error") && !text.contains("invalid_arguments"), "{text}");
}

#[tokio::test]
async fn d54_no_way_round_the_scope_and_none_back_to_itself() {
    let ledger = Arc::new(MemoryLedger::default());
    let (harness, _) = harness(&ledger);
    let text = harness.run(call("itself")).await[0].text();
    assert_eq!(text, "`composite` is running already and can't call itself.");
}

/// Asks for whatever it is told, and says what came of it.
#[tool]
async fn asks(
    /// Which tool.
    tool: String,
    #[host] cx: &CallContext,
) -> Result<String, tool_runtime::SubCallError> {
    cx.call(tool, r#"{"word":"x"}"#).await
}

/// Has to be searched for.
#[tool(defer)]
async fn rare(
    /// Any.
    word: String,
    #[host] log: &Log,
) -> String {
    log.note("+rare");
    word
}

#[tokio::test]
async fn d54_what_is_hidden_from_the_caller_is_hidden_from_its_calls() {
    let log = Log::default();
    let tools = [SayTool::host(), AsksTool::host(), RareTool::host()];
    let all = Registry::builder().tools(tools).state(log.clone()).build().expect("the tools are sound");
    let text = async |registry: Registry, tool: &str| {
        let call = ToolCall::new("1", "asks", format!(r#"{{"tool":"{tool}"}}"#));
        let results = Harness::new(registry, AllowAll).run([call]).await;
        (results[0].is_error(), results[0].text())
    };
    assert_eq!(text(all.clone(), "say").await, (false, "\"x\"".to_owned()));
    assert_eq!(log.take(), ["+x", "-x"]);
    // As a name that nobody has, but for the name itself.
    let view = all.without(["say"]).expect("there is such a tool");
    let hidden = text(view.clone(), "say").await;
    let unknown = text(view, "sax").await;
    assert!(hidden.0);
    assert_eq!(hidden.1.replace("`say`", "`sax`"), unknown.1);
    // What the model would have to load first, its tools have to, too.
    assert!(text(all, "rare").await.0);
    assert_eq!(log.take(), [""; 0]);
}

#[tokio::test]
async fn d55_the_same_schedule_inside() {
    let ledger = Arc::new(MemoryLedger::default());
    let (harness, log) = harness(&ledger);
    assert_eq!(harness.run(call("many")).await[0].text(), r#""1""2""3""4""#);
    assert_eq!(log.take(), ["+1", "+2", "-2", "-1", "+3", "-3", "+4", "-4"]);
}

#[tokio::test]
async fn d56_nothing_outlives_the_call_that_made_it() {
    let ledger = Arc::new(MemoryLedger::default());
    let (harness, log) = harness(&ledger);
    assert_eq!(harness.run(call("left")).await[0].text(), "done");
    assert_eq!(log.take(), ["+left"]);
    let mut recorded: Vec<String> = lines(&ledger).into_iter().filter(|line| line.starts_with("end")).collect();
    recorded.sort();
    assert_eq!(recorded, ["end c ok", "end c/1 cancelled", "end c/2 cancelled_before_start"]);
    // The outer result is given last.
    assert_eq!(lines(&ledger).last().map(String::as_str), Some("end c ok"));
    millis(200).await;
    assert_eq!(log.take(), ["late: true"]);
    // Cancelled from outside, too.
    let token = CancellationToken::new();
    let cancel = token.clone();
    tokio::spawn(async move {
        millis(20).await;
        cancel.cancel();
    });
    let settled = harness.run_settled(call("forever"), Some(token)).await;
    assert!(matches!(settled[0].record().code(), Code::Cancelled | Code::ToolError));
    assert_eq!(ends(&settled)[0].0, "c");
    assert_eq!(log.take(), ["+forever"]);
}

/// Gives much.
#[tool]
async fn much() -> String {
    "x".repeat(10_000)
}

/// Counts what another tool gives.
#[tool]
async fn counts(#[host] cx: &CallContext) -> Result<usize, tool_runtime::SubCallError> {
    Ok(cx.call("much", "").await?.len() - 2)
}

fn show(_: &ShownArgs, _: &tool_runtime::StoredResult) -> tool_runtime::Card {
    tool_runtime::Card::new("shown")
}

/// Has a card.
#[tool(host(present_result = show))]
async fn shown() -> u8 {
    1
}

/// Calls what has a card.
#[tool]
async fn shows(#[host] cx: &CallContext) -> Result<String, tool_runtime::SubCallError> {
    cx.call("shown", "").await
}

#[tokio::test]
async fn d57_cards_are_for_the_outer_call() {
    let ledger = Arc::new(MemoryLedger::default());
    let registry = Registry::builder().tools([ShownTool::host(), ShowsTool::host()]).build().expect("they are sound");
    let harness = Harness::new(registry, AllowAll).ledger(Arc::clone(&ledger));
    harness.run([ToolCall::new("inner", "shows", ""), ToolCall::new("outer", "shown", "")]).await;
    let cards: Vec<(String, bool)> = ledger
        .entries()
        .into_iter()
        .filter_map(|entry| match entry {
            Entry::End(record) => Some((record.call_id().to_string(), record.card().is_some())),
            _ => None,
        })
        .collect();
    let expected = [("inner/1", false), ("inner", false), ("outer", true)];
    assert_eq!(cards, expected.map(|(id, card)| (id.to_owned(), card)));
}

#[tokio::test]
async fn d57_caps_are_for_the_outer_call() {
    let registry =
        Registry::builder().tools([MuchTool::host(), CountsTool::host()]).build().expect("the tools are sound");
    let harness = Harness::new(registry, AllowAll).result_cap(100);
    assert_eq!(harness.run([ToolCall::new("1", "counts", "")]).await[0].text(), "10000");
}

/// Never ends.
#[tool]
async fn endless() -> u8 {
    std::future::pending().await
}

/// Leaves a call behind.
#[tool]
async fn leaves(#[host] cx: &CallContext) -> String {
    drop(tokio::spawn(cx.call("endless", "")));
    tokio::task::yield_now().await;
    "left".to_owned()
}

#[test]
fn d56_also_where_there_are_no_timers() {
    let registry =
        Registry::builder().tools([EndlessTool::host(), LeavesTool::host()]).build().expect("the tools are sound");
    let ledger = Arc::new(MemoryLedger::default());
    let harness = Harness::new(registry, AllowAll).ledger(Arc::clone(&ledger));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let results = runtime.block_on(harness.run([ToolCall::new("c", "leaves", "")]));
    assert_eq!(results[0].text(), "left");
    assert_eq!(lines(&ledger), ["verdict c", "verdict c/1", "end c/1 cancelled", "end c ok"]);
}

/// Makes two calls, and waits for the second first.
#[tool]
async fn backwards(#[host] cx: &CallContext) -> Result<String, tool_runtime::SubCallError> {
    let first = cx.call("alone", r#"{"word":"a"}"#);
    let second = cx.call("alone", r#"{"word":"b"}"#);
    let second = second.await?;
    Ok(second + &first.await?)
}

#[tokio::test]
async fn d55_a_call_that_nobody_waits_for_yet_is_in_nobodys_way() {
    let log = Log::default();
    let tools = [AloneTool::host(), BackwardsTool::host()];
    let registry = Registry::builder().tools(tools).state(log.clone()).build().expect("the tools are sound");
    let ledger = Arc::new(MemoryLedger::default());
    let harness = Harness::new(registry, AllowAll).ledger(Arc::clone(&ledger));
    let running = harness.run_settled([ToolCall::new("c", "backwards", "")], None);
    let settled = tokio::time::timeout(std::time::Duration::from_secs(5), running).await.expect("it hangs");
    assert_eq!(settled[0].result().text(), r#""b""a""#);
    assert_eq!(log.take(), ["+b", "-b", "+a", "-a"]);
    // Their numbers are those in which they were made.
    let ended: Vec<String> = lines(&ledger).into_iter().filter(|line| line.starts_with("end")).collect();
    assert_eq!(ended, ["end c/2 ok", "end c/1 ok", "end c ok"]);
}

/// Where calls are put that nobody asks for any more.
#[derive(Clone, Default)]
struct Attic(Arc<Mutex<Vec<Parked>>>);

type Parked = BoxFuture<'static, Result<String, tool_runtime::SubCallError>>;

/// Begins calls, looks at them once, and doesn't ask for them until it has what others give.
#[tool]
async fn parks(
    /// How: `select`, `many`, or `left`.
    how: String,
    #[host] cx: &CallContext,
    #[host] log: &Log,
    #[host] attic: Attic,
) -> Result<String, tool_runtime::SubCallError> {
    let mut first = cx.call("alone", r#"{"word":"a"}"#);
    tokio::select! {
        biased;
        _ = &mut first => panic!("it takes longer"),
        () = tokio::task::yield_now() => {}
    }
    if how == "left" {
        log.note("left");
        lock(&attic.0).push(first);
        return Ok("left".to_owned());
    }
    if how == "many" {
        // One of another task's, which is never asked for again.
        let mut other = cx.call("alone", r#"{"word":"other"}"#);
        let parked = tokio::spawn(async move {
            let polled = std::future::poll_fn(|task| Poll::Ready(other.as_mut().poll(task))).await;
            assert!(polled.is_pending());
            lock(&attic.0).push(other);
        });
        assert!(parked.await.is_ok());
    }
    let second = cx.call("alone", r#"{"word":"b"}"#).await?;
    Ok(first.await? + &second)
}

#[tokio::test]
async fn d55_a_call_that_was_begun_and_parked_goes_on_and_is_in_nobodys_way() {
    let log = Log::default();
    let tools = [AloneTool::host(), ParksTool::host()];
    let registry = Registry::builder()
        .tools(tools)
        .state(log.clone())
        .state(Attic::default())
        .build()
        .expect("the tools are sound");
    let ledger = Arc::new(MemoryLedger::default());
    let harness = Harness::new(registry, AllowAll).ledger(Arc::clone(&ledger));
    for (how, noted) in
        [("select", &["+a", "-a", "+b", "-b"][..]), ("many", &["+a", "-a", "+other", "-other", "+b", "-b"])]
    {
        let call = ToolCall::new("c", "parks", format!(r#"{{"how":"{how}"}}"#));
        let running = harness.run_settled([call], None);
        let settled = tokio::time::timeout(std::time::Duration::from_secs(5), running).await.expect("it hangs");
        assert_eq!(settled[0].result().text(), r#""a""b""#);
        assert_eq!(log.take(), noted, "{how}");
    }
    // Forgotten, it ends with the call that made it: the ledger has its end before that of the other.
    let before = ledger.entries().len();
    let settled = harness.run_settled([ToolCall::new("c", "parks", r#"{"how":"left"}"#)], None).await;
    assert_eq!(settled[0].result().text(), "left");
    millis(50).await;
    assert_eq!(log.take(), ["+a", "left"]);
    assert_eq!(lines(&ledger)[before..], ["verdict c", "verdict c/1", "end c/1 cancelled", "end c ok"]);
}

/// Has others make calls for it, and never ends.
#[tool]
async fn delegates(#[host] cx: &CallContext, #[host] log: &Log) -> u8 {
    let (cx, log) = (cx.clone(), log.clone());
    tokio::spawn(async move {
        let running = cx.call("say", word("running", 60_000)).await;
        log.note(format!("told: {}", running.is_err()));
        let late = cx.call("say", word("late", 0)).await;
        log.note(format!("late: {}", late.is_err()));
    });
    std::future::pending().await
}

#[tokio::test]
async fn d56_what_was_dropped_has_no_calls_that_go_on() {
    let log = Log::default();
    let tools = [SayTool::host(), DelegatesTool::host()];
    let registry = Registry::builder().tools(tools).state(log.clone()).build().expect("the tools are sound");
    let ledger = Arc::new(MemoryLedger::default());
    let harness = Harness::new(registry, AllowAll).ledger(Arc::clone(&ledger));
    let mut turn = harness.turn([ToolCall::new("c", "delegates", "")]);
    assert!(tokio::time::timeout(std::time::Duration::from_millis(50), turn.run()).await.is_err());
    assert_eq!(ends(&turn.settled()), [("c", Code::Cancelled, true)]);
    millis(50).await;
    assert_eq!(log.take(), ["+running", "told: true", "late: true"]);
    let ended: Vec<String> = lines(&ledger).into_iter().filter(|line| line.starts_with("end")).collect();
    assert_eq!(ended, ["end c/1 cancelled", "end c cancelled"]);
}

/// Ends while others still make calls for it.
#[tool]
async fn races(#[host] cx: &CallContext, #[host] raced: std::sync::mpsc::Sender<Raced>) -> u8 {
    let (begin, begun) = std::sync::mpsc::channel();
    let (cx, runtime) = (cx.clone(), tokio::runtime::Handle::current());
    let other = std::thread::spawn(move || {
        assert!(begin.send(()).is_ok());
        // Made now or a little later, but by then the one that makes it may have ended.
        (0..3).map(|_| runtime.spawn(cx.call("endless", ""))).collect::<Vec<_>>()
    });
    assert!(begun.recv().is_ok());
    assert!(raced.send(other).is_ok());
    1
}

type Raced = std::thread::JoinHandle<Vec<tokio::task::JoinHandle<Result<String, tool_runtime::SubCallError>>>>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d56_a_call_that_races_the_end_of_its_caller_is_stopped_or_refused() {
    let (raced, others) = std::sync::mpsc::channel::<Raced>();
    let tools = [EndlessTool::host(), RacesTool::host()];
    let registry = Registry::builder().tools(tools).state(raced).build().expect("the tools are sound");
    let harness = Harness::new(registry, AllowAll);
    for _ in 0..500 {
        let settled = harness.run_settled([ToolCall::new("c", "races", "")], None).await;
        assert_eq!(ends(&settled), [("c", Code::Ok, true)]);
        let calls = others.recv().expect("there was one").join().expect("the thread ended");
        for call in calls {
            let ended = tokio::time::timeout(std::time::Duration::from_secs(5), call).await.expect("it goes on");
            assert!(ended.expect("it did not panic").is_err());
        }
    }
}
