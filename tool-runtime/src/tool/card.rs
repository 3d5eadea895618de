use serde::Serialize;

use crate::call::{Code, Content};

/// What a person is shown of a call or of a result. Host only: a model never reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Card {
    /// One line.
    pub title: String,
    /// More, if there is more.
    pub body: Option<String>,
}

impl Card {
    /// A card of one line.
    pub fn new(title: impl Into<String>) -> Self {
        Card { title: title.into(), body: None }
    }

    /// Adds a body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<String>) -> Self {
        self.body = Some(body.into());
        self
    }
}

/// A result as it is kept: what a card can be made from, live or years later.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredResult {
    /// How the call ended.
    pub code: Code,
    /// What the model read.
    pub content: Content,
    /// The call failed, or did not run.
    pub is_error: bool,
    /// The body had begun, so its effects may have happened.
    pub started: bool,
}

/// What `finalize` looks at: the result of a call, whatever became of it, before the model reads it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Final<'a> {
    /// How the call ended.
    pub code: Code,
    /// What the model would read.
    pub content: &'a Content,
    /// The call failed, or did not run.
    pub is_error: bool,
}
