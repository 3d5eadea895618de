use tool_runtime::tool;

struct AddTool;

/// Adds.
#[tool]
fn add() {}

/// Subtracts.
#[tool(type = Sub, args = Sub)]
fn subtract() {}

fn main() {}
