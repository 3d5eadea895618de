//! What is wrong with an expression, and why it could not be judged.

use std::fmt;

use serde::Serialize;

use crate::schema::json::SyntaxError;
use crate::schema::text;

/// What keeps an [`Expression`](super::Expression) from being compiled: all of it, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionError {
    faults: Vec<ExpressionFault>,
}

/// One thing that is wrong with an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionFault {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) what: String,
}

impl ExpressionError {
    pub(super) fn new(faults: Vec<ExpressionFault>) -> Self {
        ExpressionError { faults }
    }

    pub(super) fn at(line: usize, column: usize, what: impl Into<String>) -> Self {
        ExpressionError { faults: vec![ExpressionFault { line, column, what: what.into() }] }
    }

    /// What is wrong, one by one. There is at least one.
    pub fn faults(&self) -> impl ExactSizeIterator<Item = &ExpressionFault> {
        self.faults.iter()
    }
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            write!(f, "{}{fault}", if index > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for ExpressionError {}

impl ExpressionFault {
    pub(super) fn new(text: &str, offset: usize, what: impl Into<String>) -> Self {
        let (line, column) = place(text, offset);
        ExpressionFault { line, column, what: what.into() }
    }

    /// In which line of the expression it is, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// At which character of the line it is, from 1.
    pub fn column(&self) -> usize {
        self.column
    }

    /// What is wrong there.
    pub fn what(&self) -> &str {
        &self.what
    }
}

impl fmt::Display for ExpressionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

/// Line and column of an offset, both from 1.
pub(super) fn place(text: &str, offset: usize) -> (usize, usize) {
    SyntaxError { what: "", offset }.line_column(text)
}

/// A schema of a state that can't be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeError {
    what: String,
}

impl ScopeError {
    pub(super) fn new(state: &str, what: &str) -> Self {
        ScopeError { what: format!("the schema of state `{}`: {}", text::shown(state, 64), text::visible(what, 200)) }
    }
}

impl fmt::Display for ScopeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for ScopeError {}

/// Why an expression has no answer. Says what was read and of which kind it was, never a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub(super) kind: ReasonKind,
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) what: String,
    pub(super) about: Option<String>,
}

/// What kind of thing kept an expression from being judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasonKind {
    /// A value that the call reports as not known yet.
    Open,
    /// A member or an element that isn't there.
    Missing,
    /// A state, a time or something about the caller that the host did not give.
    NotGiven,
    /// What stands there can't be read: a number that can't be held exactly, or no JSON.
    Unreadable,
    /// A value of another kind than can be used there.
    Mismatch,
    /// A sum that overflows, a division by zero, or a quotient or product without an exact value.
    Arithmetic,
    /// It would take too many steps or too much memory.
    TooMuch,
    /// The evaluation itself broke. This should never be.
    Broken,
}

impl Reason {
    /// What kind of reason it is.
    pub fn kind(&self) -> ReasonKind {
        self.kind
    }

    /// In which line of the expression the part stands that has no value, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// At which character of the line, from 1.
    pub fn column(&self) -> usize {
        self.column
    }

    /// What it is about, as the expression names it: `args.memo`, `state.account`, `caller.role`, `now`. `None` if
    /// it is about something that was worked out.
    pub fn about(&self) -> Option<&str> {
        self.about.as_deref()
    }

    /// In words.
    pub fn what(&self) -> &str {
        &self.what
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}
