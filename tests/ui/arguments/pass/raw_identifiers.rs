use tool_runtime::{Harness, Registry, ToolCall, tool};

/// Finds.
#[tool(host(inline, reads(r#type), writes(in)))]
fn find(
    /// What kind.
    r#type: String,
    /// Where.
    #[arg(default = 1)]
    r#in: u32,
    /// How.
    r#async: Option<bool>,
    /// Which.
    r#gen: Option<u8>,
) -> String {
    assert_eq!(r#gen, None);
    format!("{type}{in}{async:?}", r#type = r#type, r#in = r#in, r#async = r#async)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let parameters = FindTool::schema().parameters();
    assert!(!parameters.contains("r#"), "{parameters}");
    let args = FindArgs { r#type: String::new(), r#in: 1, r#async: None, r#gen: None };
    assert_eq!((args.r#type.len(), args.r#in, args.r#async), (0, 1, None));
    let harness = Harness::new(Registry::builder().tool(FindTool::host()).build().unwrap(), tool_runtime::AllowAll);
    let results = harness.run([ToolCall::new("1", "find", r#"{"type":"x"}"#), ToolCall::new("2", "find", r#"{"type":1}"#)]).await;
    assert_eq!(results[0].text(), "x1None");
    assert!(results[1].text().contains("type") && !results[1].text().contains("r#"));
}
