use std::sync::Arc;

use tool_runtime::{CheckedCall, Checklist};

struct Customers;

fn main() {
    let _ = Checklist::builder().condition("open", |_: CheckedCall| true);
    let _ = Checklist::builder().state("balance", 100);
    let _ = Checklist::builder().source(Arc::new(Customers));
    let _ = Checklist::builder().memory(Arc::new(Customers));
}
