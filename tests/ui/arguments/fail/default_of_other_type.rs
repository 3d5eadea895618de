use tool_runtime::tool;

/// Lists things.
#[tool]
fn list(
    /// How many.
    #[arg(default = "ten")]
    limit: u32,
    /// In which order.
    #[arg(default = 1)]
    order: String,
) -> String {
    format!("{limit}{order}")
}

fn main() {}
