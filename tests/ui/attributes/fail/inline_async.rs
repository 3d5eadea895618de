use tool_runtime::tool;

/// Waits.
#[tool(host(inline))]
async fn wait() {}

fn main() {}
