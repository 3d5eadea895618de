use tool_runtime::{tool, toolset};

macro_rules! tools {
    ($($name:ident)*) => { $(
        /// Does something.
        #[tool]
        fn $name(&self) {}
    )* };
}

struct Files;

#[toolset]
impl Files {
    tools!(read);
}

fn main() {}
