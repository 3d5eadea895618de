use tool_runtime::{AllowAll, Harness, Registry};

struct Timer;

fn main() {
    let registry = Registry::builder().build().unwrap();
    let _ = Harness::new(registry, AllowAll).layer(Timer);
}
