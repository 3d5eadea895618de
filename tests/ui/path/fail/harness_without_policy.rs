use tool_runtime::{Harness, Registry};

fn main() {
    let registry = Registry::builder().build().unwrap();
    let _ = Harness::new(registry);
}
