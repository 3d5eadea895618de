//! Messages on lines, as MCP's stdio transport has them, over any pair of byte streams.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorCode, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::mcp::envelope::{Envelope, Received, Refusal, found_id};

/// How long a line may be, in bytes: what a model can send is far below it.
const LONGEST: usize = 16 * 1024 * 1024;

/// How many lines may wait to be written.
const ROOM: usize = 64;

/// How long it may take to write what is left once the peer is gone.
const FLUSH: Duration = Duration::from_secs(2);

/// The server's side of a connection on which every line is a message.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// How many bytes of a line that is too long were left out.
    left_out: usize,
    /// Answers that have not been sent yet.
    refusals: VecDeque<String>,
    /// `None` once it is closed.
    writer: Option<mpsc::Sender<String>>,
    writing: Option<JoinHandle<()>>,
    open: Open,
}

/// Which requests wait for an answer.
#[derive(Clone, Default)]
struct Open(Arc<Mutex<HashSet<RequestId>>>);

impl Open {
    fn lock(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> Lines<R> {
    pub(crate) fn new<W: AsyncWrite + Send + Unpin + 'static>(reader: R, mut writer: W) -> Self {
        let (sender, mut lines) = mpsc::channel::<String>(ROOM);
        // A task of its own: what is written must not stop half way when somebody stops waiting for it.
        let writing = tokio::spawn(async move {
            while let Some(mut line) = lines.recv().await {
                line.push('\n');
                let mut written = writer.write_all(line.as_bytes()).await;
                if written.is_ok() && lines.is_empty() {
                    written = writer.flush().await;
                }
                if let Err(error) = written {
                    tracing::debug!(target: "tool_runtime", %error, "an MCP client takes no more messages");
                    return;
                }
            }
        });
        Lines {
            reader: BufReader::new(reader),
            line: Vec::new(),
            left_out: 0,
            refusals: VecDeque::new(),
            writer: Some(sender),
            writing: Some(writing),
            open: Open::default(),
        }
    }

    /// Reads up to the end of a line. `false`: there is none any more. What was read stays when the future is dropped.
    async fn read_line(&mut self) -> io::Result<bool> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(!self.line.is_empty());
            }
            let end = available.iter().position(|&byte| byte == b'\n');
            let part = &available[..end.unwrap_or(available.len())];
            let room = LONGEST - self.line.len();
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            self.left_out += part.len().saturating_sub(room);
            let read = part.len() + usize::from(end.is_some());
            self.reader.consume(read);
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// What a line is, if anything is to be done about it here.
    fn taken(&mut self) -> Option<ClientJsonRpcMessage> {
        let line = std::mem::take(&mut self.line);
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            let refusal = Refusal {
                id: found_id(&line).map(str::to_owned),
                code: ErrorCode::INVALID_REQUEST,
                message: format!("a message may have {LONGEST} bytes, and this has {} more", left_out),
            };
            self.refusals.push_back(refusal.to_json());
            return None;
        }
        if line.trim_ascii().is_empty() {
            return None;
        }
        match Envelope::open(&line, false).map_or_else(Received::Refused, Envelope::read) {
            Received::Message { message, id } => self.admitted(*message, id),
            Received::Refused(refusal) => {
                self.refusals.push_back(refusal.to_json());
                None
            }
            Received::Ignored(what) => {
                tracing::debug!(target: "tool_runtime", what, "a line of an MCP client was ignored");
                None
            }
        }
    }

    /// Two requests of one id can't both be answered.
    fn admitted(&mut self, message: ClientJsonRpcMessage, id: Option<String>) -> Option<ClientJsonRpcMessage> {
        match &message {
            JsonRpcMessage::Request(request) if !self.open.lock().insert(request.id.clone()) => {
                let message = "a request with this id is still open".to_owned();
                self.refusals.push_back(Refusal { id, code: ErrorCode::INVALID_REQUEST, message }.to_json());
                return None;
            }
            JsonRpcMessage::Notification(notification) => {
                // A request that was cancelled is not answered.
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.open.lock().remove(id);
                }
            }
            _ => {}
        }
        Some(message)
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = match &item {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let line = serde_json::to_string(&item).map_err(io::Error::other);
        let writer = self.writer.clone();
        let open = self.open.clone();
        async move {
            let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
            let sent = writer.ok_or_else(gone)?.send(line?).await.map_err(|_| gone());
            if let Some(id) = answered {
                open.lock().remove(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            while !self.refusals.is_empty() {
                let permit = self.writer.as_ref()?.reserve().await.ok()?;
                if let Some(refusal) = self.refusals.pop_front() {
                    permit.send(refusal);
                }
            }
            match self.read_line().await {
                Ok(true) => {
                    if let Some(message) = self.taken() {
                        return Some(message);
                    }
                }
                Ok(false) => return None,
                Err(error) => {
                    tracing::debug!(target: "tool_runtime", %error, "an MCP client can't be read any more");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer = None;
        if let Some(mut writing) = self.writing.take()
            && tokio::time::timeout(FLUSH, &mut writing).await.is_err()
        {
            writing.abort();
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(())
    }
}
