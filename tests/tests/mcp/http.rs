//! The same over HTTP.

use axum::http::{HeaderName, Method, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tool_runtime::mcp::{HttpOptions, McpServer};

use crate::listing::modern;
use crate::sessions::{Client, ask, call as call_of_older, hello, request};
use crate::support::{SOON, server, text};

/// Where a server listens.
pub(crate) async fn listen(server: McpServer, options: HttpOptions) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    tokio::spawn(async move { server.serve_http(listener, options).await });
    address
}

/// A request as it is written, and the status and the message that answer it.
async fn post(address: &str, headers: &[(&str, &str)], body: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let mut request = format!(
        "POST /mcp HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
        body.len()
    );
    if !headers.iter().any(|(name, _)| *name == "Host") {
        request.push_str(&format!("Host: {address}\r\n"));
    }
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str("\r\n");
    request.push_str(body);
    stream.write_all(request.as_bytes()).await.expect("a request");
    let mut response = String::new();
    tokio::time::timeout(SOON, stream.read_to_string(&mut response)).await.expect("in time").expect("a response");
    let status = response.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    // Of a stream of events, or of a body with a single message.
    let messages = response.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    let message = messages.filter_map(|line| serde_json::from_str::<Value>(line).ok()).rfind(Value::is_object);
    (status, message.unwrap_or_default())
}

/// The headers that go with a call of 2026-07-28.
const CALL: [(&str, &str); 2] = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call")];

async fn call(address: &str, id: u32, name: &str, arguments: &str) -> (u16, Value) {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","arguments":{arguments},"_meta":{}}}}}"#,
        modern()
    );
    post(address, &[CALL[0], CALL[1], ("Mcp-Name", name)], &body).await
}

#[tokio::test]
async fn i03_every_request_is_answered_once() {
    let address = listen(server(), HttpOptions::new()).await;
    let deep = format!(r#"{{"text":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
    for (name, arguments) in [
        ("echo", deep.as_str()),
        ("add", r#"{"a":1e400,"b":1}"#),
        ("echo", r#"{"text":"\ud800"}"#),
        ("add", "[1]"),
        ("add", r#""{\"a\":1,\"b\":""#),
        ("add", r#"{"a":1,"a":2,"b":3}"#),
    ] {
        let (status, answer) = call(&address, 1, name, arguments).await;
        assert_eq!((status, &answer["id"]), (200, &json!(1)), "{arguments}: {answer}");
        assert_eq!(answer["result"]["isError"], true, "{arguments}: {answer}");
    }
    let (status, answer) = call(&address, 2, "add", r#"{"a":2,"b":40}"#).await;
    assert_eq!((status, &answer["result"]["structuredContent"]), (200, &json!({"sum": 42})), "{answer}");
    let (status, answer) = post(&address, &CALL, r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"#).await;
    assert_eq!((status, &answer["id"], &answer["error"]["code"]), (400, &json!(4), &json!(-32700)));
    let options = HttpOptions::new().largest(1_000);
    let address = listen(server(), options).await;
    let (status, answer) = call(&address, 5, "echo", &format!(r#"{{"text":"{}"}}"#, "x".repeat(2_000))).await;
    assert_eq!((status, &answer["error"]["code"]), (413, &json!(-32600)));
}

#[tokio::test]
async fn only_known_hosts_and_pages_may_call() {
    let address = listen(server(), HttpOptions::new()).await;
    let port = address.rsplit(':').next().expect("a port").to_owned();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": modern()}}).to_string();
    let list = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list")];
    for (header, value, taken) in [
        ("Host", format!("localhost:{port}"), true),
        ("Host", format!("[::1]:{port}"), true),
        ("Host", format!("evil.example:{port}"), false),
        ("Host", format!("127.0.0.1.evil.example:{port}"), false),
        ("Origin", format!("http://localhost:{port}"), true),
        ("Origin", "http://127.0.0.1:6274".to_owned(), true),
        ("Origin", "http://evil.example".to_owned(), false),
        ("Origin", "null".to_owned(), false),
    ] {
        let (status, answer) = post(&address, &[list[0], list[1], (header, &value)], &body).await;
        assert_eq!(status == 200, taken, "{header}: {value}: {status} {answer}");
        assert_eq!(answer["result"]["tools"].is_array(), taken, "{header}: {value}: {answer}");
    }
    // An empty list is none.
    let none = listen(server(), HttpOptions::new().hosts(Vec::<String>::new()).origins(Vec::<String>::new())).await;
    assert_ne!(post(&none, &list, &body).await.0, 200);
}

/// By every method, and before anything is done: a page elsewhere whose name leads here is refused.
#[tokio::test]
async fn only_known_hosts_and_pages_may_do_anything() {
    let router = server().router(&HttpOptions::new());
    let client = Client::begin(&router, &json!({})).await;
    let echo = call_of_older(1, "echo", &json!({"text": "a"}));
    let hello = hello(&json!({}));
    let refused = async |header: &str, value: &str| {
        for (method, session, body) in [
            (Method::POST, None, hello.as_str()),
            (Method::POST, Some(client.session.as_str()), echo.as_str()),
            (Method::GET, Some(client.session.as_str()), ""),
            (Method::DELETE, Some(client.session.as_str()), ""),
        ] {
            let mut request = request(method.clone(), session, body.to_owned());
            request
                .headers_mut()
                .insert(HeaderName::from_bytes(header.as_bytes()).expect("a name"), value.parse().expect("a value"));
            let status = ask(&router, request).await.status();
            assert_eq!(status, StatusCode::FORBIDDEN, "{method} with {header}: {value}");
        }
    };
    for origin in [
        "null",
        "http://evil.example",
        "http://localhost.evil.example",
        "http://localhost.",
        "http://evil.example:80",
        "http://127.0.0.1.nip.io",
        "http://[::2]",
        "https://localhost",
        "file://localhost",
        "chrome-extension://abc",
        "http://evil.example/http://localhost",
        "localhost",
        "*",
        "",
    ] {
        refused("origin", origin).await;
    }
    for host in ["evil.example", "localhost.evil.example", "127.0.0.2", "localhost@evil.example", "0.0.0.0", "[::]:80"]
    {
        refused("host", host).await;
    }
    // And the session is still there.
    assert_eq!(text(&client.send(echo.clone()).await.one().await), "a");
}

#[tokio::test]
async fn a_client_reaches_a_server_at_a_url() {
    let address = listen(server(), HttpOptions::new()).await;
    let client = tool_runtime::mcp::McpClient::http("far", format!("http://{address}/mcp"))
        .header("authorization", "Bearer x")
        .build()
        .expect("a client");
    let mut registry = tool_runtime::Registry::builder();
    for tool in client.tools().await.expect("tools") {
        registry = registry.tool(tool.host_tool().expect("a tool"));
    }
    let harness = tool_runtime::Harness::new(registry.build().expect("a registry"), tool_runtime::AllowAll);
    let calls =
        (0..20).map(|n| tool_runtime::ToolCall::new(n.to_string(), "far__add", format!(r#"{{"a":{n},"b":1}}"#)));
    for (n, settled) in harness.run_settled(calls, None).await.iter().enumerate() {
        assert_eq!(settled.value(), Some(format!(r#"{{"sum":{}}}"#, n + 1).as_str()), "{settled:?}");
    }
    client.close().await;
}
