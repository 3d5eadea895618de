use std::fmt;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeStruct, Serializer};
use tokio_util::sync::CancellationToken;

use super::Signer;
use super::addressee::Addressee;
use super::blank::{Blank, FillError, Sheet, Written};
use super::confirmed::{BySlot, Confirmed};
use crate::call::{CallId, unique};
use crate::schema::json::Json;
use crate::schema::text::shown;
use crate::schema::{Digest, JsonPath};
use crate::tool::Card;

/// Identifies one question: no two are alike, in this process or another. Cheap to clone.
///
/// Call ids come from providers and may repeat; these don't. Records and answers go by them.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QuestionId(Arc<str>);

impl QuestionId {
    /// One that nobody has yet.
    pub(crate) fn fresh() -> Self {
        let (process, number) = unique();
        QuestionId(format!("{process:016x}-{number}").into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: AsRef<str>> From<T> for QuestionId {
    /// Reads an id that comes back with an answer. Any text will do: one that is no question's
    /// answers none.
    fn from(id: T) -> Self {
        QuestionId(id.as_ref().into())
    }
}

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.0, 128))
    }
}

impl fmt::Debug for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Serialize for QuestionId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// May this call run?
///
/// Shows never less than what will run. Between the question and the run nothing can change it: the
/// call moves on by value, with the arguments and the definition that are shown here.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Question {
    /// Fresh for each question. The ledger's two entries about it have it too.
    pub id: QuestionId,
    /// Who is asked.
    pub to: Addressee,
    /// The call.
    pub call_id: CallId,
    /// The tool.
    pub tool: String,
    /// What will run: the accepted arguments as canonical JSON text, secrets redacted.
    pub arguments: String,
    /// Which of the arguments the model did not write: their values are the tool's defaults.
    pub defaults: Vec<JsonPath>,
    /// How the tool's author shows such a call.
    pub card: Option<Card>,
    /// Why it is asked: every reason there is. None if all that is asked for are the blanks.
    pub reasons: Vec<String>,
    /// What has to be filled in before it can run: see [`QuestionSet::fill`].
    pub blanks: Vec<Blank>,
    /// Which of the arguments a person has confirmed before, when an earlier revision of the call was asked about. Its
    /// values are what they were then, or what the person gave.
    pub confirmed: Vec<Confirmed>,
    /// Identifies the tool's definition: see [`HostTool::digest`](crate::HostTool::digest).
    pub definition: Digest,
    /// Identifies what will run: the tool, its definition, and the accepted arguments with their
    /// secrets. Equal for calls that differ in spelling or in their id alone.
    ///
    /// Made with the ledger's key, so that nobody without it finds out a short secret by trying. A
    /// ledger without a key has one that ends with the process.
    pub digest: Digest,
}

impl Question {
    /// A question as an approver gets it, for tests of approvers: its digests are of nothing real,
    /// and no harness takes it.
    pub fn new(call_id: impl Into<CallId>, tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        let (tool, arguments) = (tool.into(), arguments.into());
        Question {
            id: QuestionId::fresh(),
            to: Addressee::Approver,
            call_id: call_id.into(),
            defaults: Vec::new(),
            card: None,
            reasons: Vec::new(),
            blanks: Vec::new(),
            confirmed: Vec::new(),
            definition: Digest::of_bytes(tool.as_bytes()),
            digest: Digest::of_bytes(arguments.as_bytes()),
            tool,
            arguments,
        }
    }
}

impl Serialize for Question {
    /// With digests as hexadecimal digits and defaults as JSON Pointers; parts that aren't given are
    /// absent, and so is `to` where it is the approver.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Question", 11)?;
        self.serialize_into(&mut fields, "id")?;
        fields.end()
    }
}

impl Question {
    /// Writes its parts into an object that has others too.
    pub(crate) fn serialize_into<S: SerializeStruct>(&self, fields: &mut S, id: &'static str) -> Result<(), S::Error> {
        fields.serialize_field(id, &self.id)?;
        match &self.to {
            Addressee::Approver => fields.skip_field("to")?,
            to => fields.serialize_field("to", to)?,
        }
        fields.serialize_field("call_id", &self.call_id)?;
        fields.serialize_field("tool", &self.tool)?;
        fields.serialize_field("definition", &self.definition.to_string())?;
        fields.serialize_field("digest", &self.digest.to_string())?;
        fields.serialize_field("arguments", &self.arguments)?;
        match self.defaults.is_empty() {
            true => fields.skip_field("defaults")?,
            false => {
                let defaults: Vec<String> = self.defaults.iter().map(JsonPath::to_pointer).collect();
                fields.serialize_field("defaults", &defaults)?;
            }
        }
        match &self.card {
            Some(card) => fields.serialize_field("card", card)?,
            None => fields.skip_field("card")?,
        }
        match self.reasons.is_empty() {
            true => fields.skip_field("reasons")?,
            false => fields.serialize_field("reasons", &self.reasons)?,
        }
        match self.blanks.is_empty() {
            true => fields.skip_field("blanks")?,
            false => fields.serialize_field("blanks", &self.blanks)?,
        }
        match self.confirmed.is_empty() {
            true => fields.skip_field("confirmed")?,
            false => fields.serialize_field("confirmed", &BySlot(&self.confirmed))?,
        }
        Ok(())
    }
}

/// All that one person is asked about one turn. Never without a question.
///
/// If several people have to be heard, each gets a set of their own, at the same time.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct QuestionSet {
    /// Who is asked. The approver is asked in the user's place unless the host says who that is.
    pub to: Addressee,
    /// One a call that waits for a go-ahead.
    pub questions: Vec<Question>,
    /// What the person has to be told: the `[notice]` lines of the tools that are asked about, each
    /// once.
    pub notices: Vec<String>,
    sheet: Sheet,
    token: CancellationToken,
}

impl QuestionSet {
    /// A set of questions, for tests of approvers.
    ///
    /// ```
    /// use tool_runtime::{Question, QuestionSet};
    ///
    /// let set = QuestionSet::new([Question::new("call_1", "pay", r#"{"amount":1}"#)]);
    /// assert!(set.notices.is_empty() && !set.token().is_cancelled());
    /// ```
    pub fn new(questions: impl IntoIterator<Item = Question>) -> Self {
        let questions = questions.into_iter().collect();
        QuestionSet::with(CancellationToken::new(), Sheet::default(), Addressee::Approver, questions, Vec::new())
    }

    pub(crate) fn with(
        token: CancellationToken,
        sheet: Sheet,
        to: Addressee,
        questions: Vec<Question>,
        notices: Vec<String>,
    ) -> Self {
        QuestionSet { to, questions, notices, sheet, token }
    }

    /// Some of its questions, with the same sheet.
    pub(super) fn with_only(&self, questions: Vec<Question>) -> Self {
        QuestionSet { questions, ..self.clone() }
    }

    /// Fills in a blank of a question, with JSON text. What is filled in counts if the answer to its question is a yes;
    /// filling it in again replaces it.
    ///
    /// # Errors
    /// If nothing of the kind is asked for, or if the tool takes no such value, in words for whoever wrote it.
    ///
    /// ```
    /// use tool_runtime::{Blank, Question, QuestionSet};
    ///
    /// let mut question = Question::new("call_1", "pay", "{}");
    /// question.blanks.push(Blank::new("/iban", "Which account should the money go to?"));
    /// let id = question.id.clone();
    /// let set = QuestionSet::new([question]);
    /// assert!(set.fill(&id, "/iban", "\"DE1\"").is_ok());
    /// assert!(set.fill(&id, "/iban", "DE1").is_err() && set.fill(&id, "/bic", "1").is_err());
    /// ```
    pub fn fill(&self, question: &QuestionId, slot: &str, json: &str) -> Result<(), FillError> {
        let asked = self.questions.iter().find(|asked| asked.id == *question);
        if !asked.is_some_and(|asked| asked.blanks.iter().any(|blank| blank.slot == slot)) {
            return Err(FillError::unknown());
        }
        self.sheet.fill(question, slot, json)
    }

    /// Says that the user agrees to what they filled in being kept, and found there for later calls, also in other
    /// conversations. It is kept if the answer to the question is a yes. Filling the blank in anew takes that back.
    ///
    /// # Errors
    /// If nothing of the kind was filled in, or it can't be kept: see [`Blank::keepable`].
    pub fn keep(&self, question: &QuestionId, slot: &str) -> Result<(), FillError> {
        let asked = self.questions.iter().find(|asked| asked.id == *question);
        let blank = asked.and_then(|asked| asked.blanks.iter().find(|blank| blank.slot == slot));
        match blank {
            None => Err(FillError::unknown()),
            Some(blank) if !blank.keepable => Err(FillError::not_kept()),
            Some(_) => self.sheet.keep(question, slot),
        }
    }

    /// As [`fill`](Self::fill), with what a person typed: text where the tool takes text, and a number, a word or JSON
    /// where it takes these.
    ///
    /// # Errors
    /// As for `fill`.
    pub fn fill_text(&self, question: &QuestionId, slot: &str, typed: &str) -> Result<(), FillError> {
        let typed = typed.trim();
        let as_text = self.fill(question, slot, &Json::string(typed).to_string());
        as_text.or_else(|error| self.fill(question, slot, typed).map_err(|_| error))
    }

    /// Would a blank of a question take a value?
    pub(crate) fn takes(&self, question: &QuestionId, slot: &str, value: &Json) -> bool {
        self.sheet.takes(question, slot, value).is_ok()
    }

    /// As [`fill`](Self::fill), with a value that was found to be taken, and where the user has said it.
    pub(crate) fn fill_found(&self, question: &QuestionId, slot: &str, value: Json, at: String) {
        let (question, slot) = (question.clone(), slot.to_owned());
        self.sheet.write(Written { question, slot, value, keep: false, at: Some(at) });
    }

    /// Says who answers one of its questions, where [`Approver::signer`](super::Approver::signer) doesn't know that before:
    /// it goes into the record of a yes or a no. Signing again replaces it; a question of another set is left alone.
    pub fn sign(&self, question: &QuestionId, signer: Signer) {
        if self.questions.iter().any(|asked| asked.id == *question) {
            self.sheet.sign(question, Some(signer));
        }
    }

    /// Who was said to answer a question.
    pub(super) fn signer(&self, question: &QuestionId) -> Option<Signer> {
        self.sheet.signer(question)
    }

    /// Nobody has answered a question yet, whoever said that they would.
    pub(super) fn unsign(&self, question: &QuestionId) {
        self.sheet.sign(question, None);
    }

    /// All that is asked for, as one text that a model can put into its own words: without the names of slots and tools,
    /// so that nothing is left to choose among.
    pub fn in_words(&self) -> String {
        let mut out = String::new();
        for notice in &self.notices {
            out.push_str(&format!("To be told first: {notice}\n"));
        }
        for question in &self.questions {
            for blank in &question.blanks {
                out.push_str(&format!("Asked for: {}", blank.asks));
                if !blank.choices.is_empty() {
                    out.push_str(&format!(" (one of: {})", blank.choices.join(", ")));
                }
                out.push('\n');
            }
            for reason in &question.reasons {
                out.push_str(&format!("To be agreed to: {reason}\n"));
            }
        }
        out
    }

    /// Is cancelled once nobody waits for an answer any more: the turn was cancelled or dropped, or
    /// all is answered. An approver that shows a prompt takes it away then.
    pub fn token(&self) -> CancellationToken {
        self.token.clone()
    }
}

impl PartialEq for QuestionSet {
    /// Do they ask the same? Who waits for it is another matter.
    fn eq(&self, other: &Self) -> bool {
        self.to == other.to && self.questions == other.questions && self.notices == other.notices
    }
}

impl Eq for QuestionSet {}

impl Serialize for QuestionSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("QuestionSet", 3)?;
        match &self.to {
            Addressee::Approver => fields.skip_field("to")?,
            to => fields.serialize_field("to", to)?,
        }
        fields.serialize_field("questions", &self.questions)?;
        match self.notices.is_empty() {
            true => fields.skip_field("notices")?,
            false => fields.serialize_field("notices", &self.notices)?,
        }
        fields.end()
    }
}
