//! The verdict is in the ledger before the handler starts, the blocked ones too; what isn't recorded doesn't run.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use tool_runtime::{
    AllowAll, BoxFuture, CallContext, Code, DenyAll, Entry, Harness, JsonPath, Ledger, LedgerError, MemoryLedger,
    Registry, ToolCall, VerdictKind, tool,
};

use crate::support::{ActTool, Kept, Ran, lock, one, poll_once, traced, watched};

/// On which entries a ledger does what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum On {
    Verdict,
    End,
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Fail,
    FailLater,
    /// With an error whose own text panics.
    FailSpeechless,
    Panic,
    PanicLater,
}

const ALL: [Does; 5] = [Does::Fail, Does::FailLater, Does::FailSpeechless, Does::Panic, Does::PanicLater];

struct Broken {
    on: On,
    does: Does,
    kept: Kept,
}

#[derive(Debug)]
struct Speechless;

impl fmt::Display for Speechless {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("ledgerword")
    }
}

impl std::error::Error for Speechless {}

impl Ledger for Broken {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        let hit = match entry {
            Entry::Verdict(_) => self.on != On::End,
            _ => self.on != On::Verdict,
        };
        if !hit {
            return self.kept.append(entry);
        }
        match self.does {
            Does::Fail => Box::pin(async { Err(LedgerError::new("ledgerword")) }),
            Does::FailSpeechless => Box::pin(async { Err(LedgerError::new(Speechless)) }),
            Does::Panic => panic!("ledgerword"),
            does => Box::pin(async move {
                tokio::task::yield_now().await;
                assert_eq!(does, Does::FailLater, "ledgerword");
                Err(LedgerError::new("ledgerword"))
            }),
        }
    }
}

fn broken(on: On, does: Does) -> (Harness, Ran, Kept) {
    let (registry, ran) = watched([ActTool::host()]);
    let kept = Kept::default();
    let harness = Harness::new(registry, AllowAll).ledger(Broken { on, does, kept: kept.clone() });
    (harness, ran, kept)
}

/// Runs a turn of two on a task of its own: what unwinds there is seen here.
async fn turn(harness: Harness, context: String) -> Vec<tool_runtime::path::Settled> {
    let calls = [ToolCall::new("1", "act", r#"{"n":1}"#), ToolCall::new("2", "act", r#"{"n":2}"#)];
    match tokio::spawn(async move { harness.run_settled(calls, None).await }).await {
        Ok(settled) => settled,
        Err(error) => panic!("{context}: the whole turn was lost: {error}"),
    }
}

#[tokio::test]
async fn inv10_what_is_not_recorded_does_not_run() {
    for on in [On::Verdict, On::Both] {
        for does in ALL {
            let (harness, ran, kept) = broken(on, does);
            let context = format!("{does:?} on {on:?}");
            let settled = turn(harness, context.clone()).await;
            assert_eq!(ran.times(), 0, "{context}");
            assert_eq!(settled.len(), 2, "{context}");
            for settled in &settled {
                let text = settled.result().text();
                assert_eq!(settled.record().code(), Code::NotRecorded, "{context}: {text}");
                assert!(settled.result().is_error() && !settled.record().started(), "{context}");
                assert!(text.contains("did not run") && !text.contains("ledgerword"), "{context}: {text}");
            }
            let ends = if on == On::Both { 0 } else { 2 };
            assert_eq!(kept.entries().len(), ends, "{context}");
        }
    }
}

/// What has run has run: its result stands, and the host hears of the record that is missing.
#[tokio::test]
async fn inv10_an_end_that_is_not_recorded_costs_no_result() {
    let heard = traced();
    for does in ALL {
        let (harness, ran, kept) = broken(On::End, does);
        let before = lock(heard).len();
        let settled = turn(harness, format!("{does:?}")).await;
        assert_eq!(ran.times(), 2, "{does:?}");
        let texts: Vec<_> = settled.iter().map(|settled| settled.result().text()).collect();
        assert_eq!(texts, ["1", "2"], "{does:?}");
        assert!(settled.iter().all(|settled| settled.record().code() == Code::Ok), "{does:?}");
        assert_eq!(kept.verdicts().len(), 2, "{does:?}");
        let said = lock(heard)[before..].to_owned();
        assert!(said.contains("could not be recorded"), "{does:?}: the host heard nothing: {said}");
    }
}

/// A ledger that is done when it is told so.
#[derive(Clone, Default)]
struct Slow {
    kept: Kept,
    done: Arc<AtomicBool>,
    on_end: bool,
}

impl Ledger for Slow {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(async move {
            if self.on_end == matches!(entry, Entry::End(_)) {
                while !self.done.load(Ordering::SeqCst) {
                    tokio::task::yield_now().await;
                }
            }
            self.kept.append(entry).await
        })
    }
}

#[tokio::test]
async fn inv10_nothing_runs_until_the_ledger_is_done() {
    let (registry, ran) = watched([ActTool::host()]);
    let slow = Slow::default();
    let harness = Harness::new(registry, AllowAll).ledger(slow.clone());
    let call = || [ToolCall::new("1", "act", r#"{"n":1}"#)];
    {
        // One that is given up while the ledger writes: it has not run, and won't.
        let mut turn = pin!(harness.run(call()));
        for _ in 0..50 {
            assert!(matches!(poll_once(&mut turn), Poll::Pending));
        }
        assert_eq!(ran.times(), 0);
    }
    let mut turn = pin!(harness.run(call()));
    for _ in 0..50 {
        assert!(matches!(poll_once(&mut turn), Poll::Pending));
    }
    assert_eq!(ran.times(), 0, "it ran before its verdict was safe");
    slow.done.store(true, Ordering::SeqCst);
    let results = turn.await;
    assert_eq!((results[0].text().as_str(), ran.times()), ("1", 1));
}

/// A result is given once its record is written.
#[tokio::test]
async fn inv10_a_slow_end_delays_the_result_and_repeats_nothing() {
    let (registry, ran) = watched([ActTool::host()]);
    let slow = Slow { on_end: true, ..Slow::default() };
    let harness = Harness::new(registry, AllowAll).ledger(slow.clone());
    let mut turn = pin!(harness.run([ToolCall::new("1", "act", r#"{"n":1}"#)]));
    for _ in 0..50 {
        assert!(matches!(poll_once(&mut turn), Poll::Pending));
    }
    assert_eq!((ran.times(), slow.kept.verdicts().len()), (1, 1));
    slow.done.store(true, Ordering::SeqCst);
    assert_eq!(turn.await[0].text(), "1");
    assert_eq!((ran.times(), slow.kept.entries().len()), (1, 2));
}

/// Looks at what is recorded of itself, from within.
fn recorded(ledger: &MemoryLedger, cx: &CallContext) -> Vec<String> {
    let of_mine = |entry: Entry| match entry {
        Entry::Verdict(verdict) if verdict.call_id() == cx.call_id() => {
            Some(format!("{:?} {} {}", verdict.kind(), verdict.tool(), verdict.arguments()))
        }
        Entry::End(record) if record.call_id() == cx.call_id() => Some("end".to_owned()),
        _ => None,
    };
    ledger.entries().into_iter().filter_map(of_mine).collect()
}

/// Reports, on the caller's task.
#[tool]
async fn report(
    #[arg(default = 0)]
    /// Any number.
    n: u8,
    #[host] ledger: Arc<MemoryLedger>,
    #[host] cx: &CallContext,
) -> Vec<String> {
    let _ = n;
    recorded(&ledger, cx)
}

/// Reports, from another thread.
#[tool]
fn report_blocking(#[host] ledger: &Arc<MemoryLedger>, #[host] cx: &CallContext) -> Vec<String> {
    recorded(ledger, cx)
}

/// Reports, at once.
#[tool(host(inline))]
fn report_inline(#[host] ledger: &Arc<MemoryLedger>, #[host] cx: &CallContext) -> Vec<String> {
    recorded(ledger, cx)
}

#[tokio::test]
async fn inv10_the_verdict_is_there_before_the_handler_starts() {
    let ledger = Arc::new(MemoryLedger::default());
    let tools = [ReportTool::host(), ReportBlockingTool::host(), ReportInlineTool::host()];
    let registry = Registry::builder().tools(tools).state(Arc::clone(&ledger)).build();
    let harness =
        Harness::new(registry.unwrap_or_else(|error| panic!("{error}")), AllowAll).ledger(Arc::clone(&ledger));
    let calls = ["report", "report_blocking", "report_inline"].map(|tool| ToolCall::new(tool, tool, ""));
    let results = harness.run(calls).await;
    let texts: Vec<_> = results.iter().map(|result| result.text()).collect();
    assert_eq!(
        texts,
        [r#"["Cleared report {\"n\":0}"]"#, r#"["Cleared report_blocking {}"]"#, r#"["Cleared report_inline {}"]"#,]
    );
    assert_eq!(ledger.entries().len(), 6);
}

#[tokio::test]
async fn inv10_blocked_calls_are_records_too() {
    let (registry, ran) = watched([ActTool::host(), NeedsTool::host()]);
    let kept = Kept::default();
    let harness = Harness::new(registry, DenyAll).ledger(kept.clone());
    let open = ToolCall::new("2", "needs", "{}").with_no_result(JsonPath::from_pointer("/what"));
    let settled = harness.run_settled([ToolCall::new("1", "act", r#"{"n":7}"#), open], None).await;
    assert_eq!(ran.times(), 0);
    let verdicts: Vec<_> =
        kept.verdicts().iter().map(|verdict| (verdict.call_id().as_str().to_owned(), verdict.kind())).collect();
    let denied = VerdictKind::Blocked(Code::Denied);
    assert_eq!(verdicts, [("1".to_owned(), denied), ("2".to_owned(), denied)]);
    assert_eq!(kept.verdicts()[0].arguments(), r#"{"n":7}"#);
    assert_eq!(kept.verdicts()[0].reasons(), ["no tool may run here"]);
    assert_eq!(kept.verdicts()[1].open(), ["/what"]);
    assert_eq!(settled.len(), 2);
    assert_eq!(kept.entries().len(), 4);
}

/// Needs something.
#[tool]
async fn needs(
    /// It.
    what: String,
    #[host] ran: Ran,
) -> String {
    ran.note();
    what
}

/// What one call's record costs is not another's.
#[tokio::test]
async fn inv10_one_lost_verdict_leaves_the_siblings_alone() {
    struct Picky(Kept);
    impl Ledger for Picky {
        fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
            match &entry {
                Entry::Verdict(verdict) if verdict.call_id().as_str() == "2" => panic!("ledgerword"),
                _ => self.0.append(entry),
            }
        }
    }
    let (registry, ran) = watched([ActTool::host()]);
    let harness = Harness::new(registry, AllowAll).ledger(Picky(Kept::default()));
    let calls = (1..=3).map(|n| ToolCall::new(n.to_string(), "act", format!(r#"{{"n":{n}}}"#)));
    let settled = harness.run_settled(calls, None).await;
    let codes: Vec<_> = settled.iter().map(|settled| settled.record().code()).collect();
    assert_eq!(codes, [Code::Ok, Code::NotRecorded, Code::Ok]);
    assert_eq!(ran.times(), 2);
    // The host can read why; the model can't.
    assert!(settled[1].record().detail().is_some_and(|detail| detail.contains("ledgerword")));
    let (registry, _) = watched([ActTool::host()]);
    let harness =
        Harness::new(registry, AllowAll).ledger(Broken { on: On::Verdict, does: Does::Fail, kept: Kept::default() });
    let settled = one(&harness, ToolCall::new("1", "act", "")).await;
    assert!(settled.record().detail().is_some_and(|detail| detail.contains("ledgerword")));
}
