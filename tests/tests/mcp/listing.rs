//! What a client sees of the tools.

use std::num::NonZeroUsize;

use serde_json::{Value, json};
use tool_runtime::mcp::McpServer;
use tool_runtime::{AllowAll, DynamicTool, Harness, HostTool, Loaded, Registry, tool};

use crate::support::{AddTool, EchoTool, RawClient, WipeTool, harness, server};

/// Says what time it is.
#[tool(host(inline))]
fn now() -> String {
    "late".to_owned()
}

/// Rarely needed.
#[tool(defer, host(inline))]
fn rare() {}

fn returning(name: &str, output: &str) -> HostTool {
    let built = DynamicTool::builder(name, "Returns something.").output(output);
    built.run(|_, _| async { Ok("null".to_owned()) }).expect("a tool")
}

fn serving(tools: impl IntoIterator<Item = HostTool>) -> McpServer {
    let registry = Registry::builder().tools(tools).build().expect("a registry");
    McpServer::builder(Harness::new(registry, AllowAll)).build().expect("a server")
}

async fn list(client: &mut RawClient, params: Value) -> Value {
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params}).to_string()).await;
    client.next().await
}

/// What a request of 2026-07-28 brings with it.
pub(crate) fn modern() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    })
}

async fn listed(server: &McpServer, is_modern: bool) -> Vec<Value> {
    let (mut client, params) = match is_modern {
        true => (RawClient::connect(server), json!({"_meta": modern()})),
        false => (RawClient::legacy(server).await, json!({})),
    };
    let answer = list(&mut client, params).await;
    client.end().await;
    answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

#[tokio::test]
async fn b18_a_tool_without_arguments_takes_an_empty_object() {
    let tools = listed(&serving([NowTool::host()]), false).await;
    assert_eq!(tools[0]["inputSchema"], json!({"type": "object", "properties": {}, "additionalProperties": false}));
}

#[tokio::test]
async fn b25_b76_d20_schemas_have_no_dialect_and_objects_at_their_roots() {
    let outputs = [
        ("integer", r#"{"type":"integer"}"#, true),
        ("list", r#"{"type":"array","items":{"type":"string"}}"#, true),
        ("nothing", r#"{"type":"null"}"#, false),
        ("anything", "true", false),
        ("object", r#"{"type":"object"}"#, true),
    ];
    let server = serving(outputs.map(|(name, output, _)| returning(name, output)).into_iter().chain([AddTool::host()]));
    for tool in listed(&server, false).await {
        // Clients of then refuse the whole list for another root.
        assert!(tool.get("outputSchema").is_none_or(|schema| schema["type"] == "object"), "{tool}");
        assert!(!tool.to_string().contains("$schema"), "{tool}");
    }
    let tools = listed(&server, true).await;
    for (name, _, shown) in outputs {
        let tool = tools.iter().find(|tool| tool["name"] == name).expect(name);
        assert_eq!(tool.get("outputSchema").is_some(), shown, "{tool}");
    }
}

#[tokio::test]
async fn schemas_are_shown_as_they_are_enforced() {
    let schema = r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"a":{"$anchor":"here","type":"string"}},"properties":{"z":{"$ref":"#/$defs/a"},"a":{"allOf":[{"type":"integer"},{"minimum":0.1}]}},"if":{"required":["z"]},"then":{"required":["a"]},"additionalProperties":true}"##;
    let tool = DynamicTool::builder("full", "Has a full schema.")
        .parameters(schema)
        .composed_root()
        .output("true")
        .run(|_, _| async { Ok("null".to_owned()) })
        .expect("a tool");
    let server = serving([tool]);
    for is_modern in [false, true] {
        let tools = listed(&server, is_modern).await;
        assert_eq!(tools[0]["inputSchema"].to_string(), schema);
    }
    let mut client = RawClient::legacy(&server).await;
    client.call(1, "full", r#"{"z":"x"}"#).await;
    assert_eq!(client.next().await["result"]["isError"], true);
    client.end().await;
}

/// Forms that can't be told apart without the `jsonschema` crate, at the root and below it.
#[tokio::test]
async fn i06_composed_schemas_are_enforced_as_a_whole() {
    let schema = r#"{"type":"object","properties":{"how":{"enum":["phone","email"]},"phone":{"anyOf":[{"type":"string","pattern":"^[0-9]+$"},{"type":"string","pattern":"^[+]"}]},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],"if":{"properties":{"how":{"const":"phone"}},"required":["how"]},"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}"#;
    let tool = DynamicTool::builder("reach", "Reaches somebody.")
        .parameters(schema)
        .composed_root()
        .output(r#"{"anyOf":[{"type":"string","pattern":"^a"},{"type":"string","pattern":"^b"}]}"#)
        .run(|arguments, _| async move { Ok(if arguments.contains("bad") { r#""c""# } else { r#""b""# }.to_owned()) })
        .expect("a tool");
    let server = serving([tool]);
    assert_eq!(listed(&server, true).await[0]["inputSchema"].to_string(), schema);
    let mut client = RawClient::legacy(&server).await;
    for (arguments, is_error) in [
        (r#"{"how":"phone","phone":"123"}"#, false),
        (r#"{"how":"phone","phone":"+1"}"#, false),
        (r#"{"how":"phone","phone":"x"}"#, true),
        (r#"{"how":"phone","email":"a"}"#, true),
        (r#"{"how":"email","email":"a"}"#, false),
        (r#"{"how":"email","email":"bad"}"#, true),
        (r#"{"how":"email","phone":"123"}"#, true),
        (r#"{"how":"fax","email":"a"}"#, true),
        (r#"{"email":"a","other":1}"#, true),
        ("{}", true),
    ] {
        client.call(1, "reach", arguments).await;
        let answer = client.next().await;
        assert_eq!(answer["result"]["isError"], is_error, "{arguments}: {answer}");
    }
    client.end().await;
}

#[tokio::test]
async fn hints_are_the_hosts() {
    let tools = listed(&server(), false).await;
    let find = |name: &str| tools.iter().find(|tool| tool["name"] == name).expect("a tool").clone();
    assert_eq!(find("add")["annotations"], json!({"readOnlyHint": true, "idempotentHint": true}));
    assert_eq!(find("wipe")["annotations"], json!({"destructiveHint": true}));
    assert_eq!(find("echo").get("annotations"), None);
}

#[tokio::test]
async fn pages_follow_each_other_and_other_lists_have_others() {
    let page = NonZeroUsize::new(3).expect("three");
    let server = McpServer::builder(harness(AllowAll)).page_size(page).build().expect("a server");
    let mut client = RawClient::legacy(&server).await;
    let (mut names, mut cursor) = (Vec::new(), None);
    loop {
        let answer =
            list(&mut client, cursor.map_or_else(|| json!({}), |cursor: Value| json!({"cursor": cursor}))).await;
        let tools = answer["result"]["tools"].as_array().expect("a page").clone();
        assert!((1..=3).contains(&tools.len()));
        names.extend(tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()));
        match answer["result"].get("nextCursor") {
            Some(next) => cursor = Some(next.clone()),
            None => break,
        }
    }
    let all: Vec<_> = server_names();
    assert_eq!(names, all);
    for cursor in ["", "nonsense", "0000000000000000-3"] {
        assert_eq!(list(&mut client, json!({"cursor": cursor})).await["error"]["code"], -32602, "{cursor}");
    }
    client.end().await;
}

fn server_names() -> Vec<String> {
    crate::support::registry().iter().map(|tool| tool.name().to_owned()).collect()
}

#[tokio::test]
async fn deferred_tools_are_listed_once_they_are_loaded() {
    let loaded = Loaded::new();
    let registry = Registry::builder().tools([EchoTool::host(), RareTool::host()]).build().expect("a registry");
    let server = McpServer::builder(Harness::new(registry, AllowAll).loaded(loaded.clone())).build().expect("a server");
    let names = |tools: Vec<Value>| tools.iter().map(|tool| tool["name"].to_string()).collect::<Vec<_>>();
    assert_eq!(names(listed(&server, false).await), [r#""echo""#]);
    let mut client = RawClient::legacy(&server).await;
    client.call(1, "rare", "{}").await;
    assert_eq!(client.next().await["result"]["isError"], true);
    loaded.load("rare");
    client.call(2, "rare", "{}").await;
    assert_eq!(client.next().await["result"]["isError"], false);
    let tools = listed(&server, false).await;
    assert!(tools.iter().all(|tool| tool.get("defer").is_none()));
    assert_eq!(names(tools), [r#""echo""#, r#""rare""#]);
    client.end().await;
}

#[tokio::test]
async fn clients_hear_of_a_list_that_is_another() {
    let server = serving([EchoTool::host()]);
    let mut legacy = RawClient::legacy(&server).await;
    let mut modern_client = RawClient::connect(&server);
    let listen = json!({"jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen", "params": {
        "_meta": modern(), "notifications": {"toolsListChanged": true},
    }});
    modern_client.send(&listen.to_string()).await;
    assert_eq!(modern_client.next().await["method"], "notifications/subscriptions/acknowledged");
    // Nothing may be lost between the handshake and the change.
    legacy.call(1, "echo", r#"{"text":"a"}"#).await;
    assert_eq!(legacy.next().await["id"], 1);
    let registry = |tools: Vec<HostTool>| Registry::builder().tools(tools).build().expect("a registry");
    server.replace(Harness::new(registry(vec![EchoTool::host()]), AllowAll)).expect("the same list");
    server.replace(Harness::new(registry(vec![WipeTool::host()]), AllowAll)).expect("another list");
    for client in [&mut legacy, &mut modern_client] {
        assert_eq!(client.next().await["method"], "notifications/tools/list_changed");
    }
    legacy.call(2, "wipe", r#"{"name":"a"}"#).await;
    assert_eq!(legacy.next().await["result"]["isError"], false);
    legacy.end().await;
}
