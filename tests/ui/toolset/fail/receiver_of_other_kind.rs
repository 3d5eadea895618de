use std::rc::Rc;
use tool_runtime::toolset;

struct Files;

#[toolset]
impl Files {
    /// Reads a file.
    #[tool]
    fn read(self: Rc<Self>) {}

    /// Writes a file.
    #[tool]
    fn write(self: Box<Self>) {}
}

fn main() {}
