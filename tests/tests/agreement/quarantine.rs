//! Declarations that aren't believed.

use std::sync::Arc;

use tool_runtime::agreement::{Epoch, Observed, Probe, ProbeFinding, Quarantine, Verified};
use tool_runtime::{
    BoxFuture, Entry, FileLedger, Ledger, LedgerError, LedgerKey, MemoryLedger, Owner, Query, Signer, SqlLedger,
    SqlOptions, StoredKind,
};

use super::support::{PayTool, SearchIndexTool, now};

fn proof() -> Verified {
    let probe = Probe::new(&SearchIndexTool::host(), &Epoch::begin(), "{}").unwrap();
    let finding = || ProbeFinding { result: Observed::Value("1".to_owned()), afterwards: "{}".to_owned() };
    probe.compare([finding(), finding()]).unwrap()
}

fn person() -> Signer {
    Signer::new("ann", "terminal")
}

/// What survives is what the ledger has.
async fn survives(open: impl AsyncFn() -> Arc<dyn Ledger>) {
    let quarantine = Quarantine::open(open().await).await.unwrap();
    assert!(quarantine.tools().is_empty());
    quarantine.hold(&SearchIndexTool::host(), "it races").await.unwrap();
    quarantine.hold(&PayTool::host(), "it pays twice").await.unwrap();
    assert!(quarantine.lift_by_person("pay", person(), "it was mended").await.unwrap());
    drop(quarantine);

    let again = Quarantine::open(open().await).await.unwrap();
    let held = again.tools();
    assert_eq!(held.len(), 1);
    assert_eq!(held[0].to_string(), "search_index: it races");
    assert_eq!(held[0].definition, Some(*SearchIndexTool::host().digest()));
    assert!(again.lift_by_probe("search_index", &proof()).await.unwrap());
    drop(again);

    let ledger = open().await;
    assert!(Quarantine::open(Arc::clone(&ledger)).await.unwrap().tools().is_empty());
    // They are no calls: nothing is to be repaired, and nobody waits.
    let calls = ledger.history(Query::all()).await.unwrap();
    assert!(calls.cases().is_empty() && calls.declarations().is_empty());
    let said = ledger.history(Query::declarations()).await.unwrap();
    let who: Vec<Option<Signer>> = said.declarations().iter().map(|entry| entry.signer()).collect();
    assert_eq!(who, [None, None, Some(person()), None]);
    assert!(said.declarations().iter().all(|entry| entry.kind() == StoredKind::Declaration));
    let unfinished = ledger.history(Query::unfinished()).await.unwrap();
    assert!(unfinished.repair(std::time::SystemTime::now(), &Owner::new("", "")).is_empty());
}

#[test]
fn a_quarantine_survives_restarts_in_a_file() {
    let folder = std::env::temp_dir().join(format!("tool-quarantine-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("ledger");
    now(survives(async || {
        let key = LedgerKey::new("test", [7; 32]).unwrap();
        Arc::new(FileLedger::open(&path, key).unwrap()) as Arc<dyn Ledger>
    }));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_quarantine_survives_restarts_in_sqlite() {
    let folder = std::env::temp_dir().join(format!("tool-quarantine-sql-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("ledger.db");
    now(survives(async || {
        let key = LedgerKey::new("test", [7; 32]).unwrap();
        Arc::new(SqlLedger::sqlite(&path, key, SqlOptions::new()).await.unwrap()) as Arc<dyn Ledger>
    }));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_quarantine_is_shared_in_memory() {
    let ledger: Arc<dyn Ledger> = Arc::new(MemoryLedger::default());
    now(survives(async || Arc::clone(&ledger)));
}

#[test]
fn a_proof_of_before_lifts_nothing() {
    now(async {
        let quarantine = Quarantine::new();
        let before = proof();
        quarantine.hold(&SearchIndexTool::host(), "it races").await.unwrap();
        assert!(!quarantine.lift_by_probe("search_index", &before).await.unwrap());
        assert!(quarantine.holds("search_index"));
        let after = proof();
        // It came in again, after that probe had begun.
        quarantine.hold(&SearchIndexTool::host(), "it races again").await.unwrap();
        assert!(!quarantine.lift_by_probe("search_index", &after).await.unwrap());
        assert!(quarantine.lift_by_probe("search_index", &proof()).await.unwrap());
        assert!(!quarantine.lift_by_probe("search_index", &proof()).await.unwrap(), "it isn't in");
        assert!(!quarantine.lift_by_person("search_index", person(), "").await.unwrap());
    });
}

/// Keeps nothing.
struct Full;

impl Ledger for Full {
    fn append(&self, _: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(async { Err(LedgerError::new("the disk is full")) })
    }

    fn history(&self, query: Query) -> BoxFuture<'_, Result<tool_runtime::History, LedgerError>> {
        let nothing = tool_runtime::History::of([]).only(&query);
        Box::pin(async { Ok(nothing) })
    }
}

#[test]
fn what_cannot_be_recorded_holds_and_is_not_lifted() {
    now(async {
        let quarantine = Quarantine::open(Full).await.unwrap();
        assert!(quarantine.hold(&PayTool::host(), "why").await.is_err());
        assert!(quarantine.holds("pay"));
        assert!(quarantine.lift_by_person("pay", person(), "why not").await.is_err());
        assert!(quarantine.holds("pay"));
    });
}

#[test]
fn what_another_process_holds_is_taken_up() {
    now(async {
        let ledger: Arc<dyn Ledger> = Arc::new(MemoryLedger::default());
        let (here, there) =
            (Quarantine::open(Arc::clone(&ledger)).await.unwrap(), Quarantine::open(ledger).await.unwrap());
        there.hold(&PayTool::host(), "why").await.unwrap();
        assert!(!here.holds("pay"));
        here.refresh().await.unwrap();
        assert!(here.holds("pay"));
    });
}
