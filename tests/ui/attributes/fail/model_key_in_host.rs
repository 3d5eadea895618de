use tool_runtime::tool;

/// Looks something up.
#[tool(host(name = "search", defer, host(timeout = "5s")))]
fn look_up() {}

fn main() {}
