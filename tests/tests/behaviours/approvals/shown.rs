//! What an approver is shown of a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tool_runtime::{
    Answer, Approver, CallFacts, Card, Code, Decision, GrantScope, Grants, Harness, MemoryLedger, Signed, Signer,
    TerminalApprover, ToolCall,
};

use super::{LogInTool, PayTool, Person, harness, one, pays};
use crate::support::{lock, logged};

#[tokio::test]
async fn d67_b69_an_approver_sees_what_will_run() {
    let person = Person::who_says(Answer::Yes);
    let (harness, log, ledger) = harness();
    let harness = harness.approver(person.clone());
    let calls = [
        pays("1", r#"{"amount":5.0,"pin":"hunter"}"#),
        pays("2", r#"{"amount":5,"recipient":"you","pin":null}"#),
        ToolCall::new("3", "wire", r#"{"amount":7}"#),
        pays("4", r#"{"amount":"many"}"#),
    ];
    let settled = harness.run_settled(calls, None).await;
    let codes: Vec<Code> = settled.iter().map(|one| one.record().code()).collect();
    assert_eq!(codes, [Code::Ok, Code::Ok, Code::Ok, Code::InvalidArguments]);
    assert_eq!(log.take(), ["pay 5 me", "pay 5 you", "wire 7"]);
    let sets = lock(&person.1).clone();
    assert_eq!(sets.len(), 1);
    assert_eq!(sets[0].notices, ["Money leaves the account.", "It can't be taken back."]);
    assert!(sets[0].token().is_cancelled());
    let [first, second, third] = &sets[0].questions[..] else { panic!("three questions") };
    assert_eq!((first.call_id.as_str(), &*first.tool), ("1", "pay"));
    assert_eq!(first.arguments, r#"{"amount":5,"to":"me","pin":"[redacted]"}"#);
    assert_eq!(first.defaults.iter().map(ToString::to_string).collect::<Vec<_>>(), ["to"]);
    assert_eq!(first.reasons, ["it costs money"]);
    assert_eq!(&first.definition, PayTool::host().digest());
    assert!(second.arguments.starts_with(r#"{"amount":5,"to":"you""#), "{}", second.arguments);
    assert!(second.defaults.iter().all(|path| path.to_string() == "pin"), "{:?}", second.defaults);
    assert!(third.defaults.is_empty());
    // What was asked about is what was recorded, and what ran.
    for (settled, question) in settled.iter().zip(&sets[0].questions) {
        let verdict = settled.record().verdict().unwrap_or_else(|| panic!("a verdict"));
        assert_eq!((verdict.question(), verdict.arguments()), (Some(&question.id), &*question.arguments));
    }
    let recorded = serde_json::to_string(&ledger.entries()).unwrap_or_default();
    assert!(!recorded.contains("hunter"), "{recorded}");
}

/// Neither a presenter nor a policy can quote a secret into a prompt, a record, or a result.
#[tokio::test]
async fn d67_b82_no_secret_is_shown() {
    for (answer, denies) in [(Answer::No, false), (Answer::YesForSession(GrantScope::SameArguments), true)] {
        let (registry, _) = logged([LogInTool::host()]);
        let (person, ledger, grants) = (Person::who_says(answer), Arc::new(MemoryLedger::default()), Grants::new());
        let judged = AtomicUsize::new(0);
        let harness = Harness::new(registry, move |call: &CallFacts<'_>| {
            let reason = format!("with {}", call.arguments().as_str());
            if denies && judged.fetch_add(1, Ordering::SeqCst) > 0 {
                Decision::deny(reason)
            } else {
                Decision::ask(reason)
            }
        });
        let harness = harness.approver(person.clone()).ledger(Arc::clone(&ledger)).grants(grants.clone());
        let settled = one(&harness, ToolCall::new("1", "log_in", r#"{"user":"me","word":"t0k"}"#)).await;
        let recorded = serde_json::to_string(&ledger.entries()).unwrap_or_default();
        let asked = format!("{:?} {grants:?} {:?}", person.asked(), grants.list());
        for text in [&settled.result().text(), &recorded, &asked] {
            assert!(!text.contains("t0k"), "{text}");
        }
        let card = person.asked().remove(0).card;
        assert_eq!(card, Some(Card::new("me with [redacted]").with_body("[redacted]")));
    }
}

#[tokio::test]
async fn whoever_signs_tells_as_well() {
    let told = Signed::new(TerminalApprover::new(std::io::empty(), std::io::sink()), Signer::new("ann", "terminal"));
    assert!(told.tell(vec!["Money leaves the account.".to_owned()]).await);
}
