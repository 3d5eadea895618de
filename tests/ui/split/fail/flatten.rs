use serde::Serialize;
use tool_runtime::HostTool;

#[derive(Serialize)]
struct Declared {
    r#type: &'static str,
    #[serde(flatten)]
    tool: HostTool,
}

fn main() {
    let _ = |declared: &Declared| serde_json::to_string(declared);
}
