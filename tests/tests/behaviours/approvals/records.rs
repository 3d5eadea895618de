//! What is written down of questions and answers.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tool_runtime::{
    Answer, AnswerError, BoxFuture, ChannelApprover, Code, Entry, GrantScope, Grants, Ledger, LedgerError, MemoryLedger,
};

use super::{ASKS, PayTool, Person, asks, code, harness, pays};
use crate::support::logged;

#[tokio::test]
async fn d68_asked_and_answered_leave_a_pair() {
    let (harness, _, ledger) = harness();
    let harness = harness.approver(Person::who_says(Answer::No));
    // The same id twice: questions have their own.
    harness.run([pays("1", r#"{"amount":1}"#), pays("1", r#"{"amount":1,"to":"me"}"#)]).await;
    let (asked, answered) = asks(&ledger);
    assert_eq!(asked.iter().collect::<BTreeSet<_>>().len(), 2);
    assert_eq!(answered, [(asked[0].clone(), Some(Answer::No)), (asked[1].clone(), Some(Answer::No))]);
    let lines: Vec<serde_json::Value> =
        ledger.entries().iter().map(|entry| serde_json::to_value(entry).unwrap_or_default()).collect();
    let words: Vec<&str> = lines.iter().map(|line| line["entry"].as_str().unwrap_or_default()).collect();
    assert_eq!(words[..4], ["asked", "asked", "answered", "answered"]);
    assert_eq!((&lines[0]["question"], &lines[2]["answer"]), (&lines[2]["question"], &"no".into()));
    assert_eq!(lines[0]["reasons"], serde_json::json!(["it costs money"]));
    for absent in ["card", "detail", "scope"] {
        assert_eq!(lines[0].get(absent), None, "{absent}");
    }
    // It came by a name of its own, so only the other has a default there.
    assert!(!lines[1].get("defaults").map(ToString::to_string).unwrap_or_default().contains("/to"));
}

/// Keeps what it may, and fails at what it is told to.
struct Fails(&'static str, Arc<MemoryLedger>);

impl Ledger for Fails {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        let line = serde_json::to_string(&entry).unwrap_or_default();
        match line.contains(self.0) {
            true => Box::pin(std::future::ready(Err(LedgerError::new("the disk is full")))),
            false => self.1.append(entry),
        }
    }
}

#[tokio::test]
async fn d68_what_is_not_recorded_is_not_asked() {
    for (fails, asked) in [(r#""entry":"asked","question""#, 0), (r#""entry":"answered""#, 1)] {
        let (harness, log, _) = harness();
        let kept = Arc::new(MemoryLedger::default());
        let person = Person::who_says(Answer::YesForSession(GrantScope::AnyArguments));
        let grants = Grants::new();
        let harness = harness
            .ledger(Fails(fails, Arc::clone(&kept)))
            .approver(person.clone())
            .grants(grants.clone())
            .observer(|_: &tool_runtime::Event| panic!("boom"));
        assert_eq!(code(&harness, pays("1", r#"{"amount":1}"#)).await, Code::NotRecorded);
        assert_eq!((person.asked().len(), log.take().len(), grants.len()), (asked, 0, 0), "{fails}");
    }
    // Only the one that could not be recorded.
    let (harness, log, _) = harness();
    let person = Person::who_says(Answer::Yes);
    let harness = harness.ledger(Fails("\"call_id\":\"1\",\"tool\":\"pay\",\"definition\"", Arc::default()));
    let harness = harness.approver(person.clone());
    let settled = harness.run_settled([pays("1", r#"{"amount":1}"#), pays("2", r#"{"amount":2}"#)], None).await;
    let codes: Vec<Code> = settled.iter().map(|one| one.record().code()).collect();
    assert_eq!(codes, [Code::NotRecorded, Code::Ok]);
    assert_eq!((person.asked().len(), log.take()), (1, vec!["pay 2 me".to_owned()]));
}

/// A turn that is dropped, and one that was cancelled before.
#[tokio::test]
async fn d68_d70_withdrawn_questions_have_their_end() {
    let (harness, _, ledger) = harness();
    let (window, mut sets) = ChannelApprover::new();
    let harness = harness.approver(window.clone());
    let dropped = async {
        tokio::select! {
            _ = harness.run([pays("1", r#"{"amount":1}"#)]) => panic!("nobody has answered"),
            set = sets.recv() => set.unwrap_or_else(|| panic!("a set")),
        }
    };
    let set = dropped.await;
    assert!(set.questions().token().is_cancelled());
    let id = &set.questions().questions[0].id;
    assert_eq!(window.answer(id, Answer::Yes), Err(AnswerError::NotPending));
    assert_eq!(asks(&ledger), (vec![id.clone()], vec![(id.clone(), None)]));

    use tool_runtime::path::{Acceptance, Asking, Loaded, ask::ask};
    let (registry, _) = logged([PayTool::host()]);
    let ledger = Arc::new(MemoryLedger::default());
    let person = Person::who_says(Answer::Yes);
    let token = CancellationToken::new();
    token.cancel();
    let proposed = registry.resolve(pays("1", r#"{"amount":1}"#), &Loaded::new());
    let Ok(Acceptance::Accepted(accepted)) = proposed.and_then(|proposed| proposed.accept()) else {
        panic!("the call is fine")
    };
    let decided = accepted.check(&tool_runtime::Checklist::new()).await.decide(&ASKS, &[]);
    let asking = Asking::new(&ASKS, &[], ledger.clone()).approver(&person).token(&token);
    let ended = ask(vec![decided], asking).await.remove(0).record(&*ledger).await;
    let ended = ended.and_then(|recorded| recorded.permit()).map(|_| ()).map_err(|ending| ending.code());
    assert_eq!(ended, Err(Code::CancelledBeforeStart));
    let (asked, answered) = asks(&ledger);
    assert_eq!((person.asked().len(), answered), (0, vec![(asked[0].clone(), None)]));
}
