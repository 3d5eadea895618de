use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::BoxFuture;
use crate::gate::{Answer, Approver, QuestionId, QuestionSet};
use crate::tool::caught;

/// Hands questions to another task, and takes the answers from anywhere: for windows, chats and
/// people far away. Cheap to clone; all clones answer the same questions.
///
/// The first answer to a question settles it, and only one wins, however many come at once. Nobody
/// answers for a person who doesn't: a dropped receiver and a dropped [`PendingSet`] are
/// [`Answer::Unavailable`], and a time limit, if there is one, is [`Answer::Expired`]. A yes that
/// comes after that does nothing, and whoever gave it is told.
///
/// ```
/// use tool_runtime::{Answer, AnswerError, Approver, ChannelApprover, Question, QuestionSet};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let (approver, mut questions) = ChannelApprover::new();
/// let approver = approver.expires_after(std::time::Duration::from_secs(300));
///
/// let window = approver.clone();
/// tokio::spawn(async move {
///     // Kept until it is answered.
///     while let Some(pending) = questions.recv().await {
///         for question in &pending.questions().questions {
///             assert_eq!(window.answer(&question.id, Answer::Yes), Ok(()));
///             assert_eq!(window.answer(&question.id, Answer::No), Err(AnswerError::AlreadyAnswered));
///         }
///     }
/// });
/// let set = QuestionSet::new([Question::new("call_1", "pay", r#"{"amount":1}"#)]);
/// assert_eq!(approver.ask(set).await, [Answer::Yes]);
/// # });
/// ```
#[derive(Clone)]
pub struct ChannelApprover {
    board: Arc<Board>,
    sets: mpsc::Sender<PendingSet>,
    limit: Option<Duration>,
}

/// How many sets may wait in the channel. Further ones wait before it, and their time runs.
const ROOM: usize = 64;

/// How many settled questions are remembered, so that who comes late is told what happened.
const REMEMBERED: usize = 1024;

impl ChannelApprover {
    /// An approver, and where its questions arrive.
    pub fn new() -> (Self, mpsc::Receiver<PendingSet>) {
        let (sets, questions) = mpsc::channel(ROOM);
        (ChannelApprover { board: Arc::default(), sets, limit: None }, questions)
    }

    /// Sets how long a set of questions may wait for its answers, from when it is asked. Without a
    /// limit it waits for as long as the turn does.
    ///
    /// Holds for this handle and its later clones. On a runtime that can't make timers nothing is
    /// asked, and all is answered `Unavailable`.
    #[must_use]
    pub fn expires_after(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Answers a question, if it is still open.
    ///
    /// # Errors
    /// If it isn't, and then the answer does nothing: [`AnswerError`] says why. An open question that
    /// some other answer was meant for stays open.
    pub fn answer(&self, id: &QuestionId, answer: Answer) -> Result<(), AnswerError> {
        self.board.answer(id, answer)
    }
}

impl fmt::Debug for ChannelApprover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelApprover").field("open", &self.board.lock().open.len()).finish_non_exhaustive()
    }
}

/// An answer came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnswerError {
    /// Nobody waits for an answer to a question of that id: there was none, or it was withdrawn, or it
    /// was settled long ago.
    NotPending,
    /// Somebody was first.
    AlreadyAnswered,
    /// The time for it is over.
    Expired,
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AnswerError::NotPending => "no such question is pending",
            AnswerError::AlreadyAnswered => "the question has been answered already",
            AnswerError::Expired => "the time to answer the question is over",
        })
    }
}

impl std::error::Error for AnswerError {}

/// Questions that wait for answers. Dropped, it leaves those that are still open unanswered: whoever
/// shows them keeps it.
pub struct PendingSet {
    set: QuestionSet,
    board: Arc<Board>,
}

impl PendingSet {
    /// What is asked. Its token is cancelled when nobody waits any more.
    pub fn questions(&self) -> &QuestionSet {
        &self.set
    }

    /// As [`ChannelApprover::answer`], for the questions of this set.
    ///
    /// # Errors
    /// As there; a question of another set is `NotPending`.
    pub fn answer(&self, id: &QuestionId, answer: Answer) -> Result<(), AnswerError> {
        match self.set.questions.iter().any(|question| question.id == *id) {
            true => self.board.answer(id, answer),
            false => Err(AnswerError::NotPending),
        }
    }
}

impl fmt::Debug for PendingSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingSet").field("set", &self.set).finish_non_exhaustive()
    }
}

impl Drop for PendingSet {
    fn drop(&mut self) {
        self.board.close(self.set.questions.iter().map(|question| &question.id), None);
    }
}

/// Which questions are open, and what became of the last ones.
#[derive(Default)]
struct Board(Mutex<Questions>);

#[derive(Default)]
struct Questions {
    open: HashMap<QuestionId, Open>,
    settled: HashMap<QuestionId, AnswerError>,
    /// The ids of `settled`, oldest first.
    order: VecDeque<QuestionId>,
}

/// A question that waits for its answer.
struct Open {
    waiting: oneshot::Sender<Answer>,
    /// Cancelled when nobody waits any more.
    token: CancellationToken,
    until: Option<Instant>,
}

impl Questions {
    /// Remembers what whoever comes later is told.
    fn settle(&mut self, id: QuestionId, how: AnswerError) {
        if self.order.len() >= REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.settled.remove(&oldest);
        }
        self.order.push_back(id.clone());
        self.settled.insert(id, how);
    }
}

impl Board {
    /// Nothing of ours panics while it holds this lock.
    fn lock(&self) -> MutexGuard<'_, Questions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, id: &QuestionId, token: CancellationToken, until: Option<Instant>) -> oneshot::Receiver<Answer> {
        let (waiting, answered) = oneshot::channel();
        self.lock().open.insert(id.clone(), Open { waiting, token, until });
        answered
    }

    /// Whoever takes the question out of the open ones has settled it: only one can.
    fn answer(&self, id: &QuestionId, answer: Answer) -> Result<(), AnswerError> {
        let mut questions = self.lock();
        let Some(open) = questions.open.remove(id) else {
            return Err(questions.settled.get(id).copied().unwrap_or(AnswerError::NotPending));
        };
        if open.token.is_cancelled() {
            return Err(AnswerError::NotPending);
        }
        // The task that waits may be late itself.
        let late = open.until.is_some_and(|until| Instant::now() >= until);
        let (answer, told) = match late {
            true => (Answer::Expired, AnswerError::Expired),
            false => (answer, AnswerError::AlreadyAnswered),
        };
        if open.waiting.send(answer).is_err() {
            return Err(AnswerError::NotPending);
        }
        questions.settle(id.clone(), told);
        if late { Err(AnswerError::Expired) } else { Ok(()) }
    }

    /// Closes those that are still open, without an answer.
    fn close<'a>(&self, ids: impl Iterator<Item = &'a QuestionId>, how: Option<AnswerError>) {
        let mut questions = self.lock();
        for id in ids {
            if questions.open.remove(id).is_some()
                && let Some(how) = how
            {
                questions.settle(id.clone(), how);
            }
        }
    }
}

/// Questions of which somebody waits for the answers. Dropped, it withdraws those that are open.
struct Waiting {
    board: Arc<Board>,
    ids: Vec<QuestionId>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.board.close(self.ids.iter(), None);
    }
}

#[diagnostic::do_not_recommend]
impl Approver for ChannelApprover {
    fn ask(&self, set: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
        let ChannelApprover { board, sets, limit } = self.clone();
        Box::pin(async move {
            let ids: Vec<QuestionId> = set.questions.iter().map(|question| question.id.clone()).collect();
            let until = limit.and_then(|limit| Instant::now().checked_add(limit));
            let mut answers: Vec<_> = ids.iter().map(|id| board.open(id, set.token(), until)).collect();
            let waiting = Waiting { board: Arc::clone(&board), ids };
            let mut given = vec![None; answers.len()];
            let collect = async {
                // Nobody receives it: it is dropped, and with it the questions are closed.
                let _ = sets.send(PendingSet { set, board: Arc::clone(&board) }).await;
                for (answer, given) in answers.iter_mut().zip(&mut given) {
                    *given = Some(answer.await.unwrap_or(Answer::Unavailable));
                }
            };
            let in_time = match limit {
                None => {
                    collect.await;
                    true
                }
                Some(limit) => match caught(|| tokio::time::timeout(limit, collect)) {
                    Ok(collect) => collect.await.is_ok(),
                    Err(_) => {
                        tracing::error!(target: "tool_runtime", "no timer can be made here; nobody was asked");
                        return vec![Answer::Unavailable; waiting.ids.len()];
                    }
                },
            };
            if !in_time {
                board.close(waiting.ids.iter(), Some(AnswerError::Expired));
                for (answer, given) in answers.iter_mut().zip(&mut given) {
                    // Given before the end and not yet taken: whoever gave it was told that it counts.
                    *given = given.or_else(|| match answer.try_recv() {
                        Ok(answer) => Some(answer),
                        Err(_) => Some(Answer::Expired),
                    });
                }
            }
            given.into_iter().map(|given| given.unwrap_or(Answer::Unavailable)).collect()
        })
    }
}
