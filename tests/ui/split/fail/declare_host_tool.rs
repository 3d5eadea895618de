use tool_runtime::HostTool;
use tool_runtime::wire::openai_chat::Declarations;

fn declare(tool: &HostTool) -> String {
    let mut tools = Declarations::new();
    tools.push(tool);
    tools.to_json()
}

fn main() {
    let _ = declare;
}
