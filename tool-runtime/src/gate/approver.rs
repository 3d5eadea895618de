use crate::BoxFuture;
use crate::call::CallId;
use crate::tool::Card;

/// Asks a person. One set holds all questions of a turn.
///
/// Closures that return a boxed future are approvers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an approver",
    label = "can't ask anybody",
    note = "implement `Approver` for it, or write a closure: `|questions: QuestionSet| Box::pin(answer(questions))`"
)]
pub trait Approver: Send + Sync {
    /// Gives one answer a question, in their order. A missing answer is no answer.
    fn ask(&self, questions: QuestionSet) -> BoxFuture<'static, Vec<Answer>>;
}

#[diagnostic::do_not_recommend]
impl<F: Fn(QuestionSet) -> BoxFuture<'static, Vec<Answer>> + Send + Sync> Approver for F {
    fn ask(&self, questions: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
        self(questions)
    }
}

/// All that one person is asked about one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuestionSet {
    /// One a call that waits for a go-ahead.
    pub questions: Vec<Question>,
}

/// May this call run?
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Question {
    /// The call.
    pub call_id: CallId,
    /// The tool.
    pub tool: String,
    /// What will run: the accepted arguments as JSON text, secrets redacted.
    pub arguments: String,
    /// How the tool's author shows such a call.
    pub card: Option<Card>,
    /// Why it is asked: every reason there is.
    pub reasons: Vec<String>,
}

/// What a person says to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// It may run.
    Yes,
    /// It may not.
    No,
    /// The answer will come later, and not in this turn.
    Later,
    /// There was nobody to ask.
    Unavailable,
    /// Nobody answered in time.
    Expired,
}
