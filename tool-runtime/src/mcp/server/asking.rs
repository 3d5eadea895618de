//! Asking the person behind an MCP client.
//!
//! A client of before 2026-07-28 is sent an `elicitation/create` while its call waits. A newer one can't be sent
//! anything: its call ends in `input_required`, and comes again with the answer: see [`super::waiting`].

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    BooleanSchema, ClientCapabilities, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputResponses, PrimitiveSchemaDefinition, StringSchema,
};
use rmcp::service::{Peer, RequestContext, ServiceError};
use tokio::sync::oneshot;

use super::Served;
use super::forms::{AskedBy, Filling};
use crate::BoxFuture;
use crate::call::CallId;
use crate::gate::{Answer, Approver, Blank, Question, QuestionSet, Signer};
use crate::ledger::Verdict;
use crate::schema::text;

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
        (call_id, caller): (CallId, Option<String>),
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
        Asking { caller, call_id, served, way, limit, later, given, has_to_end, waits, wants, verdicts }
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

    /// On what a call runs: the client's own, or one that it makes.
    fn verdict(&self, call_id: &CallId) -> Option<Arc<Verdict>> {
        let verdicts = self.verdicts.lock().unwrap_or_else(PoisonError::into_inner);
        verdicts.iter().rev().find(|verdict| verdict.call_id() == call_id).cloned()
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
        let verdict = self.verdict(by.call_id.unwrap_or(&self.call_id));
        let filling = Filling::new(&self.served, verdict, &form, by.server);
        let filled = self.fill(key, form).await;
        filling.ended(filled).await
    }

    async fn fill(&self, key: &str, form: ElicitRequestParams) -> ElicitResult {
        let closed = || ElicitResult::new(ElicitationAction::Cancel);
        match &self.way {
            Way::None => closed(),
            Way::Elicitation(peer) => {
                self.waits.store(true, Ordering::Relaxed);
                let filled = peer.create_elicitation_with_timeout(form, Some(self.limit)).await;
                self.waits.store(false, Ordering::Relaxed);
                filled.unwrap_or_else(|error| {
                    tracing::debug!(target: "tool_runtime", %error, "an MCP client could not be asked");
                    closed()
                })
            }
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

    /// How the call is called in the records.
    pub(super) fn call_id(&self) -> &CallId {
        &self.call_id
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
            |(question, answer): &(Question, &Answer)| **answer == Answer::Later && question.call_id == self.call_id;
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
            Way::Elicitation(peer) => {
                self.waits.store(true, Ordering::Relaxed);
                let answer = peer.create_elicitation_with_timeout(form(&set), Some(self.limit)).await;
                self.waits.store(false, Ordering::Relaxed);
                match answer {
                    Ok(result) => {
                        fill(&set, &result);
                        read(&set.questions, &result)
                    }
                    Err(ServiceError::Timeout { .. }) => vec![Answer::Expired; count],
                    Err(error) => {
                        tracing::debug!(target: "tool_runtime", %error, "an MCP client could not be asked");
                        vec![Answer::Unavailable; count]
                    }
                }
            }
            // What is asked for is given to a call that is there: one that waits takes no more than a yes or a no.
            Way::InputRequired
                if set
                    .questions
                    .iter()
                    .any(|question| question.call_id != self.call_id || !question.blanks.is_empty()) =>
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

/// The field of a form that is for a question.
fn field(index: usize, of: usize) -> String {
    if of == 1 { "go_ahead".to_owned() } else { format!("go_ahead_{}", index + 1) }
}

/// The field of a form that is for a blank of a question.
fn blank_field(index: usize, of: usize, place: usize) -> String {
    format!("{}_blank_{}", field(index, of), place + 1)
}

/// What a blank takes, as far as that is known.
fn choices(blank: &Blank) -> String {
    let choices: Vec<String> = blank.choices.iter().take(20).map(|choice| text::visible(choice, 80)).collect();
    match choices.is_empty() {
        true => text::visible(&blank.types, 80),
        false => format!("{}: {}", text::visible(&blank.types, 80), choices.join(", ")),
    }
}

/// Writes what was filled in into the blanks. What the tool doesn't take stays open, and the call doesn't run.
fn fill(set: &QuestionSet, result: &ElicitResult) {
    let Some(content) = &result.content else { return };
    let count = set.questions.len();
    for (index, question) in set.questions.iter().enumerate() {
        for (place, blank) in question.blanks.iter().enumerate() {
            let Some(typed) = content.get(blank_field(index, count, place)).and_then(serde_json::Value::as_str) else {
                continue;
            };
            if let Err(error) = set.fill_text(&question.id, &blank.slot, typed) {
                tracing::debug!(target: "tool_runtime", %error, slot = blank.slot, "a blank was not filled");
            }
        }
    }
}

/// How much of the arguments is shown, in characters: all of what can be read by a person.
const SHOWN: usize = 4_000;

/// A form with a yes or no for each question.
pub(super) fn form(set: &QuestionSet) -> ElicitRequestParams {
    let count = set.questions.len();
    let mut properties = BTreeMap::new();
    let mut message = String::new();
    for notice in &set.notices {
        message.push_str(&text::visible(notice, 1_000));
        message.push('\n');
    }
    for (index, question) in set.questions.iter().enumerate() {
        describe(&mut message, question);
        let title = format!("Let `{}` run", text::visible(&question.tool, 80));
        let schema = BooleanSchema::new().title(title);
        properties.insert(field(index, count), PrimitiveSchemaDefinition::Boolean(schema));
        for (place, blank) in question.blanks.iter().enumerate() {
            let asks = StringSchema::new().title(text::visible(&blank.asks, 200)).description(choices(blank));
            properties.insert(blank_field(index, count, place), PrimitiveSchemaDefinition::String(asks));
        }
    }
    let required: Vec<String> = properties.keys().cloned().collect();
    let mut schema = ElicitationSchema::new(properties);
    schema.required = Some(required);
    ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema }
}

fn describe(message: &mut String, question: &Question) {
    let mut line = |text: String| {
        message.push_str(&text);
        message.push('\n');
    };
    match &question.card {
        Some(card) => {
            line(text::visible(&card.title, 500));
            if let Some(body) = &card.body {
                line(text::visible(body, SHOWN));
            }
        }
        None => line(format!("May `{}` run?", text::visible(&question.tool, 80))),
    }
    line(format!("`{}` with {}", text::visible(&question.tool, 80), text::excerpt(&question.arguments, SHOWN)));
    for reason in &question.reasons {
        line(format!("Asked because: {}", text::visible(reason, 500)));
    }
}

/// What a filled form says of each question. Nothing is a yes but a yes.
pub(super) fn read(questions: &[Question], result: &ElicitResult) -> Vec<Answer> {
    let count = questions.len();
    let answer = |index: usize| match &result.action {
        ElicitationAction::Accept => {
            match result.content.as_ref().and_then(|content| content.get(field(index, count))) {
                Some(serde_json::Value::Bool(true)) => Answer::Yes,
                Some(serde_json::Value::Bool(false)) => Answer::No,
                _ => Answer::Unavailable,
            }
        }
        ElicitationAction::Decline => Answer::No,
        // The question was closed, and not answered.
        _ => Answer::Unavailable,
    };
    (0..count).map(answer).collect()
}
