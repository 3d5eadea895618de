use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::argument::ArgumentForm;
use super::canonical::{Numbers, of_text};
use super::epoch::Epoch;
use super::quarantine::Quarantine;
use super::sample::Observed;
use crate::registry::Registry;
use crate::schema::{Digest, JsonPath, MAX_DEPTH};
use crate::tool::{DynamicTool, HostTool};

/// What is said of a tool's results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Determinism {
    /// Declared: the same arguments give the same result.
    Declared,
    /// Nobody says anything.
    Undeclared,
    /// By contract it gives something else each time, as a clock does. Plans with it are out of scope.
    ByContractNot,
}

/// What a gate knows of one tool.
#[derive(Clone)]
pub struct PlanTool {
    pub(super) tool: Option<HostTool>,
    pub(super) determinism: Determinism,
    /// What is declared of arguments.
    pub(super) forms: Vec<(JsonPath, ArgumentForm)>,
    verified: Option<Verified>,
    quarantined: Option<Moment>,
}

impl PlanTool {
    /// A tool of this process, with what its author says of it.
    pub fn of(tool: &HostTool) -> Self {
        let determinism = if tool.hints().deterministic { Determinism::Declared } else { Determinism::Undeclared };
        PlanTool { tool: Some(tool.clone()), determinism, forms: Vec::new(), verified: None, quarantined: None }
    }

    /// A tool whose schema nobody knows here: its arguments are compared as JSON. It can't be verified, so plans with it
    /// are neither accepted nor rejected.
    pub fn unknown() -> Self {
        PlanTool {
            tool: None,
            determinism: Determinism::Undeclared,
            forms: Vec::new(),
            verified: None,
            quarantined: None,
        }
    }

    /// A tool that isn't here, with the JSON Schema of its arguments, say because it came with the samples. They are compared
    /// as the schema accepts them. It can't be verified either.
    ///
    /// # Errors
    /// If the text is no schema of an object, or has keywords that this build can't enforce.
    ///
    /// ```
    /// use tool_runtime::agreement::{AgreementGate, Bounds, Epoch, PlanTool, PlanTools, Sample, SampleSet};
    ///
    /// let schema = r#"{"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 1}}}"#;
    /// let tools = PlanTools::new().tool("weather", PlanTool::of_schema(schema)?);
    /// let epoch = Epoch::begin();
    /// let mut samples = SampleSet::new(epoch.clone());
    /// for arguments in [r#"{"city": "Oslo"}"#, r#"{"days": 1.0, "city": "Oslo"}"#] {
    ///     samples.push(Sample::of([("weather", arguments)]).within(&epoch))?;
    /// }
    /// assert_eq!(AgreementGate::new(Bounds::seed()).rule(&samples, &tools).figures().groups, [2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_schema(parameters: &str) -> Result<Self, PlanSchemaError> {
        let error = |error: &dyn std::error::Error| PlanSchemaError(error.to_string());
        let tool = DynamicTool::builder("planned", "A tool that isn't here.").parameters(parameters).output("true");
        let tool = tool.run(|_, _| async { Err("it isn't here".into()) }).map_err(|fault| error(&fault))?;
        // Whether a schema can be enforced is a registry's to say.
        let registry = Registry::builder().tool(tool).build().map_err(|fault| error(&fault))?;
        let tool = registry.iter().next().cloned();
        Ok(PlanTool { tool, ..PlanTool::unknown() })
    }

    /// Says something else of it than its author does.
    #[must_use]
    pub fn determinism(mut self, determinism: Determinism) -> Self {
        self.determinism = determinism;
        self
    }

    /// Declares the form of one argument, at a path such as [`JsonPath::from_pointer`] reads; the step `*` is every
    /// element of an array. Several forms of one argument are applied in order.
    #[must_use]
    pub fn argument(mut self, path: JsonPath, form: ArgumentForm) -> Self {
        self.forms.push((path, form));
        self
    }

    /// Adds what a probe has shown. What was shown of another definition has no effect.
    #[must_use]
    pub fn verified(mut self, verified: Verified) -> Self {
        if self.tool.as_ref().is_some_and(|tool| *tool.digest() == verified.tool) {
            self.verified = Some(verified);
        }
        self
    }

    /// The proof, if it holds in this epoch.
    pub(super) fn proof(&self, epoch: &Epoch) -> Option<&Verified> {
        self.shown(epoch).filter(|_| self.determinism == Determinism::Declared)
    }

    /// What was shown of it in this epoch, whatever is declared.
    pub(super) fn shown(&self, epoch: &Epoch) -> Option<&Verified> {
        let holds = |verified: &&Verified| {
            verified.epoch == *epoch && !epoch.is_over() && self.quarantined.is_none_or(|since| verified.made > since)
        };
        self.verified.as_ref().filter(holds)
    }

    /// Nobody says that it only reads.
    pub(super) fn may_write(&self) -> bool {
        !self.tool.as_ref().is_some_and(|tool| tool.hints().read_only)
    }

    /// It returns nothing at all, so that its results can't agree.
    pub(super) fn returns_nothing(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.built().returns_nothing())
    }
}

impl fmt::Debug for PlanTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlanTool")
            .field("tool", &self.tool)
            .field("determinism", &self.determinism)
            .field("forms", &self.forms)
            .field("verified", &self.verified)
            .finish_non_exhaustive()
    }
}

/// A text is no schema that arguments could be compared by. Says why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanSchemaError(String);

impl fmt::Display for PlanSchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "arguments can't be compared by this schema: {}", self.0)
    }
}

impl std::error::Error for PlanSchemaError {}

/// What a gate knows of the tools that plans call, by name.
#[derive(Debug, Clone, Default)]
pub struct PlanTools(HashMap<String, PlanTool>);

impl PlanTools {
    /// Nothing of any tool.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool under the name that plans use.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>, tool: PlanTool) -> Self {
        self.0.insert(name.into(), tool);
        self
    }

    /// Declarations that are in quarantine aren't believed: what was verified before they came there counts no more.
    #[must_use]
    pub fn under(mut self, quarantine: &Quarantine) -> Self {
        for (name, tool) in &mut self.0 {
            tool.quarantined = quarantine.since(name);
        }
        self
    }

    pub(super) fn get(&self, name: &str) -> Option<&PlanTool> {
        self.0.get(name)
    }
}

/// A tool was shown to be deterministic: of one definition, in one epoch. Only a [`Probe`] makes one.
#[derive(Debug, Clone)]
pub struct Verified {
    tool: Digest,
    epoch: Epoch,
    made: Moment,
}

/// When something was found out, as far as that says what came first in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(u64);

impl Moment {
    pub(super) fn now() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Moment(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl PartialEq for Verified {
    /// Do they prove the same? When doesn't matter.
    fn eq(&self, other: &Self) -> bool {
        self.tool == other.tool && self.epoch == other.epoch
    }
}

impl Eq for Verified {}

impl Verified {
    /// The definition.
    pub fn tool(&self) -> &Digest {
        &self.tool
    }

    pub(super) fn made(&self) -> Moment {
        self.made
    }

    /// The epoch outside of which it says nothing.
    pub fn epoch(&self) -> &Epoch {
        &self.epoch
    }
}

/// Identical calls of one tool on frozen copies of the state, within one epoch: two at least. [`Probing`](super::Probing) runs
/// them; this is for those who run them by themselves.
#[derive(Debug)]
pub struct Probe {
    tool: Digest,
    epoch: Epoch,
    arguments: String,
    begun: Moment,
}

impl Probe {
    /// Of a tool, with arguments that all calls are given.
    ///
    /// `None` if the arguments aren't JSON.
    pub fn new(tool: &HostTool, epoch: &Epoch, arguments: &str) -> Option<Self> {
        let arguments = of_text(arguments, Numbers::Canonical, MAX_DEPTH)?;
        Some(Probe { tool: *tool.digest(), epoch: epoch.clone(), arguments, begun: Moment::now() })
    }

    /// What all calls are given.
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// Compares what the calls came to. `afterwards` is what each left of its arguments: a body that changes
    /// what it is given is at fault. A quarantine that began after the probe did isn't lifted by it.
    ///
    /// # Errors
    /// With why it verifies nothing.
    pub fn compare(self, found: impl IntoIterator<Item = ProbeFinding>) -> Result<Verified, ProbeFault> {
        let found: Vec<ProbeFinding> = found.into_iter().collect();
        self.holds(&found)?;
        match found.len() {
            0 | 1 => Err(ProbeFault::NoResult),
            _ => Ok(Verified { tool: self.tool, epoch: self.epoch, made: self.begun }),
        }
    }

    /// Is anything wrong so far?
    pub(super) fn holds(&self, found: &[ProbeFinding]) -> Result<(), ProbeFault> {
        if self.epoch.is_over() {
            return Err(ProbeFault::EpochMoved);
        }
        let mut first: Option<String> = None;
        for ProbeFinding { result, afterwards } in found {
            if of_text(afterwards, Numbers::Canonical, MAX_DEPTH).as_ref() != Some(&self.arguments) {
                return Err(ProbeFault::ArgumentsChanged);
            }
            let Observed::Value(text) = result else { return Err(ProbeFault::NoResult) };
            let text = of_text(text, Numbers::Canonical, MAX_DEPTH).ok_or(ProbeFault::NoResult)?;
            if first.get_or_insert_with(|| text.clone()) != &text {
                return Err(ProbeFault::ResultsDiffer);
            }
        }
        Ok(())
    }
}

/// What one call of a probe came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeFinding {
    /// Its result.
    pub result: Observed,
    /// The arguments after the call, as JSON text.
    pub afterwards: String,
}

/// Why a probe verifies nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProbeFault {
    /// Results differ.
    ResultsDiffer,
    /// A call changed the arguments that it was given.
    ArgumentsChanged,
    /// A call gave no result that could be compared.
    NoResult,
    /// The state moved meanwhile.
    EpochMoved,
    /// Nobody has said with which arguments, and it doesn't take none.
    NoArguments,
    /// What ran in the sandbox is another tool, or nobody says which one it is.
    OtherDefinition,
    /// The sandbox could not do what it was asked to.
    SandboxFailed,
}

impl fmt::Display for ProbeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ProbeFault::ResultsDiffer => "identical calls gave different results",
            ProbeFault::ArgumentsChanged => "a call changed the arguments that it was given",
            ProbeFault::NoResult => "a call gave no result to compare",
            ProbeFault::EpochMoved => "the state moved between the calls",
            ProbeFault::NoArguments => "there are no arguments to call it with",
            ProbeFault::OtherDefinition => "what ran in the sandbox is not known to be this tool",
            ProbeFault::SandboxFailed => "the sandbox failed",
        })
    }
}

impl std::error::Error for ProbeFault {}
