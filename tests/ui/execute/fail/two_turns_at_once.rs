use tool_runtime::{AllowAll, Harness, Registry, ToolCall};

async fn twice(harness: &Harness) {
    let mut turn = harness.turn([ToolCall::new("1", "a", "")]);
    let (first, second) = (turn.run(), turn.run());
    first.await;
    second.await;
}

fn main() {
    let _ = twice(&Harness::new(Registry::builder().build().unwrap(), AllowAll));
}
