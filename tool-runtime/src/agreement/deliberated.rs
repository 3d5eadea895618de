//! What a deliberation has come to.

use std::fmt;

use super::epoch::Epoch;
use super::probing::ProbedTool;
use super::ruling::Ruling;
use super::sampler::{SampledPlan, SamplerError};
use super::sandbox::SandboxError;
use crate::ledger::RulingRecord;

/// What a deliberation has come to.
#[derive(Debug, Clone)]
pub struct Deliberated {
    pub(super) ruling: Ruling,
    pub(super) plan: Option<SampledPlan>,
    pub(super) rounds: usize,
    pub(super) epoch: Epoch,
    pub(super) probed: Vec<ProbedTool>,
}

impl Deliberated {
    /// The ruling.
    pub fn ruling(&self) -> &Ruling {
        &self.ruling
    }

    /// A plan of the plurality, whatever was ruled of it. `None` if nobody can read any.
    pub fn plan(&self) -> Option<&SampledPlan> {
        self.plan.as_ref()
    }

    /// How often plans were drawn.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// The epoch of the samples that were ruled on.
    pub fn epoch(&self) -> &Epoch {
        &self.epoch
    }

    /// The tools that were probed on the way.
    pub fn probed(&self) -> &[ProbedTool] {
        &self.probed
    }

    /// As verdicts have it.
    pub fn record(&self) -> RulingRecord {
        self.ruling.record(self.rounds)
    }
}

/// A deliberation could not begin.
#[derive(Debug)]
#[non_exhaustive]
pub enum DeliberationError {
    /// No plans could be drawn.
    Sampler(SamplerError),
    /// The sandbox can't begin.
    Sandbox(SandboxError),
    /// It was cancelled.
    Cancelled,
}

impl fmt::Display for DeliberationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeliberationError::Sampler(_) | DeliberationError::Sandbox(_) => "there is nothing to judge",
            DeliberationError::Cancelled => "cancelled before there was a ruling",
        })
    }
}

impl std::error::Error for DeliberationError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            DeliberationError::Sampler(error) => Some(error),
            DeliberationError::Sandbox(error) => Some(error),
            DeliberationError::Cancelled => None,
        }
    }
}
