//! Servers at a URL as they shouldn't be.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tool_runtime::mcp::{McpClient, McpClientBuilder};
use tool_runtime::{AllowAll, Code};

use crate::client::{harness, is, run};
use crate::servers::plain;

/// A server of 2025-11-25 with one tool, which answers calls as it is told to.
#[derive(Clone)]
struct Far {
    address: String,
    /// What it is now: sessions of what it was before are unknown to it.
    now: Arc<AtomicUsize>,
    /// How many calls have come, whatever became of them.
    calls: Arc<AtomicUsize>,
    /// What comes for a call, in these pieces.
    answer: Arc<Mutex<Answer>>,
}

#[derive(Clone, Default)]
struct Answer {
    pieces: Vec<Vec<u8>>,
    /// The last one comes again and again.
    without_end: bool,
}

impl Far {
    async fn begin() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let far = Far { address, now: Arc::default(), calls: Arc::default(), answer: Arc::default() };
        let router = Router::new().route("/mcp", axum::routing::any(answer)).with_state(far.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        far
    }

    fn client(&self) -> McpClientBuilder {
        let nothing = Duration::from_millis(1);
        McpClient::http("far", format!("http://{}/mcp", self.address)).back_off(nothing, nothing)
    }

    fn answers(&self, pieces: &[&[u8]], without_end: bool) {
        let pieces = pieces.iter().map(|piece| piece.to_vec()).collect();
        *self.answer.lock().expect("nobody panics") = Answer { pieces, without_end };
    }
}

async fn answer(State(far): State<Far>, request: Request) -> Response {
    let status = |status: StatusCode| Response::builder().status(status).body(Body::empty()).expect("a response");
    if request.method() != Method::POST {
        return status(StatusCode::METHOD_NOT_ALLOWED);
    }
    let session = far.now.load(Ordering::SeqCst).to_string();
    let given = request.headers().get("mcp-session-id").and_then(|given| given.to_str().ok()).map(str::to_owned);
    let body = to_bytes(request.into_body(), 1 << 20).await.expect("a body");
    let message: Value = serde_json::from_slice(&body).expect("JSON");
    let method = message["method"].as_str().unwrap_or_default();
    far.calls.fetch_add(usize::from(method == "tools/call"), Ordering::SeqCst);
    if given.is_some_and(|given| given != session) {
        return status(StatusCode::NOT_FOUND);
    }
    let result = match method {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "far", "version": "1"},
        }),
        "tools/list" => {
            let mut tool = plain("read");
            tool["description"] = json!(format!("Reads. This is what it was made to be in version {session}."));
            json!({"tools": [tool]})
        }
        "tools/call" => {
            let Answer { pieces, without_end } = far.answer.lock().expect("nobody panics").clone();
            let last = pieces.last().cloned().filter(|_| without_end);
            let id = message["id"].to_string();
            let with_id = move |piece: Vec<u8>| match std::str::from_utf8(&piece) {
                Ok(text) => text.replace("ID", &id).into_bytes(),
                Err(_) => piece,
            };
            // A pause between them, so that they come one by one.
            let pieces = stream::iter(pieces).chain(stream::iter(last).cycle()).then(move |piece| {
                let piece = Ok::<_, std::io::Error>(Bytes::from(with_id(piece)));
                async move {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    piece
                }
            });
            let response = Response::builder().header("content-type", "text/event-stream");
            return response.body(Body::from_stream(pieces)).expect("a response");
        }
        _ if message["id"].is_null() => return status(StatusCode::ACCEPTED),
        _ => {
            let error = json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "what?"}});
            let response = Response::builder().status(404).header("content-type", "application/json");
            return response.body(Body::from(error.to_string())).expect("a response");
        }
    };
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    let response = Response::builder().header("content-type", "application/json").header("mcp-session-id", session);
    response.body(Body::from(answer.to_string())).expect("a response")
}

/// A session that a server doesn't know any more may be that of another server by now: what is called there is looked at
/// first, and a call that it may have run isn't sent again.
#[tokio::test]
async fn a_call_in_a_session_that_is_gone_is_not_sent_again_and_its_tool_is_looked_at_anew() {
    let far = Far::begin().await;
    far.answers(
        &[br#"data: {"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"read"}]}}"#, b"\n\n"],
        false,
    );
    let client = far.client().build().expect("a client");
    let harness = harness(&client, AllowAll).await;
    is(&run(&harness, "far__read", "").await, Code::Ok, "read");
    far.now.fetch_add(1, Ordering::SeqCst);
    is(&run(&harness, "far__read", "").await, Code::ToolError, "The call may have had its effects.");
    assert_eq!(far.calls.load(Ordering::SeqCst), 2);
    is(&run(&harness, "far__read", "").await, Code::ToolError, "has changed its definition");
    assert_eq!(far.calls.load(Ordering::SeqCst), 2);
    far.now.fetch_sub(1, Ordering::SeqCst);
    client.close().await;
    is(&run(&harness, "far__read", "").await, Code::Ok, "read");
    client.close().await;
}

#[tokio::test]
async fn events_are_read_however_they_are_cut() {
    let far = Far::begin().await;
    let client = far.client().build().expect("a client");
    let harness = harness(&client, AllowAll).await;
    let result = r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"ü🍸"}]}}"#;
    let (head, tail) = result.split_at(result.find('🍸').expect("it"));
    let (half, rest) = tail.as_bytes().split_at(2);
    let (first, second) = result.split_once(",\"result").expect("it");
    let data = |end: &str| format!("data: {result}{end}{end}").into_bytes();
    let cases: Vec<Vec<Vec<u8>>> = vec![
        vec![data("\n")],
        vec![data("\r\n")],
        vec![data("\r")],
        vec![format!("\u{feff}data:{result}\n\n").into_bytes()],
        vec![format!(":\n: beats\n\nevent: message\nid: 7\nretry: 1\ndata: {result}\n\n").into_bytes()],
        vec![format!("id: 1\ndata:\n\nid: 2\ndata: {first}\ndata: ,\"result{second}\n\n").into_bytes()],
        // A character in two pieces, and an end of a line.
        vec![
            format!("data: {head}").into_bytes(),
            half.to_vec(),
            rest.to_vec(),
            b"\r".to_vec(),
            b"\n\r".to_vec(),
            b"\n".to_vec(),
        ],
        // What is no message passes.
        vec![b"data: nonsense\n\nevent: ping\ndata: {}\n\n".to_vec(), data("\n")],
    ];
    for case in cases {
        far.answers(&case.iter().map(Vec::as_slice).collect::<Vec<_>>(), false);
        is(&run(&harness, "far__read", "").await, Code::Ok, "ü🍸");
    }
    client.close().await;
}

#[tokio::test]
async fn a_stream_that_is_none_costs_a_call_its_result_and_no_more() {
    let far = Far::begin().await;
    let client = far.client().call_timeout(Duration::from_secs(2)).build().expect("a client");
    let harness = harness(&client, AllowAll).await;
    let endless = vec![b'x'; 1 << 20];
    let deep = format!(
        "data: {{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{{\"content\":[],\"structuredContent\":{}{}}}}}\n\n",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let cases: [(&[&[u8]], bool); 8] = [
        (&[], false),
        (&[b"data: {\"jsonrpc\":"], false),
        (&[b"data: \xff\xfe\n\n"], false),
        (&[b"data: {\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n\n"], false),
        (&[deep.as_bytes()], false),
        // A line without an end, events without one, and comments.
        (&[b"data: ", &endless], true),
        (&[b"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n\n"], true),
        (&[b": nothing\n\n"], true),
    ];
    for (pieces, without_end) in cases {
        far.answers(pieces, without_end);
        let began = pieces.first().map(|piece| String::from_utf8_lossy(&piece[..piece.len().min(40)]).into_owned());
        let code = run(&harness, "far__read", "").await.record().code();
        assert!(matches!(code, Code::ToolError | Code::Timeout), "{began:?}: {code:?}");
        far.answers(
            &[br#"data: {"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"on"}]}}"#, b"\n\n"],
            false,
        );
        is(&run(&harness, "far__read", "").await, Code::Ok, "on");
    }
    client.close().await;
}
