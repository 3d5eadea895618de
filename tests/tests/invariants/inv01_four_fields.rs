//! `ToolSchema` is the only description of a tool that can be serialised, and it names its four fields one by one.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use tool_runtime::{
    CallContext, CallFacts, DynamicTool, DynamicToolBuilder, Harness, Hints, HostState, HostTool, Label, Registry,
    ToolSchema, tool, toolset,
};

use crate::support::{ActTool, Ran, echo, implements};

/// Has everything that a host can keep.
#[tool(defer, host(timeout = "7s", concurrency_safe, read_only, idempotent, deterministic, changes("a", "b"), causes))]
async fn laden(
    /// One.
    #[arg(default = 4, range = 1..=9, example = 5, alias = "uno")]
    one: u8,
    /// Two.
    #[arg(secret)]
    two: String,
    /// Three.
    #[arg(path, authored)]
    three: String,
    #[host] ran: Ran,
) -> String {
    ran.note();
    format!("{one}{}{three}", two.len())
}

struct Shelf;

/// A shelf.
#[toolset]
impl Shelf {
    /// Takes something.
    #[tool(host(destructive, inline))]
    fn take(
        &self,
        /// Which.
        index: u32,
    ) -> u32 {
        index
    }
}

fn tools() -> Vec<HostTool> {
    let mut tools = std::sync::Arc::new(Shelf).tools();
    tools.extend([
        LadenTool::host(),
        ActTool::host(),
        echo("dynamic", r#"{"type":"object","properties":{"a":{"type":"null"}}}"#),
    ]);
    tools
}

fn keys(value: &Value) -> BTreeSet<&str> {
    match value {
        Value::Object(members) => members.keys().map(String::as_str).collect(),
        other => panic!("no object: {other}"),
    }
}

#[test]
fn inv01_a_serialised_schema_has_four_fields_and_no_more() {
    for tool in tools() {
        let schema = tool.schema();
        let mut expected = BTreeSet::from(["name", "description", "parameters"]);
        if schema.defer() {
            expected.insert("defer");
        }
        let value = serde_json::to_value(schema).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(keys(&value), expected, "{}", schema.name());
        assert_eq!(value["name"], schema.name());
        assert_eq!(value["description"], schema.description());
        let parameters: Value = serde_json::from_str(schema.parameters()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(value["parameters"], parameters);
        if schema.defer() {
            assert_eq!(value["defer"], true);
        }
    }
    assert!(LadenTool::schema().defer());
    assert!(!ActTool::host().schema().defer());
}

/// However a schema is written, its bytes are the same.
#[test]
fn inv01_every_way_of_writing_a_schema_gives_the_same_bytes() {
    #[derive(Serialize)]
    struct Flat<'a> {
        #[serde(flatten)]
        schema: &'a ToolSchema,
    }
    for tool in tools() {
        let schema = tool.schema();
        assert_eq!(serde_json::to_string(schema).ok().as_deref(), Some(schema.as_json()));
        assert_eq!(format!("{schema:?}"), schema.as_json());
        let flat = serde_json::to_value(Flat { schema }).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(serde_json::to_value(schema).ok(), Some(flat));
        let begins = format!(r#"{{"name":"{}","description":""#, schema.name());
        assert!(schema.as_json().starts_with(&begins), "{}", schema.as_json());
    }
}

/// What else describes a tool or holds one can't be serialised. The messages are in `tests/ui`.
#[test]
fn inv01_no_other_description_can_be_serialised() {
    assert!(implements!(ToolSchema: Serialize));
    assert!(!implements!(HostTool: Serialize));
    assert!(!implements!(Vec<HostTool>: Serialize));
    assert!(!implements!(Option<&'static HostTool>: Serialize));
    assert!(!implements!(DynamicTool: Serialize));
    assert!(!implements!(DynamicToolBuilder: Serialize));
    assert!(!implements!(Registry: Serialize));
    assert!(!implements!(Harness: Serialize));
    assert!(!implements!(CallFacts<'static>: Serialize));
    assert!(!implements!(CallContext: Serialize));
    assert!(!implements!(HostState: Serialize));
    assert!(!implements!(Hints: Serialize));
    assert!(!implements!(Label: Serialize));
    assert!(!implements!(LadenTool: Serialize));
    assert!(!implements!(ActTool: Serialize));
}

/// What the model is shown can't be read back in with a field more: a schema is made by its tool alone.
#[test]
fn inv01_a_schema_is_made_by_its_tool_alone() {
    assert!(!implements!(ToolSchema: serde::de::DeserializeOwned));
    assert!(!implements!(ToolSchema: Default));
    assert!(!implements!(ToolSchema: From<HostTool>));
}
