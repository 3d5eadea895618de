use tool_runtime::tool;

#[tool]
fn look_up() {}

#[tool(description = " ")]
fn search() {}

fn main() {}
