//! What `replay` answers.

use std::collections::BTreeSet;

use examples::replay::{self, Gate, Provider, Summary};
use serde_json::{Value, json};
use tool_runtime::Answer;

/// The summary, the output's lines as JSON, and the complaints.
fn replay(input: &[u8]) -> (Summary, Vec<Value>, String) {
    let (mut out, mut problems) = (Vec::new(), Vec::new());
    let summary = replay::run(Provider::OpenAi, Gate::default(), &mut &*input, &mut out, &mut problems).unwrap();
    let lines = String::from_utf8(out).unwrap();
    let answers = lines.lines().map(|line| serde_json::from_str(line).unwrap());
    (summary, answers.collect(), String::from_utf8(problems).unwrap())
}

/// An assistant message with these calls, numbered `call_0`, `call_1`, …
fn message(calls: &[(&str, Value)]) -> Value {
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(index, (name, arguments))| {
            // Text is what a model wrote; anything else is written as it would have been.
            let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
            json!({"id": format!("call_{index}"), "type": "function", "function": {"name": name, "arguments": arguments}})
        })
        .collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

/// The texts that answer these calls, each call answered once and in order.
fn texts(calls: &[(&str, Value)]) -> Vec<String> {
    let (summary, answers, problems) = replay(message(calls).to_string().as_bytes());
    assert_eq!((summary.answered, summary.refused, problems.as_str()), (1, 0, ""));
    let messages = answers[0].as_array().unwrap();
    assert_eq!(messages.len(), calls.len());
    let texts = messages.iter().enumerate().map(|(index, message)| {
        assert_eq!(message["role"], "tool");
        assert_eq!(message["tool_call_id"], format!("call_{index}"));
        message["content"].as_str().unwrap().to_owned()
    });
    texts.collect()
}

#[test]
fn replay_answers_each_line_and_bad_ones_do_not_stop_it() {
    let good = message(&[("add", json!({"a": 1, "b": 2}))]);
    let mut input = format!("{good}\n{{oops\r\n\n{good}\r\n").into_bytes();
    input.extend(b"\xff\xfe\n{\"role\":\"assistant\",\"tool_calls\":7}\n");
    input.extend(br#"{"role":"assistant","content":"Hello."}"#);
    let (summary, answers, problems) = replay(&input);
    let answered = json!([{"role": "tool", "tool_call_id": "call_0", "content": "3"}]);
    assert_eq!(answers, [answered.clone(), answered, json!([])]);
    assert_eq!((summary.answered, summary.refused), (3, 3));
    let lines: Vec<&str> = problems.lines().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(lines, ["line 2 of the input", "line 5 of the input", "line 6 of the input"], "{problems}");
}

#[test]
fn replay_takes_one_document_on_several_lines() {
    let pretty = serde_json::to_string_pretty(&message(&[("add", json!({"a": 1, "b": 2}))])).unwrap();
    let (summary, answers, _) = replay(pretty.as_bytes());
    assert_eq!((summary.answered, answers.len()), (1, 1));
    let (summary, answers, _) = replay(b"");
    assert_eq!((summary, answers.len()), (Summary::default(), 0));
}

#[test]
fn replay_takes_every_kind_of_argument() {
    let said = texts(&[
        ("repeat", json!({"text": "ab", "times": 3, "separator": "-", "loud": true, "part": 0.5})),
        ("get_weather", json!({"city": "Paris"})),
        ("send_mail", json!({"to": ["a@b"], "title": "Hi", "body": "x", "headers": {"X-A": "1"}})),
        (
            "create_order",
            json!({"customer": {"name": "Ada", "address": {"street": "S", "zip": "1"}},
                   "lines": [{"article": 1, "cents": 5}, {"article": 2, "cents": 5, "quantity": 3}]}),
        ),
        (
            "draw",
            json!({"shapes": [{"shape": "rectangle", "from": [0, 0], "to": [2, 2.5]},
                              {"shape": "label", "at": [0, 0], "text": "t"}], "colour": [255, 0, 7]}),
        ),
        ("log_in", json!({"account": "ada", "password": "s3cretpw", "code": "12"})),
        ("find_flights", json!({"from": "BER", "to": "OSL", "date": "2026-03-02"})),
        ("list_files", json!("")),
        ("write_file", json!({"path": "/tmp/../etc/hosts", "content": "127.0.0.1"})),
        ("read_file", json!({"path": "/etc/./hosts"})),
        ("store_put", json!({"key": "k", "value": {"b": [1, null], "a": 2.5}, "tags": ["x", "y"]})),
        ("store_get", json!({"key": "k"})),
        ("divide", json!({"dividend": 7, "divisor": 2.0})),
    ]);
    assert_eq!(
        said,
        [
            "A-A-A",
            r#"{"city":"Paris","temperature":21.5,"unit":"celsius"}"#,
            r#""Hi" was sent to a@b: 0 copies, 1 further headers, 1 characters."#,
            r#"{"country":"DE","lines":2,"total_cents":20}"#,
            "2 shapes in #ff0007, 5.00 square units",
            "ada is logged in, by 2 factors.",
            r#"["EX 101 BER-OSL on 2026-03-02, Economy, 1 stops"]"#,
            "[]",
            "(no output)",
            "127.0.0.1",
            r#""k" is kept with 2 tags."#,
            r#"{"a":2.5,"b":[1,null]}"#,
            "3",
        ]
    );
}

#[test]
fn replay_says_what_is_wrong() {
    let said = texts(&[
        ("add", json!("{\"a\": 1,")),
        ("ad", json!({})),
        ("draw", json!({"shapes": [{"shape": "circel", "centre": [1, 2], "radius": 2}], "colour": [256, 0]})),
        ("log_in", json!({"account": "ada", "password": "short", "code": 12})),
        ("store_put", json!({"key": "k", "value": null, "tags": ["x", "x"]})),
        ("divide", json!({"dividend": 7, "divisor": 0})),
        ("wait", json!({"milliseconds": 60_000})),
    ]);
    for (text, part) in said.iter().zip([
        "not valid JSON",
        "did you mean `add`?",
        "did you mean \"circle\"?",
        "`password`: expected string of 8 to 128 characters",
        "`tags[1]`",
        "`divide` failed unexpectedly",
        "time budget of 200 ms",
    ]) {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!said[3].contains("short"), "{}", said[3]);
    assert!(!said[5].contains("zero"), "{}", said[5]);
}

#[test]
fn replay_declares_its_tools() {
    let declarations = replay::declarations(Provider::OpenAi).unwrap();
    let declared: Vec<Value> = serde_json::from_str(&declarations).unwrap();
    let names: BTreeSet<&str> = declared.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), declared.len());
    for tool in ["add", "draw", "find_flights", "list_files", "store_put"] {
        assert!(names.contains(tool), "{tool}");
    }
    for tool in &declared {
        let keys: Vec<&String> = tool["function"].as_object().unwrap().keys().collect();
        assert_eq!(keys.len(), 3, "{keys:?}");
    }
    assert!(!declarations.contains("x-tool-"), "a hint of the host's is shown");
}

#[test]
fn providers_are_found_by_name() {
    assert_eq!(Provider::named("openai"), Some(Provider::OpenAi));
    assert_eq!(Provider::named("nobody"), None);
    assert_eq!(Provider::names(), "openai, openai-responses, anthropic, gemini, ollama");
}

#[test]
fn replay_keeps_to_rules_and_to_the_answer() {
    let rules = r#"
        [[rule]]
        decision = "ask"
        tool = "write_file"
        reason = "it writes"

        [[rule]]
        decision = "deny"
        tool = "divide"
        reason = "no division"
        [[rule.when]]
        argument = "divisor"
        equals = 0

        [[rule]]
        decision = "allow"
        tool = "*"
    "#;
    replay::check(rules).unwrap();
    assert!(replay::check(&rules.replace("write_file", "wright_file")).unwrap_err().to_string().contains("line 4"));
    let input = message(&[
        ("write_file", json!({"path": "/a", "content": "x"})),
        ("divide", json!({"dividend": 7, "divisor": 0.0})),
        ("divide", json!({"dividend": 7, "divisor": 2})),
    ]);
    let mut said = Vec::new();
    for answer in [Some(Answer::Yes), Some(Answer::No), None] {
        let gate = Gate { rules: Some(rules.to_owned()), approver: answer.map(replay::always) };
        let (mut out, mut problems) = (Vec::new(), Vec::new());
        replay::run(Provider::OpenAi, gate, &mut input.to_string().as_bytes(), &mut out, &mut problems).unwrap();
        let messages: Value = serde_json::from_slice(&out).unwrap();
        assert!(messages[1]["content"].as_str().unwrap().contains("no division"));
        assert_eq!(messages[2]["content"], "3");
        said.push(messages[0]["content"].as_str().unwrap().to_owned());
    }
    assert!(!said[0].contains("did not run"), "{said:?}");
    assert!(said[1].contains("said no") && said[2].contains("nobody could be asked"), "{said:?}");
}

#[test]
fn replay_answers_every_provider_in_its_own_form() {
    for (name, said, answered) in [
        (
            "openai-responses",
            json!({"status": "completed", "output": [{"type": "function_call", "call_id": "c1", "name": "add", "arguments": "{\"a\":1,\"b\":2}"}]}),
            json!([{"type": "function_call_output", "call_id": "c1", "output": "3"}]),
        ),
        (
            "anthropic",
            json!({"role": "assistant", "stop_reason": "tool_use", "content": [
                {"type": "text", "text": "Let me add."},
                {"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1, "b": 2}},
                {"type": "tool_use", "id": "t2", "name": "add", "input": {"a": 1, "c": 2}}]}),
            json!([{"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "3"},
                {"type": "tool_result", "tool_use_id": "t2", "is_error": true}]}]),
        ),
        (
            "gemini",
            json!({"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "add", "args": {"a": 1, "b": 2}}}]}, "finishReason": "STOP"}]}),
            json!([{"role": "user", "parts": [{"functionResponse": {"name": "add", "response": {"output": "3"}}}]}]),
        ),
        (
            "ollama",
            json!({"message": {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "add", "arguments": {"a": 1, "b": 2}}}]}, "done": true, "done_reason": "stop"}),
            json!([{"role": "tool", "tool_name": "add", "content": "3"}]),
        ),
    ] {
        let provider = Provider::named(name).unwrap();
        let (mut out, mut problems) = (Vec::new(), Vec::new());
        replay::run(provider, Gate::default(), &mut said.to_string().as_bytes(), &mut out, &mut problems).unwrap();
        assert_eq!(String::from_utf8(problems).unwrap(), "", "{name}");
        let messages: Value = serde_json::from_slice(&out).unwrap();
        assert!(holds(&messages, &answered), "{name}: {messages}");
        // And what it is shown of the tools is JSON with all of them in it.
        let declared = replay::declarations(provider).unwrap();
        serde_json::from_str::<Value>(&declared).unwrap();
        for tool in ["add", "draw", "find_flights", "store_put"] {
            assert!(declared.contains(&format!("\"{tool}\"")), "{name}: {tool}");
        }
    }
}

/// Is all that is expected there? There may be more.
fn holds(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            expected.iter().all(|(key, value)| found.get(key).is_some_and(|found| holds(found, value)))
        }
        (Value::Array(found), Value::Array(expected)) => {
            found.len() == expected.len() && found.iter().zip(expected).all(|(found, expected)| holds(found, expected))
        }
        (found, expected) => found == expected,
    }
}
