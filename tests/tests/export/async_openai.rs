//! Every shape of OpenAI's that is written here is read by a client's types, and what those write is read here.

use async_openai::types::chat::{
    ChatCompletionMessageToolCalls, ChatCompletionRequestMessage, ChatCompletionTools, CreateChatCompletionResponse,
    CreateChatCompletionStreamResponse,
};
use async_openai::types::responses::{InputItem, OutputItem, Tool};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tool_runtime::wire::export::{Deferral, Export, Namespace, Provider, Strict};
use tool_runtime::wire::{openai_chat, openai_responses};
use tool_runtime::{AllowAll, DynamicTool, Harness, HostTool, Registry, ToolResult};

use crate::schemas::{all, dynamic};
use crate::support::parse;

/// Through the client's type and back.
fn round<T: DeserializeOwned + Serialize>(value: &Value) -> Value {
    let typed: T = serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error} in {value}"));
    serde_json::to_value(&typed).unwrap_or_else(|error| panic!("{error} in {value}"))
}

fn assert_round<T: DeserializeOwned + Serialize>(value: &Value) {
    assert_eq!(round::<T>(value), without_null(value));
}

/// The client leaves out what is `null`, which is the same.
fn without_null(value: &Value) -> Value {
    match value {
        Value::Object(members) if members.contains_key("role") => members
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
        value => value.clone(),
    }
}

fn results(calls: &[tool_runtime::ToolCall]) -> Vec<ToolResult> {
    let registry = Registry::builder().tool(dynamic("a", r#"{"type":"object"}"#)).build();
    let harness = Harness::new(registry.unwrap_or_else(|error| panic!("{error}")), AllowAll);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.unwrap_or_else(|error| panic!("{error}")).block_on(harness.run(calls.to_vec()))
}

#[test]
fn declarations_are_of_their_types() {
    let tools = all();
    for strict in [Strict::No, Strict::Prefer] {
        let export = |provider| {
            let options = Export::with(provider).strict(strict).deferral(Deferral::Provider);
            parse(&options.tools(tools.iter().map(HostTool::schema)).to_json())
        };
        let each = |declared: Value| declared.as_array().cloned().unwrap_or_default();
        let chat = each(export(Provider::OpenAiChat));
        assert_eq!(chat.len(), tools.len());
        chat.iter().for_each(assert_round::<ChatCompletionTools>);
        each(export(Provider::OpenAiResponses)).iter().for_each(assert_round::<Tool>);
    }
}

#[test]
fn namespaces_and_the_search_are_of_their_types() {
    let tools = all();
    let names: Vec<&str> = tools.iter().map(HostTool::name).take(9).collect();
    let export = Export::with(Provider::OpenAiResponses).deferral(Deferral::Provider);
    let export = export.namespace(Namespace::new("first", "The first ones.").tools(names));
    let deferred = DynamicTool::builder("deferred", "Is found.").parameters(r#"{"type":"object"}"#).output("true");
    let deferred = deferred.deferred().run(|_, _| async { Ok("null".to_owned()) }).unwrap();
    let schemas = tools.iter().chain([&deferred]).map(HostTool::schema);
    let declared = parse(&export.tools(schemas).to_json());
    let declared = declared.as_array().unwrap();
    assert_eq!(declared.len(), tools.len() - 9 + 1 + 1 + 1);
    declared.iter().for_each(assert_round::<Tool>);
    assert_eq!(declared[0]["type"], "namespace");
    assert_eq!(declared[declared.len() - 1]["type"], "tool_search");
}

#[test]
fn chat_messages_are_of_their_types() {
    let message = json!({"role":"assistant","tool_calls":[
        {"id":"call_1","type":"function","function":{"name":"a","arguments":"{\"n\":1}"}},
        {"id":"call_2","type":"function","function":{"name":"none","arguments":""}}]});
    let response = json!({"id":"c","object":"chat.completion","created":1,"model":"m",
        "choices":[{"index":0,"message":message,"finish_reason":"tool_calls","logprobs":null}]});
    // What the client writes again is read as what came.
    let again = round::<CreateChatCompletionResponse>(&response).to_string();
    let calls = openai_chat::calls(&response.to_string()).unwrap();
    assert_eq!(calls.len(), 2);
    assert_eq!(openai_chat::calls(&again).unwrap(), calls);
    for call in message["tool_calls"].as_array().unwrap() {
        assert_round::<ChatCompletionMessageToolCalls>(call);
    }
    let history = parse(&openai_chat::history(&response.to_string()).unwrap());
    assert_round::<ChatCompletionRequestMessage>(&history);
    let results = results(&calls);
    let answers = openai_chat::messages(&results);
    assert_eq!(answers.len(), 2);
    for answer in &answers {
        assert_round::<ChatCompletionRequestMessage>(&parse(&answer.to_json()));
    }
}

#[test]
fn chat_streams_are_of_their_types() {
    let chunk = |delta: Value, reason: Value| {
        json!({"id":"c","object":"chat.completion.chunk","created":1,"model":"m",
            "choices":[{"index":0,"delta":delta,"finish_reason":reason}]})
    };
    let call = |id: Option<&str>, arguments: &str| {
        let mut call = json!({"index":0,"function":{"arguments":arguments}});
        if let Some(id) = id {
            call["id"] = id.into();
            call["type"] = "function".into();
            call["function"]["name"] = "a".into();
        }
        json!({"tool_calls":[call]})
    };
    let chunks = [
        chunk(call(Some("call_1"), ""), Value::Null),
        chunk(call(None, "{\"n\":"), Value::Null),
        chunk(call(None, "1}"), Value::Null),
        chunk(json!({}), "tool_calls".into()),
    ];
    let finished = |chunks: &[Value]| {
        let mut stream = openai_chat::Stream::new();
        chunks.iter().for_each(|chunk| stream.push(&chunk.to_string()).unwrap());
        let history = stream.history();
        (history, stream.finish())
    };
    let again: Vec<Value> = chunks.iter().map(round::<CreateChatCompletionStreamResponse>).collect();
    let (history, calls) = finished(&chunks);
    assert_eq!(finished(&again).1, calls);
    assert_eq!(calls[0].arguments().to_string_lossy(), r#"{"n":1}"#);
    assert_round::<ChatCompletionRequestMessage>(&parse(&history));
}

#[test]
fn items_of_responses_are_of_their_types() {
    let items = json!([
        {"type":"function_call","id":"fc_1","call_id":"call_1","name":"a","arguments":"{\"n\":1}","status":"completed"},
        {"type":"function_call","id":"fc_2","call_id":"call_2","namespace":"crm","name":"none","arguments":"","status":"completed"}]);
    let again: Vec<Value> = items.as_array().unwrap().iter().map(round::<OutputItem>).collect();
    let calls = openai_responses::calls(&json!({ "output": items }).to_string()).unwrap();
    assert_eq!(calls.len(), 2);
    assert_eq!(openai_responses::calls(&json!({ "output": again }).to_string()).unwrap(), calls);
    let history = parse(&openai_responses::history(&json!({ "output": items }).to_string()).unwrap());
    history.as_array().unwrap().iter().for_each(assert_round::<InputItem>);
    let results = results(&calls);
    let answers = openai_responses::messages(&results);
    assert_eq!(answers.len(), 2);
    for answer in &answers {
        assert_round::<InputItem>(&parse(&answer.to_json()));
    }
}
