//! Calls of Gemini whose arguments come in pieces: paths, and typed values to put there.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use tests::config;
use tool_runtime::wire::gemini::{self, Stream};

use crate::properties::pieces;
use crate::support::{Streamed, arguments, ids, quoted, results_of, streamed, truncated};

/// An event with one part.
fn event(part: &str) -> String {
    format!(r#"{{"candidates":[{{"content":{{"role":"model","parts":[{part}]}}}}]}}"#)
}

fn call(members: &str) -> String {
    event(&format!(r#"{{"functionCall":{{{members}}}}}"#))
}

/// A part that goes on, with one piece.
fn piece(path: &str, value: &str) -> String {
    call(&format!(r#""partialArgs":[{{"jsonPath":{}{value}}}],"willContinue":true"#, quoted(path)))
}

fn read(events: &[String]) -> Streamed {
    streamed("gemini", &events.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The arguments of a call of these pieces.
fn of(pieces: &[(&str, &str)]) -> Streamed {
    let begin = call(r#""name":"a","willContinue":true"#);
    let all = pieces.iter().map(|(path, value)| piece(path, value));
    read(&std::iter::once(begin).chain(all).chain([call("")]).collect::<Vec<_>>())
}

/// As Vertex documents it: the name comes first, the end is empty, and a signature stands beside one of the parts.
fn documented() -> Vec<String> {
    vec![
        event(r#"{"text":"hm","thought":true}"#),
        event(r#"{"functionCall":{"name":"light","willContinue":true},"thoughtSignature":"c2ln"}"#),
        call(r#""partialArgs":[{"jsonPath":"$.place","stringValue":"Bos","willContinue":true}],"willContinue":true"#),
        call(
            r#""partialArgs":[{"jsonPath":"$.place","stringValue":"ton"},{"jsonPath":"$.level","numberValue":50}],"willContinue":true"#,
        ),
        call(
            r#""partialArgs":[{"jsonPath":"$.on","boolValue":false},{"jsonPath":"$.until","nullValue":"NULL_VALUE"}],"willContinue":true"#,
        ),
        call(""),
        event(r#"{"functionCall":{"name":"whole","args":{"n" : 1.0}}}"#),
        r#"{"candidates":[{"finishReason":"STOP"}]}"#.to_owned(),
    ]
}

#[test]
fn calls_in_parts_are_put_together() {
    let streamed = read(&documented());
    assert_eq!(streamed.errors, []);
    let light = r#"{"place":"Boston","level":50,"on":false,"until":null}"#;
    assert_eq!(arguments(&streamed.calls), [light, r#"{"n" : 1.0}"#]);
    assert_eq!(truncated(&streamed.calls), [false, false]);
    let history = [
        r#"{"text":"hm","thought":true}"#,
        &format!(r#"{{"functionCall":{{"name":"light","args":{light}}},"thoughtSignature":"c2ln"}}"#),
        r#"{"functionCall":{"name":"whole","args":{"n" : 1.0}}}"#,
    ];
    assert_eq!(streamed.history, format!(r#"{{"role":"model","parts":[{}]}}"#, history.join(",")));
    // Without server-sent events, the same is one array.
    let array = format!("[{}]", documented().join(",\n"));
    assert_eq!(gemini::calls(&array).as_ref(), Ok(&streamed.calls));
    assert_eq!(gemini::history(&array).as_ref(), Ok(&streamed.history));
}

#[test]
fn b39_a_call_whose_end_did_not_come_does_not_run() {
    let events = documented();
    let whole = read(&events).calls;
    for count in 0..events.len() {
        let cut = read(&events[..count]);
        assert_eq!(cut.errors, []);
        for (call, whole) in cut.calls.iter().zip(&whole) {
            assert!(call.is_truncated() || call == whole, "after {count}");
        }
        let again = gemini::calls(&cut.history).unwrap();
        assert_eq!(ids(&again), ids(&cut.calls), "{}", cut.history);
    }
    // An end that comes before what was announced is none.
    for pieces in [
        &[("$.a", r#","stringValue":"x","willContinue":true"#)][..],
        &[("$.a", r#","willContinue":true"#)],
        &[("$.a", "")],
        &[("$.a[1]", r#","numberValue":1"#)],
        &[("$.a[0]", r#","numberValue":1"#), ("$.a[7000000000]", r#","numberValue":1"#)],
    ] {
        let streamed = of(pieces);
        assert_eq!((truncated(&streamed.calls), streamed.errors.len()), (vec![true], 0), "{pieces:?}");
    }
}

#[test]
fn paths_lead_into_objects_and_arrays_in_any_order() {
    let text = |text: &str| format!(r#","stringValue":"{text}""#);
    let more = |text: &str| format!(r#","stringValue":"{text}","willContinue":true"#);
    for (pieces, made) in [
        (vec![], "{}"),
        (
            vec![("$.a[0].b", text("x")), ("$.a[0]['c d']", text("y")), ("$.a[1]", text("z"))],
            r#"{"a":[{"b":"x","c d":"y"},"z"]}"#,
        ),
        // Elements may come before those before them, and texts by turns.
        (vec![("$.a[1]", text("b")), ("$.a[0]", text("a"))], r#"{"a":["a","b"]}"#),
        (
            vec![("$.a", more("1")), ("$.b", more("x")), ("$.a", text("2")), ("$.b", text("y"))],
            r#"{"a":"12","b":"xy"}"#,
        ),
        (vec![("$.a", more("x")), ("$.a", String::new())], r#"{"a":"x"}"#),
        (vec![("$.a", more("")), ("$.a", text(""))], r#"{"a":""}"#),
        (vec![(r#"$["a"]"#, more("x")), ("$['a']", text("y"))], r#"{"a":"xy"}"#),
        (
            vec![("$.a", r#","numberValue":-1.50e3"#.to_owned()), ("$.b", r#","nullValue":null"#.to_owned())],
            r#"{"a":-1.50e3,"b":null}"#,
        ),
        (vec![("$['\"']", text(r#"\"\\\n"#))], r#"{"\"":"\"\\\n"}"#),
        (vec![("$.s", more(r"\ud83c")), ("$.s", text(r"\udf78"))], r#"{"s":"\ud83c\udf78"}"#),
    ] {
        let pieces: Vec<(&str, &str)> = pieces.iter().map(|(path, value)| (*path, value.as_str())).collect();
        let streamed = of(&pieces);
        assert_eq!(streamed.errors, [], "{pieces:?}");
        assert_eq!((arguments(&streamed.calls), truncated(&streamed.calls)), (vec![made.to_owned()], vec![false]));
    }
    // The arguments themselves may be anything; whether that is right, accepting says.
    assert_eq!(arguments(&of(&[("$", r#","stringValue":"x""#)]).calls), [r#""x""#]);
}

#[test]
fn what_contradicts_itself_is_an_error_and_nothing_runs() {
    let (number, text) = (r#","numberValue":1"#, r#","stringValue":"x""#);
    for (pieces, says) in [
        (vec![("$.a", number), ("$.a", number)], "comes twice"),
        (vec![("$.a", number), ("$.a", text)], "comes twice"),
        (vec![("$.a.b", number), ("$.a", text)], "comes twice"),
        (vec![("$.a", text), ("$.a.b", text)], "no such parts"),
        (vec![("$.a[0]", text), ("$.a.b", text)], "no such parts"),
        (vec![("$.a", text), ("$[0]", text)], "no such parts"),
        (vec![("$..a", text)], "without a path to one value"),
        (vec![("$.a[-1]", text)], "without a path to one value"),
        (vec![("$[?@.a]", text)], "without a path to one value"),
        (vec![(r"$['\ud800']", text)], "without a path to one value"),
        (vec![("", text)], "without a path to one value"),
        (vec![("$.a", r#","numberValue":1,"stringValue":"x""#)], "isn't one value"),
        (vec![("$.a", r#","numberValue":"NaN""#)], "isn't one value"),
        (vec![("$.a", r#","boolValue":"true""#)], "isn't one value"),
        (vec![("$.a", r#","stringValue":7"#)], "a text that is none"),
    ] {
        let streamed = of(&pieces);
        let said = streamed.errors.first().map(ToString::to_string).unwrap_or_default();
        assert!(said.contains(says) && said.contains("call 0"), "{pieces:?}: {said}");
        assert_eq!(truncated(&streamed.calls), [true], "{pieces:?}");
        assert!(serde_json::from_str::<Value>(&streamed.history).is_ok(), "{}", streamed.history);
    }
    for part in [r#""name":"a","partialArgs":{}"#, r#""name":"a","partialArgs":"x","willContinue":true"#] {
        assert!(gemini::calls(&call(part)).unwrap_err().to_string().contains("no array"), "{part}");
    }
    // A path that is no text, and arguments that are there already.
    let known = r#""name":"a","args":{"b":1},"partialArgs":[{"jsonPath":"$.c","numberValue":2}]"#;
    assert_eq!(arguments(&gemini::calls(&call(known)).unwrap()), [r#"{"b":1,"c":2}"#]);
    assert!(gemini::calls(&call(&known.replace("$.c", "$.b"))).unwrap_err().to_string().contains("comes twice"));
    assert!(gemini::calls(&call(&known.replace("\"$.c\"", "7"))).unwrap_err().to_string().contains("without a path"));
}

#[test]
fn parts_belong_to_the_call_that_they_name() {
    let begin = |id: &str| call(&format!(r#"{id}"name":"a","willContinue":true"#));
    let more = |id: &str, value: u8| {
        call(&format!(r#"{id}"partialArgs":[{{"jsonPath":"$.n{value}","numberValue":{value}}}],"willContinue":true"#))
    };
    let end = |id: &str| call(&format!(r#"{id}"willContinue":false"#));
    let (one, two) = (r#""id":"1","#, r#""id":"2","#);
    let streamed =
        read(&[begin(one), begin(two), more(two, 1), more(one, 2), more(two, 3), end(one), more(two, 4), end(two)]);
    assert_eq!(streamed.errors, []);
    assert_eq!(arguments(&streamed.calls), [r#"{"n2":2}"#, r#"{"n1":1,"n3":3,"n4":4}"#]);
    assert_eq!((ids(&streamed.calls), truncated(&streamed.calls)), (vec!["1", "2"], vec![false, false]));
    // An identifier may come late, a name again, and a call behind one that has ended.
    let again = call(r#""id":"1","name":"a","partialArgs":[{"jsonPath":"$.m","numberValue":0}],"willContinue":true"#);
    let streamed = read(&[begin(""), more(one, 1), again, end(""), begin(""), more("", 2), call("")]);
    assert_eq!(streamed.errors, []);
    assert_eq!(arguments(&streamed.calls), [r#"{"n1":1,"m":0}"#, r#"{"n2":2}"#]);
    assert_eq!(ids(&streamed.calls), ["1", "call_without_id_1"]);
    // What can't be told apart is not put together.
    for events in [
        vec![begin(one), begin(two), more("", 1)],
        vec![begin(""), begin(""), more("", 1)],
        vec![begin(one), begin("")],
    ] {
        let streamed = read(&events);
        assert!(!streamed.errors.is_empty(), "{events:?}");
        assert!(truncated(&streamed.calls).iter().all(|truncated| *truncated));
    }
    assert!(read(&[more("", 1)]).errors[0].to_string().contains("has no name"));
    assert!(read(&[call("")]).errors[0].to_string().contains("has no name"));
}

#[test]
fn b45_a_half_character_spoils_one_call() {
    let whole = event(r#"{"functionCall":{"name":"show","args":{"what":"fine"}}}"#);
    let begin = call(r#""name":"show","willContinue":true"#);
    let streamed = read(&[begin, piece("$.what", r#","stringValue":"\ud800""#), call(""), whole]);
    assert_eq!(streamed.errors, []);
    assert!(streamed.history.contains(r#""what":"\ufffd""#), "{}", streamed.history);
    let results = results_of(streamed.calls);
    assert!(results[0].is_error() && results[0].text().contains("not valid JSON"), "{}", results[0].text());
    assert_eq!(results[1].text(), "fine");
}

#[test]
fn i14_depth_and_number_of_pieces_need_neither_stack_nor_patience() {
    let run = || {
        let deep = format!("${}", ".a".repeat(50_000));
        let nested = format!("${}", "[0]".repeat(50_000));
        for path in [deep, nested] {
            let streamed = of(&[(&path, r#","numberValue":1"#)]);
            assert_eq!(streamed.errors, []);
            assert!(streamed.history.len() > 50_000);
            drop(streamed.calls);
        }
    };
    let thread = std::thread::Builder::new().stack_size(256 * 1024).spawn(run).expect("a thread can be made");
    assert!(thread.join().is_ok());
    // Each member of a wide object is looked up, and not searched for.
    let mut stream = Stream::new();
    stream.push(&call(r#""name":"a","willContinue":true"#)).unwrap();
    for index in 0..20_000 {
        stream.push(&piece(&format!("$.k{index}"), r#","stringValue":"x","willContinue":true"#)).unwrap();
    }
    assert!(stream.history().contains(r#""k19999":"x""#));
    assert!(stream.finish()[0].is_truncated());
}

/// Values that pieces can give: an object or array without anything in it has no path that leads into it.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 1..4).prop_map(Value::from),
            vec((any::<String>(), inner), 1..4).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// All pieces of a value, texts cut up.
fn cut(value: &Value, path: &str, lengths: &[usize], all: &mut Vec<Value>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let quote = if key.len() % 2 == 0 { '\'' } else { '"' };
                let mut name = quoted(key);
                name = name[1..name.len() - 1].to_owned();
                if quote == '\'' {
                    name = name.replace("\\\"", "\"").replace('\'', "\\'");
                }
                cut(value, &format!("{path}[{quote}{name}{quote}]"), lengths, all);
            }
        }
        Value::Array(elements) => {
            for (index, value) in elements.iter().enumerate() {
                cut(value, &format!("{path}[{index}]"), lengths, all);
            }
        }
        Value::String(text) => {
            let texts = pieces(text, lengths);
            let count = texts.len();
            for (index, text) in texts.iter().enumerate() {
                all.push(json!({"jsonPath": path, "stringValue": text, "willContinue": index + 1 < count}));
            }
            if count == 0 {
                all.push(json!({"jsonPath": path, "stringValue": ""}));
            }
        }
        Value::Bool(value) => all.push(json!({"jsonPath": path, "boolValue": value})),
        Value::Number(value) => all.push(json!({"jsonPath": path, "numberValue": value})),
        Value::Null => all.push(json!({"jsonPath": path, "nullValue": "NULL_VALUE"})),
    }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn arguments_in_pieces_are_what_was_cut(value in values(), lengths in vec(1_usize..9, 1..4), each in 1_usize..5) {
        let mut all = Vec::new();
        cut(&value, "$", &lengths, &mut all);
        let parts = all.chunks(each).map(|some| call(&format!(r#""partialArgs":{},"willContinue":true"#, Value::from(some))));
        let events: Vec<String> = [call(r#""name":"a","willContinue":true"#)].into_iter().chain(parts).chain([call("")]).collect();
        let streamed = read(&events);
        prop_assert_eq!(&streamed.errors, &[]);
        prop_assert_eq!(truncated(&streamed.calls), [false]);
        let made = arguments(&streamed.calls).remove(0);
        prop_assert_eq!(serde_json::from_str::<Value>(&made).ok(), Some(value), "{}", made);
    }
}
