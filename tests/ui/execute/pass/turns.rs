// A turn can be cancelled from anywhere, and has its results however it ends.
use tool_runtime::{AllowAll, CallContext, Harness, Registry, ToolCall, tool};

/// Calls another tool.
#[tool(host(concurrency_safe))]
async fn outer(#[host] cx: CallContext) -> Result<String, tool_runtime::SubCallError> {
    cx.progress("half way", 0.5);
    cx.aside("by the way");
    cx.call("inner", r#"{"n": 1}"#).await
}

/// Is called.
#[tool(host(concurrency_safe))]
async fn inner(
    /// A number.
    n: u8,
    #[host] cx: &CallContext,
) -> Result<u8, tool_runtime::CardDataError> {
    cx.card_data(&n)?;
    Ok(n + 1)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let registry = Registry::builder().tools([OuterTool::host(), InnerTool::host()]).build().unwrap();
    let harness = Harness::new(registry, AllowAll);
    let mut turn = harness.turn([ToolCall::new("1", "outer", ""), ToolCall::new("2", "inner", r#"{"n": 7}"#)]);
    turn.run().await;
    let results = turn.results();
    assert_eq!((results[0].text().as_str(), results[1].text().as_str()), ("2", "8"));
    let mut turn = harness.turn([ToolCall::new("1", "outer", "")]);
    turn.token().cancel();
    turn.run().await;
    assert!(turn.results()[0].is_error());
    assert_eq!(harness.turn([ToolCall::new("1", "outer", "")]).results().len(), 1);
}
