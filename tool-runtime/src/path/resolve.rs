//! Which tool does the model mean?

use std::sync::Arc;

use super::ending::{End, Ending};
use super::state::State;
use crate::call::{Code, Place, ToolCall};
use crate::registry::{Loaded, Registry};
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

impl Registry {
    /// Finds the tool of a call. Names are compared byte for byte: what looks like a tool's name
    /// isn't one.
    ///
    /// # Errors
    /// `unknown_tool` and `not_loaded`.
    pub fn resolve(&self, call: ToolCall, loaded: &Loaded) -> Result<Proposed, Ending> {
        self.resolve_at(Place::new(None), call, loaded)
    }

    /// As [`resolve`](Self::resolve), of a call that has a place already.
    pub(crate) fn resolve_at(&self, place: Place, call: ToolCall, loaded: &Loaded) -> Result<Proposed, Ending> {
        let Some(entry) = self.entry(&call.name) else {
            return Err(self.unknown(place, call, loaded));
        };
        let tool = &entry.tool;
        let loadable = !tool.schema().defer() || loaded.is_loaded(tool.name());
        let state = Box::new(State::new(place, call, Some(tool.clone()), self.state_of(entry, loaded)));
        if !loadable {
            let with = match self.get(Registry::SEARCH_TOOL) {
                Some(search) => format!(" with `{}`", search.name()),
                None => String::new(),
            };
            let said = format!("`{}` is not loaded yet, and it did not run. Search for it{with} first.", tool.name());
            return Err(Ending::of(state, End::new(Code::NotLoaded, said)));
        }
        Ok(Proposed(state))
    }

    #[cold]
    fn unknown(&self, place: Place, call: ToolCall, loaded: &Loaded) -> Ending {
        let name = text::shown(&call.name, 80);
        let said = match self.nearest(&call.name, loaded) {
            Some(nearest) => format!("There is no tool named `{name}`; did you mean `{nearest}`? Nothing was run."),
            None => format!(
                "There is no tool named `{name}`, and nothing was run. Call one of the tools that you were given."
            ),
        };
        Ending::of(Box::new(State::new(place, call, None, self.state().clone())), End::new(Code::UnknownTool, said))
    }
}
