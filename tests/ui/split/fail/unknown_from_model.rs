// A model reports `Found` or `NoResult`; that a slot is unknown, only the host finds out.
use tool_runtime::{Report, Unknown, tool};

/// Takes down what is missing.
#[tool]
fn missing(
    /// What is missing.
    slot: Unknown,
) {
    let _ = slot;
}

fn main() {
    let _ = Report::Unknown;
}
