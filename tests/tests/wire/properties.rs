//! Whatever comes as a response or as an event is data, and whatever is sent is read as it was.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use tests::config;

use crate::support::{ALL, Called, Said, quoted};

/// The text of a JSON value, in any spelling.
pub(crate) fn json() -> impl Strategy<Value = String> {
    let string = prop_oneof![
        any::<String>().prop_map(|text| quoted(&text)),
        Just(r#""\ud83c\udf78\/\u0041""#.to_owned()),
        Just(r#""\ud800""#.to_owned()),
    ];
    let number = prop_oneof![
        Just("1.0".to_owned()),
        Just("-0".to_owned()),
        Just("1E+400".to_owned()),
        Just("123456789012345678901234567890".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
    ];
    let word = prop_oneof![Just("null".to_owned()), Just("true".to_owned()), Just("false".to_owned())];
    let leaf = prop_oneof![string.boxed(), number.boxed(), word.boxed()];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![vec(inner.clone(), 0..4).prop_map(|all| format!("[{}]", all.join(" , "))), object(inner)]
    })
}

/// Names that formats have, so that what is read by them is met; and others, also twice.
fn key() -> impl Strategy<Value = String> {
    const KEYS: [&str; 41] = [
        "choices",
        "message",
        "delta",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "id",
        "index",
        "finish_reason",
        "output",
        "type",
        "call_id",
        "item",
        "response",
        "status",
        "output_index",
        "content",
        "input",
        "stop_reason",
        "content_block",
        "partial_json",
        "text",
        "thinking",
        "candidates",
        "parts",
        "functionCall",
        "args",
        "partialArgs",
        "willContinue",
        "jsonPath",
        "stringValue",
        "numberValue",
        "namespace",
        "promptFeedback",
        "error",
        "done_reason",
        "role",
        "a",
        "",
        "\u{1f378}",
    ];
    prop::sample::select(&KEYS[..]).prop_map(quoted)
}

pub(crate) fn object(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    vec((key(), inner), 0..5).prop_map(|members| {
        let members: Vec<String> = members.into_iter().map(|(key, value)| format!("{key}: {value}")).collect();
        format!("{{{}}}", members.join(" ,\n"))
    })
}

/// Values of `type`, which decide what is read.
pub(crate) fn typed() -> impl Strategy<Value = String> {
    const TYPES: [&str; 16] = [
        "response.output_item.added",
        "response.output_item.done",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_text.delta",
        "response.completed",
        "response.failed",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "error",
        "function_call",
        "tool_use",
        "input_json_delta",
        "text_delta",
    ];
    let rest = vec((key().prop_filter("a type of its own", |key| key != "\"type\""), json()), 0..5);
    (prop::sample::select(&TYPES[..]), rest).prop_map(|(kind, rest)| {
        let rest: String = rest.into_iter().map(|(key, value)| format!(",{key}:{value}")).collect();
        format!(r#"{{"type":{}{rest}}}"#, quoted(kind))
    })
}

fn called() -> impl Strategy<Value = Called> {
    let id = option::of(prop_oneof!["[a-z0-9_]{1,40}", ".{1,5}", Just("twice".to_owned())]);
    let name = prop_oneof!["[a-z_]{1,20}", any::<String>()];
    (id, name, object(json())).prop_map(|(id, name, arguments)| Called { id, name, arguments })
}

pub(crate) fn said() -> impl Strategy<Value = Said> {
    (any::<String>(), vec(called(), 0..4), any::<bool>()).prop_map(|(text, calls, cut_off)| Said {
        text,
        calls,
        cut_off,
    })
}

/// In pieces of these lengths, over and over.
pub(crate) fn pieces(text: &str, lengths: &[usize]) -> Vec<String> {
    let mut rest: Vec<char> = text.chars().collect();
    let mut lengths = lengths.iter().cycle();
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let length = lengths.next().copied().unwrap_or(1).min(rest.len());
        pieces.push(rest.drain(..length).collect());
    }
    pieces
}

/// Nothing panics, and what is read can be sent.
fn is_data(text: &str, split: &[usize]) {
    for provider in &ALL {
        let read = (provider.calls)(text).map(|calls| calls.len()).unwrap_or(0);
        let _ = (provider.text)(text);
        if let Ok(history) = (provider.history)(text) {
            assert!(serde_json::from_str::<serde::de::IgnoredAny>(&history).is_ok(), "{history}");
            let again = (provider.calls)(&history).map(|calls| calls.len()).unwrap_or(0);
            assert_eq!(again, read, "{history} of {text}");
        }
        for events in [vec![text.to_owned()], pieces(text, split)] {
            let streamed = (provider.stream)(&events);
            assert!(serde_json::from_str::<serde::de::IgnoredAny>(&streamed.history).is_ok(), "{}", streamed.history);
        }
    }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn i14_any_bytes_are_data(bytes in vec(any::<u8>(), 0..200), split in vec(1_usize..20, 1..4)) {
        is_data(&String::from_utf8_lossy(&bytes), &split);
    }

    #[test]
    fn i14_any_json_is_data(text in prop_oneof![json(), object(json()), typed()], split in vec(1_usize..20, 1..4)) {
        is_data(&text, &split);
    }

    #[test]
    fn i14_any_events_are_data(events in vec(prop_oneof![object(json()), typed()], 0..8)) {
        for provider in &ALL {
            let streamed = (provider.stream)(&events);
            let history = serde_json::from_str::<serde::de::IgnoredAny>(&streamed.history);
            prop_assert!(history.is_ok(), "{}", streamed.history);
            let again = (provider.calls)(&streamed.history);
            prop_assert_eq!(again.map(|calls| calls.len()), Ok(streamed.calls.len()), "{}", streamed.history);
        }
    }

    #[test]
    fn i14_half_a_response_is_data(said in said(), at in any::<prop::sample::Index>(), split in vec(1_usize..9, 1..4)) {
        for provider in &ALL {
            let response = (provider.whole)(&said);
            let half = &response[..response.floor_char_boundary(at.index(response.len() + 1))];
            is_data(half, &split);
        }
    }

    #[test]
    fn what_is_sent_is_read_as_it_was(said in said(), split in vec(1_usize..9, 1..4)) {
        for provider in &ALL {
            let response = (provider.whole)(&said);
            prop_assert_eq!((provider.calls)(&response), Ok(said.expected()), "{}", response);
            prop_assert_eq!((provider.text)(&response), Ok(said.text.clone()));
            let streamed = (provider.stream)(&(provider.pieces)(&said, &mut |text| pieces(text, &split)));
            prop_assert_eq!(&streamed.errors, &[]);
            prop_assert_eq!(&streamed.calls, &said.expected(), "{}", response);
            prop_assert_eq!(&streamed.text, &said.text);
            let again = (provider.calls)(&streamed.history);
            prop_assert_eq!(again.map(|calls| calls.len()), Ok(said.calls.len()), "{}", streamed.history);
        }
    }

    #[test]
    fn arguments_that_are_text_may_be_anything(arguments in any::<String>(), split in vec(1_usize..9, 1..4)) {
        let said = Said::of([Called { id: Some("1".to_owned()), name: "a".to_owned(), arguments }]);
        for provider in ALL.iter().filter(|provider| provider.of_text) {
            prop_assert_eq!((provider.calls)(&(provider.whole)(&said)), Ok(said.expected()));
            let streamed = (provider.stream)(&(provider.pieces)(&said, &mut |text| pieces(text, &split)));
            prop_assert_eq!(streamed.calls, said.expected());
        }
    }
}
