use tool_runtime::tool;

const MOST: u32 = 100;

/// Lists things.
#[tool]
fn list(
    /// Which page.
    #[arg(range = 10..=1)]
    page: u32,
    /// How many.
    #[arg(range = 1..=MOST)]
    limit: u32,
    /// Of which name.
    #[arg(length = -1..=80, pattern = "")]
    name: String,
    /// Of which kind.
    #[arg(length = .., format = "")]
    kind: String,
) -> String {
    format!("{page}{limit}{name}{kind}")
}

fn main() {}
