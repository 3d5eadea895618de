use tool_runtime::{Content, Final, tool};

fn project(count: &str) -> Content {
    Content::text(count)
}

fn present(args: &CountArgs) -> usize {
    args.word.len()
}

fn finalize(last: &Final<'_>) -> Option<Content> {
    Some(last.content.clone())
}

fn is_safe(args: CountArgs) -> bool {
    args.word.is_empty()
}

/// Counts letters.
#[tool(host(
    project = project,
    present_call = present,
    present_result = missing,
    finalize = finalize,
    concurrency_safe = is_safe,
))]
fn count(
    /// The word.
    word: String,
) -> u32 {
    word.len() as u32
}

fn main() {}
