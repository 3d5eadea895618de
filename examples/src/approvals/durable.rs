//! Approvals that outlast a process: bound to values, answered and gone on with elsewhere, and worth nothing once somebody
//! has changed them.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use tool_runtime::{
    Answer, BoxFuture, CallFacts, CaseId, ClaimError, Decision, FileLedger, FileLedgerError, Harness, HostTool,
    JsonPath, Ledger, LedgerKey, Query, QuestionId, QuestionSet, Registry, Reply, ReplyError, Signer, SqlLedger,
    SqlOptions, Stored, ToolCall, tool,
};

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// Pays somebody.
#[tool(host(destructive))]
async fn pay(
    /// To whom.
    to: String,
    /// How much, in whole units.
    amount: u32,
) -> String {
    format!("paid {amount} to {to}")
}

/// Pays somebody, since the host was updated: it takes a fee.
#[tool(name = "pay", host(destructive))]
async fn pay_for_a_fee(
    /// To whom.
    to: String,
    /// How much, in whole units.
    amount: u32,
    /// What is kept for the payment, in whole units.
    #[arg(default = 2)]
    fee: u32,
) -> String {
    format!("paid {amount} to {to}, and kept {fee}")
}

/// A host: what it asks about is answered later.
///
/// # Errors
/// If the tools aren't sound.
pub fn host(ledger: Arc<dyn Ledger>) -> Outcome<Harness> {
    host_with(PayTool::host(), ledger)
}

fn host_with(pay: HostTool, ledger: Arc<dyn Ledger>) -> Outcome<Harness> {
    let registry = Registry::builder().tool(pay).build()?;
    Ok(Harness::new(registry, |_: &CallFacts<'_>| Decision::ask("payments are confirmed"))
        .approver(|set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            Box::pin(async move { vec![Answer::Later; set.questions.len()] })
        })
        .ledger(ledger)
        .conversation("demo"))
}

/// Opens the database that hosts share.
///
/// # Errors
/// If it can't be opened.
pub async fn shared(database: &Path, name: &str) -> Outcome<Arc<dyn Ledger>> {
    Ok(Arc::new(SqlLedger::sqlite(database, key()?, SqlOptions::new().host(name)).await?))
}

/// The example's own. A host keeps its key where it keeps its other secrets.
fn key() -> Outcome<LedgerKey> {
    Ok(LedgerKey::new("example", [42; 32])?)
}

/// A call of the model's, which then waits. Gives its case and its question.
///
/// # Errors
/// If it doesn't.
pub async fn propose(ledger: &Arc<dyn Ledger>, amount: u32, out: &mut impl Write) -> Outcome<(CaseId, QuestionId)> {
    park(&host(Arc::clone(ledger))?, ledger, payment(amount), out).await
}

fn payment(amount: u32) -> ToolCall {
    ToolCall::new("call_1", "pay", format!(r#"{{"to":"alice","amount":{amount}}}"#))
}

async fn park(
    host: &Harness,
    ledger: &Arc<dyn Ledger>,
    call: ToolCall,
    out: &mut impl Write,
) -> Outcome<(CaseId, QuestionId)> {
    writeln!(out, "model: pay {}", call.arguments().to_string_lossy())?;
    let settled = host.run_settled([call], None).await;
    let settled = settled.first().ok_or("one call has one result")?;
    writeln!(out, "  {}", settled.result().text())?;
    let case = settled.record().case();
    let history = ledger.history(Query::all().case(case)).await?;
    let question = history.case(case).and_then(|case| case.question()).ok_or("nothing was asked")?;
    Ok((case, question))
}

/// A person says yes, somewhere else.
///
/// # Errors
/// If it comes too late.
pub async fn agree(ledger: &Arc<dyn Ledger>, question: &QuestionId, out: &mut impl Write) -> Outcome {
    ledger.reply(Reply::new(question.clone(), Answer::Yes, Signer::new("ann", "web"))).await?;
    writeln!(out, "ann, on the web: yes")?;
    Ok(())
}

/// Goes on with a call that was answered. This is what the second process does.
///
/// # Errors
/// If the ledger can't be read. That the call isn't to be had is printed.
pub async fn resume(ledger: &Arc<dyn Ledger>, case: CaseId, out: &mut impl Write) -> Outcome {
    go_on(&host(Arc::clone(ledger))?, case, out).await
}

async fn go_on(host: &Harness, case: CaseId, out: &mut impl Write) -> Outcome {
    match host.resume(case, None).await {
        Ok(settled) => writeln!(out, "  {}: {}", settled.record().code(), settled.result().text())?,
        Err(ClaimError::Failed(error)) => return Err(error.into()),
        Err(refused) => writeln!(out, "  refused: {refused}")?,
    }
    Ok(())
}

/// What was confirmed in an earlier case, of what is asked about in another.
async fn compared(ledger: &Arc<dyn Ledger>, before: CaseId, now: CaseId, out: &mut impl Write) -> Outcome {
    let history = ledger.history(Query::all()).await?;
    let binding = |case| history.case(case).and_then(|case| case.asked()).and_then(|asked| asked.binding());
    let (before, now) = binding(before).zip(binding(now)).ok_or("what waits is bound")?;
    let confirmed: Vec<&str> = now.unchanged_since(&before).collect();
    let anew: Vec<&str> = now.pairs().map(|(slot, _)| slot).filter(|slot| !confirmed.contains(slot)).collect();
    writeln!(out, "  confirmed before: {}; to be confirmed: {}", confirmed.join(", "), anew.join(", "))?;
    Ok(())
}

/// A yes is for the values that were shown. With another amount the call is another one: it is asked about anew, and the
/// first, in whose place it stands, has its yes taken back.
///
/// # Errors
/// If the ledger fails.
pub async fn bound_to_values(database: &Path, out: &mut impl Write) -> Outcome {
    let ledger = shared(database, "first").await?;
    let (ten, question) = propose(&ledger, 10, out).await?;
    agree(&ledger, &question, out).await?;
    writeln!(out, "before it runs, the amount changes:")?;
    let (dear, _) = propose(&ledger, 1000, out).await?;
    compared(&ledger, ten, dear, out).await?;
    writeln!(out, "going on with 1000 on the yes to 10:")?;
    resume(&ledger, dear, out).await?;
    writeln!(out, "and with 10, in whose place 1000 stands by now:")?;
    let host = host(Arc::clone(&ledger))?;
    let void = host.revoke(ten).await?;
    writeln!(out, "  {}: {}", void.record().code(), void.result().text())?;
    writeln!(out, "whoever goes on with it all the same:")?;
    go_on(&host, ten, out).await
}

/// Nor is a yes for a value that comes in between it and the run: here by an update of the host.
///
/// # Errors
/// If the ledger fails.
pub async fn changed_meanwhile(database: &Path, out: &mut impl Write) -> Outcome {
    let ledger = shared(database, "first").await?;
    let (before, question) = propose(&ledger, 10, out).await?;
    agree(&ledger, &question, out).await?;
    writeln!(out, "before it runs, the host is updated: `pay` takes a fee, 2 unless the call says otherwise")?;
    let updated = host_with(PayForAFeeTool::host(), Arc::clone(&ledger))?;
    go_on(&updated, before, out).await?;
    let history = ledger.history(Query::all().case(before)).await?;
    let case = history.case(before).ok_or("a case has a history")?;
    let arguments = |stored: Option<&Stored>| stored.and_then(Stored::arguments).unwrap_or_default().to_owned();
    let asked = case.entries().iter().find(|entry| entry.arguments().is_some());
    writeln!(out, "  agreed to: {}", arguments(asked))?;
    writeln!(out, "  would run: {}", arguments(case.verdict()))?;
    for reason in case.verdict().map(Stored::reasons).unwrap_or_default() {
        writeln!(out, "  recorded:  {reason}")?;
    }
    writeln!(out, "the model asks for it again, and the values of before needn't be read twice:")?;
    let (again, question) = park(&updated, &ledger, payment(10), out).await?;
    compared(&ledger, before, again, out).await?;
    agree(&ledger, &question, out).await?;
    go_on(&updated, again, out).await
}

/// The model has found nobody to pay. Whoever is asked fills that in, somewhere else, and the call goes on with it: the
/// model isn't asked again.
///
/// # Errors
/// If the ledger fails, or the value isn't taken.
pub async fn filled_in_elsewhere(database: &Path, out: &mut impl Write) -> Outcome {
    let ledger = shared(database, "first").await?;
    let call = ToolCall::new("call_1", "pay", r#"{"amount":30}"#).with_no_result(JsonPath::from_pointer("/to"));
    let (case, question) = park(&host(Arc::clone(&ledger))?, &ledger, call, out).await?;
    let yes = || Reply::new(question.clone(), Answer::Yes, Signer::new("ann", "web"));
    match host(Arc::clone(&ledger))?.reply(yes().fill("/to", "7")).await {
        Err(ReplyError::Unfillable(why)) => writeln!(out, "ann, on the web: 7, which {why}")?,
        Err(error) => return Err(error.into()),
        Ok(()) => writeln!(out, "ann, on the web: 7")?,
    }
    host(Arc::clone(&ledger))?.reply(yes().fill("/to", "\"bob\"")).await?;
    writeln!(out, "ann, on the web: to bob, and yes")?;
    resume(&ledger, case, out).await
}

/// A record that somebody has edited is no record.
///
/// # Errors
/// If the file can't be written.
pub async fn forged(file: &Path, out: &mut impl Write) -> Outcome {
    let case = {
        let ledger: Arc<dyn Ledger> = Arc::new(FileLedger::open(file, key()?)?);
        let (case, question) = propose(&ledger, 10, out).await?;
        agree(&ledger, &question, out).await?;
        case
    };
    let text = fs::read_to_string(file)?;
    fs::write(file, text.replace(r#"\"amount\":10"#, r#"\"amount\":99"#))?;
    writeln!(
        out,
        "somebody turns 10 into 99 in the record of {}:",
        if text.contains(&case.to_string()) { "the call" } else { "nothing" }
    )?;
    match FileLedger::open(file, key()?) {
        Err(FileLedgerError::Changed { line, .. }) => writeln!(out, "  refused: line {line} is not what was written")?,
        Err(error) => return Err(error.into()),
        Ok(_) => writeln!(out, "  taken")?,
    }
    Ok(())
}

/// All of it. `second` goes on with a call in another process, if it can.
///
/// # Errors
/// If a ledger fails, or `second` does.
pub async fn run(
    folder: &Path,
    second: impl FnOnce(&Path, CaseId) -> io::Result<String>,
    out: &mut impl Write,
) -> Outcome {
    writeln!(out, "— a yes is for the values that were shown")?;
    bound_to_values(&folder.join("values.db"), out).await?;
    writeln!(out, "\n— and not for one that comes in later")?;
    changed_meanwhile(&folder.join("update.db"), out).await?;
    writeln!(out, "\n— answered and gone on with elsewhere")?;
    let database = folder.join("shared.db");
    let ledger = shared(&database, "first").await?;
    let (case, question) = propose(&ledger, 25, out).await?;
    agree(&ledger, &question, out).await?;
    writeln!(out, "a second process goes on with it:")?;
    write!(out, "{}", second(&database, case)?)?;
    writeln!(out, "and the first tries to, after it:")?;
    resume(&ledger, case, out).await?;
    writeln!(out, "\n— filled in elsewhere")?;
    filled_in_elsewhere(&folder.join("drafts.db"), out).await?;
    writeln!(out, "\n— a record that was edited")?;
    forged(&folder.join("forged.jsonl"), out).await
}
