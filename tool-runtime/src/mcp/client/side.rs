//! What a server may say to its client on its own.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ClientConfig, Implementation, ProgressNotificationParam, ProgressToken};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::watch;

use crate::tool::CallContext;

/// How many reports are kept for a call that isn't known yet, and for how many such calls.
const EARLY: usize = 16;

/// The client's side of one connection.
#[derive(Clone)]
pub(super) struct Side {
    pub(super) reports: Reports,
    /// The list of tools may be another by now.
    pub(super) stale: Arc<AtomicBool>,
    pub(super) changes: watch::Sender<()>,
}

impl ClientHandler for Side {
    fn get_info(&self) -> ClientConfig {
        // Nothing is offered that a server could ask for: nobody here answers for a person.
        let info = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        ClientConfig::new(rmcp::model::ClientCapabilities::default(), info)
    }

    async fn on_progress(&self, param: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.reports.take(param);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.stale.store(true, Ordering::Release);
        self.changes.send_replace(());
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

    fn take(&self, param: ProgressNotificationParam) {
        let mut table = self.lock();
        if let Some(cx) = table.calls.get(&param.progress_token) {
            let cx = cx.clone();
            drop(table);
            report(&cx, &param);
            return;
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
