//! Keys that are changed, and stores of earlier versions.

use std::fs;
use std::sync::Arc;

use tool_runtime::{
    AllowAll, Answer, CallFacts, CaseState, Code, Decision, FileLedger, FileLedgerError, Harness, Ledger, LedgerKey,
    Query, SqlLedger, SqlOptions, ToolCall,
};

use crate::sql::Database;
use crate::support::{Folder, PayTool, Ran, code, fine, key, patient, payment, propose, registry, signed};

fn old() -> LedgerKey {
    key()
}

fn new() -> LedgerKey {
    fine(LedgerKey::new("test-2", [8; 32]))
}

/// The new key, which reads what was written under the old one.
fn both() -> LedgerKey {
    fine(new().with_earlier(&old()))
}

enum Store {
    File(Folder),
    Sql(Database),
}

impl Store {
    async fn all() -> Vec<Store> {
        let databases = Database::all().await.into_iter().map(Store::Sql);
        std::iter::once(Store::File(Folder::new())).chain(databases).collect()
    }

    async fn open(&self, key: LedgerKey) -> Result<Arc<dyn Ledger>, String> {
        Ok(match self {
            Store::File(folder) => Arc::new(FileLedger::open(folder.file(), key).map_err(|error| error.to_string())?),
            Store::Sql(Database::Sqlite(folder)) => {
                let opened = SqlLedger::sqlite(folder.file(), key, SqlOptions::new()).await;
                Arc::new(opened.map_err(|error| format!("{error}: {:?}", std::error::Error::source(&error)))?)
            }
            Store::Sql(Database::Postgres(url)) => {
                let opened = SqlLedger::postgres(url, key, SqlOptions::new()).await;
                Arc::new(opened.map_err(|error| format!("{error}: {:?}", std::error::Error::source(&error)))?)
            }
        })
    }
}

fn unlock(id: &str) -> ToolCall {
    ToolCall::new(id, "unlock", r#"{"door":"front","pin":"t0k"}"#)
}

/// What was written, asked, answered and sealed under the old key counts with both, and what is written then is under the
/// new one.
#[tokio::test]
async fn a_key_is_changed_while_calls_wait() {
    for store in Store::all().await {
        let ran = Ran::default();
        let (answered, asked, no) = {
            let ledger = fine(store.open(old()).await);
            let harness = patient(&ran, Arc::clone(&ledger));
            let answered = propose(&harness, &ledger, unlock("1")).await;
            fine(ledger.reply(signed(&answered.1, Answer::Yes)).await);
            let asked = propose(&harness, &ledger, unlock("2")).await;
            let no = propose(&harness, &ledger, payment(10)).await;
            fine(ledger.reply(signed(&no.1, Answer::No)).await);
            (answered, asked, no)
        };
        // Without the old key nothing of it can be read.
        assert!(store.open(new()).await.is_err());
        {
            let ledger = fine(store.open(both()).await);
            let harness = patient(&ran, Arc::clone(&ledger));
            assert_eq!(code(&fine(harness.resume(answered.0, None).await)), Code::Ok);
            fine(ledger.reply(signed(&asked.1, Answer::Yes)).await);
            assert_eq!(code(&fine(harness.resume(no.0, None).await)), Code::Rejected);
        }
        let ledger = fine(store.open(both()).await);
        let harness = patient(&ran, Arc::clone(&ledger));
        assert_eq!((code(&fine(harness.resume(asked.0, None).await)), ran.times()), (Code::Ok, 2));
        // The no is remembered, though it has another digest now.
        let again = harness.run_settled([payment(10)], None).await;
        assert_eq!(code(&again[0]), Code::Rejected);
        assert!(again[0].result().text().contains("nobody was asked again"));
        let history = fine(ledger.history(Query::all()).await);
        let keys = |case| -> Vec<String> {
            let entries = history.case(case).map(|case| case.entries()).unwrap_or_default();
            entries.iter().filter_map(|entry| entry.key_id().map(str::to_owned)).collect()
        };
        // Asked, put off, waits, the turn's end; answered; cleared, ended.
        assert_eq!(keys(answered.0), ["test", "test", "test", "test", "test", "test-2", "test-2"]);
        assert_eq!(keys(asked.0), ["test", "test", "test", "test", "test-2", "test-2", "test-2"]);
        drop((harness, ledger));
        // Who has gone on under the new key alone reads neither; nor does who has the old one alone.
        assert!(store.open(new()).await.is_err());
        if let Store::File(folder) = &store {
            let found = FileLedger::verify(folder.file(), &old(), None);
            let why = |found: &FileLedgerError| found.to_string().contains("under the key `test-2`");
            assert!(matches!(&found, Err(error) if why(error)), "{found:?}");
            let wrong = fine(fine(LedgerKey::new("test-2", [9; 32])).with_earlier(&old()));
            assert!(FileLedger::verify(folder.file(), &wrong, None).is_err());
        }
    }
}

/// A secret that was mixed up is told where the ledger is opened, and not by entries that nobody reads any more.
#[tokio::test]
async fn another_secret_under_the_name_of_a_key_opens_nothing() {
    let wrong = |name: &str| fine(LedgerKey::new(name, [9; 32]));
    for is_empty in [true, false] {
        for store in Store::all().await {
            let ran = Ran::default();
            let pays = async |ledger: Arc<dyn Ledger>| {
                let harness = Harness::new(registry(&ran, [PayTool::host()]), AllowAll).ledger(ledger);
                assert_eq!(code(&harness.run_settled([payment(1)], None).await[0]), Code::Ok);
            };
            let ledger = fine(store.open(old()).await);
            match is_empty {
                true => drop(ledger),
                false => pays(ledger).await,
            }
            for key in [wrong("test"), fine(new().with_earlier(&wrong("test")))] {
                let refused = store.open(key).await.err();
                let refused = refused.unwrap_or_else(|| panic!("opened, {is_empty}"));
                assert!(matches!(store, Store::File(_)) || refused.contains("the key `test`"), "{refused}");
            }
            pays(fine(store.open(both()).await)).await;
            assert!(store.open(fine(wrong("test-2").with_earlier(&old()))).await.is_err());
            let ledger = fine(store.open(both()).await);
            assert_eq!(fine(ledger.history(Query::all()).await).cases().len(), ran.times());
        }
    }
}

/// A yes under the new key takes back a no under the old one.
#[tokio::test]
async fn what_was_said_last_counts_under_whichever_key() {
    for store in Store::all().await {
        let ran = Ran::default();
        let (yes, no) = {
            let ledger = fine(store.open(old()).await);
            let harness = patient(&ran, Arc::clone(&ledger));
            // Both wait before either is answered.
            let yes = propose(&harness, &ledger, payment(10)).await;
            let no = propose(&harness, &ledger, payment(10)).await;
            fine(ledger.reply(signed(&no.1, Answer::No)).await);
            (yes, no)
        };
        let ledger = fine(store.open(both()).await);
        let harness = patient(&ran, Arc::clone(&ledger));
        assert_eq!(code(&harness.run_settled([payment(10)], None).await[0]), Code::Rejected);
        fine(ledger.reply(signed(&yes.1, Answer::Yes)).await);
        // Asked anew, and put off.
        propose(&harness, &ledger, payment(10)).await;
        assert_eq!(code(&fine(harness.resume(no.0, None).await)), Code::Rejected);
        assert_eq!(code(&fine(harness.resume(yes.0, None).await)), Code::Ok);
    }
}

/// Whoever gives a file that isn't a ledger, or is one of another program's, is told what is wrong with it.
#[tokio::test]
async fn what_is_no_ledger_is_refused_in_words() {
    let refused = async |meddled: &'static str, database: Database| {
        database.meddle(meddled).await;
        Store::Sql(database).open(key()).await.map(drop).expect_err(meddled)
    };
    for (meddled, why) in [
        ("CREATE TABLE tool_calls (id INTEGER)", "can't be made in this database"),
        ("CREATE TABLE tool_ledger (size INTEGER)", "`tool_ledger` isn't a ledger's"),
    ] {
        let folder = Folder::new();
        fine(fs::write(folder.file(), ""));
        let said = refused(meddled, Database::Sqlite(folder)).await;
        assert!(said.contains(why), "{said}");
    }
    for (meddled, why) in [
        ("UPDATE tool_ledger SET version = 99", "is of version 99, and this program knows those up to"),
        ("UPDATE tool_ledger SET version = -1", "is of version -1"),
        ("UPDATE tool_ledger SET version = 1", "can't be brought from version 1 to"),
    ] {
        for database in Database::all().await {
            database.host("a").await.close().await;
            let said = refused(meddled, database).await;
            assert!(said.contains(why), "{said}");
        }
    }
    let store = Store::File(Folder::new());
    drop(fine(store.open(old()).await));
    let said = store.open(fine(LedgerKey::new("test", [9; 32]))).await.map(drop).unwrap_err();
    assert!(said.contains("or the key has another secret"), "{said}");
}

/// A database of the first version is brought to this one, with what waits in it.
#[tokio::test]
async fn a_database_of_the_first_version_goes_on() {
    for database in Database::all().await {
        let ran = Ran::default();
        let (case, question) = {
            let ledger = database.host("a").await;
            let registry = || registry(&ran, [PayTool::host()]);
            Harness::new(registry(), AllowAll).ledger(Arc::clone(&ledger)).run([payment(1)]).await;
            let denies = |_: &CallFacts<'_>| Decision::deny("no \"code\":\"ok\" here");
            Harness::new(registry(), denies).ledger(Arc::clone(&ledger)).run([payment(2)]).await;
            let waiting = propose(&patient(&ran, Arc::clone(&ledger)), &ledger, unlock("1")).await;
            ledger.close().await;
            waiting
        };
        // What the later ones have added.
        for undo in [
            "DROP TABLE tool_keys",
            "DROP TABLE tool_uses",
            "DROP INDEX tool_calls_stopped",
            "ALTER TABLE tool_calls DROP COLUMN stopped",
            "ALTER TABLE tool_calls DROP COLUMN verdict_key",
            "ALTER TABLE tool_calls DROP COLUMN ended_key",
            "ALTER TABLE tool_entries DROP COLUMN key_id",
            "ALTER TABLE tool_secrets DROP COLUMN filled",
            "UPDATE tool_ledger SET version = 1",
        ] {
            database.meddle(undo).await;
        }
        let store = Store::Sql(database);
        let refused = store.open(fine(LedgerKey::new("test", [9; 32]))).await.err();
        assert!(refused.is_some_and(|refused| refused.contains("the key `test`")));
        let Store::Sql(database) = store else { unreachable!() };
        let ledger = database.host("b").await;
        let history = fine(ledger.history(Query::all()).await);
        let states: Vec<_> = history.cases().iter().map(|case| case.state()).collect();
        assert_eq!(states, [CaseState::Ended(Code::Ok), CaseState::Ended(Code::Denied), CaseState::Waiting]);
        assert!(history.cases().iter().flat_map(|case| case.entries()).all(|entry| entry.key_id() == Some("test")));
        // Which ones stopped is known of those, too.
        let stopped = fine(ledger.history(Query::all().stopped()).await);
        assert_eq!(
            stopped.stops().into_keys().collect::<Vec<_>>(),
            [("pay".to_owned(), Code::Denied), ("unlock".to_owned(), Code::ApprovalPending)]
        );
        fine(ledger.reply(signed(&question, Answer::Yes)).await);
        let settled = fine(patient(&ran, Arc::clone(&ledger)).resume(case, None).await);
        assert_eq!((code(&settled), ran.times()), (Code::Ok, 2));
        ledger.close().await;
        // And one of a later version isn't touched.
        assert_eq!(database.meddle("UPDATE tool_ledger SET version = 9").await, 1);
        assert!(crate::sql::open(&database.name(), SqlOptions::new()).await.is_err());
        assert_eq!(database.meddle("UPDATE tool_ledger SET version = 9 WHERE version = 9").await, 1);
    }
}

/// A file whose lines don't name their keys yet, as the first version wrote it. The call that waits in it is one of `pay`,
/// under its definition in `support`.
#[tokio::test]
async fn a_file_of_the_first_version_goes_on() {
    let folder = Folder::new();
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/data/ledger-first.jsonl");
    fine(fs::copy(kept, folder.file()));
    assert!(
        !fine(fs::read_to_string(folder.file()))
            .lines()
            .skip(1)
            .any(|line| line.contains("\"key\":\"test\",\"entry\""))
    );
    let before = fine(FileLedger::verify(folder.file(), &both(), None));
    assert!(before.is_whole());
    let (ran, ledger): (_, Arc<dyn Ledger>) = (Ran::default(), Arc::new(fine(FileLedger::open(folder.file(), both()))));
    let history = fine(ledger.history(Query::all()).await);
    let waiting = history.waiting().next().unwrap_or_else(|| panic!("one waits"));
    let question = waiting.question().unwrap_or_else(|| panic!("for an answer"));
    fine(ledger.reply(signed(&question, Answer::Yes)).await);
    let settled = fine(patient(&ran, Arc::clone(&ledger)).resume(waiting.id(), None).await);
    assert_eq!((code(&settled), ran.times()), (Code::Ok, 1));
    drop(ledger);
    assert!(fine(FileLedger::verify(folder.file(), &both(), before.head)).is_whole());
}
