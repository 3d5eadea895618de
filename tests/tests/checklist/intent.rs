//! What the user wants changed, and when.

use std::sync::Arc;

use tool_runtime::{
    AllowAll, CallFacts, Checklist, Code, Conversation, Decision, Entry, Harness, ListKind, MemoryLedger, Registry,
    Reported, SlotKind, ToolCall,
};

use crate::bench::{Ran, code_of, fills};

/// A tool with a fixed change, and another.
fn lights() -> (Ran, Registry) {
    /// Switches the light off.
    #[tool_runtime::tool(host(inline, changes("light.off")))]
    fn turn_off_light() -> &'static str {
        "off"
    }

    /// Dims the light.
    #[tool_runtime::tool(host(inline, changes("light.dim", "light.warm")))]
    fn light_control() -> &'static str {
        "dim"
    }

    let tools = [TurnOffLightTool::host(), LightControlTool::host()];
    (Ran::default(), Registry::builder().tools(tools).build().unwrap())
}

/// "Matching has to be based on whether the tool can produce the state change the user wants, not on matching names."
#[tokio::test]
async fn a_tool_that_cant_make_the_wanted_change_is_filtered_out() {
    let (_, registry) = lights();
    let conversation = Conversation::new();
    conversation.user("turn off the living room light");
    let list = Checklist::builder().source(conversation.instruction()).json("ours", r#"{"fixed":{"intent":true}}"#);
    let ledger = Arc::new(MemoryLedger::default());
    let harness =
        Harness::new(registry.clone(), AllowAll).checklist(list.build(&registry).unwrap()).ledger(ledger.clone());
    let call = |tool: &str, pairs: &[(&str, &str)]| {
        ToolCall::new("c", tool, "{}").with_reported(Reported::new(pairs.iter().copied()))
    };
    let off = [("@action", "u1"), ("@change", "light.off")];
    assert_eq!(code_of(&harness, call("turn_off_light", &off)).await.0, Code::Ok);
    let (code, said) = code_of(&harness, call("light_control", &off)).await;
    assert_eq!(code, Code::ConditionNotMet);
    assert!(said.contains("light.dim"), "{said}");
    // "A tool chosen while these are empty is an off-target execution."
    assert_eq!(code_of(&harness, call("turn_off_light", &[])).await.0, Code::Unanswered);
    assert_eq!(code_of(&harness, call("turn_off_light", &[("@action", "no result")])).await.0, Code::Unanswered);
    // A place that isn't the user's is none.
    assert_eq!(code_of(&harness, call("turn_off_light", &[("@action", "r:call_7#")])).await.0, Code::Unanswered);
    let Entry::Verdict(verdict) = &ledger.entries()[0] else { panic!() };
    let action = verdict.slots().iter().find(|slot| slot.name() == "@action").unwrap();
    // What the user calls it is recorded.
    assert_eq!((action.kind(), action.value()), (SlotKind::Intent, Some(r#""turn off the living room light""#)));
    assert_eq!(action.origins()[0].list(), ListKind::Fixed);
}

/// "If the timing is unclear, do not default to immediate execution. Ask."
#[tokio::test]
async fn unclear_timing_is_asked_and_costs_no_question_of_its_own() {
    let (_, registry) = lights();
    let conversation = Conversation::new();
    conversation.user("turn off the light now");
    let list = || Checklist::builder().source(conversation.instruction()).json("ours", r#"{"fixed":{"timing":true}}"#);
    let harness = Harness::new(registry.clone(), AllowAll).checklist(list().build(&registry).unwrap());
    let call = ToolCall::new("c", "turn_off_light", "{}");
    assert_eq!(code_of(&harness, call.clone()).await.0, Code::ApprovalUnavailable);
    let said = call.clone().with_reported(Reported::new([("@when", "u1")]));
    assert_eq!(code_of(&harness, said).await.0, Code::Ok);
    let sets = Arc::default();
    let harness = Harness::new(registry.clone(), |_: &CallFacts<'_>| Decision::ask("lights are asked about"))
        .checklist(list().build(&registry).unwrap())
        .approver(fills(&[], &sets));
    assert_eq!(code_of(&harness, call).await.0, Code::Ok);
    assert_eq!(sets.lock().unwrap()[0].questions[0].reasons, ["lights are asked about", "it is done now"]);
}
