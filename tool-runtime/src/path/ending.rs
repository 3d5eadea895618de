use std::sync::Arc;
use std::time::Duration;

use super::state::State;
use crate::call::{Code, Content};
use crate::tool::{CardData, StoredResult};

/// How a call ended, at whatever stage. Every ending settles the same way.
#[derive(Debug)]
#[must_use = "a call that isn't settled leaves the model without a result"]
pub struct Ending(pub(super) Box<State>);

/// What a model reads of a call that was cancelled in time.
pub(super) fn cancelled_before_start(tool: &str) -> String {
    format!("`{tool}` was cancelled before it began; nothing happened.")
}

#[derive(Debug)]
pub(super) struct End {
    pub(super) code: Code,
    /// Of a tool's own error: its author's code.
    pub(super) error_code: Option<Arc<str>>,
    pub(super) content: Content,
    /// Of a success: the value as JSON text.
    pub(super) value: Option<Arc<str>>,
    pub(super) started: bool,
    pub(super) took: Duration,
    /// For the host alone.
    pub(super) detail: Option<String>,
    /// What the model reads after the results of its turn.
    pub(super) asides: Vec<Content>,
    /// What the body has left for a card.
    pub(super) card_data: Option<CardData>,
}

impl End {
    pub(super) fn new(code: Code, content: impl Into<Content>) -> Self {
        End {
            code,
            error_code: None,
            content: content.into(),
            value: None,
            started: false,
            took: Duration::ZERO,
            detail: None,
            asides: Vec::new(),
            card_data: None,
        }
    }

    pub(super) fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Ends in another way after all. How long it took and what was left besides stay.
    pub(super) fn become_instead(&mut self, other: End) {
        let End { started, took, asides, .. } = std::mem::replace(self, other);
        self.started = started;
        self.took = took;
        self.asides = asides;
    }

    /// What an ending without an end would be: there is none.
    pub(super) fn lost() -> Self {
        End::new(Code::HostError, "The call could not be run.")
    }

    /// What reviews and presenters see of it.
    pub(super) fn stored(&self) -> StoredResult {
        StoredResult {
            code: self.code,
            error_code: self.error_code.clone(),
            content: self.content.clone(),
            is_error: self.code != Code::Ok,
            started: self.started,
            card_data: self.card_data.clone(),
        }
    }
}

impl Ending {
    pub(super) fn of(mut state: Box<State>, end: End) -> Self {
        state.end = Some(end);
        Ending(state)
    }

    pub(super) fn end(&mut self) -> &mut End {
        self.0.end.get_or_insert_with(End::lost)
    }

    pub(super) fn with_asides(mut self, asides: Vec<Content>) -> Self {
        if !asides.is_empty() {
            self.end().asides.extend(asides);
        }
        self
    }

    /// What only the host may know of it.
    pub(crate) fn detail(&self) -> Option<&str> {
        self.0.end.as_ref().and_then(|end| end.detail.as_deref())
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        self.0.end.as_ref().map_or(Code::HostError, |end| end.code)
    }

    /// The body had begun, so its effects may have happened.
    pub fn started(&self) -> bool {
        self.0.end.as_ref().is_some_and(|end| end.started)
    }
}
