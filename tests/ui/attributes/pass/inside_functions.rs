use tool_runtime::{HostTool, tool, tool_type, toolset};

fn tools() -> Vec<HostTool> {
    #[tool_type]
    struct Word {
        text: String,
        #[arg(default = 3)]
        count: u8,
    }

    /// Repeats.
    #[tool]
    fn repeat(
        /// What.
        word: Word,
    ) -> String {
        word.text.repeat(usize::from(word.count))
    }

    struct Files;

    #[toolset]
    impl Files {
        /// Reads.
        #[tool]
        fn read(&self) {}
    }

    let mut tools = std::sync::Arc::new(Files).tools();
    tools.push(RepeatTool::host());
    tools.push({
        /// Repeats otherwise.
        #[tool(name = "again")]
        fn repeat() {}
        RepeatTool::host()
    });
    tools
}

fn main() {
    assert!(tools().iter().map(HostTool::name).eq(["read", "repeat", "again"]));
}
