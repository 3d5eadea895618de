use tool_runtime::path::Permit;

async fn run_twice(permit: Permit) {
    let _ = permit.execute(None).await;
    let _ = permit.execute(None).await;
}

fn main() {
    let _ = run_twice;
}
