// A call that is looked at is used up: what runs is what was judged.
use tool_runtime::Checklist;
use tool_runtime::path::{Accepted, Checked};

async fn check_twice(accepted: Accepted) -> [Checked; 2] {
    let checklist = Checklist::new();
    [accepted.check(&checklist).await, accepted.check(&checklist).await]
}

fn main() {
    let _ = check_twice;
}
