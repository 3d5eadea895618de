use std::time::Duration;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::binding::Binding;
use super::fills::Fills;
use super::micros::in_micros;
use super::stored::Stored;
use crate::call::{CallId, Place, placed};
use crate::gate::{Answer, Question, QuestionId, Signer};
use crate::schema::Digest;

/// A person is about to be asked about a call. In the ledger before anybody is; [`AnsweredRecord`]
/// has the same question's end. Only this crate can make one.
#[derive(Debug, PartialEq, Eq)]
pub struct AskedRecord {
    question: Question,
    notices: Vec<String>,
    place: Place,
    binding: Binding,
}

placed! {
    AskedRecord: place;
    AnsweredRecord: place;
}

impl AskedRecord {
    pub(crate) fn new(question: Question, notices: Vec<String>, place: Place, binding: Binding) -> Self {
        AskedRecord { question, notices, place, binding }
    }

    /// What a yes is for, and for nothing else.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// What is asked, just as the person is asked it.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// The `[notice]` lines of the tool, which the person is told.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }
}

impl Serialize for AskedRecord {
    /// As a [`Question`] is, in one object with what an entry has.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("AskedRecord", 15)?;
        fields.serialize_field("entry", "asked")?;
        self.question.serialize_into(&mut fields, "question")?;
        self.place.serialize_into(&mut fields)?;
        match self.notices.is_empty() {
            true => fields.skip_field("notices")?,
            false => fields.serialize_field("notices", &self.notices)?,
        }
        fields.serialize_field("binding", &self.binding)?;
        fields.end()
    }
}

/// What came of a question. One for each that was asked, also if nobody answered. Only this crate can
/// make one.
#[derive(Debug, PartialEq, Eq)]
pub struct AnsweredRecord {
    question: QuestionId,
    call_id: CallId,
    tool: String,
    answer: Option<Answer>,
    /// What was given with it.
    filled: Fills,
    waited: Duration,
    place: Place,
    /// The digest of the binding that was shown.
    binds: Digest,
    /// Identifies what would run.
    what: Digest,
    signer: Option<Signer>,
}

impl AnsweredRecord {
    pub(crate) fn new(
        asked: &AskedRecord,
        answer: Option<Answer>,
        filled: Fills,
        signer: Option<Signer>,
        waited: Duration,
    ) -> Self {
        let Question { id, call_id, tool, .. } = asked.question();
        AnsweredRecord {
            question: id.clone(),
            call_id: call_id.clone(),
            tool: tool.clone(),
            answer,
            filled,
            waited,
            place: asked.place.clone(),
            binds: *asked.binding.digest(),
            what: asked.question.digest,
            signer,
        }
    }

    /// The answer to a question that another process may have asked.
    #[expect(clippy::too_many_arguments, reason = "the parts of a record, from two sources")]
    pub(super) fn to_stored(
        asked: &Stored,
        question: &QuestionId,
        place: Place,
        binds: Digest,
        what: Digest,
        (answer, filled): (Answer, Fills),
        signer: Signer,
        waited: Duration,
    ) -> Self {
        AnsweredRecord {
            question: question.clone(),
            call_id: asked.call_id().clone(),
            tool: asked.tool().to_owned(),
            answer: Some(answer),
            filled,
            waited,
            place,
            binds,
            what,
            signer: Some(signer),
        }
    }

    /// Identifies what would run: the question's [digest](crate::Question::digest).
    pub fn what(&self) -> &Digest {
        &self.what
    }

    /// Who answered, if the approver says so.
    pub fn signer(&self) -> Option<&Signer> {
        self.signer.as_ref()
    }

    /// The question.
    pub fn question(&self) -> &QuestionId {
        &self.question
    }

    /// The call that it was about.
    pub fn call_id(&self) -> &CallId {
        &self.call_id
    }

    /// The tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What was answered. `None`: the question was withdrawn before anybody did.
    pub fn answer(&self) -> Option<Answer> {
        self.answer
    }

    /// How long it took from the question to its end.
    pub fn waited(&self) -> Duration {
        self.waited
    }
}

impl Serialize for AnsweredRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("AnsweredRecord", 15)?;
        fields.serialize_field("entry", "answered")?;
        self.place.serialize_into(&mut fields)?;
        fields.serialize_field("question", &self.question)?;
        fields.serialize_field("call_id", &self.call_id)?;
        fields.serialize_field("tool", &self.tool)?;
        fields.serialize_field("answer", self.answer.map_or("withdrawn", Answer::as_str))?;
        self.filled.serialize_into(&mut fields)?;
        fields.serialize_field("digest", &self.what.to_string())?;
        fields.serialize_field("binds", &self.binds.to_string())?;
        Signer::serialize_into(self.signer.as_ref(), &mut fields)?;
        fields.serialize_field("waited_us", &in_micros(self.waited))?;
        fields.end()
    }
}
