//! Asking the person behind an MCP client.
//!
//! A client of before 2026-07-28 is sent an `elicitation/create` while its call waits. A newer one can't be sent
//! anything: its call ends in `input_required`, and comes again with the answer. What was asked stays here, under a name
//! that nobody can guess; the client carries only that name, with a seal on it, and it opens once.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{
    BooleanSchema, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequiredResult, InputResponses, PrimitiveSchemaDefinition, RequestStateCodec, RequestStateError,
    SealOptions,
};
use rmcp::service::{Peer, RequestContext, ServiceError};
use rmcp::{ErrorData, RoleServer};

use crate::BoxFuture;
use crate::call::CallId;
use crate::gate::{Answer, Approver, Question, QuestionSet};
use crate::schema::{Digest, text};

tokio::task_local! {
    /// The call of an MCP client that this task runs.
    pub(super) static ASKING: Arc<Asking>;
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
    /// By ending its call.
    InputRequired,
}

/// What has been answered already: by which digest, and what.
type Answered = HashMap<Digest, Answer>;

/// The asking of one call.
pub(super) struct Asking {
    call_id: CallId,
    way: Way,
    limit: Duration,
    answered: Answered,
    wanted: Mutex<Option<QuestionSet>>,
    waits: AtomicBool,
}

impl Asking {
    pub(super) fn new(
        call_id: CallId,
        context: &RequestContext<RoleServer>,
        is_modern: bool,
        limit: Duration,
        answered: Answered,
    ) -> Self {
        let capabilities = context.client_capabilities();
        let elicitation = capabilities.as_ref().and_then(|capabilities| capabilities.elicitation.as_ref());
        // Neither form nor URL: the revision that knew only forms.
        let takes_forms = elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none());
        let way = match (takes_forms, is_modern) {
            (false, _) => Way::None,
            (true, true) => Way::InputRequired,
            (true, false) => Way::Elicitation(context.peer.clone()),
        };
        Asking { call_id, way, limit, answered, wanted: Mutex::new(None), waits: AtomicBool::new(false) }
    }

    /// A person is thinking just now.
    pub(super) fn waits(&self) -> bool {
        self.waits.load(Ordering::Relaxed)
    }

    /// What the client has to be asked, if its call ended for it.
    pub(super) fn take_wanted(&self) -> Option<QuestionSet> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    async fn ask(&self, set: QuestionSet) -> Vec<Answer> {
        let count = set.questions.len();
        match &self.way {
            Way::None => vec![Answer::Unavailable; count],
            Way::Elicitation(peer) => {
                self.waits.store(true, Ordering::Relaxed);
                let answer = peer.create_elicitation_with_timeout(form(&set), Some(self.limit)).await;
                self.waits.store(false, Ordering::Relaxed);
                match answer {
                    Ok(result) => read(&set.questions, &result),
                    Err(ServiceError::Timeout { .. }) => vec![Answer::Expired; count],
                    Err(error) => {
                        tracing::debug!(target: "tool_runtime", %error, "an MCP client could not be asked");
                        vec![Answer::Unavailable; count]
                    }
                }
            }
            Way::InputRequired if set.questions.iter().any(|question| question.call_id != self.call_id) => {
                vec![Answer::Unavailable; count]
            }
            Way::InputRequired => {
                let known: Option<Vec<Answer>> =
                    set.questions.iter().map(|question| self.answered.get(&question.digest).copied()).collect();
                if let Some(answers) = known {
                    return answers;
                }
                *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = Some(set);
                vec![Answer::Later; count]
            }
        }
    }
}

/// Under which key a form and its answer travel.
const KEY: &str = "approval";

/// The field of a form that is for a question.
fn field(index: usize, of: usize) -> String {
    if of == 1 { "go_ahead".to_owned() } else { format!("go_ahead_{}", index + 1) }
}

/// How much of the arguments is shown, in characters: all of what can be read by a person.
const SHOWN: usize = 4_000;

/// A form with a yes or no for each question.
fn form(set: &QuestionSet) -> ElicitRequestParams {
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
fn read(questions: &[Question], result: &ElicitResult) -> Vec<Answer> {
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

/// What clients were asked in calls that have ended for it.
pub(super) struct Waiting {
    codec: RequestStateCodec,
    asked: Mutex<HashMap<Vec<u8>, Asked>>,
}

struct Asked {
    questions: Vec<Question>,
    until: Instant,
}

/// How many questions may wait for a call that comes again. The oldest go first.
const MOST: usize = 4_096;

impl Waiting {
    /// `None`: the system has no random numbers.
    pub(super) fn new() -> Option<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).ok()?;
        Some(Waiting { codec: RequestStateCodec::try_new(key.to_vec()).ok()?, asked: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Vec<u8>, Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to a call that has to come again.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub(super) fn input_required(
        &self,
        tool: &str,
        set: QuestionSet,
        limit: Duration,
    ) -> Result<InputRequiredResult, getrandom::Error> {
        let mut name = [0; 16];
        getrandom::fill(&mut name)?;
        let request = InputRequest::Elicitation(ElicitRequest::new(form(&set)));
        {
            let now = Instant::now();
            let mut asked = self.lock();
            if asked.len() >= MOST {
                asked.retain(|_, asked| asked.until > now);
            }
            if asked.len() >= MOST
                && let Some(oldest) = asked.iter().min_by_key(|(_, asked)| asked.until).map(|(name, _)| name.clone())
            {
                asked.remove(&oldest);
            }
            asked.insert(name.to_vec(), Asked { questions: set.questions, until: now + limit });
        }
        let options = SealOptions::new().associated_data(tool.as_bytes()).ttl(limit);
        let state = self.codec.seal_with(&name, &options);
        Ok(InputRequiredResult::new(Some(BTreeMap::from([(KEY.to_owned(), request)])), Some(state)))
    }

    /// What a call that comes again brings with it. A state opens once: whoever sends it again is asked again.
    ///
    /// # Errors
    /// If the state isn't one of ours for this tool.
    pub(super) fn answered(
        &self,
        tool: &str,
        state: Option<&str>,
        responses: Option<&InputResponses>,
    ) -> Result<Answered, ErrorData> {
        let Some(state) = state else { return Ok(Answered::new()) };
        let name = match self.codec.open_with(state, tool.as_bytes()) {
            Ok(name) => name,
            Err(RequestStateError::Expired) => return Ok(Answered::new()),
            Err(error) => {
                tracing::warn!(target: "tool_runtime", %error, "an MCP client sent a state that isn't ours");
                return Err(ErrorData::invalid_params(
                    "`requestState` is not what this server gave for this call",
                    None,
                ));
            }
        };
        let Some(asked) = self.lock().remove(&name) else { return Ok(Answered::new()) };
        if asked.until <= Instant::now() {
            return Ok(Answered::new());
        }
        let result = responses
            .and_then(|responses| responses.get(KEY))
            .and_then(|response| serde_json::from_value::<ElicitResult>(response.clone()).ok());
        let Some(result) = result else { return Ok(Answered::new()) };
        let answers = read(&asked.questions, &result);
        let digests = asked.questions.iter().map(|question| question.digest);
        Ok(digests.zip(answers).collect())
    }
}
