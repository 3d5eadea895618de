use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::ser::{Serialize, Serializer};

use super::{GrantScope, QuestionSet, Signer};
use crate::BoxFuture;

/// Asks a person. One set holds all questions of a turn.
///
/// Closures that give a future are approvers, and so is an `Arc` of one. There are some to begin with:
/// [`TerminalApprover`](crate::TerminalApprover), [`ChannelApprover`](crate::ChannelApprover),
/// [`FirstOf`](crate::FirstOf) and [`NeverAsk`](crate::NeverAsk).
///
/// ```
/// use tool_runtime::{Answer, Approver, QuestionSet};
///
/// let agrees = |set: QuestionSet| async move { vec![Answer::Yes; set.questions.len()] };
/// fn is_approver(_: impl Approver) {}
/// is_approver(agrees);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an approver",
    label = "can't ask anybody",
    note = "implement `Approver` for it, or write a closure that gives a future of `Vec<Answer>`: `|questions: QuestionSet| async move {{ … }}`",
    note = "such a future is `Send` and owns what it uses: the closure, which may be called again, gives it clones"
)]
pub trait Approver: Send + Sync {
    /// Gives one answer a question, in their order. A missing answer is no answer, and neither is a
    /// panic.
    ///
    /// The future owns what it uses: what it needs of the approver is cloned first, say an `Arc` of it. It is dropped when
    /// nobody waits for the answers any more; the set's token is cancelled then.
    fn ask(&self, questions: QuestionSet) -> BoxFuture<'static, Vec<Answer>>;

    /// Tells a person something for which there is nothing to ask: `[notice]` lines of calls that are about to run.
    /// `true` once it was shown. By default nobody is told, and then these calls don't run: see
    /// [`Notices`](crate::Notices).
    fn tell(&self, notices: Vec<String>) -> BoxFuture<'static, bool> {
        let _ = notices;
        Box::pin(std::future::ready(false))
    }

    /// Who answers, and on which way, if that is known: it goes into the records of the answers. An approver of which
    /// several people answer [signs](QuestionSet::sign) each question instead.
    fn signer(&self) -> Option<Signer> {
        None
    }
}

#[diagnostic::do_not_recommend]
impl<F, R> Approver for F
where
    F: Fn(QuestionSet) -> R + Send + Sync,
    R: Future<Output = Vec<Answer>> + Send + 'static,
{
    fn ask(&self, questions: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(self(questions))
    }
}

#[diagnostic::do_not_recommend]
impl<A: Approver + ?Sized> Approver for Arc<A> {
    fn ask(&self, questions: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
        (**self).ask(questions)
    }

    fn tell(&self, notices: Vec<String>) -> BoxFuture<'static, bool> {
        (**self).tell(notices)
    }

    fn signer(&self) -> Option<Signer> {
        (**self).signer()
    }
}

/// What a person says to a question.
///
/// Has a stable word, which can be read back:
///
/// ```
/// use tool_runtime::{Answer, GrantScope};
///
/// let answer = Answer::YesForSession(GrantScope::SameArguments);
/// assert_eq!(answer.as_str(), "yes_to_same_arguments");
/// assert_eq!("yes_to_same_arguments".parse(), Ok(answer));
/// assert!("yes, please".parse::<Answer>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Answer {
    /// It may run, this once.
    Yes,
    /// It may run, and so may further calls of the tool, unasked, for as long as the session's
    /// [`Grants`](crate::Grants) live.
    YesForSession(GrantScope),
    /// It may not.
    No,
    /// The answer will come later, and not in this turn.
    Later,
    /// There was nobody to ask, or nobody took the question.
    Unavailable,
    /// Nobody answered in time.
    Expired,
    /// A rule forbids asking, so nobody was asked.
    Forbidden,
}

impl Answer {
    const ALL: [Answer; 8] = [
        Answer::Yes,
        Answer::YesForSession(GrantScope::SameArguments),
        Answer::YesForSession(GrantScope::AnyArguments),
        Answer::No,
        Answer::Later,
        Answer::Unavailable,
        Answer::Expired,
        Answer::Forbidden,
    ];

    /// The stable word, such as `no`.
    pub fn as_str(self) -> &'static str {
        match self {
            Answer::Yes => "yes",
            Answer::YesForSession(GrantScope::SameArguments) => "yes_to_same_arguments",
            Answer::YesForSession(GrantScope::AnyArguments) => "yes_to_any_arguments",
            Answer::No => "no",
            Answer::Later => "later",
            Answer::Unavailable => "unavailable",
            Answer::Expired => "expired",
            Answer::Forbidden => "forbidden",
        }
    }

    /// The call may run, as far as the person is concerned.
    pub fn is_yes(self) -> bool {
        matches!(self, Answer::Yes | Answer::YesForSession(_))
    }
}

impl FromStr for Answer {
    type Err = UnknownAnswer;

    /// Takes the words of [`as_str`](Answer::as_str) and nothing that merely resembles one.
    fn from_str(word: &str) -> Result<Self, UnknownAnswer> {
        Answer::ALL.into_iter().find(|answer| answer.as_str() == word).ok_or(UnknownAnswer)
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A text is no [`Answer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownAnswer;

impl fmt::Display for UnknownAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no answer: it is none of")?;
        for (index, answer) in Answer::ALL.into_iter().enumerate() {
            write!(f, "{} `{}`", if index == 0 { "" } else { "," }, answer.as_str())?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownAnswer {}
