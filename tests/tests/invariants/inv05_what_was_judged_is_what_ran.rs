//! One canonical text a call: policy, guard, approver, verdict and handler have the same, and nothing rewrites it.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::Value;
use tests::config;
use tool_runtime::path::Loaded;
use tool_runtime::{
    Answer, BoxFuture, CallFacts, Card, Checklist, Code, Content, Decision, DynamicTool, Entry, Final, Harness,
    HostTool, Ledger, LedgerError, MemoryLedger, QuestionSet, Registry, StoredResult, ToolCall, tool, tool_type,
};

use crate::support::{Kept, block_on, lock, one, registry};

/// Where money goes.
#[tool_type]
#[derive(Clone, PartialEq)]
#[serde(default)]
struct Target {
    /// Which account.
    account: u64,
    /// In which currency.
    currency: Currency,
}

impl Default for Target {
    fn default() -> Self {
        Target { account: 1, currency: Currency::Eur }
    }
}

/// A currency.
#[tool_type]
#[derive(Clone, Copy, PartialEq)]
enum Currency {
    Eur,
    Usd,
}

type Seen = Arc<Mutex<Vec<(&'static str, String)>>>;

/// What the renderers were shown, by call.
static RENDERED: Mutex<Vec<(String, &'static str, String)>> = Mutex::new(Vec::new());

fn as_text(args: &PayArgs) -> String {
    let PayArgs { amount, target, tags, note, id } = args;
    written(amount, target, tags, note.as_deref(), id)
}

fn written(amount: &f64, target: &Target, tags: &[String], note: Option<&str>, id: &str) -> String {
    let currency = match target.currency {
        Currency::Eur => "Eur",
        Currency::Usd => "Usd",
    };
    format!("{id}: {amount:?} to {} in {currency}, {tags:?}, {note:?}", target.account)
}

fn present_call(args: &PayArgs) -> Card {
    Card::new(as_text(args))
}

fn present_result(args: &PayArgs, _: &StoredResult) -> Card {
    Card::new(as_text(args))
}

fn finalize(args: Option<&PayArgs>, last: &Final<'_>) -> Option<Content> {
    let args = args?;
    lock(&RENDERED).push((args.id.clone(), last.code.as_str(), as_text(args)));
    None
}

/// Pays.
#[tool(host(present_call = present_call, present_result = present_result, finalize = finalize))]
async fn pay(
    /// How much.
    #[arg(alias = "sum")]
    amount: f64,
    /// To whom.
    #[arg(default = Target::default())]
    target: Target,
    /// About what.
    #[arg(default)]
    tags: Vec<String>,
    /// Why.
    note: Option<String>,
    /// Which payment.
    #[arg(default = "none".to_owned())]
    id: String,
) -> String {
    written(&amount, &target, &tags, note.as_deref(), &id)
}

/// Everybody who judges writes down what they see; a person is asked about all.
fn harness(tools: impl IntoIterator<Item = HostTool>, ledger: Kept) -> (Harness, Seen) {
    let seen = Seen::default();
    let by = |who: &'static str| {
        let seen = Arc::clone(&seen);
        move |text: &str| lock(&seen).push((who, text.to_owned()))
    };
    let (policy, guard, approver) = (by("policy"), by("guard"), by("approver"));
    let harness = Harness::new(registry(tools), move |call: &CallFacts<'_>| {
        policy(call.arguments().as_str());
        Decision::ask("sure?")
    })
    .guard(move |call: &CallFacts<'_>| {
        guard(call.arguments().as_str());
        None
    })
    .approver(move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        set.questions.iter().for_each(|question| approver(&question.arguments));
        Box::pin(async move { vec![Answer::Yes; set.questions.len()] })
    })
    .ledger(ledger);
    (harness, seen)
}

/// The one text that all of them saw: judged once before the question and once after.
fn only_text(seen: &Seen, ledger: &Kept) -> String {
    let seen = std::mem::take(&mut *lock(seen));
    let who: Vec<_> = seen.iter().map(|(who, _)| *who).collect();
    assert_eq!(who, ["policy", "guard", "approver", "policy", "guard"]);
    let verdicts = ledger.verdicts();
    let recorded = verdicts.last().map(|verdict| verdict.arguments().to_owned()).unwrap_or_default();
    for (who, text) in &seen {
        assert_eq!(*text, recorded, "{who} saw other arguments than were recorded");
    }
    recorded
}

#[tokio::test]
async fn inv05_everybody_has_the_same_arguments() {
    let ledger = Kept::default();
    let (harness, seen) = harness([PayTool::host()], ledger.clone());
    for (raw, canonical, ran) in [
        (
            r#"{"amount":30.0,"id":"a"}"#,
            r#"{"amount":30.0,"target":{"account":1,"currency":"Eur"},"tags":[],"id":"a"}"#,
            "a: 30.0 to 1 in Eur, [], None",
        ),
        (
            " {\"sum\" : 1e3, \"target\":{\"currency\":\"Usd\"},\n\"tags\":[\"x\",\"\\u0079\"], \"id\":\"b\"}",
            r#"{"amount":1000,"target":{"account":1,"currency":"Usd"},"tags":["x","y"],"id":"b"}"#,
            r#"b: 1000.0 to 1 in Usd, ["x", "y"], None"#,
        ),
        (
            r#""{\"note\":\"n\",\"target\":null,\"tags\":null,\"amount\":-0.0,\"id\":\"c\"}""#,
            r#"{"amount":0,"target":{"account":1,"currency":"Eur"},"tags":[],"note":"n","id":"c"}"#,
            r#"c: 0.0 to 1 in Eur, [], Some("n")"#,
        ),
        (
            r#"{"amount":12345678901234567890123,"target":{"account":18446744073709551615},"id":"d"}"#,
            "",
            "d: 1.2345678901234568e22 to 18446744073709551615 in Eur, [], None",
        ),
    ] {
        let settled = one(&harness, ToolCall::new("1", "pay", raw)).await;
        assert_eq!(settled.record().code(), Code::Ok, "{raw}: {}", settled.result().text());
        let judged = only_text(&seen, &ledger);
        let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        if !canonical.is_empty() {
            // Number spelling apart, which is the canonical form's own business.
            let loose = |text: &str| parse(&text.replace("30.0", "30"));
            assert_eq!(loose(&judged), loose(canonical), "{raw}");
        }
        assert!(parse(&judged)["target"]["account"].is_u64(), "{judged}");
        let did = settled.result().text().replace("-0.0", "0.0");
        assert_eq!(did, ran, "{raw}");
        assert_eq!(settled.record().verdict().map(|verdict| verdict.arguments().to_owned()), Some(judged));
        assert_eq!(settled.record().card().map(|card| card.title.replace("-0.0", "0.0")), Some(ran.to_owned()));
        let id = ran.split(':').next().unwrap_or_default();
        let rendered: Vec<_> = lock(&RENDERED).iter().filter(|(of, ..)| of == id).cloned().collect();
        assert_eq!(rendered.len(), 1, "finalized {} times", rendered.len());
        assert_eq!(rendered[0].2.replace("-0.0", "0.0"), ran);
    }
}

/// The handler of a dynamic tool gets the very text.
#[tokio::test]
async fn inv05_a_dynamic_tool_gets_the_text_that_was_judged() {
    let ledger = Kept::default();
    let given: Arc<Mutex<String>> = Arc::default();
    let to = Arc::clone(&given);
    let tool = DynamicTool::builder("given", "Takes it.")
        .parameters(
            r#"{"type":"object","properties":{"n":{"type":"number"},"u":{"type":"integer","default":7},"o":{"type":"object"}}}"#,
        )
        .output("true")
        .run(move |arguments, _| {
            *lock(&to) = arguments;
            async { Ok("0".to_owned()) }
        });
    let (harness, seen) = harness([tool.unwrap_or_else(|error| panic!("{error}"))], ledger.clone());
    for raw in [
        "{}",
        r#"{"n":30.0,"u":1e2}"#,
        r#"{"o":{"z":[1.50,-0.0,1E40],"a":"\u0041\/"},"n":0.1}"#,
        r#"{"u":123456789012345678901234567890,"o":{}}"#,
        r#"{"n":9007199254740993}"#,
    ] {
        let settled = one(&harness, ToolCall::new("1", "given", raw)).await;
        assert_eq!(settled.record().code(), Code::Ok, "{raw}: {}", settled.result().text());
        let judged = only_text(&seen, &ledger);
        assert_eq!(*lock(&given), judged, "{raw}");
        assert!(judged.contains("\"u\":"), "the default was not filled in: {judged}");
    }
}

/// What the canonical text is accepted as is itself.
fn accepted(registry: &Registry, raw: &str) -> Option<String> {
    let proposed = registry.resolve(ToolCall::new("1", "pay", raw), &Loaded::new()).ok()?;
    match proposed.accept() {
        Ok(tool_runtime::path::Acceptance::Accepted(accepted)) => Some(accepted.arguments().as_str().to_owned()),
        _ => None,
    }
}

proptest! {
    #![proptest_config(config(200))]

    /// What a rule reads of a number is what the handler has, however it was spelt.
    #[test]
    fn inv05_a_rule_reads_the_number_that_the_handler_has(
        number in prop_oneof![
            any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(|number| format!("{number:e}")),
            any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(|number| format!("{number:?}")),
            "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,24})?([eE][+-]?[0-9]{1,2})?",
        ],
        alias in any::<bool>(),
        account in any::<u64>(),
        spelling in 0..3_u8,
    ) {
        let account_text = match spelling {
            0 => account.to_string(),
            1 => format!("{account}.000"),
            _ => format!("{account}0e-1"),
        };
        let raw = format!(
            r#"{{"{}":{number},"target":{{"account":{account_text}}}}}"#,
            if alias { "sum" } else { "amount" },
        );
        let registry = registry([PayTool::host()]);
        if let Some(canonical) = accepted(&registry, &raw) {
            let again = accepted(&registry, &canonical);
            prop_assert_eq!(again.as_deref(), Some(canonical.as_str()), "{}", raw);
            let read: Arc<Mutex<Option<(f64, u64)>>> = Arc::default();
            let written = Arc::clone(&read);
            let harness = Harness::new(registry, move |call: &CallFacts<'_>| {
                let arguments = call.arguments();
                *lock(&written) = arguments.read("/amount").zip(arguments.read("/target/account"));
                Decision::Allow
            });
            let settled = block_on(one(&harness, ToolCall::new("1", "pay", raw.as_str())));
            let Some((amount, judged)) = *lock(&read) else { panic!("a rule can't read {canonical}") };
            // Beyond 2^53 a spelling with a point or an exponent is another test's.
            if spelling == 0 || account <= 1 << 53 {
                prop_assert_eq!(judged, account);
            }
            prop_assert_eq!(
                settled.result().text(),
                format!("none: {amount:?} to {judged} in Eur, [], None"),
                "{}", raw
            );
        } else {
            // Nothing that fits is refused: every account is a `u64`.
            let refusable = number.parse::<f64>().is_ok_and(f64::is_infinite) || (spelling > 0 && account > 1 << 53);
            prop_assert!(refusable, "{} was refused", raw);
        }
    }
}

/// A whole number that is written with a point is that number, or refused, and never its neighbour: it may be an account.
#[tokio::test]
async fn inv05_a_whole_number_with_a_point_is_never_another() {
    let harness = Harness::new(registry([PayTool::host()]), tool_runtime::AllowAll);
    for (written, account) in [
        ("9007199254740993.0", "9007199254740993"),
        ("9007199254740993.000", "9007199254740993"),
        ("90071992547409930e-1", "9007199254740993"),
        ("900719925474099.3e1", "9007199254740993"),
        ("9007199254740995.0", "9007199254740995"),
        ("18446744073709551615.0", "18446744073709551615"),
        ("1000000000000000001e0", "1000000000000000001"),
    ] {
        let call = ToolCall::new("1", "pay", format!(r#"{{"amount":1,"target":{{"account":{written}}}}}"#));
        let settled = one(&harness, call).await;
        if settled.record().started() {
            let text = settled.result().text();
            assert!(text.contains(&format!(" to {account} in ")), "{written} became: {text}");
        } else {
            assert_eq!(settled.record().code(), Code::InvalidArguments, "{written}");
        }
    }
}

/// A verdict names the definition that was judged, and that definition runs, whatever is registered meanwhile.
#[tokio::test]
async fn inv05_the_definition_that_was_judged_is_the_one_that_runs() {
    let tool = |says: &'static str| {
        let built = DynamicTool::builder("said", format!("Says {says}."))
            .output("true")
            .run(move |_, _| async move { Ok(format!("\"{says}\"")) });
        built.unwrap_or_else(|error| panic!("{error}"))
    };
    let (old, new) = (registry([tool("old")]), registry([tool("new")]));
    let (old_digest, new_digest) = (
        *old.get("said").map_or_else(|| panic!(), HostTool::digest),
        *new.get("said").map_or_else(|| panic!(), HostTool::digest),
    );
    assert_ne!(old_digest, new_digest);
    let ledger = MemoryLedger::default();
    let proposed = old.resolve(ToolCall::new("1", "said", ""), &Loaded::new());
    let accepted = proposed.and_then(|proposed| proposed.accept()).unwrap_or_else(|ending| panic!("{}", ending.code()));
    drop(old);
    let decided = accepted.check(&Checklist::new()).await.decide(&tool_runtime::AllowAll, &[]);
    let recorded = decided.record(&ledger).await.unwrap_or_else(|ending| panic!("{}", ending.code()));
    assert_eq!(recorded.verdict().map(|verdict| *verdict.definition()), Some(old_digest));
    let permit = recorded.permit().unwrap_or_else(|ending| panic!("{}", ending.code()));
    assert_eq!(permit.tool().digest(), &old_digest);
    let settled = tool_runtime::path::Ending::from(permit.execute(None).await).settle(&ledger, 100).await;
    assert_eq!(settled.result().text(), "old");
}

/// A ledger that has to wait sees the verdict as it will run, and can't touch it.
#[tokio::test]
async fn inv05_what_is_recorded_is_what_runs_while_a_ledger_waits() {
    struct Slow(Kept);
    impl Ledger for Slow {
        fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
            Box::pin(async move {
                tokio::task::yield_now().await;
                self.0.append(entry).await
            })
        }
    }
    let kept = Kept::default();
    let harness = Harness::new(registry([PayTool::host()]), tool_runtime::AllowAll).ledger(Slow(kept.clone()));
    let calls = (0..20).map(|n| ToolCall::new(n.to_string(), "pay", format!(r#"{{"amount":{n},"id":"s{n}"}}"#)));
    let results = harness.run(calls).await;
    let verdicts = kept.verdicts();
    for (n, (result, verdict)) in results.iter().zip(&verdicts).enumerate() {
        assert_eq!(result.text(), format!("s{n}: {n}.0 to 1 in Eur, [], None"));
        assert!(verdict.arguments().contains(&format!(r#""amount":{n},"#)), "{}", verdict.arguments());
    }
    assert_eq!(verdicts.len(), 20);
}

/// Asks for more than can be written down.
#[tool]
async fn unbounded(
    /// The most that may be spent.
    #[arg(default = f64::INFINITY)]
    limit: f64,
) -> String {
    format!("up to {limit}")
}

/// A default that can't be shown: either nobody registers such a tool, or those who judge see what the handler gets.
#[tokio::test]
async fn inv05_a_default_that_nobody_can_see_is_not_run() {
    let Ok(registry) = Registry::builder().tool(UnboundedTool::host()).build() else { return };
    let judged = Arc::new(Mutex::new(String::new()));
    let seen = Arc::clone(&judged);
    let harness = Harness::new(registry, move |call: &CallFacts<'_>| {
        call.arguments().as_str().clone_into(&mut lock(&seen));
        Decision::Allow
    });
    let settled = one(&harness, ToolCall::new("1", "unbounded", "{}")).await;
    let judged = lock(&judged).clone();
    assert!(
        !settled.record().started() || judged.contains("limit"),
        "those who judge saw {judged}, and the handler got: {}",
        settled.result().text()
    );
}
