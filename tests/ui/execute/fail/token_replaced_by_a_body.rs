use tokio_util::sync::CancellationToken;
use tool_runtime::{CallContext, tool};

/// Takes more time than it was given.
#[tool]
async fn stubborn(#[host] cx: &CallContext) -> String {
    *cx.token() = CancellationToken::new();
    String::new()
}

fn main() {}
