//! Which tool does the model mean?

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ending::{End, Ending};
use super::state::State;
use crate::call::{Code, ToolCall};
use crate::registry::Registry;
use crate::schema::text;
use crate::tool::{HostTool, Lineage};

/// A call of a known tool, with the definition that it will be judged by.
#[derive(Debug)]
#[must_use = "a call that isn't settled leaves the model without a result"]
pub struct Proposed(pub(super) Box<State>);

impl Proposed {
    /// Says that a tool has made the call.
    pub(crate) fn made_by(mut self, lineage: Arc<Lineage>) -> Self {
        self.0.lineage = Some(lineage);
        self
    }

    /// The call as the model wrote it.
    pub fn call(&self) -> &ToolCall {
        &self.0.call
    }

    /// The tool that it names.
    pub fn tool(&self) -> &HostTool {
        self.0.tool()
    }
}

/// Which deferred tools a conversation has loaded. Others are refused, not only hidden.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loaded(BTreeSet<String>);

impl Loaded {
    /// None.
    pub fn new() -> Self {
        Loaded::default()
    }

    /// Loads a tool.
    pub fn load(&mut self, name: impl Into<String>) {
        self.0.insert(name.into());
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

impl Registry {
    /// Finds the tool of a call. Names are compared byte for byte: what looks like a tool's name
    /// isn't one.
    ///
    /// # Errors
    /// `unknown_tool` and `not_loaded`.
    pub fn resolve(&self, call: ToolCall, loaded: &Loaded) -> Result<Proposed, Ending> {
        let Some(tool) = self.get(&call.name) else {
            return Err(self.unknown(call));
        };
        let loadable = !tool.schema().defer() || loaded.has(tool.name());
        let state = Box::new(State::new(call, Some(tool.clone()), self.state().clone()));
        if !loadable {
            let said = format!("`{}` is not loaded yet, and it did not run. Search for it first.", tool.name());
            return Err(Ending::of(state, End::new(Code::NotLoaded, said)));
        }
        Ok(Proposed(state))
    }

    #[cold]
    fn unknown(&self, call: ToolCall) -> Ending {
        let name = text::shown(&call.name, 80);
        let said = match self.nearest(&call.name) {
            Some(nearest) => format!("There is no tool named `{name}`; did you mean `{nearest}`? Nothing was run."),
            None => format!(
                "There is no tool named `{name}`, and nothing was run. Call one of the tools that you were given."
            ),
        };
        Ending::of(Box::new(State::new(call, None, self.state().clone())), End::new(Code::UnknownTool, said))
    }
}
