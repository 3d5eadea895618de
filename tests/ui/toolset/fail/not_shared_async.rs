use std::cell::Cell;
use tool_runtime::toolset;

struct Counter {
    count: Cell<u32>,
}

#[toolset]
impl Counter {
    /// Counts one up.
    #[tool]
    async fn increment(&self) -> u32 {
        self.count.replace(self.count.get() + 1)
    }
}

fn main() {}
