use tool_runtime::tool;

/// Looks something up.
#[tool(nmae = "search", host(timout = "5s", retries = 3))]
fn look_up(
    /// How many.
    #[arg(defualt)]
    count: u32,
) -> u32 {
    count
}

fn main() {}
