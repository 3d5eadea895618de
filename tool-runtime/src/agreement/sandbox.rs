use std::fmt;
use std::sync::Arc;

use super::epoch::Epoch;
use super::sample::{Observed, PlannedCall};
use crate::BoxFuture;
use crate::schema::Digest;
use crate::tool::CatchPanic;

/// Where sampled plans and probes run without effect: a dry run, or copies of the state.
///
/// ```
/// use std::sync::Arc;
/// use tool_runtime::agreement::{Epoch, Fork, ForkRequest, Sandbox, SandboxError};
/// use tool_runtime::{AllowAll, BoxFuture, Harness, Registry};
///
/// /// Each fork is a registry over a copy of the state.
/// struct Copies {
///     registry: fn() -> Registry,
/// }
///
/// impl Sandbox for Copies {
///     fn begin(&self) -> BoxFuture<'static, Result<Epoch, SandboxError>> {
///         Box::pin(async { Ok(Epoch::begin()) })
///     }
///
///     fn fork(&self, _: ForkRequest) -> BoxFuture<'static, Result<Fork, SandboxError>> {
///         let fork = Fork::from(Harness::new((self.registry)(), AllowAll));
///         Box::pin(async { Ok(fork) })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a sandbox",
    label = "can't run plans without effect",
    note = "implement `Sandbox` for it: `begin` freezes the state, `fork` gives copies of it"
)]
pub trait Sandbox: Send + Sync {
    /// Freezes the state as it is now. Whoever moves it afterwards, by a reload of the configuration or by emptying a
    /// cache, [ends](Epoch::end) the epoch.
    fn begin(&self) -> BoxFuture<'static, Result<Epoch, SandboxError>>;

    /// A copy of what was frozen, for one plan. All copies of an epoch begin alike.
    ///
    /// # Errors
    /// If there is none to be had, say because the epoch is over.
    fn fork(&self, request: ForkRequest) -> BoxFuture<'static, Result<Fork, SandboxError>>;

    /// What it can change that the result of a deterministic tool can't depend on, by names of its own: the
    /// order in which stores list things, a clock, load. Probes ask for forks with each of them.
    fn variations(&self) -> Vec<Arc<str>> {
        Vec::new()
    }
}

impl<S: Sandbox + ?Sized> Sandbox for Arc<S> {
    fn begin(&self) -> BoxFuture<'static, Result<Epoch, SandboxError>> {
        (**self).begin()
    }

    fn fork(&self, request: ForkRequest) -> BoxFuture<'static, Result<Fork, SandboxError>> {
        (**self).fork(request)
    }

    fn variations(&self) -> Vec<Arc<str>> {
        (**self).variations()
    }
}

/// Which copy is wanted. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ForkRequest {
    epoch: Epoch,
    variation: Option<Arc<str>>,
}

impl ForkRequest {
    /// Of an epoch, as it is.
    pub fn of(epoch: &Epoch) -> Self {
        ForkRequest { epoch: epoch.clone(), variation: None }
    }

    /// With something else that makes no difference to a deterministic tool.
    #[must_use]
    pub fn varied(mut self, variation: Arc<str>) -> Self {
        self.variation = Some(variation);
        self
    }

    /// The epoch.
    pub fn epoch(&self) -> &Epoch {
        &self.epoch
    }

    /// What is to be varied, of the sandbox's own [variations](Sandbox::variations). `None`: nothing.
    pub fn variation(&self) -> Option<&str> {
        self.variation.as_deref()
    }
}

type RunPlan = dyn Fn(Vec<PlannedCall>) -> BoxFuture<'static, Vec<SandboxRun>> + Send + Sync;

/// One copy of a sandbox's state, on which calls run. A [`Harness`](crate::Harness) over such a copy is one: its calls take
/// the whole path, under its own policy and into its own ledger.
#[derive(Clone)]
pub struct Fork(Arc<RunPlan>);

impl Fork {
    /// Runs the calls of a plan by `run`, which gives one run a call, in their order. What it leaves out was not run, and
    /// neither was anything if it panics.
    pub fn new(run: impl Fn(Vec<PlannedCall>) -> BoxFuture<'static, Vec<SandboxRun>> + Send + Sync + 'static) -> Self {
        Fork(Arc::new(run))
    }

    /// One run a call.
    pub(super) async fn run(&self, calls: Vec<PlannedCall>) -> Vec<SandboxRun> {
        let wanted = calls.len();
        let mut runs = CatchPanic::of(|| (self.0)(calls)).await.unwrap_or_default();
        runs.resize_with(wanted, || SandboxRun::of(Observed::NotRun));
        runs
    }
}

impl fmt::Debug for Fork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fork").finish_non_exhaustive()
    }
}

/// What a sandbox saw of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxRun {
    pub(super) observed: Observed,
    pub(super) afterwards: Option<String>,
    pub(super) definition: Option<Digest>,
}

impl SandboxRun {
    /// What it came to.
    pub fn of(observed: Observed) -> Self {
        SandboxRun { observed, afterwards: None, definition: None }
    }

    /// What the call left of its arguments, as JSON text, where a body could change them. A body of this process can't: it is
    /// given values that nobody else has.
    #[must_use]
    pub fn left(mut self, arguments: impl Into<String>) -> Self {
        self.afterwards = Some(arguments.into());
        self
    }

    /// Which definition of the tool ran: its [digest](crate::HostTool::digest). What ran as another tool, or nobody knows
    /// as which, verifies none.
    #[must_use]
    pub fn by(mut self, definition: Digest) -> Self {
        self.definition = Some(definition);
        self
    }

    /// What it came to.
    pub fn observed(&self) -> &Observed {
        &self.observed
    }
}

/// A sandbox can't do what it was asked to.
#[derive(Debug)]
pub struct SandboxError(Box<dyn std::error::Error + Send + Sync>);

impl SandboxError {
    /// With its cause.
    pub fn new(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        SandboxError(cause.into())
    }
}

impl fmt::Display for SandboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the sandbox failed")
    }
}

impl std::error::Error for SandboxError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}

/// The words of a fault of a sandbox, for reports to the host.
pub(super) fn words(error: &SandboxError) -> String {
    format!("{error}: {}", error.0)
}

/// Asks a sandbox; one that panics has failed.
pub(super) async fn asked<T>(
    ask: impl FnOnce() -> BoxFuture<'static, Result<T, SandboxError>>,
) -> Result<T, SandboxError> {
    CatchPanic::of(ask).await.unwrap_or_else(|panic| Err(SandboxError::new(panic)))
}
