use std::sync::Arc;
use tool_runtime::{AllowAll, CallContext, Card, Harness, Registry, ToolCall, tool, toolset};

struct Files {
    root: String,
}

type Shared<T> = Arc<T>;

#[toolset(prefix = "files_")]
impl Files {
    /// Reads.
    #[tool(host(present_call = Self::present))]
    async fn read(
        &self,
        /// Which.
        #[arg(path, default = Self::ROOT.to_owned())]
        path: String,
        #[host] cx: &CallContext,
    ) -> Result<String, std::io::Error> {
        let _ = cx;
        Ok(self.root.clone() + &path)
    }

    /// Lists.
    #[tool(host(inline))]
    fn list(self: Arc<Self>) -> usize {
        self.root.len()
    }

    /// Watches.
    #[tool]
    async fn watch(self: Shared<Self>) -> usize {
        self.root.len()
    }

    /// Looks.
    #[tool]
    fn look(self: &Self) {}

    /// Looks at what is shared.
    #[tool]
    fn count(self: &Arc<Self>) -> usize {
        Arc::strong_count(self)
    }

    /// Needs none.
    #[tool(name = "help")]
    fn explain() -> &'static str {
        "files"
    }

    /// Is no tool.
    fn present(args: &FilesReadArgs) -> Card {
        Card::new(&args.path)
    }

    const ROOT: &'static str = "/";
}

// A second impl has tools of its own, in a module of its own.
mod other {
    use super::*;

    pub struct Other;

    #[toolset]
    impl Other {
        /// Reads.
        #[tool(type = ReadIt)]
        pub fn read(&self) {}
    }
}

/// Beside a function of the same name.
#[tool]
fn read() {}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let files = Arc::new(Files { root: "/r".to_owned() });
    let tools = Arc::clone(&files).tools();
    let names: Vec<_> = tools.iter().map(|tool| tool.name()).collect();
    assert_eq!(names, ["files_read", "files_list", "files_watch", "files_look", "files_count", "help"]);
    let registry = Registry::builder()
        .tools(tools)
        .tools([ReadTool::host()])
        .tool(other::ReadIt::host(Arc::new(other::Other)).with_timeout(std::time::Duration::from_secs(1)));
    // Two tools are named `read`.
    assert!(registry.build().is_err());
    let registry = Registry::builder().tools(files.tools()).build().unwrap();
    let results = Harness::new(registry, AllowAll).run([ToolCall::new("1", "files_read", "{}")]).await;
    assert_eq!(results[0].text(), "/r/");
}
