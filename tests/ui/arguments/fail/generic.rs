use tool_runtime::tool;

/// Echoes.
#[tool]
fn echo<T, const N: usize>(
    /// What.
    values: [T; N],
) -> usize {
    values.len()
}

fn main() {}
