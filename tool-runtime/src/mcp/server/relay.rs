//! How far calls are, told to the clients that asked for it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::asking::{ASKING, Asking};
use crate::call::CallId;
use crate::events::{Event, EventKind, Observer};
use crate::tool::Progress;

/// How many reports of a call may wait for a client that reads slowly. Further ones are left out.
const ROOM: usize = 64;

/// How often a client that waits for a person hears that it is to wait on. Clients give up after a minute.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(10);

/// Hears of all calls, and hands the progress of some on.
#[derive(Clone, Default)]
pub(super) struct Relay(Arc<Listeners>);

#[derive(Default)]
struct Listeners {
    /// Most calls have none: then nobody takes the lock.
    count: AtomicUsize,
    /// Several clients may wait for one call.
    by_call: Mutex<HashMap<CallId, Vec<mpsc::Sender<Progress>>>>,
}

impl Observer for Relay {
    fn observe(&self, event: &Event) {
        let progress = match event.kind() {
            EventKind::Progress(progress) => progress,
            EventKind::Decided(verdict) => {
                // Told in the task that runs the call: not at all, if that is none of a client's.
                let _elsewhere = ASKING.try_with(|asking| asking.decided(verdict));
                return;
            }
            _ => return,
        };
        if self.0.count.load(Ordering::Acquire) == 0 {
            return;
        }
        let by_call = self.0.by_call.lock().unwrap_or_else(PoisonError::into_inner);
        for listener in by_call.get(event.call_id()).into_iter().flatten() {
            // A body never waits for a client.
            let _full_or_gone = listener.try_send(progress.clone());
        }
    }
}

impl Relay {
    /// From now on, until the first that it gives is dropped, the second is given the reports of these calls.
    pub(super) fn listen<'a>(
        &self,
        call_ids: impl Iterator<Item = &'a CallId>,
    ) -> (Listening, mpsc::Receiver<Progress>) {
        let (sender, reports) = mpsc::channel(ROOM);
        let call_ids: Vec<CallId> = call_ids.cloned().collect();
        let mut by_call = self.0.by_call.lock().unwrap_or_else(PoisonError::into_inner);
        for call_id in &call_ids {
            by_call.entry(call_id.clone()).or_default().push(sender.clone());
        }
        drop(by_call);
        self.0.count.fetch_add(1, Ordering::Release);
        (Listening { relay: self.clone(), call_ids, sender }, reports)
    }
}

/// Somebody hears the reports of a call.
pub(super) struct Listening {
    relay: Relay,
    call_ids: Vec<CallId>,
    sender: mpsc::Sender<Progress>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        let mut by_call = self.relay.0.by_call.lock().unwrap_or_else(PoisonError::into_inner);
        for call_id in &self.call_ids {
            if let Some(listeners) = by_call.get_mut(call_id) {
                listeners.retain(|listener| !listener.same_channel(&self.sender));
                if listeners.is_empty() {
                    by_call.remove(call_id);
                }
            }
        }
        self.relay.0.count.fetch_sub(1, Ordering::Release);
    }
}

/// Tells one client of one call. What it is told grows with every report, as MCP wants it.
pub(super) struct Teller {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    last: f64,
}

/// By how much a report grows that doesn't say how far it is.
const STEP: f64 = 1e-6;

impl Teller {
    pub(super) fn new(peer: Peer<RoleServer>, token: ProgressToken) -> Self {
        Teller { peer, token, last: -1.0 }
    }

    /// Tells of all reports, until there are no more. A client that waits for a person hears that it is to wait on.
    pub(super) async fn tell_all(mut self, mut reports: mpsc::Receiver<Progress>, asking: Arc<Asking>) {
        // Not `interval`, whose first tick is now: timers count in milliseconds, and each call would wait for one.
        let mut heartbeat = tokio::time::interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
        loop {
            tokio::select! {
                biased;
                report = reports.recv() => match report {
                    Some(report) => self.tell(report).await,
                    None => return,
                },
                _ = heartbeat.tick() => {
                    if asking.waits() {
                        self.wait().await;
                    }
                }
            }
        }
    }

    async fn tell(&mut self, progress: Progress) {
        let known = progress.done.filter(|done| *done > self.last);
        let value = known.unwrap_or(if self.last < 0.0 { 0.0 } else { self.last + STEP });
        self.last = value;
        let mut param = ProgressNotificationParam::new(self.token.clone(), value).with_total(1.0);
        if !progress.message.is_empty() {
            param = param.with_message(progress.message);
        }
        if let Err(error) = self.peer.notify_progress(param).await {
            tracing::debug!(target: "tool_runtime", %error, "an MCP client takes no progress");
        }
    }

    /// Somebody is asked, and the client is to wait on.
    async fn wait(&mut self) {
        self.tell(Progress { message: "Waiting for an answer to a question.".to_owned(), done: None }).await;
    }
}
