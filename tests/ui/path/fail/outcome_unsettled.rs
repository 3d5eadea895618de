// Every call gets one result, so one that is dropped on its way is worth a word.
#![deny(unused_must_use)]

use tool_runtime::path::Permit;

async fn run(permit: Permit) {
    permit.execute(None).await;
}

fn main() {
    let _ = run;
}
