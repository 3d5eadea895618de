//! What is secret stands in no record, and no tool is taken for another.

use std::sync::{Arc, Mutex};

use tool_runtime::{
    AllowAll, Answer, Answers, BoxFuture, Checklist, Code, Conversation, DynamicTool, Harness, ProcessMemory,
    QuestionSet, Registry, Reported,
};

use crate::bench::{Bench, PAY, code_of, pay, presets, seen};

/// Secrets stand in no record.
#[tokio::test]
async fn the_record_holds_no_secret() {
    let parameters = PAY.replace(r#""memo":{"type":"string"}"#, r#""pin":{"type":"string","x-tool-secret":true}"#);
    let bench = Bench::with("Pays.", &parameters);
    let harness = bench.harness(AllowAll, Checklist::builder());
    code_of(&harness, pay(r#"{"iban":"DE1","amount":5,"pin":"hunter"}"#)).await;
    let text = serde_json::to_string(&*bench.verdicts()[0]).unwrap();
    assert!(text.contains("/pin") && !text.contains("hunter"), "{text}");
}

/// Nor does a value that holds one: a line about the whole, a blank for the whole.
#[tokio::test]
async fn what_holds_a_secret_is_shown_and_recorded_as_one() {
    const CARD: &str = r#""card":{"type":"object","additionalProperties":false,"required":["number"],
        "properties":{"number":{"type":"string","x-tool-secret":true},"name":{"type":"string"}}}"#;
    let parameters = PAY.replace(r#""memo":{"type":"string"}"#, CARD).replace(r#""amount"],"#, r#""amount","card"],"#);
    let lines = r#"{"scope":{"calls":"none"},"line":[
        {"tool":"pay","argument":"card","label":"confirm","text":"the card is charged"}]}"#;
    let card = r#"{"number":"hunter","name":"Ann"}"#;
    let given = pay(&format!(r#"{{"iban":"DE1","amount":5,"card":{card}}}"#));
    let open = pay(r#"{"iban":"DE1","amount":5}"#).with_reported(Reported::new([("/card", Reported::NO_RESULT)]));
    for call in [given, open] {
        let bench = Bench::with("Pays.", &parameters);
        let (sets, answers) = (Arc::<Mutex<Vec<QuestionSet>>>::default(), Answers::new());
        let noted = Arc::clone(&sets);
        let approver = move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            for blank in &set.questions[0].blanks {
                assert!(blank.secret && !blank.keepable, "{blank:?}");
                set.fill(&set.questions[0].id, &blank.slot, card).unwrap();
            }
            noted.lock().unwrap().push(set);
            Box::pin(std::future::ready(vec![Answer::Yes]))
        };
        let list = Checklist::builder().answers(&answers).memory(Arc::new(ProcessMemory::new())).json("ours", lines);
        let (code, said) = code_of(&bench.harness(AllowAll, list).approver(approver), call).await;
        assert_eq!(code, Code::Ok, "{said}");
        assert_eq!(seen(&bench.ran), [format!(r#"{{"iban":"DE1","amount":5,"card":{card}}}"#)]);
        let asked = format!("{:?}", sets.lock().unwrap()[0].questions[0].reasons);
        assert!(!asked.contains("hunter"), "{asked}");
        for entry in bench.ledger.entries() {
            let text = serde_json::to_string(&entry).unwrap();
            assert!(!text.contains("hunter"), "{text}");
        }
    }
}

/// A list outlives the tools that it was built for. What a model doesn't see of a tool may change and leave its definition
/// what it was: which arguments are secret, and what the tool changes.
#[tokio::test]
async fn a_list_takes_each_tool_for_what_it_is() {
    let plain = PAY.replace(r#""memo":{"type":"string"}"#, r#""pin":{"type":"string"}"#);
    let secret = PAY.replace(r#""memo":{"type":"string"}"#, r#""pin":{"type":"string","x-tool-secret":true}"#);
    let conversation = Conversation::new();
    conversation.user("The pin is 4711.");
    let bench = Bench::with("Pays.", &plain);
    let lines = r#"{"line":[{"changes":"money.moved","label":"confirm","text":"money is moved"}]}"#;
    let tool = |schema: &str, changes: &[&str]| {
        let tool = DynamicTool::builder("pay", "Pays.").parameters(schema).output("true").changes(changes.to_vec());
        tool.run(|_, _| async { Ok("\"done\"".to_owned()) }).unwrap()
    };
    let moving = Registry::builder().tool(tool(&plain, &["money.moved"])).build().unwrap();
    let list = Checklist::builder()
        .source(presets(&[("/iban", "\"DE1\""), ("/amount", "5")]))
        .source(conversation.instruction())
        .json("ours", lines)
        .build(&moving)
        .unwrap();
    let call = || pay(r#"{"iban":"DE1","amount":5,"pin":"4711"}"#);
    for (registry, code, tells) in [
        (bench.registry.clone(), Code::Ok, true),
        (Registry::builder().tool(tool(&secret, &[])).build().unwrap(), Code::Ok, false),
        (moving, Code::ApprovalUnavailable, true),
        (bench.registry.clone(), Code::Ok, true),
    ] {
        let harness = Harness::new(registry, AllowAll).checklist(list.clone()).ledger(Arc::clone(&bench.ledger));
        let (came, said) = code_of(&harness, call()).await;
        assert_eq!(came, code, "{said}");
        let text = serde_json::to_string(&**bench.verdicts().last().unwrap()).unwrap();
        assert_eq!(text.contains("4711"), tells, "{text}");
    }
}
