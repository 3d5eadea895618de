use tool_runtime::tool;

struct Files;

impl Files {
    /// Reads a file.
    #[tool]
    fn read(&self) {}
}

fn main() {}
