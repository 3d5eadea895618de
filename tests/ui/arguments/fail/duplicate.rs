use tool_runtime::tool;

/// Moves a file.
#[tool]
fn rename(
    /// From where.
    from: String,
    /// To where.
    #[arg(rename = "from")]
    to: String,
    /// How often.
    #[arg(alias = "from")]
    times: u32,
    /// Whether it is tried only.
    _times: bool,
) -> String {
    format!("{from}{to}{times}")
}

fn main() {}
