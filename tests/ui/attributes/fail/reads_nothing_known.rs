use tool_runtime::{CallContext, tool};

/// Copies a file.
#[tool(host(reads(form), writes(cx)))]
fn copy(
    /// From where.
    #[arg(path)]
    from: String,
    /// To where.
    #[arg(path)]
    to: String,
    #[host] cx: &CallContext,
) {
    let _ = (from, to, cx);
}

fn main() {}
