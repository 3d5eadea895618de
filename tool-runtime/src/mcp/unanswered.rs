//! Requests to a peer whose answer nobody may wait for to its end.

use rmcp::model::{CancelledNotification, CancelledNotificationParam, RequestId};
use rmcp::service::{Peer, ServiceRole};

/// A request whose answer nobody has yet. If nobody waits for it any more, the peer is told.
pub(super) struct Unanswered<R: ServiceRole> {
    peer: Peer<R>,
    id: Option<RequestId>,
}

impl<R: ServiceRole> Unanswered<R> {
    pub(super) fn new(peer: &Peer<R>, id: &RequestId) -> Self {
        Unanswered { peer: peer.clone(), id: Some(id.clone()) }
    }

    /// The answer is there, or the peer has been told otherwise.
    pub(super) fn end(mut self) {
        self.id = None;
    }
}

impl<R: ServiceRole> Drop for Unanswered<R> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let peer = self.peer.clone();
        let reason = "nobody waits for the result any more".to_owned();
        let cancelled = CancelledNotification::new(CancelledNotificationParam::new(Some(id), Some(reason)));
        runtime.spawn(async move {
            if let Err(error) = peer.send_notification(cancelled.into()).await {
                tracing::debug!(target: "tool_runtime", %error, "a peer can't be told of a request that was given up");
            }
        });
    }
}
