use tool_runtime::tool;

/// Looks something up.
#[tool(name = , description "Looks up", host(timeout = "5s" read_only), "search")]
fn look_up() {}

fn main() {}
