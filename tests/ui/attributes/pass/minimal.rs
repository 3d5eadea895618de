// A doc comment is all that a tool has to have. The function stays what it was.
use tool_runtime::tool;

/// Tells the time.
#[tool]
fn now() -> u64 {
    0
}

/// Adds.
#[tool]
const fn add(
    /// The first.
    a: u8,
) -> u8 {
    a + 1
}

/// Says nothing.
#[tool(host())]
async fn quiet() {}

const THREE: u8 = add(2);

fn main() {
    assert_eq!((now(), THREE), (0, 3));
    let _ = quiet();
    assert_eq!(NowTool::schema().parameters(), r#"{"type":"object","properties":{},"additionalProperties":false}"#);
    assert!(AddTool::host().output_schema().contains("integer"));
    let _ = QuietTool::host();
}
