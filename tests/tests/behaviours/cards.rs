//! Cards, live and from what is stored: the same, and never in the way of a result.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tool_runtime::{
    AllowAll, Answer, BoxFuture, CallContext, CallFacts, Card, Code, Decision, Entry, Harness, MemoryLedger,
    QuestionSet, StoredResult, ToolCall, tool,
};

use super::support::{ends, lock, logged};

static RAN: AtomicUsize = AtomicUsize::new(0);

fn asks(args: &PayArgs) -> Card {
    assert_ne!(args.cents, 13, "a word of the presenter's");
    Card::new(format!("pay {} cents", args.cents))
}

fn paid(args: &PayArgs, result: &StoredResult) -> Card {
    assert_ne!(args.cents, 13, "a word of the presenter's");
    let number: Option<u32> = result.card_data.as_ref().and_then(|data| data.read());
    Card::new(format!("paid {} cents as {number:?}: {} {}", args.cents, result.is_error, result.content.to_text()))
}

/// Pays.
#[tool(host(present_call = asks, present_result = paid))]
async fn pay(
    /// How much.
    cents: u32,
    #[host] cx: &CallContext,
) -> Result<u32, String> {
    RAN.fetch_add(1, Ordering::SeqCst);
    cx.card_data(&4711).map_err(|error| error.to_string())?;
    if cents == 0 { Err("nothing to pay".to_owned()) } else { Ok(cents) }
}

fn call(cents: u32) -> ToolCall {
    ToolCall::new("1", "pay", format!(r#"{{"cents":{cents}}}"#))
}

#[tokio::test]
async fn d77_a_card_from_the_log_is_the_live_one_however_often() {
    for cents in [5, 0] {
        let ledger = Arc::new(MemoryLedger::default());
        let harness = Harness::new(logged([PayTool::host()]).0, AllowAll).ledger(Arc::clone(&ledger));
        let settled = harness.run_settled([call(cents)], None).await;
        let live = settled[0].record().card().expect("there is a card").clone();
        assert!(live.title.contains("as Some(4711)"), "{live:?}");
        let ran = RAN.load(Ordering::SeqCst);
        let Some(Entry::End(record)) = ledger.entries().pop() else { panic!("the end is recorded") };
        let arguments = record.verdict().expect("it was judged").arguments();
        let tool = PayTool::host();
        for _ in 0..5 {
            assert_eq!(tool.card_of_result(arguments, &StoredResult::from(&*record)), Some(live.clone()));
            assert_eq!(tool.card_of_call(arguments), Some(Card::new(format!("pay {cents} cents"))));
        }
        assert_eq!(RAN.load(Ordering::SeqCst), ran, "a card runs nothing");
    }
}

#[tokio::test]
async fn d78_old_arguments_are_no_crash() {
    let tool = PayTool::host();
    let settled = Harness::new(logged([PayTool::host()]).0, AllowAll).run_settled([call(5)], None).await;
    let result = StoredResult::from(settled[0].record());
    for old in ["", "not json", "[5]", r#"{"cents":"five"}"#, r#"{"euros":5}"#, r#"{"cents":-5}"#, "{\"cents\":5", "\0"]
    {
        assert_eq!(tool.card_of_call(old), None, "{old}");
        assert_eq!(tool.card_of_result(old, &result), None, "{old}");
    }
    // A tool without presenters has none either.
    assert_eq!(PlainTool::host().card_of_call("{}"), None);
    assert_eq!(PlainTool::host().card_of_result("{}", &result), None);
}

/// Has no presenters.
#[tool]
async fn plain() -> u8 {
    1
}

#[tokio::test]
async fn d79_a_presenter_that_breaks_loses_only_its_card() {
    let cards = Arc::<Mutex<Vec<Option<Card>>>>::default();
    let asked = Arc::clone(&cards);
    let ledger = Arc::new(MemoryLedger::default());
    let harness = Harness::new(logged([PayTool::host()]).0, |_: &CallFacts<'_>| Decision::ask("so"))
        .approver(move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            lock(&asked).extend(set.questions.iter().map(|question| question.card.clone()));
            Box::pin(async move { vec![Answer::Yes; set.questions.len()] })
        })
        .ledger(Arc::clone(&ledger));
    let settled = harness.run_settled([call(13), call(5)], None).await;
    assert_eq!(ends(&settled), [("1", Code::Ok, true), ("1", Code::Ok, true)]);
    // The question is asked without its card, and the others keep theirs.
    assert_eq!(*lock(&cards), [None, Some(Card::new("pay 5 cents"))]);
    assert_eq!(settled[0].record().card(), None);
    assert!(settled[1].record().card().is_some());
    assert_eq!(settled[0].result().text(), "13");
    // A question, its answer, a verdict and an end for each.
    assert_eq!(ledger.entries().len(), 8);
    assert_eq!(PayTool::host().card_of_call(r#"{"cents":13}"#), None);
    assert_eq!(PayTool::host().card_of_result(r#"{"cents":13}"#, &StoredResult::from(settled[0].record())), None);
}
