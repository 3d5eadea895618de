//! Recorded calls, judged anew by other rules and another checklist.

use std::error::Error;
use std::io::Write;
use std::path::Path;

use serde::Deserialize;
use tool_runtime::{
    AllowAll, BoxFuture, CheckedCall, Checklist, DynamicTool, Hints, History, Policy, Registry, Replay, Rules,
};

use super::{USAGE, shown};

type Failed = Box<dyn Error + Send + Sync>;

/// A tool, as a file describes it. Its body never runs here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    name: String,
    description: String,
    parameters: Option<serde_json::Value>,
    output: Option<serde_json::Value>,
    #[serde(default)]
    read_only: bool,
    #[serde(default)]
    destructive: bool,
    #[serde(default)]
    changes: Vec<String>,
}

fn registry(file: &str) -> Result<Registry, Failed> {
    let described: Vec<Described> = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let mut registry = Registry::builder();
    for tool in described {
        let mut hints = Hints::default();
        (hints.read_only, hints.destructive) = (tool.read_only, tool.destructive);
        let mut dynamic = DynamicTool::builder(tool.name, tool.description).hints(hints).changes(tool.changes);
        if let Some(parameters) = tool.parameters {
            dynamic = dynamic.parameters(parameters.to_string());
        }
        let output = tool.output.unwrap_or(serde_json::Value::Bool(true)).to_string();
        registry =
            registry.tool(dynamic.output(output).run(|_, _| async { Err("a replay runs nothing".to_owned().into()) })?);
    }
    Ok(registry.build()?)
}

/// Judges what a ledger has anew, and writes a line for each call that would come to something else; with `--all`, for
/// every call.
///
/// # Errors
/// If the options say something else, a file can't be read, or nothing can be written.
pub(super) fn replay(history: &History, options: &[&str], out: &mut impl Write) -> Result<(), Failed> {
    let mut given = Vec::new();
    let mut all = false;
    let mut left = options.iter().copied();
    while let Some(word) = left.next() {
        match (word, left.len()) {
            ("--all", _) => all = true,
            ("--tools" | "--rules" | "--list" | "--state" | "--check", 1..) => {
                given.extend(left.next().map(|of| (word, of)));
            }
            _ => return Err(USAGE.into()),
        }
    }
    let option = |name: &'static str| given.iter().filter(move |(word, _)| *word == name).map(|(_, of)| *of);
    let registry = registry(option("--tools").next().ok_or(USAGE)?)?;
    let policy: Box<dyn Policy> = match option("--rules").next() {
        None => Box::new(AllowAll),
        Some(file) => {
            let text = std::fs::read_to_string(file)?;
            let is_json = Path::new(file).extension().is_some_and(|extension| extension == "json");
            Box::new(if is_json { Rules::from_json(&text, &registry)? } else { Rules::from_toml(&text, &registry)? })
        }
    };
    let mut list = Checklist::builder();
    for file in option("--list") {
        list = list.file(file);
    }
    // Their names are all that a replay needs: what they said stands in the record.
    for name in option("--state") {
        list = list.state(name, |_: CheckedCall| -> BoxFuture<'static, Result<String, String>> { absent() });
    }
    for name in option("--check") {
        list = list.condition(name, |_: CheckedCall| -> BoxFuture<'static, Result<bool, String>> { absent() });
    }
    let list = list.build(&registry)?;
    let replayed = Replay::new(&registry, &*policy).checklist(&list).of(history);
    let mut differ = 0;
    for call in &replayed {
        differ += usize::from(call.differs());
        if !call.differs() && !all {
            continue;
        }
        writeln!(out, "{}", shown(&call.to_string()))?;
        for (slot, before, now) in call.changed() {
            let word = |state: Option<&tool_runtime::SlotState>| state.map_or("no line", |state| state.as_str());
            writeln!(out, "    {}: {} -> {}", shown(slot), word(before), word(now))?;
        }
    }
    writeln!(out, "{differ} of {} would come to something else", replayed.len())?;
    Ok(())
}

fn absent<T: Send + 'static>() -> BoxFuture<'static, Result<T, String>> {
    Box::pin(std::future::ready(Err("nothing is looked up in a replay".to_owned())))
}
