use tool_runtime::path::Draft;

async fn run(draft: Draft) {
    let _ = draft.execute(None).await;
}

fn permit(draft: Draft) {
    let _ = draft.permit();
}

fn main() {
    let _ = (run, permit);
}
