use tool_runtime::toolset;

struct Files;

#[toolset]
impl Files {
    /// Closes the files.
    #[tool]
    fn close(self) {}

    /// Writes a file.
    #[tool]
    fn write(&mut self) {}

    /// Reads a file.
    #[tool]
    fn read(self: &mut Self) {}
}

fn main() {}
