use tool_runtime::tool;

/// Does nothing.
#[tool]
fn nothing(
    /// The first.
    __: u8,
    /// The second.
    #[arg(rename = "")]
    second: u8,
) -> u8 {
    second
}

fn main() {}
