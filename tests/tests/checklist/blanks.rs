//! What nobody has given: asked for together, filled by a person, and never twice.

use std::sync::{Arc, Mutex};

use tool_runtime::{
    AllowAll, Answer, Answers, Ask, BoxFuture, Checklist, Code, Hit, Location, Lookup, Normalisation, Pointer,
    QuestionSet, Reported, SlotState, SourceKind, ToolCall, source_fn,
};

use crate::bench::{Bench, PAY, code_of, fills, pay, presets, seen};

/// "It has to be able to write 'no result', because when there is nothing to write, it invents."
#[tokio::test]
async fn no_result_for_a_required_value_is_asked_for_and_not_refused() {
    let bench = Bench::with("Pays.", PAY);
    let sets = Arc::default();
    let harness = bench
        .harness(AllowAll, Checklist::builder().source(presets(&[("/amount", "5")])))
        .approver(fills(&[("The account that is paid.", "DE7")], &sets));
    let call = pay(r#"{"amount":5}"#).with_reported(Reported::new([("/iban", Reported::NO_RESULT)]));
    let (code, _) = code_of(&harness, call).await;
    assert_eq!(code, Code::Ok);
    // "Once the list is full, it is already there": no model call in between.
    assert_eq!(seen(&bench.ran), [r#"{"iban":"DE7","amount":5}"#]);
    let verdicts = bench.verdicts();
    assert_eq!((verdicts.len(), verdicts[0].revision()), (1, 2));
    assert!(matches!(bench.slot("/iban"), (_, SlotState::Answered(_))));
    let sets = sets.lock().unwrap();
    let question = &sets[0].questions[0];
    assert!(question.reasons.is_empty(), "nothing but the blank is asked for: {:?}", question.reasons);
}

/// "Ask about blanks in one batch, naturally."
#[tokio::test]
async fn all_blanks_of_a_turn_are_asked_in_one_batch() {
    let bench = Bench::with("Pays.", PAY);
    let sets = Arc::default();
    let harness = bench
        .harness(AllowAll, Checklist::builder())
        .approver(fills(&[("The account that is paid.", "DE7"), ("How much, in euros.", "12")], &sets));
    let calls = [pay(r#"{"iban":"DE1","amount":5}"#), ToolCall::new("call_2", "pay", r#"{"iban":"DE2","amount":6}"#)];
    let results = harness.run(calls).await;
    assert!(results.iter().all(|result| !result.is_error()), "{results:?}");
    let sets = sets.lock().unwrap();
    assert_eq!(sets.len(), 1);
    let blanks: Vec<usize> = sets[0].questions.iter().map(|question| question.blanks.len()).collect();
    assert_eq!(blanks, [2, 2]);
    let words = sets[0].in_words();
    assert!(
        words.contains("The account that is paid.") && !words.contains("pay\"") && !words.contains("/iban"),
        "{words}"
    );
}

/// "What is recorded should be looked up, not asked again."
#[tokio::test]
async fn what_was_answered_once_is_not_asked_again() {
    let bench = Bench::with("Pays.", PAY);
    let (sets, answers) = (Arc::default(), Answers::new());
    let list = Checklist::builder().answers(&answers).source(presets(&[("/amount", "5")]));
    let harness = bench.harness(AllowAll, list).approver(fills(&[("The account that is paid.", "DE7")], &sets));
    assert_eq!(code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await.0, Code::Ok);
    let again = ToolCall::new("call_2", "pay", r#"{"iban":"DE7","amount":5}"#);
    assert_eq!(code_of(&harness, again).await.0, Code::Ok);
    assert_eq!(seen(&bench.ran), [r#"{"iban":"DE7","amount":5}"#; 2]);
    assert_eq!(sets.lock().unwrap().len(), 1);
    let (_, state) = bench.slot("/iban");
    let SlotState::Found { at, .. } = state else { panic!("{state:?}") };
    assert_eq!(at.source(), SourceKind::Answer);
}

/// A blank takes what the tool takes.
#[tokio::test]
async fn a_blank_is_typed() {
    let bench = Bench::with("Pays.", PAY);
    let refused = Arc::new(Mutex::new(Vec::new()));
    let noted = refused.clone();
    let harness = bench.harness(AllowAll, Checklist::builder().source(presets(&[("/iban", "\"DE1\"")]))).approver(
        move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            let question = &set.questions[0];
            for wrong in ["many", "0", "1.5", "null", "[1]"] {
                noted.lock().unwrap().push(set.fill_text(&question.id, "/amount", wrong).unwrap_err().to_string());
            }
            set.fill(&question.id, "/iban", "\"X\"").unwrap_err();
            set.fill_text(&question.id, "/amount", " 12 ").unwrap();
            Box::pin(std::future::ready(vec![Answer::Yes]))
        },
    );
    let (code, _) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!((code, seen(&bench.ran)), (Code::Ok, vec![r#"{"iban":"DE1","amount":12}"#.to_owned()]));
    assert_eq!(refused.lock().unwrap().len(), 5);
}

/// A yes that leaves a blank empty is no yes.
#[tokio::test]
async fn a_remaining_blank_halts_execution() {
    let bench = Bench::with("Pays.", PAY);
    let yes = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(std::future::ready(vec![Answer::Yes; set.questions.len()]))
    };
    let harness = bench.harness(AllowAll, Checklist::builder()).approver(yes);
    let (code, _) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!((code, seen(&bench.ran)), (Code::Unanswered, vec![]));
}

/// Two sources that say different things are a choice.
#[tokio::test]
async fn a_conflict_is_asked_as_a_choice() {
    let bench = Bench::with("Pays.", PAY);
    let both = source_fn(SourceKind::Instruction, |ask: Ask| {
        let hit = |value: &str| Hit::new(Location::whole(Pointer::Turn(1), value), value, Normalisation::Exact);
        std::future::ready(match ask.slot() {
            "/iban" => Lookup::Conflict(vec![hit("\"DE1\""), hit("\"DE2\"")]),
            _ => Lookup::Hit(hit("5")),
        })
    });
    let sets = Arc::default();
    let harness = bench
        .harness(AllowAll, Checklist::builder().source(both))
        .approver(fills(&[("The account that is paid.", "DE2")], &sets));
    let (code, _) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!((code, seen(&bench.ran)), (Code::Ok, vec![r#"{"iban":"DE2","amount":5}"#.to_owned()]));
    assert_eq!(sets.lock().unwrap()[0].questions[0].blanks[0].choices, ["\"DE1\"", "\"DE2\""]);
}

/// What a person is asked for has the name that it has in this call's form, and what is there by that name is there.
#[tokio::test]
async fn a_blank_has_the_name_of_the_form_that_the_call_has() {
    // "file" is another name of `path` in one form, and the name of its own in the other.
    let form = |kind: &str, file: &str| {
        format!(
            r#"{{"type":"object","additionalProperties":false,"required":["kind"],
                "properties":{{"kind":{{"const":"{kind}"}},{file}}}}}"#
        )
    };
    let parameters = format!(
        r#"{{"type":"object","additionalProperties":false,"required":["what"],"properties":{{"what":{{"oneOf":[{},{}]}}}}}}"#,
        form("local", r#""path":{"type":"string","x-tool-alias":["file"]}"#),
        form("remote", r#""file":{"type":"string"}"#),
    );
    let lines = r#"{"line":[{"tool":"pay","argument":"what.file","label":"required","ask":"Which file?"}]}"#;
    for (given, ran) in [
        (r#"{"what":{"kind":"local"}}"#, r#"{"what":{"kind":"local","path":"a.txt"}}"#),
        (r#"{"what":{"kind":"remote"}}"#, r#"{"what":{"kind":"remote","file":"a.txt"}}"#),
        (r#"{"what":{"kind":"local","file":"b"}}"#, r#"{"what":{"kind":"local","path":"b"}}"#),
        (r#"{"what":{"kind":"remote","file":"b"}}"#, r#"{"what":{"kind":"remote","file":"b"}}"#),
    ] {
        let bench = Bench::with("Pays.", &parameters);
        let sets = Arc::default();
        let kind = if given.contains("local") { "\"local\"" } else { "\"remote\"" };
        let known = presets(&[("/what/kind", kind), ("/what/path", "\"b\""), ("/what/file", "\"b\"")]);
        let list = Checklist::builder().source(known).json("desk", lines);
        let harness = bench.harness(AllowAll, list).approver(fills(&[("Which file?", "a.txt")], &sets));
        let (code, text) = code_of(&harness, pay(given)).await;
        assert_eq!((code, seen(&bench.ran)), (Code::Ok, vec![ran.to_owned()]), "{given}: {text}");
        assert_eq!(sets.lock().unwrap().len(), usize::from(given.len() < 30), "{given}");
    }
}
