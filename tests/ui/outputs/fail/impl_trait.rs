use tool_runtime::tool;

/// Counts.
#[tool]
fn count() -> impl Iterator<Item = u32> {
    0..3
}

fn main() {}
