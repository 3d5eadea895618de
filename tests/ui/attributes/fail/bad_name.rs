use tool_runtime::tool;

/// Looks something up.
#[tool(name = "cat.query")]
fn look_up() {}

/// Searches.
#[tool(name = "")]
fn search() {}

/// Greets.
#[tool]
fn grüßen() {}

fn main() {}
