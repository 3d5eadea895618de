//! Files are closed and followed by others, and taken out once their calls are over: a chain all the same.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tool_runtime::agreement::Quarantine;
use tool_runtime::{
    AllowAll, Answer, CaseState, Code, FileHead, FileLedger, FileLedgerError, Harness, Ledger, Query, StoredKind,
    Verified,
};

use crate::support::{Folder, PayTool, Ran, fine, key, patient, payment, propose, registry, signed};

const NOW: Duration = Duration::ZERO;

async fn pays(ledger: &Arc<FileLedger>, calls: u32) {
    let harness = Harness::new(registry(&Ran::default(), [PayTool::host()]), AllowAll).ledger(Arc::clone(ledger));
    for amount in 1..=calls {
        assert!(!harness.run([payment(amount)]).await[0].is_error());
    }
}

fn verified(folder: &Folder, expect: Option<FileHead>) -> Result<Verified, FileLedgerError> {
    FileLedger::verify(folder.file(), &key(), expect)
}

fn numbered(folder: &Folder, file: u32) -> PathBuf {
    folder.0.join(format!("ledger.jsonl.{file}"))
}

fn cases(folder: &Folder) -> usize {
    fine(FileLedger::read(folder.file(), &key())).cases().len()
}

/// Puts the same files into a new folder.
fn copied(folder: &Folder) -> Folder {
    let copy = Folder::new();
    for file in fine(fs::read_dir(&folder.0)) {
        let file = fine(file);
        if file.path().is_file() {
            fine(fs::copy(file.path(), copy.0.join(file.file_name())));
        }
    }
    copy
}

/// Three files: two calls in each of the first two, one in the last. Gives where the closed ones came to.
async fn three(folder: &Folder) -> Vec<FileHead> {
    let ledger = folder.open();
    let mut heads = Vec::new();
    for _ in 0..2 {
        pays(&ledger, 2).await;
        heads.push(fine(ledger.rotate().await));
    }
    pays(&ledger, 1).await;
    heads.push(ledger.head());
    heads
}

#[tokio::test]
async fn a_ledger_goes_on_in_the_file_after_one_that_was_closed() {
    let folder = Folder::new();
    let ran = Ran::default();
    let ledger = folder.open();
    let (case, question) = propose(&patient(&ran, Arc::clone(&ledger)), &ledger, payment(7)).await;
    let first = fine(ledger.rotate().await);
    pays(&ledger, 2).await;
    // Nobody else writes to the new file either.
    assert!(matches!(FileLedger::open(folder.file(), key()), Err(FileLedgerError::InUse(_))));
    let second = fine(ledger.rotate().await);
    drop(ledger);
    let found = fine(verified(&folder, None));
    assert!(found.is_whole() && found.files == 3 && found.pruned.is_none());
    let head = found.head.unwrap_or_else(|| panic!("there are lines"));
    // Heads are of the whole ledger, whichever file their lines are in.
    assert!(first.lines() < second.lines() && second.lines() < head.lines());
    for expected in [first, second, head] {
        assert!(fine(verified(&folder, Some(expected))).is_whole());
    }
    let another = format!("{}:{}", first.lines() + 1, "0".repeat(64));
    let other = fine(another.parse());
    assert!(matches!(verified(&folder, Some(other)), Err(FileLedgerError::Unexpected(..))));
    // What waits is in the first, and is answered in the third.
    let ledger = folder.open();
    assert_eq!(fine(ledger.history(Query::all()).await).cases().len(), 3);
    fine(ledger.reply(signed(&question, Answer::Yes)).await);
    let settled = fine(patient(&ran, Arc::clone(&ledger)).resume(case, None).await);
    assert_eq!((settled.record().code(), ran.times()), (Code::Ok, 1));
    let history = fine(ledger.history(Query::all().case(case)).await);
    let kinds: Vec<StoredKind> = history.cases()[0].entries().iter().map(|entry| entry.kind()).collect();
    assert_eq!(kinds.first(), Some(&StoredKind::Asked));
    assert_eq!(history.cases()[0].state(), CaseState::Ended(Code::Ok));
}

#[tokio::test]
async fn a_closed_file_that_is_missing_or_another_is_found() {
    let folder = Folder::new();
    three(&folder).await;
    assert!(fine(verified(&folder, None)).is_whole());
    let spoilt = |spoil: &dyn Fn(&Folder)| {
        let copy = copied(&folder);
        spoil(&copy);
        let found = verified(&copy, None);
        assert!(FileLedger::open(copy.file(), key()).is_err(), "nobody writes on");
        found
    };
    for file in [1, 2] {
        let found = spoilt(&|copy| fine(fs::remove_file(numbered(copy, file))));
        assert!(
            matches!(&found, Err(FileLedgerError::MissingFile(path)) if path.ends_with(format!("ledger.jsonl.{file}"))),
            "{found:?}"
        );
        let found = spoilt(&|copy| fine(fs::copy(numbered(copy, 3 - file), numbered(copy, file)).map(drop)));
        assert!(matches!(found, Err(FileLedgerError::Changed { .. })), "{found:?}");
        // Its last line, or all but the first.
        let bytes = fine(fs::read(numbered(&folder, file)));
        for cut in 1..bytes.split_inclusive(|byte| *byte == b'\n').count() {
            let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').take(cut).collect();
            let found = spoilt(&|copy| fine(fs::write(numbered(copy, file), lines.concat())));
            assert!(matches!(found, Err(FileLedgerError::Changed { .. })), "{found:?}");
        }
    }
    // The file before stands in the place of the last: then what is behind it is missing, as with any cut tail.
    let copy = copied(&folder);
    let head = fine(verified(&copy, None)).head;
    fine(fs::rename(numbered(&copy, 2), copy.file()));
    assert!(matches!(verified(&copy, head), Err(FileLedgerError::Unexpected(..))));
    // Another ledger under the same key.
    let other = Folder::new();
    three(&other).await;
    let found = spoilt(&|copy| fine(fs::copy(numbered(&other, 1), numbered(copy, 1)).map(drop)));
    assert!(matches!(found, Err(FileLedgerError::Changed { .. })), "{found:?}");
}

#[tokio::test]
async fn every_edit_of_a_byte_of_a_closed_file_is_found() {
    let folder = Folder::new();
    three(&folder).await;
    let copy = copied(&folder);
    for file in [numbered(&copy, 1), numbered(&copy, 2), copy.file()] {
        let bytes = fine(fs::read(&file));
        for place in 0..bytes.len() {
            let mut edited = bytes.clone();
            edited[place] ^= [0x01, 0x20, 0x82][place % 3];
            fine(fs::write(&file, &edited));
            match verified(&copy, None) {
                Ok(found) => assert!(!found.is_whole() && file == copy.file(), "{} {place}", file.display()),
                Err(FileLedgerError::Changed { .. } | FileLedgerError::MissingFile(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
        fine(fs::write(&file, &bytes));
    }
    assert!(fine(verified(&copy, None)).is_whole());
}

/// A host is stopped at every step of a rotation, and within each write: whoever opens the file next finds all lines that
/// were acknowledged, and one ledger.
#[tokio::test]
async fn a_rotation_that_is_cut_off_anywhere_loses_nothing() {
    let folder = Folder::new();
    let ledger = folder.open();
    pays(&ledger, 1).await;
    fine(ledger.rotate().await);
    drop(ledger);
    let closed = fine(fs::read(numbered(&folder, 1)));
    let follows = fine(fs::read(folder.file()));
    let last = closed[..closed.len() - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    // While the last line is written; then while the next file is; then it is linked.
    let mut states: Vec<(usize, Option<usize>, bool)> = (last..closed.len()).map(|cut| (cut, None, false)).collect();
    states.extend(
        [0, 1, follows.len() / 2, follows.len() - 1, follows.len()].map(|next| (closed.len(), Some(next), false)),
    );
    states.extend([(closed.len(), None, false), (closed.len(), Some(follows.len()), true)]);
    let stopped = |&(cut, next, linked): &(usize, Option<usize>, bool)| {
        let at = format!("{cut} {next:?} {linked}");
        let stopped = Folder::new();
        fine(fs::write(stopped.file(), &closed[..cut]));
        if let Some(next) = next {
            fine(fs::write(stopped.0.join("ledger.jsonl.next"), &follows[..next]));
        }
        if linked {
            fine(fs::hard_link(stopped.file(), numbered(&stopped, 1)));
        }
        // Whoever only reads finds what is there.
        assert_eq!(cases(&stopped), 1, "{at}");
        let ledger = stopped.open();
        let runtime = fine(tokio::runtime::Builder::new_current_thread().build());
        runtime.block_on(pays(&ledger, 1));
        drop(ledger);
        let found = fine(verified(&stopped, None));
        assert!(found.is_whole(), "{at}");
        assert_eq!(found.files, if cut + 1 >= closed.len() { 2 } else { 1 }, "{at}");
        assert_eq!(cases(&stopped), 2, "{at}");
        assert!(!stopped.0.join("ledger.jsonl.next").exists(), "{at}");
        // And it can be closed.
        let ledger = stopped.open();
        fine(runtime.block_on(ledger.rotate()));
        drop(ledger);
        assert_eq!(fine(verified(&stopped, None)).files, found.files + 1, "{at}");
    };
    const THREADS: usize = 8;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (stopped, states) = (&stopped, states.iter().skip(thread).step_by(THREADS));
            scope.spawn(move || states.for_each(stopped));
        }
    });
}

/// What stands in the way of a rotation is left as it is, and so is the file.
#[tokio::test]
async fn a_rotation_that_fails_changes_nothing() {
    let folder = Folder::new();
    let ledger = folder.open();
    pays(&ledger, 1).await;
    let (head, bytes) = (ledger.head(), fine(fs::read(folder.file())));
    fine(fs::write(numbered(&folder, 1), "somebody else's"));
    assert!(ledger.rotate().await.is_err());
    assert_eq!((ledger.head(), fine(fs::read(folder.file()))), (head, bytes));
    assert_eq!(fine(fs::read_to_string(numbered(&folder, 1))), "somebody else's");
    pays(&ledger, 1).await;
    fine(fs::remove_file(numbered(&folder, 1)));
    fine(ledger.rotate().await);
    drop(ledger);
    assert!(fine(verified(&folder, None)).is_whole() && cases(&folder) == 2);
}

#[tokio::test]
async fn files_whose_calls_are_over_are_taken_out_and_the_ledger_says_so() {
    let folder = Folder::new();
    let heads = three(&folder).await;
    let ledger = folder.open();
    assert_eq!(fine(ledger.prune(Duration::from_secs(3600)).await), 0);
    assert_eq!(fine(verified(&folder, None)).files, 3);
    assert_eq!(fine(ledger.prune(NOW).await), 4);
    assert!(!numbered(&folder, 1).exists() && !numbered(&folder, 2).exists());
    let found = fine(verified(&folder, Some(ledger.head())));
    assert!(found.is_whole() && found.files == 1 && found.pruned == Some(heads[1]));
    assert!(fine(verified(&folder, Some(heads[2]))).is_whole());
    assert!(fine(verified(&folder, Some(heads[1]))).is_whole());
    assert!(matches!(verified(&folder, Some(heads[0])), Err(FileLedgerError::TakenOut(..))));
    assert_eq!(cases(&folder), 1);
    // Further files, and once more.
    let third = fine(ledger.rotate().await);
    pays(&ledger, 1).await;
    assert_eq!(fine(verified(&folder, None)).pruned, Some(heads[1]));
    assert_eq!(fine(ledger.prune(NOW).await), 1);
    assert_eq!(fine(ledger.prune(NOW).await), 0);
    drop(ledger);
    let ledger = folder.open();
    assert_eq!(fine(ledger.history(Query::all()).await).cases().len(), 1);
    let found = fine(verified(&folder, None));
    assert!(found.files == 1 && found.pruned == Some(third));
}

#[tokio::test]
async fn what_is_open_and_what_was_said_of_tools_is_carried_over() {
    let folder = Folder::new();
    let ran = Ran::default();
    let ledger = folder.open();
    let quarantine = fine(Quarantine::open(Arc::clone(&ledger) as Arc<dyn Ledger>).await);
    fine(quarantine.hold(&PayTool::host(), "it races").await);
    let (case, question) = propose(&patient(&ran, Arc::clone(&ledger)), &ledger, payment(7)).await;
    let before = fine(ledger.history(Query::all().case(case)).await);
    pays(&ledger, 1).await;
    // Once more, with a file that has nothing but what was carried over.
    for gone in [1, 0] {
        fine(ledger.rotate().await);
        assert_eq!(fine(ledger.prune(NOW).await), gone);
    }
    drop((ledger, quarantine));
    assert_eq!(cases(&folder), 1);
    let ledger = folder.open();
    // All that was written of it is there, by whom and when it was.
    assert_eq!(fine(ledger.history(Query::all().case(case)).await).cases(), before.cases());
    let held = fine(Quarantine::open(Arc::clone(&ledger) as Arc<dyn Ledger>).await).tools();
    assert_eq!(held.iter().map(ToString::to_string).collect::<Vec<_>>(), ["pay: it races"]);
    fine(ledger.reply(signed(&question, Answer::Yes)).await);
    let settled = fine(patient(&ran, Arc::clone(&ledger)).resume(case, None).await);
    assert_eq!((settled.record().code(), ran.times()), (Code::Ok, 1));
}

/// A host is stopped while it takes files out: what its ledger says is gone doesn't count, and goes when it is opened.
#[tokio::test]
async fn taking_out_that_is_cut_off_anywhere_loses_nothing() {
    let folder = Folder::new();
    let ledger = folder.open();
    let (case, _) = propose(&patient(&Ran::default(), Arc::clone(&ledger)), &ledger, payment(7)).await;
    drop(ledger);
    three(&folder).await;
    let whole = copied(&folder);
    let before = fine(fs::read(folder.file()));
    fine(folder.open().prune(NOW).await);
    let after = fine(fs::read(folder.file()));
    assert!(after.starts_with(&before) && after.len() > before.len());
    // Within the write.
    for cut in (before.len()..after.len()).step_by(37).chain([after.len() - 1]) {
        let stopped = copied(&whole);
        fine(fs::write(stopped.file(), &after[..cut]));
        let is_said = cut + 1 == after.len();
        assert_eq!(cases(&stopped), if is_said { 2 } else { 6 }, "{cut}");
        let ledger = stopped.open();
        assert_eq!(fine(ledger.history(Query::all()).await).cases().len(), if is_said { 2 } else { 6 }, "{cut}");
        assert_eq!(numbered(&stopped, 1).exists(), !is_said, "{cut}");
        fine(ledger.prune(NOW).await);
        let history = fine(ledger.history(Query::all()).await);
        assert_eq!(history.cases().len(), 2, "{cut}");
        assert_eq!(
            history.case(case).map(|case| (case.entries().len(), case.state())),
            Some((4, CaseState::Waiting)),
            "{cut}"
        );
        assert!(fine(verified(&stopped, None)).is_whole(), "{cut}");
    }
    // After it: both are there, or the newer.
    for left in [vec![1, 2], vec![2]] {
        let stopped = copied(&folder);
        for file in left {
            fine(fs::copy(numbered(&whole, file), numbered(&stopped, file)));
        }
        assert!(fine(verified(&stopped, None)).is_whole());
        assert_eq!(cases(&stopped), 2);
        drop(stopped.open());
        assert!(!numbered(&stopped, 1).exists() && !numbered(&stopped, 2).exists());
    }
    // Who takes them out, and the line that says so, too, is found.
    fine(fs::write(folder.file(), &before));
    assert!(matches!(verified(&folder, None), Err(FileLedgerError::MissingFile(_))));
}

/// Reading doesn't wait for whoever writes, and never finds half of what happens.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ledger_can_be_read_while_its_files_come_and_go() {
    let folder = Folder::new();
    let ledger = folder.open();
    pays(&ledger, 1).await;
    let over = Arc::new(AtomicBool::new(false));
    let reader = {
        let (file, over) = (folder.file(), Arc::clone(&over));
        std::thread::spawn(move || {
            let mut read = 0;
            while !over.load(Ordering::SeqCst) {
                assert!(!fine(FileLedger::read(&file, &key())).cases().is_empty());
                read += 1;
            }
            read
        })
    };
    for _ in 0..20 {
        fine(ledger.rotate().await);
        pays(&ledger, 1).await;
        fine(ledger.prune(NOW).await);
    }
    over.store(true, Ordering::SeqCst);
    assert!(reader.join().is_ok_and(|read| read > 0));
}

/// A closed file says that another one follows. Where that one is gone or empty, nobody begins a new ledger beside it.
#[tokio::test]
async fn a_closed_file_without_the_one_that_follows_is_found() {
    let folder = Folder::new();
    three(&folder).await;
    let newest = fine(fs::read(folder.file()));
    let first_line = newest.iter().position(|byte| *byte == b'\n').unwrap_or_default();
    for left in [None, Some(0), Some(first_line / 2)] {
        // The older ones may have been taken out.
        for closed in [&[1, 2][..], &[2]] {
            let copy = copied(&folder);
            for file in [1, 2].iter().filter(|file| !closed.contains(file)) {
                fine(fs::remove_file(numbered(&copy, *file)));
            }
            match left {
                None => fine(fs::remove_file(copy.file())),
                Some(left) => fine(fs::write(copy.file(), &newest[..left])),
            }
            for found in [verified(&copy, None).map(drop), FileLedger::open(copy.file(), key()).map(drop)] {
                assert!(
                    matches!(&found, Err(FileLedgerError::MissingFile(path)) if *path == copy.file()),
                    "{left:?}, {closed:?}: {found:?}"
                );
            }
            assert_eq!(fs::read(copy.file()).ok(), left.map(|left| newest[..left].to_vec()), "nothing is changed");
        }
    }
    // Whatever else has such a name is no closed file of a ledger.
    let copy = Folder::new();
    fine(fs::write(numbered(&copy, 1), "something else\n"));
    fine(fs::write(numbered(&copy, 2), &newest));
    pays(&copy.open(), 1).await;
    assert!(fine(verified(&copy, None)).is_whole());
}
