// A secret reaches the handler, and nobody else.
use tool_runtime::{AllowAll, Harness, Registry, Secret, ToolCall, tool, tool_type};

#[tool_type]
struct Login {
    user: String,
    password: Secret<String>,
}

/// Logs in.
#[tool(host(inline))]
fn log_in(
    /// As whom.
    login: Login,
    /// The one-time code.
    code: Secret<u32>,
) -> Login {
    assert_eq!((login.password.expose().as_str(), code.into_inner()), ("hunter2", 123_456));
    login
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let harness = Harness::new(Registry::builder().tool(LogInTool::host()).build().unwrap(), AllowAll);
    let call = ToolCall::new("1", "log_in", r#"{"login":{"user":"u","password":"hunter2"},"code":123456}"#);
    let settled = harness.run_settled([call], None).await;
    let seen = format!("{} {:?}", settled[0].result().text(), settled[0].record());
    assert!(!settled[0].result().is_error(), "{seen}");
    assert!(!seen.contains("hunter2") && !seen.contains("123456"), "{seen}");
}
