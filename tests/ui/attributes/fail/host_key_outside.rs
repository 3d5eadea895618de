use tool_runtime::tool;

/// Looks something up.
#[tool(timeout = "5s", read_only, writes(key))]
fn look_up(
    /// What to look for.
    key: String,
) -> String {
    key
}

fn main() {}
