#![allow(unexpected_cfgs)]

use std::sync::Arc;
use tool_runtime::{HostTool, toolset};

struct Files;

#[toolset]
impl Files {
    /// Is hidden.
    #[cfg(nope)]
    #[tool]
    fn hidden(
        &self,
        /// Nothing.
        missing: Missing,
    ) {
    }

    /// Is hidden.
    #[tool]
    #[cfg(nope)]
    fn hidden_below(
        &self,
        /// Nothing.
        missing: Missing,
    ) {
    }

    /// Is there.
    #[cfg_attr(not(nope), tool, inline)]
    fn shown(&self) {}

    /// Is a plain method.
    #[cfg_attr(nope, tool)]
    fn plain(&self) {}

    /// Exists once.
    #[tool(name = "open")]
    #[cfg(unix)]
    fn open(&self) {}

    /// Exists once.
    #[tool(name = "open")]
    #[cfg(not(unix))]
    fn open(&self) {}
}

#[toolset]
#[cfg(nope)]
impl Missing {
    /// Is hidden.
    #[tool]
    fn hidden(&self) {}
}

fn main() {
    Files.plain();
    let tools = Arc::new(Files).tools();
    assert!(tools.iter().map(HostTool::name).eq(["shown", "open"]));
}
