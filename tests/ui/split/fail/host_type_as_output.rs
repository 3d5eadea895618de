use tool_runtime::{CallContext, tool};

/// Tells about the call.
#[tool]
fn who_am_i(#[host] cx: &CallContext) -> CallContext {
    cx.clone()
}

fn main() {}
