use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::location::Location;
use super::look_up::Came;
use super::origin::Origin;
use super::source::{Normalisation, SourceKind};
use crate::gate::QuestionId;
use crate::schema::JsonPath;

/// Who can fill a slot that is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Party {
    /// The user: asking helps.
    User,
    /// Whoever provides the tool: asking the user doesn't help.
    Provider,
    /// The host: one of its sources failed, or one of its own lines can't be judged.
    Host,
}

impl Party {
    /// The stable word, such as `user`.
    pub fn as_str(self) -> &'static str {
        match self {
            Party::User => "user",
            Party::Provider => "provider",
            Party::Host => "host",
        }
    }
}

/// A slot that is empty after every designated source was checked. A word of the host: nothing
/// that a model writes can become one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    slot: Arc<str>,
    path: Option<JsonPath>,
    party: Party,
    asks: String,
    says: Vec<String>,
}

impl Unknown {
    /// An argument that has to be given.
    pub(crate) fn of_argument(path: JsonPath, party: Party, asks: impl Into<String>) -> Self {
        Unknown { slot: path.to_pointer().into(), path: Some(path), party, asks: asks.into(), says: Vec::new() }
    }

    /// Another line of the list.
    pub(crate) fn of_line(slot: impl Into<Arc<str>>, party: Party, asks: impl Into<String>) -> Self {
        Unknown { slot: slot.into(), path: None, party, asks: asks.into(), says: Vec::new() }
    }

    /// With words by which people speak of it.
    pub(crate) fn saying(mut self, words: impl IntoIterator<Item = String>) -> Self {
        self.says.extend(words);
        self
    }

    pub(crate) fn says(&self) -> &[String] {
        &self.says
    }

    /// What records call the slot: the JSON Pointer of an argument, the name of a condition, `@action`, `@change` or
    /// `@when`.
    pub fn slot(&self) -> &str {
        &self.slot
    }

    /// Which argument it is, if it is one.
    pub fn path(&self) -> Option<&JsonPath> {
        self.path.as_ref()
    }

    /// Who can fill it.
    pub fn party(&self) -> Party {
        self.party
    }

    /// What to ask, or what has to be found out, in words: without the names of slots and tools.
    pub fn asks(&self) -> &str {
        &self.asks
    }
}

/// Of which of the three kinds a slot is. An execution goes wrong in as many ways: with a wrong value, uninstructed, or
/// off target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotKind {
    /// What an argument is.
    Value,
    /// What has to be so before the call runs.
    Condition,
    /// What the user wants, when, and what the user calls it.
    Intent,
}

impl SlotKind {
    /// The stable word, such as `value`.
    pub fn as_str(self) -> &'static str {
        match self {
            SlotKind::Value => "value",
            SlotKind::Condition => "condition",
            SlotKind::Intent => "intent",
        }
    }
}

/// One line item of one call, as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot(SlotParts);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SlotParts {
    pub(crate) name: Arc<str>,
    pub(crate) kind: SlotKind,
    pub(crate) origins: Vec<Origin>,
    /// Canonical text, redacted.
    pub(crate) value: Option<String>,
    pub(crate) state: SlotState,
    pub(crate) tried: Vec<(SourceKind, Came)>,
    /// The question by which a person agreed to the value.
    pub(crate) approved: Option<QuestionId>,
    /// What it was judged by beside the arguments: names with JSON text.
    pub(crate) facts: Vec<(Arc<str>, Arc<str>)>,
}

impl SlotParts {
    /// A person has agreed. Where a value was found stays as it is.
    pub(crate) fn is_agreed(&mut self, question: &QuestionId) {
        match self.kind {
            SlotKind::Value => self.approved = Some(question.clone()),
            SlotKind::Condition | SlotKind::Intent => self.state = SlotState::Answered(question.clone()),
        }
    }
}

/// What came of a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SlotState {
    /// The value stands in a source.
    Found {
        /// Where.
        at: Location,
        /// How what stands there was read.
        normalisation: Normalisation,
        /// A few words around it.
        excerpt: Option<String>,
    },
    /// A person gave the value, or agreed to what the line says, when asked this.
    Answered(QuestionId),
    /// Text that the model is meant to write.
    Authored,
    /// The default that the tool declares, which the model left alone.
    Defaulted,
    /// It follows from other values by a formula of the list.
    Derived(String),
    /// The value is there, and this list has no sources to look it up in.
    Given,
    /// The condition holds, or doesn't call for anything.
    Holds,
    /// The condition doesn't hold.
    Fails,
    /// A person has to agree, and has not yet.
    Unconfirmed,
    /// The user was told.
    Told,
    /// It isn't known, and who could change that.
    Open {
        /// Who.
        party: Party,
        /// Why it isn't.
        why: String,
    },
    /// Sources say different things: each value with its place.
    Conflict(Vec<(String, Location)>),
}

impl SlotState {
    /// The stable word, such as `found`.
    pub fn as_str(&self) -> &'static str {
        match self {
            SlotState::Found { .. } => "found",
            SlotState::Answered(_) => "answered",
            SlotState::Authored => "authored",
            SlotState::Defaulted => "default",
            SlotState::Derived(_) => "derived",
            SlotState::Given => "given",
            SlotState::Holds => "holds",
            SlotState::Fails => "fails",
            SlotState::Unconfirmed => "unconfirmed",
            SlotState::Told => "told",
            SlotState::Open { .. } => "open",
            SlotState::Conflict(_) => "conflict",
        }
    }
}

impl Slot {
    pub(crate) fn new(parts: SlotParts) -> Self {
        Slot(parts)
    }

    pub(crate) fn parts_mut(&mut self) -> &mut SlotParts {
        &mut self.0
    }

    /// What records call it: the JSON Pointer of an argument, the name of a line, `@action`, `@change` or `@when`.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Value, condition or intent.
    pub fn kind(&self) -> SlotKind {
        self.0.kind
    }

    /// Who asked for it: every line that did.
    pub fn origins(&self) -> &[Origin] {
        &self.0.origins
    }

    /// The value as canonical JSON text, redacted if it is a secret.
    pub fn value(&self) -> Option<&str> {
        self.0.value.as_deref()
    }

    /// What came of it.
    pub fn state(&self) -> &SlotState {
        &self.0.state
    }

    /// The question by which a person agreed to the value, wherever it was found.
    pub fn approved(&self) -> Option<&QuestionId> {
        self.0.approved.as_ref()
    }

    /// The sources that were searched, in order, and what each said.
    pub fn tried(&self) -> &[(SourceKind, Came)] {
        &self.0.tried
    }

    /// What a condition or a derivation was judged by beside the arguments, as JSON text: `state.balance`, `now`, or
    /// `check.name` with what a registered check said. What is large, or quotes a secret, isn't kept.
    pub fn judged_by(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.facts.iter().map(|(name, json)| (&**name, &**json))
    }
}

impl Serialize for Slot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let SlotParts { name, kind, origins, value, state, approved, tried, facts } = &self.0;
        let mut fields = serializer.serialize_struct("Slot", 10)?;
        fields.serialize_field("slot", &**name)?;
        fields.serialize_field("kind", kind)?;
        fields.serialize_field("origins", origins)?;
        match value {
            Some(value) => fields.serialize_field("value", value)?,
            None => fields.skip_field("value")?,
        }
        fields.serialize_field("state", state.as_str())?;
        match state {
            SlotState::Found { at, normalisation, excerpt } => {
                fields.serialize_field("at", at)?;
                fields.serialize_field("normalisation", normalisation)?;
                if let Some(excerpt) = excerpt {
                    fields.serialize_field("excerpt", excerpt)?;
                }
            }
            SlotState::Answered(question) => fields.serialize_field("question", question)?,
            SlotState::Derived(formula) => fields.serialize_field("formula", formula)?,
            SlotState::Open { party, why } => {
                fields.serialize_field("party", party)?;
                fields.serialize_field("why", why)?;
            }
            SlotState::Conflict(found) => {
                let found: Vec<_> = found.iter().map(|(value, at)| Choice { value, at }).collect();
                fields.serialize_field("found", &found)?;
            }
            _ => {}
        }
        if let Some(approved) = approved {
            fields.serialize_field("approved", approved)?;
        }
        if !tried.is_empty() {
            let tried: Vec<_> = tried.iter().map(|(source, came)| Searched { source, came }).collect();
            fields.serialize_field("tried", &tried)?;
        }
        if !facts.is_empty() {
            let facts: BTreeMap<&str, &str> = self.judged_by().collect();
            fields.serialize_field("judged_by", &facts)?;
        }
        fields.end()
    }
}

#[derive(Serialize)]
struct Choice<'a> {
    value: &'a str,
    at: &'a Location,
}

#[derive(Serialize)]
struct Searched<'a> {
    source: &'a SourceKind,
    came: &'a Came,
}

impl fmt::Display for Slot {
    /// One line for a person.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name(), self.state().as_str())?;
        match self.state() {
            SlotState::Found { at, normalisation, .. } => write!(f, " at {at} ({normalisation})"),
            SlotState::Answered(question) => write!(f, " to question {question}"),
            SlotState::Derived(formula) => write!(f, " by {formula}"),
            SlotState::Open { party, why } => write!(f, ", {} can help: {why}", party.as_str()),
            SlotState::Conflict(found) => {
                let said: Vec<String> = found.iter().map(|(value, at)| format!("{value} at {at}")).collect();
                write!(f, ": {}", said.join(", "))
            }
            _ => Ok(()),
        }?;
        match self.approved() {
            Some(question) => write!(f, ", agreed to in question {question}"),
            None => Ok(()),
        }
    }
}
