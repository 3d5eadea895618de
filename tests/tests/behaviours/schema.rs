//! What a model is shown of a tool's arguments, and that a tool has to say what it returns.

use serde_json::{Value, json};
use tool_runtime::{DynamicTool, HostTool, tool, tool_type};

/// How urgent it is.
#[tool_type]
enum Urgency {
    Whenever,
    Soon,
    Now,
}

/// What may be left out as a whole.
#[tool_type]
struct Loose {
    /// May be left out.
    note: Option<String>,
    /// Has a default.
    #[arg(default = 3)]
    times: u8,
}

/// Some of it may be left out.
#[tool_type]
struct Mixed {
    /// Needed.
    host: String,
    /// May be left out.
    port: Option<u16>,
    /// Needed, though all within may be left out.
    loose: Loose,
    /// Needed.
    urgency: Urgency,
}

/// Takes all kinds.
#[tool]
async fn all_kinds(
    /// Needed.
    mixed: Mixed,
    /// May be left out.
    maybe: Option<Mixed>,
    /// Needed, even if it is empty.
    list: Vec<Loose>,
    /// Has a default.
    #[arg(default)]
    count: u32,
) -> u32 {
    let _ = (mixed.host, mixed.port, mixed.loose.note, mixed.loose.times, mixed.urgency, maybe.is_some());
    count + list.len() as u32
}

/// Takes what may all be left out.
#[tool]
async fn all_optional(
    /// May be left out.
    a: Option<u8>,
    /// Has a default.
    #[arg(default = 1)]
    b: u8,
) -> u8 {
    a.unwrap_or(b)
}

/// Takes nothing.
#[tool]
async fn takes_nothing() {}

fn parameters(tool: &HostTool) -> Value {
    serde_json::from_str(tool.schema().parameters()).expect("a schema is JSON")
}

/// What an object schema asks for. `None` where it says nothing of it.
fn required(object: &Value) -> Option<Vec<&str>> {
    object.get("required").map(|names| {
        let mut names: Vec<&str> = names.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        names.sort_unstable();
        names
    })
}

#[test]
fn d02_required_says_exactly_what_is_required() {
    let shown = parameters(&AllKindsTool::host());
    assert_eq!(required(&shown), Some(vec!["list", "mixed"]));
    let definitions: Vec<&Value> = shown["$defs"].as_object().expect("types are shared").values().collect();
    let mixed = definitions.iter().find(|object| object["properties"].get("host").is_some()).expect("it is shown");
    assert_eq!(required(mixed), Some(vec!["host", "loose", "urgency"]), "{mixed}");
    let loose = definitions.iter().find(|object| object["properties"].get("times").is_some()).expect("it is shown");
    assert_eq!(required(loose), None, "an empty list says what its absence says: {loose}");
    // What the author didn't say has left no key behind.
    assert_eq!(loose["properties"]["note"].get("default"), None);
    assert_eq!(loose["properties"]["times"]["default"], 3);
    assert!(mixed["properties"]["host"].get("enum").is_none() && mixed["properties"]["host"].get("default").is_none());
    // A closed set is in declared order.
    let text = AllKindsTool::host().schema().parameters().to_owned();
    assert!(text.contains(r#"["Whenever","Soon","Now"]"#), "{text}");
    assert_eq!(required(&parameters(&AllOptionalTool::host())), None);
    let nothing = parameters(&TakesNothingTool::host());
    assert_eq!(nothing, json!({"type": "object", "properties": {}, "additionalProperties": false}));
}

#[test]
fn d05_a_dynamic_tool_says_what_it_returns() {
    let built = DynamicTool::builder("vague", "Returns something.").run(|_, _| async { Ok("1".to_owned()) });
    match built {
        Ok(tool) => panic!("{tool:?} was made"),
        Err(error) => {
            assert_eq!(error.tool(), "vague");
            assert_eq!(error.to_string(), "tool `vague`: it needs an output schema (`true` for anything)");
        }
    }
}
