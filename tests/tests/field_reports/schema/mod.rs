//! Section B: the full schema, which is shown to those who take it whole and enforced for everybody.
//!
//! What single providers take of it is tested where their formats are written (see the table in `main.rs`).

mod defaults;
mod shapes;
mod values;

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU8;
use std::ops::Range;

use serde_json::{Value, json};
use tool_runtime::{tool, tool_type};

/// A page of results.
#[tool_type]
struct Page {
    small: i8,
    wait: std::time::Duration,
    ids: Vec<u64>,
    ratio: f32,
}

/// Shows a page.
#[tool]
#[expect(clippy::too_many_arguments, reason = "one of each width")]
fn page(
    /// How many.
    limit: u32,
    /// From here to there.
    win: Range<usize>,
    /// A byte.
    b: u8,
    /// Which.
    id: Option<u64>,
    /// How much.
    f: f64,
    /// When.
    #[arg(format = "date-time")]
    at: String,
    /// At least one.
    #[arg(default = NonZeroU8::MIN)]
    some: NonZeroU8,
    /// Very many.
    #[arg(default)]
    huge: u128,
) -> Vec<Page> {
    let _ = (limit, win, b, id, f, at, some, huge);
    Vec::new()
}

/// The definition that a schema refers to.
fn at_ref<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let Some(reference) = schema["$ref"].as_str() else {
        return schema;
    };
    match reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer)) {
        Some(found) => found,
        None => panic!("`{reference}` leads nowhere in {root}"),
    }
}

/// A unit.
#[tool_type]
#[derive(Debug, Clone, Copy)]
enum Unit {
    C,
    F,
}

/// A place.
#[tool_type]
#[derive(Debug, Clone)]
struct Place {
    /// Its city.
    city: String,
    /// What it measures in.
    unit: Unit,
}

/// Sets a value.
#[tool]
fn set(
    /// Under this key.
    key: String,
    /// Whatever it is.
    value: Value,
) -> Value {
    json!({ key: value })
}

/// Crops.
#[tool]
fn crop(
    /// Left, top, right and bottom.
    bbox: (i32, i32, i32, i32),
    /// A name and a weight.
    pt: (String, f64),
) -> String {
    format!("{bbox:?} {pt:?}")
}

/// Closed.
#[tool_type]
#[serde(deny_unknown_fields)]
#[derive(Debug)]
struct Closed {
    a: u8,
}

/// Tags.
#[tool]
fn tag(
    /// Weights by tag.
    m: HashMap<String, i64>,
    /// Closed ones.
    deep: Vec<Closed>,
) -> String {
    let m: BTreeMap<_, _> = m.into_iter().collect();
    format!("{m:?} {deep:?}")
}
