use tool_runtime::path::Accepted;

async fn run(accepted: Accepted) {
    let _ = accepted.execute(None).await;
}

fn main() {
    let _ = run;
}
