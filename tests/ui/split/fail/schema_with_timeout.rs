use std::time::Duration;
use tool_runtime::ToolSchema;

fn main() {
    let _ = ToolSchema {
        timeout: Duration::from_secs(5),
    };
}
