//! A model that follows a script, as a server of its own: what is seen of it is what a real one would send.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use serde_json::Value;
use tiny_http::{Header, Response};

/// Its turns: the events of each, as they go over the wire. It looks at how many results it has read.
const TURNS: &[&[&str]] = &[
    // A misspelt argument.
    &[
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"Let me "}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"look."}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"count_words","arguments":""}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"pth\":"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"notes.txt\"}"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
    ],
    // Corrected, and a second call beside it.
    &[
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_2","type":"function","function":{"name":"count_words","arguments":"{\"path\":\"./notes.txt\"}"}},{"index":1,"id":"call_3","type":"function","function":{"name":"list_files","arguments":""}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
    ],
    // What has to be asked about.
    &[
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_4","type":"function","function":{"name":"write_file","arguments":"{\"path\":\"notes.txt\",\"content\":\"\"}"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
    ],
    &[
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"There were seven words."}}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
    ],
];

/// A server with a thread of its own, until it is dropped.
#[derive(Debug)]
pub(super) struct Server {
    address: SocketAddr,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

/// Ends the server's wait for requests.
struct Stop(Arc<tiny_http::Server>);

impl std::fmt::Debug for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stop")
    }
}

impl Server {
    /// # Errors
    /// If no port can be listened on.
    pub(super) fn start() -> Result<Self, Box<dyn Error + Send + Sync>> {
        let server = Arc::new(tiny_http::Server::http("127.0.0.1:0")?);
        let address = server.server_addr().to_ip().ok_or("the server has no address")?;
        let stop = Stop(Arc::clone(&server));
        let thread = std::thread::spawn(move || {
            for mut request in server.incoming_requests() {
                let mut body = String::new();
                let answer = match request.as_reader().read_to_string(&mut body) {
                    Ok(_) => answer(&body),
                    Err(error) => Err(error.to_string()),
                };
                // Whoever hung up wants no answer.
                let _ = match answer {
                    Ok(events) => request.respond(stream(&events)),
                    Err(why) => request.respond(Response::from_string(why).with_status_code(400)),
                };
            }
        });
        Ok(Server { address, stop, thread: Some(thread) })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.0.unblock();
        if let Some(thread) = self.thread.take() {
            // It ends with the wait; if it panicked, there is nobody left to tell.
            let _ = thread.join();
        }
    }
}

fn stream(events: &str) -> Response<std::io::Cursor<Vec<u8>>> {
    let response = Response::from_string(events);
    match Header::from_bytes("content-type", "text/event-stream") {
        Ok(header) => response.with_header(header),
        Err(()) => response,
    }
}

/// The next turn, for a request that is in order: every call answered once, directly after it was made.
fn answer(body: &str) -> Result<String, String> {
    let request: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
    let messages = request["messages"].as_array().ok_or("there are no messages")?;
    let mut open: Vec<&str> = Vec::new();
    let mut spoken = 0;
    for message in messages {
        match message["role"].as_str() {
            Some("tool") => {
                let id = message["tool_call_id"].as_str().ok_or("a result without an id")?;
                let place = open.iter().position(|open| *open == id).ok_or("a result that no call asked for")?;
                open.remove(place);
            }
            _ if !open.is_empty() => return Err(format!("no result for {}", open.join(", "))),
            Some("assistant") => {
                spoken += 1;
                let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
                open.extend(calls.iter().filter_map(|call| call["id"].as_str()));
            }
            Some(_) => {}
            None => return Err("a message without a role".to_owned()),
        }
    }
    let turn = TURNS.get(spoken).ok_or("the script is over")?;
    let events: Vec<String> = turn.iter().map(|event| format!("data: {event}\n\n")).collect();
    Ok(events.concat() + "data: [DONE]\n\n")
}
