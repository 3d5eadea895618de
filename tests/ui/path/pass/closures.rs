// What a host implements can be a closure.
use tool_runtime::path::Reviewed;
use tool_runtime::{
    Answer, BoxFuture, CallFacts, Decision, Harness, Policies, QuestionSet, Registry, StoredResult, ToolCall, tool,
};

/// Deletes a file.
#[tool(host(inline, destructive))]
fn delete(
    /// Which.
    #[arg(path)]
    path: String,
) -> String {
    path
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let registry = Registry::builder().tool(DeleteTool::host()).build().unwrap();
    let harness = Harness::new(
        registry,
        Policies::new().and(|call: &CallFacts<'_>| {
            if call.hints().destructive {
                Decision::ask("it can't be brought back")
            } else {
                Decision::Allow
            }
        }),
    )
    .guard(|call: &CallFacts<'_>| call.arguments().as_str().contains("/etc").then(|| "not there".into()))
    .approver(|set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(async move { vec![Answer::Yes; set.questions.len()] })
    })
    .review(|_: &StoredResult| Reviewed::Accept);
    let call = |path: &str| ToolCall::new("c", "delete", format!(r#"{{"path": "{path}"}}"#));
    let results = harness.run([call("/tmp/a"), call("/etc/passwd")]).await;
    assert!(!results[0].is_error() && results[1].is_error());
}
