use tool_runtime::tool;

/// Counts to a million.
#[tool(host(inline, timeout = "1s"))]
fn count() {}

fn main() {}
