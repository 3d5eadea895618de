//! A harness, served to MCP clients.

mod asking;
mod caller;
mod forms;
mod going;
mod handler;
mod http;
mod listing;
mod open;
mod outflow;
mod questions;
mod relay;
mod results;
mod sessions;
mod stdio;
mod suspended;
mod waiting;

use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

pub use asking::McpApprover;
use asking::Noting;
pub(super) use asking::{ASKING, Asking};
use caller::CALLS;
pub use caller::McpCaller;
pub(super) use forms::AskedBy;
use handler::Handler;
pub use http::HttpOptions;
use listing::Listing;
use relay::Relay;
use rmcp::model::{Implementation, ServerCapabilities, ServerConfig};
use rmcp::service::Peer;
use rmcp::{RoleServer, ServiceExt};
use suspended::Suspended;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use waiting::Waiting;

use crate::call::CallId;
use crate::harness::Harness;

/// Serves the tools of a harness to MCP clients. Cheap to clone; all clones are one server.
///
/// Every call takes the harness's whole path: policy, questions, ledger. What a client sees of a tool are its name,
/// description, schemas and the host's hints; [deferred](crate::ToolSchema::defer) tools are listed once they are loaded.
///
/// A call that has to be asked about is asked about by the harness's approver. One without asks the person
/// behind the client: see [`McpApprover`]. An answer that [comes later](crate::Answer::Later) is waited for in the
/// ledger: a client that makes the same call again once it is there goes on with the call that waits
/// ([`Harness::resume`]), also after a restart if the ledger lasts. The ledger gives such a call out once.
///
/// ```no_run
/// use tool_runtime::mcp::McpServer;
/// use tool_runtime::{AllowAll, Harness, Registry};
///
/// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
/// let harness = Harness::new(Registry::builder().build()?, AllowAll);
/// let server = McpServer::builder(harness).name("files").version("1.0.0").build()?;
/// server.serve_stdio().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct McpServer(Arc<Inner>);

struct Inner {
    served: RwLock<Arc<Served>>,
    config: ServerConfig,
    page_size: usize,
    ask_within: Duration,
    wait: Duration,
    waiting: Waiting,
    suspended: Suspended,
    relay: Relay,
    /// Clients of before 2026-07-28 who are told when the list changes.
    peers: Mutex<Vec<Peer<RoleServer>>>,
    /// The same for newer ones, who listen.
    changes: watch::Sender<()>,
    /// Sets the calls of this server apart from those of others that share its ledger.
    prefix: String,
    next: AtomicU64,
}

/// What is served at a time.
struct Served {
    harness: Harness,
    listing: Listing,
    /// Nobody but the person behind the client is asked.
    asks_client: bool,
}

impl Served {
    fn new(harness: Harness, relay: &Relay) -> Result<Self, McpServerError> {
        let listing = Listing::new(harness.registry())
            .map_err(|unlisted| McpServerError(Kind::Unlisted(unlisted.tool, unlisted.what)))?;
        let mut asks_client = false;
        let harness = harness.observer(relay.clone()).ask_through(|approver| {
            asks_client = approver.is_none();
            Arc::new(Noting(approver.unwrap_or_else(|| Arc::new(McpApprover::new()))))
        });
        Ok(Served { harness, listing, asks_client })
    }
}

impl McpServer {
    /// Begins with what is served.
    pub fn builder(harness: Harness) -> McpServerBuilder {
        McpServerBuilder {
            harness,
            info: Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            instructions: None,
            page_size: NonZeroUsize::new(100).unwrap_or(NonZeroUsize::MIN),
            ask_within: Duration::from_secs(300),
            wait: Duration::ZERO,
        }
    }

    /// Serves another harness from now on. Calls that run go on in the old one; clients are told if the list of tools
    /// is another.
    ///
    /// # Errors
    /// If a tool's schema can't be listed; then everything stays as it is.
    pub fn replace(&self, harness: Harness) -> Result<(), McpServerError> {
        let served = Arc::new(Served::new(harness, &self.0.relay)?);
        let before = {
            let mut current = self.0.served.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *current, Arc::clone(&served))
        };
        if !before.listing.is_like(&served.listing) {
            self.tell_changed();
        }
        Ok(())
    }

    /// Serves one client on the process's standard input and output, until it closes them. Nothing else may be written
    /// to the standard output.
    ///
    /// # Errors
    /// If the client breaks off before it has said anything that a server can go on with.
    pub async fn serve_stdio(&self) -> io::Result<()> {
        self.serve_stream(tokio::io::stdin(), tokio::io::stdout(), CancellationToken::new()).await
    }

    /// Serves one client on a pair of byte streams, a message a line, until they end or `stop` is cancelled.
    ///
    /// # Errors
    /// If the client breaks off before it has said anything that a server can go on with.
    pub async fn serve_stream<R, W>(&self, reader: R, writer: W, stop: CancellationToken) -> io::Result<()>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let lines = stdio::Lines::new(reader, writer);
        let running = Handler::new(self.clone()).serve_with_ct(lines, stop).await.map_err(io::Error::other)?;
        running.waiting().await.map(|_| ()).map_err(io::Error::other)
    }

    fn served(&self) -> Arc<Served> {
        Arc::clone(&self.0.served.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Clients number their calls as they like; these numbers are a server's own.
    fn next_call(&self, caller: Option<&str>) -> CallId {
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        CallId::from(match caller {
            None => format!("{}-{number}", self.0.prefix),
            Some(caller) => format!("{}-{number}@{caller}", self.0.prefix),
        })
    }

    fn remember(&self, peer: Peer<RoleServer>) {
        let mut peers = self.0.peers.lock().unwrap_or_else(PoisonError::into_inner);
        peers.retain(|peer| !peer.is_transport_closed());
        peers.push(peer);
    }

    /// Tells all clients that the list of tools is another.
    fn tell_changed(&self) {
        self.0.changes.send_replace(());
        let peers: Vec<_> = {
            let mut peers = self.0.peers.lock().unwrap_or_else(PoisonError::into_inner);
            peers.retain(|peer| !peer.is_transport_closed());
            peers.clone()
        };
        // A task of its own, where there is a runtime: a client that reads slowly keeps nobody waiting.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        for peer in peers {
            runtime.spawn(async move {
                if let Err(error) = peer.notify_tool_list_changed().await {
                    tracing::debug!(target: "tool_runtime", %error, "an MCP client can't be told of a change");
                }
            });
        }
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer").field("harness", &self.served().harness).finish_non_exhaustive()
    }
}

/// Builds an [`McpServer`].
#[derive(Debug)]
pub struct McpServerBuilder {
    harness: Harness,
    info: Implementation,
    instructions: Option<String>,
    page_size: NonZeroUsize,
    ask_within: Duration,
    wait: Duration,
}

impl McpServerBuilder {
    /// Sets the name that clients are told.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.info.name = name.into();
        self
    }

    /// Sets the version that clients are told.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.info.version = version.into();
        self
    }

    /// Sets what a client may tell its model of this server.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Sets how many tools a page of the list has: 100, unless it is set.
    #[must_use]
    pub fn page_size(mut self, tools: NonZeroUsize) -> Self {
        self.page_size = tools;
        self
    }

    /// Sets how long a person may think: five minutes, unless it is set.
    #[must_use]
    pub fn ask_within(mut self, limit: Duration) -> Self {
        self.ask_within = limit;
        self
    }

    /// Sets how long a call waits for an answer that comes later before its turn ends as pending: not at all, unless it is
    /// set. It should be less than what clients wait for a call, which is a minute as a rule.
    #[must_use]
    pub fn wait_for_answers(mut self, limit: Duration) -> Self {
        self.wait = limit;
        self
    }

    /// Ends with the server.
    ///
    /// # Errors
    /// If a tool's schema can't be listed, or the system has no random numbers.
    pub fn build(self) -> Result<McpServer, McpServerError> {
        let relay = Relay::default();
        let served = RwLock::new(Arc::new(Served::new(self.harness, &relay)?));
        let mut config =
            ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
                .with_server_info(self.info);
        config.instructions = self.instructions;
        let no_numbers = || McpServerError(Kind::NoRandomNumbers);
        let waiting = {
            let served = served.read().unwrap_or_else(PoisonError::into_inner);
            Waiting::new(served.harness.records()).ok_or_else(no_numbers)?
        };
        let mut prefix = [0; 8];
        getrandom::fill(&mut prefix).map_err(|_| no_numbers())?;
        Ok(McpServer(Arc::new(Inner {
            served,
            config,
            page_size: self.page_size.get(),
            ask_within: self.ask_within,
            wait: self.wait,
            waiting,
            suspended: Suspended::default(),
            relay,
            peers: Mutex::default(),
            changes: watch::Sender::new(()),
            prefix: format!("{CALLS}{:016x}", u64::from_le_bytes(prefix)),
            next: AtomicU64::new(1),
        })))
    }
}

/// Why a server can't be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServerError(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Unlisted(String, &'static str),
    NoRandomNumbers,
}

impl fmt::Display for McpServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Unlisted(tool, what) => write!(f, "tool `{tool}` can't be served over MCP: {what} is no JSON object"),
            Kind::NoRandomNumbers => f.write_str("the system has no random numbers, without which nobody can be asked"),
        }
    }
}

impl std::error::Error for McpServerError {}
