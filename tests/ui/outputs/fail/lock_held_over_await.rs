use std::sync::{Arc, Mutex};
use tool_runtime::toolset;

#[derive(Default)]
struct Counter {
    count: Mutex<u32>,
}

async fn pause() {}

#[toolset]
impl Counter {
    /// Counts one up.
    #[tool]
    async fn increment(self: Arc<Self>) -> u32 {
        let mut count = self.count.lock().unwrap();
        pause().await;
        *count += 1;
        *count
    }
}

fn main() {}
