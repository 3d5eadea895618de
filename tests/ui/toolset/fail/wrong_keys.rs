use tool_runtime::toolset;

struct Files;

#[toolset(prefx = "files_", timeout = "5s")]
impl Files {
    /// Reads a file.
    #[tool]
    fn read(&self) {}
}

fn main() {}
