//! No feature of `serde_json` that a user's build turns on changes a decision, a digest or a declaration.
//!
//! What is written here is the same for every build: run once with each of the features `arbitrary_precision`,
//! `preserve_order` and `float_roundtrip` of this package.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tool_runtime::wire::openai_chat::Declarations;
use tool_runtime::{
    Answer, BoxFuture, CallFacts, Code, Decision, Harness, HostTool, QuestionSet, Registry, ToolCall, tool, tool_type,
};

use crate::support::{Ran, echo, lock, one, registry, watched};

/// Who pays.
#[tool_type]
struct Payer {
    /// The account.
    account: u64,
    /// The name.
    #[arg(default = "nobody".to_owned())]
    name: String,
}

/// Pays.
#[tool]
async fn pay(
    /// How much.
    amount: f64,
    /// At which rate.
    #[arg(default = 0.1, range = 1e-7..=1e21, example = 2.50)]
    rate: f64,
    /// Who.
    payer: Option<Payer>,
    /// About what.
    #[arg(default = json!({ "z": 1.50, "a": [1e2, -0.0] }))]
    about: Value,
    #[host] ran: Ran,
) -> f64 {
    ran.note();
    let _ = (payer, about);
    amount * rate.signum()
}

/// The same without a type of Rust behind it.
fn pay_dynamic() -> HostTool {
    echo(
        "pay_dynamic",
        r#"{"type":"object","properties":{"amount":{"type":"number","maximum":1.0E30},"zone":{"enum":["b","a",1.0]}},"required":["amount"]}"#,
    )
}

/// Gives free values back.
#[tool(host(inline))]
fn give(
    /// Any.
    value: Value,
) -> BTreeMap<String, Value> {
    BTreeMap::from([("value".to_owned(), value), ("own".to_owned(), json!({ "z": 1.5, "b": 100, "a": 1e-7 }))])
}

const PAY_DIGEST: &str = "8fb1521739abeca6fc16fc0bfa934e9ffcc09c6f4d22cddcbc37f3b2fa75572b";
const PAY_DYNAMIC_DIGEST: &str = "f1d4d7fae33b1081c00676d3f99fe53127242e650ad33b41074cad04a8c6f3e5";
const GIVE_DIGEST: &str = "e8686b02d6c0e01b800791354d882a1374003ef237a660c57b43ba956e56b79d";
const DECLARATIONS: &str = r##"[{"type":"function","function":{"name":"give","description":"Gives free values back.","parameters":{"type":"object","properties":{"value":{"description":"Any."}},"required":["value"],"additionalProperties":false}}},{"type":"function","function":{"name":"pay","description":"Pays.","parameters":{"type":"object","properties":{"amount":{"type":"number","description":"How much."},"rate":{"type":"number","description":"At which rate.","default":0.1,"examples":[2.5],"maximum":1e+21,"minimum":1e-7},"payer":{"description":"Who.","anyOf":[{"$ref":"#/$defs/Payer"},{"type":"null"}]},"about":{"description":"About what.","default":{"a":[100,0],"z":1.5}}},"required":["amount"],"additionalProperties":false,"$defs":{"Payer":{"type":"object","description":"Who pays.","properties":{"account":{"type":"integer","description":"The account.","maximum":18446744073709551615,"minimum":0},"name":{"type":"string","description":"The name.","default":"nobody"}},"required":["account"],"additionalProperties":false}}}}},{"type":"function","function":{"name":"pay_dynamic","description":"Says it again.","parameters":{"type":"object","properties":{"amount":{"type":"number","maximum":1e+30},"zone":{"enum":["b","a",1]}},"required":["amount"]}}}]"##;
const OUTPUTS: [&str; 3] = [r#"{"type":"object","additionalProperties":true}"#, r#"{"type":"number"}"#, "true"];

fn tools() -> Registry {
    registry([PayTool::host(), pay_dynamic(), GiveTool::host()])
}

#[test]
fn inv15_declarations_are_the_same_in_every_build() {
    let outputs: Vec<_> = tools().iter().map(|tool| tool.output_schema().to_owned()).collect();
    assert_eq!(outputs, OUTPUTS);
    assert_eq!(Declarations::of(tools().schemas()).to_json(), DECLARATIONS);
}

#[test]
fn inv15_digests_are_the_same_in_every_build() {
    let digests: Vec<_> = tools().iter().map(|tool| format!("{} {}", tool.name(), tool.digest())).collect();
    let expected = [("give", GIVE_DIGEST), ("pay", PAY_DIGEST), ("pay_dynamic", PAY_DYNAMIC_DIGEST)];
    assert_eq!(digests, expected.map(|(name, digest)| format!("{name} {digest}")));
}

/// The canonical text that a policy is shown, and the text that a model reads.
async fn judged(tool: &str, arguments: impl Into<tool_runtime::RawArguments>) -> (String, Code, String) {
    let judged: Arc<Mutex<String>> = Arc::default();
    let seen = Arc::clone(&judged);
    let harness = Harness::new(tools(), move |call: &CallFacts<'_>| {
        call.arguments().as_str().clone_into(&mut lock(&seen));
        Decision::Allow
    });
    let settled = one(&harness, ToolCall::new("1", tool, arguments)).await;
    let judged = lock(&judged).clone();
    (judged, settled.record().code(), settled.result().text())
}

#[tokio::test]
async fn inv15_canonical_text_is_the_same_in_every_build() {
    for (tool, raw, canonical, text) in CANONICAL {
        let (judged, code, said) = judged(tool, raw).await;
        assert_eq!(code, Code::Ok, "{raw}: {said}");
        assert_eq!((judged.as_str(), said.as_str()), (canonical, text), "{raw}");
    }
}

/// A tool, what a model writes, what is judged, and what comes back.
const CANONICAL: [(&str, &str, &str, &str); 5] = [
    ("pay", r#"{"amount":999999.5}"#, r#"{"amount":999999.5,"rate":0.1,"about":{"a":[100,0],"z":1.5}}"#, "999999.5"),
    (
        "pay",
        r#"{"about":{"b":1.0,"a":0.1e1},"rate":1E0,"amount":1e6,"payer":{"account":3.0}}"#,
        r#"{"amount":1000000,"rate":1,"payer":{"account":3,"name":"nobody"},"about":{"a":1,"b":1}}"#,
        "1000000",
    ),
    ("pay_dynamic", r#"{"amount":1e6}"#, r#"{"amount":1000000}"#, r#"{"amount":1000000}"#),
    ("pay_dynamic", r#"{"zone":1,"amount":0.10}"#, r#"{"amount":0.1,"zone":1}"#, r#"{"amount":0.1,"zone":1}"#),
    (
        "give",
        r#"{"value":{"z":[1.0,1e21,0.1],"a":{"d":1,"c":"\u0041"}}}"#,
        r#"{"value":{"a":{"c":"A","d":1},"z":[1,1e+21,0.1]}}"#,
        r#"{"own":{"a":1e-7,"b":100,"z":1.5},"value":{"a":{"c":"A","d":1},"z":[1,1e+21,0.1]}}"#,
    ),
];

/// What each amount comes to where more than 1000 is denied, and what can't be read is asked about.
const AMOUNTS: [(&str, Expected); 25] = [
    ("0", Expected::Runs),
    ("-0.0", Expected::Runs),
    ("-5e9", Expected::Runs),
    ("1", Expected::Runs),
    ("999.9999999", Expected::Runs),
    ("1000", Expected::Runs),
    ("1000.0", Expected::Runs),
    ("1e3", Expected::Runs),
    ("10000e-1", Expected::Runs),
    ("0.001e6", Expected::Runs),
    ("1e-400", Expected::Runs),
    ("1000.0000001", Expected::Denied),
    ("1000.0000000000001136868377216160297393798828125", Expected::Denied),
    ("1001", Expected::Denied),
    ("999999.5", Expected::Denied),
    ("1e6", Expected::Denied),
    ("1E+6", Expected::Denied),
    ("1000000", Expected::Denied),
    ("1000000.0", Expected::Denied),
    ("0.01e9", Expected::Denied),
    ("9007199254740993", Expected::Denied),
    ("18446744073709551616", Expected::Denied),
    ("123456789012345678901234567890", Expected::Denied),
    ("1e30", Expected::Denied),
    ("1.00000000000000000001e3", Expected::Runs),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Runs,
    Denied,
}

type Rule = fn(&CallFacts<'_>) -> Option<bool>;

/// Rules that say the same, each reading in its own way. `None` is what can't be read: a person is asked.
fn rules() -> Vec<(&'static str, Rule)> {
    vec![
        ("read::<f64>", |call| call.arguments().read::<f64>("/amount").map(|amount| amount > 1000.0)),
        ("get and parse", |call| call.arguments().get("/amount")?.parse::<f64>().ok().map(|amount| amount > 1000.0)),
        ("read::<Value>", |call| call.arguments().read::<Value>("/amount")?.as_f64().map(|amount| amount > 1000.0)),
        ("read::<Number>", |call| {
            call.arguments().read::<serde_json::Number>("/amount")?.as_f64().map(|amount| amount > 1000.0)
        }),
        ("the whole as a map", |call| {
            let all = call.arguments().read::<BTreeMap<String, Value>>("")?;
            all.get("amount")?.as_f64().map(|amount| amount > 1000.0)
        }),
        ("the whole as Value", |call| {
            call.arguments().read::<Value>("")?.get("amount")?.as_f64().map(|amount| amount > 1000.0)
        }),
        ("from_str", |call| {
            let all: Value = serde_json::from_str(call.arguments().as_str()).ok()?;
            all["amount"].as_f64().map(|amount| amount > 1000.0)
        }),
    ]
}

fn nobody(asked: Ran) -> impl tool_runtime::Approver {
    move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        asked.note();
        Box::pin(async move { vec![Answer::No; set.questions.len()] })
    }
}

#[tokio::test]
async fn inv15_a_rule_about_a_number_decides_the_same_in_every_build() {
    for (how, rule) in rules() {
        for (amount, expected) in AMOUNTS {
            for tool in ["pay", "pay_dynamic"] {
                let (registry, ran) = watched([PayTool::host(), pay_dynamic()]);
                let asked = Ran::default();
                let harness = Harness::new(registry, move |call: &CallFacts<'_>| match rule(call) {
                    Some(true) => Decision::deny("more than 1000"),
                    Some(false) => Decision::Allow,
                    None => Decision::ask("how much?"),
                })
                .approver(nobody(asked.clone()));
                let settled = one(&harness, ToolCall::new("1", tool, format!(r#"{{"amount":{amount}}}"#))).await;
                let code = settled.record().code();
                let text = settled.result().text();
                // A build may be unable to read a number; then it asks, and never lets it pass.
                let exact =
                    !how.contains("Value") && !how.contains("Number") && !how.contains("map") && how != "from_str";
                match expected {
                    Expected::Denied if exact => assert_eq!(code, Code::Denied, "{how} {tool} {amount}: {text}"),
                    Expected::Denied => {
                        assert!([Code::Denied, Code::Rejected].contains(&code), "{how} {tool} {amount}: {code} {text}");
                    }
                    Expected::Runs => assert_eq!(code, Code::Ok, "{how} {tool} {amount}: {text}"),
                }
                if code != Code::Ok {
                    assert_eq!(ran.times(), 0, "{how} {tool} {amount}: it ran");
                }
            }
        }
    }
}

/// Whole numbers are read as whole numbers, whatever their spelling, and never as their neighbours.
#[tokio::test]
async fn inv15_integers_are_read_exactly_in_every_build() {
    for (raw, unsigned, signed, digits) in [
        ("30.0", Some(30), Some(30), "30"),
        ("3e1", Some(30), Some(30), "30"),
        ("9007199254740993", Some(9_007_199_254_740_993), Some(9_007_199_254_740_993), "9007199254740993"),
        ("9223372036854775807", Some(9_223_372_036_854_775_807), Some(i64::MAX), "9223372036854775807"),
        ("18446744073709551615", Some(u64::MAX), None, "18446744073709551615"),
        ("18446744073709551616", None, None, "18446744073709551616"),
        ("-9223372036854775808", None, Some(i64::MIN), "-9223372036854775808"),
    ] {
        let read = Arc::new(Mutex::new(None::<(Option<u64>, Option<i64>, Option<String>)>));
        let seen = Arc::clone(&read);
        let tool = echo("whole", r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#);
        let harness = Harness::new(registry([tool]), move |call: &CallFacts<'_>| {
            let arguments = call.arguments();
            *lock(&seen) = Some((arguments.read("/n"), arguments.read("/n"), arguments.get("/n").map(str::to_owned)));
            Decision::Allow
        });
        let settled = one(&harness, ToolCall::new("1", "whole", format!(r#"{{"n":{raw}}}"#))).await;
        assert_eq!(settled.record().code(), Code::Ok, "{raw}: {}", settled.result().text());
        assert_eq!(*lock(&read), Some((unsigned, signed, Some(digits.to_owned()))), "{raw}");
        assert_eq!(settled.value(), Some(format!(r#"{{"n":{digits}}}"#).as_str()));
    }
}

/// What isn't a number isn't read as one, and what isn't there isn't either: a rule is told so.
#[tokio::test]
async fn inv15_what_a_rule_cannot_read_is_none() {
    let tool = || echo("loose", r#"{"type":"object","properties":{"amount":{}}}"#);
    for raw in [r#"{"amount":"1e6"}"#, r#"{"amount":[1000000]}"#, r#"{"amount":null}"#, "{}", r#"{"amount":true}"#] {
        let (registry, _) = watched([tool()]);
        let asked = Ran::default();
        let harness = Harness::new(registry, |call: &CallFacts<'_>| match call.arguments().read::<f64>("/amount") {
            Some(amount) if amount > 1000.0 => Decision::deny("more than 1000"),
            Some(_) => Decision::Allow,
            None => Decision::ask("how much?"),
        })
        .approver(nobody(asked.clone()));
        let settled = one(&harness, ToolCall::new("1", "loose", raw)).await;
        assert_eq!(settled.record().code(), Code::Rejected, "{raw}");
        assert_eq!(asked.times(), 1, "{raw}");
    }
}

/// A provider's client that has parsed the arguments already, in whatever way its build does.
#[tokio::test]
async fn inv15_arguments_that_were_parsed_already_are_judged_the_same() {
    let harness = Harness::new(tools(), |call: &CallFacts<'_>| match call.arguments().read::<f64>("/amount") {
        Some(amount) if amount <= 1000.0 => Decision::Allow,
        _ => Decision::deny("more than 1000"),
    });
    for (amount, code) in
        [(json!(999_999.5), Code::Denied), (json!(1e6), Code::Denied), (json!(1000.0), Code::Ok), (json!(7), Code::Ok)]
    {
        let settled = one(&harness, ToolCall::new("1", "pay_dynamic", json!({ "zone": "a", "amount": amount }))).await;
        assert_eq!(settled.record().code(), code, "{amount}");
    }
}
