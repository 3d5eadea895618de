use std::time::Duration;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::record::in_micros;
use crate::call::CallId;
use crate::gate::{Answer, Question, QuestionId};

/// A person is about to be asked about a call. In the ledger before anybody is; [`AnsweredRecord`]
/// has the same question's end. Only this crate can make one.
#[derive(Debug, PartialEq, Eq)]
pub struct AskedRecord {
    question: Question,
    notices: Vec<String>,
}

impl AskedRecord {
    pub(crate) fn new(question: Question, notices: Vec<String>) -> Self {
        AskedRecord { question, notices }
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
        let mut fields = serializer.serialize_struct("AskedRecord", 11)?;
        fields.serialize_field("entry", "asked")?;
        self.question.serialize_into(&mut fields, "question")?;
        match self.notices.is_empty() {
            true => fields.skip_field("notices")?,
            false => fields.serialize_field("notices", &self.notices)?,
        }
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
    waited: Duration,
}

impl AnsweredRecord {
    pub(crate) fn new(asked: &AskedRecord, answer: Option<Answer>, waited: Duration) -> Self {
        let Question { id, call_id, tool, .. } = asked.question();
        AnsweredRecord { question: id.clone(), call_id: call_id.clone(), tool: tool.clone(), answer, waited }
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
        let mut fields = serializer.serialize_struct("AnsweredRecord", 6)?;
        fields.serialize_field("entry", "answered")?;
        fields.serialize_field("question", &self.question)?;
        fields.serialize_field("call_id", &self.call_id)?;
        fields.serialize_field("tool", &self.tool)?;
        fields.serialize_field("answer", self.answer.map_or("withdrawn", Answer::as_str))?;
        fields.serialize_field("waited_us", &in_micros(self.waited))?;
        fields.end()
    }
}
