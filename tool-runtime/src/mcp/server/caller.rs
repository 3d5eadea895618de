//! Who calls.

use rmcp::model::Extensions;

use crate::call::CallId;
use crate::schema::Digest;

/// How the ids of all calls of clients begin.
pub(super) const CALLS: &str = "mcp-";

/// Who sends a request over HTTP, as whatever checks callers has found out.
///
/// What checks callers stands [around the server](super::McpServer::router), and puts this into the extensions of each
/// request that it lets through. A session, a form and a call that waits for an answer are then their caller's alone: to
/// anybody else they aren't there, whatever he has got hold of. Requests without it are all of one caller.
///
/// In the ledger it is a digest behind the `@` in the ids of its calls.
///
/// ```
/// use axum::extract::Request;
/// use axum::http::StatusCode;
/// use axum::middleware::{Next, from_fn};
/// use axum::response::Response;
/// use tool_runtime::mcp::{HttpOptions, McpCaller, McpServer};
///
/// async fn check(mut request: Request, next: Next) -> Result<Response, StatusCode> {
///     let caller = match request.headers().get("authorization").map(|header| header.as_bytes()) {
///         Some(b"Bearer of-ann") => McpCaller::new("ann"),
///         Some(b"Bearer of-bob") => McpCaller::new("bob"),
///         _ => return Err(StatusCode::UNAUTHORIZED),
///     };
///     request.extensions_mut().insert(caller);
///     Ok(next.run(request).await)
/// }
///
/// fn guarded(server: &McpServer) -> axum::Router {
///     server.router(&HttpOptions::new()).layer(from_fn(check))
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct McpCaller(String);

impl McpCaller {
    /// The name stands for one caller, and doesn't change: it is no secret.
    pub fn new(name: impl Into<String>) -> Self {
        McpCaller(name.into())
    }

    /// What the caller is called.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// What stands for it in the ids of its calls, and in the seals of what it is given.
    pub(super) fn mark(&self) -> String {
        Digest::of_bytes(self.0.as_bytes()).to_string()[..32].to_owned()
    }

    /// The mark in the id of a call that a server of this crate has given.
    pub(super) fn mark_in(call_id: &CallId) -> Option<&str> {
        Some(call_id.as_str().strip_prefix(CALLS)?.split_once('@')?.1)
    }

    /// Whose request it is.
    pub(super) fn of(message: &Extensions) -> Option<&Self> {
        message.get::<http::request::Parts>()?.extensions.get()
    }
}
