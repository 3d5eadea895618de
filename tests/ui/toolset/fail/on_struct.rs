use tool_runtime::toolset;

#[toolset]
struct Files;

fn main() {}
