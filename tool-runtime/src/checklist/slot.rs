use serde::{Deserialize, Serialize};

use crate::schema::JsonPath;

/// The lines that have to be confirmed before a call runs. An empty one asks for nothing but the
/// arguments that a call itself reports as not found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checklist {}

impl Checklist {
    /// A checklist without lines.
    pub fn new() -> Self {
        Checklist::default()
    }
}

/// What a model says of a slot: where it found the value, or that there is none. It has no third
/// word.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// The value stands at this place of the conversation.
    Found {
        /// The place.
        at: String,
    },
    /// There is nothing to write.
    NoResult,
}

/// Who can fill a slot that is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Party {
    /// The user: asking helps.
    User,
    /// Whoever provides the tool: asking the user doesn't help.
    Provider,
    /// The host: one of its sources failed.
    Host,
}

/// A slot that is empty after every designated source was checked. A word of the host: nothing
/// that a model writes can become one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    path: JsonPath,
    party: Party,
}

impl Unknown {
    pub(crate) fn of_user(path: JsonPath) -> Self {
        Unknown { path, party: Party::User }
    }

    /// Which argument it is.
    pub fn path(&self) -> &JsonPath {
        &self.path
    }

    /// Who can fill it.
    pub fn party(&self) -> Party {
        self.party
    }
}
