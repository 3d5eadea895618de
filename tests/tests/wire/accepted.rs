//! What goes into the next request is what a provider takes: each call answered once, and nothing in it that it refuses.

use std::collections::HashSet;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use tests::config;

use crate::properties::{json as any_json, object, pieces, said, typed};
use crate::support::{ALL, Provider, Said, called, quoted, results_of, unnamed};

/// Is a text the JSON of an object? Read without `serde_json`'s numbers, of which it doesn't take all.
fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

fn is_name(name: &Value, longest: usize, signs: &str) -> bool {
    let takes = |c: char| c.is_ascii_alphanumeric() || c == '_' || signs.contains(c);
    name.as_str().is_some_and(|name| (1..=longest).contains(&name.len()) && name.chars().all(takes))
}

/// The members of an array.
fn all(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn of_kind<'a>(values: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    values.iter().filter(move |value| value["type"] == kind)
}

/// What stands for a call in a history, and for its answer. Calls without an identifier are answered by their name.
type Pair = (Option<String>, Option<String>);

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// What a provider looks at: the calls of the history, and what answers them.
fn pairs(provider: &Provider, history: &str, messages: &[String]) -> (Vec<Pair>, Vec<Pair>) {
    // The numbers that not every build of `serde_json` reads are none of its business.
    let read = |text: &str| -> Value {
        serde_json::from_str(&text.replace("1E+400", "1")).unwrap_or_else(|error| panic!("{error}: {text}"))
    };
    let history = read(history);
    let messages: Vec<Value> = messages.iter().map(|message| read(message)).collect();
    let by_id = |key: &'static str| move |call: &Value| (text(&call[key]), None);
    match provider.name {
        "openai_chat" => {
            assert_eq!(history["role"], "assistant");
            let calls = all(&history["tool_calls"]);
            assert_eq!(history.get("tool_calls").is_some(), !calls.is_empty(), "{history}");
            assert!(!calls.is_empty() || !history["content"].is_null() || history["refusal"].is_string(), "{history}");
            for call in calls {
                let arguments = call["function"]["arguments"].as_str().expect("text");
                assert!(arguments.trim().is_empty() || is_object(arguments), "{call}");
                assert!(is_name(&call["function"]["name"], 64, "-"), "{call}");
            }
            let answers = messages.iter().filter(|message| message["role"] == "tool");
            (calls.iter().map(by_id("id")).collect(), answers.map(by_id("tool_call_id")).collect())
        }
        "openai_responses" => {
            let items = history.as_array().expect("items");
            for call in of_kind(items, "function_call") {
                let arguments = call["arguments"].as_str().expect("text");
                assert!(arguments.trim().is_empty() || is_object(arguments), "{call}");
                assert!(is_name(&call["name"], 64, "-"), "{call}");
            }
            assert!(items.last().is_none_or(|item| item["type"] != "reasoning"), "{history}");
            let calls = of_kind(items, "function_call").map(by_id("call_id")).collect();
            (calls, of_kind(&messages, "function_call_output").map(by_id("call_id")).collect())
        }
        "anthropic" => {
            let blocks = match &history["content"] {
                Value::String(text) => &[json!({"type": "text", "text": text})],
                content => all(content),
            };
            assert!(history["role"] == "assistant" && !blocks.is_empty(), "{history}");
            assert!(of_kind(blocks, "text").all(|block| !block["text"].as_str().expect("text").trim().is_empty()));
            for call in of_kind(blocks, "tool_use") {
                assert!(call["input"].is_object() && is_name(&call["name"], 128, "-"), "{call}");
            }
            let answers: Vec<&Value> = messages.iter().flat_map(|message| all(&message["content"])).collect();
            let count = answers.iter().filter(|block| block["type"] == "tool_result").count();
            assert!(messages.len() <= 1 && answers[..count].iter().all(|block| block["type"] == "tool_result"));
            let calls = of_kind(blocks, "tool_use").map(by_id("id")).collect();
            (calls, answers[..count].iter().copied().map(by_id("tool_use_id")).collect())
        }
        "gemini" => {
            let parts = all(&history["parts"]);
            assert!(history["role"] == "model" && !parts.is_empty(), "{history}");
            for call in parts.iter().map(|part| &part["functionCall"]).filter(|call| !call.is_null()) {
                let is_fine = |args: &Value| args.is_object() || args.is_null();
                assert!(is_fine(&call["args"]) && is_name(&call["name"], 128, ".:-"), "{call}");
                assert!(call.get("id").is_none_or(|id| id.is_string() && id != ""), "{call}");
            }
            let named = |call: &Value| (text(&call["id"]), text(&call["name"]));
            let of = |parts: &[Value], key: &str| -> Vec<Pair> {
                parts.iter().map(|part| &part[key]).filter(|call| !call.is_null()).map(named).collect()
            };
            let answers: Vec<Value> = messages.iter().flat_map(|message| all(&message["parts"]).to_vec()).collect();
            (of(parts, "functionCall"), of(&answers, "functionResponse"))
        }
        "ollama" => {
            assert_eq!(history["role"], "assistant");
            let calls = all(&history["tool_calls"]);
            assert!(calls.iter().all(|call| call["function"]["arguments"].is_object()), "{history}");
            assert!(calls.iter().all(|call| call.get("id").is_none_or(Value::is_string)), "{history}");
            let called = |call: &Value| (text(&call["id"]), text(&call["function"]["name"]));
            let answered = |message: &Value| (text(&message["tool_call_id"]), text(&message["tool_name"]));
            let answers = messages.iter().filter(|message| message["role"] == "tool");
            (calls.iter().map(called).collect(), answers.map(answered).collect())
        }
        other => panic!("{other} is no provider"),
    }
}

/// Each call is answered once, in order, by an identifier of its own.
fn is_accepted(provider: &Provider, history: &str, calls: Vec<tool_runtime::ToolCall>) {
    let messages = (provider.messages)(&results_of(calls));
    let (called, answered) = pairs(provider, history, &messages);
    assert_eq!(called, answered, "{}: {history} and {messages:?}", provider.name);
    let given: Vec<&String> = called.iter().filter_map(|(id, _)| id.as_ref()).collect();
    assert_eq!(given.iter().collect::<HashSet<_>>().len(), given.len(), "{history}");
    let by_order = matches!(provider.name, "gemini" | "ollama");
    assert!(by_order || called.iter().all(|(id, _)| id.as_ref().is_some_and(|id| !id.is_empty())), "{history}");
}

fn is_accepted_whole(provider: &Provider, response: &str) {
    let calls = (provider.calls)(response).unwrap_or_else(|error| panic!("{error}: {response}"));
    let history = (provider.history)(response).unwrap_or_else(|error| panic!("{error}: {response}"));
    is_accepted(provider, &history, calls);
}

fn is_accepted_streamed(provider: &Provider, events: &[String]) {
    let streamed = (provider.stream)(events);
    is_accepted(provider, &streamed.history, streamed.calls);
}

/// Turns with whatever a model or a server may do to its calls.
fn awkward() -> Vec<Said> {
    let show = |id: &str| called(id, "show", r#"{"what":"a"}"#);
    vec![
        Said::default(),
        Said { text: " \n".to_owned(), ..Said::default() },
        Said { text: "Let me see.".to_owned(), ..Said::of([unnamed("show", r#"{"what":"a"}"#), show("1")]) },
        Said::of([show("1"), show("1"), show("1"), unnamed("show", "{}")]),
        Said::of([show("call_without_id_1"), show(""), show("call_without_id_1")]),
        Said::of([called("1", "functions.show", "{}"), called("2", "show<|channel|>commentary", "{}")]),
        Said::of([called("1", "9 lives", "{}"), called("2", &"x".repeat(200), "{}"), called("3", "", "{}")]),
        Said { cut_off: true, ..Said::of([show("1"), show("2")]) },
    ]
}

#[test]
fn b58_calls_without_identifiers_of_their_own_are_answered_by_those_that_the_history_has() {
    for provider in &ALL {
        for said in awkward() {
            is_accepted_whole(provider, &(provider.whole)(&said));
            // Some servers count calls.
            is_accepted_whole(provider, &(provider.whole)(&said).replace("\"id\":\"1\"", "\"id\":1"));
        }
    }
}

#[test]
fn b39_however_early_a_stream_ends_its_history_is_taken() {
    for provider in &ALL {
        for said in awkward() {
            let events = (provider.pieces)(&said, &mut |text| pieces(text, &[3]));
            (0..=events.len()).for_each(|count| is_accepted_streamed(provider, &events[..count]));
        }
    }
}

#[test]
fn arguments_that_are_no_object_are_one_in_the_history() {
    for arguments in
        ["null", "7", "[{}]", "true", "\"\"", "\" \"", r#""{\"what\":\"a\"}""#, r#""{\"what\":""#, r#""[]""#]
    {
        for provider in ALL.iter().filter(|provider| !provider.of_text) {
            is_accepted_whole(provider, &(provider.whole)(&Said::of([called("1", "show", arguments)])));
        }
    }
    for arguments in ["", " ", "null", "7", "[]", r#"{"what":"#, r#"{"what":"a"}{"what":"a"}"#, "what=a"] {
        let said = Said::of([called("1", "show", arguments), called("2", "show", r#"{"what":"a"}"#)]);
        for provider in ALL.iter().filter(|provider| provider.of_text) {
            is_accepted_whole(provider, &(provider.whole)(&said));
            is_accepted_streamed(provider, &(provider.pieces)(&said, &mut |text| pieces(text, &[2])));
        }
    }
}

/// What a server leaves out that the format has.
#[test]
fn what_a_message_lacks_it_has_in_the_history() {
    let message = |provider: &str| match provider {
        "openai_chat" => r#"{"content":null,"tool_calls":[{"id":"1","function":{"name":"show"}}]}"#,
        "openai_responses" => r#"[{"type":"function_call","name":"show"}]"#,
        "anthropic" => r#"[{"type":"text"},{"type":"tool_use","name":"show"}]"#,
        "gemini" => r#"{"parts":[{"functionCall":{"name":"show"}}]}"#,
        _ => r#"{"content":"","tool_calls":[{"function":{"name":"show"}}]}"#,
    };
    for provider in &ALL {
        is_accepted_whole(provider, message(provider.name));
    }
    for nothing in [r#"{"role":"assistant","content":null}"#, r#"{"content":null,"tool_calls":[]}"#] {
        let message = format!(r#"{{"choices":[{{"message":{nothing}}}]}}"#);
        is_accepted_whole(&ALL[0], &message);
    }
    for content in ["[]", "\"\"", r#"[{"type":"text","text":" "}]"#] {
        is_accepted_whole(&ALL[2], &format!(r#"{{"role":"assistant","content":{content},"stop_reason":"end_turn"}}"#));
    }
    let (thought, said) = (r#"{"type":"reasoning","id":"rs"}"#, r#"{"type":"message","id":"m"}"#);
    for (output, sent) in [
        (format!("[{thought}]"), "[]".to_owned()),
        (format!("[ {thought},{said} ]"), format!("[ {thought},{said} ]")),
        (format!("[{said},{thought} , {thought}]"), format!("[{said}]")),
    ] {
        let response = format!(r#"{{"status":"incomplete","output":{output}}}"#);
        is_accepted_whole(&ALL[1], &response);
        assert_eq!((ALL[1].history)(&response).as_ref(), Ok(&sent));
    }
    for content in ["", r#""content":{},"#, r#""content":{"role":"model"},"#, r#""content":{"parts":[]},"#] {
        is_accepted_whole(&ALL[3], &format!(r#"{{"candidates":[{{{content}"finishReason":"STOP"}}]}}"#));
    }
}

#[test]
fn deltas_in_any_order_are_calls_that_are_answered() {
    let chat = |calls: &str| format!(r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{calls}]}}}}]}}"#);
    let arguments =
        |index: u8, text: &str| chat(&format!(r#"{{"index":{index},"function":{{"arguments":{}}}}}"#, quoted(text)));
    let ends = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#.to_owned();
    let begin = |index: u8, id: &str, name: &str| {
        chat(&format!(
            r#"{{"index":{index},"id":{},"type":"function","function":{{"name":{}}}}}"#,
            quoted(id),
            quoted(name)
        ))
    };
    let chats: [&[String]; 7] = [
        // The second first, and both by turns.
        &[
            begin(1, "b", "show"),
            begin(0, "a", "show"),
            arguments(1, r#"{"what":"#),
            arguments(0, r#"{"what":"a"}"#),
            arguments(1, r#""b"}"#),
        ],
        // Arguments before the call has a name.
        &[arguments(0, r#"{"what":"#), begin(0, "a", "show"), arguments(0, r#""b"}"#)],
        // No name at all, and none but an empty one.
        &[arguments(0, "{}"), begin(1, "a", "")],
        // One index, and one identifier, of two calls.
        &[
            begin(0, "a", "show"),
            arguments(0, r#"{"what":"a"}"#),
            begin(0, "b", "show"),
            arguments(0, r#"{"what":"b"}"#),
        ],
        &[
            begin(0, "a", "show"),
            arguments(0, r#"{"what":"a"}"#),
            begin(1, "a", "show"),
            arguments(1, r#"{"what":"b"}"#),
        ],
        // Half an escape, and half a character in one.
        &[begin(0, "a", "show"), arguments(0, r#"{"what":"\ud83"#), arguments(0, r#"c\u"#), arguments(0, r#"df78"}"#)],
        &[begin(0, "a", "show"), chat(r#"{"index":0,"function":{"arguments":null}}"#)],
    ];
    for events in chats {
        for events in [events.to_vec(), [events, std::slice::from_ref(&ends)].concat()] {
            is_accepted_streamed(&ALL[0], &events);
        }
    }
    let read = (ALL[0].stream)(&[chats[5], &[ends]].concat());
    assert_eq!(results_of(read.calls)[0].text(), "\u{1f378}");

    let item = |event: &str, index: u8, rest: &str| {
        format!(
            r#"{{"type":"response.output_item.{event}","output_index":{index},"item":{{"type":"function_call"{rest}}}}}"#
        )
    };
    let delta = |index: u8, text: &str| {
        format!(
            r#"{{"type":"response.function_call_arguments.delta","output_index":{index},"delta":{}}}"#,
            quoted(text)
        )
    };
    let a = r#","call_id":"a","name":"show","arguments":"{\"what\":\"a\"}""#;
    let responses: [&[String]; 6] = [
        // Done before it was added, pieces before both, and done twice.
        &[delta(0, "{}"), item("done", 0, a), item("added", 0, a)],
        &[item("added", 0, a), item("done", 0, a), item("done", 0, a)],
        &[item("added", 1, a), item("added", 0, r#","call_id":"a","name":"show","arguments":"""#), delta(0, "{")],
        // Without a name, and a number for an identifier.
        &[item("added", 0, r#","call_id":"a""#), delta(0, "{}")],
        &[
            item("added", 0, r#","call_id":7,"name":"show""#),
            item("done", 0, r#","call_id":7,"name":"show","arguments":"{}""#),
        ],
        &[
            item("done", 0, r#","name":"show","arguments":null"#),
            item("done", 1, r#","name":"show","arguments":"nonsense""#),
        ],
    ];
    responses.iter().for_each(|events| is_accepted_streamed(&ALL[1], events));

    let start = |index: u8, rest: &str| {
        format!(r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"tool_use"{rest}}}}}"#)
    };
    let piece = |index: u8, text: &str| {
        format!(
            r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"input_json_delta","partial_json":{}}}}}"#,
            quoted(text)
        )
    };
    let stop = |index: u8| format!(r#"{{"type":"content_block_stop","index":{index}}}"#);
    let a = r#","id":"a","name":"show","input":{}"#;
    let blocks: [&[String]; 6] = [
        &[start(1, a), start(0, a), piece(1, "{"), piece(0, "{}"), piece(1, "}"), stop(0), stop(1)],
        &[piece(0, "{}"), stop(0), start(0, a), stop(0)],
        &[start(0, a), stop(0), start(0, r#","id":"b","name":"show","input":null"#), stop(0)],
        &[start(0, r#","name":"show""#), piece(0, "[]"), stop(0)],
        &[start(0, r#","id":7,"name":"show","input":"""#), stop(0)],
        &[start(0, r#","id":"a""#), stop(0)],
    ];
    blocks.iter().for_each(|events| is_accepted_streamed(&ALL[2], events));
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn whatever_a_turn_is_it_is_accepted(said in said(), at in any::<prop::sample::Index>(), split in vec(1_usize..9, 1..4)) {
        for provider in &ALL {
            is_accepted_whole(provider, &(provider.whole)(&said));
            let events = (provider.pieces)(&said, &mut |text| pieces(text, &split));
            is_accepted_streamed(provider, &events[..at.index(events.len() + 1)]);
            is_accepted_streamed(provider, &events);
        }
    }

    #[test]
    fn whatever_comes_of_any_events_is_accepted(events in vec(prop_oneof![object(any_json()), typed()], 0..8)) {
        for provider in &ALL {
            is_accepted_streamed(provider, &events);
            for event in &events {
                if (provider.calls)(event).is_ok() {
                    is_accepted_whole(provider, event);
                }
            }
        }
    }
}
