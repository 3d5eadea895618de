//! Conditions over state and arguments, and values that follow from others.

use std::sync::Arc;

use tool_runtime::{
    AllowAll, BoxFuture, CheckedCall, Checklist, Code, Conversation, DynamicTool, Harness, Registry, Reported,
    SlotState,
};

use crate::bench::{Bench, PAY, Ran, code_of, fills, pay, presets, says, seen};

fn balance(
    json: Result<&'static str, &'static str>,
) -> impl Fn(CheckedCall) -> BoxFuture<'static, Result<String, String>> {
    move |_| Box::pin(std::future::ready(json.map(str::to_owned).map_err(str::to_owned)))
}

const LINE: &str = r#"{"scope":{"calls":"none"},"line":[{"tool":"pay","name":"balance","origin":"the bank",
    "holds":"args.amount <= state.balance","text":"the balance is sufficient"}]}"#;

/// Every key that the documentation shows is one, and the conditions and limits of its list count.
#[tokio::test]
async fn the_list_in_the_documentation_is_one() {
    let ran = Ran::default();
    let parameters = r#"{"type":"object","required":["amount"],"properties":{"iban":{"type":"string"},
        "amount":{"type":"number"},"fee":{"type":"number"}}}"#;
    let paying = |name: &str| {
        let ran = ran.clone();
        let tool = DynamicTool::builder(name, "Pays.").parameters(parameters).output("true").changes(["payment.made"]);
        let tool = tool.run(move |arguments, _| {
            ran.lock().unwrap().push(arguments);
            async { Ok("1".to_owned()) }
        });
        tool.unwrap()
    };
    let registry = Registry::builder().tools([paying("pay"), paying("transfer"), paying("draft_pay")]).build().unwrap();
    // What is asked of every call is another matter.
    let list = tests::documented("checklist/builder.rs", "toml").replace("intent = true", "intent = false");
    let list = list.replace("timing = true", "timing = false");
    for (state, exists, code, said) in [
        ("300", true, Code::Ok, ""),
        ("299", true, Code::ConditionNotMet, "the balance is sufficient"),
        ("300", false, Code::ConditionNotMet, "the recipient exists"),
        ("900", true, Code::ConditionNotMet, "it is at most 500 a day"),
    ] {
        let amount = if state == "900" { 600 } else { 300 };
        let conversation = Conversation::new();
        conversation.user(&format!("Pay {amount} to the account DE1."));
        let checklist = Checklist::builder()
            .source(conversation.instruction())
            .state("balance", balance(Ok(state)))
            .state("rate", balance(Ok("0.01")))
            .condition("recipient_exists", says(Ok(exists)))
            .toml("documented", list.as_str())
            .build(&registry);
        let checklist = checklist.unwrap_or_else(|error| panic!("{error}"));
        let harness = Harness::new(registry.clone(), AllowAll).checklist(checklist);
        let harness = harness.approver(fills(&[], &Arc::default()));
        let call = pay(&format!(r#"{{"iban":"DE1","amount":{amount}}}"#));
        let (came, text) = code_of(&harness, call).await;
        assert!(came == code && text.contains(said), "{state} {exists}: {came} {text}");
    }
    assert_eq!(seen(&ran).len(), 1);
}

/// "Is the balance sufficient?"
#[tokio::test]
async fn a_condition_compares_an_argument_with_the_state() {
    for (state, code) in [
        (Ok("5"), Code::Ok),
        (Ok("4"), Code::ConditionNotMet),
        (Ok("\"much\""), Code::Unanswered),
        (Err("down"), Code::Unanswered),
    ] {
        let bench = Bench::with("Pays.", PAY);
        let harness = bench.harness(AllowAll, Checklist::builder().state("balance", balance(state)).json("ours", LINE));
        let (came, said) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
        assert_eq!(came, code, "{state:?}: {said}");
    }
}

/// A wrong expression is found when the list is loaded, with its place.
#[test]
fn a_wrong_expression_is_refused_with_its_place() {
    let bench = Bench::with("Pays.", PAY);
    let lines = LINE.replace("args.amount", "args.amont");
    let error = Checklist::builder().state("balance", balance(Ok("1"))).json("ours", lines).build(&bench.registry);
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("ours: line 2, column 13: line 1: for `pay`: ") && error.contains("amount"), "{error}");
}

/// A condition over what is still open waits for it.
#[tokio::test]
async fn a_condition_over_a_blank_is_judged_once_it_is_filled() {
    for (amount, code) in [("5", Code::Ok), ("6", Code::ConditionNotMet)] {
        let bench = Bench::with("Pays.", PAY);
        let harness = bench
            .harness(AllowAll, Checklist::builder().state("balance", balance(Ok("5"))).json("ours", LINE))
            .approver(fills(&[("How much, in euros.", amount)], &Arc::default()));
        let call = pay(r#"{"iban":"DE1"}"#).with_reported(Reported::new([("/amount", Reported::NO_RESULT)]));
        assert_eq!(code_of(&harness, call).await.0, code);
    }
}

/// "A derived value is never silent."
#[tokio::test]
async fn a_derived_value_is_shown_before_it_counts() {
    let lines = r#"{"line":[{"tool":"pay","argument":"amount","derive":"state.total - state.paid"}]}"#;
    let bench = Bench::with("Pays.", PAY);
    let list = || {
        Checklist::builder()
            .source(presets(&[("/iban", "\"DE1\"")]))
            .state("total", balance(Ok("12")))
            .state("paid", balance(Ok("7")))
            .json("ours", lines)
    };
    let sets = Arc::default();
    let harness = bench.harness(AllowAll, list()).approver(fills(&[], &sets));
    let (code, said) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!(code, Code::Ok, "{said}");
    let reasons = sets.lock().unwrap()[0].questions[0].reasons.clone();
    assert_eq!(reasons, ["How much, in euros. 5 follows from state.total - state.paid"]);
    // Nobody has to agree: nothing runs.
    assert_eq!(
        code_of(&bench.harness(AllowAll, list()), pay(r#"{"iban":"DE1","amount":5}"#)).await.0,
        Code::ApprovalUnavailable
    );
    // Another value is none that follows.
    assert_eq!(
        code_of(&bench.harness(AllowAll, list()), pay(r#"{"iban":"DE1","amount":6}"#)).await.0,
        Code::Unanswered
    );
}

const SPLIT: &str = r#"{"type":"object","additionalProperties":false,"required":["price","count","parts"],"properties":{
    "price":{"type":"integer"},"count":{"type":"integer"},"parts":{"type":"array","items":{"type":"integer"}}}}"#;

/// "Derived values need a declared derivation whose inputs have sources": what only follows from one another, or from
/// what nobody gave, doesn't follow.
#[tokio::test]
async fn a_value_follows_only_from_what_has_a_source() {
    let lines = r#"{"line":[
        {"tool":"pay","argument":"parts[*]","derive":"args.price * args.count - args.parts.sum() + args.parts[0]"},
        {"tool":"pay","argument":"parts[1]","derive":"args.price * args.count - args.parts[0]"},
        {"tool":"pay","argument":"count","derive":"state.heads"}]}"#;
    // Who is found, and which of the three slots follow then.
    for (found, arguments, derived, open) in [
        (&["/price", "/count", "/parts/1"][..], r#"{"price":5,"count":2,"parts":[3,7]}"#, &["/parts/0"][..], &[][..]),
        (&["/price", "/count", "/parts/0"], r#"{"price":5,"count":2,"parts":[3,7]}"#, &["/parts/1"], &[]),
        // What follows is known to others, in any order of the lines.
        (&["/price", "/parts/0"], r#"{"price":5,"count":2,"parts":[3,7]}"#, &["/count", "/parts/1"], &[]),
        // The two parts only follow from one another.
        (&["/price", "/count"], r#"{"price":5,"count":2,"parts":[3,7]}"#, &[], &["/parts/0", "/parts/1"]),
        // Nobody said what it costs.
        (&["/count", "/parts/0"], r#"{"price":5,"count":2,"parts":[3,7]}"#, &[], &["/parts/1", "/price"]),
        // It follows otherwise.
        (&["/price", "/count", "/parts/0"], r#"{"price":5,"count":2,"parts":[3,8]}"#, &[], &["/parts/1"]),
    ] {
        let bench = Bench::with("Pays.", SPLIT);
        let known = |slot: &str| match slot {
            "/price" => "5",
            "/count" => "2",
            "/parts/0" => "3",
            _ => "7",
        };
        let values: Vec<(&'static str, &'static str)> = found.iter().map(|slot| (*slot, known(slot))).collect();
        let list = Checklist::builder().source(presets(&values)).state("heads", balance(Ok("2"))).json("ours", lines);
        code_of(&bench.harness(AllowAll, list), pay(arguments)).await;
        let verdicts = bench.verdicts();
        let slots = verdicts[0].slots();
        let of = |is: fn(&SlotState) -> bool| {
            let mut names: Vec<&str> = slots.iter().filter(|slot| is(slot.state())).map(|slot| slot.name()).collect();
            names.sort();
            names
        };
        assert_eq!(of(|state| matches!(state, SlotState::Derived(_))), derived, "{found:?} {arguments}");
        assert_eq!(of(|state| matches!(state, SlotState::Open { .. })), open, "{found:?} {arguments}");
    }
}
