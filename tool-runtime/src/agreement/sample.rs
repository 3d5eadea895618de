use super::epoch::{Epoch, EpochMixed};
use crate::schema::JsonPath;

/// One call of a plan: a tool's name and the text of its arguments, as a model wrote them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCall {
    pub(super) tool: String,
    pub(super) arguments: String,
    /// Which steps it uses, and for which argument.
    pub(super) uses: Vec<(usize, Option<JsonPath>)>,
}

impl PlannedCall {
    /// Of a tool, with its arguments as JSON text.
    pub fn new(tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        PlannedCall { tool: tool.into(), arguments: arguments.into(), uses: Vec::new() }
    }

    /// It uses the result of an earlier call of the plan, counted from 0. In which order the plan lists its calls
    /// doesn't count; which call feeds which does.
    #[must_use]
    pub fn using(mut self, step: usize) -> Self {
        self.uses.push((step, None));
        self
    }

    /// One of its arguments is the result of an earlier call, or a part of it. The argument is left out of the text: a
    /// model may count steps in its own way, and it isn't missing.
    #[must_use]
    pub fn using_for(mut self, argument: JsonPath, step: usize) -> Self {
        self.uses.push((step, Some(argument)));
        self
    }

    /// The tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments as they were written.
    pub fn arguments(&self) -> &str {
        &self.arguments
    }
}

impl<T: Into<String>, A: Into<String>> From<(T, A)> for PlannedCall {
    fn from((tool, arguments): (T, A)) -> Self {
        PlannedCall::new(tool, arguments)
    }
}

/// What one answer of a model comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Plan {
    /// Calls, as a multiset: paying twice is not paying once. None at all is a plan too, and a vote.
    Calls(Vec<PlannedCall>),
    /// Nobody can read it. It agrees with nothing, not even with another one.
    Unparsable,
}

impl Plan {
    /// Its calls; none of what nobody can read.
    pub fn calls(&self) -> &[PlannedCall] {
        match self {
            Plan::Calls(calls) => calls,
            Plan::Unparsable => &[],
        }
    }
}

/// What a sandbox saw of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Observed {
    /// A result, as JSON text.
    Value(String),
    /// It failed. Equal failures are no agreement.
    Failed,
    /// It was not run.
    NotRun,
}

/// One sampled plan, and what a sandbox saw of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    pub(super) plan: Plan,
    /// One a call, in the plan's order; missing ones were not run.
    pub(super) results: Vec<Observed>,
    pub(super) epoch: Option<Epoch>,
}

impl Sample {
    /// A plan of these calls.
    pub fn of<C: Into<PlannedCall>>(calls: impl IntoIterator<Item = C>) -> Self {
        Self::new(Plan::Calls(calls.into_iter().map(Into::into).collect()))
    }

    /// The plan to call nothing.
    pub fn no_call() -> Self {
        Self::new(Plan::Calls(Vec::new()))
    }

    /// An answer that nobody can read.
    pub fn unparsable() -> Self {
        Self::new(Plan::Unparsable)
    }

    fn new(plan: Plan) -> Self {
        Sample { plan, results: Vec::new(), epoch: None }
    }

    /// What the next call came to, as JSON text.
    #[must_use]
    pub fn result(self, text: impl Into<String>) -> Self {
        self.observed(Observed::Value(text.into()))
    }

    /// What was seen of the next call.
    #[must_use]
    pub fn observed(mut self, observed: Observed) -> Self {
        self.results.push(observed);
        self
    }

    /// In which epoch it was sampled.
    #[must_use]
    pub fn within(mut self, epoch: &Epoch) -> Self {
        self.epoch = Some(epoch.clone());
        self
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

/// Samples that may be judged together: all of one epoch.
#[derive(Debug, Clone)]
pub struct SampleSet {
    epoch: Epoch,
    samples: Vec<Sample>,
}

impl SampleSet {
    /// None yet.
    pub fn new(epoch: Epoch) -> Self {
        SampleSet { epoch, samples: Vec::new() }
    }

    /// Adds one.
    ///
    /// # Errors
    /// If it was sampled in another epoch, or nobody said in which.
    pub fn push(&mut self, sample: Sample) -> Result<(), EpochMixed> {
        if sample.epoch.as_ref() != Some(&self.epoch) {
            return Err(EpochMixed);
        }
        self.samples.push(sample);
        Ok(())
    }

    /// The epoch.
    pub fn epoch(&self) -> &Epoch {
        &self.epoch
    }

    /// The samples, in the order in which they came. Their ruling doesn't depend on it.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }
}
