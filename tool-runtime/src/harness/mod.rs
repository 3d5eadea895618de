//! The stages put together.

mod flow;
mod plans;
mod repeats;
mod resume;
mod sub_calls;
mod turn;
mod turns;

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

pub use plans::PlansRun;
pub use repeats::{Repeats, RepeatsError};
use tokio_util::sync::CancellationToken;
pub use turn::Turn;
pub use turns::TurnOutcome;

use crate::call::{Content, ToolCall, ToolResult};
use crate::checklist::Checklist;
use crate::events::{Observer, Observers};
use crate::execute::Layer;
use crate::gate::{Approver, Grants, Guard, Policy};
use crate::ledger::{Ledger, MemoryLedger, RulingRecord};
use crate::path::settle::DEFAULT_RESULT_CAP;
use crate::path::{Execution, Loaded, Review, Settled};
use crate::registry::Registry;

/// Runs what a model proposes: every call takes the whole path, and every call gets one result.
///
/// A registry and a policy are all that it needs. Everything else has a safe default: nobody is
/// asked, so what has to be asked does not run; verdicts are kept in memory; only calls whose tools
/// say so overlap.
///
/// A panic of a tool, a policy, an approver, a ledger or a renderer is caught and ends its own call
/// alone. With `panic = "abort"` nothing can be caught: the process ends.
pub struct Harness(Arc<Parts>);

/// All that calls are run with. Shared with running calls, which may make calls of their own.
#[derive(Clone)]
struct Parts {
    registry: Registry,
    policy: Arc<dyn Policy>,
    guards: Vec<Arc<dyn Guard>>,
    approver: Option<Arc<dyn Approver>>,
    user: Option<Arc<dyn Approver>>,
    people: BTreeMap<Arc<str>, Arc<dyn Approver>>,
    grants: Grants,
    ledger: Arc<dyn Ledger>,
    checklist: Checklist,
    execution: Execution,
    review: Option<Arc<dyn Review>>,
    repeats: Option<Repeats>,
    observers: Observers,
    loaded: Loaded,
    result_cap: usize,
    conversation: Option<Arc<str>>,
    patience: Option<Duration>,
    runs_unrecorded: bool,
    room: NonZeroUsize,
    /// What was ruled of the plan that all calls of a turn are from.
    plan: Option<Arc<RulingRecord>>,
}

/// How long a call waits for an answer from elsewhere, unless the host says otherwise.
const DEFAULT_PATIENCE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How many calls of a turn may run at a time, unless the host says otherwise.
const DEFAULT_ROOM: NonZeroUsize = NonZeroUsize::new(10).expect("ten is not zero");

impl Harness {
    /// There is no harness without a policy.
    pub fn new(registry: Registry, policy: impl Policy + 'static) -> Self {
        let ledger: Arc<dyn Ledger> = Arc::new(MemoryLedger::default());
        Harness(Arc::new(Parts {
            registry,
            policy: Arc::new(policy),
            guards: Vec::new(),
            approver: None,
            user: None,
            people: BTreeMap::new(),
            grants: Grants::new(),
            execution: Execution::new().ledger(Arc::clone(&ledger)),
            ledger,
            checklist: Checklist::new(),
            review: None,
            repeats: None,
            loaded: Loaded::new(),
            result_cap: DEFAULT_RESULT_CAP,
            conversation: None,
            patience: Some(DEFAULT_PATIENCE),
            runs_unrecorded: false,
            observers: Observers::default(),
            room: DEFAULT_ROOM,
            plan: None,
        }))
    }

    /// What is set. Nobody shares it yet: a harness that runs isn't changed.
    fn parts(&mut self) -> &mut Parts {
        Arc::make_mut(&mut self.0)
    }

    /// Changes under what bodies run.
    fn execution(mut self, change: impl FnOnce(Execution) -> Execution) -> Self {
        let execution = &mut self.parts().execution;
        *execution = change(std::mem::take(execution));
        self
    }

    /// Adds a guard, which can only deny.
    #[must_use]
    pub fn guard(mut self, guard: impl Guard + 'static) -> Self {
        self.parts().guards.push(Arc::new(guard));
        self
    }

    /// Sets who is asked: what policies ask, and what falls to the user, unless there is a [`user`](Self::user).
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.parts().approver = Some(Arc::new(approver));
        self
    }

    /// Sets by whom the user is asked, where that is somebody else than the approver: blanks, confirmations and notices
    /// are the user's then, and nobody else's yes is one to them. What policies ask stays the approver's.
    #[must_use]
    pub fn user(mut self, user: impl Approver + 'static) -> Self {
        self.parts().user = Some(Arc::new(user));
        self
    }

    /// Sets by whom somebody is asked whom lines of the checklist name (`approver = "@name"`). Without one, what that
    /// person has to agree to doesn't run.
    #[must_use]
    pub fn person(mut self, name: impl Into<Arc<str>>, approver: impl Approver + 'static) -> Self {
        self.parts().people.insert(name.into(), Arc::new(approver));
        self
    }

    /// Sets what was granted for the session, and where further grants go. A harness has its own unless
    /// it is set; those that share one are one session.
    #[must_use]
    pub fn grants(mut self, grants: Grants) -> Self {
        self.parts().grants = grants;
        self
    }

    /// Sets what has to be known before calls run. Unless it is set, that is what tools themselves ask for: see
    /// [`Checklist::new`].
    #[must_use]
    pub fn checklist(mut self, checklist: Checklist) -> Self {
        self.parts().checklist = checklist;
        self
    }

    /// Sets where verdicts are recorded: in a [`MemoryLedger`] of its own, unless it is set. An `Arc` of a ledger is a ledger
    /// too.
    #[must_use]
    pub fn ledger(mut self, ledger: impl Ledger + 'static) -> Self {
        self.parts().ledger = Arc::new(ledger);
        let ledger = Arc::clone(&self.parts().ledger);
        self.execution(|execution| execution.ledger(ledger))
    }

    /// Sets which conversation the calls belong to: their records say so, and what a person said no to in
    /// it is remembered there.
    #[must_use]
    pub fn conversation(mut self, id: impl Into<Arc<str>>) -> Self {
        self.parts().conversation = Some(id.into());
        self
    }

    /// Sets for how long an answer that [comes later](crate::Answer::Later) is waited for: seven days,
    /// unless it is set; `None` for ever. Answers after that do nothing.
    #[must_use]
    pub fn answers_within(mut self, limit: Option<Duration>) -> Self {
        self.parts().patience = limit;
        self
    }

    /// Has calls run although the ledger could not keep their verdicts. **Not the default**: a call that
    /// isn't recorded doesn't run.
    ///
    /// Denials stay denials, and a question that can't be recorded is not asked. What could not be kept
    /// is [counted](Self::unrecorded), and observers are told
    /// ([`EventKind::NotRecorded`](crate::EventKind::NotRecorded)). A ledger that takes too long fails
    /// where it has a limit: see [`TimedLedger`](crate::TimedLedger).
    #[must_use]
    pub fn run_unrecorded(mut self) -> Self {
        self.parts().runs_unrecorded = true;
        self
    }

    /// How many verdicts and ends the ledger could not keep so far.
    pub fn unrecorded(&self) -> u64 {
        self.0.observers.unrecorded()
    }

    /// Sets who looks at outcomes before the model does.
    #[must_use]
    pub fn review(mut self, review: impl Review + 'static) -> Self {
        self.parts().review = Some(Arc::new(review));
        self
    }

    /// Puts a layer around the execution of permitted calls, inside those that are there.
    #[must_use]
    pub fn layer(self, layer: impl Layer + 'static) -> Self {
        self.execution(|execution| execution.layer(layer))
    }

    /// Tells the model when it makes the same call again and again.
    #[must_use]
    pub fn repeats(mut self, repeats: Repeats) -> Self {
        self.parts().repeats = Some(repeats);
        self
    }

    /// Adds somebody who is told what happens to calls.
    #[must_use]
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.parts().observers.add(Arc::new(observer));
        self
    }

    /// Sets which deferred tools this conversation has loaded.
    #[must_use]
    pub fn loaded(mut self, loaded: Loaded) -> Self {
        self.parts().loaded = loaded;
        self
    }

    /// Sets how many bytes of text the model reads of one result, and as many of what is said beside it: 100,000, unless it
    /// is set. Of what is longer it reads head and tail, with how much is left out; the record has the
    /// [whole](crate::Record::whole).
    #[must_use]
    pub fn result_cap(mut self, bytes: usize) -> Self {
        self.parts().result_cap = bytes;
        self
    }

    /// Sets how many calls of a turn may run at a time: 10, unless it is set. Which ones may overlap
    /// at all their tools say (`concurrency_safe`, `reads`, `writes`).
    #[must_use]
    pub fn max_concurrent(mut self, calls: NonZeroUsize) -> Self {
        self.parts().room = calls;
        self
    }

    /// Sets how long a body that watches its token may go on after it was told to stop: 50 ms, unless it is set. See
    /// [`Execution::grace`].
    #[must_use]
    pub fn grace(self, grace: Duration) -> Self {
        self.execution(|execution| execution.grace(grace))
    }

    /// Sets how many blocking bodies may still run although their calls were given up: 16, unless it is set. See
    /// [`Execution::max_abandoned`].
    #[must_use]
    pub fn max_abandoned(self, bodies: usize) -> Self {
        self.execution(|execution| execution.max_abandoned(bodies))
    }

    /// Sets who is asked, given who was to be until now.
    #[cfg(feature = "mcp")]
    pub(crate) fn ask_through(mut self, by: impl FnOnce(Option<Arc<dyn Approver>>) -> Arc<dyn Approver>) -> Self {
        let parts = self.parts();
        parts.approver = Some(by(parts.approver.take()));
        self
    }

    /// Is it the approver whom this falls to?
    #[cfg(feature = "mcp")]
    pub(crate) fn falls_to_approver(&self, to: &crate::gate::Addressee) -> bool {
        match to {
            crate::gate::Addressee::Approver => true,
            crate::gate::Addressee::User => self.0.user.is_none(),
            crate::gate::Addressee::Person(_) => false,
        }
    }

    /// What the model is to be told with every request that offers tools: see [`Checklist::reminder`]. `None` if there
    /// is nothing to say, or no tool.
    pub fn reminder(&self) -> Option<Content> {
        self.0.registry.iter().next()?;
        self.0.checklist.refresh();
        self.0.checklist.reminder()
    }

    /// Which deferred tools this conversation has loaded.
    #[cfg(feature = "mcp")]
    pub(crate) fn loaded_tools(&self) -> &Loaded {
        &self.0.loaded
    }

    /// Where verdicts are recorded.
    #[cfg(feature = "mcp")]
    pub(crate) fn records(&self) -> &dyn Ledger {
        &*self.0.ledger
    }

    /// Calls run although the ledger could not keep their verdicts.
    #[cfg(feature = "mcp")]
    pub(crate) fn runs_unrecorded(&self) -> bool {
        self.0.runs_unrecorded
    }

    /// Identifies what a call would run, as questions about it do. `None`: it would not be accepted.
    #[cfg(feature = "mcp")]
    pub(crate) fn what_would_run(&self, call: &ToolCall) -> Option<crate::schema::Digest> {
        let proposed = self.0.registry.resolve(call.clone(), &self.0.loaded).ok()?;
        let digest = proposed.accept().ok()?.what_would_run();
        Some(crate::ledger::LedgerKey::of(self.records()).of_what_runs(digest))
    }

    /// The tools.
    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }

    /// Runs the calls of one turn and gives one result a call, in their order.
    ///
    /// When the future is dropped, nothing of the turn goes on but blocking bodies, which can't be
    /// stopped, and the ledger is told of every call. Whoever wants results then, too, makes a
    /// [`turn`](Self::turn).
    pub async fn run(&self, calls: impl IntoIterator<Item = ToolCall>) -> Vec<ToolResult> {
        let landing = self.0.landing();
        self.0.fly(&landing, calls, None, |_, settled| settled.into_result()).await
    }

    /// As [`run`](Self::run), with the records beside the results. `token` asks running bodies to
    /// stop, and keeps others from beginning. What became of the calls is still written down, and waited for: a ledger that
    /// may hang is put into a [`TimedLedger`](crate::TimedLedger).
    pub async fn run_settled(
        &self,
        calls: impl IntoIterator<Item = ToolCall>,
        token: Option<CancellationToken>,
    ) -> Vec<Settled> {
        let landing = self.0.landing();
        self.0.fly(&landing, calls, token, |_, settled| settled).await
    }

    /// The calls of one turn, which can be cancelled, and which have a result each even if the
    /// future that runs them is dropped.
    pub fn turn(&self, calls: impl IntoIterator<Item = ToolCall>) -> Turn<'_> {
        Turn::new(&self.0, calls.into_iter().collect())
    }
}

impl fmt::Debug for Harness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Harness").field("registry", &self.0.registry).finish_non_exhaustive()
    }
}
