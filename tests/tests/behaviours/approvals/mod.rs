//! What a person is asked, what an answer does, and what it doesn't.

mod answers;
mod grants;
mod records;
mod shown;
mod terminal;

use std::sync::{Arc, Mutex};

use tool_runtime::path::Settled;
use tool_runtime::{
    Answer, Approver, BoxFuture, CallContext, CallFacts, Card, Code, Decision, Entry, Harness, MemoryLedger, Question,
    QuestionId, QuestionSet, ToolCall, tool,
};

use crate::support::{Log, lock, logged};

/// Pays somebody.
///
/// [notice] Money leaves the account.
#[tool(host(timeout = "50ms"))]
async fn pay(
    /// How much.
    amount: f64,
    /// To whom.
    #[arg(default = "me".to_owned(), alias = "recipient")]
    to: String,
    /// The number that allows it.
    #[arg(secret)]
    pin: Option<String>,
    #[host] log: &Log,
) -> String {
    drop(pin);
    log.note(format!("pay {amount} {to}"));
    "paid".to_owned()
}

/// Wires money.
///
/// [notice] Money leaves the account.
/// [notice] It can't be taken back.
#[tool]
async fn wire(
    /// How much.
    amount: f64,
    #[host] log: &Log,
) -> String {
    log.note(format!("wire {amount}"));
    "wired".to_owned()
}

/// Logs in.
#[tool(host(present_call = shows))]
async fn log_in(
    /// As whom.
    user: String,
    /// By which word.
    #[arg(secret)]
    word: String,
) -> String {
    drop(word);
    user
}

fn shows(args: &LogInArgs) -> Card {
    Card::new(format!("{} with {}", args.user, args.word)).with_body(&args.word)
}

/// Pays by another tool.
#[tool]
async fn outer(#[host] cx: &CallContext) -> Result<String, tool_runtime::SubCallError> {
    cx.call("pay", r#"{"amount":1}"#).await
}

const ASKS: fn(&CallFacts<'_>) -> Decision = |_| Decision::ask("it costs money");

fn pays(id: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, "pay", arguments)
}

fn harness() -> (Harness, Log, Arc<MemoryLedger>) {
    harness_of(ASKS)
}

fn harness_of(policy: impl tool_runtime::Policy + 'static) -> (Harness, Log, Arc<MemoryLedger>) {
    let (registry, log) = logged([PayTool::host(), WireTool::host(), OuterTool::host()]);
    let ledger = Arc::new(MemoryLedger::default());
    (Harness::new(registry, policy).ledger(Arc::clone(&ledger)), log, ledger)
}

/// Gives the same answer to every question, and keeps what it was asked.
#[derive(Clone)]
struct Person(Answer, Arc<Mutex<Vec<QuestionSet>>>);

impl Person {
    fn who_says(answer: Answer) -> Self {
        Person(answer, Arc::default())
    }

    fn asked(&self) -> Vec<Question> {
        lock(&self.1).iter().flat_map(|set| set.questions.clone()).collect()
    }
}

impl Approver for Person {
    fn ask(&self, set: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
        let answers = vec![self.0; set.questions.len()];
        lock(&self.1).push(set);
        Box::pin(std::future::ready(answers))
    }
}

async fn one(harness: &Harness, call: ToolCall) -> Settled {
    let mut settled = harness.run_settled([call], None).await;
    settled.pop().unwrap_or_else(|| panic!("one call has one result"))
}

async fn code(harness: &Harness, call: ToolCall) -> Code {
    one(harness, call).await.record().code()
}

/// The two ends of all questions that a ledger has: ids and answers.
fn asks(ledger: &MemoryLedger) -> (Vec<QuestionId>, Vec<(QuestionId, Option<Answer>)>) {
    let (mut asked, mut answered) = (Vec::new(), Vec::new());
    for entry in ledger.entries() {
        match entry {
            Entry::Asked(record) => asked.push(record.question().id.clone()),
            Entry::Answered(record) => answered.push((record.question().clone(), record.answer())),
            _ => {}
        }
    }
    (asked, answered)
}
