//! Calls that wait for a person, and that their client gives up or somebody else goes on with.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tool_runtime::mcp::{HttpOptions, McpServer};
use tool_runtime::{
    AllowAll, Answer, BoxFuture, CallFacts, Code, Decision, Ledger, MemoryLedger, QuestionSet, Reply, Signer,
};
use tower::ServiceExt;

use crate::asking::{asking, call, ends, open_questions, yes};
use crate::forms::older;
use crate::support::{RawClient, harness, text};

/// Whoever fills the form in learns that nobody wants it any more, and a yes that comes after that is none.
#[tokio::test]
async fn i08_a_call_that_is_cancelled_takes_its_question_back() {
    let (server, ledger) = asking();
    let mut client = older(&server, json!({"elicitation": {}})).await;
    client.call(1, "wipe", r#"{"name":"a"}"#).await;
    let asked = client.next().await;
    assert_eq!(asked["method"], "elicitation/create");
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    let taken_back = client.next().await;
    assert_eq!(taken_back["method"], "notifications/cancelled", "{taken_back}");
    assert_eq!(taken_back["params"]["requestId"], asked["id"]);
    let yes = json!({"action": "accept", "content": {"go_ahead": true}});
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": yes}).to_string()).await;
    client.call(2, "no_such_tool", "{}").await;
    assert_eq!(client.next().await["id"], 2);
    client.end().await;
    assert_eq!(ends(&ledger), [Code::CancelledBeforeStart, Code::UnknownTool]);
}

fn asks(_: &CallFacts<'_>) -> Decision {
    Decision::ask("somebody has to know")
}

fn later(set: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
    Box::pin(async move { vec![Answer::Later; set.questions.len()] })
}

/// Two clients wait for one call. Both hear how far it is, whoever goes on with it.
#[tokio::test(start_paused = true)]
async fn two_clients_that_wait_for_one_call_both_hear_of_it() {
    let ledger = Arc::new(MemoryLedger::default());
    let harness = harness(asks).approver(later).ledger(Arc::clone(&ledger));
    let server = McpServer::builder(harness).wait_for_answers(Duration::from_secs(600)).build().expect("a server");
    let call = |token: &str| {
        let params = json!({"name": "count", "arguments": {"to": 3}, "_meta": {"progressToken": token}});
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
    };
    let mut clients = Vec::new();
    for token in ["a", "b"] {
        let mut client = RawClient::legacy(&server).await;
        client.send(&call(token)).await;
        // It is asked, or waits for what is asked already, once it says that it waits.
        let waits = client.next().await;
        assert_eq!(waits["params"]["progressToken"], token);
        assert!(waits["params"]["message"].as_str().expect("a message").starts_with("Waiting"), "{waits}");
        clients.push(client);
    }
    let [question] = &open_questions(&ledger).await[..] else { panic!("one question") };
    let agreed = Reply::new(question.clone(), Answer::Yes, Signer::new("ann", "desk"));
    ledger.reply(agreed).await.expect("an answer that is taken");
    let mut ran = 0;
    for client in &mut clients {
        let mut steps = Vec::new();
        let answer = loop {
            let message = client.next().await;
            match message["params"]["message"].as_str() {
                Some(said) if said.starts_with("step") => steps.push(said.to_owned()),
                Some(_) => {}
                None => break message,
            }
        };
        assert_eq!(steps, ["step 1", "step 2", "step 3"]);
        ran += usize::from(text(&answer) == "3");
    }
    assert_eq!(ran, 1);
}

/// Another process has gone on with the call: the same call is another one then, and is asked about.
#[tokio::test]
async fn i09_a_client_that_comes_too_late_is_asked_anew() {
    let ledger = Arc::new(MemoryLedger::default());
    let serve = || McpServer::builder(harness(asks).ledger(Arc::clone(&ledger))).build().expect("a server");
    let (here, elsewhere) = (serve(), serve());
    let mut client = RawClient::connect(&here);
    let mut other = RawClient::connect(&elsewhere);
    let answer_to = async |client: &mut RawClient, id, more: Value| {
        client.send(&call(id, more).to_string()).await;
        client.next().await
    };
    let asked = answer_to(&mut client, 1, json!({})).await;
    let asked_there = answer_to(&mut other, 1, json!({})).await;
    let agreed = |asked: &Value| json!({"requestState": asked["result"]["requestState"], "inputResponses": yes()});
    assert_eq!(text(&answer_to(&mut other, 2, agreed(&asked_there)).await), "a is gone");
    let late = answer_to(&mut client, 2, agreed(&asked)).await;
    assert_eq!(late["result"]["resultType"], "input_required", "{late}");
    assert_eq!(text(&answer_to(&mut client, 3, agreed(&late)).await), "a is gone");
    assert_eq!(ledger.history(tool_runtime::Query::all()).await.expect("a history").cases().len(), 2);
}

/// A client that goes away takes its calls with it: what a person was asked about never runs, and what runs is stopped.
#[tokio::test(start_paused = true)]
async fn i08_a_client_that_goes_away_takes_its_calls_with_it() {
    let (server, ledger) = asking();
    let mut client = older(&server, json!({"elicitation": {}})).await;
    client.call(1, "wipe", r#"{"name":"a"}"#).await;
    assert_eq!(client.next().await["method"], "elicitation/create");
    drop(client);
    tokio::time::sleep(Duration::from_secs(60)).await;
    let codes = ends(&ledger);
    assert!(matches!(codes[..], [Code::CancelledBeforeStart | Code::ApprovalUnavailable]), "{codes:?}");

    let ledger = Arc::new(MemoryLedger::default());
    let server = McpServer::builder(harness(AllowAll).ledger(Arc::clone(&ledger))).build().expect("a server");
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "forever", "arguments": {}, "_meta": crate::listing::modern()}});
    let router = server.router(&HttpOptions::new());
    let answered = router.oneshot(crate::sessions::of_modern("forever", &body));
    assert!(tokio::time::timeout(Duration::from_secs(60), answered).await.is_err());
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(ends(&ledger), [Code::Cancelled]);
}
