use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::access::{Access, Resource};
use super::args::{ErasedArgs, Visit};
use super::built::Built;
use super::card::{Card, StoredResult};
use super::context::CallContext;
use super::definition::{Concurrency, Definition, Finalize, Hints, HostNeed, Label, Run};
use super::dynamic::DynamicTool;
use super::output::Success;
use crate::call::ToolOutputError;
use crate::schema::json::Json;
use crate::schema::{Digest, Problems, ToolSchema, Walked};

/// A type that `#[tool]` made: what the model sees, and how to get what the host keeps.
pub trait Tool {
    /// The model-facing arguments.
    type Args;

    #[doc(hidden)]
    fn definition() -> &'static Definition;
}

/// What the host keeps of a tool: its body, output, renderers, timeout, concurrency, presenters.
///
/// It can't be serialised, so it can't reach a model; [`schema`](Self::schema) gives what may.
/// Cheap to clone.
#[derive(Clone)]
pub struct HostTool {
    origin: Origin,
    receiver: Option<Arc<dyn Any + Send + Sync>>,
    timeout: Option<Duration>,
}

#[derive(Clone)]
enum Origin {
    Static(&'static Definition),
    Dynamic(Arc<DynamicTool>),
}

impl HostTool {
    #[doc(hidden)]
    pub fn from_definition(definition: &'static Definition) -> Self {
        HostTool { origin: Origin::Static(definition), receiver: None, timeout: definition.timeout }
    }

    #[doc(hidden)]
    pub fn from_method<T: Send + Sync + 'static>(definition: &'static Definition, receiver: Arc<T>) -> Self {
        // The handle itself is what is kept, so that getting it back asks nothing of `T`.
        HostTool { receiver: Some(Arc::new(receiver)), ..HostTool::from_definition(definition) }
    }

    pub(super) fn from_dynamic(tool: DynamicTool) -> Self {
        let timeout = tool.timeout;
        HostTool { origin: Origin::Dynamic(Arc::new(tool)), receiver: None, timeout }
    }

    /// The name by which a model calls it.
    pub fn name(&self) -> &str {
        self.built().schema().name()
    }

    /// What a model sees of it.
    pub fn schema(&self) -> &ToolSchema {
        self.built().schema()
    }

    /// The JSON Schema of what it returns, as compact text.
    pub fn output_schema(&self) -> &str {
        self.built().output_schema()
    }

    /// Identifies the definition: it changes with anything a model sees and with the output schema.
    pub fn digest(&self) -> &Digest {
        self.built().digest()
    }

    /// Its time budget. `None` for no bound.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Gives it another time budget than its author did.
    ///
    /// # Panics
    /// If the budget is zero.
    #[must_use]
    pub fn with_timeout(mut self, budget: Duration) -> Self {
        assert!(!budget.is_zero(), "a tool's timeout has to be longer than zero");
        self.timeout = Some(budget);
        self
    }

    /// What its author says of its effects.
    pub fn hints(&self) -> Hints {
        match &self.origin {
            Origin::Static(definition) => definition.hints,
            Origin::Dynamic(tool) => tool.hints,
        }
    }

    /// The state changes it can make.
    pub fn changes(&self) -> impl Iterator<Item = &str> {
        let (declared, listed) = match &self.origin {
            Origin::Static(definition) => (definition.changes, &[][..]),
            Origin::Dynamic(tool) => (&[][..], &tool.changes[..]),
        };
        declared.iter().copied().chain(listed.iter().map(String::as_str))
    }

    /// The labelled lines of its description.
    pub fn labels(&self) -> &[Label] {
        self.definition().map_or(&[], |definition| definition.labels)
    }

    /// What a call touches. Only what is said explicitly lets it overlap others: no declaration, a
    /// classifier that panics, and a resource that nobody can name are a no.
    pub(crate) fn access(&self, args: &ErasedArgs, canonical: &str) -> Access {
        match &self.origin {
            Origin::Static(definition) => {
                let resources = || {
                    let named = [(definition.reads, false), (definition.writes, true)];
                    let named =
                        named.into_iter().flat_map(|(params, writes)| params.iter().map(move |at| (at, writes)));
                    let params = named.map(|(at, writes)| (definition.params.get(*at), writes));
                    resources(canonical, params.map(|(param, writes)| Some((param?.name, param?.path, writes))))
                };
                match definition.concurrency {
                    Concurrency::Exclusive if definition.reads.is_empty() && definition.writes.is_empty() => {
                        Access::Exclusive
                    }
                    Concurrency::Judged(judge) if !super::panic::caught(|| judge(args)).unwrap_or(false) => {
                        Access::Exclusive
                    }
                    Concurrency::Exclusive | Concurrency::Safe | Concurrency::Judged(_) => resources(),
                }
            }
            Origin::Dynamic(tool) => {
                match tool.concurrency_safe || !tool.reads.is_empty() || !tool.writes.is_empty() {
                    // Which of them are paths nobody has said, so each may be one.
                    true => resources(canonical, self.resources().map(|(name, writes)| Some((name, true, writes)))),
                    false => Access::Exclusive,
                }
            }
        }
    }

    /// The arguments of a dynamic tool that name what it touches, and whether it writes that. What `#[tool]` is told of
    /// others it has checked.
    pub(crate) fn resources(&self) -> impl Iterator<Item = (&str, bool)> {
        let named: [(&[String], bool); 2] = match &self.origin {
            Origin::Static(_) => [(&[], false), (&[], true)],
            Origin::Dynamic(tool) => [(&tool.reads, false), (&tool.writes, true)],
        };
        named.into_iter().flat_map(|(names, writes)| names.iter().map(move |name| (name.as_str(), writes)))
    }

    fn definition(&self) -> Option<&'static Definition> {
        match &self.origin {
            Origin::Static(definition) => Some(definition),
            Origin::Dynamic(_) => None,
        }
    }

    pub(crate) fn built(&self) -> &Built {
        match &self.origin {
            Origin::Static(definition) => definition.built(),
            Origin::Dynamic(tool) => &tool.built,
        }
    }

    pub(crate) fn run(&self) -> Run {
        match &self.origin {
            Origin::Static(definition) => definition.run.clone(),
            Origin::Dynamic(tool) => Run::Dynamic(Arc::clone(&tool.run)),
        }
    }

    /// Its body is given something of the host's: state, or the context of the call.
    pub(crate) fn sees_host(&self) -> bool {
        self.definition().is_none_or(|definition| !definition.host_needs.is_empty())
    }

    /// Its body is given the context of the call, so that it can say how far it is and make calls of its own.
    pub(crate) fn sees_context(&self) -> bool {
        let is_context = |need: &HostNeed| need.id() == TypeId::of::<CallContext>();
        self.definition().is_none_or(|definition| definition.host_needs.iter().any(is_context))
    }

    /// Its body runs on a thread of its own, and can't be stopped there.
    pub(crate) fn may_block(&self) -> bool {
        self.definition().is_some_and(|definition| matches!(definition.run, Run::Blocking(_)))
    }

    pub(crate) fn host_needs(&self) -> &'static [HostNeed] {
        self.definition().map_or(&[], |definition| definition.host_needs)
    }

    /// Where the tool was written.
    pub(crate) fn module(&self) -> &'static str {
        self.definition().map_or("", |definition| definition.module)
    }

    pub(crate) fn shows_causes(&self) -> bool {
        self.definition().is_some_and(|definition| definition.causes)
    }

    /// The object whose method it is, as an `Arc` of it.
    pub(super) fn receiver(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.receiver.as_deref()
    }

    /// Reads the values of accepted arguments.
    ///
    /// # Errors
    /// With what the types refuse although the schema takes it.
    pub(crate) fn read(&self, walked: &Walked, text: &str) -> Result<ErasedArgs, Problems> {
        match &self.origin {
            Origin::Static(definition) => {
                let built = definition.built();
                let mut visit = Visit::read(walked, text, built.input_graph());
                match (definition.args)(&mut visit) {
                    Some(args) => Ok(args),
                    None => Err(visit.problems()),
                }
            }
            // Its values are the text itself.
            Origin::Dynamic(_) => Ok(ErasedArgs::new(text.to_owned())),
        }
    }

    /// Reads arguments and checks them in one go. `None`: something about them is out of the ordinary,
    /// and has to be looked at.
    pub(crate) fn read_quick(&self, text: &str) -> Option<ErasedArgs> {
        let Origin::Static(definition) = &self.origin else { return None };
        let graph = definition.built().quick_graph()?;
        let mut visit = Visit::quick(text, graph, definition.is_whole())?;
        let args = (definition.args)(&mut visit)?;
        visit.is_finished().then_some(args)
    }

    /// Reads arguments that were accepted before, from their canonical text.
    pub(crate) fn read_again(&self, canonical: &str) -> Option<ErasedArgs> {
        let walked = self.built().accept(canonical, &[]).ok()?;
        let text = walked.text.as_deref().unwrap_or(canonical);
        super::panic::caught(|| self.read(&walked, text)).ok()?.ok()
    }

    /// A value that somebody gives in the tool's place, checked as an output of its own.
    ///
    /// # Errors
    /// If the tool couldn't have returned it; and what of it is the host's to know.
    pub(crate) fn answer(&self, json: &str) -> Result<Success, (ToolOutputError, String)> {
        let refused = |path, what: &str, host: String| Err((ToolOutputError::new(self.name(), path, what), host));
        match Json::parse(json) {
            Ok(value) => match self.built().check_output(value.to_string().into()) {
                Ok(value) => Ok(Success { content: self.built().narrate(&value), value }),
                Err((path, what)) => refused(path, &what, what.clone()),
            },
            Err(error) => refused(Default::default(), "it isn't JSON", error.to_string()),
        }
    }

    /// A success of another call, checked again: the tool may have been another one then.
    ///
    /// # Errors
    /// As [`answer`](Self::answer).
    pub(crate) fn recheck(&self, success: Success) -> Result<Success, (ToolOutputError, String)> {
        match self.built().check_output(success.value) {
            Ok(value) => Ok(Success { value, content: success.content }),
            Err((path, what)) => Err((ToolOutputError::new(self.name(), path, &what), what)),
        }
    }

    /// The card of a call, as the tool's author shows it, from the arguments that a
    /// [`Verdict`](crate::Verdict) keeps. `None` if there is no `present_call`, if it panics, or if
    /// the tool would not take these arguments any more: show the call in a plain way then.
    pub fn card_of_call(&self, arguments: &str) -> Option<Card> {
        let present = self.present_call()?;
        let args = self.read_again(arguments)?;
        super::panic::caught(|| present(&args)).ok()
    }

    /// The card of a result, live or years later, from the arguments that a
    /// [`Verdict`](crate::Verdict) keeps and a result that a [`Record`](crate::Record) was turned
    /// into. `None` as for [`card_of_call`](Self::card_of_call).
    pub fn card_of_result(&self, arguments: &str, result: &StoredResult) -> Option<Card> {
        let present = self.present_result()?;
        let args = self.read_again(arguments)?;
        super::panic::caught(|| present(&args, result)).ok()
    }

    pub(crate) fn present_call(&self) -> Option<fn(&ErasedArgs) -> Card> {
        self.definition()?.present_call
    }

    pub(crate) fn present_result(&self) -> Option<fn(&ErasedArgs, &StoredResult) -> Card> {
        self.definition()?.present_result
    }

    pub(crate) fn finalize(&self) -> Option<Finalize> {
        self.definition()?.finalize
    }
}

/// The resources that arguments name, of which each has to be known.
fn resources<'a>(canonical: &str, named: impl Iterator<Item = Option<(&'a str, bool, bool)>>) -> Access {
    let resources: Option<Vec<Vec<Resource>>> = named
        .map(|named| {
            let (name, is_path, writes) = named?;
            Resource::of(canonical, name, is_path, writes)
        })
        .collect();
    resources.map_or(Access::Exclusive, |resources| Access::Shared(resources.concat()))
}

impl fmt::Debug for HostTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostTool").field("name", &self.name()).finish_non_exhaustive()
    }
}
