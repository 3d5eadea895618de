//! The static data of a tool made by `#[tool]`: constants and function pointers, nothing generic.

use std::any::TypeId;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::args::{ErasedArgs, Visit};
use super::built::Built;
use super::card::{Card, Final, StoredResult};
use super::context::CallContext;
use super::output::{OutputType, Reply};
use crate::call::Content;
use crate::schema::ToolSchema;

/// A running body.
pub type RunFuture = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// Boxes a tool's body. The name is what the compiler says to an author whose body isn't `Send`.
pub fn tool_future_must_be_send<F: Future<Output = Reply> + Send + 'static>(body: F) -> RunFuture {
    Box::pin(body)
}

/// What a body is given.
#[derive(Debug)]
pub struct Body {
    pub(crate) args: ErasedArgs,
    pub(crate) cx: CallContext,
}

impl Body {
    /// The arguments and the context.
    pub fn open<A: 'static>(self) -> (A, CallContext) {
        (self.args.open(), self.cx)
    }
}

/// How a body runs.
#[derive(Clone)]
pub enum Run {
    /// A future, on the caller's task.
    Async(fn(Body) -> RunFuture),
    /// A plain function that may block, on the blocking pool.
    Blocking(fn(Body) -> Reply),
    /// A plain function that doesn't block, on the caller's task.
    Inline(fn(Body) -> Reply),
    /// A closure of a dynamic tool.
    Dynamic(Arc<dyn Fn(Body) -> RunFuture + Send + Sync>),
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Run::Async(_) => "Async",
            Run::Blocking(_) => "Blocking",
            Run::Inline(_) => "Inline",
            Run::Dynamic(_) => "Dynamic",
        })
    }
}

/// One model-facing parameter, apart from its type.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) aliases: [Option<&'static str>; MAX_ALIASES],
    pub(super) minimum: Option<&'static str>,
    pub(super) maximum: Option<&'static str>,
    pub(super) exclusive_maximum: Option<&'static str>,
    pub(super) min_length: Option<u64>,
    pub(super) max_length: Option<u64>,
    pub(super) pattern: Option<&'static str>,
    pub(super) format: Option<&'static str>,
    pub(super) path: bool,
    pub(super) secret: bool,
    pub(super) authored: bool,
    pub(super) required_label: bool,
    pub(super) confirm_label: bool,
    pub(super) notice_label: bool,
}

/// How many aliases an argument may have.
const MAX_ALIASES: usize = 8;

impl Param {
    /// A parameter by its name and what the model reads about it.
    pub const fn new(name: &'static str, description: &'static str) -> Self {
        Param {
            name,
            description,
            aliases: [None; MAX_ALIASES],
            minimum: None,
            maximum: None,
            exclusive_maximum: None,
            min_length: None,
            max_length: None,
            pattern: None,
            format: None,
            path: false,
            secret: false,
            authored: false,
            required_label: false,
            confirm_label: false,
            notice_label: false,
        }
    }

    /// Another name under which the argument is taken.
    pub const fn alias(mut self, alias: &'static str) -> Self {
        let mut at = 0;
        while at < MAX_ALIASES && self.aliases[at].is_some() {
            at += 1;
        }
        assert!(at < MAX_ALIASES, "an argument may have at most 8 aliases");
        self.aliases[at] = Some(alias);
        self
    }

    /// The smallest number, as JSON text.
    pub const fn minimum(mut self, number: &'static str) -> Self {
        self.minimum = Some(number);
        self
    }

    /// The largest number, as JSON text.
    pub const fn maximum(mut self, number: &'static str) -> Self {
        self.maximum = Some(number);
        self
    }

    /// The number that all have to stay below, as JSON text.
    pub const fn exclusive_maximum(mut self, number: &'static str) -> Self {
        self.exclusive_maximum = Some(number);
        self
    }

    /// The least and the largest length, in characters, elements or members.
    pub const fn length(mut self, least: Option<u64>, most: Option<u64>) -> Self {
        self.min_length = least;
        self.max_length = most;
        self
    }

    /// A regular expression (ECMA-262) that strings have to match.
    pub const fn pattern(mut self, pattern: &'static str) -> Self {
        self.pattern = Some(pattern);
        self
    }

    /// A `format` of JSON Schema.
    pub const fn format(mut self, format: &'static str) -> Self {
        self.format = Some(format);
        self
    }

    /// The argument is a file path.
    pub const fn path(mut self) -> Self {
        self.path = true;
        self
    }

    /// The argument is a secret.
    pub const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// The argument is text that the model is meant to write.
    pub const fn authored(mut self) -> Self {
        self.authored = true;
        self
    }

    /// Its description has a `[required]` line.
    pub const fn required_label(mut self) -> Self {
        self.required_label = true;
        self
    }

    /// Its description has a `[confirm]` line.
    pub const fn confirm_label(mut self) -> Self {
        self.confirm_label = true;
        self
    }

    /// Its description has a `[notice]` line.
    pub const fn notice_label(mut self) -> Self {
        self.notice_label = true;
        self
    }
}

/// A labelled line of a tool's description: the provider's checklist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    kind: LabelKind,
    text: &'static str,
}

/// What a label asks for before a call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LabelKind {
    /// `[required]`: it has to be known.
    Required,
    /// `[confirm]`: the user has to approve it.
    Confirm,
    /// `[notice]`: the user has to have been told.
    Notice,
}

impl Label {
    /// A `[required]` line.
    pub const fn required(text: &'static str) -> Self {
        Label { kind: LabelKind::Required, text }
    }

    /// A `[confirm]` line.
    pub const fn confirm(text: &'static str) -> Self {
        Label { kind: LabelKind::Confirm, text }
    }

    /// A `[notice]` line.
    pub const fn notice(text: &'static str) -> Self {
        Label { kind: LabelKind::Notice, text }
    }

    /// What it asks for.
    pub fn kind(&self) -> LabelKind {
        self.kind
    }

    /// The line after the label.
    pub fn text(&self) -> &'static str {
        self.text
    }
}

/// What the author says of a tool's effects, for policies and schedulers of the host.
///
/// Hints of remote servers aren't these: nobody has vouched for them.
///
/// ```
/// use tool_runtime::{Hint, Hints};
///
/// let hints = Hints::from([Hint::ReadOnly, Hint::Idempotent]);
/// assert!(hints.read_only && hints.idempotent && !hints.destructive && !hints.deterministic);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hints {
    /// It changes nothing.
    pub read_only: bool,
    /// What it changes can't be brought back.
    pub destructive: bool,
    /// Doing it twice is as doing it once.
    pub idempotent: bool,
    /// Equal arguments in an equal state give equal results.
    pub deterministic: bool,
}

/// A type that a `#[host]` parameter asks for.
#[derive(Debug, Clone, Copy)]
pub struct HostNeed {
    id: TypeId,
    in_arc: TypeId,
    name: fn() -> &'static str,
}

impl HostNeed {
    /// The need for a `T`.
    pub const fn of<T: 'static>() -> Self {
        HostNeed { id: TypeId::of::<T>(), in_arc: TypeId::of::<Arc<T>>(), name: std::any::type_name::<T> }
    }

    pub(crate) fn id(&self) -> TypeId {
        self.id
    }

    /// The type that it is in an `Arc`.
    pub(crate) fn in_arc(&self) -> TypeId {
        self.in_arc
    }

    pub(crate) fn type_name(&self) -> &'static str {
        (self.name)()
    }
}

/// Which calls of a tool may overlap others.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Concurrency {
    Exclusive,
    Safe,
    Judged(fn(&ErasedArgs) -> bool),
}

/// The last word on what a model reads: other content, or none.
pub(crate) type Finalize = fn(Option<&ErasedArgs>, &Final<'_>) -> Option<Content>;

/// All that `#[tool]` knows of a function.
#[derive(Debug)]
pub struct Definition {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) params: &'static [Param],
    pub(crate) args: fn(&mut Visit<'_>) -> Option<ErasedArgs>,
    pub(crate) run: Run,
    pub(super) output: Option<fn() -> OutputType>,
    pub(super) deferred: bool,
    pub(super) whole: bool,
    pub(crate) timeout: Option<Duration>,
    pub(crate) concurrency: Concurrency,
    pub(crate) reads: &'static [usize],
    pub(crate) writes: &'static [usize],
    pub(crate) hints: Hints,
    pub(crate) changes: &'static [&'static str],
    /// Conditions of the provider's checklist, each by the keys that a file has.
    pub(super) conditions: &'static [&'static [(&'static str, &'static str)]],
    pub(crate) causes: bool,
    pub(crate) present_call: Option<fn(&ErasedArgs) -> Card>,
    pub(crate) present_result: Option<fn(&ErasedArgs, &StoredResult) -> Card>,
    pub(crate) finalize: Option<Finalize>,
    pub(crate) labels: &'static [Label],
    pub(crate) host_needs: &'static [HostNeed],
    pub(crate) module: &'static str,
    built: OnceLock<Built>,
}

impl Definition {
    /// A tool by its name, what the model reads about it, its parameters and its body.
    pub const fn new(
        name: &'static str,
        description: &'static str,
        params: &'static [Param],
        args: fn(&mut Visit<'_>) -> Option<ErasedArgs>,
        run: Run,
    ) -> Self {
        Definition {
            name,
            description,
            params,
            args,
            run,
            output: None,
            deferred: false,
            whole: false,
            timeout: None,
            concurrency: Concurrency::Exclusive,
            reads: &[],
            writes: &[],
            hints: Hints { read_only: false, destructive: false, idempotent: false, deterministic: false },
            changes: &[],
            conditions: &[],
            causes: false,
            present_call: None,
            present_result: None,
            finalize: None,
            labels: &[],
            host_needs: &[],
            module: "",
            built: OnceLock::new(),
        }
    }

    /// How its output is described.
    pub const fn output(mut self, output: fn() -> OutputType) -> Self {
        self.output = Some(output);
        self
    }

    /// The model has to search for it first.
    pub const fn deferred(mut self) -> Self {
        self.deferred = true;
        self
    }

    /// One type describes the whole argument object.
    pub const fn whole(mut self) -> Self {
        self.whole = true;
        self
    }

    /// Its time budget.
    pub const fn timeout_millis(mut self, millis: u64) -> Self {
        self.timeout = Some(Duration::from_millis(millis));
        self
    }

    /// Its calls may overlap others.
    pub const fn concurrency_safe(mut self) -> Self {
        self.concurrency = Concurrency::Safe;
        self
    }

    /// Whether a call may overlap others is judged by its arguments.
    pub const fn concurrency_safe_with(mut self, judge: fn(&ErasedArgs) -> bool) -> Self {
        self.concurrency = Concurrency::Judged(judge);
        self
    }

    /// Arguments that name what is read.
    pub const fn reads(mut self, arguments: &'static [usize]) -> Self {
        self.reads = arguments;
        self
    }

    /// Arguments that name what is written.
    pub const fn writes(mut self, arguments: &'static [usize]) -> Self {
        self.writes = arguments;
        self
    }

    /// It changes nothing.
    pub const fn read_only(mut self) -> Self {
        self.hints.read_only = true;
        self
    }

    /// What it changes can't be brought back.
    pub const fn destructive(mut self) -> Self {
        self.hints.destructive = true;
        self
    }

    /// Doing it twice is as doing it once.
    pub const fn idempotent(mut self) -> Self {
        self.hints.idempotent = true;
        self
    }

    /// Equal calls give equal results.
    pub const fn deterministic(mut self) -> Self {
        self.hints.deterministic = true;
        self
    }

    /// The state changes it can make.
    pub const fn changes(mut self, changes: &'static [&'static str]) -> Self {
        self.changes = changes;
        self
    }

    /// Conditions of the provider's checklist, each by its keys and their values.
    pub const fn conditions(mut self, conditions: &'static [&'static [(&'static str, &'static str)]]) -> Self {
        self.conditions = conditions;
        self
    }

    /// The model may read the causes of its errors.
    pub const fn causes(mut self) -> Self {
        self.causes = true;
        self
    }

    /// How a person is shown a call.
    pub const fn present_call(mut self, present: fn(&ErasedArgs) -> Card) -> Self {
        self.present_call = Some(present);
        self
    }

    /// How a person is shown a result.
    pub const fn present_result(mut self, present: fn(&ErasedArgs, &StoredResult) -> Card) -> Self {
        self.present_result = Some(present);
        self
    }

    /// The last word on what the model reads.
    pub const fn finalize(mut self, finalize: fn(Option<&ErasedArgs>, &Final<'_>) -> Option<Content>) -> Self {
        self.finalize = Some(finalize);
        self
    }

    /// The labelled lines of its description.
    pub const fn labels(mut self, labels: &'static [Label]) -> Self {
        self.labels = labels;
        self
    }

    /// What its `#[host]` parameters ask for.
    pub const fn host_needs(mut self, needs: &'static [HostNeed]) -> Self {
        self.host_needs = needs;
        self
    }

    /// Where it was written.
    pub const fn module(mut self, module: &'static str) -> Self {
        self.module = module;
        self
    }

    /// What the model sees of it.
    pub fn schema(&'static self) -> &'static ToolSchema {
        self.built().schema()
    }

    /// One type reads the whole argument object.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    pub(crate) fn built(&'static self) -> &'static Built {
        self.built.get_or_init(|| Built::from_definition(self))
    }
}
