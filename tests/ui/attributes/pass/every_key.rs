use tool_runtime::{Card, Content, Final, StoredResult, tool};

fn project(count: &usize) -> Content {
    Content::text(format!("{count} bytes"))
}

fn finalize(args: Option<&CopyFileArgs>, last: &Final<'_>) -> Option<Content> {
    (args.is_some() && last.is_error).then(|| Content::text("not copied"))
}

fn present_call(args: &CopyFileArgs) -> Card {
    Card::new(format!("{} → {}", args.from, args.to))
}

mod cards {
    use super::*;

    pub fn present_result(args: &CopyFileArgs, result: &StoredResult) -> Card {
        Card::new(&args.to).with_body(result.content.to_text())
    }
}

fn is_safe(args: &CopyFileArgs) -> bool {
    args.to.starts_with("/tmp")
}

/// Is not what the model reads.
#[tool(
    name = "copy-file",
    description = "Copies a file.",
    defer,
    type = Copy,
    args = "CopyFileArgs",
    crate = "::tool_runtime",
    host(
        timeout = "1m30s",
        concurrency_safe = is_safe,
        reads(from),
        writes(to, r#in),
        project = project,
        finalize = finalize,
        present_call = self::present_call,
        present_result = cards::present_result,
        read_only = false,
        destructive,
        idempotent = true,
        deterministic,
        changes("file.created", "file.replaced"),
        causes,
    ),
)]
async fn copy(
    /// From where.
    #[arg(path, example = "/a", example = "/b")]
    from: String,
    /// To where.
    #[arg(path, rename = "target", alias = "to", alias = "destination")]
    to: String,
    /// In which directory.
    #[arg(default = ".", length = 1..=80, pattern = "^.*$", authored)]
    r#in: String,
    /// How much.
    #[arg(default, range = 0..)]
    limit: u32,
) -> Result<usize, std::io::Error> {
    Ok(from.len() + to.len() + r#in.len() + limit as usize)
}

fn main() {
    let schema = Copy::schema();
    assert_eq!((schema.name(), schema.description(), schema.defer()), ("copy-file", "Copies a file.", true));
    assert!(schema.parameters().contains(r#""target":{"#), "{}", schema.parameters());
    let tool = Copy::host();
    assert_eq!(tool.timeout(), Some(std::time::Duration::from_secs(90)));
    assert!(tool.changes().eq(["file.created", "file.replaced"]));
    assert!(tool.hints().destructive && !tool.hints().read_only && tool.hints().idempotent);
}
