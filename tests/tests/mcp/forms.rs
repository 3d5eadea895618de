//! Forms that tools have the person behind a client fill in, directly and across servers.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::DuplexStream;
use tokio_util::sync::CancellationToken;
use tool_runtime::mcp::{McpClient, McpForm, McpFormAnswer, McpServer, ask_client};
use tool_runtime::{
    AllowAll, BoxFuture, CallContext, CaseState, Code, Entry, FormEnd, Harness, Ledger, LedgerError, MemoryLedger,
    Query, Registry, Stored, StoredKind, tool,
};

use crate::listing::modern;
use crate::support::{RawClient, text};

/// Asks for a name, and greets.
#[tool(host(concurrency_safe))]
async fn greet(#[host] runs: Arc<AtomicUsize>, #[host] cx: &CallContext) -> Result<String, String> {
    runs.fetch_add(1, Ordering::Relaxed);
    let schema = r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}"#;
    let form = McpForm::new("What is your name?", schema).map_err(|error| error.to_string())?.key("name");
    let answer = tokio::select! {
        answer = ask_client(form) => answer,
        () = cx.token().cancelled() => return Ok("cancelled".to_owned()),
    };
    Ok(match answer {
        McpFormAnswer::Filled(fields) => format!("hello {fields}"),
        McpFormAnswer::Declined => "declined".to_owned(),
        _ => "closed".to_owned(),
    })
}

fn harness() -> (Harness, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let registry = Registry::builder().state(Arc::clone(&runs)).tool(GreetTool::host()).build().expect("a registry");
    (Harness::new(registry, AllowAll).ledger(MemoryLedger::default()), runs)
}

fn server() -> (McpServer, Arc<AtomicUsize>) {
    let (harness, runs) = harness();
    (McpServer::builder(harness).build().expect("a server"), runs)
}

/// A server of the tools of another.
async fn behind(limit: Duration) -> (McpServer, McpClient, Arc<AtomicUsize>) {
    let (far, runs) = server();
    let (server, client) = in_front_of(far, limit).await;
    (server, client, runs)
}

async fn in_front_of(far: McpServer, limit: Duration) -> (McpServer, McpClient) {
    in_front_of_with(far, limit, &Arc::new(MemoryLedger::default())).await
}

async fn in_front_of_with(far: McpServer, limit: Duration, ledger: &Arc<MemoryLedger>) -> (McpServer, McpClient) {
    let connect = move || {
        let far = far.clone();
        async move {
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            let (reader, writer) = tokio::io::split(theirs);
            tokio::spawn(async move { far.serve_stream(reader, writer, CancellationToken::new()).await });
            Ok::<_, io::Error>(tokio::io::split::<DuplexStream>(ours))
        }
    };
    let client = McpClient::streams("far", connect)
        .forward_forms()
        .without_prefix()
        .call_timeout(limit)
        .build()
        .expect("a client");
    let mut registry = Registry::builder();
    for tool in client.tools().await.expect("tools") {
        registry = registry.tool(tool.host_tool().expect("a tool"));
    }
    let harness = Harness::new(registry.build().expect("a registry"), AllowAll).ledger(Arc::clone(ledger));
    (McpServer::builder(harness).build().expect("a server"), client)
}

pub(crate) async fn older(server: &McpServer, offers: Value) -> RawClient {
    let mut client = RawClient::connect(server);
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": offers, "clientInfo": {"name": "raw", "version": "1"},
    }});
    client.send(&hello.to_string()).await;
    client.next().await;
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    client
}

fn call(id: u32, more: Value) -> String {
    let mut params = json!({"name": "greet", "arguments": {}, "_meta": modern()});
    for (key, value) in more.as_object().expect("members") {
        params[key] = value.clone();
    }
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

async fn an_older_client_fills_in(server: &McpServer, says: &str) {
    for (answer, text_of_it) in [
        (json!({"action": "accept", "content": {"name": "Ann"}}), r#"hello {"name":"Ann"}"#),
        (json!({"action": "decline"}), "declined"),
        (json!({"action": "cancel"}), "closed"),
    ] {
        let mut client = older(server, json!({"elicitation": {}})).await;
        client.call(1, "greet", "{}").await;
        let asked = client.next().await;
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        assert!(asked["params"]["message"].as_str().expect("a message").contains(says), "{asked}");
        assert_eq!(asked["params"]["requestedSchema"]["properties"]["name"]["type"], "string");
        client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer}).to_string()).await;
        assert_eq!(text(&client.next().await), text_of_it);
        client.end().await;
    }
    // One that offers nothing is asked nothing.
    let mut client = older(server, json!({})).await;
    client.call(1, "greet", "{}").await;
    let answer = client.next().await;
    assert!(answer.get("result").is_some(), "{answer}");
    client.end().await;
}

async fn a_newer_client_comes_back(server: &McpServer, says: &str, runs: &AtomicUsize) {
    let before = runs.load(Ordering::Relaxed);
    let mut client = RawClient::connect(server);
    client.send(&call(1, json!({}))).await;
    let asked = client.next().await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let request = &asked["result"]["inputRequests"]["name"];
    assert!(request["params"]["message"].as_str().expect("a message").contains(says), "{asked}");
    // Without what was asked for, or under another key, it is asked again, and the body waits on.
    let again =
        json!({"requestState": asked["result"]["requestState"], "inputResponses": {"other": {"action": "accept"}}});
    client.send(&call(2, again)).await;
    let asked = client.next().await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let filled = json!({
        "requestState": asked["result"]["requestState"],
        "inputResponses": {"name": {"action": "accept", "content": {"name": "Ann"}}},
    });
    client.send(&call(3, filled.clone())).await;
    assert_eq!(text(&client.next().await), r#"hello {"name":"Ann"}"#);
    // Whoever comes back a second time finds nobody, and runs nothing.
    client.send(&call(4, filled)).await;
    assert_eq!(client.next().await["error"]["code"], -32602);
    client.end().await;
    assert_eq!(runs.load(Ordering::Relaxed), before + 1);
}

#[tokio::test]
async fn a_tool_asks_the_person_behind_its_client() {
    let (server, runs) = server();
    an_older_client_fills_in(&server, "What is your name?").await;
    a_newer_client_comes_back(&server, "What is your name?", &runs).await;
}

#[tokio::test]
async fn a_remote_server_asks_through_the_gate_and_says_who_it_is() {
    let (server, client, _) = behind(Duration::from_secs(60)).await;
    let says = "The server `far` asks, in a call of `greet`";
    an_older_client_fills_in(&server, says).await;
    // Between the two servers newer forms are spoken: the far one's body is run once all the same.
    let runs = {
        let (server, client, runs) = behind(Duration::from_secs(60)).await;
        a_newer_client_comes_back(&server, says, &runs).await;
        client.close().await;
        runs
    };
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    client.close().await;
}

/// Never answers, whoever asks.
#[tool(host(concurrency_safe))]
async fn hang() -> String {
    std::future::pending().await
}

#[tokio::test]
async fn a_server_has_its_own_time_whether_somebody_can_be_asked_or_not() {
    let registry = Registry::builder().tool(HangTool::host()).build().expect("a registry");
    let far = McpServer::builder(Harness::new(registry, AllowAll)).build().expect("a server");
    let server = in_front_of(far, Duration::from_millis(50)).await.0;
    for offers in [json!({}), json!({"elicitation": {}})] {
        let mut client = older(&server, offers).await;
        client.call(1, "hang", "{}").await;
        let answer = client.next().await;
        assert!(answer["result"]["isError"] == true && text(&answer).contains("took longer"), "{answer}");
        client.end().await;
    }
}

#[tokio::test]
async fn a_form_that_nobody_comes_back_with_ends_the_call() {
    let (harness, runs) = harness();
    let ledger = Arc::new(MemoryLedger::default());
    let harness = harness.ledger(Arc::clone(&ledger));
    let server = McpServer::builder(harness).ask_within(Duration::from_millis(50)).build().expect("a server");
    let mut client = RawClient::connect(&server);
    client.send(&call(1, json!({}))).await;
    let asked = client.next().await;
    let ended = |ledger: &MemoryLedger| ledger.entries().iter().any(|entry| matches!(entry, Entry::End(_)));
    tokio::time::timeout(crate::support::SOON, async {
        while !ended(&ledger) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
    .expect("an end");
    let late =
        json!({"requestState": asked["result"]["requestState"], "inputResponses": {"name": {"action": "decline"}}});
    client.send(&call(2, late)).await;
    let answer = client.next().await;
    assert!(answer.get("error").is_some() || answer["result"]["resultType"] == "input_required", "{answer}");
    client.end().await;
    assert!(runs.load(Ordering::Relaxed) >= 1);
}

/// Signs somebody in.
#[tool(host(concurrency_safe))]
async fn sign_in() -> Result<String, String> {
    let schema = r#"{"type":"object","properties":{"user":{"type":"string"},"passwordAgain":{"type":"string"}}}"#;
    let form = McpForm::new("Who are you?", schema).map_err(|error| error.to_string())?;
    Ok(match ask_client(form).await {
        McpFormAnswer::Filled(fields) => format!("{} bytes", fields.len()),
        other => format!("{other:?}"),
    })
}

/// What a form asked and what came of it is an entry of its own, of the call in which it was asked, without secrets.
#[tokio::test]
async fn i10_what_a_form_asked_and_got_is_in_the_ledger() {
    let served = |ledger: &Arc<MemoryLedger>| {
        let registry = Registry::builder().tool(SignInTool::host()).build().expect("a registry");
        let harness = Harness::new(registry, AllowAll).ledger(Arc::clone(ledger));
        McpServer::builder(harness).build().expect("a server")
    };
    let filled = json!({"user": "Ann", "passwordAgain": "hunter2"});
    for (far, answer, end) in [
        (false, json!({"action": "accept", "content": filled}), FormEnd::FilledIn),
        (false, json!({"action": "decline"}), FormEnd::TurnedDown),
        (true, json!({"action": "accept", "content": filled}), FormEnd::FilledIn),
        (true, json!({"action": "cancel"}), FormEnd::LeftOpen),
    ] {
        for of_newer in [false, true] {
            let ledger = Arc::new(MemoryLedger::default());
            let (server, client) = match far {
                false => (served(&ledger), None),
                true => {
                    let far = served(&Arc::new(MemoryLedger::default()));
                    let (server, client) = in_front_of_with(far, Duration::from_secs(60), &ledger).await;
                    (server, Some(client))
                }
            };
            let mut peer = match of_newer {
                true => RawClient::connect(&server),
                false => older(&server, json!({"elicitation": {}})).await,
            };
            let meta = if of_newer { modern() } else { json!({}) };
            let call = |id: u32, more: Value| {
                let mut params = json!({"name": "sign_in", "arguments": {}, "_meta": meta});
                more.as_object().into_iter().flatten().for_each(|(key, value)| params[key] = value.clone());
                json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
            };
            peer.send(&call(1, json!({}))).await;
            let asked = peer.next().await;
            let forms = || ledger.entries().into_iter().filter(|entry| matches!(entry, Entry::Form(_)));
            assert_eq!(forms().count(), 0);
            match of_newer {
                true => {
                    let responses = json!({"form": answer});
                    let state = &asked["result"]["requestState"];
                    peer.send(&call(2, json!({"requestState": state, "inputResponses": responses}))).await;
                }
                false => {
                    peer.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer}).to_string()).await;
                }
            }
            let got = peer.next().await;
            assert!(got["result"].is_object(), "{got}");
            peer.end().await;
            let recorded: Vec<_> = forms().collect();
            let [Entry::Form(form)] = &recorded[..] else { panic!("{recorded:?}") };
            assert_eq!((form.end(), form.server()), (end, far.then_some("far")));
            assert!(form.asks().contains("Who are you?"), "{}", form.asks());
            let written = Entry::Form(Arc::clone(form)).to_text().expect("JSON");
            let read = Stored::read(written.as_str()).expect("an entry");
            assert_eq!((read.kind(), read.form(), read.tool()), (StoredKind::Form, Some(end), "sign_in"));
            match end {
                FormEnd::FilledIn => {
                    let mut filled = read.filled();
                    filled.sort_unstable();
                    assert_eq!(filled, [("passwordAgain", "\"[redacted]\""), ("user", "\"Ann\"")]);
                }
                _ => assert!(read.filled().is_empty()),
            }
            // No secret anywhere, and the call is the one that ran on a verdict and has an end.
            let history = ledger.history(Query::all()).await.expect("a history");
            let [case] = history.cases() else { panic!("one call") };
            assert_eq!(case.id(), form.case());
            assert!(matches!(case.state(), CaseState::Ended(Code::Ok)), "{:?}", case.state());
            assert!(case.entries().iter().all(|entry| !entry.text().contains("hunter2")));
            if let Some(client) = client {
                client.close().await;
            }
        }
    }
}

/// Keeps verdicts and ends, and no forms.
struct NoForms;

impl Ledger for NoForms {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        let kept = if matches!(entry, Entry::Form(_)) { Err(LedgerError::new("full")) } else { Ok(()) };
        Box::pin(std::future::ready(kept))
    }
}

/// Nobody gets what isn't recorded, unless the host wants it so.
#[tokio::test]
async fn i10_a_form_that_cant_be_recorded_gives_nothing() {
    for unrecorded in [false, true] {
        let registry = Registry::builder().tool(SignInTool::host()).build().expect("a registry");
        let harness = Harness::new(registry, AllowAll).ledger(NoForms);
        let harness = if unrecorded { harness.run_unrecorded() } else { harness };
        let server = McpServer::builder(harness).build().expect("a server");
        let mut client = older(&server, json!({"elicitation": {}})).await;
        client.call(1, "sign_in", "{}").await;
        let asked = client.next().await;
        let filled = json!({"action": "accept", "content": {"user": "Ann"}});
        client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": filled}).to_string()).await;
        let said = if unrecorded { "14 bytes" } else { "Closed" };
        assert_eq!(text(&client.next().await), said);
        client.end().await;
    }
}
