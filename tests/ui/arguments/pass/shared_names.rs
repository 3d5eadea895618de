use tool_runtime::tool;

/// Reads a file.
#[tool]
fn read(
    /// Which.
    path: String,
    /// How much.
    limit: Option<u32>,
) -> String {
    format!("{path}{limit:?}")
}

/// Writes a file.
#[tool]
fn write(
    /// Which.
    path: String,
    /// What.
    limit: String,
) -> usize {
    path.len() + limit.len()
}

fn main() {
    let _ = ReadArgs { path: String::new(), limit: None }.limit;
    let _ = WriteArgs { path: String::new(), limit: String::new() }.limit;
    let _ = (ReadTool::host(), WriteTool::host());
}
