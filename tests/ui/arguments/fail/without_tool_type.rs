use std::collections::HashMap;
use tool_runtime::tool;

#[derive(Debug, Clone)]
struct Filter {
    limit: u32,
}

/// Looks something up.
#[tool]
fn look_up(
    /// By what.
    filters: HashMap<u32, Vec<Filter>>,
) -> u32 {
    filters.values().flatten().map(|filter| filter.limit).sum()
}

fn main() {}
