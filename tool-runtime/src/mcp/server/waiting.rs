//! Calls that wait for an answer, and come again.
//!
//! They wait in the ledger: what is kept here is which of them a client may come back to. A client that is asked by the
//! end of its call carries no more than the call's case, with a seal on it. Whoever comes back with an answer, or makes
//! the same call again once it was answered elsewhere, goes on with the call that waits: the ledger gives it out once.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    ElicitRequest, ElicitResult, InputRequest, InputRequiredResult, InputResponses, RequestStateCodec,
    RequestStateError, SealOptions,
};
use tokio::sync::OnceCell;

use super::asking::Later;
use super::caller::McpCaller;
use super::questions::{form, read};
use super::suspended::Name;
use crate::call::{CaseId, ToolCall};
use crate::gate::{Answer, Confirmed, Question, QuestionSet};
use crate::harness::Harness;
use crate::ledger::{CaseHistory, CaseState, Ledger, LedgerError, Query, Stored, StoredKind};
use crate::schema::Digest;
use crate::tool::Card;

/// Under which key a form and its answer travel.
const KEY: &str = "approval";

/// How many calls that wait are known here. The oldest go first; the ledger has them still.
const MOST: usize = 4_096;

/// A call that waits.
pub(super) struct Parked {
    pub(super) case: CaseId,
    /// Its one question.
    pub(super) set: QuestionSet,
    /// It is the client that answers.
    pub(super) of_client: bool,
    /// The mark of whose it is.
    caller: Option<String>,
    /// Identifies what would have run at first, as the client called it. What has been given since, it knows nothing of.
    called: Option<Digest>,
}

impl Parked {
    /// `before`: the same call as it waited for another answer until now.
    pub(super) fn new(case: CaseId, later: Later, caller: Option<String>, before: Option<&Parked>) -> Self {
        let asked = later.set.questions.first().map(|question| question.digest);
        let called = before.and_then(|before| before.called).or(asked);
        Parked { case, set: later.set, of_client: later.of_client, caller, called }
    }

    /// Does a client that calls just this mean the call that waits?
    fn is_like(&self, what: Digest) -> bool {
        self.called == Some(what) || self.question().is_some_and(|question| question.digest == what)
    }

    /// As the ledger has it, if it waits.
    fn of_history(history: &CaseHistory, harness: &Harness, asks_client: bool) -> Option<Self> {
        let waits = matches!(history.state(), CaseState::Waiting | CaseState::Answered);
        let asked = history.asked().filter(|_| waits)?;
        let question = question(asked)?;
        // A client that comes again gives no more than a yes or a no, and only where it stands for the approver. Of several
        // who are asked nobody can tell here which one it is.
        let of_several = history.verdict().is_some_and(|verdict| verdict.waits_for().len() > 1);
        let is_asked = asks_client && harness.falls_to_approver(&question.to);
        let of_client = is_asked && asked.blanks().is_empty() && !of_several;
        let first = history.entries().iter().find(|entry| entry.kind() == StoredKind::Asked);
        let called = first.and_then(Stored::what);
        let caller = McpCaller::mark_in(&question.call_id).map(str::to_owned);
        Some(Parked { case: history.id(), set: QuestionSet::new([question]), of_client, caller, called })
    }

    pub(super) fn question(&self) -> Option<&Question> {
        self.set.questions.first()
    }
}

/// What was asked, read back.
fn question(asked: &Stored) -> Option<Question> {
    let word = |pointer: &str| crate::schema::json::Json::parse(&asked.get(pointer)?).ok()?.as_str().map(str::to_owned);
    let mut question = Question::new(asked.call_id().clone(), asked.tool(), asked.arguments().unwrap_or_default());
    question.id = asked.question()?;
    question.to = asked.addressee();
    question.confirmed = asked.confirmed().into_iter().map(|(slot, question)| Confirmed::new(slot, question)).collect();
    question.digest = asked.what()?;
    question.definition = asked.definition()?;
    question.reasons = asked.reasons().into_iter().map(str::to_owned).collect();
    question.card = word("/card/title").map(|title| Card { body: word("/card/body"), ..Card::new(title) });
    Some(question)
}

/// Which call a client comes back to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Returned {
    /// To none, or too late.
    Nothing,
    /// To one that waits in the ledger.
    Case(CaseId),
    /// To one whose body waits for a form. A name is as long as no case is.
    Form(Name),
}

/// The calls that wait, as far as they are known here.
pub(super) struct Waiting {
    codec: RequestStateCodec,
    /// Those from before this process began are read once.
    read: OnceCell<()>,
    /// Most servers have none: then nobody takes the lock.
    count: AtomicUsize,
    calls: Mutex<VecDeque<Arc<Parked>>>,
}

impl Waiting {
    /// Seals are the ledger's: with its key they outlast the process. `None`: the system has no random numbers.
    pub(super) fn new(ledger: &dyn Ledger) -> Option<Self> {
        let key = match ledger.key() {
            Some(key) => key.digest("mcp-state", &[]).as_bytes().to_vec(),
            None => {
                let mut key = vec![0; 32];
                getrandom::fill(&mut key).ok()?;
                key
            }
        };
        let codec = RequestStateCodec::try_new(key).ok()?;
        Some(Waiting { codec, read: OnceCell::new(), count: AtomicUsize::new(0), calls: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<Parked>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn keep(&self, parked: Parked) -> Arc<Parked> {
        let parked = Arc::new(parked);
        let mut calls = self.lock();
        if calls.len() >= MOST {
            calls.pop_front();
        }
        calls.push_back(Arc::clone(&parked));
        self.count.store(calls.len(), Ordering::Release);
        parked
    }

    pub(super) fn remove(&self, case: CaseId) {
        let mut calls = self.lock();
        calls.retain(|parked| parked.case != case);
        self.count.store(calls.len(), Ordering::Release);
    }

    /// The caller's call that waits and would run just this, if there is one. `returned` is the one that the client comes back to.
    pub(super) async fn like(
        &self,
        harness: &Harness,
        asks_client: bool,
        call: &ToolCall,
        caller: Option<&str>,
        returned: Option<CaseId>,
    ) -> Option<Arc<Parked>> {
        self.read.get_or_init(|| self.read_all(harness, asks_client)).await;
        if self.count.load(Ordering::Acquire) == 0 && returned.is_none() {
            return None;
        }
        let what = harness.what_would_run(call)?;
        let same = |parked: &&Arc<Parked>| parked.caller.as_deref() == caller && parked.is_like(what);
        let known = {
            let calls = self.lock();
            let mut alike = calls.iter().filter(same);
            let first = alike.clone().next();
            alike.find(|parked| Some(parked.case) == returned).or(first).cloned()
        };
        match (known, returned) {
            (Some(known), _) => Some(known),
            // Another process of those that share the ledger may have asked.
            (None, Some(case)) => {
                let read = harness.records().history(Query::all().case(case)).await;
                let history = told(read)?;
                let parked = history.case(case).and_then(|history| Parked::of_history(history, harness, true))?;
                let parked = Arc::new(parked);
                same(&&parked).then_some(parked)
            }
            (None, None) => None,
        }
    }

    async fn read_all(&self, harness: &Harness, asks_client: bool) {
        let Some(history) = told(harness.records().history(Query::unfinished()).await) else { return };
        for parked in history.waiting().filter_map(|case| Parked::of_history(case, harness, asks_client)) {
            self.keep(parked);
        }
    }

    /// The answer to a call that has to come again.
    pub(super) fn input_required(&self, parked: &Parked, limit: Duration) -> InputRequiredResult {
        let request = InputRequest::Elicitation(ElicitRequest::new(form(&parked.set)));
        let tool = parked.question().map(|question| question.tool.as_str()).unwrap_or_default();
        let state = self.seal(tool, parked.caller.as_deref(), parked.case.to_string().as_bytes(), limit);
        InputRequiredResult::new(Some(BTreeMap::from([(KEY.to_owned(), request)])), Some(state))
    }

    /// What a client carries from one request of a call to the next.
    pub(super) fn seal(&self, tool: &str, caller: Option<&str>, what: &[u8], limit: Duration) -> String {
        self.codec.seal_with(what, &SealOptions::new().associated_data(&holder(tool, caller)).ttl(limit))
    }

    /// Which call a client comes back to.
    ///
    /// # Errors
    /// If the state isn't one of ours for this tool and caller.
    pub(super) fn opened(&self, tool: &str, caller: Option<&str>, state: Option<&str>) -> Result<Returned, ErrorData> {
        let Some(state) = state else { return Ok(Returned::Nothing) };
        match self.codec.open_with(state, &holder(tool, caller)) {
            Ok(what) => Ok(match Name::try_from(&*what) {
                Ok(name) => Returned::Form(name),
                Err(_) => {
                    let case = std::str::from_utf8(&what).ok().and_then(|case| case.parse().ok());
                    case.map_or(Returned::Nothing, Returned::Case)
                }
            }),
            Err(RequestStateError::Expired) => Ok(Returned::Nothing),
            Err(error) => {
                tracing::warn!(target: "tool_runtime", %error, "an MCP client sent a state that isn't ours");
                Err(ErrorData::invalid_params("`requestState` is not what this server gave for this call", None))
            }
        }
    }
}

/// For what a state is given out: who calls which tool. No two of them are written alike.
fn holder(tool: &str, caller: Option<&str>) -> Vec<u8> {
    let mut holder = format!("{}:{tool}", tool.len());
    if let Some(caller) = caller {
        holder.push('@');
        holder.push_str(caller);
    }
    holder.into_bytes()
}

/// What a client that comes back says to the question.
pub(super) fn answer(parked: &Parked, responses: Option<&InputResponses>) -> Option<Answer> {
    let response = responses?.get(KEY)?;
    let result = serde_json::from_value::<ElicitResult>(response.clone()).ok()?;
    read(&parked.set.questions, &result).into_iter().next()
}

fn told(read: Result<crate::ledger::History, LedgerError>) -> Option<crate::ledger::History> {
    match read {
        Ok(history) => Some(history),
        // It only writes: then nothing waits in it from before.
        Err(error) if error.is_unsupported() => None,
        Err(error) => {
            tracing::error!(target: "tool_runtime", %error, "the calls that wait can't be read");
            None
        }
    }
}
