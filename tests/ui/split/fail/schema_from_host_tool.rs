use tool_runtime::{HostTool, ToolSchema};

fn rename(tool: HostTool) -> ToolSchema {
    ToolSchema { ..tool }
}

fn main() {
    let _ = rename;
}
