//! The host's last look at an outcome, what rides on a result, and what is kept of it.

use std::sync::{Arc, Mutex};

use tool_runtime::path::Reviewed;
use tool_runtime::wire::openai_chat;
use tool_runtime::{
    AllowAll, Attempt, BoxFuture, CallContext, CallFacts, Card, Code, Content, Decision, Harness, Layer, MemoryLedger,
    Ran, Registry, StoredResult, ToolCall, tool, tool_type,
};

use super::support::{Log, ends, lock, logged};

/// What was paid.
#[tool_type]
struct Paid {
    /// How much.
    cents: u32,
}

fn narrate(paid: &Paid) -> Content {
    format!("paid {} cents", paid.cents).into()
}

fn present(args: &PayArgs, result: &StoredResult) -> Card {
    let data: Option<(u32, String)> = result.card_data.as_ref().and_then(|data| data.read());
    Card::new(format!("{} of {:?}: {}", args.cents, data, result.content.to_text()))
}

/// Pays.
#[tool(host(project = narrate, present_result = present))]
async fn pay(
    /// How much.
    cents: u32,
    #[host] cx: &CallContext,
) -> Result<Paid, String> {
    cx.aside("the body's first");
    cx.aside("the body's second");
    cx.card_data(&(cents, "to Ada")).map_err(|error| error.to_string())?;
    if cents == 0 { Err("nothing to pay".to_owned()) } else { Ok(Paid { cents }) }
}

fn call(id: &str, cents: u32) -> ToolCall {
    ToolCall::new(id, "pay", format!(r#"{{"cents":{cents}}}"#))
}

fn registry() -> Registry {
    logged([PayTool::host()]).0
}

fn reviewed(review: impl Fn(&StoredResult) -> Reviewed + Send + Sync + 'static) -> Harness {
    Harness::new(registry(), AllowAll).review(review)
}

#[tokio::test]
async fn d27_denied_results_are_reviewed_and_crashed_gates_are_not() {
    let log = Log::default();
    let seen = log.clone();
    let policy = |call: &CallFacts<'_>| match call.call_id().as_str() {
        "2" => Decision::deny("no"),
        "3" => panic!("the policy breaks"),
        _ => Decision::Allow,
    };
    struct Passes(Log);
    impl Layer for Passes {
        fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
            self.0.note(format!("layer {}", attempt.call_id()));
            Box::pin(async move { attempt.run().await })
        }
    }
    let harness = Harness::new(registry(), policy).layer(Passes(log.clone())).review(move |result: &StoredResult| {
        seen.note(result.code.as_str());
        Reviewed::Accept
    });
    let results = harness.run([call("1", 1), call("2", 1), call("3", 1)]).await;
    assert_eq!(results.len(), 3);
    assert_eq!(log.take(), ["layer 1", "ok", "denied"]);
}

#[tokio::test]
async fn d28_other_words_change_nothing_else() {
    let harness = reviewed(|_| Reviewed::Replace("other words".into()));
    let settled = harness.run_settled([call("1", 5), call("2", 0)], None).await;
    assert_eq!(ends(&settled), [("1", Code::Ok, true), ("2", Code::ToolError, true)]);
    assert_eq!(settled[0].result().text(), "other words");
    assert_eq!(settled[0].value(), Some(r#"{"cents":5}"#));
    assert_eq!(settled[0].record().card_data().map(|data| data.as_json()), Some(r#"[5,"to Ada"]"#));
    assert!(settled[1].result().is_error());
}

#[tokio::test]
async fn d29_another_value_is_checked_and_narrated_anew() {
    let replaced =
        |json: &'static str| reviewed(move |result| Reviewed::replace_value(result, json).unwrap_or(Reviewed::Accept));
    let settled = replaced(r#"{"cents": 7}"#).run_settled([call("1", 5), call("2", 0)], None).await;
    assert_eq!(settled[0].value(), Some(r#"{"cents":7}"#));
    assert_eq!(settled[0].result().text(), r#"{"cents":7}"#);
    assert_eq!(ends(&settled)[1], ("2", Code::ToolError, true));
    let settled = replaced(r#"{"cents": -7}"#).run_settled([call("1", 5)], None).await;
    assert_eq!(ends(&settled), [("1", Code::InvalidOutput, true)]);
    assert_eq!(settled[0].value(), None);
}

#[tokio::test]
async fn d30_d59_what_is_withheld_leaves_the_reviews_words_alone() {
    let harness = reviewed(|_| Reviewed::Withhold("not for you".into()).with_aside("ask the user"));
    let settled = harness.run_settled([call("1", 5)], None).await;
    assert_eq!(ends(&settled), [("1", Code::Withheld, true)]);
    assert_eq!(settled[0].result().text(), "not for you");
    assert_eq!(settled[0].value(), None);
    assert_eq!(settled[0].result().asides(), [Content::text("ask the user")]);
    // A failure keeps them.
    let results = Harness::new(registry(), AllowAll).run([call("1", 0)]).await;
    assert_eq!(results[0].asides().len(), 2);
}

struct Says;

impl Layer for Says {
    fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let ran = attempt.run().await;
            attempt.aside("the layer's");
            ran
        })
    }
}

#[tokio::test]
async fn d58_asides_come_after_all_results_of_the_turn() {
    let harness = reviewed(|_| Reviewed::Accept.with_aside("the review's first").with_aside("its second")).layer(Says);
    let results = harness.run([call("1", 5), call("2", 6)]).await;
    let sent: Vec<String> = openai_chat::messages(&results).iter().map(openai_chat::Message::to_json).collect();
    assert_eq!(sent[0], r#"{"role":"tool","tool_call_id":"1","content":"paid 5 cents"}"#);
    assert_eq!(sent[1], r#"{"role":"tool","tool_call_id":"2","content":"paid 6 cents"}"#);
    let asides = ["the body's first", "the body's second", "the layer's", "the review's first", "its second"];
    let expected: Vec<String> =
        asides.iter().chain(&asides).map(|aside| format!(r#"{{"role":"user","content":"{aside}"}}"#)).collect();
    assert_eq!(sent[2..], expected);
}

#[tokio::test]
async fn d66_d77_a_card_is_the_same_live_and_from_the_record() {
    let ledger = Arc::new(MemoryLedger::default());
    let harness = Harness::new(registry(), AllowAll).ledger(Arc::clone(&ledger));
    let settled = harness.run_settled([call("1", 5)], None).await;
    let card = settled[0].record().card().expect("there is a card").clone();
    assert_eq!(card.title, r#"5 of Some((5, "to Ada")): paid 5 cents"#);
    let line = serde_json::to_value(ledger.entries().last().expect("the end is recorded")).expect("it is JSON");
    assert_eq!(line["card_data"], r#"[5,"to Ada"]"#);
    assert!(line.get("value").is_none(), "the raw value isn't kept");
    assert!(line.get("parent").is_none());
}

/// Leaves too much.
#[tool]
async fn too_much(#[host] cx: &CallContext) -> Result<u8, tool_runtime::CardDataError> {
    cx.card_data(&"x".repeat(20_000)).map(|()| 1)
}

#[tokio::test]
async fn card_data_is_small() {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let registry = Registry::builder().tool(TooMuchTool::host()).build().expect("it is sound");
    let results = Harness::new(registry, AllowAll).run([ToolCall::new("1", "too_much", "")]).await;
    lock(&seen).push(results[0].text());
    assert!(lock(&seen)[0].contains("20002 bytes, and at most 16384"), "{seen:?}");
}
