mod tools {
    use tool_runtime::{tool, toolset};

    /// Is for everybody.
    #[tool]
    pub fn open(
        /// Which.
        name: String,
    ) -> String {
        name
    }

    /// Is for this crate.
    #[tool]
    pub(crate) fn inner() {}

    /// Is for the parent.
    #[tool]
    pub(in crate::tools) fn own() {}

    pub struct Files;

    #[toolset]
    impl Files {
        /// Reads.
        #[tool]
        fn read(&self) {}

        /// Lists.
        #[tool]
        pub(super) fn list(
            &self,
            /// Which.
            path: String,
        ) -> String {
            path
        }
    }

    pub fn own_tool() -> tool_runtime::HostTool {
        own();
        OwnTool::host()
    }
}

fn main() {
    let args = tools::OpenArgs { name: "a".to_owned() };
    let _ = (args.name, tools::OpenTool::host(), tools::InnerTool::host(), tools::own_tool());
    let _ = std::sync::Arc::new(tools::Files).tools();
    let _ = tools::FilesListArgs { path: String::new() }.path;
}
