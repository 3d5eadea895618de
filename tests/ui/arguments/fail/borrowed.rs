use std::borrow::Cow;
use tool_runtime::tool;

/// Joins names.
#[tool]
fn join(
    /// The first.
    first: Option<&str>,
    /// The last.
    last: Cow<'_, str>,
    /// Those between.
    between: &mut Vec<String>,
    /// What goes between.
    separator: &'static str,
) -> String {
    format!("{first:?}{last}{between:?}{separator}")
}

fn main() {}
