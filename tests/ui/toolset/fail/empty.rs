use tool_runtime::toolset;

struct Files;

#[toolset]
impl Files {
    /// Reads a file.
    pub fn read(&self) {}
}

fn main() {
    let _ = std::sync::Arc::new(Files).tools();
}
