use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::{Connection as _, PgConnection, SqliteConnection};
use tokio::sync::Notify;
use tool_runtime::{
    AllowAll, Answer, CaseId, CaseState, ClaimError, Code, Harness, Ledger, LedgerKey, MemoryLedger, Query, Registry,
    ReplyError, SqlLedger, SqlOptions, StoredKind, ToolCall, tool,
};

use crate::support::{
    Folder, PayTool, Ran, asking, code, fine, key, patient, payment, propose, registry, signed, waiting,
};
use crate::waiting::race;

/// A database of a test's own.
pub(crate) enum Database {
    Sqlite(Folder),
    /// A schema of the server that the tests were given.
    Postgres(String),
}

impl Database {
    /// SQLite, and PostgreSQL if there is one.
    pub(crate) async fn all() -> Vec<Database> {
        let mut all = vec![Database::Sqlite(Folder::new())];
        match std::env::var("TEST_POSTGRES") {
            Ok(url) => {
                static NEXT: AtomicU64 = AtomicU64::new(0);
                let schema = format!("t_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst));
                let mut admin = fine(PgConnection::connect(&url).await);
                fine(sqlx::raw_sql(sqlx::AssertSqlSafe(format!("CREATE SCHEMA {schema}"))).execute(&mut admin).await);
                let separator = if url.contains('?') { '&' } else { '?' };
                all.push(Database::Postgres(format!("{url}{separator}options=-csearch_path%3D{schema}")));
            }
            Err(_) => println!("skipped with PostgreSQL: TEST_POSTGRES is not set (see .ci/with-postgres)"),
        }
        all
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Database::Sqlite(folder) => folder.file().to_string_lossy().into_owned(),
            Database::Postgres(url) => url.clone(),
        }
    }

    pub(crate) async fn open(&self, options: SqlOptions) -> Arc<SqlLedger> {
        Arc::new(fine(open(&self.name(), options).await))
    }

    pub(crate) async fn host(&self, name: &str) -> Arc<SqlLedger> {
        self.open(SqlOptions::new().host(name)).await
    }

    /// All that can be read of it: SQLite's files, with what was freed; PostgreSQL's rows.
    pub(crate) async fn bytes(&self) -> String {
        match self {
            Database::Sqlite(folder) => folder.bytes(),
            Database::Postgres(url) => {
                let mut connection = fine(PgConnection::connect(url).await);
                let mut all = String::new();
                for sql in [
                    "SELECT coalesce(string_agg(c::text, ' '), '') FROM tool_calls c",
                    "SELECT coalesce(string_agg(e::text, ' '), '') FROM tool_entries e",
                    "SELECT coalesce(string_agg(encode(sealed, 'escape') || encode(coalesce(filled, ''), 'escape'), ' '), '') FROM tool_secrets",
                ] {
                    all.push_str(&fine(sqlx::query_scalar::<_, String>(sql).fetch_one(&mut connection).await));
                }
                all
            }
        }
    }

    /// What somebody does who has the database and not the key. Gives how many rows that changed.
    pub(crate) async fn meddle(&self, sql: &'static str) -> u64 {
        match self {
            Database::Sqlite(folder) => {
                let url = format!("sqlite://{}", folder.file().display());
                let mut connection = fine(SqliteConnection::connect(&url).await);
                fine(sqlx::query(sql).execute(&mut connection).await).rows_affected()
            }
            Database::Postgres(url) => {
                let mut connection = fine(PgConnection::connect(url).await);
                fine(sqlx::query(sql).execute(&mut connection).await).rows_affected()
            }
        }
    }
}

/// The same store, as processes one after the other have it: each gets what `open` gives.
pub(crate) enum Store {
    Memory(Arc<dyn Ledger>),
    File(Folder),
    Sql(Database),
}

impl Store {
    pub(crate) async fn all() -> Vec<Store> {
        let memory: Arc<dyn Ledger> = Arc::new(MemoryLedger::default());
        let mut all = vec![Store::Memory(memory), Store::File(Folder::new())];
        all.extend(Database::all().await.into_iter().map(Store::Sql));
        all
    }

    pub(crate) async fn open(&self, host: &str) -> Arc<dyn Ledger> {
        match self {
            Store::Memory(ledger) => Arc::clone(ledger),
            Store::File(folder) => folder.open(),
            Store::Sql(database) => database.host(host).await,
        }
    }
}

pub(crate) async fn open(name: &str, options: SqlOptions) -> Result<SqlLedger, tool_runtime::LedgerError> {
    match name.starts_with("postgres:") {
        true => SqlLedger::postgres(name, key(), options).await,
        false => SqlLedger::sqlite(name, key(), options).await,
    }
}

/// A turn's calls with everything about them, read back.
#[tokio::test]
async fn a_call_is_one_row_and_is_read_back() {
    for database in Database::all().await {
        let ledger = database.host("a").await;
        let ran = Ran::default();
        let harness =
            Harness::new(registry(&ran, [PayTool::host()]), AllowAll).ledger(Arc::clone(&ledger)).conversation("talk");
        let calls = [payment(1), ToolCall::new("call_2", "pay", "{}"), ToolCall::new("call_3", "pya", "\0")];
        let results = harness.run(calls.clone()).await;
        ledger.close().await;
        let ledger = database.host("b").await;
        let history = fine(ledger.history(Query::all().conversation("talk")).await);
        let states: Vec<CaseState> = history.cases().iter().map(|case| case.state()).collect();
        assert_eq!(states, [Code::Ok, Code::InvalidArguments, Code::UnknownTool].map(CaseState::Ended));
        assert_eq!(history.results(&calls), results);
        assert_eq!(fine(ledger.history(Query::all().conversation("other")).await).cases(), []);
        assert_eq!(fine(ledger.history(Query::all().newest(2)).await).cases(), &history.cases()[1..]);
        assert_eq!(fine(ledger.history(Query::unfinished()).await).cases(), []);
        assert_eq!(database.meddle("UPDATE tool_calls SET tool = tool").await, 3);
    }
}

#[tokio::test]
async fn a_call_is_answered_by_one_host_and_gone_on_with_by_another() {
    for database in Database::all().await {
        let ran = Ran::default();
        let first = database.host("a").await;
        let (case, question) = propose(&patient(&ran, Arc::clone(&first)), &first, payment(10)).await;
        let second = database.host("b").await;
        let early = patient(&ran, Arc::clone(&second)).resume(case, None).await;
        assert!(matches!(early, Err(ClaimError::NotAnswered)), "{early:?}");
        fine(second.reply(signed(&question, Answer::Yes)).await);
        let third = database.host("c").await;
        let settled = fine(patient(&ran, Arc::clone(&third)).resume(case, None).await);
        assert_eq!((settled.result().text(), ran.times()), ("10 to alice".to_owned(), 1));
        for host in [&first, &second, &third] {
            let again = patient(&ran, Arc::clone(host)).resume(case, None).await;
            assert!(matches!(again, Err(ClaimError::NotWaiting)), "{again:?}");
        }
        let history = fine(first.history(Query::all().case(case)).await);
        let words: Vec<StoredKind> = history.cases()[0].entries().iter().map(|entry| entry.kind()).collect();
        use StoredKind::{Answered, Asked, End, Verdict};
        assert_eq!(words, [Asked, Answered, Verdict, End, Answered, Verdict, End]);
        assert_eq!(history.cases()[0].state(), CaseState::Ended(Code::Ok));
        assert_eq!(history.cases()[0].signer().map(|signer| signer.by().to_owned()).as_deref(), Some("ann"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn b71_of_many_answers_on_many_hosts_one_counts() {
    for database in Database::all().await {
        let mut hosts: Vec<Arc<dyn Ledger>> = Vec::new();
        for name in ["a", "b", "c"] {
            hosts.push(database.host(name).await);
        }
        race(&hosts[0].clone(), &hosts).await;
    }
}

#[tokio::test]
async fn a_no_is_remembered_by_every_host() {
    for database in Database::all().await {
        let ran = Ran::default();
        let first = database.host("a").await;
        let (case, question) = propose(&patient(&ran, Arc::clone(&first)), &first, payment(10)).await;
        fine(first.reply(signed(&question, Answer::No)).await);
        assert_eq!(code(&fine(patient(&ran, Arc::clone(&first)).resume(case, None).await)), Code::Rejected);
        let second = database.host("b").await;
        let harness = patient(&ran, Arc::clone(&second));
        let settled = harness.run_settled([payment(10)], None).await;
        assert_eq!((code(&settled[0]), ran.times()), (Code::Rejected, 0));
        assert!(settled[0].result().text().contains("nobody was asked again"));
        propose(&harness, &second, payment(11)).await;
    }
}

/// Whoever has the database and not the key: forges, edits, exchanges.
#[tokio::test]
async fn what_was_forged_or_edited_is_refused() {
    let edits = [
        "UPDATE tool_entries SET body = replace(body, '\"amount\\\":10', '\"amount\\\":99') WHERE kind = 'verdict'",
        "UPDATE tool_entries SET body = replace(body, '\"answer\":\"no\"', '\"answer\":\"yes\"') WHERE kind = 'answered'",
        "UPDATE tool_entries SET body = replace(body, '\"by\":\"ann\"', '\"by\":\"bob\"') WHERE kind = 'answered'",
        "UPDATE tool_entries SET body = replace(body, '\"money\"', '\"honey\"') WHERE kind = 'asked'",
        "UPDATE tool_entries SET mac = (SELECT mac FROM tool_entries WHERE kind = 'asked' LIMIT 1) WHERE kind = 'verdict'",
        // Of another call.
        "UPDATE tool_entries SET body = (SELECT o.body FROM tool_entries o WHERE o.kind = tool_entries.kind ORDER BY seq DESC LIMIT 1), mac = (SELECT o.mac FROM tool_entries o WHERE o.kind = tool_entries.kind ORDER BY seq DESC LIMIT 1) WHERE kind = 'verdict'",
    ];
    for edit in edits {
        for database in Database::all().await {
            let (ran, ledger) = (Ran::default(), database.host("a").await);
            let harness = patient(&ran, Arc::clone(&ledger));
            let (case, question) = propose(&harness, &ledger, payment(10)).await;
            propose(&harness, &ledger, payment(20)).await;
            fine(ledger.reply(signed(&question, Answer::No)).await);
            assert!(database.meddle(edit).await > 0, "{edit}");
            let found = harness.resume(case, None).await;
            assert!(matches!(found, Err(ClaimError::Forged(_))), "{edit}: {found:?}");
            assert!(ledger.history(Query::all()).await.is_err(), "{edit}");
            assert_eq!(ran.times(), 0, "{edit}");
        }
    }
    // A state that somebody set is no answer.
    for database in Database::all().await {
        let (ran, ledger) = (Ran::default(), database.host("a").await);
        let harness = patient(&ran, Arc::clone(&ledger));
        let (case, _) = propose(&harness, &ledger, payment(10)).await;
        database.meddle("UPDATE tool_calls SET state = 'answered'").await;
        assert_eq!(code(&fine(harness.resume(case, None).await)), Code::ApprovalExpired);
        // A question that was changed takes no answer.
        let (_, question) = propose(&harness, &ledger, payment(11)).await;
        database.meddle("UPDATE tool_entries SET body = replace(body, 'money', 'honey') WHERE kind = 'asked'").await;
        let found = ledger.reply(signed(&question, Answer::Yes)).await;
        assert!(matches!(found, Err(ReplyError::Forged(_))), "{found:?}");
        // A later time to expire is in the record, too.
        assert_eq!(ran.times(), 0);
        let other = fine(LedgerKey::new("other", [7; 32]));
        let refused = match &database {
            Database::Sqlite(folder) => SqlLedger::sqlite(folder.file(), other, SqlOptions::new()).await,
            Database::Postgres(url) => SqlLedger::postgres(url, other, SqlOptions::new()).await,
        };
        assert!(refused.is_err());
    }
}

/// A later time to expire, set by somebody with the database alone, extends nothing.
#[tokio::test]
async fn b72_nobody_without_the_key_extends_an_answers_time() {
    for database in Database::all().await {
        let (ran, ledger) = (Ran::default(), database.host("a").await);
        let harness = patient(&ran, Arc::clone(&ledger)).answers_within(Some(Duration::from_millis(1)));
        let (case, question) = propose(&harness, &ledger, payment(10)).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
        let late = ledger.reply(signed(&question, Answer::Yes)).await;
        assert!(matches!(late, Err(ReplyError::Late(tool_runtime::AnswerError::Expired))), "{late:?}");
        database.meddle("UPDATE tool_calls SET expires = expires + 1000000000").await;
        fine(ledger.reply(signed(&question, Answer::Yes)).await);
        assert_eq!((code(&fine(harness.resume(case, None).await)), ran.times()), (Code::ApprovalExpired, 0));
    }
}

#[tokio::test]
async fn b82_secrets_are_sealed_while_a_call_waits_and_erased_after_it() {
    for database in Database::all().await {
        let ran = Ran::default();
        let first = database.host("a").await;
        let call = || ToolCall::new("call_1", "unlock", r#"{"door":"front","pin":"t0k"}"#);
        let (case, question) = propose(&patient(&ran, Arc::clone(&first)), &first, call()).await;
        let secrets = "UPDATE tool_secrets SET case_id = case_id";
        assert_eq!(database.meddle(secrets).await, 1);
        let plain = "UPDATE tool_entries SET kind = kind WHERE body LIKE '%t0k%'";
        assert_eq!(database.meddle(plain).await, 0);
        fine(first.reply(signed(&question, Answer::Yes)).await);
        let second = database.host("b").await;
        let settled = fine(patient(&ran, Arc::clone(&second)).resume(case, None).await);
        assert_eq!(settled.result().text(), "front opened by 3 digits");
        assert_eq!(database.meddle(secrets).await, 0);
        assert_eq!(database.meddle(plain).await, 0);
        assert_eq!(
            database.meddle("UPDATE tool_calls SET tool = tool WHERE verdict LIKE '%t0k%' OR ended LIKE '%t0k%'").await,
            0
        );
        // One that is changed or of another call opens nothing.
        let (case, question) = propose(&patient(&ran, Arc::clone(&first)), &first, call()).await;
        fine(first.reply(signed(&question, Answer::Yes)).await);
        let (other, _) = propose(
            &patient(&ran, Arc::clone(&first)),
            &first,
            ToolCall::new("2", "unlock", r#"{"door":"back","pin":"x"}"#),
        )
        .await;
        assert_ne!(case, other);
        assert_eq!(
            database
                .meddle(
                    "UPDATE tool_secrets SET sealed = (SELECT sealed FROM tool_secrets ORDER BY case_id DESC LIMIT 1)"
                )
                .await,
            2
        );
        let found = patient(&ran, Arc::clone(&second)).resume(case, None).await;
        let last = matches!(&found, Ok(settled) if code(settled) == Code::Ok);
        assert!(last || matches!(found, Err(ClaimError::Forged(_))), "{found:?}");
    }
}

/// Leaves the ledger as a host does that is gone in the middle of its call.
async fn abandoned(database: &Database, host: &str, lease: Duration) -> (CaseId, Arc<SqlLedger>) {
    let ledger = database.open(SqlOptions::new().host(host).lease(lease)).await;
    let ran = Ran::default();
    let harness = Harness::new(registry(&ran, [PayTool::host()]), AllowAll).ledger(OnlyVerdicts(Arc::clone(&ledger)));
    harness.run([payment(1)]).await;
    let history = fine(ledger.history(Query::unfinished()).await);
    let case = history.cases().last().map(|case| case.id());
    (case.unwrap_or_else(|| panic!("it has no end")), ledger)
}

/// Loses ends.
struct OnlyVerdicts(Arc<SqlLedger>);

impl Ledger for OnlyVerdicts {
    fn append(&self, entry: tool_runtime::Entry) -> tool_runtime::BoxFuture<'_, Result<(), tool_runtime::LedgerError>> {
        match entry {
            tool_runtime::Entry::End(_) => Box::pin(async { Ok(()) }),
            entry => self.0.append(entry),
        }
    }
}

/// Another host's live call is never declared lost; one whose host is gone is, once, and its late end changes nothing.
#[tokio::test]
async fn a_host_repairs_its_own_calls_and_those_whose_hosts_are_gone() {
    for database in Database::all().await {
        let (case, _alive) = abandoned(&database, "a", Duration::from_secs(60)).await;
        let other = database.host("b").await;
        let harness =
            |ledger: &Arc<SqlLedger>| asking(registry(&Ran::default(), [PayTool::host()]), Arc::clone(ledger));
        assert_eq!(fine(harness(&other).repair().await).len(), 0);
        // The same host after a restart: its earlier start is over.
        let again = database.host("a").await;
        let repaired = fine(harness(&again).repair().await);
        assert_eq!(
            repaired.iter().map(|repaired| (repaired.case(), repaired.code())).collect::<Vec<_>>(),
            [(case, Code::OutcomeUnknown)]
        );
        assert_eq!(fine(harness(&again).repair().await).len(), 0);
        // A lease that is over, whoever's.
        let (case, late) = abandoned(&database, "c", Duration::from_millis(1)).await;
        tokio::time::sleep(Duration::from_millis(10)).await;
        drop(late);
        let history = fine(other.history(Query::unfinished()).await);
        let now = history.now().unwrap_or_else(|| panic!("the database has a clock"));
        let me = other.owner().unwrap_or_else(|| panic!("it has a name"));
        let pure = |times: usize| (0..times).map(|_| history.repair(now, me)).collect::<Vec<_>>();
        let [once, twice] = &pure(2)[..] else { panic!("two were made") };
        assert_eq!(once, twice);
        assert!(once.len() <= 1);
        let state = fine(other.history(Query::all().case(case)).await).cases()[0].state();
        assert_eq!(state, CaseState::Running);
    }
}

/// Does what it is told in the middle of a call: pays, and waits until it may end.
#[tool(host(destructive))]
async fn slowly(#[host] ran: &Ran, #[host] gate: &Gate) -> String {
    ran.ran();
    gate.began.notify_one();
    gate.goes_on.notified().await;
    "done".to_owned()
}

#[derive(Clone, Default)]
struct Gate {
    began: Arc<Notify>,
    goes_on: Arc<Notify>,
}

/// The lease of a host is over while its call runs: another host says that nobody knows what came of it; the late end is
/// recorded and changes nothing of that, and nothing runs twice.
#[tokio::test]
async fn a_call_that_outlasts_its_hosts_lease_ends_late() {
    for database in Database::all().await {
        let (ran, gate) = (Ran::default(), Gate::default());
        let tools = Registry::builder().tool(SlowlyTool::host()).state(ran.clone()).state(gate.clone());
        let (slow, other) = (database.host("a").await, database.host("b").await);
        let harness = Harness::new(fine(tools.build()), AllowAll).ledger(Arc::clone(&slow));
        let running =
            tokio::spawn(
                async move { harness.run_settled([ToolCall::new("1", "slowly", "{}")], None).await.remove(0) },
            );
        gate.began.notified().await;
        let looks = patient(&ran, Arc::clone(&other));
        assert_eq!(fine(looks.repair().await), []);
        assert_eq!(database.meddle("UPDATE tool_hosts SET expires = 0 WHERE owner LIKE 'a/%'").await, 1);
        let repaired = fine(looks.repair().await);
        assert_eq!(repaired.iter().map(|repaired| repaired.code()).collect::<Vec<_>>(), [Code::OutcomeUnknown]);
        let case = repaired[0].case();
        assert!(matches!(looks.resume(case, None).await, Err(ClaimError::NotWaiting)));
        gate.goes_on.notify_one();
        let settled = fine(running.await);
        assert_eq!((code(&settled), ran.times()), (Code::Ok, 1));
        let history = fine(other.history(Query::all().case(case)).await);
        let [call] = history.cases() else { panic!("{history:?}") };
        assert_eq!(call.state(), CaseState::Ended(Code::OutcomeUnknown));
        assert_eq!(call.late().map(|late| late.code()).collect::<Vec<_>>(), [Some(Code::Ok)]);
        assert_eq!(fine(looks.repair().await), []);
    }
}

/// Waits before it writes a verdict.
struct Hesitant(Arc<SqlLedger>, Gate);

impl Ledger for Hesitant {
    fn append(&self, entry: tool_runtime::Entry) -> tool_runtime::BoxFuture<'_, Result<(), tool_runtime::LedgerError>> {
        Box::pin(async move {
            if matches!(entry, tool_runtime::Entry::Verdict(_)) {
                self.1.began.notify_one();
                self.1.goes_on.notified().await;
            }
            self.0.append(entry).await
        })
    }

    fn key(&self) -> Option<&LedgerKey> {
        self.0.key()
    }

    fn claim(&self, case: CaseId) -> tool_runtime::BoxFuture<'_, Result<tool_runtime::Claimed, ClaimError>> {
        self.0.claim(case)
    }
}

/// A host has claimed a call, and is taken to be gone before its verdict is written; another goes on. The first finds out,
/// and runs nothing, not even where it lets calls run unrecorded.
#[tokio::test]
async fn of_two_hosts_that_have_claimed_one_call_the_later_runs_it() {
    for database in Database::all().await {
        for unrecorded in [false, true] {
            let (ran, gate) = (Ran::default(), Gate::default());
            let (slow, other) = (database.host("a").await, database.host("b").await);
            let (case, question) = propose(&patient(&ran, Arc::clone(&slow)), &slow, payment(10)).await;
            fine(other.reply(signed(&question, Answer::Yes)).await);
            let harness = patient(&ran, Hesitant(slow, gate.clone()));
            let harness = if unrecorded { harness.run_unrecorded() } else { harness };
            let hesitates = tokio::spawn(async move { harness.resume(case, None).await });
            gate.began.notified().await;
            let goes_on = patient(&ran, Arc::clone(&other));
            assert!(matches!(goes_on.resume(case, None).await, Err(ClaimError::NotWaiting)));
            assert_eq!(database.meddle("UPDATE tool_hosts SET expires = 0 WHERE owner LIKE 'a/%'").await, 1);
            assert_eq!(code(&fine(goes_on.resume(case, None).await)), Code::Ok);
            gate.goes_on.notify_one();
            let settled = fine(fine(hesitates.await));
            assert_eq!((code(&settled), ran.times()), (Code::NotRecorded, 1), "{unrecorded}");
            let history = fine(other.history(Query::all().case(case)).await);
            assert_eq!(history.cases()[0].state(), CaseState::Ended(Code::Ok));
        }
    }
}

/// The calls of one turn are written together: all verdicts at one time, and all ends, by the database's clock, which
/// doesn't go on within a statement. One that the ledger can't take is nobody else's trouble.
#[tokio::test]
async fn the_calls_of_a_turn_share_a_transaction() {
    for database in Database::all().await {
        let (ran, ledger) = (Ran::default(), database.host("a").await);
        let harness =
            Harness::new(registry(&ran, [LookTool::host(), PayTool::host()]), AllowAll).ledger(Arc::clone(&ledger));
        let looks = |from: usize| (from..from + 10).map(|place| ToolCall::new(format!("{place}"), "look", "{}"));
        let results = harness.run(looks(0)).await;
        assert!(results.iter().all(|result| !result.is_error()));
        let history = fine(ledger.history(Query::all()).await);
        let times = |kind: StoredKind| {
            let entries = history.cases().iter().flat_map(|case| case.entries());
            let mut times: Vec<_> = entries.filter(|entry| entry.kind() == kind).map(|entry| entry.at()).collect();
            assert_eq!(times.len(), 10);
            times.sort();
            times.dedup();
            times.len()
        };
        // PostgreSQL's clock goes on, even within a statement.
        if matches!(database, Database::Sqlite(_)) {
            assert_eq!((times(StoredKind::Verdict), times(StoredKind::End)), (1, 1));
        }
        // More than one statement takes, calls that come to nothing, and calls that wait for each other.
        let pay = |id: &str| ToolCall::new(id, "pay", r#"{"to":"alice","amount":1}"#);
        let others = [ToolCall::new("x", "nothing", "{}"), pay("p"), ToolCall::new("y", "look", "no")];
        let calls: Vec<ToolCall> = looks(10).chain(others).chain(looks(20)).chain([pay("q")]).collect();
        let results = harness.run(calls.clone()).await;
        let history = fine(ledger.history(Query::all()).await);
        assert_eq!(history.results(&calls), results);
        assert_eq!((results.iter().filter(|result| result.is_error()).count(), ran.times()), (2, 32));
        assert_eq!(fine(ledger.history(Query::unfinished()).await).cases(), []);
    }
}

/// Looks.
#[tool(host(read_only, concurrency_safe))]
async fn look(#[host] ran: &Ran) -> u8 {
    ran.ran();
    1
}

#[tokio::test]
async fn what_ended_long_ago_is_pruned_and_what_waits_is_not() {
    for database in Database::all().await {
        let (ran, ledger) = (Ran::default(), database.host("a").await);
        let harness = Harness::new(registry(&ran, [PayTool::host()]), AllowAll).ledger(Arc::clone(&ledger));
        harness.run([payment(1), payment(2)]).await;
        let (case, question) = propose(&patient(&ran, Arc::clone(&ledger)), &ledger, payment(10)).await;
        assert_eq!(fine(ledger.prune(Duration::from_secs(3600)).await), 0);
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert_eq!(fine(ledger.prune(Duration::ZERO).await), 2);
        let left = fine(ledger.history(Query::all()).await);
        assert_eq!(left.cases().iter().map(|case| case.id()).collect::<Vec<_>>(), [case]);
        fine(ledger.reply(signed(&question, Answer::Yes)).await);
        assert_eq!(code(&fine(patient(&ran, Arc::clone(&ledger)).resume(case, None).await)), Code::Ok);
        assert_eq!(waiting(&ledger, case).await.0, case);
    }
}

/// SQLite itself says no more than that some file can't be opened.
#[tokio::test]
async fn what_cannot_be_opened_is_named() {
    let folder = Folder::new();
    let missing = folder.0.join("missing").join("ledger.db");
    let no_database = folder.0.join("notes.txt");
    fine(std::fs::write(&no_database, "x".repeat(10_000)));
    for path in [missing, no_database] {
        let error = SqlLedger::sqlite(&path, key(), SqlOptions::new()).await.expect_err("no database");
        let cause = std::error::Error::source(&error).expect("a cause");
        assert!(cause.to_string().contains(&path.display().to_string()), "{cause}");
        assert!(cause.source().is_some(), "{cause}");
    }
}

/// Each connection would have a database of its own, and a call run whose record is nowhere.
#[tokio::test]
async fn a_database_without_a_file_is_no_ledger() {
    for path in ["", ":memory:", "file::memory:", "file:a_database_without_a_file?mode=memory&cache=shared"] {
        let error = SqlLedger::sqlite(path, key(), SqlOptions::new()).await.err();
        let error = error.unwrap_or_else(|| panic!("{path:?} was opened"));
        let cause = std::error::Error::source(&error).and_then(std::error::Error::source).expect("a cause");
        assert!(cause.to_string().contains("in memory"), "{path:?}: {cause}");
    }
}
