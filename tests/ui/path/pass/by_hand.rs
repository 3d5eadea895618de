// Each stage takes the one before it.
use std::sync::Arc;

use tool_runtime::path::{Acceptance, Asked, Asking, Loaded, ask::ask};
use tool_runtime::{AllowAll, Checklist, MemoryLedger, Registry, ToolCall, tool};

/// Adds.
#[tool(host(inline))]
fn add(
    /// The first.
    a: i64,
    /// The second.
    b: i64,
) -> i64 {
    a + b
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let registry = Registry::builder().tool(AddTool::host()).build().unwrap();
    let ledger = Arc::new(MemoryLedger::default());
    let call = ToolCall::new("c1", "add", r#"{"a": 1, "b": 2}"#);

    let proposed = registry.resolve(call, &Loaded::new()).unwrap();
    let Acceptance::Accepted(accepted) = proposed.accept().unwrap() else {
        unreachable!("nothing is missing");
    };
    assert_eq!(accepted.arguments().as_str(), r#"{"a":1,"b":2}"#);
    let decided = accepted.check(&Checklist::new()).await.decide(&AllowAll, &[]);
    assert!(!decided.has_to_ask());
    let asking = Asking::new(&AllowAll, &[], ledger.clone());
    let Some(Asked::Decided(decided)) = ask(vec![decided], asking).await.pop() else {
        unreachable!("there was nothing to ask");
    };
    let permit = decided.record(&ledger).await.unwrap().permit().unwrap();
    let ending: tool_runtime::path::Ending = permit.execute(None).await.into();
    let settled = ending.settle(&ledger, 1_000).await;
    assert_eq!(settled.into_result().text(), "3");
}
