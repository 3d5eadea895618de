//! What a session sends a client that may not read it.
//!
//! `rmcp` serves a session in one task, which waits until there is room in the stream that a message goes to: a client
//! that stops reading one would keep all its other requests waiting. So every stream is read here at once, whatever its
//! client does, and what the client has not read yet is bounded. Beyond [`REPORTS`], reports of progress are left out: the
//! next one says more. Everything else has [`OTHERS`] places of its own. If these don't suffice the stream is cut: what
//! waits in it can still be read, and then it ends. A client that comes back for the rest, with `Last-Event-ID`, gets
//! what `rmcp` still has of it.

use std::pin::pin;
use std::task::Poll;

use futures_util::stream::{self, Stream, StreamExt};
use rmcp::model::{JsonRpcMessage, ServerNotification};
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use tokio::sync::mpsc;

/// How many messages may wait for a client before reports of progress are left out.
const REPORTS: usize = 64;

/// How many may wait beyond that.
const OTHERS: usize = 64;

/// The same stream, which nobody waits for.
pub(super) fn unhurried(
    stream: impl Stream<Item = ServerSseMessage> + Send + 'static,
) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
    let (sender, mut waiting) = mpsc::channel(REPORTS + OTHERS);
    tokio::spawn(read(stream, sender));
    stream::poll_fn(move |task| -> Poll<Option<ServerSseMessage>> { waiting.poll_recv(task) })
}

async fn read(stream: impl Stream<Item = ServerSseMessage> + Send, sender: mpsc::Sender<ServerSseMessage>) {
    let mut stream = pin!(stream);
    loop {
        let message = tokio::select! {
            biased;
            // The client has gone.
            () = sender.closed() => return,
            message = stream.next() => message,
        };
        let Some(message) = message else { return };
        if sender.capacity() <= OTHERS && is_report(&message) {
            continue;
        }
        if sender.try_send(message).is_err() {
            tracing::debug!(target: "tool_runtime", "a stream to an MCP client that doesn't read it is cut");
            return;
        }
    }
}

fn is_report(message: &ServerSseMessage) -> bool {
    matches!(
        message.message.as_deref(),
        Some(JsonRpcMessage::Notification(sent))
            if matches!(sent.notification, ServerNotification::ProgressNotification(_))
    )
}
