use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::bounds::Estimator;
use super::declaration::{Determinism, PlanTool, PlanTools, Verified};
use super::deliberated::{Deliberated, DeliberationError};
use super::epoch::Epoch;
use super::probing::{ProbeReport, ProbedTool, Probing};
use super::quarantine::Quarantine;
use super::rule::AgreementGate;
use super::ruling::{Ruling, RulingReason};
use super::sample::{Sample, SampleSet};
use super::sampler::{SampleRequest, SampledPlan, Sampler, SamplerError};
use super::sandbox::{ForkRequest, Sandbox, SandboxError, asked};
use crate::execute::schedule;
use crate::ledger::JudgementKind;
use crate::registry::Registry;
use crate::tool::{Access, CatchPanic, HostTool};

type Rule = Arc<dyn Fn(&SampleSet, &PlanTools) -> Ruling + Send + Sync>;

/// From N sampled plans to one ruling: runs them in a sandbox, rules, and where that defers does what may help, so
/// often and no oftener.
///
/// - What wasn't verified in this epoch is probed, with the plans' own arguments: of those that a tool takes with the three
///   that most plans have, and of those that as many have, with what was drawn first.
/// - Where arguments are split, or say too little, further plans are drawn and judged together with the first, within the
///   same epoch.
/// - Where results differ, or the epoch moved, all is drawn anew in a fresh epoch.
///
/// What is deferred after that is for a person: [`Harness::run_plans`](crate::Harness::run_plans) asks one, with what the
/// plans differ in side by side.
#[derive(Clone)]
pub struct Deliberation {
    rule: Rule,
    samples: usize,
    rounds: NonZeroUsize,
    room: NonZeroUsize,
    sandbox: Option<Arc<dyn Sandbox>>,
    probing: Option<Probing>,
    quarantine: Quarantine,
    said: BTreeMap<String, PlanTool>,
    found: Arc<Mutex<Found>>,
}

/// What is known of the sandbox. Clones of a deliberation share it.
#[derive(Default)]
struct Found {
    /// The one that runs.
    epoch: Option<Epoch>,
    /// What was verified, by name. Says something in its own epoch alone.
    proofs: BTreeMap<String, Verified>,
}

/// How often plans are drawn at the most, unless the host says otherwise.
const DEFAULT_ROUNDS: NonZeroUsize = NonZeroUsize::new(2).expect("two is not zero");

/// How many plans run in the sandbox at a time, unless the host says otherwise.
const DEFAULT_ROOM: NonZeroUsize = NonZeroUsize::new(8).expect("eight is not zero");

impl Deliberation {
    /// By a gate. A round draws as many plans as its bounds ask for at least.
    pub fn new<E: Estimator>(gate: AgreementGate<E>) -> Self {
        Deliberation {
            samples: gate.said().of,
            rule: Arc::new(move |set, tools| gate.rule(set, tools)),
            rounds: DEFAULT_ROUNDS,
            room: DEFAULT_ROOM,
            sandbox: None,
            probing: None,
            quarantine: Quarantine::new(),
            said: BTreeMap::new(),
            found: Arc::default(),
        }
    }

    /// Sets how many plans are drawn in each round.
    #[must_use]
    pub fn samples(mut self, plans: usize) -> Self {
        self.samples = plans;
        self
    }

    /// Sets how often plans are drawn at the most: twice, unless it is set.
    #[must_use]
    pub fn rounds(mut self, rounds: NonZeroUsize) -> Self {
        self.rounds = rounds;
        self
    }

    /// Sets how many plans run in the sandbox at a time: 8, unless it is set. The calls of each run as its fork schedules
    /// them.
    #[must_use]
    pub fn max_concurrent(mut self, plans: NonZeroUsize) -> Self {
        self.room = plans;
        self
    }

    /// Sets where plans run before one is proposed, and where tools are probed. Without one there are neither results nor
    /// proofs.
    #[must_use]
    pub fn sandbox(self, sandbox: impl Sandbox + 'static) -> Self {
        self.probing(Probing::new(sandbox))
    }

    /// As [`sandbox`](Self::sandbox), with arguments that tools are probed with besides those of the plans.
    #[must_use]
    pub fn probing(mut self, probing: Probing) -> Self {
        self.sandbox = Some(Arc::clone(probing.in_sandbox()));
        self.probing = Some(probing);
        self
    }

    /// Sets whose declarations aren't believed, and where those go that turn out to be wrong.
    #[must_use]
    pub fn quarantine(mut self, quarantine: Quarantine) -> Self {
        self.quarantine = quarantine;
        self
    }

    /// Says more of a tool than its author does, such as how its arguments are canonicalised.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>, tool: PlanTool) -> Self {
        self.said.insert(name.into(), tool);
        self
    }

    /// Draws plans and rules on them. Nothing of it runs for real.
    ///
    /// # Errors
    /// If no plans can be drawn, or the sandbox can't begin. What fails later ends in a ruling that defers.
    pub async fn deliberate(
        &self,
        registry: &Registry,
        sampler: &dyn Sampler,
    ) -> Result<Deliberated, DeliberationError> {
        let set = SampleSet::new(self.epoch().await?);
        let mut table = Table { of: self, registry, plans: Vec::new(), set, probed: Vec::new() };
        let mut last: Option<Deliberated> = None;
        loop {
            let rounds = last.as_ref().map_or(0, Deliberated::rounds);
            match (self.draw(sampler, rounds, table.set.epoch()).await, last) {
                (Ok(plans), _) => table.take(plans).await,
                // There is a ruling already, and it stands.
                (Err(_), Some(last)) => return Ok(last),
                (Err(error), None) => return Err(error),
            }
            let so_far = table.judge(rounds + 1).await;
            let next = match so_far.ruling.kind() {
                JudgementKind::Defer if so_far.rounds < self.rounds.get() => Next::after(so_far.ruling.reason()),
                _ => Next::End,
            };
            match next {
                Next::End => return Ok(so_far),
                Next::More => {}
                Next::Anew => match self.begin().await {
                    Ok(epoch) => table.begin(epoch),
                    Err(_) => return Ok(so_far),
                },
            }
            last = Some(so_far);
        }
    }

    /// Probes all tools that are declared deterministic, by the host (with [`tool`](Self::tool)) or else by their authors:
    /// what is to be done when a host starts, so that calls don't wait for it. Declarations that are found to be wrong go
    /// into quarantine, and those that hold come out.
    ///
    /// # Errors
    /// If there is no sandbox, or it can't begin.
    pub async fn start(&self, registry: &Registry) -> Result<ProbeReport, DeliberationError> {
        let Some(probing) = &self.probing else {
            return Err(DeliberationError::Sandbox(SandboxError::new("there is none")));
        };
        let epoch = self.epoch().await?;
        let declared = registry.iter().filter(|tool| self.is_declared(tool)).cloned().collect();
        let report = probing.probe_tools(declared, &epoch, |name| self.copies(name)).await;
        for probed in report.tools() {
            if let Some(tool) = registry.get(probed.name()) {
                self.learn(tool, probed).await;
            }
        }
        Ok(report)
    }

    /// By the host, or where it says nothing by its author: the same arguments give the same result.
    fn is_declared(&self, tool: &HostTool) -> bool {
        let by_author = tool.hints().deterministic;
        self.said.get(tool.name()).map_or(by_author, |said| said.determinism == Determinism::Declared)
    }

    /// What came out differently among samples has to be the same on as many copies before it is believed again.
    fn copies(&self, name: &str) -> usize {
        if self.quarantine.holds(name) { self.samples } else { 0 }
    }

    /// What a probe has shown.
    async fn learn(&self, tool: &HostTool, probed: &ProbedTool) {
        let name = tool.name();
        match probed.outcome() {
            Ok(proof) => {
                if let Err(error) = self.quarantine.lift_by_probe(name, proof).await {
                    tracing::error!(target: "tool_runtime", tool = name, %error, "a quarantine could not be lifted");
                }
                self.found().proofs.insert(name.to_owned(), proof.clone());
            }
            Err(_) if probed.is_wrong() => self.hold(tool, probed.to_string()).await,
            Err(_) => {}
        }
    }

    async fn hold(&self, tool: &HostTool, why: String) {
        if let Err(error) = self.quarantine.hold(tool, why).await {
            tracing::error!(target: "tool_runtime", tool = tool.name(), %error, "a quarantine could not be recorded");
        }
    }

    /// The epoch that runs, or a fresh one.
    async fn epoch(&self) -> Result<Epoch, DeliberationError> {
        let running = self.found().epoch.clone().filter(|epoch| !epoch.is_over());
        match running {
            Some(epoch) => Ok(epoch),
            None => self.begin().await,
        }
    }

    async fn begin(&self) -> Result<Epoch, DeliberationError> {
        let epoch = match &self.sandbox {
            Some(sandbox) => asked(|| sandbox.begin()).await.map_err(DeliberationError::Sandbox)?,
            None => Epoch::begin(),
        };
        self.found().epoch = Some(epoch.clone());
        Ok(epoch)
    }

    /// Nothing of ours panics under this lock.
    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn draw(
        &self,
        sampler: &dyn Sampler,
        round: usize,
        epoch: &Epoch,
    ) -> Result<Vec<SampledPlan>, DeliberationError> {
        let request = SampleRequest { count: self.samples, round, epoch: epoch.clone() };
        let drawn = CatchPanic::of(|| sampler.sample(request)).await;
        drawn.unwrap_or_else(|panic| Err(SamplerError::new(panic))).map_err(DeliberationError::Sampler)
    }
}

impl fmt::Debug for Deliberation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deliberation")
            .field("samples", &self.samples)
            .field("rounds", &self.rounds)
            .field("quarantine", &self.quarantine)
            .finish_non_exhaustive()
    }
}

/// What may help a ruling that defers.
enum Next {
    /// More plans of the same epoch.
    More,
    /// Another epoch.
    Anew,
    /// Nothing that could be done here.
    End,
}

impl Next {
    fn after(reason: RulingReason) -> Self {
        match reason {
            RulingReason::NoSamples
            | RulingReason::TooFewSamples
            | RulingReason::ArgumentsSplit
            | RulingReason::NoPlan
            | RulingReason::NoResultSignal => Next::More,
            RulingReason::EpochMoved | RulingReason::ToolSuspect | RulingReason::ResultsSplit => Next::Anew,
            RulingReason::Agreed
            | RulingReason::ArgumentsDisagree
            | RulingReason::NotVerified
            // A draft that differs stays one, however many agree.
            | RulingReason::WriteNotUnanimous
            | RulingReason::NoResults
            | RulingReason::OutOfScope => Next::End,
        }
    }
}

/// What there is to judge.
struct Table<'d> {
    of: &'d Deliberation,
    registry: &'d Registry,
    plans: Vec<SampledPlan>,
    /// One sample a plan, in the same order.
    set: SampleSet,
    probed: Vec<ProbedTool>,
}

impl Table<'_> {
    fn begin(&mut self, epoch: Epoch) {
        self.set = SampleSet::new(epoch);
        self.plans.clear();
    }

    /// Runs plans in the sandbox, each on a copy of its own.
    async fn take(&mut self, plans: Vec<SampledPlan>) {
        let (sandbox, epoch) = (self.of.sandbox.clone(), self.set.epoch().clone());
        let samples = schedule(
            plans.clone(),
            self.of.room,
            |_| Access::Shared(Vec::new()),
            |plan| run(sandbox.clone(), &epoch, plan),
            |sample: Sample| async { sample },
        )
        .await;
        for (plan, sample) in plans.into_iter().zip(samples) {
            match self.set.push(sample.within(&epoch)) {
                Ok(()) => self.plans.push(plan),
                Err(error) => tracing::error!(target: "tool_runtime", %error, "a sample was left out"),
            }
        }
    }

    /// Rules. What is only not verified yet is probed, and ruled on again; what is suspect goes into quarantine.
    async fn judge(&mut self, rounds: usize) -> Deliberated {
        let mut ruling = self.rule();
        let asks_for_probes = matches!(ruling.reason(), RulingReason::NotVerified | RulingReason::ResultsSplit);
        if asks_for_probes && self.probe().await {
            ruling = self.rule();
        }
        let figures = ruling.figures();
        for tool in ruling.quarantines().iter().filter_map(|name| self.registry.get(name)) {
            let share = 100.0 * figures.result_agreement.unwrap_or(0.0);
            let why =
                format!("{} samples agree about its arguments, and {share:.0} % of their results", figures.samples);
            self.of.hold(tool, why).await;
        }
        let plan = figures.plurality.and_then(|index| self.plans.get(index).cloned());
        Deliberated { ruling, plan, rounds, epoch: self.set.epoch().clone(), probed: self.probed.clone() }
    }

    fn rule(&self) -> Ruling {
        (self.of.rule)(&self.set, &self.tools())
    }

    /// The tools that any plan calls.
    fn names(&self) -> BTreeSet<String> {
        let calls = self.plans.iter().filter_map(SampledPlan::tool_calls).flatten();
        calls.map(|call| call.name().to_owned()).collect()
    }

    fn tools(&self) -> PlanTools {
        let mut tools = PlanTools::new();
        for name in self.names() {
            let mut tool = match (self.of.said.get(&name), self.registry.get(&name)) {
                (Some(said), _) => said.clone(),
                (None, Some(tool)) => PlanTool::of(tool),
                (None, None) => PlanTool::unknown(),
            };
            if let Some(proof) = self.of.found().proofs.get(&name) {
                tool = tool.verified(proof.clone());
            }
            tools = tools.tool(name, tool);
        }
        tools.under(&self.of.quarantine)
    }

    /// Probes what is declared and not verified, with the arguments that the plans have for it. `true` if that may change the
    /// ruling.
    async fn probe(&mut self) -> bool {
        let Some(probing) = &self.of.probing else { return false };
        let mut found_any = false;
        let (known, epoch) = (self.tools(), self.set.epoch().clone());
        for name in self.names() {
            let is_proved = known.get(&name).is_some_and(|tool| tool.shown(&epoch).is_some());
            let Some(tool) = self.registry.get(&name).filter(|tool| self.of.is_declared(tool) && !is_proved) else {
                continue;
            };
            let harder = probing.on_at_least(self.of.copies(&name));
            let probed = harder.probe_tool(tool, &epoch, &self.arguments(tool)).await;
            self.of.learn(tool, &probed).await;
            found_any |= probed.outcome().is_ok();
            self.probed.push(probed);
        }
        found_any
    }

    /// A few of the arguments that plans have for a tool, of those that it takes: those that most plans have, since one of
    /// them is what will run, and of those that as many have, what was drawn first. Each in its canonical text.
    fn arguments(&self, tool: &HostTool) -> Vec<String> {
        let mut votes: Vec<(String, usize)> = Vec::new();
        for plan in self.plans.iter().filter_map(SampledPlan::planned) {
            let mut own: Vec<String> = Vec::new();
            for call in plan.iter().filter(|call| call.tool() == tool.name()) {
                let Ok(walked) = tool.built().accept(call.arguments(), &[]) else { continue };
                let text = walked.text.unwrap_or_else(|| call.arguments().to_owned());
                // However often a plan has them, it is one plan.
                if !own.contains(&text) {
                    own.push(text);
                }
            }
            for text in own {
                match votes.iter_mut().find(|(known, _)| *known == text) {
                    Some((_, plans)) => *plans += 1,
                    None => votes.push((text, 1)),
                }
            }
        }
        votes.sort_by_key(|(_, plans)| std::cmp::Reverse(*plans));
        votes.into_iter().map(|(text, _)| text).take(MOST_PROBED).collect()
    }
}

/// With how many different arguments of plans a tool is probed.
const MOST_PROBED: usize = 3;

async fn run(sandbox: Option<Arc<dyn Sandbox>>, epoch: &Epoch, plan: SampledPlan) -> Sample {
    let sample = plan.sample();
    let (Some(sandbox), Some(calls)) = (sandbox, plan.planned()) else { return sample };
    let Ok(fork) = asked(|| sandbox.fork(ForkRequest::of(epoch))).await else { return sample };
    let runs = fork.run(calls).await;
    runs.into_iter().fold(sample, |sample, run| sample.observed(run.observed))
}
