use serde::Serialize;
use tool_runtime::ModelFacing;

#[derive(Serialize)]
struct Audit {
    rule: String,
}

impl ModelFacing for Audit {}

fn main() {
    let _ = |audit: Audit| audit.rule;
}
