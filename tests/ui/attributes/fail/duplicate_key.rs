use tool_runtime::tool;

/// Looks something up.
#[tool(name = "a", host(read_only), name = "b", host(timeout = "5s", timeout = "6s"))]
fn look_up(
    /// How many.
    #[arg(default = 1)]
    #[arg(default = 2)]
    count: u32,
) -> u32 {
    count
}

fn main() {}
