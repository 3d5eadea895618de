use std::rc::Rc;
use tool_runtime::tool;

async fn pause() {}

/// Counts.
#[tool]
async fn count() -> u32 {
    let count = Rc::new(1);
    pause().await;
    *count
}

fn main() {}
