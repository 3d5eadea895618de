//! Is everything known that has to be? Looks up, never asks.

use super::accept::{Acceptance, Accepted, Draft};
use super::state::State;
use crate::checklist::{Checklist, Unknown};

/// A call whose slots have been looked up: each filled, or unknown.
#[derive(Debug)]
#[must_use = "a call that isn't settled leaves the model without a result"]
pub struct Checked(pub(super) Box<State>);

impl Checked {
    /// The tool and the canonical text.
    pub(crate) fn said(&self) -> (&str, &str) {
        (self.0.tool().name(), self.0.canonical())
    }

    /// The canonical text without its secrets.
    pub(crate) fn redacted(&self) -> String {
        self.0.redacted()
    }

    /// The slots that are still empty.
    pub fn unknowns(&self) -> &[Unknown] {
        &self.0.unknowns
    }
}

impl Accepted {
    /// Looks up the lines of a checklist.
    pub async fn check(self, checklist: &Checklist) -> Checked {
        let Accepted(state) = self;
        let Checklist {} = checklist;
        Checked(state)
    }
}

impl Draft {
    /// Looks up the lines of a checklist. What the model didn't find stays unknown.
    pub async fn check(self, checklist: &Checklist) -> Checked {
        let Draft(mut state, open) = self;
        let Checklist {} = checklist;
        state.unknowns.extend(open.into_iter().map(Unknown::of_user));
        Checked(state)
    }
}

impl Acceptance {
    /// Looks up the lines of a checklist, for either.
    pub async fn check(self, checklist: &Checklist) -> Checked {
        match self {
            Acceptance::Accepted(accepted) => accepted.check(checklist).await,
            Acceptance::Draft(draft) => draft.check(checklist).await,
        }
    }
}
