//! Which calls of a turn overlap, and in which order they are judged, recorded and answered.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tool_runtime::{AllowAll, Code, DynamicTool, Harness, MemoryLedger, Registry, StoredResult, ToolCall, tool};

use super::support::{Log, ends, lines, lock, logged, millis};

/// Waits, and says when it began and ended.
async fn wait(log: &Log, name: &str, span: u64) -> String {
    log.note(format!("+{name}"));
    millis(span).await;
    log.note(format!("-{name}"));
    name.to_owned()
}

/// May overlap.
#[tool(host(concurrency_safe))]
async fn safe(
    /// Its name.
    name: String,
    /// How long it takes, in milliseconds.
    span: u64,
    #[host] log: &Log,
) -> String {
    wait(log, &name, span).await
}

/// Runs alone.
#[tool]
async fn alone(
    /// Its name.
    name: String,
    /// How long it takes, in milliseconds.
    span: u64,
    #[host] log: &Log,
) -> String {
    wait(log, &name, span).await
}

fn long_names(args: &JudgedArgs) -> bool {
    assert!(args.name != "panic", "the classifier gives up");
    args.name.len() > 1
}

/// May overlap if its name is long.
#[tool(host(concurrency_safe = long_names))]
async fn judged(
    /// Its name.
    name: String,
    #[host] log: &Log,
) -> String {
    wait(log, &name, 5).await
}

fn call(id: &str, tool: &str, span: u64) -> ToolCall {
    ToolCall::new(id, tool, format!(r#"{{"name":"{id}","span":{span}}}"#))
}

fn named(id: &str, name: &str) -> ToolCall {
    ToolCall::new(id, "judged", format!(r#"{{"name":"{name}"}}"#))
}

#[tokio::test]
async fn d46_only_an_explicit_yes_overlaps() {
    let (registry, log) = logged([SafeTool::host(), AloneTool::host(), JudgedTool::host()]);
    let harness = Harness::new(registry, AllowAll);
    // No declaration, a no, a panic: each alone.
    harness.run([call("1", "alone", 5), named("2", "b"), named("3", "panic")]).await;
    assert_eq!(log.take(), ["+1", "-1", "+b", "-b", "+panic", "-panic"]);
    // Bad arguments and unknown names stand in nobody's way, and no classifier sees them.
    let calls =
        [call("1", "safe", 120), ToolCall::new("2", "judged", "{}"), call("3", "nobody", 1), call("4", "safe", 5)];
    let results = harness.run(calls).await;
    assert_eq!(log.take(), ["+1", "+4", "-4", "-1"]);
    assert_eq!(results.iter().filter(|result| result.is_error()).count(), 2);
    // The answer may differ from call to call.
    harness.run([named("1", "aa"), named("2", "bb"), named("3", "c")]).await;
    assert_eq!(log.take(), ["+aa", "+bb", "-aa", "-bb", "+c", "-c"]);
}

#[tokio::test]
async fn d47_barriers() {
    let (registry, log) = logged([SafeTool::host(), AloneTool::host()]);
    let harness = Harness::new(registry, AllowAll);
    harness.run([call("1", "safe", 120), call("2", "safe", 5), call("3", "alone", 1), call("4", "safe", 1)]).await;
    assert_eq!(log.take(), ["+1", "+2", "-2", "-1", "+3", "-3", "+4", "-4"]);
}

#[tokio::test]
async fn d48_d64_a_rolling_pool_and_the_order_of_its_records() {
    let (registry, log) = logged([SafeTool::host()]);
    let ledger = Arc::new(MemoryLedger::default());
    let harness = |room| {
        Harness::new(registry.clone(), AllowAll)
            .ledger(Arc::clone(&ledger))
            .max_concurrent(NonZeroUsize::new(room).expect("some room"))
    };
    harness(2).run([call("1", "safe", 5), call("2", "safe", 120), call("3", "safe", 240), call("4", "safe", 1)]).await;
    assert_eq!(log.take(), ["+1", "+2", "-1", "+3", "-2", "+4", "-4", "-3"]);
    let recorded = lines(&ledger);
    assert_eq!(recorded[..4], ["verdict 1", "verdict 2", "end 1 ok", "verdict 3"]);
    harness(1).run([call("1", "safe", 3), call("2", "safe", 1)]).await;
    assert_eq!(log.take(), ["+1", "-1", "+2", "-2"]);
    harness(3).run([call("1", "safe", 9), call("2", "safe", 6), call("3", "safe", 3)]).await;
    assert_eq!(log.take()[..3], ["+1", "+2", "+3"]);
}

#[tokio::test]
async fn d50_d51_results_and_reviews_come_in_call_order() {
    let (registry, log) = logged([SafeTool::host()]);
    let reviewed = log.clone();
    let judged = log.clone();
    let policy = move |call: &tool_runtime::CallFacts<'_>| {
        judged.note(format!("judged {}", call.call_id()));
        tool_runtime::Decision::Allow
    };
    let harness = Harness::new(registry, policy).review(move |result: &StoredResult| {
        reviewed.note(format!("reviewed {}", result.content.to_text()));
        tool_runtime::path::Reviewed::Accept
    });
    let results = harness.run([call("1", "safe", 30), call("2", "safe", 20), call("3", "safe", 10)]).await;
    let ids: Vec<_> = results.iter().map(|result| result.call_id().as_str()).collect();
    assert_eq!(ids, ["1", "2", "3"]);
    let seen: Vec<String> = log.take().into_iter().filter(|line| !line.starts_with(['+', '-'])).collect();
    assert_eq!(seen, ["judged 1", "judged 2", "judged 3", "reviewed 1", "reviewed 2", "reviewed 3"]);
}

/// Fails.
#[tool(host(concurrency_safe))]
async fn fails() -> Result<u8, String> {
    millis(5).await;
    Err("no".to_owned())
}

#[tokio::test]
async fn b57_one_failure_fails_nobody_else() {
    let (registry, _) = logged([SafeTool::host(), FailsTool::host()]);
    let harness = Harness::new(registry, AllowAll);
    let calls = [call("1", "safe", 20), ToolCall::new("2", "fails", ""), call("3", "safe", 1), call("4", "safe", 1)];
    let settled = harness.run_settled(calls, None).await;
    let expected = [("1", Code::Ok), ("2", Code::ToolError), ("3", Code::Ok), ("4", Code::Ok)];
    assert_eq!(ends(&settled), expected.map(|(id, code)| (id, code, true)));
}

#[tokio::test]
async fn b59_two_calls_of_one_tool_run_twice() {
    let (registry, log) = logged([SafeTool::host()]);
    let harness = Harness::new(registry, AllowAll);
    let same = || ToolCall::new("1", "safe", r#"{"name":"x","span":1}"#);
    let results = harness.run([same(), same(), call("y", "safe", 1)]).await;
    assert_eq!(results.len(), 3);
    assert_eq!(log.take().iter().filter(|line| line.starts_with('+')).count(), 3);
}

/// Files, and how many edits of each are under way.
#[derive(Clone, Default)]
struct Files(Arc<Mutex<BTreeMap<String, String>>>, Arc<AtomicUsize>, Arc<AtomicUsize>);

/// Edits a file, slowly.
#[tool(host(writes(path)))]
async fn edit(
    /// Which file.
    #[arg(path)]
    path: String,
    /// What is added.
    add: String,
    #[host] files: Files,
) -> String {
    let at_once = files.1.fetch_add(1, Ordering::SeqCst) + 1;
    files.2.fetch_max(at_once, Ordering::SeqCst);
    let before = lock(&files.0).get(&path).cloned().unwrap_or_default();
    tokio::task::yield_now().await;
    millis(2).await;
    lock(&files.0).insert(path, before + &add);
    files.1.fetch_sub(1, Ordering::SeqCst);
    String::new()
}

/// Copies between two files.
#[tool(host(reads(from), writes(to)))]
async fn copy(
    /// From where.
    #[arg(path)]
    from: String,
    /// To where.
    #[arg(path)]
    to: String,
    #[host] files: Files,
) -> String {
    let text = lock(&files.0).get(&from).cloned().unwrap_or_default();
    millis(1).await;
    lock(&files.0).insert(to, text.clone());
    text
}

#[tokio::test]
async fn b60_edits_of_one_file_keep_their_order_and_others_overlap() {
    let files = Files::default();
    let tools = [EditTool::host(), CopyTool::host()];
    let registry = Registry::builder().tools(tools).state(files.clone()).build().expect("the tools are sound");
    let harness = Harness::new(registry, AllowAll);
    let edit = |id: &str, path: &str| ToolCall::new(id, "edit", format!(r#"{{"path":"{path}","add":"{id}"}}"#));
    for _ in 0..100 {
        lock(&files.0).clear();
        harness.run([edit("1", "a.txt"), edit("2", "./a.txt"), edit("3", "x/../a.txt"), edit("4", "b.txt")]).await;
        assert_eq!(lock(&files.0)["a.txt"], "123");
        assert_eq!(lock(&files.0)["b.txt"], "4");
    }
    assert_eq!(files.2.load(Ordering::SeqCst), 2, "b.txt overlaps with a.txt, and nothing else does");
    // Two resources taken in opposite order are no deadlock.
    let copy =
        |id: &str, from: &str, to: &str| ToolCall::new(id, "copy", format!(r#"{{"from":"{from}","to":"{to}"}}"#));
    let results =
        harness.run([copy("1", "a.txt", "b.txt"), copy("2", "b.txt", "a.txt"), copy("3", "b.txt", "c.txt")]).await;
    assert_eq!(results.iter().map(tool_runtime::ToolResult::text).collect::<Vec<_>>(), ["123", "123", "123"]);
}

/// Blocks its thread.
#[tool(host(concurrency_safe))]
fn block(
    /// How long, in milliseconds.
    span: u64,
) -> u64 {
    std::thread::sleep(Duration::from_millis(span));
    span
}

#[tokio::test]
async fn b61_a_blocking_tool_blocks_nobody_else() {
    let stop = Arc::new(AtomicBool::new(false));
    let longest = Arc::new(Mutex::new(Duration::ZERO));
    let (done, gap) = (Arc::clone(&stop), Arc::clone(&longest));
    let beat = tokio::spawn(async move {
        let mut last = Instant::now();
        while !done.load(Ordering::SeqCst) {
            millis(5).await;
            let mut longest = lock(&gap);
            *longest = (*longest).max(last.elapsed());
            last = Instant::now();
        }
    });
    let harness = Harness::new(logged([BlockTool::host()]).0, AllowAll);
    let began = Instant::now();
    let call = |id: &str| ToolCall::new(id, "block", r#"{"span":300}"#);
    let results = harness.run([call("1"), call("2")]).await;
    let took = began.elapsed();
    stop.store(true, Ordering::SeqCst);
    beat.await.expect("the heart beats");
    assert!(results.iter().all(|result| result.text() == "300"));
    // Not 600: they overlap. And the loop went on meanwhile; machines are noisy, so by a wide margin.
    assert!(took < Duration::from_millis(550), "{took:?}");
    assert!(*lock(&longest) < Duration::from_millis(200), "{longest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn turns_run_on_several_threads_too() {
    let (registry, _) = logged([SafeTool::host(), AloneTool::host(), BlockTool::host()]);
    let harness = Arc::new(Harness::new(registry, AllowAll));
    let turns = (0..20).map(|_| {
        let harness = Arc::clone(&harness);
        tokio::spawn(async move {
            let calls = [call("1", "safe", 1), call("2", "alone", 1), ToolCall::new("3", "block", r#"{"span":1}"#)];
            harness.run(calls).await.iter().map(|result| result.text()).collect::<Vec<_>>()
        })
    });
    for turn in turns.collect::<Vec<_>>() {
        assert_eq!(turn.await.expect("no turn panics"), ["1", "2", "1"]);
    }
}

static IS_SAFE: AtomicBool = AtomicBool::new(true);
static ASKED: AtomicUsize = AtomicUsize::new(0);

fn as_long_as_it_is(_: &ShiftyArgs) -> bool {
    ASKED.fetch_add(1, Ordering::SeqCst);
    IS_SAFE.load(Ordering::SeqCst)
}

/// May overlap, as long as that is so.
#[tool(host(concurrency_safe = as_long_as_it_is, writes(what)))]
async fn shifty(
    /// What it writes.
    what: String,
    /// Its name. `ends it`: from its end on it may not.
    name: String,
    /// How long it takes, in milliseconds.
    span: u64,
    #[host] log: &Log,
) -> String {
    let name = wait(log, &name, span).await;
    if name == "ends it" {
        IS_SAFE.store(false, Ordering::SeqCst);
    }
    format!("{name} wrote {what}")
}

#[tokio::test]
async fn d49_a_call_is_classified_again_before_it_starts_and_not_at_every_turn() {
    let shifty = |what: &str, name: &str, span: u64| {
        ToolCall::new(name, "shifty", format!(r#"{{"what":"{what}","name":"{name}","span":{span}}}"#))
    };
    let (registry, log) = logged([ShiftyTool::host()]);
    let harness = Harness::new(registry, AllowAll);
    const MANY: usize = 200;
    harness.run((0..MANY).map(|n| shifty("a", &n.to_string(), 0))).await;
    let asked = ASKED.load(Ordering::SeqCst);
    assert!((MANY..=3 * MANY).contains(&asked), "asked {asked} times");
    log.take();
    // Asked first while it was safe, the second isn't when its time comes: it waits for the third.
    harness.run([shifty("a", "ends it", 5), shifty("a", "2", 0), shifty("b", "3", 40)]).await;
    assert_eq!(log.take(), ["+ends it", "+3", "-ends it", "-3", "+2", "-2"]);
}

#[tokio::test]
async fn b60_a_dynamic_tool_edits_one_file_under_all_its_spellings() {
    let log = Log::default();
    let notes = log.clone();
    let edit = DynamicTool::builder("edit", "Edits a file.")
        .parameters(r#"{"type":"object","properties":{"file":{"type":"string"}},"required":["file"]}"#)
        .output("true")
        .writes(["file"])
        .run(move |arguments, _| {
            let log = notes.clone();
            async move { Ok(format!("{:?}", wait(&log, &arguments, 5).await)) }
        });
    let registry = Registry::builder().tool(edit.expect("the tool is sound")).build().expect("the tool is sound");
    let harness = Harness::new(registry, AllowAll);
    let edits = |files: &[&str]| -> Vec<ToolCall> {
        files.iter().map(|file| ToolCall::new(*file, "edit", format!(r#"{{"file":"{file}"}}"#))).collect()
    };
    let files = ["a.txt", "./a.txt", "x/../a.txt", "A.TXT", "//w/a.txt", "/w/./a.txt"];
    harness.run(edits(&files)).await;
    let one_by_one: Vec<String> =
        files.iter().flat_map(|file| ["+", "-"].map(|edge| format!(r#"{edge}{{"file":"{file}"}}"#))).collect();
    assert_eq!(log.take(), one_by_one);
    harness.run(edits(&["a.txt", "b.txt"])).await;
    assert!(log.take()[1].starts_with('+'), "what isn't the same waits");
}
