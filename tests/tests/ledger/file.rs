use std::fs;
use std::sync::Arc;

use tool_runtime::{
    AllowAll, CaseState, Code, FileLedger, FileLedgerError, FileTail, Harness, Ledger, LedgerKey, Query, StoredKind,
};

use crate::support::{Folder, PayTool, Ran, UnlockTool, fine, key, patient, payment, propose, registry};

/// A file with some calls in it.
async fn written(folder: &Folder) -> Vec<u8> {
    let ledger = folder.open();
    let ran = Ran::default();
    let harness = Harness::new(registry(&ran, [PayTool::host()]), AllowAll).ledger(Arc::clone(&ledger));
    for amount in 1..=2 {
        assert!(!harness.run([payment(amount)]).await[0].is_error());
    }
    drop((harness, ledger));
    fine(fs::read(folder.file()))
}

fn verified(folder: &Folder) -> Result<tool_runtime::Verified, FileLedgerError> {
    FileLedger::verify(folder.file(), &key(), None)
}

#[tokio::test]
async fn what_was_written_is_read_back_and_gone_on_with() {
    let folder = Folder::new();
    written(&folder).await;
    let head = fine(verified(&folder)).head;
    let ledger = folder.open();
    assert_eq!(head, Some(ledger.head()));
    let refused = FileLedger::open(folder.file(), key());
    assert!(matches!(refused, Err(FileLedgerError::InUse(_))), "{refused:?}");
    let harness = Harness::new(registry(&Ran::default(), [PayTool::host()]), AllowAll).ledger(Arc::clone(&ledger));
    harness.run([payment(3), payment(4)]).await;
    let history = fine(ledger.history(Query::all()).await);
    assert_eq!(history.cases().len(), 4);
    for (case, amount) in history.cases().iter().zip(1..) {
        assert_eq!(case.state(), CaseState::Ended(Code::Ok));
        assert_eq!(case.call_id().map(ToString::to_string).as_deref(), Some("call_1"));
        assert_eq!(case.tool(), "pay");
        let arguments = case.verdict().and_then(|verdict| verdict.arguments());
        assert_eq!(arguments, Some(format!(r#"{{"to":"alice","amount":{amount}}}"#).as_str()));
        let content = case.end().and_then(|end| end.content());
        assert_eq!(content.map(|content| content.to_text()), Some(format!("{amount} to alice")));
        let kinds: Vec<StoredKind> = case.entries().iter().map(|entry| entry.kind()).collect();
        assert_eq!(kinds, [StoredKind::Verdict, StoredKind::End]);
    }
    assert_eq!(fine(ledger.history(Query::all().newest(1).tool("pay")).await).cases().len(), 1);
    assert_eq!(fine(ledger.history(Query::unfinished()).await).cases(), []);
}

/// An edit of any byte to any other is found; nothing that holds is given up for it.
#[tokio::test]
async fn every_edit_of_a_byte_is_found() {
    let folder = Folder::new();
    let bytes = written(&folder).await;
    let text = folder.0.join("edited");
    for place in 0..bytes.len() {
        // Every value for newlines, where a reader may look away; some elsewhere, unless all are asked for.
        let all = bytes[place] == b'\n' || std::env::var_os("EVERY_EDIT").is_some();
        for flip in 1..=255_u8 {
            if !all && ![0x01, 0x20, 0x82].contains(&flip) {
                continue;
            }
            let mut edited = bytes.clone();
            edited[place] ^= flip;
            fine(fs::write(&text, &edited));
            match FileLedger::verify(&text, &key(), None) {
                Ok(verified) => {
                    assert!(!verified.is_whole(), "byte {place} ^ {flip}");
                    // Only the newline at the very end may change without anything being lost.
                    if place == bytes.len() - 1 {
                        assert_eq!(verified.tail, FileTail::NoNewline(vec![edited[place]]));
                    }
                }
                Err(error) => assert!(matches!(error, FileLedgerError::Changed { .. }), "{error}"),
            }
        }
    }
}

/// A write is cut off at every byte: what was whole stays, the rest is set aside when somebody opens the file to write on,
/// and not before.
#[tokio::test]
async fn a_write_that_is_cut_off_anywhere_loses_nothing_that_was_whole() {
    let folder = Folder::new();
    let bytes = written(&folder).await;
    let line = |at: usize| bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let (first, last) = (line(bytes.len() - 1), bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0) + 1);
    let cut = |length: usize| {
        let cut = Folder::new();
        fine(fs::write(cut.file(), &bytes[..length]));
        let before = fine(verified(&cut));
        let lines = before.head.map_or(0, |head| head.lines());
        let no_newline = length > 0 && bytes.get(length) == Some(&b'\n');
        let whole = bytes[..length].iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(lines as usize, whole + usize::from(no_newline), "{length}");
        let at_line = length == 0 || bytes[length - 1] == b'\n';
        match before.tail {
            FileTail::Whole => assert!(at_line, "{length}"),
            FileTail::NoNewline(_) => assert!(no_newline, "{length}"),
            FileTail::Torn(_) => assert!(!at_line && !no_newline, "{length}"),
            other => panic!("{other:?}"),
        }
        // Reading wrote nothing.
        assert_eq!(fine(fs::read(cut.file())).len(), length);
        // Opening syncs, which takes a while: of the last write, and of the one that begins a file.
        if length > last && length < first {
            return;
        }
        drop(cut.open());
        let after = fine(verified(&cut));
        assert!(after.is_whole(), "{length}");
        assert_eq!(after.head.map(|head| head.lines()), Some(lines.max(1)), "{length}");
        let aside = fs::read(cut.0.join("ledger.jsonl.torn")).unwrap_or_default();
        let kept = fine(fs::read(cut.file()));
        if !at_line && !no_newline {
            assert_eq!(aside, [&bytes[line(length)..length], b"\n"].concat(), "{length}");
        } else {
            assert_eq!(aside, b"", "{length}");
        }
        if lines > 0 {
            assert!(bytes.starts_with(&kept) || kept.ends_with(b"\n"), "{length}");
        }
    };
    const THREADS: usize = 8;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (cut, lengths) = (&cut, (thread..bytes.len()).step_by(THREADS));
            scope.spawn(move || lengths.for_each(cut));
        }
    });
}

#[tokio::test]
async fn lines_that_are_missing_at_the_end_are_found_by_a_head_that_was_kept() {
    let folder = Folder::new();
    let bytes = written(&folder).await;
    let head = fine(verified(&folder)).head.unwrap_or_else(|| panic!("there are lines"));
    assert_eq!(head.to_string().parse(), Ok(head));
    assert!(fine(FileLedger::verify(folder.file(), &key(), Some(head))).is_whole());
    // More lines than expected are fine: the ones that were there are.
    {
        let harness = Harness::new(registry(&Ran::default(), [PayTool::host()]), AllowAll).ledger(folder.open());
        harness.run([payment(3)]).await;
    }
    assert!(fine(FileLedger::verify(folder.file(), &key(), Some(head))).is_whole());
    // A whole line less can't be seen without the head.
    let last = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    fine(fs::write(folder.file(), &bytes[..last]));
    assert!(fine(verified(&folder)).is_whole());
    let found = FileLedger::verify(folder.file(), &key(), Some(head));
    assert!(matches!(found, Err(FileLedgerError::Unexpected(..))), "{found:?}");
    // Lines of another file don't fit, and neither does another key.
    let other = Folder::new();
    written(&other).await;
    let found = FileLedger::verify(other.file(), &key(), Some(head));
    assert!(matches!(found, Err(FileLedgerError::Unexpected(..))), "{found:?}");
    for wrong in [fine(LedgerKey::new("test", [8; 32])), fine(LedgerKey::new("other", [7; 32]))] {
        let found = FileLedger::verify(other.file(), &wrong, None);
        assert!(!matches!(found, Ok(verified) if verified.is_whole()));
    }
}

/// Lines swapped, doubled, and taken from another ledger under the same key.
#[tokio::test]
async fn lines_have_one_place_each() {
    let folder = Folder::new();
    let bytes = written(&folder).await;
    let foreign = Folder::new();
    let others = written(&foreign).await;
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let others: Vec<&[u8]> = others.split_inclusive(|byte| *byte == b'\n').collect();
    let edited = |change: &dyn Fn(&mut Vec<&[u8]>)| {
        let mut lines = lines.clone();
        change(&mut lines);
        lines.concat()
    };
    for edited in [
        edited(&|lines| lines.swap(2, 3)),
        edited(&|lines| lines.insert(2, lines[1])),
        edited(&|lines| {
            lines.remove(2);
        }),
        edited(&|lines| {
            lines.remove(0);
        }),
        [lines.clone(), others[others.len() - 1..].to_vec()].concat().concat(),
    ] {
        fine(fs::write(folder.file(), &edited));
        let found = verified(&folder);
        assert!(matches!(found, Err(FileLedgerError::Changed { .. })), "{found:?}");
        // Nobody writes on to what was changed.
        assert!(FileLedger::open(folder.file(), key()).is_err());
        assert_eq!(fine(fs::read(folder.file())), edited);
    }
}

/// B82: what is secret is in no record, is sealed while its call waits, and is gone after it.
#[tokio::test]
async fn b82_secrets_are_sealed_while_a_call_waits_and_erased_after_it() {
    let folder = Folder::new();
    let ran = Ran::default();
    let (everything, sealed) = (|| folder.bytes(), || folder.sealed());
    let (case, question) = {
        let ledger = folder.open();
        let harness = patient(&ran, Arc::clone(&ledger));
        let call = tool_runtime::ToolCall::new("call_1", "unlock", r#"{"door":"front","pin":"t0k"}"#);
        propose(&harness, &ledger, call).await
    };
    assert!(!everything().contains("t0k") && sealed() == 1);
    let ledger = folder.open();
    fine(ledger.reply(crate::support::signed(&question, tool_runtime::Answer::Yes)).await);
    let settled = fine(patient(&ran, Arc::clone(&ledger)).resume(case, None).await);
    assert_eq!(settled.result().text(), "front opened by 3 digits");
    assert!(!everything().contains("t0k") && sealed() == 0);
    let unlock = UnlockTool::host();
    assert_eq!((ran.times(), unlock.name()), (1, "unlock"));
}
