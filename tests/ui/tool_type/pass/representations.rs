// All that serde can write.
#![allow(dead_code)]

use tool_runtime::{tool, tool_type};

#[tool_type]
#[serde(rename_all = "snake_case")]
enum Unit {
    /// The usual.
    Celsius,
    #[serde(alias = "f")]
    DegreesFahrenheit,
}

#[tool_type]
enum External {
    Nothing,
    Text(String),
    Pair(u8, u8),
    Place {
        #[arg(length = 1..=80)]
        city: String,
        #[arg(default = 3)]
        floor: u8,
    },
}

#[tool_type]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Internal {
    Nothing,
    Place {
        city: String,
        #[serde(default)]
        floor: u8,
    },
    Other(Inner),
}

#[tool_type]
#[serde(tag = "kind", content = "value")]
enum Adjacent {
    Nothing,
    Text(String),
    Place { city: String },
}

#[tool_type]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Text(String),
    List(Vec<Untagged>),
}

#[tool_type]
#[serde(deny_unknown_fields)]
struct Inner {
    a: u8,
    #[serde(skip)]
    skipped: std::cell::Cell<u8>,
}

#[tool_type]
#[serde(transparent)]
struct Transparent {
    inner: String,
}

#[tool_type]
struct Newtype(u32);

#[tool_type]
struct Pair(u8, #[arg(range = 1..=3)] u8);

#[tool_type]
struct Nothing;

#[tool_type]
struct Node {
    name: String,
    children: Vec<Node>,
    parent: Option<Box<Node>>,
}

/// Takes and returns everything.
#[tool]
fn everything(
    /// One.
    unit: Unit,
    /// One.
    external: External,
    /// One.
    internal: Internal,
    /// One.
    adjacent: Adjacent,
    /// One.
    untagged: Untagged,
    /// One.
    transparent: Transparent,
    /// One.
    newtype: Newtype,
    /// One.
    pair: Pair,
    /// One.
    nothing: Nothing,
    /// One.
    node: Node,
) -> (Unit, External, Internal, Adjacent, Untagged, Transparent, Newtype, Pair, Nothing, Node) {
    (unit, external, internal, adjacent, untagged, transparent, newtype, pair, nothing, node)
}

fn main() {
    let parameters = EverythingTool::schema().parameters();
    assert!(parameters.contains("degrees_fahrenheit"), "{parameters}");
    assert!(!parameters.contains("skipped"));
}
