use std::fmt;
use std::sync::Arc;

use crate::BoxFuture;
use crate::gate::{Answer, Approver, Question, QuestionSet};
use crate::tool::{CatchPanic, caught};

/// Several approvers in turn: the first that answers a question decides it.
///
/// A question is passed on by a missing answer, by [`Answer::Unavailable`], and by a panic; every
/// other answer decides. The next approver is asked about what is left, in one set. A question that
/// none takes is answered `Unavailable`. The record of an answer names the [`Signer`](crate::Signer) of the approver that
/// gave it.
///
/// ```
/// use tool_runtime::{ChannelApprover, FirstOf, Question, TerminalApprover};
///
/// let (window, questions) = ChannelApprover::new();
/// let approver = FirstOf::new()
///     .or_for(|question: &Question| question.tool.starts_with("files_"), window)
///     .or(TerminalApprover::stdio());
/// # drop((approver, questions));
/// ```
#[derive(Clone, Default)]
pub struct FirstOf(Vec<Bound>);

type TakesOnly = Arc<dyn Fn(&Question) -> bool + Send + Sync>;

/// An approver with what it is for.
#[derive(Clone)]
struct Bound {
    takes: Option<TakesOnly>,
    approver: Arc<dyn Approver>,
}

impl FirstOf {
    /// Nobody yet.
    pub fn new() -> Self {
        FirstOf::default()
    }

    /// Adds one, who is asked about what those before it left.
    #[must_use]
    pub fn or(mut self, approver: impl Approver + 'static) -> Self {
        self.0.push(Bound { takes: None, approver: Arc::new(approver) });
        self
    }

    /// Adds one who is asked about some questions only, and isn't called if there are none. If `takes`
    /// panics, it does not take the question.
    #[must_use]
    pub fn or_for(
        mut self,
        takes: impl Fn(&Question) -> bool + Send + Sync + 'static,
        approver: impl Approver + 'static,
    ) -> Self {
        self.0.push(Bound { takes: Some(Arc::new(takes)), approver: Arc::new(approver) });
        self
    }
}

impl fmt::Debug for FirstOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FirstOf({})", self.0.len())
    }
}

impl Bound {
    fn takes(&self, question: &Question) -> bool {
        self.takes.as_ref().is_none_or(|takes| caught(|| takes(question)).unwrap_or(false))
    }

    /// One answer a question. A panic answers none.
    async fn ask(&self, questions: QuestionSet) -> Vec<Answer> {
        CatchPanic::of(|| self.approver.ask(questions)).await.unwrap_or_else(|panic| {
            tracing::error!(target: "tool_runtime", panic, "an approver panicked; its questions are passed on");
            Vec::new()
        })
    }
}

#[diagnostic::do_not_recommend]
impl Approver for FirstOf {
    fn ask(&self, questions: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
        let approvers = self.0.clone();
        Box::pin(async move {
            let mut answers = vec![Answer::Unavailable; questions.questions.len()];
            for approver in &approvers {
                let left = answers.iter().zip(&questions.questions).enumerate();
                let (places, theirs): (Vec<usize>, Vec<Question>) = left
                    .filter(|(_, (answer, question))| **answer == Answer::Unavailable && approver.takes(question))
                    .map(|(place, (_, question))| (place, question.clone()))
                    .unzip();
                if theirs.is_empty() {
                    continue;
                }
                let set = questions.with_only(theirs);
                let said = approver.ask(set.clone()).await.into_iter().chain(std::iter::repeat(Answer::Unavailable));
                for ((place, question), answer) in places.into_iter().zip(&set.questions).zip(said) {
                    answers[place] = answer;
                    if answer == Answer::Unavailable {
                        // Whoever takes it next signs it.
                        set.unsign(&question.id);
                    } else if set.signer(&question.id).is_none()
                        && let Some(signer) = caught(|| approver.approver.signer()).ok().flatten()
                    {
                        set.sign(&question.id, signer);
                    }
                }
            }
            answers
        })
    }

    fn tell(&self, notices: Vec<String>) -> BoxFuture<'static, bool> {
        let approvers = self.0.clone();
        Box::pin(async move {
            for bound in &approvers {
                if let Ok(true) = CatchPanic::of(|| bound.approver.tell(notices.clone())).await {
                    return true;
                }
            }
            false
        })
    }
}
