//! Servers as they shouldn't be.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, split};
use tokio_util::sync::CancellationToken;
use tool_runtime::mcp::{McpClient, McpClientBuilder, McpServer};

pub(crate) type Ends = (ReadHalf<DuplexStream>, WriteHalf<DuplexStream>);

/// A client of a server of this crate.
pub(crate) fn client_of(server: &McpServer) -> McpClientBuilder {
    let server = server.clone();
    McpClient::streams("own", move || {
        let server = server.clone();
        async move {
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            let (reader, writer) = split(theirs);
            tokio::spawn(async move { server.serve_stream(reader, writer, CancellationToken::new()).await });
            Ok(split(ours))
        }
    })
}

/// What a scripted server does with a request that isn't of the handshake.
pub(crate) enum Does {
    Answers(Value),
    Fails(Value),
    /// Notifications before the answer.
    Says(Vec<Value>, Value),
    /// Requests of its own, and no answer.
    Asks(Vec<Value>),
    Nothing,
    Dies,
}

/// What is done with a method and its parameters.
type Script = Arc<dyn Fn(&str, &Value) -> Does + Send + Sync>;

/// A server of 2025-11-25 that does as a script says.
#[derive(Clone)]
pub(crate) struct Scripted {
    script: Script,
    pub(crate) connections: Arc<AtomicUsize>,
    /// All that it was sent.
    pub(crate) heard: Arc<Mutex<Vec<Value>>>,
}

impl Scripted {
    pub(crate) fn new(script: impl Fn(&str, &Value) -> Does + Send + Sync + 'static) -> Self {
        Scripted { script: Arc::new(script), connections: Arc::default(), heard: Arc::default() }
    }

    /// One tool, and what a call of it does.
    pub(crate) fn with_tool(tool: Value, call: impl Fn(&Value) -> Does + Send + Sync + 'static) -> Self {
        Scripted::new(move |method, params| match method {
            "tools/list" => Does::Answers(json!({"tools": [tool]})),
            "tools/call" => call(params),
            _ => Does::Fails(json!({"code": -32601, "message": method})),
        })
    }

    pub(crate) fn client(&self) -> McpClientBuilder {
        let server = self.clone();
        McpClient::streams("bad", move || {
            server.connections.fetch_add(1, Ordering::SeqCst);
            let server = server.clone();
            async move { Ok::<Ends, io::Error>(server.connect()) }
        })
        .back_off(Duration::from_millis(1), Duration::from_millis(1))
    }

    fn connect(self) -> Ends {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (reader, mut writer) = split(theirs);
        tokio::spawn(async move {
            let mut lines = BufReader::new(reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).expect("JSON");
                self.heard.lock().expect("nobody panics").push(message.clone());
                let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) else { continue };
                let does = match method {
                    "server/discover" => Does::Fails(json!({"code": -32601, "message": "what?"})),
                    "initialize" => Does::Answers(json!({
                        "protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": true}},
                        "serverInfo": {"name": "bad", "version": "1"},
                    })),
                    _ => (self.script)(method, &message["params"]),
                };
                let mut out = Vec::new();
                match does {
                    Does::Answers(result) => out.push(json!({"jsonrpc": "2.0", "id": id, "result": result})),
                    Does::Fails(error) => out.push(json!({"jsonrpc": "2.0", "id": id, "error": error})),
                    Does::Says(said, result) => {
                        out.extend(said);
                        out.push(json!({"jsonrpc": "2.0", "id": id, "result": result}));
                    }
                    Does::Asks(asked) => out = asked,
                    Does::Nothing => {}
                    Does::Dies => return,
                }
                for message in out {
                    if writer.write_all(format!("{message}\n").as_bytes()).await.is_err() {
                        return;
                    }
                }
            }
        });
        split(ours)
    }

    /// How often it was sent a request of this method.
    pub(crate) fn count(&self, method: &str) -> usize {
        self.heard.lock().expect("nobody panics").iter().filter(|message| message["method"] == method).count()
    }
}

/// A tool without arguments.
pub(crate) fn plain(name: &str) -> Value {
    json!({"name": name, "description": "Does it.", "inputSchema": {"type": "object", "properties": {}}})
}

pub(crate) fn said(text: &str) -> Does {
    Does::Answers(json!({"content": [{"type": "text", "text": text}]}))
}
