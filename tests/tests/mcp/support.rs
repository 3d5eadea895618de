//! Tools that are served, and peers that write what they like.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio_util::sync::CancellationToken;
use tool_runtime::mcp::McpServer;
use tool_runtime::{
    AllowAll, Block, CallContext, Content, DynamicTool, Harness, HostTool, Policy, Registry, tool, tool_type,
};

/// The sum.
#[tool_type]
pub(crate) struct Sum {
    /// What comes out.
    pub sum: i64,
}

/// Adds two integers.
#[tool(host(inline, read_only, idempotent))]
pub(crate) fn add(
    /// The first.
    a: i64,
    /// The second.
    b: i64,
) -> Sum {
    Sum { sum: a + b }
}

/// Says the text again.
#[tool(host(inline))]
pub(crate) fn echo(
    /// What to say.
    text: String,
) -> String {
    text
}

/// Deletes a file, for good.
#[tool(host(inline, destructive))]
pub(crate) fn wipe(
    /// Which.
    name: String,
) -> String {
    format!("{name} is gone")
}

/// Fails.
#[tool(host(inline))]
pub(crate) fn fail() -> Result<String, String> {
    Err("it was not to be".to_owned())
}

/// Panics.
#[tool(host(inline))]
pub(crate) fn explode() -> String {
    panic!("the secret is 4711")
}

/// Goes on until it is stopped.
#[tool(host(concurrency_safe))]
pub(crate) async fn forever(#[host] cx: &CallContext) -> String {
    cx.token().cancelled().await;
    "stopped".to_owned()
}

/// Counts up to a number, and says so.
#[tool(host(concurrency_safe))]
pub(crate) async fn count(
    /// How far.
    to: u32,
    #[host] cx: &CallContext,
) -> u32 {
    for step in 1..=to {
        cx.progress(&format!("step {step}"), f64::from(step) / f64::from(to));
        tokio::task::yield_now().await;
    }
    to
}

/// A tool whose output is no object, and one whose body gives blocks of all kinds.
pub(crate) fn picture() -> HostTool {
    DynamicTool::builder("picture", "Shows a dot.")
        .output("true")
        .run_shown(|_, _| async {
            let embedded = json!({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}).to_string();
            let content = Content::blocks([
                Block::Text("a dot".into()),
                Block::Image { media_type: "image/png".into(), base64: "iVBORw0KGgo=".into() },
                Block::Embedded { text: "[a sound]".into(), json: embedded.into() },
            ]);
            Ok(tool_runtime::DynamicOutput::new("null").shown_as(content))
        })
        .expect("a tool")
}

pub(crate) fn registry() -> Registry {
    Registry::builder()
        .tool(AddTool::host())
        .tool(EchoTool::host())
        .tool(WipeTool::host())
        .tool(FailTool::host())
        .tool(ExplodeTool::host())
        .tool(ForeverTool::host())
        .tool(CountTool::host())
        .tool(picture())
        .build()
        .expect("a registry")
}

pub(crate) fn harness(policy: impl Policy + 'static) -> Harness {
    Harness::new(registry(), policy)
}

pub(crate) fn server() -> McpServer {
    McpServer::builder(harness(AllowAll)).name("tests").version("1").build().expect("a server")
}

/// How long a test waits for what has to come.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// A client that writes lines as it likes and reads what comes.
pub(crate) struct RawClient {
    writer: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl RawClient {
    pub(crate) fn connect(server: &McpServer) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(theirs);
        let server = server.clone();
        tokio::spawn(async move {
            server.serve_stream(reader, writer, CancellationToken::new()).await.expect("a connection");
        });
        let (reader, writer) = tokio::io::split(ours);
        RawClient { writer, lines: BufReader::new(reader).lines() }
    }

    /// Connects, and shakes hands as clients of 2025-11-25 do.
    pub(crate) async fn legacy(server: &McpServer) -> Self {
        let mut client = RawClient::connect(server);
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        }});
        client.send(&hello.to_string()).await;
        assert_eq!(client.next().await["result"]["protocolVersion"], "2025-11-25");
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        client
    }

    pub(crate) async fn send(&mut self, line: &str) {
        self.send_bytes(line.as_bytes()).await;
    }

    pub(crate) async fn send_bytes(&mut self, line: &[u8]) {
        self.writer.write_all(line).await.expect("a line");
        self.writer.write_all(b"\n").await.expect("its end");
    }

    pub(crate) async fn call(&mut self, id: u32, name: &str, arguments: &str) {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
        );
        self.send(&line).await;
    }

    pub(crate) async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(SOON, self.lines.next_line()).await.expect("a line in time");
        serde_json::from_str(&line.expect("a stream").expect("a line")).expect("JSON")
    }

    /// Nothing more is to come.
    pub(crate) async fn end(mut self) {
        self.writer.shutdown().await.expect("an end");
        let rest = tokio::time::timeout(SOON, self.lines.next_line()).await.expect("an end in time");
        assert_eq!(rest.expect("a stream"), None);
    }
}

/// The text of a result.
pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}
