// What is forbidden isn't allowed by what is generated, and what the author allows is allowed there too.
#![forbid(unsafe_code, missing_docs, dead_code, unreachable_pub, missing_debug_implementations)]
//! A crate with stricter lints.

/// Where nothing may be deprecated.
#[forbid(deprecated)]
pub mod current {
    use tool_runtime::{tool, toolset};

    /// Pings.
    #[tool]
    pub fn ping(
        /// Whom.
        #[arg(default)]
        name: String,
    ) -> String {
        name
    }

    /// Files.
    #[derive(Debug)]
    pub struct Files;

    #[toolset]
    impl Files {
        /// Reads.
        #[tool]
        pub fn read(&self) {}
    }
}

/// Where something is.
#[deny(deprecated)]
pub mod old {
    use tool_runtime::{tool, toolset};

    /// Files as they were.
    #[deprecated]
    #[derive(Debug, Clone)]
    pub struct Files;

    #[allow(deprecated)]
    #[toolset]
    impl Files {
        /// Copies.
        #[tool]
        pub fn copy(&self, #[host] to: &Files) {
            let _ = to;
        }
    }

    /// Lists.
    #[tool]
    #[allow(deprecated)]
    pub fn list(#[host] files: Files) {
        let _ = files;
    }

    /// Goes.
    #[deprecated]
    #[tool]
    pub fn go() {}
}

#[allow(deprecated)]
fn main() {
    let _ = (current::PingTool::host(), std::sync::Arc::new(current::Files).tools());
    let _ = (old::ListTool::host(), old::GoTool::host(), std::sync::Arc::new(old::Files).tools());
}
