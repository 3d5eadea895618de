//! What is said of calls whose host has stopped, from the records alone.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tool_runtime::{
    AllowAll, CallFacts, CaseState, Code, Decision, FileLedger, Harness, History, Ledger, Owner, Query, Stored,
    ToolCall, tool,
};

use crate::support::{Folder, PayTool, Ran, fine, key, patient, payment, propose, registry};

/// Looks.
#[tool(host(read_only))]
async fn look() -> u8 {
    1
}

/// Writes.
#[tool]
async fn write() -> u8 {
    1
}

/// A log that ends after the verdicts of two calls.
async fn cut_off() -> (History, Vec<ToolCall>) {
    let folder = Folder::new();
    let calls = vec![ToolCall::new("1", "look", ""), ToolCall::new("2", "write", ""), ToolCall::new("3", "write", "")];
    {
        let harness = Harness::new(registry(&Ran::default(), [LookTool::host(), WriteTool::host()]), AllowAll)
            .ledger(folder.open());
        harness.run(calls[..2].to_vec()).await;
    }
    let whole = fine(FileLedger::read(folder.file(), &key()));
    let verdicts: Vec<Stored> = whole.cases().iter().filter_map(|case| case.verdict().cloned()).collect();
    (History::of(verdicts), calls)
}

/// D60, D61: what never began, and what nobody knows of; D62: the same from the same, and nothing the second time.
#[tokio::test]
async fn d60_d61_d62_repair_is_a_pure_function_of_the_records() {
    let (history, calls) = cut_off().await;
    let me = Owner::new("me", "1");
    let repaired = history.repair(SystemTime::UNIX_EPOCH, &me);
    assert_eq!(repaired, history.repair(SystemTime::now(), &me));
    let said: Vec<_> = repaired.iter().map(|repaired| (repaired.tool(), repaired.code())).collect();
    assert_eq!(said, [("look", Code::OutcomeUnknown), ("write", Code::OutcomeUnknown)]);
    let results = history.results(&calls);
    assert_eq!(results.iter().map(|result| result.call_id().as_str()).collect::<Vec<_>>(), ["1", "2", "3"]);
    assert!(results.iter().all(|result| result.is_error()));
    assert!(results[0].text().contains("no harm to call it again"), "{}", results[0].text());
    assert!(results[1].text().contains("Don't repeat it"), "{}", results[1].text());
    assert!(results[2].text().contains("did not start"), "{}", results[2].text());
    // Each cites its record.
    for (result, case) in results.iter().zip(history.cases()) {
        assert!(result.text().contains(&case.id().to_string()));
    }
    // Written down, there is nothing left to say.
    let entries = history.cases().iter().flat_map(|case| case.entries().to_vec());
    let texts = repaired
        .iter()
        .map(|repaired| fine(Stored::read(fine(tool_runtime::Entry::Repaired(Arc::clone(repaired)).to_text()))));
    let settled = History::of(entries.chain(texts));
    assert_eq!(settled.repair(SystemTime::now(), &me), []);
    assert_eq!(settled.results(&calls)[..2], results[..2]);
    assert!(settled.cases().iter().all(|case| case.state() == CaseState::Ended(Code::OutcomeUnknown)));
    assert_eq!(History::default().repair(SystemTime::now(), &me), []);
}

/// What is kept is the conversation as it was.
#[tokio::test]
async fn d66_results_are_read_back_as_they_were_given() {
    let folder = Folder::new();
    let call = |id: &str, tool: &str, arguments: &str| ToolCall::new(id, tool, arguments);
    let calls = [
        call("ok", "pay", r#"{"to":"alice","amount":1}"#),
        call("denied", "pay", r#"{"to":"bob","amount":2}"#),
        call("refused", "pay", r#"{"to":"alice"}"#),
        call("unknown", "pai", "{}"),
        call("ok", "look", ""),
    ];
    let results = {
        let policy = |call: &CallFacts<'_>| match call.arguments().get("/to") {
            Some("\"bob\"") => Decision::deny("not to him"),
            _ => Decision::Allow,
        };
        let tools = registry(&Ran::default(), [PayTool::host(), LookTool::host()]);
        Harness::new(tools, policy).ledger(folder.open()).run(calls.clone()).await
    };
    assert_eq!(results.iter().filter(|result| result.is_error()).count(), 3);
    for _ in 0..2 {
        let history = fine(FileLedger::read(folder.file(), &key()));
        assert_eq!(history.results(&calls), results);
    }
}

/// Whoever may be alive is left alone.
#[tokio::test]
async fn a_live_hosts_calls_are_its_own() {
    let (history, _) = cut_off().await;
    let entries = || history.cases().iter().flat_map(|case| case.entries().to_vec());
    let owner = entries().find_map(|entry| entry.owner().cloned()).unwrap_or_else(|| panic!("the file says who wrote"));
    let (now, me) = (SystemTime::now(), Owner::new("me", "1"));
    let until = |lease: Duration| History::of(entries()).shared(now, [(owner.clone(), now + lease)]);
    assert_eq!(until(Duration::from_secs(1)).repair(now, &me).len(), 0);
    assert_eq!(until(Duration::from_secs(1)).repair(now + Duration::from_secs(1), &me).len(), 2);
    assert_eq!(until(Duration::from_secs(1)).repair(now, &owner).len(), 0);
    let later = Owner::new(owner.host(), "later");
    assert_eq!(until(Duration::from_secs(1)).repair(now, &later).len(), 2);
}

#[tokio::test]
async fn what_waits_is_not_lost() {
    let folder = Folder::new();
    {
        let ledger = folder.open();
        propose(&patient(&Ran::default(), Arc::clone(&ledger)), &ledger, payment(1)).await;
    }
    let ledger = folder.open();
    let harness = patient(&Ran::default(), Arc::clone(&ledger));
    assert_eq!(fine(harness.repair().await).len(), 0);
    assert_eq!(fine(ledger.history(Query::unfinished()).await).waiting().count(), 1);
    let results = fine(ledger.history(Query::all()).await).results(&[payment(1)]);
    assert!(results[0].text().contains("has not run yet"), "{}", results[0].text());
}
