//! A small world, and a sandbox of copies of it.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tool_runtime::agreement::{
    AgreementGate, Bounds, Deliberation, Epoch, Fork, ForkRequest, SampledPlan, Sandbox, SandboxError,
};
use tool_runtime::{AllowAll, BoxFuture, Harness, HostTool, Registry, ToolCall, tool};

/// What tools read and change.
#[derive(Clone, Default)]
pub(crate) struct World {
    /// In which order stores list things.
    pub(crate) reversed: bool,
    /// How often anything was paid.
    pub(crate) paid: Arc<AtomicUsize>,
    /// How often anybody counted.
    counted: Arc<AtomicUsize>,
}

/// Finds a user.
#[tool(host(deterministic, read_only))]
pub(crate) async fn find_user(
    /// Their name.
    name: String,
    #[host] _world: &World,
) -> usize {
    name.len()
}

/// Searches an index.
#[tool(host(deterministic, read_only))]
pub(crate) async fn search_index(
    /// For what.
    query: String,
    #[host] world: &World,
) -> Vec<String> {
    let mut found = vec![format!("{query} a"), format!("{query} b")];
    if world.reversed {
        found.reverse();
    }
    found
}

/// Counts.
#[tool(host(deterministic, read_only))]
pub(crate) async fn count(#[host] world: &World) -> usize {
    world.counted.fetch_add(1, Ordering::SeqCst)
}

/// Pays.
#[tool(host(deterministic))]
pub(crate) async fn pay(
    /// To whom.
    to: String,
    /// How much.
    amount: u32,
    #[host] world: &World,
) -> String {
    world.paid.fetch_add(1, Ordering::SeqCst);
    format!("{amount} to {to}")
}

/// Signs in.
#[tool(host(deterministic))]
pub(crate) async fn sign_in(
    /// Who.
    name: String,
    /// Their PIN.
    #[arg(secret)]
    pin: String,
    #[host] _world: &World,
) -> String {
    format!("{name} {}", pin.len())
}

/// Greets. Its author doesn't say that it says the same each time.
#[tool(host(read_only))]
pub(crate) async fn greet(
    /// Whom.
    name: String,
    #[host] _world: &World,
) -> String {
    format!("Good day, {name}")
}

pub(crate) fn registry(world: World) -> Registry {
    let tools: [HostTool; 6] = [
        FindUserTool::host(),
        SearchIndexTool::host(),
        CountTool::host(),
        PayTool::host(),
        SignInTool::host(),
        GreetTool::host(),
    ];
    Registry::builder().tools(tools).state(world).build().unwrap()
}

/// Copies of an empty world. What it is told to be it is from then on.
#[derive(Clone, Default)]
pub(crate) struct Copies {
    /// Every other copy lists things in another order, as a store does that is written to meanwhile.
    pub(crate) races: Arc<AtomicBool>,
    /// It has no copy to give.
    pub(crate) fails: Arc<AtomicBool>,
    /// It can vary the order.
    pub(crate) varies: bool,
    pub(crate) forks: Arc<AtomicUsize>,
    pub(crate) epochs: Arc<Mutex<Vec<Epoch>>>,
    /// Of all copies together.
    pub(crate) paid: Arc<AtomicUsize>,
}

impl Copies {
    pub(crate) fn varied() -> Self {
        Copies { varies: true, ..Copies::default() }
    }

    pub(crate) fn begun(&self) -> usize {
        self.epochs.lock().unwrap().len()
    }
}

impl Sandbox for Copies {
    fn begin(&self) -> BoxFuture<'static, Result<Epoch, SandboxError>> {
        let epoch = Epoch::begin();
        self.epochs.lock().unwrap().push(epoch.clone());
        Box::pin(async { Ok(epoch) })
    }

    fn fork(&self, request: ForkRequest) -> BoxFuture<'static, Result<Fork, SandboxError>> {
        let number = self.forks.fetch_add(1, Ordering::SeqCst);
        let raced = self.races.load(Ordering::SeqCst) && number % 2 == 1;
        let reversed = raced || request.variation() == Some("order");
        let world = World { reversed, paid: Arc::clone(&self.paid), ..World::default() };
        let fork = match self.fails.load(Ordering::SeqCst) {
            false => Ok(Fork::from(Harness::new(registry(world), AllowAll))),
            true => Err(SandboxError::new("no room")),
        };
        Box::pin(async { fork })
    }

    fn variations(&self) -> Vec<Arc<str>> {
        if self.varies { vec![Arc::from("order")] } else { Vec::new() }
    }
}

pub(crate) fn by(sandbox: impl Sandbox + 'static) -> Deliberation {
    Deliberation::new(AgreementGate::new(Bounds::seed())).sandbox(sandbox)
}

pub(crate) fn plan(tool: &str, arguments: &str) -> SampledPlan {
    SampledPlan::calls([ToolCall::new("call_1", tool, arguments)])
}

/// Plans that pay Ann, each this much.
pub(crate) fn payments<const N: usize>(amounts: [u32; N]) -> Vec<SampledPlan> {
    amounts.into_iter().map(|amount| plan("pay", &format!(r#"{{"to":"Ann","amount":{amount}}}"#))).collect()
}

pub(crate) fn now<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}
