//! What rules and a person make of a few calls.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tool_runtime::{Approver, Entry, Grants, Harness, MemoryLedger, Registry, Rules, ToolCall, VerdictKind, tool};

/// The rules of the example.
pub const RULES: &str = include_str!("../../gate.toml");

/// Files, in memory.
#[derive(Clone, Default)]
struct Files(Arc<Mutex<BTreeMap<String, String>>>);

impl Files {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Read a file.
#[tool(host(read_only, reads(path)))]
async fn read_file(
    /// Which file.
    #[arg(path)]
    path: String,
    #[host] files: &Files,
) -> Result<String, String> {
    files.lock().get(&path).cloned().ok_or_else(|| format!("There is no file {path:?}."))
}

/// Write a file.
#[tool(host(writes(path)))]
async fn write_file(
    /// Which file.
    #[arg(path)]
    path: String,
    /// What is to be in it.
    #[arg(authored)]
    content: String,
    #[host] files: &Files,
) -> String {
    files.lock().insert(path.clone(), content);
    format!("{path} is written.")
}

/// What a model proposes, turn by turn, and what to look at.
const TURNS: &[(&str, &[(&str, &str)])] = &[
    (
        "A read and a write: one question, for the write. Answer `a` to have it allowed from now on.",
        &[("read_file", r#"{"path":"notes.txt"}"#), ("write_file", r#"{"path":"notes.txt","content":"buy milk"}"#)],
    ),
    (
        "The same write again, spelt otherwise. If it was granted, nobody is asked.",
        &[("write_file", r#"{"content":"buy milk","path":"./drafts/../notes.txt"}"#)],
    ),
    (
        "Another text is another call: a grant is for the values that were approved.",
        &[("write_file", r#"{"path":"notes.txt","content":"sell the house"}"#)],
    ),
    (
        "A secret, and a way round. Denied, whatever was granted and whatever the last rule says.",
        &[
            ("read_file", r#"{"path":"/work/secrets/key.pem"}"#),
            ("write_file", r#"{"path":"drafts/../secrets/key.pem","content":"mine"}"#),
        ],
    ),
];

/// Plays the calls, asks `approver` where the rules say so, and writes down what came of them.
///
/// # Errors
/// If the rules don't fit the tools (all that is wrong, with line and column), or `out` can't be written to.
pub fn run(rules: &str, approver: impl Approver + 'static, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(play(rules, approver, out))
}

async fn play(rules: &str, approver: impl Approver + 'static, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let registry =
        Registry::builder().tools([ReadFileTool::host(), WriteFileTool::host()]).state(Files::default()).build()?;
    let rules = Rules::from_toml(rules, &registry)?;
    let (ledger, grants) = (Arc::new(MemoryLedger::default()), Grants::new());
    let harness = Harness::new(registry, rules).approver(approver).grants(grants.clone()).ledger(Arc::clone(&ledger));

    let mut number = 0;
    for (note, calls) in TURNS {
        writeln!(out, "# {note}")?;
        let calls = calls.iter().map(|(tool, arguments)| {
            number += 1;
            ToolCall::new(format!("call_{number}"), tool, *arguments)
        });
        let settled = harness.run_settled(calls.collect::<Vec<_>>(), None).await;
        for settled in settled {
            let record = settled.record();
            if let Some(verdict) = record.verdict() {
                let ruling = match verdict.kind() {
                    VerdictKind::Cleared => "cleared".to_owned(),
                    VerdictKind::Blocked(code) => format!("blocked, {code}"),
                    other => format!("{other:?}"),
                };
                writeln!(out, "{} {} {}: {ruling}", record.call_id(), verdict.tool(), verdict.arguments())?;
                for reason in verdict.reasons() {
                    writeln!(out, "  because: {reason}")?;
                }
            }
            writeln!(out, "  the model reads: {}", settled.result().text())?;
        }
        writeln!(out)?;
    }
    let asked = ledger.entries().iter().filter(|entry| matches!(entry, Entry::Asked(_))).count();
    writeln!(out, "{number} calls, {asked} questions, grants: {}; all of it is in the ledger.", grants.len())?;
    Ok(())
}
