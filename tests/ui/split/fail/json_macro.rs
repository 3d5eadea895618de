use serde_json::json;
use tool_runtime::HostTool;

fn request(tool: HostTool) -> serde_json::Value {
    json!({ "model": "m", "tools": [tool] })
}

fn main() {
    let _ = request;
}
