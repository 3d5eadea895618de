//! A ledger that breaks once, at each of the things that a turn asks of it, in each of the ways in which it can: every call
//! has one result, nothing runs that isn't recorded, and what is said of a call is so.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tool_runtime::path::Settled;
use tool_runtime::{
    Amount, Answer, BoxFuture, CallContext, CallFacts, CaseId, Checklist, ClaimError, Claimed, Clearing, Code,
    Decision, Entry, Event, EventKind, Harness, History, Ledger, LedgerError, LedgerKey, MemoryLedger, Owner, Parking,
    Query, QuestionId, QuestionSet, Refusal, Registry, Reply, ReplyError, Tally, TimedLedger, ToolCall, VerdictKind,
    tool,
};

use crate::support::fine;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Does {
    Fail,
    FailLater,
    Panic,
    PanicLater,
    /// Nothing, but each thing takes its time, before it is kept and after that.
    Dawdle,
    /// It keeps what it was given, and says that it hasn't.
    KeepAndFail,
    Hang,
    KeepAndHang,
}

const ALL: [Does; 7] =
    [Does::Fail, Does::FailLater, Does::Panic, Does::PanicLater, Does::KeepAndFail, Does::Hang, Does::KeepAndHang];

/// Breaks at the given one of all that it is asked.
struct Breaks {
    at: usize,
    does: Does,
    asked: AtomicUsize,
    /// Which one it was.
    hit: Mutex<&'static str>,
    kept: Arc<MemoryLedger>,
}

impl Breaks {
    fn does<'a, T: Send + 'a>(
        &'a self,
        what: &'static str,
        well: impl FnOnce() -> BoxFuture<'a, Result<T, LedgerError>>,
    ) -> BoxFuture<'a, Result<T, LedgerError>> {
        let is_hit = self.asked.fetch_add(1, Ordering::SeqCst) == self.at;
        if self.does == Does::Dawdle {
            let well = well();
            return Box::pin(async move {
                tokio::task::yield_now().await;
                let kept = well.await;
                tokio::task::yield_now().await;
                kept
            });
        }
        if !is_hit {
            return well();
        }
        *fine(self.hit.lock()) = what;
        let broken = || LedgerError::new("ledgerword");
        match self.does {
            Does::Fail => Box::pin(std::future::ready(Err(broken()))),
            Does::FailLater => Box::pin(async move {
                tokio::task::yield_now().await;
                Err(broken())
            }),
            Does::Panic => panic!("ledgerword"),
            Does::PanicLater => Box::pin(async {
                tokio::task::yield_now().await;
                panic!("ledgerword")
            }),
            Does::KeepAndFail => {
                let well = well();
                Box::pin(async move { well.await.and_then(|_| Err(broken())) })
            }
            Does::Dawdle | Does::Hang => Box::pin(pending()),
            Does::KeepAndHang => {
                let well = well();
                Box::pin(async move {
                    drop(well.await);
                    pending().await
                })
            }
        }
    }
}

impl Ledger for Breaks {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        let what = if matches!(entry, Entry::End(_)) { "end" } else { "entry" };
        self.does(what, || self.kept.append(entry))
    }

    fn key(&self) -> Option<&LedgerKey> {
        self.kept.key()
    }

    fn owner(&self) -> Option<&Owner> {
        self.kept.owner()
    }

    fn history(&self, query: Query) -> BoxFuture<'_, Result<History, LedgerError>> {
        self.does("history", || self.kept.history(query))
    }

    fn park(&self, parking: Parking) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.does("park", || self.kept.park(parking))
    }

    fn reply(&self, reply: Reply) -> BoxFuture<'_, Result<(), ReplyError>> {
        self.kept.reply(reply)
    }

    fn claim(&self, case: CaseId) -> BoxFuture<'_, Result<Claimed, ClaimError>> {
        self.kept.claim(case)
    }

    fn refused(&self, refusal: Refusal) -> BoxFuture<'_, Result<Option<QuestionId>, LedgerError>> {
        self.does("refused", || self.kept.refused(refusal))
    }

    fn used(&self, tallies: Vec<Tally>) -> BoxFuture<'_, Result<Vec<Amount>, LedgerError>> {
        self.does("used", || self.kept.used(tallies))
    }

    fn clear(&self, clearing: Clearing) -> BoxFuture<'_, Result<bool, LedgerError>> {
        self.does("clear", || self.kept.clear(clearing))
    }
}

/// Which calls ran, and whether their verdicts were there by then.
#[derive(Clone, Default)]
struct Ran(Arc<Mutex<BTreeMap<String, usize>>>);

impl Ran {
    fn note(&self, cx: &CallContext, kept: &MemoryLedger) {
        let is_its = |entry: &Entry| {
            matches!(entry, Entry::Verdict(verdict)
                if verdict.call_id() == cx.call_id() && verdict.kind() == VerdictKind::Cleared)
        };
        assert!(kept.entries().iter().any(is_its), "{} runs and isn't recorded", cx.call_id());
        *fine(self.0.lock()).entry(cx.call_id().to_string()).or_default() += 1;
    }
}

/// Acts.
#[tool]
async fn act(
    /// On what.
    on: String,
    #[host] cx: &CallContext,
    #[host] ran: &Ran,
    #[host] kept: &Arc<MemoryLedger>,
) -> String {
    ran.note(cx, kept);
    tokio::task::yield_now().await;
    on
}

/// Spends.
#[tool(host(concurrency_safe))]
async fn spend(
    /// How much.
    amount: u32,
    #[host] cx: &CallContext,
    #[host] ran: &Ran,
    #[host] kept: &Arc<MemoryLedger>,
) -> u32 {
    ran.note(cx, kept);
    amount
}

/// Has another act.
#[tool]
async fn outer(
    #[host] cx: &CallContext,
    #[host] ran: &Ran,
    #[host] kept: &Arc<MemoryLedger>,
) -> Result<String, tool_runtime::SubCallError> {
    ran.note(cx, kept);
    cx.call("act", r#"{"on":"allow"}"#).await
}

const CALLS: [(&str, &str, &str); 9] = [
    ("allowed", "act", r#"{"on":"allow"}"#),
    ("yes", "act", r#"{"on":"yes"}"#),
    ("spends", "spend", r#"{"amount":1}"#),
    ("no", "act", r#"{"on":"no"}"#),
    ("later", "act", r#"{"on":"later"}"#),
    ("denied", "act", r#"{"on":"denied"}"#),
    ("spends more", "spend", r#"{"amount":2}"#),
    ("outer", "outer", ""),
    ("bad", "act", "["),
];

fn harness(breaks: &Arc<Breaks>, is_timed: bool, ran: &Ran, finished: &Arc<Mutex<Vec<String>>>) -> Harness {
    let tools = [ActTool::host(), SpendTool::host(), OuterTool::host()];
    let registry = Registry::builder().tools(tools).state(ran.clone()).state(Arc::clone(&breaks.kept)).build();
    let registry = fine(registry);
    let list = r#"{"list":"user","origin":"ann","scope":{"calls":"none"},"line":[
        {"tool":"spend","name":"limit","text":"it is within the limit","at_most":10,"per":"day","sum":"amount"}]}"#;
    let list = fine(Checklist::builder().json("ann", list).build(&registry));
    let policy = |call: &CallFacts<'_>| match call.arguments().get("/on") {
        None | Some("\"allow\"") => Decision::Allow,
        Some("\"denied\"") => Decision::deny("not that"),
        Some(_) => Decision::ask("it is much"),
    };
    let finished = Arc::clone(finished);
    let harness = Harness::new(registry, policy)
        .checklist(list)
        .approver(|set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            let answers = set.questions.iter().map(|question| match &*question.arguments {
                r#"{"on":"yes"}"# => Answer::Yes,
                r#"{"on":"later"}"# => Answer::Later,
                _ => Answer::No,
            });
            Box::pin(std::future::ready(answers.collect()))
        })
        .conversation("talk")
        .observer(move |event: &Event| {
            if let EventKind::Finished(_) = event.kind() {
                fine(finished.lock()).push(event.call_id().to_string());
            }
        });
    match is_timed {
        true => harness.ledger(TimedLedger::new(Arc::clone(breaks), Duration::from_millis(100))),
        false => harness.ledger(Arc::clone(breaks)),
    }
}

/// Runs the turn; if it hangs it is cancelled, and if that doesn't help, dropped. Gives whether it hung for good.
async fn run(
    breaks: &Arc<Breaks>,
    is_timed: bool,
    ran: &Ran,
    finished: &Arc<Mutex<Vec<String>>>,
) -> (Vec<Settled>, bool) {
    let harness = harness(breaks, is_timed, ran, finished);
    let mut turn = harness.turn(CALLS.map(|(id, name, arguments)| ToolCall::new(id, name, arguments)));
    let stop = turn.token();
    let hangs = {
        let mut running = std::pin::pin!(turn.run());
        let hangs = tokio::time::timeout(Duration::from_secs(1), &mut running).await.is_err();
        stop.cancel();
        hangs && tokio::time::timeout(Duration::from_secs(1), &mut running).await.is_err()
    };
    (turn.settled(), hangs)
}

/// Is it ready by now?
async fn poll_once<F: Future>(mut future: std::pin::Pin<&mut F>) -> bool {
    std::future::poll_fn(|task| std::task::Poll::Ready(future.as_mut().poll(task).is_ready())).await
}

/// What has to be so of a turn, however it went.
fn is_true_of(name: &str, settled: &[Settled], ran: &Ran, finished: &Arc<Mutex<Vec<String>>>) {
    let ran = fine(ran.0.lock()).clone();
    assert!(ran.values().all(|times| *times == 1), "{name}: {ran:?}");
    let ids: Vec<&str> = settled.iter().map(|settled| settled.result().call_id().as_str()).collect();
    assert_eq!(ids, CALLS.map(|(id, ..)| id), "{name}");
    for settled in settled {
        let (record, text) = (settled.record(), settled.result().text());
        let id = record.call_id().as_str();
        let name = format!("{name}: {id} {:?} {text}", record.code());
        assert!(!text.contains("ledgerword"), "{name}");
        let has_run = ran.contains_key(id);
        assert_eq!(settled.result().is_error(), record.code() != Code::Ok, "{name}");
        if has_run {
            // What a tool says of a call of its own is about that.
            let text = if record.code() == Code::ToolError { String::new() } else { text };
            assert!(!text.contains("did not run") && !text.contains("nothing happened"), "{name}");
            assert!(matches!(record.code(), Code::Ok | Code::ToolError | Code::Cancelled), "{name}");
            assert!(record.started(), "{name}");
        } else {
            assert_ne!(record.code(), Code::Ok, "{name}");
        }
        // A no stays the no that it is, whatever becomes of its record.
        match id {
            "denied" => assert!(matches!(record.code(), Code::Denied | Code::CancelledBeforeStart), "{name}"),
            "bad" => {
                assert!(matches!(record.code(), Code::InvalidArguments | Code::CancelledBeforeStart), "{name}");
            }
            "no" | "later" => assert!(!has_run && !record.started(), "{name}"),
            _ => {}
        }
    }
    // One end a call, those of a tool's own, too.
    let mut ended = fine(finished.lock()).clone();
    ended.sort();
    let mut expected: Vec<String> = CALLS.iter().map(|(id, ..)| (*id).to_owned()).collect();
    expected.extend(ended.iter().filter(|id| id.starts_with("outer/")).take(1).cloned());
    expected.sort();
    assert_eq!(ended, expected, "{name}");
}

/// What has to be so of a ledger that did nothing wrong: no call and no question ends twice, and what ends began.
fn is_true_of_ledger(name: &str, entries: &[Entry]) {
    let mut ends = BTreeMap::<String, usize>::new();
    let (mut asked, mut answered) = (Vec::new(), Vec::new());
    for entry in entries {
        match entry {
            Entry::End(record) => *ends.entry(record.case().to_string()).or_default() += 1,
            Entry::Asked(question) => asked.push(question.question().id.clone()),
            Entry::Answered(answer) => {
                assert!(asked.contains(answer.question()), "{name}: an answer before its question");
                answered.push(answer.question().clone());
            }
            _ => {}
        }
    }
    assert!(ends.values().all(|ends| *ends == 1), "{name}: {ends:?}");
    let all = answered.len();
    answered.sort();
    answered.dedup();
    assert_eq!((all, asked.len()), (answered.len(), answered.len()), "{name}: each question has one end");
}

/// At each of the moments at which somebody else may do something.
#[tokio::test]
async fn a_turn_that_is_cancelled_or_dropped_at_any_moment_says_what_is_so() {
    for is_dropped in [false, true] {
        let mut polls = 0;
        loop {
            let name = format!("{} after {polls}", if is_dropped { "dropped" } else { "cancelled" });
            let breaks = Breaks {
                at: usize::MAX,
                does: Does::Dawdle,
                asked: AtomicUsize::new(0),
                hit: Mutex::default(),
                kept: Arc::default(),
            };
            let breaks = Arc::new(breaks);
            let (ran, finished) = (Ran::default(), Arc::<Mutex<Vec<String>>>::default());
            let harness = harness(&breaks, false, &ran, &finished);
            let mut turn = harness.turn(CALLS.map(|(id, name, arguments)| ToolCall::new(id, name, arguments)));
            let stop = turn.token();
            let ended = {
                let mut running = std::pin::pin!(turn.run());
                let mut ended = false;
                for _ in 0..polls {
                    ended = ended || poll_once(running.as_mut()).await;
                    tokio::task::yield_now().await;
                }
                if !is_dropped {
                    stop.cancel();
                    if !ended {
                        fine(tokio::time::timeout(Duration::from_secs(10), running).await);
                    }
                }
                ended
            };
            is_true_of(&name, &turn.settled(), &ran, &finished);
            // What is still being written is written by the runtime.
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            is_true_of_ledger(&name, &breaks.kept.entries());
            if ended {
                break;
            }
            polls += 1;
        }
        assert!(polls > 20, "{polls}");
    }
}

/// What was dropped is counted as well if its end can't be kept, at once, later, or because the runtime ends first.
#[test]
fn the_end_of_a_dropped_call_that_is_not_recorded_is_told() {
    for does in [Does::Fail, Does::FailLater, Does::Panic, Does::PanicLater, Does::Hang] {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = fine(runtime);
        let breaks = Breaks { at: 1, does, asked: AtomicUsize::new(0), hit: Mutex::default(), kept: Arc::default() };
        let breaks = Arc::new(breaks);
        let told = Arc::<Mutex<Vec<String>>>::default();
        let heard = Arc::clone(&told);
        let harness = harness(&breaks, false, &Ran::default(), &Arc::default()).observer(move |event: &Event| {
            if let EventKind::NotRecorded(error) = event.kind() {
                fine(heard.lock()).push(error.to_string());
            }
        });
        runtime.block_on(async {
            let mut turn = harness.turn([ToolCall::new("1", "act", r#"{"on":"allow"}"#)]);
            {
                let mut running = std::pin::pin!(turn.run());
                assert!(!poll_once(running.as_mut()).await);
            }
            assert_eq!(turn.settled()[0].record().code(), Code::Cancelled);
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
        });
        drop(runtime);
        assert_eq!(*fine(breaks.hit.lock()), "end", "{does:?}");
        let told = fine(told.lock()).clone();
        assert_eq!((harness.unrecorded(), told.len()), (1, 1), "{does:?}: {told:?}");
        let why = if does == Does::Hang { "the runtime ended" } else { "ledgerword" };
        assert!(told[0].contains(why), "{does:?}: {told:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_a_ledger_breaks_at_every_call_has_one_true_result() {
    let whole = {
        let breaks = Breaks {
            at: usize::MAX,
            does: Does::Fail,
            asked: AtomicUsize::new(0),
            hit: Mutex::default(),
            kept: Arc::default(),
        };
        let breaks = Arc::new(breaks);
        let (settled, hangs) = run(&breaks, false, &Ran::default(), &Arc::default()).await;
        let codes = settled.iter().map(|settled| settled.record().code());
        let expected = [
            Code::Ok,
            Code::Ok,
            Code::Ok,
            Code::Rejected,
            Code::ApprovalPending,
            Code::Denied,
            Code::Ok,
            Code::Ok,
            Code::InvalidArguments,
        ];
        assert!(!hangs && codes.eq(expected));
        breaks.asked.load(Ordering::SeqCst)
    };
    assert!(whole > 30, "{whole}");
    for (does, is_timed) in ALL.into_iter().flat_map(|does| [(does, false), (does, true)]) {
        for at in 0..whole {
            let breaks =
                Arc::new(Breaks { at, does, asked: AtomicUsize::new(0), hit: Mutex::default(), kept: Arc::default() });
            let (ran, finished) = (Ran::default(), Arc::<Mutex<Vec<String>>>::default());
            let (settled, hung) = run(&breaks, is_timed, &ran, &finished).await;
            let name = format!("{does:?} at {at}, {is_timed}");
            is_true_of(&name, &settled, &ran, &finished);
            // Cancelled, a turn waits for nothing any more but that what became of its calls is written down.
            let hit = *fine(breaks.hit.lock());
            let hangs = matches!(does, Does::Hang | Does::KeepAndHang);
            assert!(!hung || (hangs && hit == "end" && !is_timed), "{name}: {hit}");
        }
    }
}
