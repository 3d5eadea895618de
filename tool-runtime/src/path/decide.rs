//! May this call run? Judges, never asks, looks nothing up.

use std::sync::Arc;

use super::check::Checked;
use super::state::State;
use crate::call::CallId;
use crate::gate::{Guard, Policy, judge};

/// A call that has been judged.
#[derive(Debug)]
#[must_use = "a call that isn't settled leaves the model without a result"]
pub struct Decided(pub(super) Box<State>);

impl Decided {
    /// The call.
    pub fn call_id(&self) -> &CallId {
        &self.0.call.id
    }

    /// The turn was cancelled: the call won't run. If it was denied before, that stands.
    #[must_use = "a call that isn't settled leaves the model without a result"]
    pub fn cancelled(mut self) -> Self {
        self.0.cancelled = true;
        self
    }

    /// Why a person has to be asked, as far as rules say so.
    pub(crate) fn reasons_to_ask(&self) -> Vec<String> {
        self.0.ruling.asked.iter().map(ToString::to_string).collect()
    }

    /// A policy or a guard forbids it.
    pub fn is_denied(&self) -> bool {
        !self.0.ruling.denied.is_empty()
    }

    /// A person has to say so first.
    pub fn has_to_ask(&self) -> bool {
        self.0.ruling.has_to_ask()
    }
}

impl Checked {
    /// The turn was cancelled: nobody judges the call, and it won't run. It is recorded like any other.
    pub fn cancelled(self) -> Decided {
        Decided(self.0).cancelled()
    }

    /// Asks a policy and the guards. Deny beats ask beats allow; a guard can only deny.
    pub fn decide(self, policy: &dyn Policy, guards: &[Arc<dyn Guard>]) -> Decided {
        let Checked(mut state) = self;
        state.ruling = judge(policy, guards, &state.facts());
        Decided(state)
    }
}
