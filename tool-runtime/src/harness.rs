//! The stages put together.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::call::{CallId, ToolCall, ToolResult, Word};
use crate::checklist::Checklist;
use crate::execute::{schedule, until};
use crate::gate::{Approver, Guard, Policy};
use crate::ledger::{Ledger, MemoryLedger};
use crate::path::ask::ask;
use crate::path::flight::{Flight, Landing};
use crate::path::settle::DEFAULT_RESULT_CAP;
use crate::path::{Asked, Ending, Execution, Loaded, Review, Settled};
use crate::registry::Registry;

/// Runs what a model proposes: every call takes the whole path, and every call gets one result.
///
/// A registry and a policy are all that it needs. Everything else has a safe default: nobody is
/// asked, so what has to be asked does not run; verdicts are kept in memory; only calls whose tools
/// say so overlap.
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
    execution: Execution,
    review: Option<Arc<dyn Review>>,
    loaded: Loaded,
    result_cap: usize,
    room: NonZeroUsize,
}

/// How many calls of a turn may run at a time, unless the host says otherwise.
const DEFAULT_ROOM: NonZeroUsize = NonZeroUsize::new(10).expect("ten is not zero");

impl Harness {
    /// There is no harness without a policy.
    pub fn new(registry: Registry, policy: impl Policy + 'static) -> Self {
        let ledger: Arc<dyn Ledger> = Arc::new(MemoryLedger::default());
        Harness {
            registry,
            policy: Arc::new(policy),
            guards: Vec::new(),
            approver: None,
            execution: Execution::new().ledger(Arc::clone(&ledger)),
            ledger,
            checklist: Checklist::new(),
            review: None,
            loaded: Loaded::new(),
            result_cap: DEFAULT_RESULT_CAP,
            room: DEFAULT_ROOM,
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
        self.execution = self.execution.ledger(Arc::clone(&self.ledger));
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

    /// Sets how many calls of a turn may run at a time: 10, unless it is set. Which ones may overlap
    /// at all their tools say (`concurrency_safe`, `reads`, `writes`).
    #[must_use]
    pub fn max_concurrent(mut self, calls: NonZeroUsize) -> Self {
        self.room = calls;
        self
    }

    /// Sets how long a body that watches its token may go on after it was told to stop: see
    /// [`Execution::grace`].
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.execution = self.execution.grace(grace);
        self
    }

    /// Sets how many blocking bodies may still run although their calls were given up: see
    /// [`Execution::max_abandoned`].
    #[must_use]
    pub fn max_abandoned(mut self, bodies: usize) -> Self {
        self.execution = self.execution.max_abandoned(bodies);
        self
    }

    /// The tools.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Runs the calls of one turn and gives one result a call, in their order.
    ///
    /// When the future is dropped, nothing of the turn goes on but blocking bodies, which can't be
    /// stopped, and the ledger is told of every call. Whoever wants results then, too, makes a
    /// [`turn`](Self::turn).
    pub async fn run(&self, calls: impl IntoIterator<Item = ToolCall>) -> Vec<ToolResult> {
        let landing = Landing::new(&self.ledger, self.result_cap);
        self.fly(&landing, calls, None, |_, settled| settled.into_result()).await
    }

    /// As [`run`](Self::run), with the records beside the results. `token` asks running bodies to
    /// stop, and keeps others from beginning.
    pub async fn run_settled(
        &self,
        calls: impl IntoIterator<Item = ToolCall>,
        token: Option<CancellationToken>,
    ) -> Vec<Settled> {
        let landing = Landing::new(&self.ledger, self.result_cap);
        self.fly(&landing, calls, token, |_, settled| settled).await
    }

    /// The calls of one turn, which can be cancelled, and which have a result each even if the
    /// future that runs them is dropped.
    pub fn turn(&self, calls: impl IntoIterator<Item = ToolCall>) -> Turn<'_> {
        let calls: Vec<ToolCall> = calls.into_iter().collect();
        Turn {
            harness: self,
            heads: calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect(),
            settled: calls.iter().map(|_| None).collect(),
            calls,
            landing: Landing::new(&self.ledger, self.result_cap),
            token: CancellationToken::new(),
        }
    }

    async fn fly<T: Send>(
        &self,
        landing: &Landing<'_>,
        calls: impl IntoIterator<Item = ToolCall>,
        token: Option<CancellationToken>,
        keep: impl Fn(usize, Settled) -> T + Sync,
    ) -> Vec<T> {
        let token = token.as_ref();
        let calls = calls.into_iter();
        let mut judged = Vec::with_capacity(calls.size_hint().0);
        for (position, call) in calls.enumerate() {
            let mut flight = Flight::new(landing, position, &call);
            let asked = match self.judge(&mut flight, call, token).await {
                Ok(asked) => Some(asked),
                Err(ending) => {
                    flight.ends(ending);
                    None
                }
            };
            judged.push((flight, asked));
        }
        if judged.iter().any(|(_, call)| call.as_ref().is_some_and(Asked::has_to_ask)) {
            judged = self.ask_together(judged, token).await;
        }
        if judged.len() == 1 {
            // What most turns are needs no schedule.
            let mut settled = Vec::with_capacity(1);
            for call in judged {
                let flight = self.carry_out(call, token).await;
                settled.push(keep(0, flight.settle(self.review.as_deref()).await));
            }
            return settled;
        }
        schedule(
            judged,
            self.room,
            |(_, call)| call.as_ref().map_or_else(Asked::touches_nothing, Asked::access),
            |call| self.carry_out(call, token),
            |flight: Flight<'_>| async { keep(flight.position(), flight.settle(self.review.as_deref()).await) },
        )
        .await
    }

    async fn judge(
        &self,
        flight: &mut Flight<'_>,
        call: ToolCall,
        token: Option<&CancellationToken>,
    ) -> Result<Asked, Ending> {
        let proposed = self.registry.resolve(call, &self.loaded)?;
        flight.resolved(proposed.tool());
        let checked = proposed.accept()?.check(&self.checklist).await;
        if is_cancelled(token) {
            return Ok(Asked::Decided(checked.cancelled()));
        }
        let decided = checked.decide(&*self.policy, &self.guards);
        Ok(Asked::Decided(if is_cancelled(token) { decided.cancelled() } else { decided }))
    }

    /// Asks about all calls that wait for a go-ahead, and leaves each in its place.
    async fn ask_together<'t>(&self, judged: Vec<Judged<'t>>, token: Option<&CancellationToken>) -> Vec<Judged<'t>> {
        let mut waiting = Vec::new();
        let mut places = Vec::with_capacity(judged.len());
        for (flight, call) in judged {
            match call {
                Some(Asked::Decided(decided)) => {
                    waiting.push(decided);
                    places.push((flight, None));
                }
                other => places.push((flight, Some(other))),
            }
        }
        let asked = ask(waiting, self.approver.as_deref(), &*self.policy, &self.guards, token).await;
        let mut asked = asked.into_iter();
        places.into_iter().map(|(flight, place)| (flight, place.unwrap_or_else(|| asked.next()))).collect()
    }

    /// From the answer to the outcome.
    async fn carry_out<'t>(&self, (mut flight, call): Judged<'t>, token: Option<&CancellationToken>) -> Flight<'t> {
        let Some(asked) = call else { return flight };
        if !self.execution.is_clear() {
            let access = asked.access();
            match until(token, self.execution.clear_of(access, flight.budget())).await {
                Some(true) => {}
                Some(false) => return flight.busy(),
                None => return flight.cut_short(),
            }
        }
        let recorded = match until(token, asked.record(&*self.ledger)).await {
            Some(Ok(recorded)) => recorded,
            Some(Err(ending)) => return flight.ended(ending),
            None => return flight.cut_short(),
        };
        flight.recorded(recorded.shared_verdict());
        let permit = match recorded.permit() {
            Ok(permit) => permit,
            Err(ending) => return flight.ended(ending),
        };
        flight.started();
        let outcome = permit.execute_under(&self.execution, token.cloned()).await;
        flight.ended(outcome.into())
    }
}

/// A call that was judged, unless it has ended before that.
type Judged<'t> = (Flight<'t>, Option<Asked>);

fn is_cancelled(token: Option<&CancellationToken>) -> bool {
    token.is_some_and(CancellationToken::is_cancelled)
}

impl fmt::Debug for Harness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Harness").field("registry", &self.registry).finish_non_exhaustive()
    }
}

/// The calls of one turn, on their way to one result each.
///
/// ```
/// # use tool_runtime::{AllowAll, Harness, Registry, ToolCall};
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let harness = Harness::new(Registry::builder().build().unwrap(), AllowAll);
/// let mut turn = harness.turn([ToolCall::new("call_1", "add", r#"{"a": 1}"#)]);
/// let stop = turn.token();
/// // `stop.cancel()`, from anywhere, ends the turn; so does dropping the future of `run`.
/// turn.run().await;
/// assert_eq!(turn.results().len(), 1);
/// # });
/// ```
pub struct Turn<'h> {
    harness: &'h Harness,
    calls: Vec<ToolCall>,
    heads: Vec<(CallId, Word)>,
    settled: Vec<Option<Settled>>,
    landing: Landing<'h>,
    token: CancellationToken,
}

impl Turn<'_> {
    /// Has the turn cancelled when `token` is.
    #[must_use]
    pub fn cancelled_by(mut self, token: &CancellationToken) -> Self {
        self.token = token.child_token();
        self
    }

    /// Cancels the turn: what hasn't begun won't, and what runs is told to stop.
    pub fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    /// Runs the calls. Once they have run, it does nothing.
    pub async fn run(&mut self) {
        let calls = std::mem::take(&mut self.calls);
        if calls.is_empty() {
            return;
        }
        let token = Some(self.token.clone());
        // Kept one by one, so that what is settled stays so if this is dropped.
        let landing = &self.landing;
        self.harness.fly(landing, calls, token, |position, settled| landing.keep(position, settled)).await;
    }

    /// What the model reads: one result a call, in their order, however far the calls came.
    pub fn results(&mut self) -> Vec<ToolResult> {
        self.settled().into_iter().map(Settled::into_result).collect()
    }

    /// As [`results`](Self::results), with the records.
    pub fn settled(&mut self) -> Vec<Settled> {
        self.calls.clear();
        self.collect();
        for (position, (id, name)) in self.heads.iter().enumerate() {
            if self.settled[position].is_none() {
                // It was never begun. Dropped here, it ends.
                drop(Flight::new(&self.landing, position, &ToolCall::of_parts(id.clone(), name.clone())));
            }
        }
        self.collect();
        self.settled.iter().flatten().cloned().collect()
    }

    fn collect(&mut self) {
        for (position, settled) in self.landing.take() {
            if let Some(slot) = self.settled.get_mut(position) {
                slot.get_or_insert(settled);
            }
        }
    }
}

impl fmt::Debug for Turn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").field("calls", &self.heads).finish_non_exhaustive()
    }
}
