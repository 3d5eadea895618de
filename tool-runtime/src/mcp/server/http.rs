//! The streamable HTTP transport: `rmcp`'s, behind a layer that takes arguments from the peer's own bytes.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use http::{Method, StatusCode, header};
use rmcp::model::ErrorCode;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::McpServer;
use super::caller::McpCaller;
use super::handler::Handler;
use super::sessions::{REFUSED, Sessions};
use crate::mcp::envelope::{Envelope, Received, Refusal};

/// How a server takes requests over HTTP.
///
/// Only requests for this machine's own names are taken, unless other hosts are listed, and from browsers only those of
/// pages that are listed: a page elsewhere whose name leads here can call nothing.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    hosts: Vec<String>,
    origins: Vec<String>,
    largest: usize,
    sessions: usize,
    stop: CancellationToken,
}

impl Default for HttpOptions {
    fn default() -> Self {
        let here = ["localhost", "127.0.0.1", "[::1]"];
        HttpOptions {
            hosts: ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec(),
            origins: here.iter().map(|host| format!("http://{host}:*")).collect(),
            largest: 4 * 1024 * 1024,
            sessions: 4_096,
            stop: CancellationToken::new(),
        }
    }
}

impl HttpOptions {
    /// This machine's own names, and pages of this machine.
    pub fn new() -> Self {
        HttpOptions::default()
    }

    /// Sets for which hosts requests are taken, such as `tools.example.com` or `tools.example.com:8443`.
    #[must_use]
    pub fn hosts<S: Into<String>>(mut self, hosts: impl IntoIterator<Item = S>) -> Self {
        self.hosts = hosts.into_iter().map(Into::into).collect();
        self
    }

    /// Sets from which pages browsers may send requests, such as `https://app.example.com:443`; `*` in the place of the
    /// port is any.
    #[must_use]
    pub fn origins<S: Into<String>>(mut self, origins: impl IntoIterator<Item = S>) -> Self {
        self.origins = origins.into_iter().map(Into::into).collect();
        self
    }

    /// Sets how many bytes a request may have: 4 MiB, unless it is set.
    #[must_use]
    pub fn largest(mut self, bytes: usize) -> Self {
        self.largest = bytes;
        self
    }

    /// Sets how many clients of before 2026-07-28 may have a session at a time: 4,096, unless it is set. One that
    /// nobody uses ends after five minutes. Beyond that a client is told (503) when to try again. Newer clients have
    /// none.
    #[must_use]
    pub fn sessions(mut self, most: usize) -> Self {
        self.sessions = most;
        self
    }

    /// Ends all connections when `stop` is cancelled.
    #[must_use]
    pub fn stopped_by(mut self, stop: CancellationToken) -> Self {
        self.stop = stop;
        self
    }
}

/// How long the body of a request may take to come.
const BODY: Duration = Duration::from_secs(30);

/// The header that says of which session a request is.
const SESSION: &str = "mcp-session-id";

/// What a request is answered by.
#[derive(Clone)]
struct Endpoint {
    service: StreamableHttpService<Handler, Sessions>,
    sessions: Sessions,
    largest: usize,
}

impl McpServer {
    /// The server as a part of an `axum` application, at `/mcp`.
    ///
    /// A client of before 2026-07-28 that doesn't read a stream keeps none of its other requests waiting: beyond 64
    /// messages that it hasn't read, reports of progress are left out, and at 128 the stream is cut.
    ///
    /// Who may call is not asked here: put what you check callers by around it, and let it say [who they are](McpCaller).
    pub fn router(&self, options: &HttpOptions) -> Router {
        let mut config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(options.hosts.clone())
            .with_allowed_origins(options.origins.clone())
            .enforce_origin_validation()
            .with_max_request_body_bytes(options.largest)
            .with_cancellation_token(options.stop.clone());
        if options.hosts.is_empty() {
            // An empty list is none, and not all there are.
            config.allowed_hosts = vec!["none.invalid".to_owned()];
        }
        let server = self.clone();
        let sessions = Sessions::new(options.sessions);
        let service =
            StreamableHttpService::new(move || Ok(Handler::new(server.clone())), Arc::new(sessions.clone()), config);
        let endpoint = Endpoint { service, sessions, largest: options.largest };
        Router::new().route("/mcp", axum::routing::any(answer)).with_state(endpoint)
    }

    /// Serves clients that connect to `listener`, at the path `/mcp`, until the options' `stop` is cancelled.
    ///
    /// # Errors
    /// If connections can't be taken any more.
    pub async fn serve_http(&self, listener: TcpListener, options: HttpOptions) -> io::Result<()> {
        let stop = options.stop.clone();
        let router = self.router(&options);
        axum::serve(listener, router).with_graceful_shutdown(async move { stop.cancelled().await }).await
    }
}

async fn answer(State(endpoint): State<Endpoint>, request: Request) -> Response {
    let caller = request.extensions().get::<McpCaller>();
    let session = request.headers().get(SESSION).and_then(|session| session.to_str().ok());
    if session.is_some_and(|session| endpoint.sessions.is_foreign(session, caller)) {
        // What one is told of a session that there isn't.
        let message = "there is no such session".to_owned();
        let refusal = Refusal { id: None, code: ErrorCode::INVALID_REQUEST, message };
        return *refused(StatusCode::NOT_FOUND, &refusal);
    }
    let request = match prepared(request, endpoint.largest).await {
        Ok(request) => request,
        Err(response) => return *response,
    };
    let answered = REFUSED.scope(AtomicBool::new(false), async {
        let response = endpoint.service.handle(request).await.map(Body::new);
        (response, REFUSED.with(|refused| refused.load(Ordering::Relaxed)))
    });
    match answered.await {
        (response, false) => response,
        (_, true) => full(endpoint.sessions.room_in()),
    }
}

/// There are as many sessions as there may be.
fn full(room_in: Duration) -> Response {
    let message = "too many sessions are open".to_owned();
    let refusal = Refusal { id: None, code: ErrorCode::INTERNAL_ERROR, message };
    let mut response = *refused(StatusCode::SERVICE_UNAVAILABLE, &refusal);
    let seconds = room_in.as_secs().saturating_add(1);
    response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    response
}

/// Takes the arguments out of a message, and keeps them beside it as they stand.
async fn prepared(request: Request, largest: usize) -> Result<Request, Box<Response>> {
    if request.method() != Method::POST {
        return Ok(request);
    }
    let (mut parts, body) = request.into_parts();
    let not_whole =
        |status, message| Err(refused(status, &Refusal { id: None, code: ErrorCode::INVALID_REQUEST, message }));
    let bytes = match tokio::time::timeout(BODY, to_bytes(body, largest)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(_)) => {
            let message = format!("a request may have {largest} bytes, and has to come to its end");
            return not_whole(StatusCode::PAYLOAD_TOO_LARGE, message);
        }
        Err(_) => {
            let message = format!("a request has to come within {} s", BODY.as_secs());
            return not_whole(StatusCode::REQUEST_TIMEOUT, message);
        }
    };
    // Headers may repeat arguments, and are compared with those of the message: they stay in it as far as they can be read.
    let envelope = match Envelope::open(&bytes) {
        Ok(envelope) => envelope,
        Err(refusal) => return Err(refused(StatusCode::BAD_REQUEST, &refusal)),
    };
    if let Received::Refused(refusal) = envelope.read() {
        return Err(refused(StatusCode::BAD_REQUEST, &refusal));
    }
    if let Some(arguments) = envelope.arguments() {
        parts.extensions.insert(arguments);
    }
    parts.headers.remove(header::CONTENT_LENGTH);
    let body = match envelope.for_rmcp(true) {
        // It is as it came.
        Cow::Borrowed(_) => Body::from(bytes),
        Cow::Owned(text) => Body::from(text),
    };
    Ok(Request::from_parts(parts, body))
}

fn refused(status: StatusCode, refusal: &Refusal) -> Box<Response> {
    let mut response = Response::new(Body::from(refusal.to_json()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    Box::new(response)
}
