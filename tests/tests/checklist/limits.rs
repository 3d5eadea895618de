//! Limits on executions: "at most 100 a day", as a line of a list. What ledgers make of it is in `ledger/limits`.

use std::sync::{Arc, Mutex};

use tool_runtime::{
    AllowAll, Answer, BoxFuture, CallFacts, Checklist, ChecklistBuilder, Code, Decision, DenyAll, Harness, Ledger,
    Query, QuestionSet, Registry, Replay, Reported, SlotState, ToolCall,
};

use crate::bench::{Bench, PAY, Ran, code_of, fills, pay, seen, tool_of};

fn limit(keys: &str) -> ChecklistBuilder {
    lines(&format!(r#"{{"tool":"pay","name":"limit","text":"it is within the limit",{keys}}}"#))
}

fn lines(lines: &str) -> ChecklistBuilder {
    let list = format!(r#"{{"list":"user","origin":"ann","scope":{{"calls":"none"}},"line":[{lines}]}}"#);
    Checklist::builder().json("ann", list)
}

fn paying(id: &str, amount: u32) -> ToolCall {
    ToolCall::new(id, "pay", format!(r#"{{"iban":"DE1","amount":{amount}}}"#))
}

async fn codes(harness: &Harness, amounts: &[u32]) -> Vec<Code> {
    let calls = amounts.iter().enumerate().map(|(id, amount)| paying(&id.to_string(), *amount));
    harness.run_settled(calls, None).await.iter().map(|settled| settled.record().code()).collect()
}

const OK: Code = Code::Ok;
const OVER: Code = Code::ConditionNotMet;

#[tokio::test]
async fn a_sum_is_counted_exactly_and_in_the_order_of_the_model() {
    let bench = Bench::with("Pays.", PAY);
    let harness = bench.harness(AllowAll, limit(r#""at_most":100,"per":"day","sum":"amount""#));
    // What doesn't fit takes nothing of what comes after it.
    assert_eq!(codes(&harness, &[60, 50, 40, 1]).await, [OK, OVER, OK, OVER]);
    let (_, said) = code_of(&harness, pay(r#"{"iban":"DE1","amount":7}"#)).await;
    assert!(said.contains("100 of 100 used, counted per day; this takes 7, and 0 is left"), "{said}");
    assert_eq!(seen(&bench.ran).len(), 2);
}

/// What a rule denies takes nothing either.
#[tokio::test]
async fn what_does_not_run_takes_nothing() {
    let bench = Bench::with("Pays.", PAY);
    let denied = bench.harness(DenyAll, limit(r#""at_most":1,"per":"day""#));
    assert_eq!(codes(&denied, &[1, 2]).await, [Code::Denied, Code::Denied]);
    let some = |call: &CallFacts<'_>| match call.arguments().read::<u32>("/amount") {
        Some(1) => Decision::deny("not one"),
        _ => Decision::Allow,
    };
    let harness = bench.harness(some, limit(r#""at_most":1,"per":"day""#));
    assert_eq!(codes(&harness, &[1, 2, 3]).await, [Code::Denied, OK, OVER]);
}

/// One line about several tools is one limit; two lines are two, and so are those of two people.
#[tokio::test]
async fn a_limit_is_of_whoever_put_it_there_over_all_tools_that_it_names() {
    let ran = Ran::default();
    let tools = ["pay", "send", "look"].map(|name| tool_of(&ran, name, "Does it.", PAY));
    let registry = Registry::builder().tools(tools).build().unwrap();
    let ledger = Arc::new(tool_runtime::MemoryLedger::default());
    let harness = |whose: &str| {
        let list = format!(
            r#"{{"list":"user","origin":"{whose}","scope":{{"calls":"none"}},"line":[
                {{"tool":["pay","send"],"name":"both","at_most":2,"per":"24h","text":"at most two"}}]}}"#
        );
        let list = Checklist::builder().json(whose, list).build(&registry).unwrap();
        Harness::new(registry.clone(), AllowAll).checklist(list).ledger(Arc::clone(&ledger))
    };
    let call = |tool: &str| ToolCall::new("c", tool, r#"{"iban":"DE1","amount":1}"#);
    let ann = harness("ann");
    for (tool, code) in [("pay", OK), ("send", OK), ("pay", OVER), ("send", OVER), ("look", OK)] {
        assert_eq!(code_of(&ann, call(tool)).await.0, code, "{tool}");
    }
    assert_eq!(code_of(&harness("bob"), call("pay")).await.0, OK);
}

/// Beyond it somebody is asked, if the line says so; what they agree to counts as well.
#[tokio::test]
async fn beyond_the_limit_somebody_may_be_asked() {
    let bench = Bench::with("Pays.", PAY);
    let list = || limit(r#""at_most":1,"per":"day","over":"ask""#);
    let harness = bench.harness(AllowAll, list());
    assert_eq!(codes(&harness, &[1, 2]).await, [OK, Code::ApprovalUnavailable]);
    let sets = Arc::<Mutex<Vec<QuestionSet>>>::default();
    let harness = bench.harness(AllowAll, list()).approver(fills(&[], &sets));
    assert_eq!(codes(&harness, &[3, 4]).await, [OK, OK]);
    let said: Vec<String> = sets.lock().unwrap()[0].questions.iter().flat_map(|one| one.reasons.clone()).collect();
    let expected = |used: u32| {
        format!("it is within the limit (user: ann: {used} of 1 used, counted per day; this takes 1, and 0 is left)")
    };
    // The second is asked about as if the first ran.
    assert_eq!(said, [expected(1), expected(2)]);
    assert!(matches!(bench.slot("limit").1, SlotState::Answered(_)));
    let verdicts = bench.verdicts();
    let used: Vec<_> =
        verdicts.last().unwrap().slots()[0].judged_by().map(|(name, json)| format!("{name} {json}")).collect();
    assert_eq!(used, ["used.limit 2", "takes.limit 1"]);
    // Whoever says no keeps the place free.
    let no = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(async move { vec![Answer::No; set.questions.len()] })
    };
    let bench = Bench::with("Pays.", PAY);
    assert_eq!(codes(&bench.harness(AllowAll, list()).approver(no), &[1, 2]).await, [OK, Code::Rejected]);
}

/// What somebody refuses takes nothing of those after it either, which are counted anew.
#[tokio::test]
async fn what_is_refused_leaves_its_room_to_those_after_it() {
    let is_asked = |call: &CallFacts<'_>| match call.arguments().read::<u32>("/amount") {
        Some(amount) if amount >= 50 => Decision::ask("it is much"),
        _ => Decision::Allow,
    };
    let list = || limit(r#""at_most":100,"per":"day","sum":"amount""#);
    // Says yes to these amounts, and notes what it is asked about, a list a set.
    let answers = |yes: &'static [u32], sets: &Arc<Mutex<Vec<Vec<u32>>>>| {
        let sets = Arc::clone(sets);
        move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            let amount = |text: &str| text.rsplit(':').next().unwrap().trim_end_matches('}').parse::<u32>().unwrap();
            let asked: Vec<u32> = set.questions.iter().map(|question| amount(&question.arguments)).collect();
            let said = asked.iter().map(|amount| if yes.contains(amount) { Answer::Yes } else { Answer::No }).collect();
            sets.lock().unwrap().push(asked);
            Box::pin(std::future::ready(said))
        }
    };
    const NO: Code = Code::Rejected;
    /// What is paid, to which of it somebody says yes, how the calls end, and what is asked about, a list a set.
    type Case<'c> = (&'c [u32], &'static [u32], &'c [Code], &'c [&'c [u32]]);
    let cases: [Case<'_>; 6] = [
        // Nobody has to be asked about the others: they run, in their order, as far as there is room.
        (&[80, 40, 30, 35], &[], &[NO, OK, OK, OVER], &[&[80]]),
        (&[80, 40, 30], &[80], &[OK, OVER, OVER], &[&[80]]),
        // Those that have to be asked about are asked about then.
        (&[80, 70, 60], &[70], &[NO, OK, OVER], &[&[80], &[70]]),
        // However many.
        (
            &[99, 98, 97, 96, 95, 94, 5],
            &[94],
            &[NO, NO, NO, NO, NO, OK, OK],
            &[&[99], &[98], &[97], &[96], &[95], &[94]],
        ),
        // What stands before the refused one was judged without it, and what doesn't fit by itself never does.
        (&[30, 60, 101, 50], &[], &[OK, NO, OVER, NO], &[&[60], &[50]]),
        (&[60, 30, 50], &[60, 50], &[OK, OK, OVER], &[&[60]]),
    ];
    for (amounts, yes, ends, asked) in cases {
        let (bench, sets) = (Bench::with("Pays.", PAY), Arc::default());
        let harness = bench.harness(is_asked, list()).approver(answers(yes, &sets));
        assert_eq!(codes(&harness, amounts).await, ends, "{amounts:?}");
        assert_eq!(*sets.lock().unwrap(), asked, "{amounts:?}");
    }
    // What was refused before in the conversation is refused unasked, and leaves its room as well.
    let (bench, sets) = (Bench::with("Pays.", PAY), Arc::default());
    let harness = bench.harness(is_asked, list()).conversation("c").approver(answers(&[70], &sets));
    assert_eq!(codes(&harness, &[80]).await, [NO]);
    assert_eq!(codes(&harness, &[80, 70]).await, [NO, OK]);
    assert_eq!(*sets.lock().unwrap(), [[80], [70]]);
}

/// In the shadow it counts, and blocks nothing.
#[tokio::test]
async fn in_the_shadow_it_counts_and_blocks_nothing() {
    let bench = Bench::with("Pays.", PAY);
    let shadow = r#"{"scope":{"calls":"none","shadow":true},"line":[
        {"tool":"pay","name":"limit","at_most":1,"per":"day","text":"at most one"}]}"#;
    let harness = bench.harness(AllowAll, Checklist::builder().json("ours", shadow));
    assert_eq!(codes(&harness, &[1, 2, 3]).await, [OK, OK, OK]);
    assert_eq!(bench.slot("limit").1, SlotState::Fails);
}

/// A record says by how much it was judged, so that another limit can be tried on it.
#[tokio::test]
async fn another_limit_is_seen_before_it_counts() {
    let bench = Bench::with("Pays.", PAY);
    let list = |most: u32| limit(&format!(r#""at_most":{most},"per":"day""#)).build(&bench.registry).unwrap();
    assert_eq!(
        codes(&bench.harness(AllowAll, limit(r#""at_most":3,"per":"day""#)), &[1, 2, 3, 4]).await,
        [OK, OK, OK, OVER]
    );
    let history = bench.ledger.history(Query::all()).await.unwrap();
    let differs = |list: &Checklist| -> Vec<bool> {
        let replayed = Replay::new(&bench.registry, &AllowAll).checklist(list).of(&history);
        replayed.iter().map(tool_runtime::Replayed::differs).collect()
    };
    assert_eq!(differs(&list(3)), [false; 4]);
    assert_eq!(differs(&list(1)), [false, true, true, false]);
    assert_eq!(differs(&list(4)), [false, false, false, true]);
}

/// The provider of a tool may say so too, of that tool alone.
#[tokio::test]
async fn a_limit_may_stand_in_the_schema_of_its_tool() {
    let parameters = PAY.replacen(
        r#""type":"object","#,
        r#""type":"object","x-tool-checklist":[{"name":"often","at_most":1,"per":"minute","text":"not too often"}],"#,
        1,
    );
    let ran = Ran::default();
    let tools = ["pay", "send"].map(|name| tool_of(&ran, name, "Does it.", &parameters));
    let harness = Harness::new(Registry::builder().tools(tools).build().unwrap(), AllowAll);
    for (tool, code) in [("pay", OK), ("pay", OVER), ("send", OK), ("send", OVER)] {
        let call = ToolCall::new("c", tool, r#"{"iban":"DE1","amount":1}"#);
        assert_eq!(code_of(&harness, call).await.0, code, "{tool}");
    }
}

/// A value that is filled in is what counts.
#[tokio::test]
async fn what_is_filled_in_is_what_is_summed() {
    let bench = Bench::with("Pays.", PAY);
    let list = || limit(r#""at_most":10,"per":"day","sum":"amount""#);
    for (amount, code) in [("11", OVER), ("10", OK), ("1", OVER)] {
        let answers: &'static [_] = Box::leak(Box::new([("How much, in euros.", amount)]));
        let harness = bench.harness(AllowAll, list()).approver(fills(answers, &Arc::default()));
        let draft = pay(r#"{"iban":"DE1"}"#).with_reported(Reported::new([("/amount", "no result")]));
        assert_eq!(code_of(&harness, draft).await.0, code, "{amount}");
    }
    assert_eq!(seen(&bench.ran).len(), 1);
}

/// What can't be right is refused when the list is loaded, with its place.
#[test]
fn what_is_wrong_with_a_limit_is_said_when_it_is_loaded() {
    let parameters = r#"{"type":"object","additionalProperties":false,"required":["a","b","s","n","list"],"properties":{
        "a":{"type":"number"},"b":{"type":["number","null"]},"c":{"type":"number"},"s":{"type":"string"},
        "n":{"type":"integer","default":1},
        "list":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["x"],"properties":{"x":{"type":"integer"},"y":{"type":"integer"}}}}}}"#;
    let registry = Registry::builder().tool(tool_of(&Ran::default(), "t", "Does.", parameters)).build().unwrap();
    let built = |keys: &str| {
        let line = format!(r#"{{"line":[{{"tool":"t",{keys}}}]}}"#);
        Checklist::builder().json("ours", line).build(&registry).map(drop).map_err(|error| error.to_string())
    };
    let named = |keys: &str| built(&format!(r#""name":"n","text":"t",{keys}"#));
    for keys in [
        r#""at_most":3,"per":"day""#,
        r#""at_most":0,"per":"90s","sum":"a""#,
        r#""at_most":1.5,"per":"2w","sum":"list[*].x","over":"ask","approver":"@boss""#,
        r#""at_most":1,"per":"366d","sum":"n","over":"block""#,
    ] {
        assert_eq!(named(keys), Ok(()), "{keys}");
    }
    for (keys, wrong) in [
        (r#""at_most":3"#, "column 44: line 1: a limit needs a `per`"),
        (r#""per":"day""#, "column 44: line 1: `per`, `sum` and `over` are about a limit: it needs an `at_most`"),
        (r#""at_most":"3","per":"day""#, "column 54: line 1: `at_most` has to be a number, and is text"),
        (r#""at_most":-1,"per":"day""#, "column 54: line 1: `at_most` is below zero"),
        (r#""at_most":1e30,"per":"day""#, "more digits than can be counted exactly"),
        (r#""at_most":1,"per":"daily""#, "column 62: line 1: `per` \"daily\" is no period"),
        (r#""at_most":1,"per":"0s""#, "is no time at all"),
        (r#""at_most":1,"per":"400d""#, "is longer than a year"),
        (r#""at_most":1,"per":"day","over":"shout""#, "`over` can't be \"shout\""),
        (r#""at_most":1,"per":"day","sum":"aa""#, "`t` has no argument `aa`"),
        (r#""at_most":1,"per":"day","sum":"s""#, "`t`: `s` isn't always a number"),
        (r#""at_most":1,"per":"day","sum":"b""#, "`t`: `b` isn't always a number"),
        (r#""at_most":1,"per":"day","sum":"c""#, "`t`: `c` may be absent"),
        (r#""at_most":1,"per":"day","sum":"list[*].y""#, "`t`: `list[*].y` may be absent"),
        (r#""at_most":1,"per":"day","sum":"list[0].x""#, "`t`: `list[0].x` may be absent"),
        (r#""at_most":1,"per":"day","check":"c""#, "without another condition"),
        (r#""at_most":1,"per":"day","argument":"a""#, "a condition stands on a line of its own"),
        (r#""at_most":1,"per":"day","approver":"@boss""#, "with `over = \"ask\"`"),
    ] {
        let error = named(keys).unwrap_err();
        assert!(error.contains(wrong), "{keys}: {error}");
    }
    assert!(built(r#""at_most":1,"per":"day","text":"t""#).unwrap_err().contains("needs a `name`"));
    assert!(built(r#""at_most":1,"per":"day","name":"n""#).unwrap_err().contains("needs a `text`"));
    let twice = r#"{"tool":"t","name":"n","text":"t","at_most":1,"per":"day"}"#;
    let error = lines(&format!("{twice},{twice}")).build(&registry).unwrap_err().to_string();
    assert!(error.contains("line 2: there is another limit `n` of the same origin"), "{error}");
}

/// A limit that can't be counted blocks, whatever other lines have its name, and however those come out.
#[tokio::test]
async fn lines_of_the_same_name_are_judged_apart() {
    let parameters = r#"{"type":"object","additionalProperties":false,"required":["amount"],"properties":{
        "amount":{"type":"number","description":"How much."}}}"#;
    let bench = Bench::with("Pays.", parameters);
    let of = |whose: &str, sum: &str| {
        let line = format!(r#"{{"tool":"pay","name":"limit","at_most":100,"per":"day","text":"not too much"{sum}}}"#);
        format!(r#"{{"list":"user","origin":"{whose}","scope":{{"calls":"none"}},"line":[{line}]}}"#)
    };
    let (summed, counted) = (of("ann", r#","sum":"amount""#), of("bob", ""));
    for (first, second) in [(&summed, &counted), (&counted, &summed)] {
        let list = Checklist::builder().json("first", first).json("second", second);
        let harness = bench.harness(AllowAll, list);
        for amount in ["1e30", "1e-19", "9223372036854775808"] {
            let (code, said) = code_of(&harness, pay(&format!(r#"{{"amount":{amount}}}"#))).await;
            assert_eq!(code, Code::Unanswered, "{amount}: {said}");
        }
    }
    assert_eq!(seen(&bench.ran).len(), 0);
    // And neither takes anything of another line's findings.
    let other = r#"{"origin":"ours","scope":{"calls":"none"},"line":[
        {"tool":"pay","name":"limit","check":"known","text":"the recipient is known"}]}"#;
    let failed = |_| -> BoxFuture<'static, Result<bool, String>> { Box::pin(async { Err("out of order".to_owned()) }) };
    for (first, second) in [(other, &*counted), (&*counted, other)] {
        let list = Checklist::builder().condition("known", failed).json("first", first).json("second", second);
        let harness = bench.harness(AllowAll, list);
        assert_eq!(code_of(&harness, pay(r#"{"amount":1}"#)).await.0, Code::Unanswered);
    }
    assert_eq!(seen(&bench.ran).len(), 0);
}
