use std::sync::Arc;

use crate::call::ToolCall;
use crate::checklist::Unknown;
use crate::gate::{CallFacts, Ruling};
use crate::ledger::Verdict;
use crate::schema::Walked;
use crate::tool::{ErasedArgs, HostState, HostTool};

/// What is known of a call so far. One box of it moves through all stages; which stage's type holds
/// it says what has been done.
pub(crate) struct State {
    pub(super) call: ToolCall,
    pub(super) tool: HostTool,
    pub(super) host: HostState,
    /// The canonical text. From `accept` on.
    pub(super) walked: Walked,
    /// The values read from it. `None` for a draft.
    pub(super) args: Option<ErasedArgs>,
    pub(super) revision: u32,
    /// From `check` on.
    pub(super) unknowns: Vec<Unknown>,
    /// From `decide` on.
    pub(super) ruling: Ruling,
    pub(super) approval: Approval,
    /// From `record` on.
    pub(super) verdict: Option<Arc<Verdict>>,
}

/// What asking a person has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Approval {
    NotAsked,
    Given,
    Refused,
    Unavailable,
    Expired,
    Pending,
}

impl State {
    pub(super) fn facts(&self) -> CallFacts<'_> {
        CallFacts::new(&self.tool, &self.call.id, &self.walked.text)
    }

    /// The canonical text as it may be stored and shown.
    pub(super) fn redacted(&self) -> String {
        self.tool.built().redact(&self.walked.text)
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}
