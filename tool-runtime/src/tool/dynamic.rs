use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::HostTool;
use super::built::{Built, Root};
use super::context::CallContext;
use super::definition::{Body, Hints, RunFuture};
use super::output::{BodyError, BodyResult, Reply, Written, reply};
use crate::call::Content;
use crate::schema::json::{Json, SyntaxError};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A tool that isn't known at compile time: made from a JSON Schema and a closure, and run on the
/// same path as every other.
///
/// ```
/// use tool_runtime::DynamicTool;
///
/// let echo = DynamicTool::builder("echo", "Says it again.")
///     .parameters(r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#)
///     .output(r#"{"type":"object"}"#)
///     .run(|arguments, _cx| async move { Ok(arguments) })?;
/// assert_eq!(echo.name(), "echo");
/// # Ok::<(), tool_runtime::DynamicToolError>(())
/// ```
pub struct DynamicTool {
    pub(super) built: Built,
    pub(super) run: Arc<dyn Fn(Body) -> RunFuture + Send + Sync>,
    pub(super) timeout: Option<Duration>,
    pub(super) hints: Hints,
    pub(super) concurrency_safe: bool,
    pub(super) reads: Vec<String>,
    pub(super) writes: Vec<String>,
    pub(super) changes: Vec<String>,
}

impl DynamicTool {
    /// Begins with what a model reads about it.
    pub fn builder(name: impl Into<String>, description: impl Into<String>) -> DynamicToolBuilder {
        DynamicToolBuilder {
            name: name.into(),
            description: description.into(),
            parameters: None,
            output: None,
            deferred: false,
            root: Root::Plain,
            timeout: None,
            hints: Hints::default(),
            concurrency_safe: false,
            reads: Vec::new(),
            writes: Vec::new(),
            changes: Vec::new(),
        }
    }
}

impl fmt::Debug for DynamicTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamicTool").field("name", &self.built.schema().name()).finish_non_exhaustive()
    }
}

/// Builds a [`DynamicTool`].
#[derive(Debug, Clone)]
pub struct DynamicToolBuilder {
    name: String,
    description: String,
    parameters: Option<String>,
    output: Option<String>,
    deferred: bool,
    root: Root,
    timeout: Option<Duration>,
    hints: Hints,
    concurrency_safe: bool,
    reads: Vec<String>,
    writes: Vec<String>,
    changes: Vec<String>,
}

impl DynamicToolBuilder {
    /// The JSON Schema of its arguments, whose members keep their order. Without one it takes none.
    #[must_use]
    pub fn parameters(mut self, schema: impl Into<String>) -> Self {
        self.parameters = Some(schema.into());
        self
    }

    /// Its parameters may be composed at the root (`oneOf`, `allOf`, `if`, …), as those of other people's tools are. They
    /// are enforced as they stand; a provider that takes none of this is shown something wider.
    #[must_use]
    pub fn composed_root(mut self) -> Self {
        self.root = Root::Composed;
        self
    }

    /// The JSON Schema of what it returns; `true` for anything. There has to be one.
    #[must_use]
    pub fn output(mut self, schema: impl Into<String>) -> Self {
        self.output = Some(schema.into());
        self
    }

    /// The model has to search for it first.
    #[must_use]
    pub fn deferred(mut self) -> Self {
        self.deferred = true;
        self
    }

    /// Its time budget.
    #[must_use]
    pub fn timeout(mut self, budget: Duration) -> Self {
        self.timeout = Some(budget);
        self
    }

    /// What the host says of its effects: [`Hints`], or a list of [`Hint`](crate::Hint)s.
    #[must_use]
    pub fn hints(mut self, hints: impl Into<Hints>) -> Self {
        self.hints = hints.into();
        self
    }

    /// Its calls may overlap others.
    #[must_use]
    pub fn concurrency_safe(mut self) -> Self {
        self.concurrency_safe = true;
        self
    }

    /// Arguments that name what a call reads: it overlaps others, but none that writes the same. What may be two
    /// spellings of one file path, or a directory and what is in it, is taken for the same. A name that no argument can have
    /// is an error when the registry is built.
    #[must_use]
    pub fn reads<S: Into<String>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.reads.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Arguments that name what a call writes: it overlaps others, but none that reads or writes the same.
    #[must_use]
    pub fn writes<S: Into<String>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.writes.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// The state changes that it can make, such as `light.off`.
    #[must_use]
    pub fn changes<S: Into<String>>(mut self, changes: impl IntoIterator<Item = S>) -> Self {
        self.changes.extend(changes.into_iter().map(Into::into));
        self
    }

    /// Ends with its body, which is given the accepted arguments as canonical JSON text and returns
    /// JSON text, where a text stands in quotes as [`serde_json::to_string`](crate::serde_json::to_string) writes it, or an
    /// error whose `Display` the model reads.
    ///
    /// # Errors
    /// If the name isn't legal, there is no description or output schema, a schema isn't JSON,
    /// or the budget is zero. Whether the schemas can be enforced is found out by the registry.
    pub fn run<F, B>(self, body: F) -> Result<HostTool, DynamicToolError>
    where
        F: Fn(String, CallContext) -> B + Send + Sync + 'static,
        B: Future<Output = Result<String, BoxError>> + Send + 'static,
    {
        self.run_shown(move |arguments, cx| {
            let running = body(arguments, cx);
            async move { running.await.map(DynamicOutput::new) }
        })
    }

    /// As [`run`](Self::run), for a body that also says how a model is shown what it returns.
    ///
    /// # Errors
    /// As those of [`run`](Self::run).
    pub fn run_shown<F, B>(self, body: F) -> Result<HostTool, DynamicToolError>
    where
        F: Fn(String, CallContext) -> B + Send + Sync + 'static,
        B: Future<Output = Result<DynamicOutput, BoxError>> + Send + 'static,
    {
        let error = |kind| Err(DynamicToolError { tool: self.name.clone(), kind });
        if !is_legal_name(&self.name) {
            return error(Kind::Name);
        }
        if self.description.trim().is_empty() {
            return error(Kind::NoDescription);
        }
        if self.timeout.is_some_and(|budget| budget.is_zero()) {
            return error(Kind::ZeroTimeout);
        }
        let parse = |which, text: &str| {
            Json::parse(text)
                .map_err(|error| DynamicToolError { tool: self.name.clone(), kind: Kind::Schema(which, error) })
        };
        let parameters = match &self.parameters {
            Some(text) => parse("parameters", text)?,
            None => Json::Object(vec![
                ("type".into(), Json::string("object")),
                ("properties".into(), Json::Object(Vec::new())),
                ("additionalProperties".into(), Json::Bool(false)),
            ]),
        };
        let Some(output) = &self.output else {
            return error(Kind::NoOutput);
        };
        let output = parse("output", output)?;
        let built = Built::from_schemas(self.name, self.description, &parameters, &output, self.deferred, self.root);
        let run = move |given: Body| -> RunFuture {
            let (arguments, cx) = given.open::<String>();
            let running = body(arguments, cx.clone());
            Box::pin(async move {
                match running.await {
                    Ok(DynamicOutput { value, shown }) => match Json::parse(&value) {
                        Ok(value) => {
                            let value = Written::text(value.to_string());
                            match shown {
                                None => reply(&cx, value, None),
                                Some(shown) => reply(&cx, value, Some(&|| shown.clone())),
                            }
                        }
                        Err(error) => {
                            let refused =
                                crate::call::ToolOutputError::new(cx.tool(), Default::default(), "it isn't JSON");
                            let host =
                                format!("a dynamic tool returns JSON text, where a text stands in quotes: {error}");
                            Reply(BodyResult::InvalidOutput { error: refused, host })
                        }
                    },
                    Err(error) => Reply(BodyResult::Failed(BodyError::new(&error))),
                }
            })
        };
        Ok(HostTool::from_dynamic(DynamicTool {
            built,
            run: Arc::new(run),
            timeout: self.timeout,
            hints: self.hints,
            concurrency_safe: self.concurrency_safe,
            reads: self.reads,
            writes: self.writes,
            changes: self.changes,
        }))
    }
}

/// What the body of a [`DynamicTool`] returns: JSON, and how a model is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DynamicOutput {
    value: String,
    shown: Option<Content>,
}

impl DynamicOutput {
    /// A value as JSON text. A model reads text as it is, and everything else as JSON.
    pub fn new(value: impl Into<String>) -> Self {
        DynamicOutput { value: value.into(), shown: None }
    }

    /// Has a model shown this instead of the value.
    #[must_use]
    pub fn shown_as(mut self, content: impl Into<Content>) -> Self {
        self.shown = Some(content.into());
        self
    }
}

/// How long a name may be, in characters.
pub(crate) const LONGEST_NAME: usize = 128;

/// What the Model Context Protocol asks of a name (SEP-986). A provider that takes less is shown another name: see
/// [`Export::wire_name`](crate::wire::export::Export::wire_name).
pub(crate) fn is_legal_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

/// What is said of a name that isn't legal.
pub(crate) const LEGAL_NAMES: &str =
    "a name has letters, digits, `_`, `-` and `.` (ASCII), at least one and at most 128";

/// Why a dynamic tool can't be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DynamicToolError {
    tool: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Name,
    NoDescription,
    NoOutput,
    ZeroTimeout,
    Schema(&'static str, SyntaxError),
}

impl DynamicToolError {
    /// The tool that was to be made.
    pub fn tool(&self) -> &str {
        &self.tool
    }
}

impl fmt::Display for DynamicToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tool `{}`: ", crate::schema::text::shown(&self.tool, 80))?;
        match &self.kind {
            Kind::Name => f.write_str(LEGAL_NAMES),
            Kind::NoDescription => f.write_str("it needs a description, which is what a model reads about it"),
            Kind::NoOutput => f.write_str("it needs an output schema (`true` for anything)"),
            Kind::ZeroTimeout => f.write_str("its timeout has to be longer than zero"),
            Kind::Schema(which, error) => {
                write!(f, "its {which} schema isn't JSON: {error} (at byte {})", error.offset)
            }
        }
    }
}

impl std::error::Error for DynamicToolError {}
