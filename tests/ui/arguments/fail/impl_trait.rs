use tool_runtime::tool;

/// Greets.
#[tool]
fn greet(
    /// Whom.
    name: impl Into<String>,
) -> String {
    name.into()
}

fn main() {}
