//! What a server may say to its client on its own.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
    FormElicitationCapability, Implementation, NumberOrString, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use tokio::sync::watch;

use crate::call::CallId;
use crate::mcp::server::{AskedBy, Asking};
use crate::schema::text;
use crate::tool::CallContext;

/// How many reports are kept for a call that isn't known yet, and for how many such calls.
const EARLY: usize = 16;

/// How much is kept of the message of such a report, in bytes.
const MESSAGE: usize = 1_024;

/// How many forms a server may have filled in in one call. The time that a person takes is not its own: one that asks
/// without an end would have no other.
const MOST_FORMS: usize = 16;

/// The client's side of one connection.
#[derive(Clone)]
pub(super) struct Side {
    pub(super) reports: Reports,
    /// How often the server has said that its list of tools is another.
    pub(super) changed: Arc<AtomicU64>,
    pub(super) changes: watch::Sender<()>,
    /// Whom the server can ask. `None`: it was told that nobody can be asked.
    pub(super) asked: Option<Asked>,
}

impl ClientHandler for Side {
    fn get_info(&self) -> ClientConfig {
        let info = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        let mut offered = rmcp::model::ClientCapabilities::default();
        // No more than what the clients offer whose calls come this way.
        offered.elicitation =
            self.asked.as_ref().map(|_| ElicitationCapability::new().with_form(FormElicitationCapability::default()));
        ClientConfig::new(offered, info)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        // Which call it is about a server doesn't say. With several under way, whose person that would be nobody knows.
        let only = self.asked.as_ref().and_then(Asked::only);
        Ok(match only {
            Some(one) => one.fill_in("form", request).await,
            None => ElicitResult::new(ElicitationAction::Cancel),
        })
    }

    async fn on_progress(&self, param: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.reports.take(param);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.fetch_add(1, Ordering::AcqRel);
        self.changes.send_replace(());
    }
}

/// The calls under way whose clients can be asked.
#[derive(Clone, Default)]
pub(super) struct Asked(Arc<Mutex<Vec<Arc<OneAsked>>>>);

/// One of them.
pub(super) struct OneAsked {
    pub(super) asking: Arc<Asking>,
    /// Who asks, and in which call.
    pub(super) server: String,
    pub(super) tool: String,
    call_id: CallId,
    /// How many forms were asked for, and how many are being filled in.
    forms: AtomicUsize,
    filling: AtomicUsize,
}

impl Asked {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<OneAsked>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn only(&self) -> Option<Arc<OneAsked>> {
        match &self.lock()[..] {
            [one] => Some(Arc::clone(one)),
            _ => None,
        }
    }

    /// A call begins, and ends when what it gives is dropped.
    pub(super) fn begin(&self, asking: Arc<Asking>, server: &str, tool: &str, call_id: &CallId) -> UnderWay {
        let (server, tool, call_id) = (server.to_owned(), tool.to_owned(), call_id.clone());
        let one = OneAsked { asking, server, tool, call_id, forms: AtomicUsize::new(0), filling: AtomicUsize::new(0) };
        let one = Arc::new(one);
        self.lock().push(Arc::clone(&one));
        UnderWay { asked: self.clone(), one }
    }
}

/// A call under way.
pub(super) struct UnderWay {
    asked: Asked,
    pub(super) one: Arc<OneAsked>,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.asked.lock().retain(|one| !Arc::ptr_eq(one, &self.one));
    }
}

impl OneAsked {
    /// A person is thinking just now: that is none of the server's time.
    pub(super) fn is_filling(&self) -> bool {
        self.filling.load(Ordering::Relaxed) > 0
    }

    /// Has the person fill in a form of the server's, which says that it is the server's.
    pub(super) async fn fill_in(&self, key: &str, form: ElicitRequestParams) -> ElicitResult {
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = form else {
            return ElicitResult::new(ElicitationAction::Cancel);
        };
        if self.forms.fetch_add(1, Ordering::Relaxed) >= MOST_FORMS {
            tracing::warn!(target: "tool_runtime", server = self.server, "a server asks again and again in one call");
            return ElicitResult::new(ElicitationAction::Cancel);
        }
        let (server, tool) = (text::shown(&self.server, 80), text::shown(&self.tool, 80));
        let message = format!("The server `{server}` asks, in a call of `{tool}`:\n{}", text::visible(&message, 4_000));
        let by = AskedBy { server: Some(&self.server), call_id: Some(&self.call_id) };
        self.filling.fetch_add(1, Ordering::Relaxed);
        let form = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema };
        let filled = self.asking.fill_in(key, form, by).await;
        self.filling.fetch_sub(1, Ordering::Relaxed);
        filled
    }
}

/// Which call a report of progress is for. Its token is known only once the request is sent, and a fast server may be
/// faster than that.
#[derive(Clone, Default)]
pub(super) struct Reports(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    calls: HashMap<ProgressToken, CallContext>,
    early: VecDeque<(ProgressToken, Vec<ProgressNotificationParam>)>,
}

impl Reports {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, mut param: ProgressNotificationParam) {
        let mut table = self.lock();
        if let Some(cx) = table.calls.get(&param.progress_token) {
            let cx = cx.clone();
            drop(table);
            report(&cx, &param);
            return;
        }
        // Tokens of ours are numbers, and of a message a call shows no more than its beginning: what waits is small.
        let ProgressToken(NumberOrString::Number(_)) = &param.progress_token else { return };
        if let Some(message) = &mut param.message {
            *message = text::head(message, MESSAGE).to_owned();
        }
        match table.early.iter_mut().find(|(token, _)| *token == param.progress_token) {
            Some((_, reports)) if reports.len() < EARLY => reports.push(param),
            Some(_) => {}
            None => {
                if table.early.len() == EARLY {
                    table.early.pop_front();
                }
                table.early.push_back((param.progress_token.clone(), vec![param]));
            }
        }
    }

    /// From now on, until what it gives is dropped, reports with this token are for this call.
    pub(super) fn listen(&self, token: ProgressToken, cx: &CallContext) -> Listening {
        let early = {
            let mut table = self.lock();
            table.calls.insert(token.clone(), cx.clone());
            let place = table.early.iter().position(|(early, _)| *early == token);
            place.and_then(|place| table.early.remove(place)).map(|(_, reports)| reports)
        };
        early.into_iter().flatten().for_each(|param| report(cx, &param));
        Listening { reports: self.clone(), token }
    }
}

fn report(cx: &CallContext, param: &ProgressNotificationParam) {
    let done = param.total.filter(|total| *total > 0.0).map(|total| param.progress / total);
    cx.progress(param.message.as_deref().unwrap_or_default(), done);
}

pub(super) struct Listening {
    reports: Reports,
    token: ProgressToken,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.reports.lock().calls.remove(&self.token);
    }
}
