use std::error::Error;
use tool_runtime::tool;

/// Looks up the weather.
#[tool]
async fn weather() -> Result<f64, Box<dyn Error>> {
    Err("no such city".into())
}

fn main() {}
