use std::rc::Rc;
use tool_runtime::tool;

struct Cache;

/// Counts what is cached.
#[tool]
fn cached(#[host] cache: &Rc<Cache>) -> u32 {
    Rc::strong_count(cache) as u32
}

fn main() {}
