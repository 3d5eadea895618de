//! A batch as the one that the gate was thought up for: twelve tools that are declared deterministic, of which three are
//! not; and a scorer that takes results for what plans did, beside one that doesn't.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tool_runtime::agreement::{
    AgreementGate, Bounds, Deliberation, Epoch, Fork, ForkRequest, JudgementKind, Probing, Quarantine, RulingReason,
    SampledPlan, Sandbox, SandboxError,
};
use tool_runtime::{AllowAll, BoxFuture, Harness, Registry, RegistryError, ToolCall};

use self::tools::{Copy, registry};
use crate::dice::Dice;
use crate::grounding::Share;

/// How many prompts, and how many plans are sampled of each.
const PROMPTS: u64 = 400;
const SAMPLES: usize = 10;

/// Below this agreement of results the naive scorer rejects.
const NAIVE_BOUND: f64 = 0.8;

/// What was counted.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct BatchFigures {
    /// The tools that the probe at the start found, each with the variation that it showed under.
    pub by_probe: Vec<(String, String)>,
    /// Those that differing results found.
    pub by_results: Vec<String>,
    /// Of the prompts, those whose plan a scorer on results rejects.
    pub naive_rejected: Share,
    /// Of those, how many plans are right.
    pub naive_wrongly: Share,
    /// Of the prompts, those whose plan the gate rejects.
    pub rejected: Share,
    /// Of those, how many plans are right.
    pub wrongly: Share,
    /// Of the rejected ones, those for anything but their arguments.
    pub for_results: Share,
    /// Of the prompts, those whose plan is accepted.
    pub accepted: Share,
    /// Of those, how many are right.
    pub accepted_right: Share,
    /// Why others are deferred, and how many.
    pub deferred: BTreeMap<String, usize>,
}

/// Runs the batch and prints what came of it.
///
/// # Errors
/// If `out` can't be written.
pub fn batch(seed: u64, out: &mut impl Write) -> Result<BatchFigures, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(run(seed, out))
}

async fn run(seed: u64, out: &mut impl Write) -> Result<BatchFigures, Box<dyn Error>> {
    let (world, quarantine) = (World::default(), Quarantine::new());
    let real = registry(Copy::default())?;
    let mut probing = Probing::new(world.clone());
    for tool in real.iter() {
        probing = probing.arguments(tool.name(), [arguments("7")]);
    }
    let deliberation = Deliberation::new(AgreementGate::new(Bounds::seed().min_samples(SAMPLES)))
        .probing(probing)
        .rounds(NonZeroUsize::MIN)
        .quarantine(quarantine.clone());

    writeln!(out, "Probes at the start, while nothing else happens:")?;
    let report = deliberation.start(&real).await?;
    writeln!(out, "{report}\n")?;
    let mut figures = BatchFigures::default();
    let found = report.wrong().map(|tool| (tool.name().to_owned(), tool.under().unwrap_or_default().to_owned()));
    figures.by_probe.extend(found);

    // From here on there are writes, reloads and the passing of time, as ever; nobody ends the epoch for them.
    world.busy.store(true, Ordering::SeqCst);
    let mut dice = Dice::new(seed);
    let names: Vec<String> = real.iter().map(|tool| tool.name().to_owned()).collect();
    for prompt in 0..PROMPTS {
        let name = &names[usize::try_from(prompt)? % names.len()];
        let right = arguments(&prompt.to_string());
        let deliberated = deliberation.deliberate(&real, &plans(name, prompt, &mut dice)).await?;
        let ruling = deliberated.ruling();
        let calls = deliberated.plan().and_then(SampledPlan::tool_calls).unwrap_or_default();
        let is_right = calls.iter().all(|call| call.arguments().to_string_lossy() == right);

        let naive_rejects = ruling.figures().result_agreement.unwrap_or(0.0) < NAIVE_BOUND;
        figures.naive_rejected.count(naive_rejects);
        if naive_rejects {
            figures.naive_wrongly.count(is_right);
        }
        figures.rejected.count(ruling.kind() == JudgementKind::Reject);
        figures.accepted.count(ruling.kind() == JudgementKind::Accept);
        match ruling.kind() {
            JudgementKind::Accept => figures.accepted_right.count(is_right),
            JudgementKind::Reject => {
                figures.wrongly.count(is_right);
                figures.for_results.count(ruling.reason() != RulingReason::ArgumentsDisagree);
            }
            _ => *figures.deferred.entry(ruling.reason().to_string()).or_default() += 1,
        }
    }
    let probed = |name: &String| figures.by_probe.iter().any(|(probed, _)| probed == name);
    figures.by_results = quarantine.tools().into_iter().map(|tool| tool.name).filter(|name| !probed(name)).collect();
    print(&figures, out)?;
    Ok(figures)
}

fn print(figures: &BatchFigures, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    writeln!(out, "{PROMPTS} prompts, {SAMPLES} sampled plans of each:")?;
    writeln!(out, "                      rejected              of these right")?;
    let (naive, wrongly) = (figures.naive_rejected, figures.naive_wrongly);
    writeln!(out, "  by results alone    {naive}  {wrongly}")?;
    writeln!(out, "  by the gate         {}  {}", figures.rejected, figures.wrongly)?;
    writeln!(out, "  rejected for results by the gate: {}", figures.for_results.of)?;
    writeln!(out, "  accepted {}, of these right {}", figures.accepted, figures.accepted_right)?;
    for (reason, count) in &figures.deferred {
        writeln!(out, "  deferred, {reason}: {count}")?;
    }
    writeln!(out, "Declared deterministic, and not:")?;
    for (tool, under) in &figures.by_probe {
        writeln!(out, "  {tool}: found by the probe, under `{under}`")?;
    }
    for tool in &figures.by_results {
        writeln!(out, "  {tool}: found by results that differ")?;
    }
    Ok(())
}

/// The one argument that all tools take.
fn arguments(id: &str) -> String {
    format!(r#"{{"id":"{id}"}}"#)
}

/// What a model answers: mostly the same; of one prompt in fifteen it doesn't know the id, and makes one up each time.
fn plans(tool: &str, prompt: u64, dice: &mut Dice) -> Vec<SampledPlan> {
    let knows = dice.below(15) > 0;
    let mut plan = |number: usize| {
        let slips = dice.below(50) == 0;
        let id = if knows && !slips { prompt.to_string() } else { format!("made-up-{}", dice.below(10_000)) };
        SampledPlan::calls([ToolCall::new(format!("call_{number}"), tool, arguments(&id))])
    };
    (0..SAMPLES).map(&mut plan).collect()
}

/// What copies are taken of.
#[derive(Clone, Default)]
struct World {
    busy: Arc<AtomicBool>,
    forks: Arc<AtomicU64>,
}

impl Sandbox for World {
    fn begin(&self) -> BoxFuture<'static, Result<Epoch, SandboxError>> {
        Box::pin(async { Ok(Epoch::begin()) })
    }

    fn fork(&self, request: ForkRequest) -> BoxFuture<'static, Result<Fork, SandboxError>> {
        // A copy takes 20 seconds, and every other minute somebody reloads the configuration.
        let number = if self.busy.load(Ordering::SeqCst) { self.forks.fetch_add(1, Ordering::SeqCst) } else { 0 };
        let mut copy = Copy { reversed: number % 2 == 1, seconds: 20 * number, generation: number / 3 };
        match request.variation() {
            Some("order") => copy.reversed = !copy.reversed,
            Some("clock") => copy.seconds += 3600,
            _ => {}
        }
        let fork = registry(copy).map(|registry: Registry| Fork::from(Harness::new(registry, AllowAll)));
        Box::pin(async { fork.map_err(|error: RegistryError| SandboxError::new(error)) })
    }

    fn variations(&self) -> Vec<Arc<str>> {
        // When a configuration is reloaded isn't its to say.
        vec![Arc::from("order"), Arc::from("clock")]
    }
}

mod tools {
    //! Twelve tools that look something up.

    use tool_runtime::{Registry, RegistryError, tool};

    /// The state of the world at one time.
    #[derive(Debug, Clone, Default)]
    pub(super) struct Copy {
        /// In which order an index lists what was written to it meanwhile.
        pub(super) reversed: bool,
        pub(super) seconds: u64,
        /// How often the configuration was reloaded.
        pub(super) generation: u64,
    }

    /// What isn't there.
    #[derive(Debug)]
    struct NotFound(String);

    impl std::fmt::Display for NotFound {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "there is no `{}`", self.0)
        }
    }

    impl std::error::Error for NotFound {}

    fn there(id: String) -> Result<String, NotFound> {
        if id.chars().all(|c| c.is_ascii_digit()) { Ok(id) } else { Err(NotFound(id)) }
    }

    /// Search an index.
    #[tool(host(deterministic, read_only))]
    async fn search_index(
        /// For what.
        id: String,
        #[host] copy: &Copy,
    ) -> Result<Vec<String>, NotFound> {
        let id = there(id)?;
        let mut found = vec![format!("{id}, first page"), format!("{id}, second page")];
        if copy.reversed {
            found.reverse();
        }
        Ok(found)
    }

    /// Read a setting.
    #[tool(host(deterministic, read_only))]
    async fn read_config(
        /// Which.
        id: String,
        #[host] copy: &Copy,
    ) -> Result<String, NotFound> {
        Ok(format!("{} of version {}", there(id)?, copy.generation))
    }

    /// Resolve a user.
    #[tool(host(deterministic, read_only))]
    async fn resolve_user(
        /// Who.
        id: String,
        #[host] copy: &Copy,
    ) -> Result<String, NotFound> {
        // From a cache that keeps what it has for a minute.
        Ok(format!("{} as of minute {}", there(id)?, copy.seconds / 60))
    }

    macro_rules! lookups {
        ($($name:ident $tool:ident $what:literal,)*) => {
            $(
                #[doc = $what]
                #[tool(host(deterministic, read_only))]
                async fn $name(
                    /// Of which.
                    id: String,
                ) -> Result<String, NotFound> {
                    Ok(format!("{} {}", $what, there(id)?))
                }
            )*

            pub(super) fn registry(copy: Copy) -> Result<Registry, RegistryError> {
                Registry::builder()
                    .tools([SearchIndexTool::host(), ReadConfigTool::host(), ResolveUserTool::host(), $($tool::host(),)*])
                    .state(copy)
                    .build()
            }
        };
    }

    lookups! {
        get_address GetAddressTool "Get an address.",
        get_balance GetBalanceTool "Get a balance.",
        get_contract GetContractTool "Get a contract.",
        get_invoice GetInvoiceTool "Get an invoice.",
        get_order GetOrderTool "Get an order.",
        get_price GetPriceTool "Get a price.",
        get_profile GetProfileTool "Get a profile.",
        get_shipment GetShipmentTool "Get a shipment.",
        get_stock GetStockTool "Get what is in stock.",
    }
}
