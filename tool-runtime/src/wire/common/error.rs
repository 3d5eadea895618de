use std::fmt;

use super::Value;
use crate::schema::text;

/// A response, or a part of a stream, that can't be read as its format says; or that is the provider's word that
/// something went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageError {
    format: &'static str,
    fail: Fail,
}

/// What is wrong, while the format goes without saying.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fail {
    Syntax { what: &'static str, line: usize, column: usize },
    Form(String),
    Reported(String),
    TooLong { limit: usize },
}

impl Fail {
    pub(in crate::wire) fn form(what: impl Into<String>) -> Self {
        Fail::Form(what.into())
    }

    pub(in crate::wire) fn of(self, format: &'static str) -> MessageError {
        MessageError { format, fail: self }
    }
}

impl MessageError {
    /// Where the text stops being JSON: line and column from 1, the column counted in characters. `None` if something
    /// else is wrong.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        match self.fail {
            Fail::Syntax { line, column, .. } => Some((line, column)),
            _ => None,
        }
    }

    /// What the provider says, if it reports an error instead of a response.
    pub fn reported(&self) -> Option<&str> {
        match &self.fail {
            Fail::Reported(said) => Some(said),
            _ => None,
        }
    }
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MessageError { format, fail } = self;
        match fail {
            Fail::Syntax { what, line, column } => {
                write!(f, "not a message of {format}: not valid JSON: {what} (line {line}, column {column})")
            }
            Fail::Form(what) => write!(f, "not a message of {format}: {what}"),
            Fail::Reported(said) => write!(f, "{format}: the provider reports an error: {}", text::visible(said, 500)),
            Fail::TooLong { limit } => write!(f, "{format}: the stream is longer than {limit} bytes"),
        }
    }
}

impl std::error::Error for MessageError {}

/// What a provider says in its `error`, be it text or an object with a `message`.
pub(in crate::wire) fn reported(error: Value<'_>) -> Fail {
    let said = error.text().or_else(|| match error.members(["message"]) {
        Ok([message]) => message?.text(),
        Err(_) => None,
    });
    Fail::Reported(said.unwrap_or_else(|| text::head(error.raw(), 2_000).to_owned()))
}
