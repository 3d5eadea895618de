use tool_runtime::tool;

/// Adds.
#[tool(crate = sdk::tools)]
fn add(
    /// The first.
    a: i64,
) -> i64 {
    a
}

fn main() {}
