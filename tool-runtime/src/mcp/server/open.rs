//! Which requests of a client are open. An id stands for one of them: two can't both be answered.

use std::collections::{HashSet, VecDeque};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, JsonRpcError, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};

/// How many ids of cancelled requests are kept from being used again. Their calls have ended long before.
const CANCELLED: usize = 1_024;

/// What is said about a request whose id is another's.
pub(super) const TAKEN: &str = "a request with this id is still open, or was cancelled";

/// The requests that wait for an answer, or were cancelled. What a cancelled one comes to is left out by its id: it would
/// be taken for the answer to another of the same id.
#[derive(Debug, Default)]
pub(super) struct Open {
    open: HashSet<RequestId>,
    /// Those of them that were cancelled, the oldest first.
    cancelled: VecDeque<RequestId>,
}

impl Open {
    /// Takes note of what a client sends.
    ///
    /// # Errors
    /// If it is a request with the id of another, with the id.
    pub(super) fn admit<'a>(&mut self, message: &'a ClientJsonRpcMessage) -> Result<(), &'a RequestId> {
        match message {
            JsonRpcMessage::Request(request) if !self.open.insert(request.id.clone()) => Err(&request.id),
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.cancel(id);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A request that was cancelled is not answered.
    fn cancel(&mut self, id: &RequestId) {
        if !self.open.contains(id) || self.cancelled.contains(id) {
            return;
        }
        if self.cancelled.len() >= CANCELLED
            && let Some(oldest) = self.cancelled.pop_front()
        {
            self.open.remove(&oldest);
        }
        self.cancelled.push_back(id.clone());
    }

    /// Takes note of what a client is sent: the id of an answered request may be used again.
    pub(super) fn sent(&mut self, message: &ServerJsonRpcMessage) {
        let id = match message {
            JsonRpcMessage::Response(response) => &response.id,
            JsonRpcMessage::Error(JsonRpcError { id: Some(id), .. }) => id,
            _ => return,
        };
        self.open.remove(id);
        self.cancelled.retain(|cancelled| cancelled != id);
    }

    /// Nobody waits for an answer.
    pub(super) fn is_idle(&self) -> bool {
        self.open.len() == self.cancelled.len()
    }
}
