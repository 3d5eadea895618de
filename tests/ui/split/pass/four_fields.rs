use tool_runtime::wire::openai_chat::Declarations;
use tool_runtime::{CallContext, tool};

/// Looks something up.
#[tool(defer, host(timeout = "5s", concurrency_safe, read_only, changes("a.b")))]
fn look_up(
    /// What to look for.
    key: String,
    #[host] cx: &CallContext,
) -> String {
    let _ = cx;
    key
}

/// Does nothing.
#[tool]
fn nothing() {}

fn main() {
    let keys = |json: &str| {
        let value: serde_json::Map<String, serde_json::Value> = serde_json::from_str(json).unwrap();
        value.into_iter().map(|(key, _)| key).collect::<std::collections::BTreeSet<_>>()
    };
    let schema = LookUpTool::schema();
    let written = serde_json::to_string(schema).unwrap();
    assert_eq!(written, schema.as_json());
    assert!(keys(&written).iter().eq(["defer", "description", "name", "parameters"]));
    assert!(keys(NothingTool::schema().as_json()).iter().eq(["description", "name", "parameters"]));
    for host in ["timeout", "concurrency", "read_only", "a.b", "output", "cx"] {
        assert!(!written.contains(host), "{host} in {written}");
    }
    let mut tools = Declarations::new();
    tools.push(LookUpTool::host().schema());
    assert!(!tools.to_json().contains("5s"));
}
