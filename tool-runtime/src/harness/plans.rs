//! One of several sampled plans goes on through the path.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{Harness, Parts};
use crate::agreement::{
    Deliberated, Deliberation, DeliberationError, Fork, Observed, PlannedCall, Sampler, SandboxRun,
};
use crate::call::{Code, ToolCall, ToolResult};
use crate::execute::until;
use crate::path::Settled;

impl Harness {
    /// Draws several plans, rules on them, and has the calls of the one that most of them agree on take the whole path:
    /// agreement is never permission.
    ///
    /// - Accepted: they are checked, decided and run as ever.
    /// - Deferred, after all that a [`Deliberation`] may try: a person is asked, with what the plans differ in side by side;
    ///   no grant of before spares that.
    /// - Rejected: none runs (`plan_rejected`), and the model reads what its drafts differ in.
    ///
    /// The ruling is part of each call's verdict. A conversation goes on with the calls of
    /// [`plan`](PlansRun::plan), and with one result for each.
    ///
    /// # Errors
    /// If no plans can be drawn, the sandbox can't begin, or `token` is cancelled before there is a ruling. Nothing has run
    /// then.
    ///
    /// ```
    /// use tool_runtime::agreement::{AgreementGate, Bounds, Deliberation, JudgementKind, SampledPlan};
    /// use tool_runtime::{AllowAll, Code, Harness, Registry, ToolCall};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let harness = Harness::new(Registry::builder().build()?, AllowAll);
    /// let deliberation = Deliberation::new(AgreementGate::new(Bounds::seed()));
    ///
    /// // Five drafts that call nothing agree that there is nothing to be done.
    /// let run = harness.run_plans(&deliberation, vec![SampledPlan::calls([]); 5], None).await?;
    /// assert_eq!(run.deliberated().ruling().kind(), JudgementKind::Accept);
    /// assert!(run.plan().is_empty() && run.settled().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn run_plans(
        &self,
        deliberation: &Deliberation,
        sampler: impl Sampler,
        token: Option<CancellationToken>,
    ) -> Result<PlansRun, DeliberationError> {
        let parts = &self.0;
        let deliberating = Box::pin(deliberation.deliberate(&parts.registry, &sampler));
        let deliberated = match token.as_ref().is_some_and(CancellationToken::is_cancelled) {
            true => None,
            false => until(token.as_ref(), deliberating).await,
        };
        let deliberated = deliberated.ok_or(DeliberationError::Cancelled)??;
        let calls: Arc<[ToolCall]> = deliberated.plan().and_then(|plan| plan.tool_calls()).unwrap_or_default().into();
        let judged_by = Arc::new(Parts { plan: Some(Arc::new(deliberated.record())), ..Parts::clone(parts) });
        let landing = judged_by.landing();
        let settled = judged_by.fly(&landing, calls.to_vec(), token, |_, settled| settled).await;
        Ok(PlansRun { deliberated, calls, settled })
    }
}

/// What came of several plans.
#[derive(Debug, Clone)]
pub struct PlansRun {
    deliberated: Deliberated,
    calls: Arc<[ToolCall]>,
    settled: Vec<Settled>,
}

impl PlansRun {
    /// What was ruled, and of what.
    pub fn deliberated(&self) -> &Deliberated {
        &self.deliberated
    }

    /// The calls that were proposed: those of one answer, with its ids. None if most answers call nothing, or nobody can
    /// read any.
    pub fn plan(&self) -> &[ToolCall] {
        &self.calls
    }

    /// What came of each of them, in their order.
    pub fn settled(&self) -> &[Settled] {
        &self.settled
    }

    /// What the model reads: one result a call, in their order.
    pub fn results(&self) -> Vec<ToolResult> {
        self.settled.iter().map(|settled| settled.result().clone()).collect()
    }
}

impl From<Harness> for Fork {
    /// Runs plans under the harness's own policy and scheduler: give it a registry over a copy of the state, and a ledger that
    /// nobody takes for the real one, such as its own.
    fn from(harness: Harness) -> Self {
        let harness = Arc::new(harness);
        Fork::new(move |calls: Vec<PlannedCall>| {
            let harness = Arc::clone(&harness);
            Box::pin(async move {
                let call = |(step, call): (usize, PlannedCall)| {
                    ToolCall::new(format!("step_{step}"), call.tool(), call.arguments())
                };
                let calls: Vec<ToolCall> = calls.into_iter().enumerate().map(call).collect();
                let settled = harness.run_settled(calls, None).await;
                settled.iter().map(observed).collect()
            })
        })
    }
}

fn observed(settled: &Settled) -> SandboxRun {
    let record = settled.record();
    let observed = match (record.code(), settled.value()) {
        (Code::Ok, Some(value)) => Observed::Value(value.to_owned()),
        _ if record.started() => Observed::Failed,
        // The sandbox didn't let it.
        (Code::InvalidArguments | Code::UnknownTool, _) => Observed::Failed,
        _ => Observed::NotRun,
    };
    let run = SandboxRun::of(observed);
    match record.verdict() {
        Some(verdict) => run.by(*verdict.definition()),
        None => run,
    }
}
