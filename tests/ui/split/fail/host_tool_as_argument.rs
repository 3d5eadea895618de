use tool_runtime::{HostTool, tool};

/// Runs another tool.
#[tool]
async fn delegate(
    /// Which.
    tool: HostTool,
) -> String {
    tool.name().to_owned()
}

fn main() {}
