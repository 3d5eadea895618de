use tool_runtime::AllowAll;
use tool_runtime::path::Proposed;

fn decide(proposed: Proposed) {
    let _ = proposed.decide(&AllowAll, &[]);
}

fn main() {
    let _ = decide;
}
