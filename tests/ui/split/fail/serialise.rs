use tool_runtime::HostTool;

fn audit(tool: &HostTool) -> String {
    serde_json::to_string(tool).unwrap()
}

fn main() {
    let _ = audit;
}
