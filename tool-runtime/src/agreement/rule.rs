use std::collections::BTreeSet;

use super::apart::side_by_side;
use super::bounds::{AcceptsFrom, Bounds, Estimator, ModeShare};
use super::canonical::CanonicalForm;
use super::declaration::{Determinism, PlanTool, PlanTools, Verified};
use super::figures::Figures;
use super::key::{Keyed, Signal};
use super::ruling::{Judgement, Ruling, RulingReason, resting_on};
use super::sample::SampleSet;
use super::warning::AgreementWarning;
use crate::ledger::JudgementKind;

/// What is made of plans with a tool that is non-deterministic by contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OutOfScope {
    /// They are deferred.
    #[default]
    Defer,
    /// They are accepted if their arguments agree; results say nothing. They are never rejected.
    ArgumentsOnly,
}

/// Rules over sampled plans. A value without state: the same samples have the same ruling, whatever their order.
#[derive(Debug, Clone, Copy)]
pub struct AgreementGate<E: Estimator = ModeShare> {
    bounds: Bounds<E>,
    form: CanonicalForm,
    out_of_scope: OutOfScope,
    results_required: bool,
    unanimous_writes: bool,
}

impl<E: Estimator> AgreementGate<E> {
    /// With bounds, which bring their estimator along.
    pub fn new(bounds: Bounds<E>) -> Self {
        AgreementGate {
            bounds,
            form: CanonicalForm::full(),
            out_of_scope: OutOfScope::default(),
            results_required: true,
            unanimous_writes: false,
        }
    }

    /// Sets the steps of canonical form.
    #[must_use]
    pub fn form(mut self, form: CanonicalForm) -> Self {
        self.form = form;
        self
    }

    /// Sets what is made of plans that are out of scope.
    #[must_use]
    pub fn on_out_of_scope(mut self, what: OutOfScope) -> Self {
        self.out_of_scope = what;
        self
    }

    /// Accepts also where nothing was run in a sandbox, on arguments alone.
    #[must_use]
    pub fn without_results(mut self) -> Self {
        self.results_required = false;
        self
    }

    /// Accepts a plan with a tool that isn't declared to only read ([`Hints::read_only`](crate::Hints::read_only)) only if all
    /// samples agree: a majority of three in four for a write was right less often than a coin.
    #[must_use]
    pub fn unanimous_writes(mut self) -> Self {
        self.unanimous_writes = true;
        self
    }

    /// What it can't do as it is built, to be shown to whoever configures it.
    pub fn warnings(&self) -> Vec<AgreementWarning> {
        AgreementWarning::of(&self.bounds)
    }

    /// The bounds in samples, for the fewest that are judged. Says so if the gate can never reject.
    pub fn said(&self) -> AcceptsFrom {
        self.bounds.said(self.bounds.min_samples)
    }

    /// Rules.
    pub fn rule(&self, set: &SampleSet, tools: &PlanTools) -> Ruling {
        let keyed: Vec<Keyed> = set.samples().iter().map(|one| Keyed::of(one, self.form, tools)).collect();
        let figures = Figures::of::<E>(&keyed);
        let called = |one: &Keyed| -> Vec<String> {
            one.plan.iter().flat_map(|plan| plan.calls.iter().map(|call| call.tool.clone())).collect()
        };
        let of_any: BTreeSet<String> = keyed.iter().flat_map(called).collect();
        let of_plan: BTreeSet<String> =
            figures.plurality.and_then(|index| keyed.get(index)).map(called).into_iter().flatten().collect();
        let is = |tool: &String, what: Determinism| tools.get(tool).is_some_and(|tool| tool.determinism == what);
        let proof = |tool: &String| tools.get(tool).and_then(|tool| tool.proof(set.epoch()));

        let proofs: Option<Vec<Verified>> = of_any.iter().map(|tool| proof(tool).cloned()).collect();
        let rejection = proofs.and_then(|proofs| {
            let mut proofs = proofs.into_iter();
            Some(resting_on(proofs.next()?, proofs))
        });
        let nothing_returned = of_plan.iter().all(|tool| tools.get(tool).is_some_and(|tool| tool.returns_nothing()));
        let results = if nothing_returned || !self.results_required {
            ResultSide::NotAsked
        } else if keyed.iter().all(|one| one.signal == Signal::NotRun) {
            ResultSide::NotRun
        } else if figures.result_signals < self.bounds.min_samples {
            ResultSide::Silent
        } else {
            figures.result_agreement.map_or(ResultSide::Silent, ResultSide::Agreement)
        };
        let writes = |tool: &String| tools.get(tool).is_none_or(PlanTool::may_write);
        let case = Case {
            samples: figures.samples,
            too_few: figures.samples < self.bounds.min_samples,
            epoch_moved: set.epoch().is_over(),
            readable: figures.plurality.is_some(),
            arguments: figures.argument_agreement,
            results,
            all_have_to_agree: self.unanimous_writes && of_plan.iter().any(writes),
            out_of_scope: of_any.iter().any(|tool| is(tool, Determinism::ByContractNot)).then_some(self.out_of_scope),
            can_reject: rejection.is_some(),
            can_accept: of_plan.iter().all(|tool| proof(tool).is_some()),
        };
        let (kind, reason) = case.decide(&self.bounds);
        let judgement = match (kind, rejection) {
            (JudgementKind::Accept, _) => Judgement::Accept,
            (JudgementKind::Reject, Some(rejection)) => Judgement::Reject(rejection),
            (JudgementKind::Reject | JudgementKind::Defer, _) => Judgement::Defer,
        };
        let quarantines = match reason {
            RulingReason::ToolSuspect => of_plan.into_iter().filter(|tool| is(tool, Determinism::Declared)).collect(),
            _ => Vec::new(),
        };
        let apart = match (kind, figures.plurality) {
            (JudgementKind::Accept, _) | (_, None) => Vec::new(),
            (_, Some(plurality)) => side_by_side(&keyed, plurality, tools),
        };
        let steps = self.form.steps().collect();
        Ruling { judgement, reason, figures, estimator: E::NAME, steps, quarantines, apart }
    }
}

/// What results come to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ResultSide {
    /// Nobody asks for them.
    NotAsked,
    NotRun,
    Silent,
    Agreement(f64),
}

/// All that a ruling depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) samples: usize,
    pub(super) too_few: bool,
    pub(super) epoch_moved: bool,
    pub(super) readable: bool,
    pub(super) arguments: f64,
    pub(super) results: ResultSide,
    /// The plurality's plan writes, and that takes all of them.
    pub(super) all_have_to_agree: bool,
    /// Set if it is.
    pub(super) out_of_scope: Option<OutOfScope>,
    /// Every tool of every sample is verified, and there is one.
    pub(super) can_reject: bool,
    /// Every tool of the plurality's plan is verified.
    pub(super) can_accept: bool,
}

impl Case {
    /// The conditions come first: one that fails defers, whatever the figures are.
    pub(super) fn decide<E: Estimator>(&self, bounds: &Bounds<E>) -> (JudgementKind, RulingReason) {
        use JudgementKind::{Accept, Defer, Reject};
        if self.samples == 0 {
            return (Defer, RulingReason::NoSamples);
        }
        if self.too_few {
            return (Defer, RulingReason::TooFewSamples);
        }
        if self.epoch_moved {
            return (Defer, RulingReason::EpochMoved);
        }
        if !self.readable {
            return (Defer, RulingReason::NoPlan);
        }
        let unanimous = self.arguments >= 1.0 || !self.all_have_to_agree;
        let arguments_agree = self.arguments >= bounds.argument_accept && unanimous;
        if let Some(out_of_scope) = self.out_of_scope {
            return match out_of_scope {
                OutOfScope::ArgumentsOnly if arguments_agree => (Accept, RulingReason::OutOfScope),
                OutOfScope::ArgumentsOnly | OutOfScope::Defer => (Defer, RulingReason::OutOfScope),
            };
        }
        if bounds.argument_reject.is_some_and(|bound| self.arguments < bound) {
            return match self.can_reject {
                true => (Reject, RulingReason::ArgumentsDisagree),
                false => (Defer, RulingReason::NotVerified),
            };
        }
        if !unanimous && self.arguments >= bounds.argument_accept {
            return (Defer, RulingReason::WriteNotUnanimous);
        }
        if !arguments_agree {
            return (Defer, RulingReason::ArgumentsSplit);
        }
        match self.results {
            ResultSide::NotRun => (Defer, RulingReason::NoResults),
            ResultSide::Silent => (Defer, RulingReason::NoResultSignal),
            ResultSide::Agreement(share) if share < bounds.result_quarantine => (Defer, RulingReason::ToolSuspect),
            ResultSide::Agreement(share) if share < bounds.result_accept => (Defer, RulingReason::ResultsSplit),
            ResultSide::Agreement(_) | ResultSide::NotAsked => match self.can_accept {
                true => (Accept, RulingReason::Agreed),
                false => (Defer, RulingReason::NotVerified),
            },
        }
    }
}
