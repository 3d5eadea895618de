use tool_runtime::{tool, tool_type};

#[tool_type]
struct Query {
    text: String,
}

/// Looks something up.
#[tool]
fn look_up(
    #[args] query: Query,
    /// How many.
    limit: u32,
    #[args] more: Query,
) -> String {
    let _ = limit;
    query.text + &more.text
}

fn main() {}
