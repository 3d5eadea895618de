//! An approval is for the whole set of slots and values of one revision of one call under one definition, and is spent
//! once.

use std::sync::Arc;

use tool_runtime::{
    Answer, Binding, BoxFuture, CallFacts, CaseId, ClaimError, Code, Decision, DynamicTool, Harness, HostTool, Ledger,
    MemoryLedger, Query, QuestionSet, Registry, Reply, Signed, Signer, ToolCall,
};

const PARAMETERS: &str = r#"{"type":"object","properties":{"to":{"type":"string"},"amount":{"type":"number"},
    "cc":{"type":"array","items":{"type":"string"}},"more":{"type":"object","properties":{"a":{"type":["integer","string"]}},
    "additionalProperties":false}},"required":["to","amount"],"additionalProperties":false}"#;

fn pay(description: &str) -> HostTool {
    DynamicTool::builder("pay", description)
        .parameters(PARAMETERS)
        .output("true")
        .run(|arguments, _| async move { Ok(arguments) })
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Nobody answers at once.
fn harness(tool: HostTool, ledger: &Arc<MemoryLedger>, answer: Answer) -> Harness {
    let registry = Registry::builder().tool(tool).build().unwrap_or_else(|error| panic!("{error}"));
    let asks = move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(async move { vec![answer; set.questions.len()] })
    };
    Harness::new(registry, |_: &CallFacts<'_>| Decision::ask("money"))
        .approver(Signed::new(asks, Signer::new("ann", "terminal")))
        .ledger(Arc::clone(ledger))
}

/// What a yes to this call is for.
async fn binding(ledger: &Arc<MemoryLedger>, tool: HostTool, id: &str, arguments: &str) -> (CaseId, Binding) {
    let settled = harness(tool, ledger, Answer::Later).run_settled([ToolCall::new(id, "pay", arguments)], None).await;
    assert_eq!(settled[0].record().code(), Code::ApprovalPending, "{}", settled[0].result().text());
    let case = settled[0].record().case();
    let history = ledger.history(Query::all().case(case)).await.unwrap_or_else(|error| panic!("{error}"));
    let asked = history.case(case).and_then(|case| case.asked()?.binding());
    (case, asked.unwrap_or_else(|| panic!("{arguments}: nothing is bound")))
}

#[tokio::test]
async fn inv09_any_other_value_is_another_set_and_another_spelling_is_not() {
    let ledger = Arc::new(MemoryLedger::default());
    let of = async |id: &str, arguments: &str| binding(&ledger, pay("Pays."), id, arguments).await.1;
    let one = of("1", r#"{"to":"alice","amount":10,"cc":["b","c"],"more":{"a":1}}"#).await;
    let slots: Vec<&str> = one.pairs().map(|(slot, _)| slot).collect();
    assert_eq!(slots, ["/amount", "/cc", "/more/a", "/to"]);
    for same in [
        r#"{ "amount" : 10.0, "more":{"a":1}, "to":"\u0061lice", "cc":["b","c"] }"#,
        r#"{"to":"alice","amount":1e1,"cc":["b","c"],"more":{"a":1}}"#,
    ] {
        assert_eq!(of("1", same).await, one, "{same}");
    }
    for (other, unchanged) in [
        (r#"{"to":"bob","amount":10,"cc":["b","c"],"more":{"a":1}}"#, 3),
        (r#"{"to":"alice","amount":10.5,"cc":["b","c"],"more":{"a":1}}"#, 3),
        (r#"{"to":"alice","amount":10,"cc":["c","b"],"more":{"a":1}}"#, 3),
        (r#"{"to":"alice","amount":10,"cc":["b","c","d"],"more":{"a":1}}"#, 3),
        (r#"{"to":"alice","amount":10,"cc":["b","c"],"more":{"a":"1"}}"#, 3),
        (r#"{"to":"alice","amount":10,"more":{"a":1}}"#, 3),
        (r#"{"to":"alice","amount":10,"cc":["b","c"],"more":{}}"#, 3),
        (r#"{"to":"bob","amount":1000,"cc":[]}"#, 0),
    ] {
        let other_set = of("1", other).await;
        assert_ne!(other_set.digest(), one.digest(), "{other}");
        assert_eq!(other_set.unchanged_since(&one).count(), unchanged, "{other}");
    }
    // The same values of another call, and under another definition.
    assert_ne!(of("2", r#"{"to":"alice","amount":10,"cc":["b","c"],"more":{"a":1}}"#).await.digest(), one.digest());
    let (_, renamed) =
        binding(&ledger, pay("Pays otherwise."), "1", r#"{"to":"alice","amount":10,"cc":["b","c"],"more":{"a":1}}"#)
            .await;
    assert_ne!(renamed.digest(), one.digest());
    assert_eq!(renamed.unchanged_since(&one).count(), 4);
}

/// Two approved sets don't add up to a third.
#[tokio::test]
async fn inv09_a_yes_is_spent_once_and_on_its_own_call() {
    let ledger = Arc::new(MemoryLedger::default());
    let mut cases = Vec::new();
    for arguments in
        [r#"{"to":"alice","amount":10}"#, r#"{"to":"bob","amount":1000}"#, r#"{"to":"alice","amount":1000}"#]
    {
        cases.push(binding(&ledger, pay("Pays."), "1", arguments).await.0);
    }
    for case in &cases[..2] {
        let history = ledger.history(Query::all().case(*case)).await.unwrap_or_else(|error| panic!("{error}"));
        let question = history.case(*case).and_then(|case| case.question()).unwrap_or_else(|| panic!("{case}"));
        let reply = Reply::new(question, Answer::Yes, Signer::new("ann", "web"));
        ledger.reply(reply).await.unwrap_or_else(|error| panic!("{error}"));
    }
    let harness = harness(pay("Pays."), &ledger, Answer::Later);
    assert!(matches!(harness.resume(cases[2], None).await, Err(ClaimError::NotAnswered)));
    for (case, arguments) in cases.iter().zip([r#"{"amount":10,"to":"alice"}"#, r#"{"amount":1000,"to":"bob"}"#]) {
        let settled = harness.resume(*case, None).await.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((settled.record().code(), settled.value()), (Code::Ok, Some(arguments)));
        assert!(matches!(harness.resume(*case, None).await, Err(ClaimError::NotWaiting)));
    }
}

/// Who said so is in the record, whether the answer came at once or later.
#[tokio::test]
async fn inv09_a_record_says_who_answered() {
    let ledger = Arc::new(MemoryLedger::default());
    for (answer, signed) in [(Answer::Yes, true), (Answer::No, true), (Answer::Unavailable, false)] {
        let call = ToolCall::new("1", "pay", r#"{"to":"alice","amount":1}"#);
        let settled = harness(pay("Pays."), &ledger, answer).run_settled([call], None).await;
        let case = settled[0].record().case();
        let history = ledger.history(Query::all().case(case)).await.unwrap_or_else(|error| panic!("{error}"));
        let by = history.case(case).and_then(|case| case.signer());
        let expected = signed.then(|| Signer::new("ann", "terminal"));
        assert_eq!(by, expected, "{answer:?}");
    }
}
