use tool_runtime::tool;

/// Opens a file.
#[tool]
fn open(
    /// Which.
    path: String,
    /// With which permissions.
    #[cfg(unix)]
    mode: u32,
) -> String {
    let _ = mode;
    path
}

fn main() {}
