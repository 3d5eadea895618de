//! The stages put together.

use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::call::{ToolCall, ToolResult};
use crate::checklist::Checklist;
use crate::gate::{Approver, Guard, Policy};
use crate::ledger::{Ledger, MemoryLedger};
use crate::path::ask::ask;
use crate::path::settle::DEFAULT_RESULT_CAP;
use crate::path::{Asked, Ending, Loaded, Review, Settled};
use crate::registry::Registry;

/// Runs what a model proposes: every call takes the whole path, and every call gets one result.
///
/// A registry and a policy are all that it needs. Everything else has a safe default: nobody is
/// asked, so what has to be asked does not run; verdicts are kept in memory.
///
/// A panic of a tool, a policy, an approver, a ledger or a renderer is caught and ends its own call
/// alone. With `panic = "abort"` nothing can be caught: the process ends.
pub struct Harness {
    registry: Registry,
    policy: Arc<dyn Policy>,
    guards: Vec<Arc<dyn Guard>>,
    approver: Option<Arc<dyn Approver>>,
    ledger: Arc<dyn Ledger>,
    checklist: Checklist,
    review: Option<Arc<dyn Review>>,
    loaded: Loaded,
    result_cap: usize,
}

impl Harness {
    /// There is no harness without a policy.
    pub fn new(registry: Registry, policy: impl Policy + 'static) -> Self {
        Harness {
            registry,
            policy: Arc::new(policy),
            guards: Vec::new(),
            approver: None,
            ledger: Arc::new(MemoryLedger::default()),
            checklist: Checklist::new(),
            review: None,
            loaded: Loaded::new(),
            result_cap: DEFAULT_RESULT_CAP,
        }
    }

    /// Adds a guard, which can only deny.
    #[must_use]
    pub fn guard(mut self, guard: impl Guard + 'static) -> Self {
        self.guards.push(Arc::new(guard));
        self
    }

    /// Sets who is asked.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Sets where verdicts are recorded. An `Arc` of a ledger is a ledger too.
    #[must_use]
    pub fn ledger(mut self, ledger: impl Ledger + 'static) -> Self {
        self.ledger = Arc::new(ledger);
        self
    }

    /// Sets who looks at outcomes before the model does.
    #[must_use]
    pub fn review(mut self, review: impl Review + 'static) -> Self {
        self.review = Some(Arc::new(review));
        self
    }

    /// Sets which deferred tools this conversation has loaded.
    #[must_use]
    pub fn loaded(mut self, loaded: Loaded) -> Self {
        self.loaded = loaded;
        self
    }

    /// Sets how many bytes of text the model reads of one result.
    #[must_use]
    pub fn result_cap(mut self, bytes: usize) -> Self {
        self.result_cap = bytes;
        self
    }

    /// The tools.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Runs the calls of one turn and gives one result a call, in their order.
    pub async fn run(&self, calls: impl IntoIterator<Item = ToolCall>) -> Vec<ToolResult> {
        self.turn(calls, None, Settled::into_result).await
    }

    /// As [`run`](Self::run), with the records beside the results. `token` asks running bodies to
    /// stop, and keeps others from beginning.
    pub async fn run_settled(
        &self,
        calls: impl IntoIterator<Item = ToolCall>,
        token: Option<CancellationToken>,
    ) -> Vec<Settled> {
        self.turn(calls, token, |settled| settled).await
    }

    async fn turn<T>(
        &self,
        calls: impl IntoIterator<Item = ToolCall>,
        token: Option<CancellationToken>,
        keep: fn(Settled) -> T,
    ) -> Vec<T> {
        let calls = calls.into_iter();
        let mut judged = Vec::with_capacity(calls.size_hint().0);
        for call in calls {
            judged.push(self.judge(call).await);
        }
        if judged.iter().any(|call| call.as_ref().is_ok_and(Asked::has_to_ask)) {
            judged = self.ask_together(judged).await;
        }
        let mut settled = Vec::with_capacity(judged.len());
        for call in judged {
            let ending = match call {
                Ok(asked) => self.carry_out(asked, token.clone()).await,
                Err(ending) => ending,
            };
            settled.push(keep(ending.settle(&*self.ledger, self.result_cap).await));
        }
        settled
    }

    async fn judge(&self, call: ToolCall) -> Result<Asked, Ending> {
        let accepted = self.registry.resolve(call, &self.loaded)?.accept()?;
        let decided = accepted.check(&self.checklist).await.decide(&*self.policy, &self.guards);
        Ok(Asked::Decided(decided))
    }

    /// Asks about all calls that wait for a go-ahead, and leaves each in its place.
    async fn ask_together(&self, judged: Vec<Result<Asked, Ending>>) -> Vec<Result<Asked, Ending>> {
        let mut waiting = Vec::new();
        let mut places = Vec::with_capacity(judged.len());
        for call in judged {
            match call {
                Ok(Asked::Decided(decided)) => {
                    waiting.push(decided);
                    places.push(None);
                }
                other => places.push(Some(other)),
            }
        }
        let mut asked = ask(waiting, self.approver.as_deref(), &*self.policy, &self.guards).await.into_iter();
        places.into_iter().filter_map(|place| place.or_else(|| asked.next().map(Ok))).collect()
    }

    /// From the answer to the outcome.
    async fn carry_out(&self, asked: Asked, token: Option<CancellationToken>) -> Ending {
        let permit = match asked.record(&*self.ledger).await.and_then(crate::path::Recorded::permit) {
            Ok(permit) => permit,
            Err(ending) => return ending,
        };
        let outcome = permit.execute(token).await;
        match &self.review {
            Some(review) => outcome.review(&**review).into(),
            None => outcome.into(),
        }
    }
}

impl fmt::Debug for Harness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Harness").field("registry", &self.registry).finish_non_exhaustive()
    }
}
