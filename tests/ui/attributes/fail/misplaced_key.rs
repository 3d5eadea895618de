use tool_runtime::tool;

/// Looks something up.
#[tool(range = 1..=10, host(secret))]
fn look_up(
    /// How many.
    #[arg(timeout = "5s", description = "How many", host)]
    count: u32,
) -> u32 {
    count
}

fn main() {}
