//! A connection that comes back.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rmcp::RoleClient;
use rmcp::model::{PaginatedRequestParams, ProtocolVersion, Tool};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::TokioChildProcess;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Mutex, watch};

use super::side::{Asked, Reports, Side};
use crate::BoxFuture;
use crate::schema::json::Json;
use crate::schema::{Digest, text};

/// The two directions of a connection.
pub(super) type Streams = (Box<dyn AsyncRead + Send + Unpin>, Box<dyn AsyncWrite + Send + Unpin>);

/// How a server is reached.
pub(super) enum Way {
    Command {
        program: std::ffi::OsString,
        arguments: Vec<std::ffi::OsString>,
        environment: Vec<(String, String)>,
        bare: bool,
    },
    Http {
        url: String,
        headers: HashMap<http::HeaderName, http::HeaderValue>,
    },
    Streams(Box<dyn Fn() -> BoxFuture<'static, io::Result<Streams>> + Send + Sync>),
}

/// What bounds a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// How long connecting and listing may take.
    pub(super) connect: Duration,
    /// How long a call may take.
    pub(super) call: Duration,
    /// How long it is waited after the first failure. Twice as long after the next.
    pub(super) wait: Duration,
    /// How long it is waited at most.
    pub(super) wait_most: Duration,
    /// How old a list may be where a server tells nobody of changes.
    pub(super) recheck: Duration,
}

/// How many tools and pages a server may have: a list without an end is none.
const MOST_TOOLS: usize = 10_000;
const MOST_PAGES: usize = 1_000;

/// How many bytes all of them may have that it says of its tools, as JSON.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// How long a connection has to last for the next one to be made at once.
const LASTING: Duration = Duration::from_secs(30);

/// How long a server may take to end: it is asked first, told a while later, and killed after that.
const ENDING: Duration = Duration::from_secs(10);

/// One server, and the connection to it, if there is one.
pub(super) struct Link {
    pub(super) name: String,
    pub(super) way: Way,
    pub(super) limits: Limits,
    pub(super) changes: watch::Sender<()>,
    /// Forms of the server's are handed on to clients that can be asked.
    pub(super) forwards: bool,
    /// The connection that offers nothing.
    bare: Mutex<State>,
    /// The connection for calls of clients that can be asked: it offers that, as they do.
    asking: Mutex<State>,
}

#[derive(Default)]
struct State {
    session: Option<Session>,
    failures: u32,
    not_before: Option<Instant>,
}

/// One connection, with the list of tools that it began with or was asked for since.
#[derive(Clone)]
pub(super) struct Session {
    connection: Arc<Connection>,
    pub(super) tools: Arc<[Listed]>,
    by_name: Arc<HashMap<String, Digest>>,
    listed: Instant,
    /// How often the server had said before that its list is another.
    seen: u64,
}

struct Connection {
    running: RunningService<RoleClient, Side>,
    reports: Reports,
    changed: Arc<AtomicU64>,
    since: Instant,
    asked: Option<Asked>,
    /// A call was sent.
    used: AtomicBool,
    /// Something could not be sent, such as in a session that a server doesn't know any more.
    lost: AtomicBool,
}

/// A tool as a server lists it.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    pub(super) tool: Tool,
    /// All that the server says of it.
    pub(super) definition: Json,
    pub(super) digest: Digest,
    /// The server lists another tool of this name. Which one a call would mean nobody can tell.
    pub(super) has_double: bool,
}

/// Why there is no connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Down {
    /// It is not tried again before that.
    Waiting(Duration),
    Failed(String),
}

impl fmt::Display for Down {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Down::Waiting(left) => {
                write!(f, "it is down, and tried again in {} s at the earliest", left.as_secs().max(1))
            }
            // Some of it may be the server's own words.
            Down::Failed(why) => f.write_str(&text::visible(why, 1_000)),
        }
    }
}

/// Why hands could not be shaken.
enum Unmet {
    Unreachable(String),
    Refused(Box<ClientInitializeError>),
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmet::Unreachable(why) => f.write_str(why),
            Unmet::Refused(error) => write!(f, "it could not be connected to: {error}"),
        }
    }
}

impl Session {
    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        self.connection.running.peer()
    }

    /// Whom the server can ask, if it was told that somebody can be.
    pub(super) fn asked(&self) -> Option<&Asked> {
        self.connection.asked.as_ref()
    }

    /// A call is about to be sent.
    pub(super) fn use_it(&self) {
        self.connection.used.store(true, Ordering::Release);
    }

    /// What comes next goes over another connection. What is under way on this one goes on.
    pub(super) fn lose(&self) {
        self.connection.lost.store(true, Ordering::Release);
    }

    pub(super) fn reports(&self) -> &Reports {
        &self.connection.reports
    }

    fn is_alive(&self) -> bool {
        let is_lost = self.connection.lost.load(Ordering::Acquire);
        !is_lost && !self.connection.running.is_closed() && !self.peer().is_transport_closed()
    }

    /// What the server says of the tool now.
    pub(super) fn digest(&self, tool: &str) -> Option<&Digest> {
        self.by_name.get(tool)
    }

    fn is_fresh(&self, recheck: Duration) -> bool {
        self.seen == self.connection.changed.load(Ordering::Acquire) && self.listed.elapsed() < recheck
    }
}

impl Link {
    pub(super) fn new(name: String, way: Way, limits: Limits, forwards: bool) -> Self {
        let (bare, asking) = (Mutex::default(), Mutex::default());
        Link { name, way, limits, changes: watch::Sender::new(()), forwards, bare, asking }
    }

    /// The connection that there is, whichever it is; else the one that offers nothing.
    pub(super) async fn any_session(&self) -> Result<Session, Down> {
        let asks = self.forwards && self.asking.lock().await.session.as_ref().is_some_and(Session::is_alive);
        self.session(asks).await
    }

    /// The connection, made if there is none, and its list, asked for again if it may be another. Nothing is ever sent
    /// twice for it. `asks`: the one for calls of clients that can be asked.
    pub(super) async fn session(&self, asks: bool) -> Result<Session, Down> {
        let mut state = if asks { self.asking.lock().await } else { self.bare.lock().await };
        // It stays until it is known to be of no use: whoever waits here may be cancelled, and others are using it.
        if let Some(session) = state.session.clone() {
            if session.is_alive() {
                if session.is_fresh(self.limits.recheck) {
                    return Ok(session);
                }
                if let Ok(listed) = self.listed_again(&session).await {
                    state.session = Some(listed.clone());
                    return Ok(listed);
                }
                state.session = None;
                self.failed(&mut state, Instant::now());
                return Err(Down::Failed("it did not list its tools".to_owned()));
            }
            state.session = None;
            if session.connection.since.elapsed() < LASTING {
                self.failed(&mut state, session.connection.since);
            } else {
                state.failures = 0;
            }
        }
        if let Some(left) = state.not_before.and_then(|at| at.checked_duration_since(Instant::now())) {
            return Err(Down::Waiting(left));
        }
        match tokio::time::timeout(self.limits.connect, self.connect(asks)).await {
            Ok(Ok(session)) => {
                if asks {
                    self.end_unused().await;
                }
                state.session = Some(session.clone());
                state.not_before = None;
                Ok(session)
            }
            Ok(Err(why)) => {
                self.failed(&mut state, Instant::now());
                Err(Down::Failed(why))
            }
            Err(_) => {
                self.failed(&mut state, Instant::now());
                Err(Down::Failed(format!("it did not answer within {} s", self.limits.connect.as_secs_f64())))
            }
        }
    }

    /// Ends the connection, and the process behind it.
    pub(super) async fn close(&self) {
        for state in [&self.bare, &self.asking] {
            let session = state.lock().await.session.take();
            if let Some(session) = session {
                self.end(&session).await;
            }
        }
    }

    /// A server whose tools were only listed is not left beside the one that is called.
    async fn end_unused(&self) {
        let mut bare = self.bare.lock().await;
        let unused = bare.session.take_if(|session| !session.connection.used.load(Ordering::Acquire));
        drop(bare);
        if let Some(session) = unused {
            session.connection.running.cancellation_token().cancel();
        }
    }

    async fn end(&self, session: &Session) {
        session.connection.running.cancellation_token().cancel();
        let ended = async {
            while !session.peer().is_transport_closed() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        if tokio::time::timeout(ENDING, ended).await.is_err() {
            tracing::warn!(target: "tool_runtime", server = self.name, "a server has not ended in time");
        }
    }

    /// The next try is a while after `since`, when this one began.
    fn failed(&self, state: &mut State, since: Instant) {
        let doubled = 2_u32.saturating_pow(state.failures.min(16));
        let wait = self.limits.wait.saturating_mul(doubled).min(self.limits.wait_most);
        state.failures = state.failures.saturating_add(1);
        state.not_before = Some(since + wait);
    }

    async fn connect(&self, asks: bool) -> Result<Session, String> {
        let asked = asks.then(Asked::default);
        let side = Side {
            asked: asked.clone(),
            reports: Reports::default(),
            changed: Arc::default(),
            changes: self.changes.clone(),
        };
        let (reports, changed) = (side.reports.clone(), Arc::clone(&side.changed));
        let running = self.shake_hands(side).await?;
        let seen = changed.load(Ordering::Acquire);
        let tools = list(running.peer()).await?;
        let now = Instant::now();
        let connection = Arc::new(Connection {
            running,
            reports,
            changed,
            since: now,
            asked,
            used: AtomicBool::new(false),
            lost: AtomicBool::new(false),
        });
        Ok(Session { connection, by_name: by_name(&tools), tools: tools.into(), listed: now, seen })
    }

    /// Shakes hands by the revision that the server speaks. One that is slow to begin answers the question for it when nobody
    /// waits for that any more, and its answer is taken for a wrong one to the next question. It is asked once more then, by
    /// the revision that the answer tells.
    async fn shake_hands(&self, side: Side) -> Result<RunningService<RoleClient, Side>, String> {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        let auto = ClientLifecycleMode::Auto { preferred_versions: preferred_versions.clone(), legacy_version: None };
        let refused = match self.shake_hands_by(auto, side.clone()).await {
            Err(Unmet::Refused(refused)) => refused,
            met => return met.map_err(|unmet| unmet.to_string()),
        };
        let last = match &*refused {
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => fallback,
            refused => refused,
        };
        let mode = match last {
            ClientInitializeError::ConflictInitResponseId(..) => ClientLifecycleMode::Discover { preferred_versions },
            ClientInitializeError::UncorrelatedErrorResponse { .. } => ClientLifecycleMode::Initialize,
            _ => return Err(Unmet::Refused(refused).to_string()),
        };
        tracing::debug!(target: "tool_runtime", server = self.name, error = %refused, "a server is asked again");
        self.shake_hands_by(mode, side).await.map_err(|unmet| unmet.to_string())
    }

    async fn shake_hands_by(
        &self,
        mode: ClientLifecycleMode,
        side: Side,
    ) -> Result<RunningService<RoleClient, Side>, Unmet> {
        let refused = |error: ClientInitializeError| Unmet::Refused(Box::new(error));
        match &self.way {
            Way::Command { program, arguments, environment, bare } => {
                let mut command = tokio::process::Command::new(program);
                if *bare {
                    command.env_clear();
                }
                command.args(arguments).envs(environment.iter().map(|(key, value)| (key, value))).kill_on_drop(true);
                let child = TokioChildProcess::new(command).map_err(|error| {
                    Unmet::Unreachable(format!("`{}` could not be started: {error}", program.to_string_lossy()))
                })?;
                side.serve_with_lifecycle(child, mode).await.map_err(refused)
            }
            Way::Http { url, headers } => {
                // It would send a call a second time in a session whose tools nobody has looked at.
                let config = StreamableHttpClientTransportConfig::with_uri(url.clone())
                    .custom_headers(headers.clone())
                    .reinit_on_expired_session(false);
                let transport = StreamableHttpClientTransport::from_config(config);
                side.serve_with_lifecycle(transport, mode).await.map_err(refused)
            }
            Way::Streams(connect) => {
                let streams = connect()
                    .await
                    .map_err(|error| Unmet::Unreachable(format!("it could not be connected to: {error}")))?;
                side.serve_with_lifecycle(streams, mode).await.map_err(refused)
            }
        }
    }

    /// The same connection, with its list as it is now.
    async fn listed_again(&self, session: &Session) -> Result<Session, String> {
        let seen = session.connection.changed.load(Ordering::Acquire);
        let tools = tokio::time::timeout(self.limits.connect, list(session.peer()))
            .await
            .map_err(|_| "it did not list its tools in time".to_owned())??;
        let connection = Arc::clone(&session.connection);
        Ok(Session { connection, by_name: by_name(&tools), tools: tools.into(), listed: Instant::now(), seen })
    }
}

fn by_name(tools: &[Listed]) -> Arc<HashMap<String, Digest>> {
    let clear = tools.iter().filter(|listed| !listed.has_double);
    Arc::new(clear.map(|listed| (listed.tool.name.to_string(), listed.digest)).collect())
}

/// All tools of a server, page by page.
async fn list(peer: &Peer<RoleClient>) -> Result<Vec<Listed>, String> {
    let mut tools: Vec<Listed> = Vec::new();
    let mut bytes = 0;
    let mut cursor = None;
    let mut cursors = HashSet::new();
    for _ in 0..MOST_PAGES {
        let mut request = PaginatedRequestParams::default();
        request.cursor = cursor;
        let page = peer.list_tools(Some(request)).await.map_err(|error| format!("its tools: {error}"))?;
        for tool in page.tools {
            let text = serde_json::to_string(&tool).map_err(|error| format!("the tool `{}`: {error}", tool.name))?;
            bytes += text.len();
            tools.push(listed(tool, &text)?);
        }
        if bytes > MOST_BYTES {
            return Err(format!("it says more than {MOST_BYTES} bytes of its tools"));
        }
        if tools.len() > MOST_TOOLS {
            return Err(format!("it lists more than {MOST_TOOLS} tools"));
        }
        cursor = page.next_cursor;
        let Some(next) = &cursor else {
            mark_doubles(&mut tools);
            return Ok(tools);
        };
        if !cursors.insert(Digest::of_bytes(next.as_bytes())) {
            return Err("its list of tools leads back to where it has been".to_owned());
        }
    }
    Err(format!("it lists more than {MOST_PAGES} pages of tools"))
}

fn mark_doubles(tools: &mut [Listed]) {
    let mut count = HashMap::<String, u32>::with_capacity(tools.len());
    for listed in &*tools {
        *count.entry(listed.tool.name.to_string()).or_default() += 1;
    }
    for listed in tools {
        listed.has_double = count.get(&*listed.tool.name).is_some_and(|count| *count > 1);
    }
}

fn listed(tool: Tool, text: &str) -> Result<Listed, String> {
    let definition = Json::parse(text).map_err(|error| format!("the tool `{}`: {error}", tool.name))?;
    Ok(Listed { tool, digest: Digest::of(&definition), definition, has_double: false })
}
