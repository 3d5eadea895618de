//! Which rule wins.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use tool_runtime::{
    Answer, BoxFuture, CallFacts, Code, Decision, DynamicTool, Harness, Hint, Hints, Policies, QuestionSet, Registry,
    Rule, Rules, Test, ToolCall,
};

use super::{FileReadTool, Ran, Said, any, from_toml, path, registry, rules, said, tools};

fn orders<T: Clone>(of: &[T]) -> Vec<Vec<T>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let mut orders_of_all = Vec::new();
    for (index, first) in of.iter().enumerate() {
        let rest = [&of[..index], &of[index + 1..]].concat();
        orders_of_all.extend(orders(&rest).into_iter().map(|order| [std::slice::from_ref(first), &order[..]].concat()));
    }
    orders_of_all
}

#[tokio::test]
async fn b64_deny_beats_ask_beats_allow_in_all_6_orders() {
    let of = [
        Rule::deny("git").because("no pushes").when("command", Test::matches("push *")),
        Rule::ask("git*").because("it is git"),
        Rule::allow("*"),
    ];
    let orders = orders(&of);
    assert_eq!(orders.len(), 6);
    for order in orders {
        let rules = rules(order);
        let push = said(&rules, "git", r#"{"command":"push origin"}"#).await;
        assert_eq!(push, Said::Denied("no pushes".to_owned()));
        let pull = said(&rules, "git", r#"{"command":"pull"}"#).await;
        assert_eq!(pull, Said::Asked("it is git".to_owned()));
        assert_eq!(said(&rules, "free", "{}").await, Said::Allowed);
    }
}

#[tokio::test]
async fn d23_all_rules_of_the_winning_kind_give_their_reasons_in_order() {
    let of = [
        Rule::deny("git").because("first no"),
        Rule::allow("*"),
        Rule::ask("*").because("first question"),
        Rule::deny("g*").because("second no"),
        Rule::ask("f*").because("second question"),
    ];
    let forwards = rules(of.clone());
    let git = r#"{"command":""}"#;
    assert_eq!(said(&forwards, "git", git).await, Said::Denied("first no; second no".to_owned()));
    assert_eq!(said(&forwards, "free", "{}").await, Said::Asked("first question; second question".to_owned()));
    let backwards = rules(of.into_iter().rev());
    assert_eq!(said(&backwards, "git", git).await, Said::Denied("second no; first no".to_owned()));
}

#[tokio::test]
async fn d23_where_no_rule_applies_there_is_no_opinion() {
    let rules = rules([Rule::allow("git")]);
    assert_eq!(said(&rules, "free", "{}").await, Said::Asked(String::new()));
    assert_eq!(said(&from_toml(""), "free", "{}").await, Said::Asked(String::new()));
    assert!(from_toml("").is_empty());
    // Another policy may have one.
    let harness = Harness::new(tools(), Policies::new().and(rules).and(|_: &CallFacts<'_>| Decision::Allow));
    let results = harness.run([ToolCall::new("1", "free", "{}")]).await;
    assert!(!results[0].is_error());
}

#[tokio::test]
async fn d22_a_guard_forbids_what_rules_allow() {
    let harness = Harness::new(tools(), rules([Rule::allow("*")])).guard(|_: &CallFacts<'_>| Some("not today".into()));
    let settled = harness.run_settled([ToolCall::new("1", "free", "{}")], None).await;
    assert_eq!(settled[0].record().code(), Code::Denied);
}

#[tokio::test]
async fn a_call_of_a_tool_that_no_rule_was_made_for_is_asked_about() {
    let allow_all = rules([Rule::allow("*")]);
    // A new tool, one with other parameters, and one with other hints.
    let build = |hints: Hints| {
        DynamicTool::builder("free", "Does it.")
            .parameters(r#"{"type":"object","properties":{"value":{},"list":{"type":"array"}}}"#)
            .output("true")
            .hints(hints)
            .run(|text, _| async { Ok(text) })
    };
    let changed = any("free", r#"{"type":"object","properties":{"other":{}}}"#);
    let (Ok(hinted), Ok(same)) = (build([Hint::Destructive].into()), build(Hints::default())) else {
        panic!("no tool")
    };
    for (tool, code) in [
        (any("new", r#"{"type":"object","properties":{}}"#), Code::ApprovalUnavailable),
        (changed, Code::ApprovalUnavailable),
        (hinted, Code::ApprovalUnavailable),
        (same, Code::Ok),
    ] {
        let name = tool.name().to_owned();
        let harness = Harness::new(registry([tool]), allow_all.clone());
        let settled = harness.run_settled([ToolCall::new("1", name, "{}")], None).await;
        assert_eq!(settled[0].record().code(), code);
    }
}

#[tokio::test]
async fn a_yes_to_a_rule_that_asks_runs_the_call_once() {
    let ran = Ran::default();
    let Ok(registry) = Registry::builder().tool(FileReadTool::host()).state(ran.clone()).build() else { panic!() };
    let rules = match Rules::builder().rule(Rule::ask("*").because("sure?")).build(&registry) {
        Ok(rules) => rules,
        Err(error) => panic!("{error}"),
    };
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let harness = Harness::new(registry, rules).approver(move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.extend(set.questions.iter().flat_map(|question| question.reasons.clone()));
        Box::pin(async { vec![Answer::Yes] })
    });
    let results = harness.run([ToolCall::new("1", "file_read", path("a"))]).await;
    assert_eq!(results[0].text(), "a");
    assert_eq!(ran.0.load(Ordering::SeqCst), 1);
    assert_eq!(*asked.lock().unwrap_or_else(PoisonError::into_inner), ["sure?"]);
}
