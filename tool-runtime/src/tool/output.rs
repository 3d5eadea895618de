//! What a body returns, and how it becomes something that a model can read.

use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use super::coded::{CodedError, is_legal_code};
use super::context::CallContext;
use super::panic::caught;
use crate::call::{Content, ToolOutputError};
use crate::schema::json::ser;

type BoxError = Box<dyn Error + Send + Sync>;

/// A type that a tool can return: [`serde::Serialize`] and [`schemars::JsonSchema`].
///
/// For a type of your own write [`#[tool_type]`](crate::tool_type) above it.
///
/// Text is shown as it is, everything else as JSON; maps and sets are put into order, so that equal
/// values have equal texts. Bytes are written as a JSON array of numbers, as serde has them: nothing
/// is lost, and a model can hardly read it. Return Base64 text instead, or show an image through the
/// `project` hook and [`Block::Image`](crate::Block::Image).
#[diagnostic::on_unimplemented(
    message = "a tool can't return `{Self}`: a model can't read it",
    label = "a model can't read this",
    note = "write `#[tool_type]` above the type and above those in it, or return one that implements `Serialize` and `JsonSchema`"
)]
pub trait ModelOutput: Sized {
    #[doc(hidden)]
    fn describe(generator: &mut SchemaGenerator) -> Schema;
    #[doc(hidden)]
    fn write(&self, cx: &CallContext) -> Written;
}

/// The JSON text of an output, and whether it is beyond doubt what its schema says; or why there is
/// none.
#[derive(Debug)]
pub struct Written(Result<(Arc<str>, bool), ser::EncodeError>);

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> ModelOutput for T {
    fn describe(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }

    fn write(&self, cx: &CallContext) -> Written {
        Written(ser::write_following(self, cx.host_tool().built().quick_output()))
    }
}

/// A type that a tool can fail with: whatever turns into a boxed error, such as `String`,
/// `std::io::Error`, `anyhow::Error`, and every [`std::error::Error`] that is `Send + Sync`.
///
/// The model reads its own `Display` and no more.
#[diagnostic::on_unimplemented(
    message = "a tool can't fail with `{Self}`",
    label = "not an error that a tool can return",
    note = "the model reads an error's text: implement `Display` and `std::error::Error` for it",
    note = "it has to be `Send + Sync` too: in the place of `Box<dyn Error>` write `Box<dyn Error + Send + Sync>`"
)]
pub trait ModelError: Sized {
    #[doc(hidden)]
    fn into_error(self) -> BoxError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError>> ModelError for E {
    fn into_error(self) -> BoxError {
        self.into()
    }
}

/// What a body came to.
#[derive(Debug)]
pub struct Reply(pub(crate) BodyResult);

#[derive(Debug, Clone)]
pub(crate) enum BodyResult {
    Success(Success),
    /// The tool's own error.
    Failed(BodyError),
    /// Its output isn't what its schema says, or a renderer failed.
    InvalidOutput {
        error: ToolOutputError,
        host: String,
    },
}

/// A checked output.
#[derive(Debug, Clone)]
pub(crate) struct Success {
    /// As JSON text.
    pub(crate) value: Arc<str>,
    pub(crate) content: Content,
}

/// A tool's own error, in texts.
#[derive(Debug, Clone)]
pub(crate) struct BodyError {
    pub(crate) message: String,
    /// From the outside in, without those that the message has already.
    pub(crate) causes: Vec<String>,
    /// The first code in the chain, if it is a legal one.
    pub(crate) code: Option<Arc<str>>,
}

impl BodyError {
    /// How many causes are looked at: a chain may be long, or lead back to itself.
    const MAX_CAUSES: usize = 16;

    pub(crate) fn new(error: &BoxError) -> Self {
        let message = error.to_string();
        let mut causes: Vec<String> = Vec::new();
        let mut code = CodedError::code_of(&**error);
        let mut source = error.source();
        let mut left = Self::MAX_CAUSES;
        while let (Some(cause), true) = (source, left > 0) {
            let text = cause.to_string();
            let said = std::iter::once(&message).chain(&causes).any(|said| said.contains(&text));
            if !said && !text.is_empty() {
                causes.push(text);
            }
            code = code.or_else(|| CodedError::code_of(cause));
            source = cause.source();
            left -= 1;
        }
        let code = code.filter(|code| is_legal_code(code)).cloned();
        BodyError { message, causes, code }
    }
}

/// How an output type is described.
#[derive(Debug, Clone, Copy)]
pub struct OutputType {
    pub(super) describe: fn(&mut SchemaGenerator) -> Schema,
}

/// What the one judgement of a return type is asked for.
pub enum Settle<'a, R> {
    /// To describe it.
    Describe,
    /// To make a reply of a returned value.
    Returned(&'a CallContext, R),
}

impl<R> fmt::Debug for Settle<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Settle::Describe => "Describe",
            Settle::Returned(..) => "Returned",
        })
    }
}

/// What came of [`Settle`].
#[derive(Debug)]
pub enum Settled {
    /// Of [`Settle::Describe`].
    Described(OutputType),
    /// Of [`Settle::Returned`].
    Reply(Reply),
}

impl Settled {
    /// The description.
    pub fn described(self) -> OutputType {
        match self {
            Settled::Described(output) => output,
            Settled::Reply(_) => unreachable!("asked to describe"),
        }
    }

    /// The reply.
    pub fn reply(self) -> Reply {
        match self {
            Settled::Reply(reply) => reply,
            Settled::Described(_) => unreachable!("asked for a reply"),
        }
    }
}

/// Judges a return type. Results are told from plain values by trait, so that aliases of `Result`
/// are results too: an inherent method wins over a trait's.
#[derive(Debug)]
pub struct ReturnOf<R>(PhantomData<R>);

impl<T, E> ReturnOf<Result<T, E>> {
    /// A result: its value is shown, or its error is.
    pub fn judge() -> Returns<Result<T, E>, T>
    where
        T: ModelOutput,
        E: ModelError,
    {
        Returns { split: |result| result.map_err(E::into_error), describe: T::describe, write: T::write }
    }
}

/// Judges every return type that is no `Result`.
pub trait PlainReturn<T> {
    /// A plain value: it is shown.
    fn judge() -> Returns<T, T>
    where
        T: ModelOutput;
}

impl<T> PlainReturn<T> for ReturnOf<T> {
    fn judge() -> Returns<T, T>
    where
        T: ModelOutput,
    {
        Returns { split: Ok, describe: T::describe, write: T::write }
    }
}

/// A judged return type: `R` is returned, `V` is the value in it.
pub struct Returns<R, V> {
    split: fn(R) -> Result<V, BoxError>,
    describe: fn(&mut SchemaGenerator) -> Schema,
    write: fn(&V, &CallContext) -> Written,
}

impl<R, V> fmt::Debug for Returns<R, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Returns")
    }
}

impl<R, V> Returns<R, V> {
    /// Describes the value, or makes a reply of it.
    pub fn settle(self, what: Settle<'_, R>, project: Option<fn(&V) -> Content>) -> Settled {
        match what {
            Settle::Describe => Settled::Described(OutputType { describe: self.describe }),
            Settle::Returned(cx, returned) => Settled::Reply(match (self.split)(returned) {
                Ok(value) => match project {
                    None => reply(cx, (self.write)(&value, cx), None),
                    Some(project) => reply(cx, (self.write)(&value, cx), Some(&|| project(&value))),
                },
                Err(error) => Reply(BodyResult::Failed(BodyError::new(&error))),
            }),
        }
    }
}

/// Checks an output, then narrates it.
pub(super) fn reply(cx: &CallContext, written: Written, project: Option<&dyn Fn() -> Content>) -> Reply {
    let tool = cx.host_tool();
    let invalid = |error: ToolOutputError, host: String| Reply(BodyResult::InvalidOutput { error, host });
    let (value, sure) = match written.0 {
        Ok(written) => written,
        Err(error) => {
            // What the value's own `Serialize` says is the host's.
            let what = error.what.unwrap_or("it can't be written as JSON");
            return invalid(ToolOutputError::new(tool.name(), error.path(), what), error.to_string());
        }
    };
    let checked = if sure { Ok(value) } else { tool.built().check_output(value) };
    match checked {
        Err((path, what)) => invalid(ToolOutputError::new(tool.name(), path, &what), what),
        Ok(value) => {
            let content = match project {
                None => tool.built().narrate(&value),
                Some(project) => match caught(project) {
                    Ok(content) => content,
                    Err(payload) => {
                        let error =
                            ToolOutputError::new(tool.name(), Default::default(), "its renderer `project` failed");
                        return invalid(error, format!("`project` panicked: {payload}"));
                    }
                },
            };
            Reply(BodyResult::Success(Success { value, content }))
        }
    }
}

impl Written {
    /// Of a dynamic tool: text that is JSON already.
    pub(super) fn text(text: String) -> Self {
        Written(Ok((text.into(), false)))
    }
}
