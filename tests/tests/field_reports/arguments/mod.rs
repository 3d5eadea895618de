//! Section D: what models send as arguments, and B84: what a refusal may say of them.
//!
//! Everything here is tried on the full path: what is refused is refused before the gate is asked.

mod members;
mod refusals;
mod secrets;
mod text;
mod types;
mod values;
mod words;

use tool_runtime::path::Settled;
use tool_runtime::wire::openai_chat;
use tool_runtime::{tool, tool_type};

/// What time is it?
#[tool]
fn now() -> String {
    "noon".to_owned()
}

/// Takes a number.
#[tool]
fn needs(
    /// A number.
    n: u32,
) -> u32 {
    n
}

/// A count.
#[tool_type]
#[derive(Debug)]
struct Count {
    count: u32,
}

/// Counts inside.
#[tool]
fn count_inside(
    /// So many.
    inner: Count,
    /// And so many.
    more: Vec<Count>,
) -> u32 {
    inner.count + more.iter().map(|count| count.count).sum::<u32>()
}

#[tool_type]
#[derive(Debug)]
enum Shape {
    Point,
    Circle { radius: u8 },
}

#[tool_type]
#[serde(tag = "kind")]
#[derive(Debug)]
enum Tagged {
    Circle { radius: u8 },
    Square { side: u8 },
}

/// Draws.
#[tool]
fn draw(
    /// A shape.
    shape: Option<Shape>,
    /// A tagged shape.
    tagged: Option<Tagged>,
) -> String {
    format!("{shape:?} {tagged:?}")
}

/// Crawls.
#[tool]
fn crawl(
    /// From here.
    url: String,
    /// So deep.
    depth: Option<u32>,
    /// A code.
    code: String,
) -> String {
    format!("{url} {depth:?} {code}")
}

/// Keeps whatever it is.
#[tool]
fn keep(
    /// It.
    value: serde_json::Value,
) -> serde_json::Value {
    value
}

/// All that the host keeps and the model reads of a call, as text.
fn kept(settled: &Settled) -> String {
    let record = match serde_json::to_string(settled.record()) {
        Ok(record) => record,
        Err(error) => panic!("a record can't be written: {error}"),
    };
    let verdict = settled.record().verdict().map(serde_json::to_string);
    let verdict = match verdict.transpose() {
        Ok(verdict) => verdict.unwrap_or_default(),
        Err(error) => panic!("a verdict can't be written: {error}"),
    };
    let message = openai_chat::message(settled.result()).to_json();
    format!("{record}\n{verdict}\n{message}\n{}\n{settled:?}", settled.result().text())
}

#[tool_type]
#[serde(rename_all = "lowercase")]
#[derive(Debug)]
enum Pri {
    Low,
    High,
}

/// Searches.
#[tool]
fn search(
    /// For this.
    q: String,
    /// So many.
    #[arg(default = 10)]
    limit: u32,
    /// With this tag.
    tag: Option<String>,
) -> String {
    format!("{q} {limit} {tag:?}")
}
