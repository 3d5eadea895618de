use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::call::{Code, Content};
use crate::schema::json::{de, ser};

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
    /// The code that the tool's own error has: see [`CodedError`](crate::CodedError).
    pub error_code: Option<Arc<str>>,
    /// What the model read.
    pub content: Content,
    /// The call failed, or did not run.
    pub is_error: bool,
    /// The body had begun, so its effects may have happened.
    pub started: bool,
    /// What the body has left for a card: see [`CallContext::card_data`](crate::CallContext::card_data).
    pub card_data: Option<CardData>,
}

/// Small JSON that a tool's body leaves for its `present_result`. Host only, and stored with the
/// result, so that the same card can be made years later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardData(Arc<str>);

/// How much may be left for a card, in bytes.
const MAX_CARD_DATA: usize = 16 * 1024;

impl CardData {
    pub(super) fn new(value: &impl Serialize) -> Result<Self, CardDataError> {
        let text = ser::write(value).map_err(|error| CardDataError(error.to_string()))?;
        if text.len() > MAX_CARD_DATA {
            return Err(CardDataError(format!("{} bytes, and at most {MAX_CARD_DATA} are kept", text.len())));
        }
        Ok(CardData(text.into()))
    }

    /// As compact JSON text.
    pub fn as_json(&self) -> &str {
        &self.0
    }

    /// Read as a `T`. `None` if it is no `T`: it may have been written by an older version.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        de::read(&self.0, 0).ok()
    }
}

impl Serialize for CardData {
    /// As the JSON text that it is, in quotes: a record is one line of JSON whatever it holds.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// What was left for a card can't be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardDataError(String);

impl fmt::Display for CardDataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the data of a card can't be kept: {}", self.0)
    }
}

impl std::error::Error for CardDataError {}

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
