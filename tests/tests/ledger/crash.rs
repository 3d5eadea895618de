//! A host is killed at every step of its calls, and started again twice: no call runs twice, none runs without its record,
//! and none is lost.
//!
//! The host is this test program itself, started anew ([`child`]). Steps are counted: whatever observers are told, before
//! and after everything that is asked of the ledger, and in the tool's body before and after its effect. The one that is
//! told to aborts the process, so that nothing is dropped and nothing is flushed. The next host is killed as well, early in
//! what it does about the first.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tool_runtime::{
    Answer, BoxFuture, CallFacts, CaseId, CaseState, ClaimError, Claimed, Code, Decision, Entry, Event, FileLedger,
    Harness, History, JsonPath, Ledger, LedgerError, LedgerKey, Owner, Parking, Query, QuestionId, QuestionSet,
    Refusal, Registry, Reply, ReplyError, SqlOptions, ToolCall, tool,
};

use crate::sql::{Database, open};
use crate::support::{Folder, fine, key, signed};

/// How long a host is taken to be alive that is not.
const LEASE: Duration = Duration::from_millis(60);

static STEPS: AtomicUsize = AtomicUsize::new(0);

fn step() {
    let number = STEPS.fetch_add(1, Ordering::SeqCst) + 1;
    if setting("CRASH_AT").parse() == Ok(number) {
        std::process::abort();
    }
}

fn setting(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// What is filled in.
const NOTE: &str = "noted";

/// A ledger with a step before and after everything.
struct Stepping(Arc<dyn Ledger>);

fn stepping<'a, T: Send + 'a>(does: BoxFuture<'a, T>) -> BoxFuture<'a, T> {
    Box::pin(async move {
        step();
        let done = does.await;
        step();
        done
    })
}

impl Ledger for Stepping {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        stepping(self.0.append(entry))
    }

    fn append_all(&self, entries: Vec<Entry>) -> BoxFuture<'_, Result<(), LedgerError>> {
        stepping(self.0.append_all(entries))
    }

    fn key(&self) -> Option<&LedgerKey> {
        self.0.key()
    }

    fn owner(&self) -> Option<&Owner> {
        self.0.owner()
    }

    fn history(&self, query: Query) -> BoxFuture<'_, Result<History, LedgerError>> {
        stepping(self.0.history(query))
    }

    fn park(&self, parking: Parking) -> BoxFuture<'_, Result<(), LedgerError>> {
        stepping(self.0.park(parking))
    }

    fn reply(&self, reply: Reply) -> BoxFuture<'_, Result<(), ReplyError>> {
        stepping(self.0.reply(reply))
    }

    fn claim(&self, case: CaseId) -> BoxFuture<'_, Result<Claimed, ClaimError>> {
        stepping(self.0.claim(case))
    }

    fn refused(&self, refusal: Refusal) -> BoxFuture<'_, Result<Option<QuestionId>, LedgerError>> {
        stepping(self.0.refused(refusal))
    }
}

/// Writes down that it ran.
#[tool(host(concurrency_safe))]
async fn act(
    /// Which of the calls it is.
    number: u32,
    /// What the model has not found for every third.
    #[arg(authored)]
    note: String,
) -> u32 {
    step();
    assert_eq!(note, NOTE);
    let mut ran = fine(OpenOptions::new().append(true).create(true).open(setting("CRASH_RAN")));
    fine(ran.write_all(format!("{number}\n").as_bytes()));
    step();
    number
}

/// One start of a host: looks after what the last one left, and goes on.
#[test]
#[ignore = "started by the tests here"]
fn child() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    fine(runtime).block_on(async {
        let name = setting("CRASH_LEDGER");
        let kept: Arc<dyn Ledger> = match name.strip_prefix("file:") {
            Some(path) => Arc::new(fine(FileLedger::open(path, key()))),
            None => Arc::new(fine(open(&name, SqlOptions::new().host(setting("CRASH_HOST")).lease(LEASE)).await)),
        };
        let ledger: Arc<dyn Ledger> = Arc::new(Stepping(kept));
        // Every other call has to be asked about, and the answer comes later.
        let policy = |call: &CallFacts<'_>| match call.arguments().read::<u32>("/number") {
            Some(number) if number.is_multiple_of(2) => Decision::Allow,
            _ => Decision::ask("odd"),
        };
        let harness = Harness::new(fine(Registry::builder().tool(ActTool::host()).build()), policy)
            .approver(|set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
                Box::pin(async move { vec![Answer::Later; set.questions.len()] })
            })
            .ledger(Arc::clone(&ledger))
            .observer(|_: &Event| step())
            .conversation("talk");
        go_on(&harness, &*ledger).await;
        fine(harness.repair().await);
        go_on(&harness, &*ledger).await;
        let proposed = format!("{}.proposed", setting("CRASH_RAN"));
        if !Path::new(&proposed).exists() {
            fine(fs::write(proposed, ""));
            step();
            let calls = fine(setting("CRASH_CALLS").parse::<u32>());
            let call = |number: u32| {
                let id = format!("call_{number}");
                if number.is_multiple_of(3) {
                    let found = format!(r#"{{"number":{number}}}"#);
                    return ToolCall::new(id, "act", found).with_no_result(JsonPath::from_pointer("/note"));
                }
                ToolCall::new(id, "act", format!(r#"{{"number":{number},"note":"{NOTE}"}}"#))
            };
            harness.run((1..=calls).map(call)).await;
            go_on(&harness, &*ledger).await;
        }
    });
}

/// Answers what waits, and tries to go on with whatever there is: a call that was begun, or is over, must not be had.
async fn go_on(harness: &Harness, ledger: &dyn Ledger) {
    for case in fine(ledger.history(Query::all()).await).cases() {
        if case.state() == CaseState::Waiting {
            let question = case.question().unwrap_or_else(|| panic!("{case:?} waits for no question"));
            let mut reply = signed(&question, Answer::Yes);
            for open in case.open() {
                reply = reply.fill(open, format!("\"{NOTE}\""));
            }
            fine(ledger.reply(reply).await);
        }
        // Another host may have it, as far as this one can tell.
        match harness.resume(case.id(), None).await {
            Ok(_) | Err(ClaimError::NotWaiting) => {}
            Err(error) => panic!("{error}: {error:?}"),
        }
    }
}

/// Where the calls of one start to the next are.
struct Scene {
    folder: Folder,
    ledger: String,
    calls: u32,
}

impl Scene {
    fn ran(&self) -> BTreeMap<u32, usize> {
        let mut times = BTreeMap::new();
        for line in fs::read_to_string(self.folder.0.join("ran")).unwrap_or_default().lines() {
            *times.entry(fine(line.parse())).or_default() += 1;
        }
        times
    }

    /// Starts a host. Did it come to its end?
    fn start(&self, host: &str, crash_at: Option<usize>) -> bool {
        let child = Command::new(fine(std::env::current_exe()))
            .args(["--ignored", "--exact", "crash::child", "--test-threads=1"])
            .env("CRASH_LEDGER", &self.ledger)
            .env("CRASH_RAN", self.folder.0.join("ran"))
            .env("CRASH_HOST", host)
            .env("CRASH_CALLS", self.calls.to_string())
            .env("CRASH_AT", crash_at.map(|at| at.to_string()).unwrap_or_default())
            .env("RUST_BACKTRACE", "0")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output();
        let output = fine(child);
        let aborted = output.status.code().is_none();
        assert!(
            output.status.success() || (aborted && crash_at.is_some()),
            "{host} {crash_at:?}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        !aborted
    }

    async fn history(&self) -> History {
        match self.ledger.strip_prefix("file:") {
            Some(path) => FileLedger::read(path, &key()).unwrap_or_default(),
            None => {
                let ledger = fine(open(&self.ledger, SqlOptions::new().host("reader")).await);
                let history = fine(ledger.history(Query::all()).await);
                ledger.close().await;
                history
            }
        }
    }

    /// Kills a host at its step `at`, and starts two more. Did it live?
    async fn play(&self, at: usize, hosts: [&str; 3]) -> bool {
        let lived = self.start(hosts[0], Some(at));
        if !lived {
            // In the middle of what it does about that.
            self.start(hosts[1], Some(1 + at % 13));
        }
        let left = self.history().await;
        let rest = || {
            if !self.ledger.starts_with("file:") {
                std::thread::sleep(LEASE + LEASE / 2);
            }
        };
        rest();
        assert!(self.start(hosts[1], None));
        let first = self.history().await;
        rest();
        assert!(self.start(hosts[2], None));
        let second = self.history().await;
        let ran = self.ran();
        assert!(ran.values().all(|times| *times == 1), "{at}: {ran:?}");
        assert_eq!(first.cases(), second.cases(), "{at}: the second start had something to do");
        for case in left.cases() {
            let now = second.case(case.id()).unwrap_or_else(|| panic!("{at}: {case:?} was lost"));
            assert!(now.entries().len() >= case.entries().len(), "{at}: {now:?}");
            assert!(case.end().is_none() || case.end() == now.end(), "{at}: an end was changed");
        }
        let mut cleared = Vec::new();
        for case in second.cases() {
            let number: u32 =
                match case.call_id().map(ToString::to_string).as_deref().and_then(|id| id.strip_prefix("call_")) {
                    Some(number) => fine(number.parse()),
                    None => panic!("{at}: {case:?}"),
                };
            let times = ran.get(&number).copied().unwrap_or(0);
            let is_cleared = case.entries().iter().any(|entry| entry.is_cleared());
            cleared.extend(is_cleared.then_some(number));
            match case.state() {
                CaseState::Ended(Code::Ok) => assert_eq!(times, 1, "{at}: {case:?}"),
                CaseState::Ended(Code::OutcomeUnknown) => assert!(is_cleared, "{at}: {case:?}"),
                CaseState::Ended(Code::NotStarted) => assert!(times == 0 && !is_cleared, "{at}: {case:?}"),
                state => panic!("{at}: {state:?}: {case:?}"),
            }
        }
        assert!(ran.keys().all(|number| cleared.contains(number)), "{at}: ran without a record: {ran:?} {cleared:?}");
        if lived {
            assert_eq!(ran.len(), self.calls as usize);
        }
        lived
    }
}

/// Every step there is, until a host lives. Many at a time: most of it is waiting for leases.
fn every_step(make: impl AsyncFn() -> (Folder, String) + Sync) {
    for (calls, hosts) in [(1, ["a", "a", "a"]), (2, ["a", "b", "a"]), (3, ["a", "b", "c"])] {
        let play = |at: usize| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            fine(runtime).block_on(async {
                let (folder, ledger) = make().await;
                Scene { folder, ledger, calls }.play(at, hosts).await
            })
        };
        let mut lived_at = None;
        for first in (1..).step_by(AT_A_TIME) {
            let lived: Vec<bool> = std::thread::scope(|scope| {
                let plays: Vec<_> = (first..first + AT_A_TIME).map(|at| scope.spawn(move || play(at))).collect();
                plays
                    .into_iter()
                    .map(|play| play.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                    .collect()
            });
            if let Some(place) = lived.iter().position(|lived| *lived) {
                assert!(lived[place..].iter().all(|lived| *lived), "behind its last step nobody dies");
                lived_at = Some(first + place);
                break;
            }
        }
        assert!(lived_at > Some(20), "there are more steps than {lived_at:?}");
    }
}

const AT_A_TIME: usize = 8;

#[test]
fn a_host_that_is_killed_at_any_step_over_a_file() {
    every_step(async || {
        let folder = Folder::new();
        let ledger = format!("file:{}", folder.file().display());
        (folder, ledger)
    });
}

#[test]
fn a_host_that_is_killed_at_any_step_over_sqlite() {
    every_step(async || {
        let folder = Folder::new();
        let ledger = folder.file().display().to_string();
        (folder, ledger)
    });
}

#[test]
fn a_host_that_is_killed_at_any_step_over_postgresql() {
    if std::env::var_os("TEST_POSTGRES").is_none() {
        println!("skipped: TEST_POSTGRES is not set (see .ci/with-postgres)");
        return;
    }
    every_step(async || match Database::all().await.pop() {
        Some(database @ Database::Postgres(_)) => (Folder::new(), database.name()),
        _ => panic!("there is no PostgreSQL"),
    });
}
