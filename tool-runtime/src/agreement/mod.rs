//! Judges N sampled plans before one of them runs for real: accept, reject, or defer.
//!
//! Two signals on disjoint data, never mixed: do the samples agree on what to call with which arguments, and
//! did their calls, where a sandbox ran them, come to the same results? A plan is rejected for what the plan did, never
//! for what a tool did: only disagreement about arguments rejects, and only where every tool involved was
//! [verified](Verified) in the same epoch. Whatever can't be judged is deferred, with the reason.
//!
//! An accepted plan is a proposal like any other. Agreement is never permission.
//!
//! [`AgreementGate`] rules on samples that somebody has; [`rule_line`] does so with nothing but JSON. [`Deliberation`] draws them
//! from a [`Sampler`], runs them in a [`Sandbox`], probes tools that are declared deterministic ([`Probing`]), and keeps those
//! that aren't in [`Quarantine`]; [`Harness::run_plans`](crate::Harness::run_plans) has the plan that is agreed on take the path.
//!
//! What it is worth was measured on single-turn function calling by 26 models, by arguments alone. Accept is worth having:
//! 54 to 67 % of draws, 98 to 99 % of them right. Reject hardly fires (below 1 %), at 5 samples it can't
//! ([`AgreementGate::warnings`]), and it means that no plan stands out: in most rejected draws one of the samples was right.
//! Most wrong plans are deferred, so what becomes of those decides what the gate is worth. Nothing was measured on results.
//!
//! ```
//! use tool_runtime::agreement::{
//!     AgreementGate, AgreementWarning, Bounds, Epoch, JudgementKind, PlanTools, Sample, SampleSet,
//! };
//!
//! let gate = AgreementGate::new(Bounds::seed());
//! assert_eq!(gate.said().to_string(), "of 5: accept from 4, reject never");
//! assert_eq!(gate.warnings(), [AgreementWarning::NeverRejects { of: 5, from: Some(6) }]);
//!
//! let epoch = Epoch::begin();
//! let mut samples = SampleSet::new(epoch.clone());
//! for _ in 0..5 {
//!     samples.push(Sample::of([("weather", r#"{"city": "Oslo"}"#)]).result("3").within(&epoch))?;
//! }
//! // Nobody has shown that `weather` gives the same twice, so its agreement counts for nothing yet.
//! let ruling = gate.rule(&samples, &PlanTools::new());
//! assert_eq!((ruling.kind(), ruling.reason().as_str()), (JudgementKind::Defer, "not_verified"));
//! # Ok::<(), tool_runtime::agreement::EpochMixed>(())
//! ```

mod apart;
mod argument;
mod bounds;
mod canonical;
mod declaration;
mod deliberated;
mod deliberation;
mod epoch;
mod figures;
mod key;
mod probing;
mod quarantine;
mod references;
mod rule;
mod ruling;
mod sample;
mod sampler;
mod sandbox;
mod strict;
mod warning;

pub use crate::ledger::{ApartRecord, JudgementKind, RulingRecord};
pub use argument::{ArgumentForm, Resolution};
pub use bounds::{AcceptsFrom, Bounds, BoundsError, Estimator, ModeShare, PairShare};
pub use canonical::{CanonicalForm, CanonicalStep};
pub use declaration::{Determinism, PlanSchemaError, PlanTool, PlanTools, Probe, ProbeFault, ProbeFinding, Verified};
pub use deliberated::{Deliberated, DeliberationError};
pub use deliberation::Deliberation;
pub use epoch::{Epoch, EpochMixed};
pub use figures::Figures;
pub use probing::{ProbeReport, ProbedTool, Probing};
pub use quarantine::{Quarantine, QuarantinedTool};
pub use rule::{AgreementGate, OutOfScope};
pub use ruling::{Judgement, Rejection, Ruling, RulingReason};
pub use sample::{Observed, Plan, PlannedCall, Sample, SampleSet};
pub use sampler::{SampleRequest, SampledPlan, Sampler, SamplerError};
pub use sandbox::{Fork, ForkRequest, Sandbox, SandboxError, SandboxRun};
pub use strict::rule_line;
pub use warning::AgreementWarning;
