//! Several processes at once, and processes whose disk is full. Each is this test program itself, started anew
//! ([`child`]).

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tool_runtime::{
    AllowAll, Answer, ClaimError, Code, FileLedger, FileTail, Harness, Ledger, Query, Registry, SqlOptions, ToolCall,
    tool,
};

use crate::sql::{Database, open};
use crate::support::{Folder, asking, code, fine, key, propose, signed};

/// Writes down that it ran.
#[tool(host(destructive))]
async fn act(
    /// Which of the calls it is.
    number: u32,
) -> u32 {
    let mut ran = fine(OpenOptions::new().append(true).create(true).open(setting("CHILD_RAN")));
    fine(ran.write_all(format!("{number}\n").as_bytes()));
    number
}

fn setting(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn registry() -> Registry {
    fine(Registry::builder().tool(ActTool::host()).build())
}

/// Starts this program as another process, which does what `does` says.
fn start(does: &str, ledger: &str, folder: &Folder, shell: Option<&str>) -> Command {
    let program = fine(std::env::current_exe());
    let arguments = ["--ignored", "--exact", "processes::child", "--test-threads=1", "--nocapture"];
    let mut command = match shell {
        Some(shell) => {
            let mut command = Command::new("sh");
            command.arg("-c").arg(format!("{shell}; exec \"$@\"")).arg("sh").arg(program).args(arguments);
            command
        }
        None => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
    };
    command
        .env("CHILD_DOES", does)
        .env("CHILD_LEDGER", ledger)
        .env("CHILD_RAN", folder.0.join("ran"))
        .env("CHILD_GO", folder.0.join("go"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[test]
#[ignore = "started by the tests here"]
fn child() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    fine(runtime).block_on(async {
        let name = setting("CHILD_LEDGER");
        let ledger: Arc<dyn Ledger> = match name.strip_prefix("file:") {
            Some(path) => Arc::new(fine(FileLedger::open(path, key()))),
            None => Arc::new(fine(open(&name, SqlOptions::new()).await)),
        };
        match setting("CHILD_DOES").split_once(' ') {
            Some(("resume", case)) => {
                let harness = asking(registry(), ledger);
                while fs::metadata(setting("CHILD_GO")).is_err() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                match harness.resume(fine(case.parse()), None).await {
                    Ok(settled) => println!("came to {}", code(&settled)),
                    Err(ClaimError::NotWaiting) => println!("came to nothing"),
                    Err(error) => panic!("{error}: {error:?}"),
                }
            }
            Some(("run", calls)) => {
                let harness = Harness::new(registry(), AllowAll).ledger(ledger);
                for number in 0..fine(calls.parse::<u32>()) {
                    let call = ToolCall::new(format!("call_{number}"), "act", format!(r#"{{"number":{number}}}"#));
                    let settled = harness.run_settled([call], None).await.remove(0);
                    println!("came to {}", code(&settled));
                }
            }
            other => panic!("{other:?}"),
        }
    });
}

/// What children said, each line that begins so.
fn said(output: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(output);
    text.lines().filter_map(|line| line.split_once("came to ")).map(|(_, what)| what.to_owned()).collect()
}

/// Of processes that go on with one call at the same time, one runs it.
#[tokio::test]
async fn of_processes_that_resume_one_call_one_runs_it() {
    for database in Database::all().await {
        for round in 0..4 {
            let folder = Folder::new();
            let ledger = database.host("a").await;
            let call = ToolCall::new("call_1", "act", format!(r#"{{"number":{round}}}"#));
            let (case, question) = propose(&asking(registry(), Arc::clone(&ledger)), &ledger, call).await;
            fine(ledger.reply(signed(&question, Answer::Yes)).await);
            ledger.close().await;
            let does = format!("resume {case}");
            let children: Vec<_> =
                (0..4).map(|_| fine(start(&does, &database.name(), &folder, None).spawn())).collect();
            fine(fs::write(folder.0.join("go"), ""));
            let mut outcomes = BTreeMap::<String, usize>::new();
            for child in children {
                let output = fine(child.wait_with_output());
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                said(&output.stdout).into_iter().for_each(|outcome| *outcomes.entry(outcome).or_default() += 1);
            }
            assert_eq!(outcomes, BTreeMap::from([("ok".to_owned(), 1), ("nothing".to_owned(), 3)]));
            assert_eq!(fine(fs::read_to_string(folder.0.join("ran"))), format!("{round}\n"));
        }
    }
}

/// B83: once the disk is full, nothing runs that isn't recorded, what was recorded is whole, and with room again it goes
/// on. The limit is the process's own, on the size of its files.
#[cfg(unix)]
#[tokio::test]
async fn b83_on_a_full_disk_nothing_runs_unrecorded_and_nothing_is_lost() {
    for sql in [false, true] {
        for blocks in [8, 9, 40, 41, 90] {
            let folder = Folder::new();
            let name =
                if sql { folder.file().display().to_string() } else { format!("file:{}", folder.file().display()) };
            // Made before there is a limit, so that all has its tables.
            let made = fine(start("run 1", &name, &folder, None).output());
            assert_eq!(said(&made.stdout), ["ok"], "{}", String::from_utf8_lossy(&made.stderr));
            let limit = format!("trap '' XFSZ; ulimit -f {blocks}");
            let full = fine(start("run 60", &name, &folder, Some(&limit)).output());
            let outcomes = said(&full.stdout);
            // A process whose database is full from the start doesn't open it.
            assert!(full.status.success() || (sql && outcomes.is_empty()), "{}", String::from_utf8_lossy(&full.stderr));
            let ran = fs::read_to_string(folder.0.join("ran")).unwrap_or_default().lines().count();
            let fine_ones = outcomes.iter().filter(|outcome| *outcome == "ok").count();
            assert!(outcomes.iter().all(|outcome| outcome == "ok" || outcome == "not_recorded"), "{outcomes:?}");
            // The effect of the body is a write, too, and a short one: it always has room.
            assert_eq!(ran, 1 + fine_ones, "{blocks}");
            let ledger: Arc<dyn Ledger> = if sql {
                Arc::new(fine(open(&name, SqlOptions::new()).await))
            } else {
                let verified = fine(FileLedger::verify(folder.file(), &key(), None));
                assert_eq!(verified.tail, FileTail::Whole, "{blocks}: what could not be written was taken back");
                folder.open()
            };
            let cleared = fine(ledger.history(Query::all()).await);
            let cleared = cleared.cases().iter().filter(|case| case.entries().iter().any(|entry| entry.is_cleared()));
            let (cleared, ended): (Vec<_>, Vec<_>) = cleared.map(|case| (case.id(), case.end().is_some())).unzip();
            assert!(cleared.len() >= ran, "{blocks}: {} verdicts for {ran}", cleared.len());
            // Only of a call whose end had no room is the end missing.
            assert!(ended.iter().filter(|ended| !**ended).count() <= 1 + outcomes.len() - fine_ones, "{blocks}");
            let harness = Harness::new(registry(), AllowAll).ledger(Arc::clone(&ledger));
            fine(harness.repair().await);
            let left = fine(ledger.history(Query::unfinished()).await).cases().len();
            assert!(left == 0 || sql, "{blocks}");
            assert!(blocks > 9 || outcomes.is_empty() || fine_ones < 60, "{blocks}: the disk was never full");
        }
    }
}

/// Not the outcome of one call, but that nobody says "ok" of what isn't there.
#[test]
fn what_children_say_is_read() {
    assert_eq!(said(b"x\ntest y ... came to ok\ncame to not_recorded\n"), ["ok", Code::NotRecorded.as_str()]);
}
