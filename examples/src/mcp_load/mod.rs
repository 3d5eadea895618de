//! A thousand calls at a time over HTTP, and what they leave behind.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// How many rounds there are.
const ROUNDS: u64 = 5;

/// How many sessions share the calls, where there are sessions.
const SESSIONS: usize = 10;

/// Which revision of the protocol is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revision {
    /// With sessions.
    Of2025,
    /// Every request on its own.
    Of2026,
}

impl Revision {
    /// By its date.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "2025-11-25" => Some(Revision::Of2025),
            "2026-07-28" => Some(Revision::Of2026),
            _ => None,
        }
    }
}

/// What a response came to.
struct Response {
    status: u16,
    session: Option<String>,
    messages: Vec<Value>,
}

/// Sends one request, once everybody is connected, and reads all of the response.
async fn post(address: &str, headers: &[(&str, &str)], body: &Value, all: Option<&Barrier>) -> Outcome<Response> {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).await?;
    if let Some(all) = all {
        all.wait().await;
    }
    let mut request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str("\r\n");
    request.push_str(&body);
    stream.write_all(request.as_bytes()).await?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await?;
    read(&bytes).ok_or_else(|| format!("no response: {}", String::from_utf8_lossy(&bytes)).into())
}

/// A response that has come to its end.
fn read(bytes: &[u8]) -> Option<Response> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let header = |wanted: &str| {
        let mut headers = head.lines().skip(1).filter_map(|line| line.split_once(':'));
        headers.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim())
    };
    let rest = &bytes[end + 4..];
    let body = match header("transfer-encoding") {
        Some("chunked") => joined(rest)?,
        _ => rest.to_vec(),
    };
    let text = String::from_utf8(body).ok()?;
    // Of a stream of events, or of a body with a single message.
    let lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
    let messages = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok()).filter(Value::is_object).collect();
    Some(Response { status, session: header("mcp-session-id").map(str::to_owned), messages })
}

/// The chunks of a body, put together.
fn joined(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n")?;
        let length = std::str::from_utf8(&rest[..end]).ok()?.split(';').next()?;
        let length = usize::from_str_radix(length.trim(), 16).ok()?;
        rest = &rest[end + 2..];
        if length == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(..length)?);
        rest = rest.get(length + 2..)?;
    }
}

/// What is called: it takes so long that all calls are under way at a time, and so hold what they hold together.
const NAME: (&str, &str) = ("Mcp-Name", "add_later");

/// How long that is, in milliseconds.
const TAKES: u32 = 1_500;

/// Shakes hands. Gives the session.
async fn session(address: &str) -> Outcome<String> {
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "mcp_load", "version": "1"},
    }});
    let session = post(address, &[], &hello, None).await?.session.ok_or("no session")?;
    let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
    post(address, &headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), None).await?;
    Ok(session)
}

/// Ends a session.
async fn end(address: &str, session: &str) -> Outcome {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!(
        "DELETE /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nMcp-Session-Id: {session}\r\n\
         MCP-Protocol-Version: 2025-11-25\r\nContent-Length: 0\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await?;
    Ok(())
}

/// One call, which has to be answered once, with its own sum.
async fn call(address: Arc<str>, session: Option<Arc<str>>, a: u64, b: u64, all: Arc<Barrier>) -> Outcome {
    let mut params = json!({"name": NAME.1, "arguments": {"a": a, "b": b, "ms": TAKES}});
    let response = match &session {
        Some(session) => {
            let body = json!({"jsonrpc": "2.0", "id": a, "method": "tools/call", "params": params});
            let headers = [("Mcp-Session-Id", &**session), ("MCP-Protocol-Version", "2025-11-25")];
            post(&address, &headers, &body, Some(&all)).await?
        }
        None => {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "mcp_load", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let body = json!({"jsonrpc": "2.0", "id": a, "method": "tools/call", "params": params});
            let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), NAME];
            post(&address, &headers, &body, Some(&all)).await?
        }
    };
    let answers: Vec<&Value> = response.messages.iter().filter(|message| message["id"] == a).collect();
    match answers[..] {
        [answer] if answer["result"]["structuredContent"] == json!({"sum": a + b}) => Ok(()),
        _ => Err(format!("{a} + {b}: {}: {:?}", response.status, response.messages).into()),
    }
}

/// How much memory a process holds, in KiB.
#[cfg(target_os = "linux")]
fn memory(process: u32) -> Outcome<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let held = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(held.trim().trim_end_matches("kB").trim().parse()?)
}

#[cfg(not(target_os = "linux"))]
fn memory(_: u32) -> Outcome<u64> {
    Err("how much memory a process holds is read from Linux's /proc".into())
}

/// Plays five rounds of so many calls at a time against the server at `address`, which is the process `process`.
///
/// # Errors
/// If a call isn't answered once with its own sum, or the process holds more than 1.1 times as much memory after the last
/// round as after the first.
pub async fn run(address: &str, process: u32, revision: Revision, calls: usize, out: &mut impl Write) -> Outcome {
    let address: Arc<str> = address.into();
    let mut held = Vec::new();
    for round in 0..ROUNDS {
        let mut sessions: Vec<Arc<str>> = Vec::new();
        if revision == Revision::Of2025 {
            for _ in 0..SESSIONS {
                sessions.push(session(&address).await?.into());
            }
        }
        let all = Arc::new(Barrier::new(calls));
        let mut running = JoinSet::new();
        for a in 0..calls {
            let session = sessions.get(a % SESSIONS).cloned();
            running.spawn(call(Arc::clone(&address), session, a as u64, round * 1_000_003, Arc::clone(&all)));
        }
        let mut answered = 0;
        let mut wrong = Vec::new();
        while let Some(done) = running.join_next().await {
            match done? {
                Ok(()) => answered += 1,
                Err(error) => wrong.push(error.to_string()),
            }
        }
        for session in &sessions {
            end(&address, session).await?;
        }
        let kib = memory(process)?;
        held.push(kib);
        writeln!(out, "round {}: {answered} of {calls} answered with their own sums, {kib} KiB held", round + 1)?;
        if let Some(first) = wrong.first() {
            return Err(format!("{} calls weren't: {first}", wrong.len()).into());
        }
    }
    if let (Some(first), Some(last)) = (held.first(), held.last()) {
        let grown = *last as f64 / *first as f64;
        writeln!(out, "memory after round {ROUNDS} / after round 1 = {grown:.2}")?;
        if grown > 1.1 {
            return Err("memory grows".into());
        }
    }
    Ok(())
}
