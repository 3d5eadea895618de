//! Asking the person behind a client.

use std::sync::Arc;

use serde_json::{Value, json};
use tool_runtime::mcp::McpServer;
use tool_runtime::{
    AllowAll, Answer, Ask, BoxFuture, CallFacts, CheckedCall, Checklist, Code, Decision, Entry, Harness, Hit, Ledger,
    Location, Lookup, MemoryLedger, NeverAsk, Normalisation, Pointer, Policy, Query, QuestionId, QuestionSet, Registry,
    Reply, Signer, SourceKind, source_fn, tool,
};

use crate::listing::modern;
use crate::support::{RawClient, harness, text};

fn asks() -> impl Policy {
    |_: &CallFacts<'_>| Decision::ask("somebody has to know")
}

pub(crate) fn asking() -> (McpServer, Arc<MemoryLedger>) {
    let ledger = Arc::new(MemoryLedger::default());
    let harness = harness(asks()).ledger(Arc::clone(&ledger));
    (McpServer::builder(harness).build().expect("a server"), ledger)
}

pub(crate) fn ends(ledger: &MemoryLedger) -> Vec<Code> {
    let end = |entry: &Entry| if let Entry::End(record) = entry { Some(record.code()) } else { None };
    ledger.entries().iter().filter_map(end).collect()
}

async fn elicited(answer: Value) -> (Value, Vec<Code>) {
    let (server, ledger) = asking();
    let mut client = RawClient::connect(&server);
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "raw", "version": "1"},
    }});
    client.send(&hello.to_string()).await;
    client.next().await;
    client.call(1, "wipe", r#"{"name":"a\u202eb"}"#).await;
    let asked = client.next().await;
    assert_eq!(asked["method"], "elicitation/create");
    let message = asked["params"]["message"].as_str().expect("a message");
    assert!(message.contains("wipe") && message.contains(r"a\u{202e}b") && message.contains("somebody has to know"));
    assert_eq!(asked["params"]["requestedSchema"]["properties"]["go_ahead"]["type"], "boolean");
    assert_eq!(asked["params"]["requestedSchema"]["required"], json!(["go_ahead"]));
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer}).to_string()).await;
    let result = client.next().await;
    client.end().await;
    (result, ends(&ledger))
}

#[tokio::test]
async fn i08_older_clients_are_asked_while_the_call_waits_and_only_a_yes_is_one() {
    let (result, codes) = elicited(json!({"action": "accept", "content": {"go_ahead": true}})).await;
    assert_eq!((text(&result), codes), ("a\u{202e}b is gone", vec![Code::Ok]));
    for (answer, code) in [
        (json!({"action": "accept", "content": {"go_ahead": false}}), Code::Rejected),
        (json!({"action": "decline"}), Code::Rejected),
        (json!({"action": "cancel"}), Code::ApprovalUnavailable),
        (json!({"action": "accept"}), Code::ApprovalUnavailable),
        (json!({"action": "accept", "content": {"go_ahead": "true"}}), Code::ApprovalUnavailable),
        (json!({"action": "accept", "content": {"other": true}}), Code::ApprovalUnavailable),
    ] {
        let (result, codes) = elicited(answer.clone()).await;
        assert_eq!(result["result"]["isError"], true, "{answer}");
        assert_eq!(codes, [code], "{answer}");
    }
}

#[tokio::test]
async fn i08_a_client_that_cant_ask_runs_nothing() {
    let (server, ledger) = asking();
    let mut client = RawClient::legacy(&server).await;
    client.call(1, "wipe", r#"{"name":"a"}"#).await;
    assert_eq!(client.next().await["result"]["isError"], true);
    client.end().await;
    let mut client = RawClient::connect(&server);
    let mut meta = modern();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    client.send(&call(1, json!({"_meta": meta})).to_string()).await;
    assert_eq!(client.next().await["result"]["isError"], true);
    client.end().await;
    assert_eq!(ends(&ledger), [Code::ApprovalUnavailable, Code::ApprovalUnavailable]);
}

/// A call of `wipe`, with what else it brings.
pub(crate) fn call(id: u32, more: Value) -> Value {
    let mut params = json!({"name": "wipe", "arguments": {"name": "a"}, "_meta": modern()});
    for (key, value) in more.as_object().expect("members") {
        params[key] = value.clone();
    }
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

pub(crate) fn yes() -> Value {
    json!({"approval": {"action": "accept", "content": {"go_ahead": true}}})
}

#[tokio::test]
async fn i09_newer_clients_call_again_and_a_yes_is_for_what_was_shown_and_once() {
    let (server, ledger) = asking();
    let mut client = RawClient::connect(&server);
    let asked = async |client: &mut RawClient, id, more: Value| {
        client.send(&call(id, more).to_string()).await;
        let answer = client.next().await;
        assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
        assert_eq!(answer["result"]["inputRequests"]["approval"]["method"], "elicitation/create");
        answer["result"]["requestState"].clone()
    };
    let state = asked(&mut client, 1, json!({})).await;
    // Nothing of the arguments or of what was asked travels with the client.
    assert!(!state.to_string().contains("wipe"));

    // Without an answer, or with one to something else, it is asked again.
    let state = asked(&mut client, 2, json!({"requestState": state})).await;
    let state =
        asked(&mut client, 3, json!({"requestState": state, "inputResponses": {"other": {"action": "accept"}}})).await;
    // An answer without what was asked is none.
    asked(&mut client, 4, json!({"inputResponses": yes()})).await;

    // Other arguments than those that were shown.
    let other = json!({"requestState": state, "inputResponses": yes(), "arguments": {"name": "b"}});
    asked(&mut client, 5, other).await;

    let state = asked(&mut client, 6, json!({})).await;
    let again = json!({"requestState": state, "inputResponses": yes(), "arguments": {"name": "a"}});
    client.send(&call(7, again.clone()).to_string()).await;
    let answer = client.next().await;
    assert_eq!(text(&answer), "a is gone");
    // Spent.
    asked(&mut client, 8, again).await;

    // A question that was closed is no answer, and waits on.
    let state = asked(&mut client, 11, json!({})).await;
    let closed = json!({"requestState": state, "inputResponses": {"approval": {"action": "cancel"}}});
    client.send(&call(12, closed).to_string()).await;
    let answer = client.next().await;
    assert!(answer["result"]["isError"] == true && text(&answer).contains("nobody answered"), "{answer}");

    // A no is one, and asks nothing more.
    let state = asked(&mut client, 9, json!({})).await;
    let no = json!({"requestState": state, "inputResponses": {"approval": {"action": "decline"}}});
    client.send(&call(10, no).to_string()).await;
    assert_eq!(client.next().await["result"]["isError"], true);
    client.end().await;
    let codes = ends(&ledger);
    assert_eq!(codes.iter().filter(|code| **code == Code::Ok).count(), 1);
    assert_eq!(codes.last(), Some(&Code::Rejected));
}

#[tokio::test]
async fn a_state_that_was_touched_is_refused() {
    let (server, ledger) = asking();
    let mut client = RawClient::connect(&server);
    client.send(&call(1, json!({})).to_string()).await;
    let state = client.next().await["result"]["requestState"].as_str().expect("a state").to_owned();
    let mut touched = state.clone();
    let last = touched.pop().expect("a letter");
    touched.insert(0, last);
    for wrong in [touched.as_str(), "", "x.y.z", &state[..state.len() - 4]] {
        client.send(&call(2, json!({"requestState": wrong, "inputResponses": yes()})).to_string()).await;
        let answer = client.next().await;
        assert_eq!(answer["error"]["code"], -32602, "{wrong}: {answer}");
    }
    // Of another tool.
    let of_echo = json!({"name": "echo", "arguments": {"text": "a"}, "requestState": state, "inputResponses": yes()});
    client.send(&call(3, of_echo).to_string()).await;
    assert_eq!(client.next().await["error"]["code"], -32602);
    client.end().await;
    assert!(!ends(&ledger).contains(&Code::Ok));
}

#[tokio::test]
async fn the_hosts_own_approver_is_asked_instead() {
    let says_yes = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(async move { vec![Answer::Yes; set.questions.len()] })
    };
    let served = |harness: Harness| McpServer::builder(harness).build().expect("a server");
    let mut client = RawClient::legacy(&served(harness(asks()).approver(says_yes))).await;
    client.call(1, "wipe", r#"{"name":"a"}"#).await;
    assert_eq!(text(&client.next().await), "a is gone");
    client.end().await;
    let mut client = RawClient::connect(&served(harness(asks()).approver(NeverAsk)));
    client.send(&call(1, json!({})).to_string()).await;
    assert_eq!(client.next().await["result"]["isError"], true);
    client.end().await;
}

/// Sends money.
#[tool(host(inline, destructive))]
fn pay(
    /// The account that is paid.
    iban: String,
    /// How much.
    amount: u32,
) -> String {
    format!("{amount} to {iban}")
}

/// A server of `pay`, where nobody knows the account, and where somebody has to agree to one of them.
fn paying(ledger: &Arc<MemoryLedger>) -> McpServer {
    let registry = Registry::builder().tool(PayTool::host()).build().expect("a registry");
    let known = source_fn(SourceKind::Preset, |ask: Ask| {
        let hit = || Hit::new(Location::whole(Pointer::Preset("usual".into()), "5"), "5", Normalisation::Exact);
        std::future::ready(if ask.slot() == "/amount" { Lookup::Hit(hit()) } else { Lookup::NoResult })
    });
    let list = Checklist::builder().source(known).build(&registry).expect("a list");
    let wary = |call: &CallFacts<'_>| match call.arguments().read::<String>("/iban") {
        Some(iban) if iban == "DE1" => Decision::ask("nobody has paid DE1 before"),
        _ => Decision::Allow,
    };
    let later = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(async move { vec![Answer::Later; set.questions.len()] })
    };
    let harness = Harness::new(registry, wary).checklist(list).approver(later).ledger(Arc::clone(ledger));
    McpServer::builder(harness).build().expect("a server")
}

/// The questions that somebody elsewhere has to answer.
pub(crate) async fn open_questions(ledger: &MemoryLedger) -> Vec<QuestionId> {
    let history = ledger.history(Query::all()).await.expect("a history");
    history.waiting().filter_map(|case| case.asked()?.question()).collect()
}

/// What was filled in raises a second question. A client that makes the same call again, which knows nothing of either,
/// goes on with the call that waits, and makes no other: in this process, and in one that has read the ledger.
#[tokio::test]
async fn i09_after_a_second_question_the_same_call_goes_on_with_the_one_that_waits() {
    for (of_newer, read_back) in [(false, false), (false, true), (true, false), (true, true)] {
        let ledger = Arc::new(MemoryLedger::default());
        let mut server = paying(&ledger);
        let meta = if of_newer { modern() } else { json!({}) };
        let call = |id: u32| {
            let params = json!({"name": "pay", "arguments": {"iban": "DE9", "amount": 5}, "_meta": meta});
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
        };
        let calls = async |server: &McpServer, id| {
            let mut client = if of_newer { RawClient::connect(server) } else { RawClient::legacy(server).await };
            client.send(&call(id)).await;
            let answer = client.next().await;
            client.end().await;
            answer
        };
        let waits = |answer: &Value| text(answer).contains("the answer comes later");
        let signer = Signer::new("ann", "desk");
        let answer = calls(&server, 1).await;
        assert!(waits(&answer), "{answer}");
        let [first] = &open_questions(&ledger).await[..] else { panic!("one question") };
        let fills = Reply::new(first.clone(), Answer::Yes, signer.clone()).fill("/iban", "\"DE1\"");
        ledger.reply(fills).await.expect("an answer that is taken");
        if read_back {
            server = paying(&ledger);
        }
        let answer = calls(&server, 2).await;
        assert!(waits(&answer), "{answer}");
        let [second] = &open_questions(&ledger).await[..] else { panic!("one question") };
        assert_ne!(first, second);
        if read_back {
            server = paying(&ledger);
        }
        let answer = calls(&server, 3).await;
        assert!(waits(&answer), "{answer}");
        assert_eq!(open_questions(&ledger).await, std::slice::from_ref(second));
        ledger.reply(Reply::new(second.clone(), Answer::Yes, signer)).await.expect("an answer that is taken");
        let answer = calls(&server, 4).await;
        assert_eq!(text(&answer), "5 to DE1");
        let history = ledger.history(Query::all()).await.expect("a history");
        assert_eq!(history.cases().len(), 1);
    }
}

/// What waits for somebody by name is nobody else's to say yes to: a process that has read the ledger doesn't take the
/// client for that person.
#[tokio::test]
async fn i09_a_client_is_not_asked_for_somebody_else() {
    let ledger = Arc::new(MemoryLedger::default());
    let guarded = || {
        let registry = Registry::builder().tool(PayTool::host()).build().expect("a registry");
        let line = r#"{"origin":"treasury policy 4","line":[{"tool":"pay","name":"recipient","check":"known",
            "approver":"@treasurer","then":"approve_if","text":"the recipient is known"}],"scope":{"calls":"none"}}"#;
        let known = |_: CheckedCall| -> BoxFuture<'static, Result<bool, String>> { Box::pin(async { Ok(true) }) };
        let list = Checklist::builder().condition("known", known).json("ours", line).build(&registry).expect("a list");
        let later = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            Box::pin(async move { vec![Answer::Later; set.questions.len()] })
        };
        let harness = Harness::new(registry, AllowAll).checklist(list).person("treasurer", later);
        McpServer::builder(harness.ledger(Arc::clone(&ledger))).build().expect("a server")
    };
    let pay = |id: u32, more: Value| {
        let mut params = json!({"name": "pay", "arguments": {"iban": "DE1", "amount": 5}, "_meta": modern()});
        for (key, value) in more.as_object().expect("members") {
            params[key] = value.clone();
        }
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
    };
    for (id, more) in [(1, json!({})), (2, json!({})), (3, json!({"inputResponses": yes()}))] {
        let mut client = RawClient::connect(&guarded());
        client.send(&pay(id, more)).await;
        let answer = client.next().await;
        assert!(text(&answer).contains("the answer comes later"), "{answer}");
        client.end().await;
    }
    let [question] = &open_questions(&ledger).await[..] else { panic!("one question") };
    let yes = Reply::new(question.clone(), Answer::Yes, Signer::new("tom", "desk"));
    ledger.reply(yes).await.expect("an answer that is taken");
    let mut client = RawClient::connect(&guarded());
    client.send(&pay(4, json!({}))).await;
    assert_eq!(text(&client.next().await), "5 to DE1");
    client.end().await;
}
