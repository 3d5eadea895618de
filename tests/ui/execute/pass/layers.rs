// A layer may set another token for what it wraps, run it again, and answer in its place. It needs no other crate for that.
use tool_runtime::{AllowAll, Attempt, BoxFuture, CancellationToken, Event, Harness, Layer, Ran, Registry, ToolCall, tool};

struct Own(CancellationToken);

impl Layer for Own {
    fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let ran = attempt.run_under(&self.0).await;
            if ran.is_error() { attempt.answer("\"instead\"") } else { ran }
        })
    }
}

/// Fails.
#[tool]
async fn fails() -> Result<String, String> {
    Err("no".to_owned())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let registry = Registry::builder().tool(FailsTool::host()).build().unwrap();
    let harness = Harness::new(registry, AllowAll)
        .layer(Own(CancellationToken::new()))
        .layer(std::sync::Arc::new(Own(CancellationToken::new())))
        .observer(|event: &Event| assert!(event.sequence() < 100));
    assert_eq!(harness.run([ToolCall::new("1", "fails", "")]).await[0].text(), "instead");
}
