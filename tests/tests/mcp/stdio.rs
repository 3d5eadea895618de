//! What a peer may write on a line.

use serde_json::json;

use crate::support::{RawClient, server, text};

/// Each line, and how it has to be answered: the id, and the code of the error if it is one of the protocol.
#[tokio::test]
async fn i03_every_line_that_asks_is_answered_once_in_order() {
    let mut client = RawClient::legacy(&server()).await;
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let lines = [
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{"text":{deep}}}}}}}"#
            ),
            json!(1),
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":1e400,"b":1}}}"#
                .into(),
            json!(2),
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"\ud800"}}}"#
                .into(),
            json!(3),
            None,
        ),
        (r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"#.into(), json!(4), Some(-32700)),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"add","arguments":[1]}}"#.into(),
            json!(5),
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"add","arguments":"{\"a\":1,\"b\":"}}"#
                .into(),
            json!(6),
            None,
        ),
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"{}"}}}}}}"#,
                "x".repeat(17 << 20)
            ),
            json!(7),
            Some(-32600),
        ),
        (
            r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"a":2,"b":3}}}"#
                .into(),
            json!(8),
            None,
        ),
        ("nothing of the kind".into(), json!(null), Some(-32700)),
        (
            r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"add","requestState":7}}"#.into(),
            json!(9),
            Some(-32602),
        ),
        (r#"{"jsonrpc":"2.0","id":10,"method":"no/such"}"#.into(), json!(10), Some(-32601)),
    ];
    for (line, id, code) in &lines {
        client.send(line).await;
        let answer = client.next().await;
        let shown = &line[..line.len().min(120)];
        assert_eq!(answer["id"], *id, "{shown}: {answer}");
        assert_eq!(answer["error"]["code"].as_i64(), *code, "{shown}: {answer}");
        if code.is_none() {
            // The model is to read what is wrong: B51.
            assert_eq!(answer["result"]["isError"], true, "{shown}: {answer}");
        }
    }
    client.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":11,\"method\":\"tools/call\",\"x\":\"\xff\"}").await;
    let answer = client.next().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(11), &json!(-32700)));
    // Whole numbers with a point, and the object as text, are taken as everywhere.
    for (id, taken) in (12..).zip([r#"{"a": 2, "b": 40.0}"#, r#""{\"a\":2,\"b\":40}""#]) {
        client.call(id, "add", taken).await;
        assert_eq!(client.next().await["result"]["structuredContent"], json!({"sum": 42}));
    }
    client.end().await;
}

#[tokio::test]
async fn b44_numbers_reach_tools_as_they_were_sent() {
    let registry = tool_runtime::Registry::builder()
        .tool(
            tool_runtime::DynamicTool::builder("same", "Says its arguments again.")
                .parameters(r#"{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}"#)
                .output("true")
                .run(|arguments, _| async move { Ok(arguments) })
                .expect("a tool"),
        )
        .build()
        .expect("a registry");
    let harness = tool_runtime::Harness::new(registry, tool_runtime::AllowAll);
    let server = tool_runtime::mcp::McpServer::builder(harness).build().expect("a server");
    let mut client = RawClient::legacy(&server).await;
    let numbers =
        ["9007199254740993", "18446744073709551616", "0.1", "48.858370000000001", "5e-324", "1.7976931348623157e308"];
    for (id, number) in (1..).zip(numbers) {
        client.call(id, "same", &format!(r#"{{"n":{number}}}"#)).await;
        let answer = client.next().await;
        let said: &str = text(&answer);
        let said = said.strip_prefix(r#"{"n":"#).and_then(|rest| rest.strip_suffix('}')).expect(said);
        let same = said == number
            || (!number.bytes().all(|b| b.is_ascii_digit()) && said.parse::<f64>() == number.parse::<f64>());
        assert!(same, "{number}: {said}");
    }
    client.end().await;
}

#[tokio::test]
async fn requests_of_one_id_at_a_time_are_answered_each() {
    let mut client = RawClient::legacy(&server()).await;
    client.call(1, "forever", "{}").await;
    client.call(1, "add", r#"{"a":1,"b":2}"#).await;
    let refused = client.next().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32600)), "{refused}");
    // Once it is cancelled nobody waits for it.
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    client.call(2, "add", r#"{"a":1,"b":2}"#).await;
    let answer = client.next().await;
    assert_eq!((&answer["id"], &answer["result"]["structuredContent"]["sum"]), (&json!(2), &json!(3)), "{answer}");
    client.end().await;
}

/// A call that is cancelled may come to its end late. Under its id nothing else is to be answered by that.
#[tokio::test]
async fn the_id_of_a_cancelled_request_is_not_used_again() {
    let mut client = RawClient::legacy(&server()).await;
    for id in ["1", "\"one\""] {
        client.send(&call(id, "forever")).await;
        for _ in 0..2 {
            // Unknown ones, and one twice.
            for cancelled in ["7", id] {
                let params = format!(r#"{{"requestId":{cancelled}}}"#);
                let line = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#);
                client.send(&line).await;
            }
        }
        client.send(&call(id, "forever")).await;
        let refused = client.next().await;
        assert_eq!(
            (refused["id"].to_string(), &refused["error"]["code"]),
            (id.to_owned(), &json!(-32600)),
            "{refused}"
        );
    }
    // An id that was cancelled before there was a request of it is as good as any.
    client.call(7, "add", r#"{"a":1,"b":2}"#).await;
    let answer = client.next().await;
    assert_eq!((&answer["id"], &answer["result"]["structuredContent"]["sum"]), (&json!(7), &json!(3)), "{answer}");
    client.end().await;

    fn call(id: &str, tool: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}}}}}}"#)
    }
}

#[tokio::test]
async fn b51_what_a_model_can_mend_it_reads_and_an_unknown_tool_is_the_protocols() {
    let mut client = RawClient::legacy(&server()).await;
    for (id, (name, arguments, says)) in (1..).zip([
        ("add", r#"{"a":1}"#, "`b`"),
        ("add", r#"{"a":"one","b":2}"#, "expected integer"),
        ("fail", "{}", "it was not to be"),
    ]) {
        client.call(id, name, arguments).await;
        let answer = client.next().await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(text(&answer).contains(says), "{answer}");
    }
    client.call(8, "explode", "{}").await;
    let answer = client.next().await;
    assert_eq!(answer["result"]["isError"], true);
    assert!(!answer.to_string().contains("4711"), "{answer}");
    client.call(9, "ad", "{}").await;
    let answer = client.next().await;
    assert_eq!(answer["error"]["code"], -32602);
    assert!(answer["error"]["message"].as_str().is_some_and(|said| said.contains("`add`")), "{answer}");
    client.end().await;
}

#[tokio::test]
async fn progress_comes_in_order_and_none_after_the_result() {
    let mut client = RawClient::legacy(&server()).await;
    client
        .send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","arguments":{"to":10},"_meta":{"progressToken":"t"}}}"#)
        .await;
    let mut reported = Vec::new();
    loop {
        let message = client.next().await;
        if message["id"] == 1 {
            assert_eq!(text(&message), "10");
            break;
        }
        assert_eq!(message["params"]["progressToken"], "t");
        reported.push(message["params"]["progress"].as_f64().expect("a number"));
    }
    assert_eq!(reported.len(), 10);
    assert!(reported.is_sorted_by(|a, b| a < b), "{reported:?}");
    client.end().await;
}

#[tokio::test]
async fn blocks_of_all_kinds_reach_the_client() {
    let mut client = RawClient::legacy(&server()).await;
    client.call(1, "picture", "{}").await;
    let answer = client.next().await;
    let content = &answer["result"]["content"];
    assert_eq!(content[0], json!({"type": "text", "text": "a dot"}));
    assert_eq!(content[1], json!({"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}));
    assert_eq!(content[2], json!({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}));
    assert_eq!(answer["result"].get("structuredContent"), None);
    client.end().await;
}

#[tokio::test]
async fn a_connection_is_initialized_once() {
    let mut client = RawClient::legacy(&server()).await;
    let again = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2026-07-28", "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "other", "version": "1"},
    }});
    client.send(&again.to_string()).await;
    assert_eq!(client.next().await["error"]["code"], -32600);
    client.call(2, "echo", r#"{"text":"on"}"#).await;
    assert_eq!(text(&client.next().await), "on");
    client.end().await;
}

/// Each would be remembered, and each told.
#[tokio::test]
async fn whoever_says_often_that_it_is_ready_is_told_once() {
    let server = server();
    let mut client = RawClient::legacy(&server).await;
    for _ in 0..3 {
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    }
    client.call(1, "echo", r#"{"text":"on"}"#).await;
    assert_eq!(text(&client.next().await), "on");
    let none = tool_runtime::Registry::builder().build().expect("a registry");
    server.replace(tool_runtime::Harness::new(none, tool_runtime::AllowAll)).expect("a server");
    assert_eq!(client.next().await["method"], "notifications/tools/list_changed");
    client.end().await;
}

/// Such as a client that asks by which revision it may speak, gives that up, and asks another way.
#[tokio::test]
async fn what_is_said_before_the_beginning_ends_no_connection() {
    let mut client = RawClient::connect(&server());
    for line in [
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}"#,
        r#"{"jsonrpc":"2.0","id":4711,"result":{}}"#,
        "no message at all",
    ] {
        client.send(line).await;
    }
    assert_eq!(client.next().await["error"]["code"], -32700);
    // A call without what has to go with it doesn't begin anything, either.
    client.call(1, "echo", r#"{"text":"early"}"#).await;
    assert_eq!(client.next().await["error"]["code"], -32602);
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    let params = json!({"name": "echo", "arguments": {"text": "on"}, "_meta": crate::listing::modern()});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    client.send(&call.to_string()).await;
    assert_eq!(text(&client.next().await), "on");
    client.end().await;
}
