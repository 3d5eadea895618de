// What is a future's own business compiles as it does without us.
use futures_util::{StreamExt as _, stream};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use tool_runtime::tool;

/// Sums up.
#[tool]
async fn total(
    /// What.
    xs: Vec<u32>,
) -> u32 {
    stream::iter(xs).map(|x| async move { x }).buffered(4).fold(0, |a, x| async move { a + x }).await
}

/// Uses what can't be sent, but not across an await.
#[tool]
async fn rc() -> u32 {
    let n = {
        let rc = Rc::new(1);
        *rc
    };
    tokio::task::yield_now().await;
    n
}

/// Holds a lock, but not across an await.
#[tool]
async fn lock(#[host] count: Arc<Mutex<u32>>) -> u32 {
    {
        *count.lock().unwrap() += 1;
    }
    tokio::task::yield_now().await;
    *count.lock().unwrap()
}

/// Is sync: what it uses stays where it is.
#[tool]
fn local() -> u32 {
    *Rc::new(1)
}

/// Recurses.
#[tool]
async fn countdown(
    /// From where.
    n: u32,
) -> u32 {
    if n == 0 { 0 } else { Box::pin(countdown(n - 1)).await }
}

fn main() {
    let _ = [TotalTool::host, RcTool::host, LockTool::host, LocalTool::host, CountdownTool::host];
}
