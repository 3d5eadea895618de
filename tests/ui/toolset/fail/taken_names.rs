use tool_runtime::toolset;

struct Files;

#[toolset(prefix = "files_")]
impl Files {
    /// Lists the tools.
    #[tool]
    fn tools(&self) {}

    /// Reads a file.
    #[tool]
    fn read(&self) {}

    /// Reads a file.
    #[tool(name = "files_read")]
    fn read_all(&self) {}
}

fn main() {}
