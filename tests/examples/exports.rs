//! Prints what every form of every provider makes of tools: the sixty schemas of our own, and the tools of catalogues.
//!
//! ```text
//! cargo run -p tests --example exports -- CATALOGUE.json ...
//! ```
//!
//! A catalogue is the answer of a server to `tools/list`. One line of JSON for each set of tools and each form: for
//! `tests/conformance/run.sh`, whose oracles read it.

#![allow(missing_docs, reason = "the types of the schemas say what they are by their fields")]

#[path = "../tests/export/schemas.rs"]
mod schemas;

use std::error::Error;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};
use tool_runtime::wire::export::{Export, ExportedTool, Fit, Provider, Sources, Strict};
use tool_runtime::{DynamicTool, HostTool};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let mut sets = vec![("own".to_owned(), schemas::all())];
    for path in std::env::args_os().skip(1) {
        let path = Path::new(&path);
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        sets.push((name, catalogue(&std::fs::read_to_string(path)?)?));
    }
    for (set, tools) in &sets {
        for &provider in Provider::all() {
            for strict in [Strict::No, Strict::Prefer, Strict::Require] {
                if strict != Strict::No && !provider.has_strict() {
                    continue;
                }
                for sources in [false, true] {
                    let mut form = Export::with(provider).strict(strict);
                    if sources {
                        form = form.sources(Sources::new().changes(["light.on", "light.off"]));
                    }
                    // Together, and each alone where all strict tools of a request share a limit: else the first few
                    // would use it up, and the others would be looked at in no strict form.
                    let mut requests = vec![&tools[..]];
                    if strict != Strict::No && provider == Provider::Anthropic {
                        requests.extend(tools.chunks(1));
                    }
                    for tools in requests {
                        let export = form.clone().tools(tools.iter().map(HostTool::schema));
                        let each: Vec<Value> =
                            export.tools().iter().zip(tools).map(|(made, tool)| shown(made, tool)).collect();
                        let line = json!({
                            "set": set,
                            "provider": format!("{provider:?}"),
                            "strict": format!("{strict:?}"),
                            "sources": sources,
                            "request": serde_json::from_str::<Value>(&export.to_json())?,
                            "tools": each,
                        });
                        writeln!(out, "{line}")?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// The tools of an answer to `tools/list`.
fn catalogue(text: &str) -> Result<Vec<HostTool>, Box<dyn Error>> {
    let answer: Value = serde_json::from_str(text)?;
    let tools = answer["tools"].as_array().ok_or("there are no `tools`")?;
    let tool = |tool: &Value| {
        let name = tool["name"].as_str().unwrap_or_default();
        let description = tool["description"].as_str().filter(|text| !text.is_empty()).unwrap_or(name);
        let made = DynamicTool::builder(name, description).parameters(tool["inputSchema"].to_string()).output("true");
        made.run(|_, _| async { Ok("null".to_owned()) })
    };
    Ok(tools.iter().map(tool).collect::<Result<_, _>>()?)
}

fn shown(made: &ExportedTool, tool: &HostTool) -> Value {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let (fit, refusal, losses) = match made.fit() {
        Fit::Exact => ("exact", None, Vec::new()),
        Fit::Widened(losses) => ("widened", None, losses.to_vec()),
        Fit::Refused(refusal) => ("refused", Some(refusal), Vec::new()),
        other => panic!("a fit that isn't known: {other:?}"),
    };
    json!({
        "name": made.name(),
        "wire_name": made.wire_name(),
        "description": tool.schema().description(),
        "schema": parsed(tool.schema().parameters()),
        "fit": fit,
        "refusal": refusal.map(|refusal| json!({"pointer": refusal.pointer, "reason": refusal.to_string()})),
        "losses": losses.iter().map(|loss| json!({"pointer": loss.pointer, "keyword": loss.keyword})).collect::<Vec<_>>(),
        "fell_back": made.fell_back().map(ToString::to_string),
        "closed": made.closed(),
        "strict": made.strict(),
        "declaration": made.as_json().map(parsed),
        "parameters": made.parameters().map(parsed),
    })
}
