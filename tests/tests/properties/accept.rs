//! One call through the stages, up to its canonical text.

use tool_runtime::path::{Acceptance, Loaded, Proposed};
use tool_runtime::{AllowAll, Harness, HostTool, MemoryLedger, RawArguments, Registry, RegistryError, ToolCall};

use crate::zoo::Seen;

/// Tools, and what their bodies have seen.
#[derive(Debug)]
pub(crate) struct Accept {
    registry: Registry,
    pub(crate) harness: Harness,
    pub(crate) seen: Seen,
    runtime: tokio::runtime::Runtime,
}

impl Accept {
    pub(crate) fn new(tools: Vec<HostTool>) -> Self {
        Self::try_new(tools).expect("the zoo can be registered")
    }

    pub(crate) fn try_new(tools: Vec<HostTool>) -> Result<Self, RegistryError> {
        let seen = Seen::default();
        let registry = Registry::builder().tools(tools).state(seen.clone()).build()?;
        Ok(Accept {
            harness: Harness::new(registry.clone(), AllowAll),
            registry,
            seen,
            runtime: tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime"),
        })
    }

    pub(crate) fn tools(&self) -> Vec<HostTool> {
        self.registry.iter().cloned().collect()
    }

    /// The canonical text, or what the model reads of the refusal.
    pub(crate) fn accept(&self, tool: &str, arguments: impl Into<RawArguments>) -> Result<String, String> {
        let call = ToolCall::new("call", tool, arguments);
        match self.registry.resolve(call, &Loaded::new()).and_then(Proposed::accept) {
            Ok(Acceptance::Accepted(accepted)) => Ok(accepted.arguments().as_str().to_owned()),
            Ok(Acceptance::Draft(draft)) => panic!("nothing was reported as not found: {draft:?}"),
            Err(ending) => {
                let settled = self.runtime.block_on(ending.settle(&MemoryLedger::default(), 10_000));
                Err(settled.result().text())
            }
        }
    }

    pub(crate) fn run(&self, calls: Vec<ToolCall>) -> Vec<tool_runtime::path::Settled> {
        self.runtime.block_on(self.harness.run_settled(calls, None))
    }
}
