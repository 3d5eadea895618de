//! May this call run? Judges, never asks, looks nothing up.

use std::sync::Arc;

use super::check::Checked;
use super::state::State;
use crate::call::CallId;
use crate::checklist::{Party, Unknown};
use crate::gate::{Grants, Guard, Policy, judge};
use crate::ledger::RulingRecord;

/// Can the user fill it, when asked?
pub(super) fn is_blank(unknown: &Unknown) -> bool {
    unknown.party() == Party::User && (unknown.path().is_some() || unknown.slot().starts_with('@'))
}

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

    /// Lets a grant spare the question, where it only is one. Deny, a cancelled turn and what nobody
    /// knows stand, whatever was granted.
    #[must_use = "a call that isn't settled leaves the model without a result"]
    pub fn spared_by(mut self, grants: &Grants) -> Self {
        self.looks_for_a_grant(grants);
        self
    }

    pub(super) fn looks_for_a_grant(&mut self, grants: &Grants) {
        let state = &self.0;
        // Only arguments that were read can be the ones that a grant is for.
        if self.waits() && state.grant.is_none() && state.args.is_some() {
            self.0.grant = grants.covering(state.tool(), state.canonical());
            if self.0.grant.as_ref().is_some_and(|grant| grant.has_told(self.0.notices())) {
                self.0.is_told();
            }
        }
    }

    /// It waits for a go-ahead, and with one it could run.
    pub(super) fn waits(&self) -> bool {
        let state = &self.0;
        // What no person can fill, and what doesn't hold, keeps a call from running whatever is said about it.
        let can_run = state.unmet().is_empty() && state.unknowns().iter().all(is_blank);
        self.has_to_ask() && !state.cancelled && can_run && state.refused_before.is_none()
    }

    /// It is about to run, and there is something that the user has to be told before.
    pub(crate) fn has_to_tell(&self) -> bool {
        self.0.is_untold() && !self.0.notices().is_empty() && super::record::has_only_to_tell(&self.0)
    }

    /// As far as is known by now, it runs, or would with somebody's answers.
    pub(crate) fn may_run(&self) -> bool {
        let state = &self.0;
        let is_stopped = self.is_denied() || state.rejected_plan().is_some() || !state.unmet().is_empty();
        !is_stopped && state.unknowns().iter().all(is_blank)
    }

    /// A policy or a guard forbids it.
    pub fn is_denied(&self) -> bool {
        !self.0.ruling.denied.is_empty()
    }

    /// A person has to say so first, and has not done so for the session; or has to fill something in.
    pub fn has_to_ask(&self) -> bool {
        let state = &self.0;
        let by_policy = state.ruling.has_to_ask() && state.grant.is_none();
        let besides = state.has_to_agree() || !state.unknowns().is_empty();
        state.ruling.denied.is_empty() && state.rejected_plan().is_none() && (by_policy || besides)
    }
}

impl Checked {
    /// The call is from one of several sampled plans, of which this was ruled.
    pub(crate) fn ruled(mut self, plan: Option<Arc<RulingRecord>>) -> Self {
        self.0.plan = plan;
        self
    }

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
