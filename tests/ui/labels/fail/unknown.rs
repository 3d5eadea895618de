use tool_runtime::tool;

/// Books a flight.
///
/// [todo] Say more.
#[tool]
fn book() {}

fn main() {}
