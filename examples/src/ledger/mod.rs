//! What a ledger can be asked: what became of a conversation's calls, which slot was empty and where a call stopped, which
//! rules applied, why a call waits, and what to tell whoever provides a tool.

mod again;

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use tool_runtime::{
    CaseHistory, CaseId, CaseState, FileHead, FileLedger, FileTail, History, Ledger, LedgerKey, ProviderReport, Query,
    SourceFailure, SqlLedger, SqlOptions, Standing, Stored,
};

/// How to use it.
pub const USAGE: &str = "ledger COMMAND STORE …

  calls STORE [--conversation ID] [--tool NAME] [--newest N]   the calls, with their results
  why STORE CASE        how far a call came, which slots were empty, which rules applied, who agreed
  waiting STORE         the calls that wait, for what, and until when
  stops STORE           where calls stopped, by tool, and at which slots
  failed STORE          which sources failed to answer, for which slots of which calls
  report STORE          what to send to whoever provides the tools, as JSON
  declared STORE        which tools went into quarantine or came out of it, why, and by whom
  replay STORE --tools FILE [--rules FILE] [--list FILE] [--state NAME] [--check NAME] [--all]
                        which calls would be decided otherwise by these rules and this checklist
  repair STORE          settles calls whose host has stopped
  head FILE             how far a file is, for `verify --expect`
  verify FILE [--expect N:MAC]

STORE is a file of JSON lines (*.jsonl), a SQLite file, or a URL (postgres://…). Its key is in
LEDGER_KEY (64 hexadecimal digits), the key's name in LEDGER_KEY_ID (`main` if there is none). Earlier keys, if
there are some, are in LEDGER_EARLIER_KEYS: `name:digits`, with spaces between them.
";

/// The key that the environment has, and the earlier ones that are read with it.
///
/// # Errors
/// If they are none.
pub fn key(secret: &str, id: Option<&str>, earlier: Option<&str>) -> Result<LedgerKey, Box<dyn Error + Send + Sync>> {
    let mut key = LedgerKey::from_hex(id.unwrap_or("main"), secret)?;
    for earlier in earlier.unwrap_or_default().split_whitespace() {
        let (id, secret) = earlier.split_once(':').ok_or("an earlier key is `name:digits`")?;
        key = key.with_earlier(&LedgerKey::from_hex(id, secret)?)?;
    }
    Ok(key)
}

/// Opens a store by its name.
///
/// # Errors
/// If it can't be opened, or not with this key.
pub async fn open(store: &str, key: LedgerKey, host: &str) -> Result<Arc<dyn Ledger>, Box<dyn Error + Send + Sync>> {
    let options = SqlOptions::new().host(host);
    Ok(if store.starts_with("postgres:") || store.starts_with("postgresql:") {
        Arc::new(SqlLedger::postgres(store, key, options).await?)
    } else if store.ends_with(".jsonl") {
        Arc::new(FileLedger::open(store, key)?)
    } else {
        Arc::new(SqlLedger::sqlite(store, key, options).await?)
    })
}

/// Does what the words say.
///
/// # Errors
/// If they say nothing, the ledger fails or was changed, or nothing can be written to `out`.
pub async fn run(words: &[String], key: LedgerKey, out: &mut impl Write) -> Result<(), Box<dyn Error + Send + Sync>> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["calls", store, ref options @ ..] => {
            let history = read(store, &key, query(options)?).await?;
            for case in history.cases() {
                line(case, out)?;
            }
        }
        ["why", store, case] => {
            let case: CaseId = case.parse()?;
            let history = read(store, &key, Query::all().case(case)).await?;
            explain(history.case(case).ok_or("there is no such call")?, out)?;
        }
        ["waiting", store] => {
            for case in read(store, &key, Query::unfinished()).await?.waiting() {
                waits(case, out)?;
            }
        }
        ["replay", store, ref options @ ..] => {
            again::replay(&read(store, &key, Query::all()).await?, options, out)?;
        }
        ["stops", store] => stops(&read(store, &key, Query::all().stopped()).await?, out)?,
        ["failed", store] => {
            for (case, failure) in read(store, &key, Query::all()).await?.failed_sources() {
                writeln!(out, "{case}  {}", failed(&failure))?;
            }
        }
        ["declared", store] => {
            for entry in read(store, &key, Query::declarations()).await?.declarations() {
                declared(entry, out)?;
            }
        }
        ["report", store] => {
            let report = ProviderReport::of_history(&read(store, &key, Query::all()).await?);
            writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
        }
        ["repair", store] => {
            let ledger = open(store, key, "ledger-repair").await?;
            let history = ledger.history(Query::unfinished()).await?;
            let now = history.now().unwrap_or_else(std::time::SystemTime::now);
            let me = ledger.owner().ok_or("this ledger has no owner")?;
            let repaired = history.repair(now, me);
            for repaired in &repaired {
                writeln!(out, "{} {} {}", repaired.case(), repaired.tool(), repaired.code())?;
            }
            ledger.append_all(repaired.into_iter().map(tool_runtime::Entry::Repaired).collect()).await?;
        }
        ["head", file] => match FileLedger::verify(file, &key, None)?.head {
            Some(head) => writeln!(out, "{head}")?,
            None => return Err("there is no whole line".into()),
        },
        ["verify", file] => verify(file, &key, None, out)?,
        ["verify", file, "--expect", head] => verify(file, &key, Some(head.parse()?), out)?,
        _ => return Err(USAGE.into()),
    }
    Ok(())
}

fn declared(entry: &Stored, out: &mut impl Write) -> Result<(), Box<dyn Error + Send + Sync>> {
    let standing = entry.standing().map_or("unreadable", Standing::as_str);
    write!(out, "{}  {standing}: {}", entry.tool(), entry.why().unwrap_or_default())?;
    match entry.signer() {
        Some(signer) => writeln!(out, " ({} by {})", signer.by(), signer.channel())?,
        None => writeln!(out)?,
    }
    Ok(())
}

/// Reads without writing, also of a file that somebody else writes to.
async fn read(store: &str, key: &LedgerKey, query: Query) -> Result<History, Box<dyn Error + Send + Sync>> {
    if store.ends_with(".jsonl") {
        return Ok(FileLedger::read(store, key)?.only(&query));
    }
    Ok(open(store, key.clone(), "ledger-reader").await?.history(query).await?)
}

fn query(options: &[&str]) -> Result<Query, Box<dyn Error + Send + Sync>> {
    let mut query = Query::all();
    for option in options.chunks(2) {
        query = match option {
            ["--conversation", id] => query.conversation(*id),
            ["--tool", name] => query.tool(*name),
            ["--newest", calls] => query.newest(calls.parse()?),
            _ => return Err(USAGE.into()),
        };
    }
    Ok(query)
}

fn verify(
    file: &str,
    key: &LedgerKey,
    expect: Option<FileHead>,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let verified = FileLedger::verify(file, key, expect)?;
    let lines = verified.head.map_or(0, |head| head.lines());
    if let Some(pruned) = verified.pruned {
        writeln!(out, "the files with the first {} lines were taken out", pruned.lines())?;
    }
    match verified.tail {
        FileTail::Whole => writeln!(out, "{lines} lines, all as they were written")?,
        FileTail::NoNewline(_) => return Err(format!("{lines} lines hold; the last has no newline").into()),
        FileTail::Torn(bytes) => return Err(format!("{lines} lines hold; then {bytes} bytes of one are torn").into()),
        _ => return Err(format!("{lines} lines hold; what is behind them doesn't").into()),
    }
    Ok(())
}

fn state(case: &CaseHistory) -> String {
    match case.state() {
        CaseState::Ended(code) => code.to_string(),
        CaseState::Refused(code) => format!("refused ({code})"),
        CaseState::Waiting => "waits for an answer".to_owned(),
        CaseState::Answered => "answered, and nobody has gone on with it".to_owned(),
        CaseState::Running => "runs".to_owned(),
        _ => "asked".to_owned(),
    }
}

/// What came from a model or a tool, on one line and without control characters.
fn shown(text: &str) -> String {
    text.escape_debug().to_string().replace("\\\"", "\"")
}

fn line(case: &CaseHistory, out: &mut impl Write) -> std::io::Result<()> {
    let arguments = case.verdict().and_then(|verdict| verdict.arguments()).unwrap_or("…");
    writeln!(out, "{}  {} {}  {}", case.id(), shown(case.tool()), shown(arguments), state(case))?;
    if let Some(content) = case.end().and_then(|end| end.content()) {
        writeln!(out, "    {}", shown(&content.to_text()))?;
    }
    Ok(())
}

fn list(name: &str, words: &[&str], out: &mut impl Write) -> std::io::Result<()> {
    match words {
        [] => Ok(()),
        words => writeln!(out, "  {name}: {}", shown(&words.join("; "))),
    }
}

fn failed(SourceFailure { slot, source, why, .. }: &SourceFailure) -> String {
    let source = source.map_or("a check of the host's", |source| source.as_str());
    format!("{}: {source}: {}", shown(slot), shown(why))
}

fn explain(case: &CaseHistory, out: &mut impl Write) -> std::io::Result<()> {
    line(case, out)?;
    if let Some(stopped) = case.stopped_at() {
        writeln!(out, "  stopped at: {stopped}")?;
    }
    list("empty slots", &case.open(), out)?;
    for failure in case.failed_sources() {
        writeln!(out, "  source failed: {}", failed(&failure))?;
    }
    let conflicts = case.conflicts();
    list("sources disagreed about", &conflicts.iter().map(String::as_str).collect::<Vec<_>>(), out)?;
    list("rules", &case.rules(), out)?;
    if let Some(answered) = case.answered() {
        let answer = answered.answer().map_or("withdrawn", |answer| answer.as_str());
        let by = answered.signer().map(|signer| format!(" by {} on {}", shown(signer.by()), shown(signer.channel())));
        writeln!(out, "  answered: {answer}{}", by.unwrap_or_default())?;
        for (slot, value) in answered.filled() {
            writeln!(out, "  filled in: {} = {}", shown(slot), shown(value))?;
        }
    }
    // How each slot was filled or left, as the verdict has it.
    if let Some(slots) = case.verdict().and_then(|verdict| verdict.get("/slots")) {
        writeln!(out, "  slots: {}", shown(&slots))?;
    }
    for late in case.late() {
        writeln!(out, "  late: {:?} {}", late.kind(), late.code().map_or("", |code| code.as_str()))?;
    }
    Ok(())
}

fn waits(case: &CaseHistory, out: &mut impl Write) -> std::io::Result<()> {
    line(case, out)?;
    list("because", &case.asked().map(|asked| asked.reasons()).unwrap_or_default(), out)?;
    for (to, question) in case.waits_for().filter_map(|asked| Some((asked.addressee(), asked.question()?))) {
        writeln!(out, "  question: {question} (to {to})")?;
    }
    list("to be filled in", &case.open(), out)?;
    for (slot, question) in case.asked().map(|asked| asked.confirmed()).unwrap_or_default() {
        writeln!(out, "  confirmed before: {} (question {question})", shown(slot))?;
    }
    let left = case
        .verdict()
        .and_then(|verdict| verdict.expires())
        .and_then(|expires| expires.duration_since(std::time::SystemTime::now()).ok());
    if let Some(left) = left {
        writeln!(out, "  for {} more hours", left.as_secs() / 3600)?;
    }
    Ok(())
}

/// For each tool: how often its calls stopped, at what, and which slots were empty.
fn stops(history: &History, out: &mut impl Write) -> std::io::Result<()> {
    for ((tool, code), cases) in history.stops() {
        let mut open: Vec<&str> =
            cases.iter().filter_map(|case| history.case(*case)).flat_map(|case| case.open()).collect();
        open.sort_unstable();
        open.dedup();
        let slots = if open.is_empty() { String::new() } else { format!(": {}", shown(&open.join(", "))) };
        writeln!(out, "{} {code} × {}{slots}", shown(&tool), cases.len())?;
    }
    Ok(())
}
