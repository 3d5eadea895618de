//! Messages on lines, as MCP's stdio transport has them, over any pair of byte streams.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, GetMeta, JsonRpcMessage, ProtocolVersion, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

use super::open::{Open, TAKEN};
use crate::mcp::envelope::{Envelope, Received, Refusal, found_id};

/// How long a line may be, in bytes: what a model can send is far below it.
const LONGEST: usize = 16 * 1024 * 1024;

/// How much room of a line, in bytes, is kept for the next one.
const KEPT: usize = 64 * 1024;

/// How long it may take to write what is left once the peer is gone.
const FLUSH: Duration = Duration::from_secs(2);

/// The server's side of a connection on which every line is a message.
pub(crate) struct Lines<R, W> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// How many bytes of a line that is too long were left out.
    left_out: usize,
    /// Something was said that nobody writes yet.
    has_refused: bool,
    outlet: Arc<Outlet<W>>,
    open: Open,
    /// The client has said by which revision it speaks.
    has_begun: bool,
}

/// Where lines go. Whoever writes writes what all others have to say, too.
struct Outlet<W> {
    waiting: Mutex<Vec<u8>>,
    writer: tokio::sync::Mutex<Writer<W>>,
}

struct Writer<W> {
    /// `None` once it is closed.
    out: Option<W>,
    /// What is being written, and how much of it has been: if somebody stops waiting half way, the next one goes on.
    lines: Vec<u8>,
    written: usize,
    has_to_flush: bool,
}

impl<W> Default for Writer<W> {
    fn default() -> Self {
        Writer { out: None, lines: Vec::new(), written: 0, has_to_flush: false }
    }
}

impl<W: AsyncWrite + Unpin> Outlet<W> {
    fn new(writer: W) -> Self {
        let writer = Writer { out: Some(writer), ..Writer::default() };
        Outlet { waiting: Mutex::default(), writer: tokio::sync::Mutex::new(writer) }
    }

    /// The lines that wait. Somebody has to [write](Self::write) what is put behind them.
    fn waiting(&self) -> MutexGuard<'_, Vec<u8>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes all lines that wait.
    async fn write(&self) -> io::Result<()> {
        let mut writer = self.writer.lock().await;
        let written = match &mut *writer {
            Writer { out: None, .. } => Err(io::ErrorKind::BrokenPipe.into()),
            Writer { out: Some(out), lines, written, has_to_flush } => {
                self.write_to(out, lines, written, has_to_flush).await
            }
        };
        if written.is_err() {
            // Nobody reads on after half a line, and what nobody reads isn't kept.
            *writer = Writer::default();
            drop(self.next(Vec::new()));
        }
        written
    }

    async fn write_to(
        &self,
        out: &mut W,
        lines: &mut Vec<u8>,
        written: &mut usize,
        has_to_flush: &mut bool,
    ) -> io::Result<()> {
        loop {
            while let Some(rest) = lines.get(*written..).filter(|rest| !rest.is_empty()) {
                let count = out.write(rest).await?;
                if count == 0 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
                *written += count;
                *has_to_flush = true;
            }
            *lines = self.next(std::mem::take(lines));
            *written = 0;
            if lines.is_empty() {
                break;
            }
        }
        if *has_to_flush {
            out.flush().await?;
            *has_to_flush = false;
        }
        Ok(())
    }

    /// What waits by now, for room to be used again.
    fn next(&self, mut room: Vec<u8>) -> Vec<u8> {
        room.clear();
        room.shrink_to(KEPT);
        std::mem::replace(&mut *self.waiting(), room)
    }
}

impl<R: AsyncRead + Send + Unpin + 'static, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    pub(crate) fn new(reader: R, writer: W) -> Self {
        Lines {
            reader: BufReader::new(reader),
            line: Vec::new(),
            left_out: 0,
            has_refused: false,
            outlet: Arc::new(Outlet::new(writer)),
            open: Open::default(),
            has_begun: false,
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
        let mut line = std::mem::take(&mut self.line);
        let taken = self.taken_of(&line);
        line.clear();
        line.shrink_to(KEPT);
        self.line = line;
        taken
    }

    fn taken_of(&mut self, line: &[u8]) -> Option<ClientJsonRpcMessage> {
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            return self.refuse(&Refusal {
                id: found_id(line).map(str::to_owned),
                code: ErrorCode::INVALID_REQUEST,
                message: format!("a message may have {LONGEST} bytes, and this has {left_out} more"),
            });
        }
        if line.trim_ascii().is_empty() {
            return None;
        }
        match Envelope::open(line).map_or_else(Received::Refused, |envelope| envelope.read()) {
            Received::Message(message) => self.admitted(*message),
            Received::Refused(refusal) => self.refuse(&refusal),
            Received::Ignored(what) => {
                tracing::debug!(target: "tool_runtime", what, "a line of an MCP client was ignored");
                None
            }
        }
    }

    /// There is an answer to it, and nothing else to do about it.
    fn refuse(&mut self, refusal: &Refusal) -> Option<ClientJsonRpcMessage> {
        self.has_refused = true;
        let mut waiting = self.outlet.waiting();
        waiting.extend_from_slice(refusal.to_json().as_bytes());
        waiting.push(b'\n');
        None
    }

    /// Two requests of one id can't both be answered.
    fn admitted(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        if !self.has_begun {
            // `rmcp` would end the connection of a client that says first that it has given its question up.
            let JsonRpcMessage::Request(request) = &message else { return None };
            self.has_begun = begins(&request.request);
        }
        let Err(id) = self.open.admit(&message) else { return Some(message) };
        let id = serde_json::to_string(id).ok();
        self.refuse(&Refusal { id, code: ErrorCode::INVALID_REQUEST, message: TAKEN.to_owned() })
    }
}

/// Does a request say by which revision the client speaks? Those before don't have to be followed by others.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta.protocol_version().is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}

/// Puts a message behind the lines that wait: in the order in which they are sent, whoever writes them.
fn put(waiting: &mut Vec<u8>, message: &ServerJsonRpcMessage) -> io::Result<()> {
    let before = waiting.len();
    let put = serde_json::to_writer(&mut *waiting, message);
    match put {
        Ok(()) => waiting.push(b'\n'),
        Err(_) => waiting.truncate(before),
    }
    put.map_err(io::Error::other)
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        // From now on: whoever has read the answer may use its id again.
        self.open.sent(&item);
        let put = put(&mut self.outlet.waiting(), &item);
        let outlet = Arc::clone(&self.outlet);
        async move {
            put?;
            outlet.write().await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.has_refused {
                self.outlet.write().await.ok()?;
                self.has_refused = false;
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
        let rest = async {
            let written = self.outlet.write().await;
            self.outlet.writer.lock().await.out = None;
            written
        };
        tokio::time::timeout(FLUSH, rest).await?
    }
}
