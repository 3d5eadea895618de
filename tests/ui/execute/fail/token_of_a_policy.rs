use tool_runtime::{CallFacts, Decision};

fn policy(call: &CallFacts<'_>) -> Decision {
    call.token().cancel();
    Decision::Allow
}

fn main() {
    let _ = policy;
}
