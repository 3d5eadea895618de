use std::sync::Arc;
use std::time::Duration;

use super::state::State;
use crate::call::{Code, Content, ToolCall};
use crate::ledger::Verdict;
use crate::tool::{ErasedArgs, HostTool};

/// How a call ended, at whatever stage. Every ending settles the same way.
#[derive(Debug)]
#[must_use = "a call that isn't settled leaves the model without a result"]
pub struct Ending(pub(super) Box<Ended>);

#[derive(Debug)]
pub(super) struct Ended {
    pub(super) call: ToolCall,
    pub(super) tool: Option<HostTool>,
    pub(super) args: Option<ErasedArgs>,
    pub(super) verdict: Option<Arc<Verdict>>,
    pub(super) end: End,
}

#[derive(Debug)]
pub(super) struct End {
    pub(super) code: Code,
    pub(super) content: Content,
    /// Of a success: the value as JSON text.
    pub(super) value: Option<String>,
    pub(super) started: bool,
    pub(super) took: Duration,
    /// For the host alone.
    pub(super) detail: Option<String>,
}

impl End {
    pub(super) fn new(code: Code, content: impl Into<Content>) -> Self {
        End {
            code,
            content: content.into(),
            value: None,
            started: false,
            took: Duration::ZERO,
            detail: None,
        }
    }

    pub(super) fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }
}

impl Ending {
    pub(super) fn of(state: State, end: End) -> Self {
        let State {
            call,
            tool,
            args,
            verdict,
            ..
        } = state;
        Ending(Box::new(Ended {
            call,
            tool: Some(tool),
            args,
            verdict,
            end,
        }))
    }

    pub(super) fn without_state(call: ToolCall, tool: Option<HostTool>, end: End) -> Self {
        Ending(Box::new(Ended {
            call,
            tool,
            args: None,
            verdict: None,
            end,
        }))
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        self.0.end.code
    }

    /// The body had begun, so its effects may have happened.
    pub fn started(&self) -> bool {
        self.0.end.started
    }
}
