//! What lets a call run, and what keeps it from running, in one order.

use std::sync::Arc;

use tool_runtime::{
    AllowAll, BoxFuture, CallFacts, CheckedCall, Checklist, Code, Decision, Harness, SlotKind, SlotState,
};

use crate::bench::{Bench, PAY, check, code_of, fills, pay, presets, says, seen};

/// "[confirm] — a slot that cannot be filled without user approval." Nobody's allow is one.
#[tokio::test]
async fn a_confirm_is_asked_although_the_policy_allows() {
    let parameters = PAY.replace("The account that is paid.", r"The account.\n[confirm] money goes there");
    let bench = Bench::with("Pays.\n[confirm] Money leaves the account.", &parameters);
    let harness = Harness::new(bench.registry.clone(), AllowAll).ledger(Arc::clone(&bench.ledger));
    let (code, said) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!(code, Code::ApprovalUnavailable, "{said}");

    let sets = Arc::default();
    let harness = harness.approver(fills(&[], &sets));
    let (code, _) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!(code, Code::Ok);
    let sets = sets.lock().unwrap();
    let reasons = &sets[0].questions[0].reasons;
    // The pair is shown, and the call costs one question.
    assert_eq!(*reasons, [r#"money goes there: "DE1""#, "Money leaves the account."]);
    assert!(matches!(bench.slot("/iban"), (SlotKind::Value, SlotState::Given)));
    let verdicts = bench.verdicts();
    let iban = verdicts.last().unwrap().slots().iter().find(|slot| slot.name() == "/iban").unwrap();
    assert_eq!(iban.approved(), verdicts.last().unwrap().question());
    assert!(matches!(bench.slot("confirm"), (SlotKind::Condition, SlotState::Answered(_))));
}

/// Policy's ask and the list's are one question.
#[tokio::test]
async fn there_is_one_question_with_every_reason() {
    let bench = Bench::with("Pays.\n[confirm] Money leaves the account.", PAY);
    let asks = |_: &CallFacts<'_>| Decision::ask("payments are looked at");
    let sets = Arc::default();
    let harness = bench
        .harness(asks, Checklist::builder().source(presets(&[("/iban", "\"DE1\""), ("/amount", "5")])))
        .approver(fills(&[], &sets));
    let (code, _) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!(code, Code::Ok);
    let sets = sets.lock().unwrap();
    assert_eq!(sets.len(), 1);
    assert_eq!(sets[0].questions[0].reasons, ["payments are looked at", "Money leaves the account."]);
}

/// A denied call asks nothing, however many blanks it has.
#[tokio::test]
async fn nothing_is_asked_about_a_denied_call() {
    let bench = Bench::with("Pays.", PAY);
    let sets = Arc::default();
    let harness = bench
        .harness(|_: &CallFacts<'_>| Decision::deny("no payments"), Checklist::builder())
        .approver(fills(&[], &sets));
    let (code, _) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!((code, sets.lock().unwrap().len()), (Code::Denied, 0));
}

/// "The answer 'the condition was not met' can exist."
#[tokio::test]
async fn a_condition_can_be_not_met() {
    for (then, truth, code) in [
        ("holds", Ok(true), Code::Ok),
        ("holds", Ok(false), Code::ConditionNotMet),
        ("holds", Err("the registry is down"), Code::Unanswered),
        ("prohibits", Ok(true), Code::ConditionNotMet),
        ("prohibits", Ok(false), Code::Ok),
        ("prohibits", Err("?"), Code::Unanswered),
        ("approve_if", Ok(false), Code::Ok),
        ("approve_if", Ok(true), Code::ApprovalUnavailable),
        ("approve_if", Err("?"), Code::Unanswered),
    ] {
        let bench = Bench::with("Pays.", PAY);
        let harness =
            bench.harness(AllowAll, Checklist::builder().condition("known", says(truth)).json("ours", check(then)));
        let (came, said) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
        assert_eq!(came, code, "{then} {truth:?}: {said}");
        if came == Code::ConditionNotMet {
            assert!(said.contains("the recipient is known") && said.contains("treasury policy 4"), "{said}");
        }
        if came == Code::Unanswered {
            // The user can't settle it.
            assert!(said.contains("Only the host") && !said.contains("Ask the user"), "{said}");
        }
    }
}

/// An error of the check, and a panic, are neither a yes nor a no.
#[tokio::test]
async fn a_check_that_panics_lets_nothing_run() {
    let bench = Bench::with("Pays.", PAY);
    let panics = |_: CheckedCall| -> BoxFuture<'static, Result<bool, String>> { panic!("boom") };
    let harness = bench.harness(AllowAll, Checklist::builder().condition("known", panics).json("ours", check("holds")));
    let (code, said) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!((code, seen(&bench.ran)), (Code::Unanswered, vec![]));
    assert!(!said.contains("boom"));
}

/// Deny beats a false condition, which beats blanks, which beat asking.
#[tokio::test]
async fn the_order_of_judgement_is_one() {
    let bench = Bench::with("Pays.\n[confirm] Sure?", PAY);
    let list = || {
        let lines = check("holds").replace(r#","scope":{"calls":"none"}"#, "");
        Checklist::builder().condition("known", says(Ok(false))).json("ours", lines)
    };
    let call = || pay(r#"{"iban":"DE1","amount":5}"#);
    let harness = bench.harness(|_: &CallFacts<'_>| Decision::deny("no"), list());
    assert_eq!(code_of(&harness, call()).await.0, Code::Denied);
    let harness = bench.harness(AllowAll, list());
    assert_eq!(code_of(&harness, call()).await.0, Code::ConditionNotMet);
    let harness = bench.harness(AllowAll, Checklist::builder());
    assert_eq!(code_of(&harness, call()).await.0, Code::Unanswered);
    // The record has all that applied.
    let reasons = bench.verdicts();
    assert!(
        reasons[0].reasons().iter().any(|reason| reason.contains("the recipient is known")),
        "{:?}",
        reasons[0].reasons()
    );
}

/// "Any error while evaluating = unknown": what a provider wrote is the provider's.
#[tokio::test]
async fn a_line_of_the_provider_that_cant_be_judged_is_not_asked_of_the_user() {
    let parameters = PAY.replacen(
        r#""type":"object","#,
        r#""type":"object","x-tool-checklist":[{"name":"ok","check":"nobody_has_it","text":"it is fine"}],"#,
        1,
    );
    let bench = Bench::with("Pays.", &parameters);
    let sets = Arc::default();
    let harness =
        Harness::new(bench.registry.clone(), AllowAll).ledger(Arc::clone(&bench.ledger)).approver(fills(&[], &sets));
    let (code, said) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!((code, sets.lock().unwrap().len()), (Code::Unanswered, 0));
    assert!(said.contains("its provider"), "{said}");
    // Exporters drop the keyword, and the definition is another one for it.
    let tool = bench.registry.get("pay").unwrap();
    assert!(!tool.schema().as_json().contains("x-tool-checklist"));
    assert_ne!(tool.digest(), Bench::with("Pays.", PAY).registry.get("pay").unwrap().digest());
}
