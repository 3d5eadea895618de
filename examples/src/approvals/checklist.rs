//! A payment that is held against a checklist: what nobody gave is asked for in one batch, and a rule is added to the file
//! while the host runs.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tool_runtime::{
    AllowAll, Answer, BoxFuture, CheckedCall, Checklist, Conversation, Entry, Harness, MemoryLedger, ProviderReport,
    QuestionSet, Registry, Reported, ToolCall, Verdict, tool,
};

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// Pays from the user's account.
///
/// [required] the recipient has agreed to the terms
#[tool(host(destructive, changes("payment.made")))]
async fn pay(
    /// The account that is paid.
    iban: String,
    /// How much, in euros.
    amount: u32,
    /// What the recipient reads.
    #[arg(authored)]
    memo: Option<String>,
) -> String {
    let memo = memo.map(|memo| format!(" ({memo})")).unwrap_or_default();
    format!("paid {amount} to {iban}{memo}")
}

/// The file as it is when the host starts.
const LIST: &str = r#"
origin = "treasury policy 4"

[[principle]]
text = "Point at the place of a value, not at the value; write \"no result\" where there is none."
checked_by = "lookup"

[[line]]
tool = "pay"
argument = "iban"
label = "required"
from = ["answer", "instruction"]
says = ["account"]
ask = "Which account should the money go to?"
"#;

/// What is added to it while it runs.
const RULE: &str = r#"
[[line]]
tool = "pay"
name = "limit"
check = "within_limit"
text = "the payment is within today's limit"
"#;

/// Somebody who fills in what is asked for, and says yes.
struct Person {
    shown: Mutex<Vec<String>>,
}

impl Person {
    fn ask(&self, set: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.push(format!("asked, in one batch:\n{}", indented(&set.in_words())));
        for question in &set.questions {
            for blank in &question.blanks {
                let typed = if blank.asks.contains("account") { "DE02120300000000202051" } else { "25" };
                match set.fill_text(&question.id, &blank.slot, typed) {
                    Ok(()) => shown.push(format!("  user: {typed}")),
                    Err(error) => shown.push(format!("  user: {typed}, which {error}")),
                }
            }
        }
        shown.push("  user: yes".to_owned());
        Box::pin(std::future::ready(vec![Answer::Yes; set.questions.len()]))
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.shown.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// Plays it. The file is made in `folder`.
///
/// # Errors
/// If something can't be written, or isn't as it should be.
pub async fn run(folder: &Path, out: &mut impl Write) -> Outcome {
    let file = folder.join("checklist.toml");
    fs::write(&file, LIST)?;
    let conversation = Conversation::new();
    let within_limit = |call: CheckedCall| -> BoxFuture<'static, Result<bool, String>> {
        Box::pin(async move { Ok(call.arguments().read::<u32>("/amount").ok_or("no amount is given")? <= 20) })
    };
    let registry = Registry::builder().tool(PayTool::host()).build()?;
    let checklist = Checklist::builder()
        .source(conversation.instruction())
        .source(conversation.observed())
        .condition("within_limit", within_limit)
        .file(&file)
        .build(&registry)?;
    let ledger = Arc::new(MemoryLedger::default());
    let person = Arc::new(Person { shown: Mutex::default() });
    let asked = Arc::clone(&person);
    let harness = Harness::new(registry, AllowAll)
        .checklist(checklist.clone())
        .ledger(Arc::clone(&ledger))
        .approver(move |set: QuestionSet| asked.ask(set));
    for principle in checklist.principles() {
        writeln!(out, "told with every turn: {}", principle.text())?;
    }

    // The account stands nowhere: the model has a place to say so, and the user is asked.
    let said = "Please pay 25 euros for the lamp.";
    conversation.user(said);
    writeln!(out, "\nuser: {said}")?;
    let call = |id: &str| {
        ToolCall::new(id, "pay", r#"{"amount":25,"memo":"lamp"}"#)
            .with_reported(Reported::new([("/iban", Reported::NO_RESULT), ("/amount", "u1")]))
    };
    play(&harness, &person, call("call_1"), out).await?;

    // An invented account is as good as none.
    let invented = ToolCall::new("call_2", "pay", r#"{"iban":"DE99999999999999999999","amount":25}"#);
    play(&harness, &person, invented, out).await?;

    // A rule is a line in a file, also while the host runs.
    let before = checklist.digest();
    fs::write(&file, format!("{LIST}{RULE}"))?;
    writeln!(out, "\na line is added to the file")?;
    play(&harness, &person, call("call_3"), out).await?;
    if checklist.digest() == before {
        return Err("the line was not read".into());
    }

    let verdicts: Vec<Arc<Verdict>> = ledger
        .entries()
        .into_iter()
        .filter_map(|entry| match entry {
            Entry::Verdict(verdict) => Some(verdict),
            _ => None,
        })
        .collect();
    writeln!(out, "\nthe record:")?;
    for verdict in &verdicts {
        writeln!(out, "  {} revision {}: {:?}", verdict.call_id(), verdict.revision(), verdict.kind())?;
        for slot in verdict.slots() {
            let origins: Vec<String> = slot.origins().iter().map(ToString::to_string).collect();
            writeln!(out, "    {slot}  [{}]", origins.join(", "))?;
        }
    }
    let report = ProviderReport::of(verdicts.iter().map(|verdict| &**verdict));
    writeln!(out, "\nfor the provider: {}", serde_json::to_string(&report)?)?;
    Ok(())
}

async fn play(harness: &Harness, person: &Person, call: ToolCall, out: &mut impl Write) -> Outcome {
    writeln!(out, "\nmodel: {} {}", call.name(), call.arguments().to_string_lossy())?;
    let results = harness.run([call]).await;
    for line in person.take() {
        writeln!(out, "{line}")?;
    }
    for result in results {
        writeln!(out, "result: {}", result.text())?;
    }
    Ok(())
}
