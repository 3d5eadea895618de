// A tool may borrow what is kept for it while it runs.
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use tool_runtime::{AllowAll, Harness, Registry, ToolCall, tool};

/// Counts.
#[tool(host(inline))]
fn count(
    /// A text.
    text: &str,
    /// Some texts.
    words: &[String],
    /// A map.
    map: &HashMap<String, u32>,
    /// A path.
    path: &PathBuf,
    /// Perhaps.
    perhaps: &Option<u32>,
) -> usize {
    let path: &Path = path;
    text.len() + words.len() + map.len() + path.as_os_str().len() + perhaps.map_or(0, |n| n as usize)
}

/// Takes the first.
#[tool]
async fn first<'a>(
    /// A text.
    text: &'a str,
    /// Another.
    #[arg(default = "b")]
    other: &'a str,
) -> Result<&'a str, String> {
    tokio::task::yield_now().await;
    Ok(if text.is_empty() { other } else { text })
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let registry = Registry::builder().tool(CountTool::host()).tool(FirstTool::host()).build().unwrap();
    let harness = Harness::new(registry, AllowAll);
    let calls = [
        ToolCall::new("1", "count", r#"{"text":"abc","words":["d"],"map":{"e":1},"path":"f","perhaps":4}"#),
        ToolCall::new("2", "first", r#"{"text":""}"#),
    ];
    let results = harness.run(calls).await;
    assert_eq!((results[0].text(), results[1].text()), ("10".to_owned(), "b".to_owned()));
}
