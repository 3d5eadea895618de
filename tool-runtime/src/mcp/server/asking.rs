//! Asking the person behind an MCP client.
//!
//! A client of before 2026-07-28 is sent an `elicitation/create` while its call waits. A newer one can't be sent
//! anything: its call ends in `input_required`, and comes again with the answer: see [`super::waiting`].

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    InputResponses, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, ServiceError};
use tokio::sync::oneshot;

use super::Served;
use super::forms::{AskedBy, Filling};
use super::questions::{fill, form, read};
use crate::BoxFuture;
use crate::call::CallId;
use crate::gate::{Answer, Approver, Question, QuestionSet, Signer};
use crate::ledger::Verdict;
use crate::mcp::unanswered::Unanswered;

tokio::task_local! {
    /// The call of an MCP client that this task runs.
    pub(in crate::mcp) static ASKING: Arc<Asking>;
}

/// A form for a client that has to be asked by the end of its call, and whom its answer goes to.
pub(super) struct Wanted {
    pub(super) key: String,
    pub(super) form: ElicitRequestParams,
    pub(super) reply: oneshot::Sender<ElicitResult>,
}

/// Asks the person behind the MCP client whose call it is.
///
/// A server whose harness has no approver has this one. To ask somebody else as well, put it into a
/// [`FirstOf`](crate::FirstOf). Outside a server, and where a client can't ask, it is
/// [`Answer::Unavailable`]: nothing runs.
///
/// Calls that a tool makes are asked about only through clients of before 2026-07-28: a newer one would have to send
/// the tool's own call again, whose effects may have happened already.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct McpApprover;

impl McpApprover {
    /// Asks whoever is behind the client.
    pub fn new() -> Self {
        McpApprover
    }
}

impl Approver for McpApprover {
    fn ask(&self, questions: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
        let asking = ASKING.try_with(Arc::clone);
        Box::pin(async move {
            match asking {
                Ok(asking) => asking.ask(questions).await,
                Err(_) => vec![Answer::Unavailable; questions.questions.len()],
            }
        })
    }
}

/// How a client can be asked.
enum Way {
    /// It can't.
    None,
    /// By a request of ours, while its call waits.
    Elicitation(Peer<RoleServer>),
    /// By ending its call. A form of a body's own goes to whoever runs the call.
    InputRequired,
}

/// What whoever runs a call has to ask its client. Most calls want nothing, and cost nothing for it.
#[derive(Default)]
struct Wants {
    forms: VecDeque<Wanted>,
    /// Who waits for the next one.
    waker: Option<Waker>,
    /// Nobody asks any more.
    closed: bool,
}

/// Hears which question of a call is answered later, on its way to whoever is asked.
pub(super) struct Noting(pub(super) Arc<dyn Approver>);

impl Approver for Noting {
    fn ask(&self, questions: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
        let Ok(asking) = ASKING.try_with(Arc::clone) else { return self.0.ask(questions) };
        let asked = questions.clone();
        let answering = self.0.ask(questions);
        Box::pin(async move {
            let answers = answering.await;
            asking.note(asked, &answers);
            answers
        })
    }

    fn tell(&self, notices: Vec<String>) -> BoxFuture<'static, bool> {
        self.0.tell(notices)
    }

    fn signer(&self) -> Option<Signer> {
        self.0.signer()
    }
}

/// What a call waits for when its turn is over.
pub(super) struct Later {
    /// Its one question.
    pub(super) set: QuestionSet,
    /// It is the client that answers.
    pub(super) of_client: bool,
}

/// The asking of one call.
pub(in crate::mcp) struct Asking {
    /// The mark of whose call it is.
    pub(super) caller: Option<String>,
    call_id: CallId,
    /// The call that has waited, and that this one goes on with if nobody else does first.
    waited: Option<CallId>,
    pub(super) served: Arc<Served>,
    way: Way,
    limit: Duration,
    later: Mutex<Option<Later>>,
    /// What the client sent along, unasked: fields that a body of ours may ask for, and never a yes.
    given: Mutex<InputResponses>,
    /// The client has to be asked by the end of its call.
    has_to_end: AtomicBool,
    waits: AtomicBool,
    wants: Mutex<Wants>,
    /// On what the call runs, and those that it makes.
    verdicts: Mutex<Vec<Arc<Verdict>>>,
}

/// How many verdicts are kept, of a call and those that it makes: those of the newest.
const VERDICTS: usize = 64;

/// Can the client have a person fill in forms?
fn takes_forms(context: &RequestContext<RoleServer>) -> bool {
    // Neither form nor URL: the revision that knew only forms.
    let takes = |offered: &ClientCapabilities| {
        offered.elicitation.as_ref().is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
    };
    match context.meta.client_capabilities() {
        Some(offered) => takes(&offered),
        // Where requests have to say it, one that doesn't isn't let through to here.
        None => context.peer.peer_info().is_some_and(|info| takes(&info.capabilities)),
    }
}

impl Asking {
    pub(super) fn new(
        served: Arc<Served>,
        (call_id, waited, caller): (CallId, Option<CallId>, Option<String>),
        context: &RequestContext<RoleServer>,
        is_modern: bool,
        limit: Duration,
        given: InputResponses,
    ) -> Self {
        let way = match (takes_forms(context), is_modern) {
            (false, _) => Way::None,
            (true, true) => Way::InputRequired,
            (true, false) => Way::Elicitation(context.peer.clone()),
        };
        let (has_to_end, waits) = (AtomicBool::new(false), AtomicBool::new(false));
        let (later, given, wants, verdicts) = (Mutex::new(None), Mutex::new(given), Mutex::default(), Mutex::default());
        Asking { caller, call_id, waited, served, way, limit, later, given, has_to_end, waits, wants, verdicts }
    }

    /// It was decided that a call of this client's may run.
    pub(super) fn decided(&self, verdict: &Arc<Verdict>) {
        if !self.can_fill() {
            return;
        }
        let mut verdicts = self.verdicts.lock().unwrap_or_else(PoisonError::into_inner);
        if verdicts.len() >= VERDICTS {
            verdicts.remove(0);
        }
        verdicts.push(Arc::clone(verdict));
    }

    /// On what a call runs: one that the client's own makes, or without an id that itself.
    fn verdict(&self, call_id: Option<&CallId>) -> Option<Arc<Verdict>> {
        let meant = |id: &CallId| call_id.map_or_else(|| self.is_own(id), |call_id| call_id == id);
        let verdicts = self.verdicts.lock().unwrap_or_else(PoisonError::into_inner);
        verdicts.iter().rev().find(|verdict| meant(verdict.call_id())).cloned()
    }

    /// Is it the client's own call?
    fn is_own(&self, call_id: &CallId) -> bool {
        *call_id == self.call_id || self.waited.as_ref() == Some(call_id)
    }

    fn wants(&self) -> MutexGuard<'_, Wants> {
        self.wants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next form that a body wants filled in.
    pub(super) async fn wanted(&self) -> Wanted {
        poll_fn(|task| {
            let mut wants = self.wants();
            if let Some(wanted) = wants.forms.pop_front() {
                return Poll::Ready(wanted);
            }
            match &mut wants.waker {
                Some(waker) => waker.clone_from(task.waker()),
                none => *none = Some(task.waker().clone()),
            }
            Poll::Pending
        })
        .await
    }

    /// Nobody asks for the call any more.
    pub(super) fn close(&self) {
        let mut wants = self.wants();
        wants.closed = true;
        let forms = std::mem::take(&mut wants.forms);
        drop(wants);
        drop(forms);
    }

    /// The person behind the client can fill in forms.
    pub(in crate::mcp) fn can_fill(&self) -> bool {
        !matches!(self.way, Way::None)
    }

    /// Has the person fill in a form, and records it. Whoever can't be asked has closed it.
    pub(in crate::mcp) async fn fill_in(&self, key: &str, form: ElicitRequestParams, by: AskedBy<'_>) -> ElicitResult {
        if !self.can_fill() {
            return ElicitResult::new(ElicitationAction::Cancel);
        }
        let verdict = self.verdict(by.call_id);
        let filling = Filling::new(&self.served, verdict, &form, by.server);
        let filled = self.fill(key, form).await;
        filling.ended(filled).await
    }

    async fn fill(&self, key: &str, form: ElicitRequestParams) -> ElicitResult {
        let closed = || ElicitResult::new(ElicitationAction::Cancel);
        match &self.way {
            Way::None => closed(),
            Way::Elicitation(peer) => self.elicit(peer, form).await.unwrap_or_else(|error| {
                tracing::debug!(target: "tool_runtime", %error, "an MCP client could not be asked");
                closed()
            }),
            Way::InputRequired => {
                let given = self.given.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
                if let Some(given) = given.and_then(|given| serde_json::from_value(given).ok()) {
                    return given;
                }
                let (reply, filled) = oneshot::channel();
                let waker = {
                    let mut wants = self.wants();
                    if wants.closed {
                        return closed();
                    }
                    wants.forms.push_back(Wanted { key: key.to_owned(), form, reply });
                    wants.waker.take()
                };
                if let Some(waker) = waker {
                    waker.wake();
                }
                filled.await.unwrap_or_else(|_| closed())
            }
        }
    }

    /// Sends the client a form, and waits for what comes of it. Whoever stops waiting has the client told that nobody
    /// wants it filled in any more.
    async fn elicit(&self, peer: &Peer<RoleServer>, form: ElicitRequestParams) -> Result<ElicitResult, ServiceError> {
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
        let _thinks = Thinks::begin(self);
        let handle = peer.send_cancellable_request(request, PeerRequestOptions::with_timeout(self.limit)).await?;
        let unanswered = Unanswered::new(peer, &handle.id);
        let filled = handle.await_response().await;
        unanswered.end();
        match filled? {
            ClientResult::ElicitResult(filled) => Ok(filled),
            _ => Err(ServiceError::UnexpectedResponse),
        }
    }

    /// How the call may be called in the records.
    pub(super) fn call_ids(&self) -> impl Iterator<Item = &CallId> {
        self.waited.iter().chain([&self.call_id])
    }

    /// A person is thinking just now.
    pub(super) fn waits(&self) -> bool {
        self.waits.load(Ordering::Relaxed)
    }

    pub(super) fn begin_to_wait(&self) {
        self.waits.store(true, Ordering::Relaxed);
    }

    fn note(&self, asked: QuestionSet, answers: &[Answer]) {
        let QuestionSet { questions, notices, .. } = asked;
        let own =
            |(question, answer): &(Question, &Answer)| **answer == Answer::Later && self.is_own(&question.call_id);
        let Some((question, _)) = questions.into_iter().zip(answers).find(own) else { return };
        let mut set = QuestionSet::new([question]);
        set.notices = notices;
        let of_client = self.has_to_end.load(Ordering::Relaxed);
        *self.later.lock().unwrap_or_else(PoisonError::into_inner) = Some(Later { set, of_client });
    }

    /// What the call waits for, if somebody answers later.
    pub(super) fn take_later(&self) -> Option<Later> {
        self.later.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The client has to be asked by the end of its call.
    pub(super) fn has_to_end(&self) -> bool {
        self.has_to_end.load(Ordering::Relaxed)
    }

    pub(super) async fn ask(&self, set: QuestionSet) -> Vec<Answer> {
        let count = set.questions.len();
        match &self.way {
            Way::None => vec![Answer::Unavailable; count],
            Way::Elicitation(peer) => match self.elicit(peer, form(&set)).await {
                Ok(result) => {
                    fill(&set, &result);
                    read(&set.questions, &result)
                }
                Err(ServiceError::Timeout { .. }) => vec![Answer::Expired; count],
                Err(error) => {
                    tracing::debug!(target: "tool_runtime", %error, "an MCP client could not be asked");
                    vec![Answer::Unavailable; count]
                }
            },
            // What is asked for is given to a call that is there: one that waits takes no more than a yes or a no.
            Way::InputRequired
                if set
                    .questions
                    .iter()
                    .any(|question| !self.is_own(&question.call_id) || !question.blanks.is_empty()) =>
            {
                vec![Answer::Unavailable; count]
            }
            Way::InputRequired => {
                self.has_to_end.store(true, Ordering::Relaxed);
                vec![Answer::Later; count]
            }
        }
    }
}

/// A person thinks, as long as this is there.
struct Thinks<'a>(&'a Asking);

impl<'a> Thinks<'a> {
    fn begin(asking: &'a Asking) -> Self {
        asking.begin_to_wait();
        Thinks(asking)
    }
}

impl Drop for Thinks<'_> {
    fn drop(&mut self) {
        self.0.waits.store(false, Ordering::Relaxed);
    }
}
