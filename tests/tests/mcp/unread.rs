//! Clients that stop reading.

use std::sync::Arc;
use std::time::Duration;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tool_runtime::mcp::{HttpOptions, McpServer};
use tool_runtime::{AllowAll, CallFacts, Code, Decision, Event, EventKind, Harness, MemoryLedger, Registry};

use crate::asking::ends;
use crate::listing::modern;
use crate::sessions::{Client, Messages, ask, call, hello, of_modern, request};
use crate::support::{EchoTool, SOON, harness, server, text};

/// A call of `count`, whose progress the client wants to know.
fn counting(id: u32, to: u32) -> String {
    let params = json!({"name": "count", "arguments": {"to": to}, "_meta": {"progressToken": "p"}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

#[tokio::test]
async fn a_stream_that_nobody_reads_keeps_no_other_request_of_its_session() {
    let client = Client::begin(&server().router(&HttpOptions::new()), &json!({})).await;
    let mut unread = client.send(counting(1, 5_000)).await;
    for id in 2..5 {
        assert_eq!(text(&client.send(call(id, "echo", &json!({"text": "on"}))).await.one().await), "on");
    }
    // Reports are left out, the newest first. The result is not.
    let mut reports = Vec::new();
    let result = loop {
        let message = tokio::time::timeout(SOON, unread.next()).await.expect("in time").expect("a message");
        match message["method"].as_str() {
            Some("notifications/progress") => reports.push(message["params"]["progress"].as_f64().expect("a number")),
            _ => break message,
        }
    };
    assert_eq!(text(&result), "5000");
    assert!(reports.len() < 5_000 && reports.is_sorted(), "{}", reports.len());
    assert_eq!(tokio::time::timeout(SOON, unread.next()).await.expect("in time"), None);
}

#[tokio::test]
async fn a_stream_that_takes_nothing_more_is_cut_and_its_session_goes_on_to_its_end() {
    let server = server();
    let router = server.router(&HttpOptions::new().sessions(1));
    let client = Client::begin(&router, &json!({})).await;
    let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(client.send(begun.to_string()).await.status, StatusCode::ACCEPTED);
    let mut unread = Messages::of(ask(&router, request(Method::GET, Some(&client.session), "")).await);
    let few = || Harness::new(Registry::builder().tool(EchoTool::host()).build().expect("a registry"), AllowAll);
    for _ in 0..300 {
        server.replace(few()).expect("a list");
        server.replace(harness(AllowAll)).expect("a list");
        tokio::task::yield_now().await;
    }
    assert_eq!(text(&client.send(call(1, "echo", &json!({"text": "on"}))).await.one().await), "on");
    let mut told = 0;
    while let Some(message) = tokio::time::timeout(SOON, unread.next()).await.expect("in time") {
        assert_eq!(message["method"], "notifications/tools/list_changed");
        told += 1;
    }
    assert!((1..600).contains(&told), "{told}");
    // It is told again of what comes then.
    let mut again = Messages::of(ask(&router, request(Method::GET, Some(&client.session), "")).await);
    let message = tokio::time::timeout(SOON, again.next()).await.expect("in time").expect("a message");
    assert_eq!(message["method"], "notifications/tools/list_changed");
    // Nobody reads on, and the session ends all the same: there is room for another.
    let _unread = client.send(counting(2, 5_000)).await;
    let ended = ask(&router, request(Method::DELETE, Some(&client.session), "")).await;
    assert_eq!(ended.status(), StatusCode::ACCEPTED);
    let _next = Client::begin(&router, &json!({})).await;
}

/// The time that a client takes is none of a call's: it ends, and what it holds is free.
#[tokio::test]
async fn a_call_of_a_newer_client_that_reads_nothing_ends() {
    let (sender, mut ended) = tokio::sync::mpsc::unbounded_channel();
    let observed = harness(AllowAll).observer(move |event: &Event| {
        if let EventKind::Finished(record) = event.kind() {
            sender.send(record.code()).expect("somebody listens");
        }
    });
    let server = McpServer::builder(observed).build().expect("a server");
    let mut meta = modern();
    meta["progressToken"] = json!("p");
    let params = json!({"name": "count", "arguments": {"to": 2_000}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let response = ask(&server.router(&HttpOptions::new()), of_modern("count", &body)).await;
    assert_eq!(tokio::time::timeout(SOON, ended.recv()).await.expect("in time"), Some(Code::Ok));
    drop(response);
}

/// Its approval is nobody's to give any more, and the call is over.
#[tokio::test(start_paused = true)]
async fn i08_a_call_that_a_person_is_asked_about_ends_with_its_session() {
    let asks = |_: &CallFacts<'_>| Decision::ask("somebody has to know");
    let ledger = Arc::new(MemoryLedger::default());
    let server = McpServer::builder(harness(asks).ledger(Arc::clone(&ledger))).build().expect("a server");
    let router = server.router(&HttpOptions::new());
    let client = Client::begin(&router, &json!({"elicitation": {}})).await;
    let mut called = client.send(call(1, "wipe", &json!({"name": "a"}))).await;
    let asked = called.next().await.expect("a question");
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let ended = ask(&router, request(Method::DELETE, Some(&client.session), "")).await;
    assert_eq!(ended.status(), StatusCode::ACCEPTED);
    let yes: Value =
        json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {"go_ahead": true}}});
    assert_eq!(client.send(yes.to_string()).await.status, StatusCode::NOT_FOUND);
    tokio::time::sleep(Duration::from_secs(30)).await;
    let codes = ends(&ledger);
    assert!(matches!(codes[..], [Code::CancelledBeforeStart | Code::ApprovalUnavailable]), "{codes:?}");
    // A client that isn't there any more may say hello again.
    assert_eq!(ask(&router, request(Method::POST, None, hello(&json!({})))).await.status(), StatusCode::OK);
}
