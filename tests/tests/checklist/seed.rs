//! Rules of the seed that no other theme has: each test bears the gist of one.

use std::sync::Arc;

use tool_runtime::{
    AllowAll, Answer, BoxFuture, CallFacts, CheckedCall, Checklist, Code, Conversation, Decision, Entry, Harness,
    ListKind, MemoryLedger, Party, ProviderReport, QuestionSet, Registry, Reported, SlotKind, SlotState, ToolCall,
    tool,
};

use crate::bench::{Bench, PAY, check, code_of, fills, pay, presets, says, seen};

const CALL: &str = r#"{"iban":"DE1","amount":5}"#;

/// "An external list decides what to ask": nothing that the model says or leaves out changes what is.
#[tokio::test]
async fn what_is_asked_is_what_stands_on_the_list() {
    let lists = [
        (r#"{"scope":{"calls":"none"}}"#, 0),
        (r#"{"scope":{"calls":"none"},"line":[{"tool":"pay","argument":"iban","label":"required"}]}"#, 1),
        (r#"{"scope":{"calls":"all"}}"#, 2),
    ];
    for (list, blanks) in lists {
        let bench = Bench::with("Pays.", PAY);
        let sets = Arc::<std::sync::Mutex<Vec<QuestionSet>>>::default();
        let conversation = Conversation::new();
        conversation.user("Hello.");
        let list = Checklist::builder().source(conversation.instruction()).json("ours", list);
        let harness = bench.harness(AllowAll, list).approver(fills(&[], &sets));
        let sure = [("/iban", "u1"), ("/amount", "u1")];
        for reported in [&[][..], &sure] {
            code_of(&harness, pay(CALL).with_reported(Reported::new(reported.iter().copied()))).await;
            let asked: usize =
                sets.lock().unwrap().drain(..).flat_map(|set| set.questions).map(|one| one.blanks.len()).sum();
            assert_eq!(blanks, asked, "{reported:?}");
        }
    }
}

/// "Wrong execution, uninstructed execution, off-target execution": each block is of one of the three kinds.
#[tokio::test]
async fn a_block_is_of_a_value_a_condition_or_the_intent() {
    let bench = Bench::with("Pays.", PAY);
    let lines = check("holds").replace(r#"{"calls":"none"}"#, r#"{"calls":"all"},"fixed":{"intent":true}"#);
    let list = Checklist::builder().source(presets(&[("/iban", "\"DE1\"")])).condition("known", says(Err("down")));
    code_of(&bench.harness(AllowAll, list.json("ours", lines)), pay(CALL)).await;
    let verdicts = bench.verdicts();
    let open: Vec<(&str, SlotKind)> = verdicts[0]
        .slots()
        .iter()
        .filter(|slot| verdicts[0].open().iter().any(|open| open == slot.name()))
        .map(|slot| (slot.name(), slot.kind()))
        .collect();
    let expected = [
        ("/amount", SlotKind::Value),
        ("recipient", SlotKind::Condition),
        ("@change", SlotKind::Intent),
        ("@action", SlotKind::Intent),
    ];
    assert_eq!(open, expected);
}

/// "Is there authority? Have safety considerations been addressed?": who calls, and what a body asks for, are lines.
#[tokio::test]
async fn authority_and_safety_are_lines_like_any_other() {
    let lines = r#"{"scope":{"calls":"none"},"line":[
        {"tool":"pay","name":"authority","check":"may_pay","text":"the caller may pay","origin":"the company"},
        {"tool":"pay","name":"safety","check":"is_safe","text":"the safety check was done","origin":"the regulator","list":"provider"}]}"#;
    for (authority, safety, unmet) in [(true, true, 0), (false, true, 1), (true, false, 1), (false, false, 2)] {
        let bench = Bench::with("Pays.", PAY);
        let list =
            Checklist::builder().condition("may_pay", says(Ok(authority))).condition("is_safe", says(Ok(safety)));
        let (code, said) = code_of(&bench.harness(AllowAll, list.json("ours", lines)), pay(CALL)).await;
        assert_eq!(code == Code::Ok, unmet == 0, "{said}");
        let verdicts = bench.verdicts();
        assert_eq!(verdicts[0].reasons().len(), unmet);
        // "Policy bodies, companies, and regulators … can be added under the provider list."
        let of = |name: &str| verdicts[0].slots().iter().find(|slot| slot.name() == name).unwrap().origins()[0].clone();
        assert_eq!((of("authority").by(), of("authority").list()), ("the company", ListKind::Internal));
        assert_eq!((of("safety").by(), of("safety").list()), ("the regulator", ListKind::Provider));
    }
}

/// "Put values and conditions on the same list, and there is one way to handle both."
#[tokio::test]
async fn values_and_conditions_stand_on_one_list() {
    let bench = Bench::with("Pays.\n[confirm] Sure?", PAY);
    let lines = check("holds").replace(r#"{"calls":"none"}"#, r#"{"calls":"all"},"fixed":{"timing":true}"#);
    let list = Checklist::builder().source(presets(&[("/iban", "\"DE1\"")])).condition("known", says(Ok(true)));
    code_of(&bench.harness(AllowAll, list.json("ours", lines)), pay(CALL)).await;
    let verdicts = bench.verdicts();
    let slots: Vec<(&str, &str)> =
        verdicts[0].slots().iter().map(|slot| (slot.name(), slot.state().as_str())).collect();
    let expected = [
        ("/iban", "found"),
        ("/amount", "open"),
        ("confirm", "unconfirmed"),
        ("recipient", "holds"),
        ("@when", "open"),
    ];
    assert_eq!(slots, expected);
}

/// "Providers already write them in the tool description": what has no label is kept, and reported.
#[tokio::test]
async fn prose_without_a_label_is_reported_to_its_provider() {
    let description = "Pays.\n\n- [confirm] Money leaves.\nOnly on working days.\n```\nnot this\n```\nNever twice.";
    let bench = Bench::with(description, PAY);
    let tool = bench.registry.get("pay").unwrap();
    assert_eq!(tool.schema().description(), description);
    let mut report = ProviderReport::default();
    report.add_prose(tool);
    report.add_prose(tool);
    let json = serde_json::to_value(&report).unwrap();
    let lines: Vec<_> = json["findings"].as_array().unwrap().iter().map(|finding| finding["why"].as_str()).collect();
    assert_eq!(lines, [Some("Never twice."), Some("Only on working days.")]);
    assert!(jsonschema::is_valid(&serde_json::from_str(ProviderReport::SCHEMA).unwrap(), &json), "{json}");
}

/// "Attach a source to the empty field and that case can be sent to the provider": with nothing of the user in it.
#[tokio::test]
async fn a_report_for_the_provider_holds_nothing_of_the_user() {
    let parameters = PAY.replacen(
        r#""type":"object","#,
        r#""type":"object","x-tool-checklist":[{"name":"terms","check":"nobody_has_it","text":"the terms are fine"}],"#,
        1,
    );
    let bench = Bench::with("Pays.\n[required] the recipient agrees", &parameters);
    let harness = Harness::new(bench.registry.clone(), AllowAll).ledger(Arc::clone(&bench.ledger));
    for iban in ["DE4711", "DE4712"] {
        code_of(&harness, pay(&format!(r#"{{"iban":"{iban}","amount":815}}"#))).await;
    }
    let report = ProviderReport::of(bench.verdicts().iter().map(|verdict| &**verdict));
    let json = serde_json::to_value(&report).unwrap();
    assert!(jsonschema::is_valid(&serde_json::from_str(ProviderReport::SCHEMA).unwrap(), &json), "{json}");
    let text = json.to_string();
    assert!(!text.contains("DE47") && !text.contains("815"), "{text}");
    let findings = json["findings"].as_array().unwrap();
    let problems: Vec<_> =
        findings.iter().map(|finding| (finding["problem"].as_str().unwrap(), finding["count"].as_u64())).collect();
    assert_eq!(problems, [("names_nothing", Some(2)), ("not_judged", Some(2))]);
}

/// "User checklist: intent, current context, execution limits, pre-execution confirmation, preferences."
#[tokio::test]
async fn a_users_list_has_intent_context_limits_confirmation_and_preferences() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/data/user-checklist.json");
    let parameters =
        PAY.replace(r#""memo":{"type":"string"}"#, r#""memo":{"type":"string","description":"What for."}"#);
    let bench = Bench::with("Pays.", &parameters);
    for (home, amount, code) in
        [(true, 5, Code::ApprovalUnavailable), (false, 5, Code::ConditionNotMet), (true, 101, Code::ConditionNotMet)]
    {
        let list = Checklist::builder().condition("at_home", says(Ok(home)));
        let call = pay(&format!(r#"{{"iban":"DE1","amount":{amount}}}"#));
        let (came, said) = code_of(&bench.harness(AllowAll, list.file(file)), call).await;
        assert_eq!(came, code, "{said}");
    }
    let verdicts = bench.verdicts();
    let own = verdicts[0].slots().iter().filter(|slot| slot.origins()[0].list() == ListKind::User).count();
    assert_eq!(own, 3, "{:?}", verdicts[0].slots());
}

/// "A principle can only be used where code can catch a violation": each says what catches it, or is a residual risk.
#[test]
fn every_principle_names_what_catches_its_violation() {
    let registry = Registry::builder().build().unwrap();
    let list = Checklist::builder().json("principles", Checklist::PRINCIPLES).build(&registry).unwrap();
    let principles = list.principles();
    assert_eq!(principles.len(), 8);
    let checks = ["lookup", "intent", "timing", "consent", "count"];
    let residual = principles.iter().filter(|principle| match principle.checked_by() {
        Some(check) => {
            assert!(checks.contains(&check), "{check}");
            false
        }
        None => true,
    });
    assert!(residual.map(|principle| principle.text()).all(|text| text.contains("tool names")));
}

/// "A principle should sit outside the prompt … and be applied every time a tool is involved."
#[test]
fn principles_go_along_with_every_request_that_offers_tools() {
    let bench = Bench::with("Pays.", PAY);
    let list =
        |registry: &Registry| Checklist::builder().json("principles", Checklist::PRINCIPLES).build(registry).unwrap();
    let harness = Harness::new(bench.registry.clone(), AllowAll).checklist(list(&bench.registry));
    let reminder = harness.reminder().unwrap().to_text();
    assert_eq!(reminder.lines().count(), 8);
    assert!(
        reminder.contains("- Do not invent values; search in the fixed order. Point to the location, not the value.")
    );
    // Declarations don't change by it.
    assert!(!bench.registry.get("pay").unwrap().schema().as_json().contains("invent"));
    let none = Registry::builder().build().unwrap();
    assert!(Harness::new(none.clone(), AllowAll).checklist(list(&none)).reminder().is_none());
    assert!(Harness::new(bench.registry, AllowAll).reminder().is_none());
}

/// Switches the light off. (turn_off_light)
#[tool(host(inline, changes("light.off")))]
fn turn_off_light() -> &'static str {
    "off"
}

/// Cuts the power of a device.
#[tool(host(inline, changes("light.off", "heater.off")))]
fn set_device_power() -> &'static str {
    "cut"
}

/// Dims the light.
#[tool(host(inline, changes("light.dim")))]
fn dim() -> &'static str {
    "dim"
}

/// "If more than one candidate remains, do not show the tool names. Ask the user to clarify the action."
#[tokio::test]
async fn several_that_can_do_it_are_asked_about_without_their_names() {
    let tools = [TurnOffLightTool::host(), SetDevicePowerTool::host(), DimTool::host()];
    let registry = Registry::builder().tools(tools).build().unwrap();
    let conversation = Conversation::new();
    conversation.user("turn off the living room light");
    let list = || {
        let list = Checklist::builder().source(conversation.instruction());
        list.json("ours", r#"{"fixed":{"intent":true}}"#).build(&registry).unwrap()
    };
    let call = |tool: &str, change: &str| {
        ToolCall::new("c", tool, "{}").with_reported(Reported::new([("@action", "u1"), ("@change", change)]))
    };
    let sets = Arc::<std::sync::Mutex<Vec<QuestionSet>>>::default();
    let ledger = Arc::new(MemoryLedger::default());
    let harness = Harness::new(registry.clone(), AllowAll).checklist(list()).ledger(ledger.clone());
    // Nobody to ask: the model's choice among several doesn't run.
    assert_eq!(code_of(&harness, call("turn_off_light", "light.off")).await.0, Code::ApprovalUnavailable);
    // What only one can do needs no such question.
    assert_eq!(code_of(&harness, call("dim", "light.dim")).await.0, Code::Ok);
    assert_eq!(code_of(&harness, call("set_device_power", "heater.off")).await.0, Code::Ok);
    let harness = harness.approver(fills(&[], &sets));
    assert_eq!(code_of(&harness, call("turn_off_light", "light.off")).await.0, Code::Ok);
    let words = sets.lock().unwrap()[0].in_words();
    assert!(
        words.contains("2 things can make the change \"light.off\"") && words.contains("Switches the light off."),
        "{words}"
    );
    assert!(!words.contains("turn_off_light") && !words.contains("set_device_power"), "{words}");
    // "Tool selection is not caught by code": how many there were to choose among stands in the record.
    let entries = ledger.entries();
    let verdicts = entries.iter().filter_map(|entry| match entry {
        Entry::Verdict(verdict) => verdict.slots().iter().find(|slot| slot.name() == "@tool"),
        _ => None,
    });
    let recorded: Vec<_> = verdicts.map(|slot| (slot.value().unwrap(), slot.state().as_str())).collect();
    assert_eq!(recorded, [("2", "unconfirmed"), ("1", "holds"), ("1", "holds"), ("2", "answered")]);
}

/// "An invented tool is blocked because it is not on the list."
#[tokio::test]
async fn an_invented_tool_cant_be_chosen() {
    let bench = Bench::with("Pays.", PAY);
    let harness = bench.harness(AllowAll, Checklist::builder());
    let (code, _) = code_of(&harness, ToolCall::new("c", "pay_quickly", CALL)).await;
    assert_eq!((code, seen(&bench.ran).len()), (Code::UnknownTool, 0));
}

/// "Only the remainder goes to conversation."
#[tokio::test]
async fn only_what_is_still_empty_is_asked() {
    let bench = Bench::with("Pays.", PAY);
    let sets = Arc::<std::sync::Mutex<Vec<QuestionSet>>>::default();
    let list = Checklist::builder().source(presets(&[("/amount", "5")]));
    let harness = bench.harness(AllowAll, list).approver(fills(&[("The account that is paid.", "DE7")], &sets));
    assert_eq!(code_of(&harness, pay(CALL)).await.0, Code::Ok);
    let sets = sets.lock().unwrap();
    let asked: Vec<&str> = sets[0].questions[0].blanks.iter().map(|blank| &*blank.asks).collect();
    assert_eq!(asked, ["The account that is paid."]);
}

/// "`[required]` — subject to source checking. If it is not in state, it goes on the unknown list."
#[tokio::test]
async fn a_required_value_that_no_source_has_is_unknown() {
    let parameters = PAY.replace("The account that is paid.", r"The account.\n[required] as the user gave it");
    for (sources, code) in [(presets(&[]), Code::Unanswered), (presets(&[("/iban", "\"DE1\"")]), Code::Ok)] {
        let bench = Bench::with("Pays.", &parameters);
        let list = Checklist::builder().source(sources).json("ours", r#"{"scope":{"calls":"none"}}"#);
        assert_eq!(code_of(&bench.harness(AllowAll, list), pay(CALL)).await.0, code);
    }
    // Also one that the schema doesn't require, and that the call leaves out.
    let bench = Bench::with("Pays.", PAY);
    let line = r#"{"scope":{"calls":"none"},"line":[{"tool":"pay","argument":"memo","label":"required"}]}"#;
    let harness = bench.harness(AllowAll, Checklist::builder().json("ours", line));
    assert_eq!(code_of(&harness, pay(CALL)).await.0, Code::Unanswered);
    assert!(matches!(bench.slot("/memo"), (SlotKind::Value, SlotState::Open { party: Party::User, .. })));
}

/// "If everything is immediate, the timing slot is not needed; if there is only one tool, the tool-selection slot is not."
#[tokio::test]
async fn the_fixed_lines_can_be_switched_off() {
    for (fixed, slots) in [
        (r#"{}"#, 0),
        (r#"{"fixed":{"timing":true}}"#, 1),
        (r#"{"fixed":{"intent":true}}"#, 2),
        (r#"{"fixed":{"intent":true,"timing":true}}"#, 3),
    ] {
        let bench = Bench::with("Pays.", PAY);
        code_of(&bench.harness(AllowAll, Checklist::builder().json("ours", fixed)), pay(CALL)).await;
        let verdicts = bench.verdicts();
        let fixed = verdicts[0].slots().iter().filter(|slot| slot.kind() == SlotKind::Intent).count();
        assert_eq!(fixed, slots);
    }
}

/// "You cannot explain why that case landed in the approval queue": the record does.
#[tokio::test]
async fn the_record_says_why_a_case_waits_for_approval() {
    let bench = Bench::with("Pays.", PAY);
    let asks = |_: &CallFacts<'_>| Decision::ask("payments are looked at");
    let list = Checklist::builder().condition("known", says(Ok(true))).json("ours", check("approve_if"));
    let later = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(std::future::ready(vec![Answer::Later; set.questions.len()]))
    };
    assert_eq!(code_of(&bench.harness(asks, list).approver(later), pay(CALL)).await.0, Code::ApprovalPending);
    let verdicts = bench.verdicts();
    assert_eq!(
        verdicts[0].reasons(),
        ["payments are looked at", "the recipient is known (internal: treasury policy 4)"]
    );
}

/// Declares its conditions in its attribute.
#[tool(host(
    inline,
    condition(name = "recipient", text = "the recipient is known", check = "known", then = "holds"),
    condition(name = "extra", text = "it is looked at", check = "large", then = "approve_if", approver = "@treasurer"),
))]
fn wire(
    /// How much.
    amount: u32,
) -> u32 {
    amount
}

/// "Declare what each condition is checked against": in a file, in an attribute, or in the schema, it is the same line.
#[tokio::test]
async fn a_condition_can_stand_in_the_attribute_of_its_tool() {
    let registry = Registry::builder().tool(WireTool::host()).build().unwrap();
    let call = || ToolCall::new("c", "wire", r#"{"amount":5}"#);
    for (known, large, code) in [
        (Ok(true), Ok(false), Code::Ok),
        (Ok(false), Ok(false), Code::ConditionNotMet),
        (Err("down"), Ok(false), Code::Unanswered),
        (Ok(true), Ok(true), Code::ApprovalUnavailable),
    ] {
        let list = Checklist::builder().condition("known", says(known)).condition("large", says(large));
        let list = list.json("ours", r#"{"scope":{"calls":"none"}}"#).build(&registry).unwrap();
        let harness = Harness::new(registry.clone(), AllowAll).checklist(list);
        let (came, said) = code_of(&harness, call()).await;
        assert_eq!(came, code, "{said}");
    }
    // Without anybody who can check it, it doesn't run either; and it is the provider's.
    let (code, said) = code_of(&Harness::new(registry.clone(), AllowAll), call()).await;
    assert!(code == Code::Unanswered && said.contains("its provider"), "{code} {said}");
    let tool = registry.get("wire").unwrap();
    // The model sees nothing of it, and the definition is another one for it.
    assert!(!tool.schema().as_json().contains("recipient"), "{}", tool.schema().as_json());
}

#[cfg(feature = "cel")]
mod expressions {
    use super::*;

    /// Pays within the balance.
    #[tool(host(
        inline,
        condition(name = "balance", text = "the balance is sufficient", holds = "args.amount <= state.balance")
    ))]
    fn pay_out(
        /// How much.
        amount: u32,
    ) -> u32 {
        amount
    }

    /// Has an expression that names nothing.
    #[tool(host(inline, condition(name = "wrong", text = "it is right", holds = "args.amuont < 3")))]
    fn pay_wrong(
        /// How much.
        amount: u32,
    ) -> u32 {
        amount
    }

    /// What an attribute compares with the state is compared; what can't be read lets nothing run.
    #[tokio::test]
    async fn an_expression_in_an_attribute_is_judged() {
        let registry = Registry::builder().tools([PayOutTool::host(), PayWrongTool::host()]).build().unwrap();
        for (tool, balance, code) in [
            ("pay_out", "5", Code::Ok),
            ("pay_out", "4", Code::ConditionNotMet),
            ("pay_out", "\"much\"", Code::Unanswered),
            ("pay_wrong", "5", Code::Unanswered),
        ] {
            let state = move |_: CheckedCall| -> BoxFuture<'static, Result<String, String>> {
                Box::pin(std::future::ready(Ok(balance.to_owned())))
            };
            let list = Checklist::builder().state("balance", state).json("ours", r#"{"scope":{"calls":"none"}}"#);
            let harness = Harness::new(registry.clone(), AllowAll).checklist(list.build(&registry).unwrap());
            let (came, said) = code_of(&harness, ToolCall::new("c", tool, r#"{"amount":5}"#)).await;
            assert_eq!(came, code, "{tool} {balance}: {said}");
        }
    }
}
