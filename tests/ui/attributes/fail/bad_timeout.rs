use tool_runtime::tool;

/// Has a number without a unit.
#[tool(host(timeout = "5"))]
async fn unit() {}

/// Has a number without quotes.
#[tool(host(timeout = 5))]
async fn number() {}

/// Ends before it begins.
#[tool(host(timeout = "0s"))]
async fn zero() {}

fn main() {}
