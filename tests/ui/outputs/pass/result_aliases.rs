// A result is one by its type, however it is spelt.
use std::fmt;
use tool_runtime::{AllowAll, Harness, Registry, ToolCall, tool};

#[derive(Debug)]
struct MyError;

impl fmt::Display for MyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("mine")
    }
}

impl std::error::Error for MyError {}

type Result<T> = std::result::Result<T, MyError>;
type Nothing = Result<()>;
type Both<E, T> = std::result::Result<T, E>;

/// One parameter.
#[tool(host(inline))]
fn one() -> Result<u8> {
    Err(MyError)
}

/// No parameter.
#[tool(host(inline))]
fn none() -> Nothing {
    Err(MyError)
}

/// The other way round.
#[tool]
async fn reversed() -> Both<MyError, u8> {
    Err(MyError)
}

macro_rules! returning {
    ($ret:ty) => {
        /// A fragment.
        #[tool]
        async fn fragment() -> $ret {
            Err(MyError)
        }
    };
}
returning!(Result<Vec<u8>>);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let tools = [OneTool::host(), NoneTool::host(), ReversedTool::host(), FragmentTool::host()];
    let names: Vec<String> = tools.iter().map(|tool| tool.name().to_owned()).collect();
    let harness = Harness::new(Registry::builder().tools(tools).build().unwrap(), AllowAll);
    let calls = names.iter().map(|name| ToolCall::new("1", name.as_str(), "{}"));
    for result in harness.run(calls).await {
        assert!(result.is_error());
        assert_eq!(result.text(), "mine");
    }
}
