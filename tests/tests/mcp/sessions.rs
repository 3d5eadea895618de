//! Sessions over HTTP, without a network: what a client may do to its own, and to those of others.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Method, Request, Response, StatusCode};
use futures_util::{Stream, StreamExt};
use serde_json::{Value, json};
use tool_runtime::mcp::{HttpOptions, McpCaller, McpServer};
use tool_runtime::{CallFacts, CaseState, Decision, FileLedger, Ledger, LedgerKey, Query};
use tower::ServiceExt;

use crate::listing::modern;
use crate::support::{SOON, harness, server, text};

/// A client at a router.
pub(crate) struct Client {
    router: Router,
    pub(crate) session: String,
}

/// The messages of a response, as they come.
pub(crate) struct Messages {
    pub(crate) status: StatusCode,
    body: Pin<Box<dyn Stream<Item = Result<Bytes, axum::Error>> + Send>>,
    text: String,
}

impl Messages {
    pub(crate) fn of(response: Response<Body>) -> Self {
        let status = response.status();
        Messages { status, body: Box::pin(response.into_body().into_data_stream()), text: String::new() }
    }

    /// The next one. `None`: none comes any more.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            while let Some((line, rest)) = self.text.split_once('\n') {
                let message = line.strip_prefix("data:").and_then(|data| serde_json::from_str(data).ok());
                self.text = rest.to_owned();
                if let Some(message) = message {
                    return Some(message);
                }
            }
            self.text.push_str(std::str::from_utf8(&self.body.next().await?.expect("a body")).expect("text"));
        }
    }

    /// Of a body that is one message.
    async fn whole(self) -> Value {
        let parts: Vec<_> = self.body.map(|part| part.expect("a body").to_vec()).collect().await;
        serde_json::from_slice(&parts.concat()).expect("JSON")
    }

    pub(crate) async fn one(mut self) -> Value {
        tokio::time::timeout(SOON, self.next()).await.expect("in time").expect("a message")
    }
}

/// A request as a client of before 2026-07-28 sends it.
pub(crate) fn request(method: Method, session: Option<&str>, body: impl Into<Body>) -> Request<Body> {
    let mut request = Request::builder()
        .method(method)
        .uri("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    request.body(body.into()).expect("a request")
}

pub(crate) async fn ask(router: &Router, request: Request<Body>) -> Response<Body> {
    let asked = router.clone().oneshot(request);
    tokio::time::timeout(SOON, asked).await.expect("in time").expect("a response")
}

pub(crate) fn hello(capabilities: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": capabilities,
        "clientInfo": {"name": "raw", "version": "1"},
    }})
    .to_string()
}

pub(crate) fn call(id: u32, name: &str, arguments: &Value) -> String {
    let params = json!({"name": name, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

impl Client {
    pub(crate) async fn begin(router: &Router, capabilities: &Value) -> Self {
        let response = ask(router, request(Method::POST, None, hello(capabilities))).await;
        assert_eq!(response.status(), StatusCode::OK);
        let session = response.headers()["mcp-session-id"].to_str().expect("text").to_owned();
        assert_eq!(Messages::of(response).one().await["result"]["protocolVersion"], "2025-11-25");
        Client { router: router.clone(), session }
    }

    pub(crate) async fn send(&self, body: String) -> Messages {
        Messages::of(ask(&self.router, request(Method::POST, Some(&self.session), body)).await)
    }
}

#[tokio::test]
async fn i03_two_requests_of_one_id_in_a_session_are_not_both_taken() {
    let client = Client::begin(&server().router(&HttpOptions::new()), &json!({})).await;
    let mut first = client.send(call(7, "forever", &json!({}))).await;
    let second = client.send(call(7, "echo", &json!({"text": "again"}))).await.one().await;
    assert_eq!((&second["id"], &second["error"]["code"]), (&json!(7), &json!(-32600)), "{second}");
    // Nor is one whose first was cancelled: its result would be taken for that of the second.
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    assert_eq!(client.send(cancel.to_string()).await.status, StatusCode::ACCEPTED);
    assert_eq!(tokio::time::timeout(SOON, first.next()).await.expect("an end in time"), None);
    let third = client.send(call(7, "echo", &json!({"text": "again"}))).await.one().await;
    assert_eq!(third["error"]["code"], -32600, "{third}");
    // What was answered is over, and its id may be used again.
    for _ in 0..2 {
        assert_eq!(text(&client.send(call(8, "echo", &json!({"text": "on"}))).await.one().await), "on");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_lasts_while_a_person_thinks_and_ends_when_nobody_uses_it() {
    let asks = |_: &CallFacts<'_>| Decision::ask("somebody has to know");
    let server = McpServer::builder(harness(asks)).ask_within(Duration::from_secs(1_800)).build().expect("a server");
    let client = Client::begin(&server.router(&HttpOptions::new()), &json!({"elicitation": {}})).await;
    let mut called = client.send(call(1, "wipe", &json!({"name": "a"}))).await;
    let asked = called.next().await.expect("a question");
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    tokio::time::sleep(Duration::from_secs(1_200)).await;
    let yes =
        json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {"go_ahead": true}}});
    assert_eq!(client.send(yes.to_string()).await.status, StatusCode::ACCEPTED);
    assert_eq!(text(&called.one().await), "a is gone");
    tokio::time::sleep(Duration::from_secs(240)).await;
    assert_eq!(client.send(call(2, "no", &json!({}))).await.status, StatusCode::OK);
    tokio::time::sleep(Duration::from_secs(400)).await;
    assert_eq!(client.send(call(3, "no", &json!({}))).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn there_are_no_more_sessions_than_there_may_be() {
    let router = server().router(&HttpOptions::new().sessions(2));
    let first = Client::begin(&router, &json!({})).await;
    let _second = Client::begin(&router, &json!({})).await;
    let third = ask(&router, request(Method::POST, None, hello(&json!({})))).await;
    assert_eq!(third.status(), StatusCode::SERVICE_UNAVAILABLE);
    let seconds: u64 = third.headers()["retry-after"].to_str().expect("text").parse().expect("seconds");
    assert!((1..=301).contains(&seconds), "{seconds}");
    assert_eq!(Messages::of(third).whole().await["error"]["code"], -32603);
    let ended = ask(&router, request(Method::DELETE, Some(&first.session), "")).await;
    assert_eq!(ended.status(), StatusCode::ACCEPTED);
    let _third = Client::begin(&router, &json!({})).await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_never_ends_is_given_up() {
    let router = server().router(&HttpOptions::new());
    let begins = futures_util::stream::iter([Ok::<_, std::io::Error>(r#"{"jsonrpc":"2.0","#)]);
    let never = Body::from_stream(begins.chain(futures_util::stream::pending()));
    let answered = router.oneshot(request(Method::POST, None, never));
    let response =
        tokio::time::timeout(Duration::from_secs(300), answered).await.expect("in time").expect("a response");
    assert_eq!(response.status(), StatusCode::REQUEST_TIMEOUT);
}

/// As whatever checks callers would let it through.
fn by(caller: &str, mut request: Request<Body>) -> Request<Body> {
    request.extensions_mut().insert(McpCaller::new(caller));
    request
}

#[tokio::test]
async fn i09_a_session_is_its_callers_alone() {
    let router = server().router(&HttpOptions::new());
    let response = ask(&router, by("ann", request(Method::POST, None, hello(&json!({}))))).await;
    let session = response.headers()["mcp-session-id"].to_str().expect("text").to_owned();
    let session = Some(session.as_str());
    let echo = || call(1, "echo", &json!({"text": "a"}));
    for (method, body) in [(Method::POST, echo()), (Method::GET, String::new()), (Method::DELETE, String::new())] {
        let foreign = request(method.clone(), session, body.clone());
        assert_eq!(ask(&router, foreign).await.status(), StatusCode::NOT_FOUND, "nobody: {method}");
        let foreign = by("bob", request(method.clone(), session, body));
        assert_eq!(ask(&router, foreign).await.status(), StatusCode::NOT_FOUND, "bob: {method}");
    }
    let own = ask(&router, by("ann", request(Method::POST, session, echo()))).await;
    assert_eq!(text(&Messages::of(own).one().await), "a");
}

/// A call of a tool, as clients of 2026-07-28 send it.
pub(crate) fn of_modern(name: &str, body: &Value) -> Request<Body> {
    let mut request = request(Method::POST, None, body.to_string());
    for (header, value) in [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", name)] {
        request.headers_mut().insert(header, value.parse().expect("a header"));
    }
    request
}

/// A call of 2026-07-28, and its answer.
async fn modern_call(router: &Router, caller: Option<&str>, name: &str, more: &Value) -> Value {
    let mut params = json!({"name": name, "arguments": {"name": "a"}, "_meta": modern()});
    for (key, value) in more.as_object().expect("members") {
        params[key] = value.clone();
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let request = of_modern(name, &body);
    let request = caller.into_iter().fold(request, |request, caller| by(caller, request));
    let response = ask(router, request).await;
    let body = response.into_body().into_data_stream().map(|part| part.expect("a body").to_vec()).concat().await;
    let body = String::from_utf8(body).expect("text");
    let messages = body.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
    messages.filter_map(|line| serde_json::from_str::<Value>(line).ok()).next_back().expect("a message")
}

#[tokio::test]
async fn i09_what_waits_is_gone_on_with_by_its_caller_alone() {
    let asks = |_: &CallFacts<'_>| Decision::ask("somebody has to know");
    let file = std::env::temp_dir().join(format!("mcp-callers-{}.jsonl", std::process::id()));
    let key = LedgerKey::from_hex("tests", &"4b".repeat(32)).expect("a key");
    let ledger = Arc::new(FileLedger::open(&file, key).expect("a ledger"));
    let serve = || McpServer::builder(harness(asks).ledger(Arc::clone(&ledger))).build().expect("a server");
    let mut router = serve().router(&HttpOptions::new());
    let asked = modern_call(&router, Some("ann"), "wipe", &json!({})).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let approval = json!({"approval": {"action": "accept", "content": {"go_ahead": true}}});
    let yes = json!({"requestState": asked["result"]["requestState"], "inputResponses": approval});
    for _ in 0..2 {
        for foreign in [None, Some("bob"), Some("")] {
            let answer = modern_call(&router, foreign, "wipe", &yes).await;
            assert_eq!(answer["error"]["code"], -32602, "{foreign:?}: {answer}");
            // Nor is it, called alike, the call that waits: whoever calls is asked himself.
            let own = modern_call(&router, foreign, "wipe", &json!({})).await;
            assert_eq!(own["result"]["resultType"], "input_required", "{foreign:?}: {own}");
        }
        // After a restart, too.
        router = serve().router(&HttpOptions::new());
    }
    assert_eq!(text(&modern_call(&router, Some("ann"), "wipe", &yes).await), "a is gone");
    let history = ledger.history(Query::all()).await.expect("a history");
    let ended = history.cases().iter().filter(|case| matches!(case.state(), CaseState::Ended(_))).count();
    assert_eq!((history.cases().len(), ended), (4, 1));
    std::fs::remove_file(file).expect("a file");
}
