use tool_runtime::tool;

struct Counter(u32);

/// Counts one up.
#[tool]
fn count(
    #[host] counter: &mut Counter,
    #[host] all: Vec<&Counter>,
    #[host] any: &impl Send,
) -> u32 {
    let _ = (all, any);
    counter.0 += 1;
    counter.0
}

fn main() {}
