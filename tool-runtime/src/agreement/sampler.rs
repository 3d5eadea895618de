use std::fmt;
use std::sync::Arc;

use super::epoch::Epoch;
use super::sample::{PlannedCall, Sample};
use crate::BoxFuture;
use crate::call::ToolCall;

/// One answer of a model, as one of several.
#[derive(Debug, Clone)]
pub struct SampledPlan(Option<Arc<[ToolCall]>>);

impl SampledPlan {
    /// The calls of one answer, with their ids. None at all is a plan too.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        SampledPlan(Some(calls.into_iter().collect()))
    }

    /// An answer that nobody can read. It agrees with nothing.
    pub fn unparsable() -> Self {
        SampledPlan(None)
    }

    /// The calls. `None` if nobody can read the answer.
    pub fn tool_calls(&self) -> Option<&[ToolCall]> {
        self.0.as_deref()
    }

    /// As it is compared and run in a sandbox.
    pub(super) fn planned(&self) -> Option<Vec<PlannedCall>> {
        let planned = |call: &ToolCall| Some(PlannedCall::new(&*call.name, call.arguments.text().ok()?));
        // A call that isn't even text is nothing that anybody could agree with.
        self.tool_calls()?.iter().map(planned).collect()
    }

    pub(super) fn sample(&self) -> Sample {
        match self.planned() {
            Some(calls) => Sample::of(calls),
            None => Sample::unparsable(),
        }
    }
}

/// What a [`Sampler`] is asked for. Cheap to clone.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SampleRequest {
    /// How many plans.
    pub count: usize,
    /// How often plans were drawn before this, from 0.
    pub round: usize,
    /// The epoch within which they are drawn. Lookups on the way to a plan have to see its state.
    pub epoch: Epoch,
}

/// Draws plans: asks a model the same several times.
///
/// Closures that give a future are samplers, and so is an `Arc` of one. Whoever has the plans already gives them as they
/// are: a list of plans is what comes of the first round, and nothing comes after it.
///
/// ```
/// use tool_runtime::agreement::{SampleRequest, SampledPlan, Sampler};
///
/// let asks_a_model = |request: SampleRequest| async move { Ok(vec![SampledPlan::calls([]); request.count]) };
/// fn is_sampler(_: impl Sampler) {}
/// is_sampler(asks_a_model);
/// is_sampler(vec![SampledPlan::unparsable()]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a sampler",
    label = "draws no plans",
    note = "implement `Sampler` for it, write a closure: `|request: SampleRequest| async move {{ Ok(…) }}`, or give a `Vec<SampledPlan>`",
    note = "such a future is `Send` and owns what it uses: the closure, which may be called again, gives it clones"
)]
pub trait Sampler: Send + Sync {
    /// Draws plans, as many as are asked for. More or fewer are taken as they come.
    ///
    /// # Errors
    /// If none can be drawn.
    fn sample(&self, request: SampleRequest) -> BoxFuture<'static, Result<Vec<SampledPlan>, SamplerError>>;
}

#[diagnostic::do_not_recommend]
impl<F, R> Sampler for F
where
    F: Fn(SampleRequest) -> R + Send + Sync,
    R: Future<Output = Result<Vec<SampledPlan>, SamplerError>> + Send + 'static,
{
    fn sample(&self, request: SampleRequest) -> BoxFuture<'static, Result<Vec<SampledPlan>, SamplerError>> {
        Box::pin(self(request))
    }
}

#[diagnostic::do_not_recommend]
impl<S: Sampler + ?Sized> Sampler for Arc<S> {
    fn sample(&self, request: SampleRequest) -> BoxFuture<'static, Result<Vec<SampledPlan>, SamplerError>> {
        (**self).sample(request)
    }
}

impl Sampler for Vec<SampledPlan> {
    fn sample(&self, request: SampleRequest) -> BoxFuture<'static, Result<Vec<SampledPlan>, SamplerError>> {
        let plans = match request.round {
            0 => Ok(self.clone()),
            _ => Err(SamplerError::new("there are no more plans")),
        };
        Box::pin(std::future::ready(plans))
    }
}

/// No plans could be drawn.
#[derive(Debug)]
pub struct SamplerError(Box<dyn std::error::Error + Send + Sync>);

impl SamplerError {
    /// With its cause.
    pub fn new(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        SamplerError(cause.into())
    }
}

impl fmt::Display for SamplerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no plans could be drawn")
    }
}

impl std::error::Error for SamplerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}
