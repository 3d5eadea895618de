use tokio_util::sync::CancellationToken;
use tool_runtime::{CallContext, tool};

/// Wants to run on, whoever cancels it.
#[tool]
async fn unstoppable(#[host] cx: &CallContext) {
    *cx.token() = CancellationToken::new();
}

fn main() {}
