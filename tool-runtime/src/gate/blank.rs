use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::{QuestionId, Signer};
use crate::schema::json::Json;

/// A slot of a call that is to be filled by whoever is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blank {
    /// What records call the slot. Nothing to show to a person.
    pub slot: String,
    /// What is asked for, in words.
    pub asks: String,
    /// What it can be, such as `string` or `integer or null`; empty where that isn't known.
    pub types: String,
    /// What text in it has to be, such as `date`, in the words of JSON Schema's `format`; empty where that isn't said.
    pub format: String,
    /// Words by which people speak of it, beside those of its name.
    pub says: Vec<String>,
    /// The values that it can have, or those that sources disagree about, as JSON text. Empty: not listed.
    pub choices: Vec<String>,
    /// What is given is a secret: not to be shown while it is typed, and kept in no record.
    pub secret: bool,
    /// The user may agree that what is given is kept for later calls: see [`QuestionSet::keep`](super::QuestionSet::keep).
    pub keepable: bool,
}

impl Blank {
    /// A blank as an approver gets it, for tests of approvers.
    pub fn new(slot: impl Into<String>, asks: impl Into<String>) -> Self {
        Blank {
            slot: slot.into(),
            asks: asks.into(),
            types: String::new(),
            format: String::new(),
            says: Vec::new(),
            choices: Vec::new(),
            secret: false,
            keepable: false,
        }
    }
}

impl Serialize for Blank {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Blank", 8)?;
        fields.serialize_field("slot", &self.slot)?;
        fields.serialize_field("asks", &self.asks)?;
        match self.types.is_empty() {
            true => fields.skip_field("types")?,
            false => fields.serialize_field("types", &self.types)?,
        }
        match self.format.is_empty() {
            true => fields.skip_field("format")?,
            false => fields.serialize_field("format", &self.format)?,
        }
        match self.says.is_empty() {
            true => fields.skip_field("says")?,
            false => fields.serialize_field("says", &self.says)?,
        }
        match self.choices.is_empty() {
            true => fields.skip_field("choices")?,
            false => fields.serialize_field("choices", &self.choices)?,
        }
        match self.secret {
            true => fields.serialize_field("secret", &true)?,
            false => fields.skip_field("secret")?,
        }
        match self.keepable {
            true => fields.serialize_field("keepable", &true)?,
            false => fields.skip_field("keepable")?,
        }
        fields.end()
    }
}

/// Says whether a value may stand in a blank, and if not, why.
pub(crate) type Takes = Arc<dyn Fn(&str, &Json) -> Result<(), String> + Send + Sync>;

/// The answers to the blanks of one set. All clones are the same sheet.
#[derive(Clone, Default)]
pub(crate) struct Sheet(Arc<Filling>);

#[derive(Default)]
struct Filling {
    /// Who judges what is written, by question.
    takes: Vec<(QuestionId, Takes)>,
    written: Mutex<Vec<Written>>,
    /// Who answers which question, where the approvers have said so.
    signed: Mutex<Vec<(QuestionId, Signer)>>,
}

/// What somebody wrote into a blank.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Written {
    pub(crate) question: QuestionId,
    pub(crate) slot: String,
    pub(crate) value: Json,
    /// The user has agreed that it is kept for later calls.
    pub(crate) keep: bool,
    /// Where the user has said it, if that was elsewhere: the JSON text of a location.
    pub(crate) at: Option<String>,
}

impl Sheet {
    pub(crate) fn new(takes: Vec<(QuestionId, Takes)>) -> Self {
        Sheet(Arc::new(Filling { takes, ..Filling::default() }))
    }

    pub(super) fn fill(&self, question: &QuestionId, slot: &str, json: &str) -> Result<(), FillError> {
        let value = Json::parse(json).map_err(|_| FillError::no_json())?;
        self.takes(question, slot, &value)?;
        self.write(Written { question: question.clone(), slot: slot.to_owned(), value, keep: false, at: None });
        Ok(())
    }

    /// Would it be taken?
    pub(super) fn takes(&self, question: &QuestionId, slot: &str, value: &Json) -> Result<(), FillError> {
        match self.0.takes.iter().find(|(id, _)| id == question) {
            Some((_, takes)) => takes(slot, value).map_err(FillError),
            None => Ok(()),
        }
    }

    /// In the place of what was written there before.
    pub(super) fn write(&self, new: Written) {
        let mut written = self.lock();
        written.retain(|known| !(known.question == new.question && known.slot == new.slot));
        written.push(new);
    }

    pub(super) fn keep(&self, question: &QuestionId, slot: &str) -> Result<(), FillError> {
        let mut written = self.lock();
        let known = written.iter_mut().find(|known| known.question == *question && known.slot == slot);
        known.ok_or_else(|| FillError("nothing was filled in that could be kept".to_owned()))?.keep = true;
        Ok(())
    }

    /// What was written into the blanks of a question.
    pub(crate) fn of(&self, question: &QuestionId) -> Vec<Written> {
        self.lock().iter().filter(|written| written.question == *question).cloned().collect()
    }

    /// Says who answers a question, in the place of whoever did so before. `None`: nobody yet.
    pub(super) fn sign(&self, question: &QuestionId, signer: Option<Signer>) {
        let mut signed = self.0.signed.lock().unwrap_or_else(PoisonError::into_inner);
        signed.retain(|(known, _)| known != question);
        signed.extend(signer.map(|signer| (question.clone(), signer)));
    }

    /// Who is said to answer a question.
    pub(crate) fn signer(&self, question: &QuestionId) -> Option<Signer> {
        let signed = self.0.signed.lock().unwrap_or_else(PoisonError::into_inner);
        signed.iter().find(|(known, _)| known == question).map(|(_, signer)| signer.clone())
    }

    /// Nothing of ours panics while it holds this lock.
    fn lock(&self) -> MutexGuard<'_, Vec<Written>> {
        self.0.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Sheet {
    /// Without what was written: it may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sheet").field(&self.lock().len()).finish()
    }
}

/// A value can't stand in a blank. Says why, for whoever wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillError(String);

impl FillError {
    pub(crate) fn unknown() -> Self {
        FillError("no such blank is asked for".to_owned())
    }

    pub(crate) fn no_tool() -> Self {
        FillError("nobody here has the tool that takes it, as it was then".to_owned())
    }

    pub(crate) fn not_kept() -> Self {
        FillError("it isn't kept here".to_owned())
    }

    pub(crate) fn no_json() -> Self {
        FillError("is no JSON text".to_owned())
    }

    pub(crate) fn new(why: String) -> Self {
        FillError(why)
    }
}

impl fmt::Display for FillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "can't be taken: {}", self.0)
    }
}

impl std::error::Error for FillError {}
