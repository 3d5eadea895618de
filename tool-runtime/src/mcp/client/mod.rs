//! MCP servers' tools, brought through the gate.

mod call;
mod draft07;
mod link;
mod pins;
mod remote;
mod side;

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use link::{Limits, Link, Streams, Way};
pub use pins::{PinState, Pins, PinsError};
pub use remote::{RemoteTool, RemoteToolError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use crate::tool::Hints;

/// A connection to an MCP server, whose tools become tools of this host. Cheap to clone; all clones are one connection.
///
/// A call of such a tool takes the same path as every other: its arguments are accepted by the server's own schema,
/// policies judge it, the ledger has it, and what the server returns is checked by the server's own output schema. What a
/// server says of its tools' effects is only its word: [hints](McpClientBuilder::hints) are the host's.
///
/// A server that dies, hangs or never stops costs a call its result and no more: the call ends with what is known of it,
/// later ones wait for a connection to come back, each time longer, and none is ever sent twice. A tool whose definition
/// is not what it was when it was imported is refused.
///
/// ```no_run
/// use tool_runtime::mcp::McpClient;
/// use tool_runtime::{Harness, Registry, Rules};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let files = McpClient::command("files", "npx", ["-y", "@modelcontextprotocol/server-filesystem", "/w"]).build()?;
/// let mut registry = Registry::builder();
/// for tool in files.tools().await? {
///     registry = registry.tool(tool.host_tool()?);
/// }
/// let harness = Harness::new(registry.build()?, tool_runtime::DenyAll);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct McpClient(Arc<Inner>);

struct Inner {
    link: Arc<Link>,
    prefixed: bool,
    hints: HashMap<String, Hints>,
}

impl McpClient {
    /// A server that is run as a child process, by its program and its arguments. No shell reads them. `name` is what it
    /// is called here: ASCII letters, digits, `-` and single `_`.
    pub fn command<A: Into<OsString>>(
        name: impl Into<String>,
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item = A>,
    ) -> McpClientBuilder {
        let arguments = arguments.into_iter().map(Into::into).collect();
        McpClientBuilder::new(
            name,
            Way::Command { program: program.into(), arguments, environment: Vec::new(), bare: false },
        )
    }

    /// A server at a URL. Only `http://`, unless the feature `mcp-tls` is on.
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> McpClientBuilder {
        McpClientBuilder::new(name, Way::Http { url: url.into(), headers: HashMap::new() })
    }

    /// A server at the other end of byte streams, a message a line. `connect` is called for every connection.
    pub fn streams<R, W, F>(
        name: impl Into<String>,
        connect: impl Fn() -> F + Send + Sync + 'static,
    ) -> McpClientBuilder
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
        F: Future<Output = io::Result<(R, W)>> + Send + 'static,
    {
        let connect = move || -> crate::BoxFuture<'static, io::Result<Streams>> {
            let connecting = connect();
            Box::pin(async move {
                let (reader, writer) = connecting.await?;
                Ok::<Streams, io::Error>((Box::new(reader), Box::new(writer)))
            })
        };
        McpClientBuilder::new(name, Way::Streams(Box::new(connect)))
    }

    /// What the server is called here.
    pub fn name(&self) -> &str {
        &self.0.link.name
    }

    /// The tools that the server lists now, in its order.
    ///
    /// # Errors
    /// If the server can't be reached, or lists no tools.
    pub async fn tools(&self) -> Result<Vec<RemoteTool>, McpClientError> {
        let Inner { link, prefixed, hints } = &*self.0;
        let session = link.any_session().await.map_err(|down| McpClientError(format!("`{}`: {down}", link.name)))?;
        let tool = |listed: &link::Listed| {
            let hints = hints.get(&*listed.tool.name).copied().unwrap_or_default();
            RemoteTool::new(link, listed, *prefixed, hints)
        };
        Ok(session.tools.iter().map(tool).collect())
    }

    /// Changes when the server says that its list of tools is another. Servers of 2026-07-28 say so only to those who
    /// listen; theirs is compared again after [a while](McpClientBuilder::recheck_after), with the next call.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.0.link.changes.subscribe()
    }

    /// Ends the connection, and the process behind it, if there is one. A later call makes another.
    pub async fn close(&self) {
        self.0.link.close().await;
    }
}

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClient").field("name", &self.0.link.name).finish_non_exhaustive()
    }
}

/// Builds an [`McpClient`].
pub struct McpClientBuilder {
    name: String,
    way: Way,
    prefixed: bool,
    hints: HashMap<String, Hints>,
    limits: Limits,
    forwards: bool,
    wrong: Option<String>,
}

impl McpClientBuilder {
    fn new(name: impl Into<String>, way: Way) -> Self {
        let limits = Limits {
            connect: Duration::from_secs(30),
            call: Duration::from_secs(60),
            wait: Duration::from_millis(500),
            wait_most: Duration::from_secs(60),
            recheck: Duration::from_secs(60),
        };
        McpClientBuilder {
            name: name.into(),
            way,
            prefixed: true,
            hints: HashMap::new(),
            limits,
            forwards: false,
            wrong: None,
        }
    }

    /// Sets a variable of the environment of a child process, which has this process's otherwise.
    #[must_use]
    pub fn env(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        match &mut self.way {
            Way::Command { environment, .. } => environment.push((key.into(), value.into())),
            _ => self.wrong = Some("only a child process has an environment".to_owned()),
        }
        self
    }

    /// Gives a child process none of this process's environment: only what is [set](Self::env).
    #[must_use]
    pub fn without_env(mut self) -> Self {
        match &mut self.way {
            Way::Command { bare, .. } => *bare = true,
            _ => self.wrong = Some("only a child process has an environment".to_owned()),
        }
        self
    }

    /// Sends a header with every request to a URL, such as `authorization`. Nobody else's headers are ever passed on.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let header = (http::HeaderName::from_bytes(name.as_bytes()), http::HeaderValue::from_str(value));
        match (&mut self.way, header) {
            (Way::Http { headers, .. }, (Ok(name), Ok(mut value))) => {
                value.set_sensitive(true);
                headers.insert(name, value);
            }
            (Way::Http { .. }, _) => self.wrong = Some("a header that can't be sent".to_owned()),
            _ => self.wrong = Some("only a URL takes headers".to_owned()),
        }
        self
    }

    /// Registers the tools under the server's own names, without its name before them. Two servers may clash then.
    #[must_use]
    pub fn without_prefix(mut self) -> Self {
        self.prefixed = false;
        self
    }

    /// Sets what the host says of a tool's effects, by the server's name for it: [`Hints`], or a list of
    /// [`Hint`](crate::Hint)s. Without it nothing is known.
    #[must_use]
    pub fn hints(mut self, tool: impl Into<String>, hints: impl Into<Hints>) -> Self {
        self.hints.insert(tool.into(), hints.into());
        self
    }

    /// Sets how long connecting and listing tools may take: 30 s, unless it is set.
    #[must_use]
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.limits.connect = limit;
        self
    }

    /// Sets how long a call may take: 60 s, unless it is set. A call that takes longer is cancelled.
    #[must_use]
    pub fn call_timeout(mut self, limit: Duration) -> Self {
        self.limits.call = limit;
        self
    }

    /// Sets how long it is waited before a server that failed is tried again: half a second at first, twice as long each
    /// time, a minute at most, unless it is set. Calls in between end at once.
    #[must_use]
    pub fn back_off(mut self, first: Duration, most: Duration) -> Self {
        self.limits.wait = first;
        self.limits.wait_most = most;
        self
    }

    /// Sets how old the list of tools may be when a call is sent: a minute, unless it is set.
    #[must_use]
    pub fn recheck_after(mut self, age: Duration) -> Self {
        self.limits.recheck = age;
        self
    }

    /// Hands forms of the server's on to the person behind the client of an [`McpServer`](crate::mcp::McpServer) whose call
    /// runs, with the server's name on them. Unless it is set, the server is told that nobody can be asked.
    ///
    /// The server is offered no more than the client has offered: calls of clients that can't be asked go over a connection
    /// of their own, on which nothing is offered. Such a server is run twice once both kinds of clients call it. A form that
    /// a server of before 2026-07-28 sends while several calls are under way is closed: it doesn't say whose it is. The
    /// time that a person takes is not the call's.
    #[must_use]
    pub fn forward_forms(mut self) -> Self {
        self.forwards = true;
        self
    }

    /// Ends with the client. Nothing is connected yet.
    ///
    /// # Errors
    /// If the name isn't legal, a limit is zero, or something was set that this server has not.
    pub fn build(self) -> Result<McpClient, McpClientError> {
        let McpClientBuilder { name, way, prefixed, hints, limits, forwards, wrong } = self;
        let error = |what: &str| Err(McpClientError(format!("`{}`: {what}", crate::schema::text::shown(&name, 80))));
        if !remote::is_server_name(&name) {
            return error(
                "a server's name begins with a letter, goes on with letters, digits, `-` and single `_` (ASCII), has at most 32 of them, and doesn't end in `_`",
            );
        }
        if limits.connect.is_zero() || limits.call.is_zero() {
            return error("a limit has to be longer than zero");
        }
        if let Some(wrong) = wrong {
            return error(&wrong);
        }
        Ok(McpClient(Arc::new(Inner { link: Arc::new(Link::new(name, way, limits, forwards)), prefixed, hints })))
    }
}

impl fmt::Debug for McpClientBuilder {
    /// Without the environment and the headers: they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClientBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A server that can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpClientError(String);

impl fmt::Display for McpClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MCP server {}", self.0)
    }
}

impl std::error::Error for McpClientError {}
