use serde::Serialize;
use tool_runtime::HostTool;

#[derive(Serialize)]
struct Request {
    model: String,
    tool: HostTool,
}

fn main() {
    let _ = |request: &Request| serde_json::to_string(request);
}
