use tool_runtime::toolset;

trait Store {
    fn get(&self);
}

struct Files;

#[toolset]
impl Store for Files {
    /// Reads a file.
    #[tool]
    fn get(&self) {}
}

fn main() {}
