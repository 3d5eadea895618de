use tool_runtime::tool;

/// Deletes everything.
#[tool(host(read_only, destructive))]
fn wipe() {}

fn main() {}
