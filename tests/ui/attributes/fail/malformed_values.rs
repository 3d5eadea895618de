use tool_runtime::tool;

/// Looks something up.
#[tool(defer = "yes", type = "look up", args, host(concurrency_safe = 3, changes(light), project("shown")))]
fn look_up() {}

fn main() {}
