//! Sessions of clients of before 2026-07-28 over HTTP: `rmcp`'s, with an end, and one answer to each request.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures_util::future::{Either, ready};
use futures_util::stream::{self, Stream};
use rmcp::model::{ClientJsonRpcMessage, GetExtensions, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, LocalSessionWorker,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use rmcp::transport::{Transport, WorkerTransport};
use rmcp::{ErrorData, RoleServer};
use tokio::time::Instant;

use super::caller::McpCaller;
use super::open::{Open, TAKEN};
use super::outflow::unhurried;

/// How long a session lasts in which nothing is sent and no request waits for its answer.
const IDLE: Duration = Duration::from_secs(5 * 60);

tokio::task_local! {
    /// Set when a request that this task answers would have begun a session too many.
    pub(super) static REFUSED: AtomicBool;
}

/// All sessions. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub(super) struct Sessions(Arc<Inner>);

struct Inner {
    local: LocalSessionManager,
    known: Mutex<HashMap<SessionId, Session>>,
    most: usize,
}

struct Session {
    /// Who began it.
    caller: Option<McpCaller>,
    open: Open,
    /// When something was last sent, by either side.
    last: Instant,
}

impl Inner {
    fn known(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something is sent in a session.
    fn touch<T>(&self, id: &SessionId, note: impl FnOnce(&mut Session) -> T) -> Option<T> {
        self.known().get_mut(id).map(|session| {
            session.last = Instant::now();
            note(session)
        })
    }

    /// How long a session lasts at least. `None`: it has ended, or does now.
    fn left(&self, id: &SessionId) -> Option<Duration> {
        let mut known = self.known();
        let session = known.get(id)?;
        let left = if session.open.is_idle() { IDLE.saturating_sub(session.last.elapsed()) } else { IDLE };
        if left.is_zero() {
            known.remove(id);
            return None;
        }
        Some(left)
    }
}

impl Sessions {
    pub(super) fn new(most: usize) -> Self {
        let mut local = LocalSessionManager::default();
        // It would end sessions in which a call takes long, or a person thinks.
        local.session_config.keep_alive = None;
        Sessions(Arc::new(Inner { local, known: Mutex::default(), most }))
    }

    /// When there may be room for another session, if nobody ends one before.
    pub(super) fn room_in(&self) -> Duration {
        let left = |session: &Session| IDLE.saturating_sub(session.last.elapsed());
        self.0.known().values().filter(|session| session.open.is_idle()).map(left).min().unwrap_or(IDLE)
    }

    /// Is it somebody else's session?
    pub(super) fn is_foreign(&self, id: &str, caller: Option<&McpCaller>) -> bool {
        self.0.known().get(id).is_some_and(|session| session.caller.as_ref() != caller)
    }
}

/// Ends a session that nobody uses any more.
async fn watch(sessions: Weak<Inner>, id: SessionId) {
    while let Some(left) = sessions.upgrade().and_then(|sessions| sessions.left(&id)) {
        tokio::time::sleep(left).await;
    }
    if let Some(sessions) = sessions.upgrade()
        && let Err(error) = sessions.local.close_session(&id).await
    {
        tracing::debug!(target: "tool_runtime", %error, "a session of an MCP client can't be ended");
    }
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = Noted;

    async fn create_session(&self) -> Result<(SessionId, Noted), SessionsError> {
        let (id, transport) = self.0.local.create_session().await?;
        let is_full = {
            let mut known = self.0.known();
            let is_full = known.len() >= self.0.most;
            if !is_full {
                let session = Session { caller: None, open: Open::default(), last: Instant::now() };
                known.insert(Arc::clone(&id), session);
            }
            is_full
        };
        if is_full {
            self.0.local.close_session(&id).await?;
            let _nobody_asks = REFUSED.try_with(|refused| refused.store(true, Ordering::Relaxed));
            return Err(SessionsError::Full);
        }
        tokio::spawn(watch(Arc::downgrade(&self.0), Arc::clone(&id)));
        let noted = Noted { transport, sessions: Arc::clone(&self.0), id: Arc::clone(&id) };
        Ok((id, noted))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionsError> {
        if let JsonRpcMessage::Request(request) = &message {
            let caller = McpCaller::of(request.request.extensions()).cloned();
            self.0.touch(id, |session| session.caller = caller);
        }
        Ok(self.0.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionsError> {
        Ok(self.0.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionsError> {
        self.0.known().remove(id);
        Ok(self.0.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        if let Some(Err(taken)) = self.0.touch(id, |session| session.open.admit(&message)) {
            let error = ErrorData::invalid_request(TAKEN, None);
            let refused = ServerSseMessage::from_message(ServerJsonRpcMessage::error(error, Some(taken.clone())));
            return Ok(Either::Left(stream::once(ready(refused))));
        }
        Ok(Either::Right(unhurried(self.0.local.create_stream(id, message).await?)))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), SessionsError> {
        let _nothing_asked = self.0.touch(id, |session| session.open.admit(&message).is_ok());
        Ok(self.0.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        self.0.touch(id, |_| ());
        Ok(unhurried(self.0.local.create_standalone_stream(id).await?))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        self.0.touch(id, |_| ());
        Ok(unhurried(self.0.local.resume(id, last_event_id).await?))
    }
}

/// What a session is sent, and what of it was answered.
pub(super) struct Noted {
    transport: WorkerTransport<LocalSessionWorker>,
    sessions: Arc<Inner>,
    id: SessionId,
}

impl Transport<RoleServer> for Noted {
    type Error = <WorkerTransport<LocalSessionWorker> as Transport<RoleServer>>::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.sessions.touch(&self.id, |session| session.open.sent(&message));
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.transport.receive().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.close().await
    }
}

/// Why there is no session.
#[derive(Debug)]
pub(super) enum SessionsError {
    Full,
    Local(LocalSessionManagerError),
}

impl From<LocalSessionManagerError> for SessionsError {
    fn from(error: LocalSessionManagerError) -> Self {
        SessionsError::Local(error)
    }
}

impl fmt::Display for SessionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SessionsError::Full => f.write_str("too many sessions are open"),
            SessionsError::Local(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SessionsError {}
