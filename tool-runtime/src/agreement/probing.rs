use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::declaration::{Probe, ProbeFault, ProbeFinding, Verified};
use super::epoch::Epoch;
use super::sample::PlannedCall;
use super::sandbox::{Fork, ForkRequest, Sandbox, SandboxRun, asked, words};
use crate::execute::schedule;
use crate::registry::Registry;
use crate::tool::{Access, HostTool};

/// Finds out whether tools are as deterministic as they are declared to be: by identical calls on frozen copies of the
/// state.
///
/// Each tool is called on [copies](Self::copies) that are alike, twice on one of them if it only reads, and once with each
/// [variation](Sandbox::variations) of the sandbox. The canonical bytes of all results have to be the same.
///
/// What this can't find is what never differs within an epoch; that shows when results of samples disagree, and
/// ends in [`Quarantine`](super::Quarantine).
#[derive(Clone)]
pub struct Probing {
    sandbox: Arc<dyn Sandbox>,
    arguments: BTreeMap<String, Vec<String>>,
    copies: usize,
    room: NonZeroUsize,
}

/// How many tools are probed at a time, unless the host says otherwise.
const DEFAULT_ROOM: NonZeroUsize = NonZeroUsize::new(4).expect("four is not zero");

impl Probing {
    /// In a sandbox.
    pub fn new(sandbox: impl Sandbox + 'static) -> Self {
        Probing { sandbox: Arc::new(sandbox), arguments: BTreeMap::new(), copies: 2, room: DEFAULT_ROOM }
    }

    /// Adds arguments, as JSON text, with which a tool is called. Without any, it is called with none, if it takes
    /// none.
    #[must_use]
    pub fn arguments<A: Into<String>>(
        mut self,
        tool: impl Into<String>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        self.arguments.entry(tool.into()).or_default().extend(arguments.into_iter().map(Into::into));
        self
    }

    /// On how many copies a call is made that should be alike: 2, unless it is set, and never fewer.
    #[must_use]
    pub fn copies(mut self, copies: usize) -> Self {
        self.copies = copies.max(2);
        self
    }

    pub(super) fn in_sandbox(&self) -> &Arc<dyn Sandbox> {
        &self.sandbox
    }

    /// How many tools are probed at a time: 4, unless it is set.
    #[must_use]
    pub fn max_concurrent(mut self, tools: NonZeroUsize) -> Self {
        self.room = tools;
        self
    }

    /// Probes all tools of a registry that are declared to be deterministic: what is to be done when a sandbox starts, and
    /// for each epoch.
    pub async fn probe(&self, registry: &Registry, epoch: &Epoch) -> ProbeReport {
        let declared = registry.iter().filter(|tool| tool.hints().deterministic).cloned().collect();
        self.probe_tools(declared, epoch, |_| 0).await
    }

    /// The same on more copies, if it isn't on as many already.
    pub(super) fn on_at_least(&self, copies: usize) -> Self {
        self.clone().copies(self.copies.max(copies))
    }

    /// Probes tools, with at least as many copies as each calls for.
    pub(super) async fn probe_tools(
        &self,
        tools: Vec<HostTool>,
        epoch: &Epoch,
        copies: impl Fn(&str) -> usize + Sync,
    ) -> ProbeReport {
        let (begun, copies) = (Instant::now(), &copies);
        let tools = schedule(
            tools,
            self.room,
            |_| Access::Shared(Vec::new()),
            |tool| async move { self.on_at_least(copies(tool.name())).probe_tool(&tool, epoch, &[]).await },
            |probed: ProbedTool| async { probed },
        )
        .await;
        ProbeReport { tools, took: begun.elapsed() }
    }

    /// Probes one tool, with further arguments besides those that it was given. Whether it is declared to be deterministic
    /// doesn't matter here.
    pub async fn probe_tool(&self, tool: &HostTool, epoch: &Epoch, further: &[String]) -> ProbedTool {
        let mut arguments: Vec<&String> = self.arguments.get(tool.name()).into_iter().flatten().collect();
        arguments.extend(further.iter().filter(|text| !arguments.contains(text)).collect::<Vec<_>>());
        let none = "{}".to_owned();
        if arguments.is_empty() && tool.built().accept(&none, &[]).is_ok() {
            arguments.push(&none);
        }
        let mut probed = ProbedTool {
            name: tool.name().to_owned(),
            outcome: Err(ProbeFault::NoArguments),
            arguments: arguments.len(),
            calls: 0,
            under: None,
            detail: None,
        };
        for text in arguments {
            probed.outcome = self.probe_with(tool, epoch, text, &mut probed).await;
            if probed.outcome.is_err() {
                break;
            }
        }
        probed
    }

    async fn probe_with(
        &self,
        tool: &HostTool,
        epoch: &Epoch,
        text: &str,
        probed: &mut ProbedTool,
    ) -> Result<Verified, ProbeFault> {
        let probe = Probe::new(tool, epoch, text).ok_or(ProbeFault::NoArguments)?;
        let mut findings: Vec<ProbeFinding> = Vec::new();
        // What only reads gives the same again on the copy that it has read from.
        let again = if tool.hints().read_only { 2 } else { 1 };
        let varied = self.sandbox.variations().into_iter().map(|variation| (Some(variation), 1));
        let plain = std::iter::repeat_n((None, 1), self.copies - 1);
        for (variation, times) in plain.chain([(None, again)]).chain(varied) {
            probed.under.clone_from(&variation);
            let fork = match self.fork(epoch, variation).await {
                Ok(fork) => fork,
                Err(detail) => {
                    probed.detail = Some(detail);
                    return Err(if epoch.is_over() { ProbeFault::EpochMoved } else { ProbeFault::SandboxFailed });
                }
            };
            let call = PlannedCall::new(tool.name(), text);
            let runs = fork.run(vec![call; times]).await;
            probed.calls += runs.len();
            for SandboxRun { observed, afterwards, definition } in runs {
                if definition.as_ref() != Some(tool.digest()) {
                    return Err(ProbeFault::OtherDefinition);
                }
                let afterwards = afterwards.unwrap_or_else(|| probe.arguments().to_owned());
                findings.push(ProbeFinding { result: observed, afterwards });
            }
            // As soon as something differs it is known under what.
            probe.holds(&findings)?;
        }
        probed.under = None;
        probe.compare(findings)
    }

    async fn fork(&self, epoch: &Epoch, variation: Option<Arc<str>>) -> Result<Fork, String> {
        let request = ForkRequest::of(epoch);
        let request = match variation {
            Some(variation) => request.varied(variation),
            None => request,
        };
        asked(|| self.sandbox.fork(request)).await.map_err(|error| words(&error))
    }
}

impl fmt::Debug for Probing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probing").field("arguments", &self.arguments).finish_non_exhaustive()
    }
}

/// What probing has come to, with what it cost and how much it covers.
#[derive(Debug, Clone)]
pub struct ProbeReport {
    tools: Vec<ProbedTool>,
    took: Duration,
}

impl ProbeReport {
    /// Each tool that is declared deterministic, in the registry's order.
    pub fn tools(&self) -> &[ProbedTool] {
        &self.tools
    }

    /// What was verified, by name.
    pub fn verified(&self) -> impl Iterator<Item = (&str, &Verified)> {
        self.tools.iter().filter_map(|tool| Some((tool.name(), tool.outcome().ok()?)))
    }

    /// The tools whose declaration was found to be wrong: calls of theirs gave different results, or changed their
    /// arguments.
    pub fn wrong(&self) -> impl Iterator<Item = &ProbedTool> {
        self.tools.iter().filter(|tool| tool.is_wrong())
    }

    /// How many calls were made.
    pub fn calls(&self) -> usize {
        self.tools.iter().map(ProbedTool::calls).sum()
    }

    /// How long it took in all.
    pub fn took(&self) -> Duration {
        self.took
    }

    /// Which share of the tools that are declared deterministic could be judged, either way. 1 if there are none.
    pub fn coverage(&self) -> f64 {
        let judged = self.tools.iter().filter(|tool| tool.outcome.is_ok() || tool.is_wrong()).count();
        if self.tools.is_empty() { 1.0 } else { judged as f64 / self.tools.len() as f64 }
    }
}

impl fmt::Display for ProbeReport {
    /// One line a tool, and one that sums up.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for tool in &self.tools {
            writeln!(f, "{tool}")?;
        }
        write!(
            f,
            "{} declared deterministic, {} verified, {} wrong, {:.0} % judged; {} calls in {:.1?}",
            self.tools.len(),
            self.verified().count(),
            self.wrong().count(),
            100.0 * self.coverage(),
            self.calls(),
            self.took
        )
    }
}

/// What probing one tool has come to.
#[derive(Debug, Clone)]
pub struct ProbedTool {
    name: String,
    outcome: Result<Verified, ProbeFault>,
    arguments: usize,
    calls: usize,
    under: Option<Arc<str>>,
    detail: Option<String>,
}

impl ProbedTool {
    /// The tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The proof, or why there is none.
    ///
    /// # Errors
    /// With why it verifies nothing.
    pub fn outcome(&self) -> Result<&Verified, ProbeFault> {
        self.outcome.as_ref().map_err(|fault| *fault)
    }

    /// Its declaration is wrong, and not only unproved.
    pub fn is_wrong(&self) -> bool {
        matches!(self.outcome, Err(ProbeFault::ResultsDiffer | ProbeFault::ArgumentsChanged))
    }

    /// With how many different arguments it was called.
    pub fn arguments(&self) -> usize {
        self.arguments
    }

    /// How many calls were made.
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// Of a fault: under which of the sandbox's [variations](Sandbox::variations) it showed. `None`: without any.
    pub fn under(&self) -> Option<&str> {
        self.under.as_deref()
    }

    /// What the sandbox said, if it failed. For the host.
    pub fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }
}

impl fmt::Display for ProbedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, calls) = (&self.name, self.calls);
        match (&self.outcome, &self.under) {
            (Ok(_), _) => write!(f, "{name}: verified by {calls} calls"),
            (Err(fault), Some(under)) => write!(f, "{name}: {fault}, under `{under}`"),
            (Err(fault), None) => write!(f, "{name}: {fault}"),
        }
    }
}
