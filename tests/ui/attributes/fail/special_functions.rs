use tool_runtime::tool;

/// Reads memory.
#[tool]
unsafe fn peek() {}

/// Is called from C.
#[tool]
extern "C" fn entry() {}

fn main() {}
