use std::fmt;

use super::canonical::CanonicalStep;
use super::declaration::Verified;
use super::figures::Figures;
use crate::ledger::{ApartRecord, JudgementKind, RulingParts, RulingRecord, Share};

/// What a gate makes of samples.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Judgement {
    /// See [`JudgementKind::Accept`].
    Accept,
    /// Only with proof that the tools are deterministic.
    Reject(Rejection),
    /// See [`JudgementKind::Defer`].
    Defer,
}

/// The proof that a reject rests on: every tool of every sample was verified in the samples' epoch. Only a gate makes
/// one, and only with at least one [`Verified`].
///
/// ```compile_fail,E0423
/// use tool_runtime::agreement::{Judgement, Rejection};
///
/// let unproved = Judgement::Reject(Rejection(Vec::new()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection(Vec<Verified>);

impl Rejection {
    /// What was verified; never empty.
    pub fn verified(&self) -> &[Verified] {
        &self.0
    }
}

/// No method of its own, which the compiler would advise to whoever tries to build one.
pub(super) fn resting_on(first: Verified, rest: impl IntoIterator<Item = Verified>) -> Rejection {
    Rejection(std::iter::once(first).chain(rest).collect())
}

/// Why a ruling is what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RulingReason {
    /// Arguments and results agree.
    Agreed,
    /// The arguments agree with nothing.
    ArgumentsDisagree,
    /// There are no samples.
    NoSamples,
    /// Fewer samples than the bounds ask for.
    TooFewSamples,
    /// The state moved since the samples were taken.
    EpochMoved,
    /// A tool isn't declared deterministic, or no probe has shown it in this epoch, or its declaration is in quarantine.
    NotVerified,
    /// The arguments neither agree nor disagree.
    ArgumentsSplit,
    /// The arguments agree, but not all of them, and the plan writes.
    WriteNotUnanimous,
    /// The plurality is no plan: nothing of the samples can be read.
    NoPlan,
    /// The calls were not run.
    NoResults,
    /// Too few results say anything: empty and failed ones don't.
    NoResultSignal,
    /// The results differ although the arguments agree: the tool is suspect, and its declaration is quarantined.
    ToolSuspect,
    /// The results agree somewhat. A new probe is asked for.
    ResultsSplit,
    /// A tool gives something else each time by contract.
    OutOfScope,
}

impl RulingReason {
    /// Its name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            RulingReason::Agreed => "agreed",
            RulingReason::ArgumentsDisagree => "arguments_disagree",
            RulingReason::NoSamples => "no_samples",
            RulingReason::TooFewSamples => "too_few_samples",
            RulingReason::EpochMoved => "epoch_moved",
            RulingReason::NotVerified => "not_verified",
            RulingReason::ArgumentsSplit => "arguments_split",
            RulingReason::WriteNotUnanimous => "write_not_unanimous",
            RulingReason::NoPlan => "no_plan",
            RulingReason::NoResults => "no_results",
            RulingReason::NoResultSignal => "no_result_signal",
            RulingReason::ToolSuspect => "tool_suspect",
            RulingReason::ResultsSplit => "results_split",
            RulingReason::OutOfScope => "out_of_scope",
        }
    }
}

impl fmt::Display for RulingReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a gate says of samples, with the figures it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruling {
    pub(super) judgement: Judgement,
    pub(super) reason: RulingReason,
    pub(super) figures: Figures,
    pub(super) estimator: &'static str,
    pub(super) steps: Vec<CanonicalStep>,
    pub(super) quarantines: Vec<String>,
    pub(super) apart: Vec<ApartRecord>,
}

impl Ruling {
    /// What is ruled.
    pub fn judgement(&self) -> &Judgement {
        &self.judgement
    }

    /// The same without proof.
    pub fn kind(&self) -> JudgementKind {
        match self.judgement {
            Judgement::Accept => JudgementKind::Accept,
            Judgement::Reject(_) => JudgementKind::Reject,
            Judgement::Defer => JudgementKind::Defer,
        }
    }

    /// Why.
    pub fn reason(&self) -> RulingReason {
        self.reason
    }

    /// The figures.
    pub fn figures(&self) -> &Figures {
        &self.figures
    }

    /// The estimator's name.
    pub fn estimator(&self) -> &'static str {
        self.estimator
    }

    /// What the samples differ in, with the values side by side and without secrets. Empty for what is accepted.
    pub fn apart(&self) -> &[ApartRecord] {
        &self.apart
    }

    /// As verdicts have it, after so many rounds of sampling.
    pub fn record(&self, rounds: usize) -> RulingRecord {
        RulingRecord(RulingParts {
            kind: self.kind(),
            reason: self.reason.as_str().to_owned(),
            samples: self.figures.samples,
            rounds,
            estimator: self.estimator.to_owned(),
            arguments: Share(self.figures.argument_agreement),
            results: self.figures.result_agreement.map(Share),
            steps: self.steps.iter().map(ToString::to_string).collect(),
            apart: self.apart.clone(),
        })
    }

    /// The steps of canonical form that were taken, in order.
    pub fn steps(&self) -> &[CanonicalStep] {
        &self.steps
    }

    /// The tools whose declaration is to be quarantined, in order of name. Never the plan.
    pub fn quarantines(&self) -> &[String] {
        &self.quarantines
    }
}
