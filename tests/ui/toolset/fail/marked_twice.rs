use tool_runtime::toolset;

struct Files;

#[toolset]
impl Files {
    /// Reads a file.
    #[tool]
    #[cfg_attr(unix, tool)]
    fn read(&self) {}
}

fn main() {}
