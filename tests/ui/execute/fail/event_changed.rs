use tool_runtime::{AllowAll, Event, Harness, Registry};

fn main() {
    let registry = Registry::builder().build().unwrap();
    let _ = Harness::new(registry, AllowAll).observer(|event: &Event| event.sequence = 0);
}
