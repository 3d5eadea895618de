//! The examples do what the README says of them.

mod agreement;

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Arc, Mutex};

use examples::agent::{self, Model};
use examples::gate;
use examples::grounding;
use examples::quickstart::{self, Style};
use examples::replay::{self, Gate, Provider, Summary};
use examples::ruling;
use serde_json::{Value, json};
use tool_runtime::agreement::Quarantine;
use tool_runtime::{Answer, Code, DynamicTool, NeverAsk, Signer, TerminalApprover};

/// What the quickstart prints, and what became of its calls.
fn quickstart(style: Style) -> (String, Vec<(String, Code, String)>) {
    let mut out = Vec::new();
    let settled = quickstart::run(&mut out, style).unwrap();
    let calls = settled.iter().map(|settled| {
        let record = settled.record();
        assert_eq!(record.call_id(), settled.result().call_id());
        (record.call_id().to_string(), record.code(), settled.result().text())
    });
    (String::from_utf8(out).unwrap(), calls.collect())
}

/// The columns of all tables, each line of one on a line.
fn columns(shown: &str) -> (String, String) {
    let rows = shown.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("│ ")?.strip_suffix(" │")?.split(" │ ");
        let (model, host) = (cells.next()?, cells.next()?);
        assert_eq!(cells.next(), None, "{line}");
        Some((model.trim_end().to_owned() + "\n", host.trim_end().to_owned() + "\n"))
    });
    rows.unzip()
}

/// Without line breaks and indentation, which depend on the width.
fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn quickstart_gives_every_call_one_result() {
    let (_, calls) = quickstart(Style::plain());
    let codes: Vec<(&str, Code)> = calls.iter().map(|(id, code, _)| (id.as_str(), *code)).collect();
    assert_eq!(
        codes,
        [
            ("call_Xq1", Code::Ok),
            ("call_Xq2", Code::InvalidArguments),
            ("call_Xq3", Code::Ok),
            ("call_Xq4", Code::InvalidArguments),
            ("call_Xq5", Code::Denied),
            ("call_Xq6", Code::Ok),
            ("call_Xqa", Code::Ok),
            ("call_Xqb", Code::Ok),
            ("call_Xqc", Code::Ok),
            ("call_Xqd", Code::Ok),
            ("call_Xq7", Code::ToolError),
            ("call_Xq8", Code::Timeout),
            ("call_Xq9", Code::Panicked),
        ]
    );
    let text = |id: &str| &calls.iter().find(|(call, ..)| call == id).unwrap().2;
    assert!(text("call_Xq2").contains("did you mean `limit`?"));
    for problem in ["`start`", "`minutes`", "`attendees[0].role`", "`attendees[1].email`", "`attendees[1].mail`"] {
        assert!(text("call_Xq4").contains(problem), "{problem}");
    }
    assert!(text("call_Xq5").contains("made at the bank"));
    assert!(text("call_Xq8").contains("150 ms"));
}

#[test]
fn quickstart_says_what_overlapped() {
    let (shown, _) = quickstart(Style::plain());
    let (_, host) = columns(&shown);
    let ran = host.lines().filter(|line| line.starts_with("ran ")).count();
    assert_eq!(ran, 5, "one of the two transfers, and the four calls of one turn:\n{host}");
}

#[test]
fn layers_retry_answer_and_measure() {
    let mut out = Vec::new();
    examples::layers::run(&mut out).unwrap();
    let shown = String::from_utf8(out).unwrap();
    for line in [
        "ok, bodies run: 2; the model reads: {\"cents\":169,\"currency\":\"EUR\"}",
        "ok, bodies run: 0; the model reads: {\"cents\":169,\"currency\":\"EUR\"}",
        "tool_error, bodies run: 1; the model reads: The shop has no article 7.",
        "invalid_arguments, bodies run: 0;",
        "look_up_price: ok × 2",
        "order: tool_error × 1",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
}

#[test]
fn quickstart_shows_each_side_its_own() {
    let (shown, calls) = quickstart(Style::plain());
    let (model, host) = columns(&shown);
    let (model, host) = (flowing(&model), flowing(&host));
    for (_, code, text) in &calls {
        assert!(model.contains(&flowing(text)), "{text}\n{model}");
        assert!(host.contains(&format!("code {code}")), "{code}\n{host}");
    }
    // What only the host may know: a budget, a cause, the words of a panic; and what nobody may, a secret.
    for only_host in ["timeout 5s", "/var/lib/notes/index.db", "attempt to divide by zero", "[redacted]"] {
        assert!(host.contains(only_host), "{only_host}\n{host}");
        assert!(!model.contains(only_host), "{only_host}\n{model}");
    }
    assert!(!host.contains("493817"), "{host}");
    // Defaults are filled in, numbers have one spelling, paths are normalised.
    for canonical in [r#""unit":"celsius", "days":2}"#, r#""cents":4000,"#, r#"{"path":"ideas/cat.md"}"#] {
        assert!(host.contains(canonical), "{canonical}\n{host}");
    }
    // A person is shown the call before it runs, and its result whatever became of it.
    for card in [
        "Send 40.00 EUR to DE89370400440532013000?",
        "Forecast for Paris, 2 days",
        "Not sent: 25000.00 EUR",
        "Sent: 40.00 EUR",
    ] {
        assert!(host.contains(card), "{card}\n{host}");
    }
}

#[test]
fn quickstart_fits_the_terminal() {
    for width in [72, 100, 133] {
        let (shown, _) = quickstart(Style { width, colour: false });
        assert!(!shown.contains('\x1b'));
        for line in shown.lines() {
            let length = line.chars().count();
            assert!(length <= width, "{length} > {width}: {line}");
            if line.starts_with(['│', '╭', '├', '╰']) {
                assert_eq!(length, width, "{line}");
            }
        }
    }
    let (shown, _) = quickstart(Style { width: 1, colour: true });
    assert!(shown.contains("\x1b[32mok\x1b[0m"));
}

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
fn gate_asks_grants_and_denies() {
    let play = |approver: TerminalApprover| {
        let mut out = Vec::new();
        gate::run(gate::RULES, approver, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let shown = play(TerminalApprover::new(std::io::Cursor::new("a\nn\n"), std::io::sink()));
    for line in [
        "call_2 write_file {\"path\":\"notes.txt\",\"content\":\"buy milk\"}: cleared",
        "because: allowed for this session with these arguments",
        "call_4 write_file {\"path\":\"notes.txt\",\"content\":\"sell the house\"}: blocked, rejected",
        "call_5 read_file {\"path\":\"/work/secrets/key.pem\"}: blocked, denied",
        "call_6 write_file {\"path\":\"secrets/key.pem\",\"content\":\"mine\"}: blocked, denied",
        "6 calls, 2 questions, grants: 1",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    // A yes for once is no grant; and nobody is nobody.
    let shown = play(TerminalApprover::new(std::io::Cursor::new("y\ny\ny\n"), std::io::sink()));
    assert!(shown.contains("6 calls, 3 questions, grants: 0"), "{shown}");
    let mut out = Vec::new();
    gate::run(gate::RULES, NeverAsk, &mut out).unwrap();
    let shown = String::from_utf8(out).unwrap();
    assert!(shown.contains("call_2 write_file") && shown.contains("blocked, denied"), "{shown}");
    assert!(gate::run("[[rule]]\ndecision = \"maybe\"\n", NeverAsk, &mut Vec::new()).is_err());
}

/// A screen that is ours to look at.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Screen {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn agent_goes_on_until_the_model_has_nothing_to_call() {
    // The scripted model refuses a conversation in which a call is not answered once and in its place.
    let model = Model::scripted().unwrap();
    let screen = Screen::default();
    let person = TerminalApprover::new(std::io::Cursor::new("y\n"), std::io::sink());
    let summary = agent::run(&model, agent::PROMPT, person, screen.clone()).unwrap();
    assert_eq!((summary.turns, summary.calls, summary.answer.as_str()), (4, 4, "There were seven words."));
    let shown = screen.text();
    for line in [
        "model: Let me look.",
        "calls count_words {\"pth\":\"notes.txt\"}",
        "did you mean `path`?",
        "100 % 7 words",
        "✓ count_words: 7",
        "✓ list_files: [\"notes.txt\"]",
        "✓ write_file: notes.txt is written.",
        "model: There were seven words.",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    // Nobody there to ask: the model reads so, and goes on.
    let screen = Screen::default();
    let nobody = TerminalApprover::new(std::io::empty(), std::io::sink());
    let summary = agent::run(&model, agent::PROMPT, nobody, screen.clone()).unwrap();
    assert_eq!(summary.turns, 4);
    assert!(screen.text().contains("✗ write_file:"), "{}", screen.text());
    assert!(agent::run(&Model::at("http://127.0.0.1:9/v1", "x", None), "hi", NeverAsk, std::io::sink()).is_err());
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

/// A conversation of the file that the example reads, as one line.
fn recorded(insurance: &str, expected: &str) -> String {
    let call = |id: &str, name: &str, arguments: Value| {
        json!({"role": "assistant", "content": null,
               "tool_calls": [{"id": id, "function": {"name": name, "arguments": arguments.to_string()}}]})
    };
    let book = |insurance: &str| {
        json!({"user_id": "mia_li_3668", "origin": "JFK", "cabin": "economy", "total_baggages": 2,
               "insurance": insurance, "flights": [{"flight_number": "HAT136", "date": "2024-05-20"}]})
    };
    let messages = json!([
        {"role": "user", "content": "I am mia_li_3668, and want to fly from New York on May 20th. I have two bags."},
        call("c1", "search_direct_flight", json!({"origin": "JFK", "date": "2024-05-20"})),
        {"role": "tool", "tool_call_id": "c1", "content": "[{\"flight_number\":\"HAT136\",\"origin\":\"JFK\"}]"},
        {"role": "assistant", "content": "1. Which cabin class?\n2. Do you want insurance?"},
        {"role": "user", "content": "1. Economy.\n2. No."},
        call("c2", "book_reservation", book(insurance)),
        {"role": "tool", "tool_call_id": "c2", "content": if insurance == "no" { "{}" } else { "Error: no" }},
    ]);
    let expected = json!([{"name": "book_reservation", "kwargs": book(expected)}]);
    json!({"task": 1, "trial": 0, "reward": 1.0, "expected_actions": expected, "messages": messages}).to_string()
}

#[test]
fn grounding_finds_what_was_said_and_stops_what_was_not() {
    let measured = |file: String| {
        let mut out = Vec::new();
        let figures = grounding::run(file.as_bytes(), 1, 1, &mut out).unwrap();
        (figures, String::from_utf8(out).unwrap())
    };
    let (figures, shown) = measured(recorded("no", "no"));
    assert_eq!((figures.found.of, figures.found.all), (7, 7), "{shown}");
    assert_eq!((figures.right_stopped.of, figures.right_stopped.all), (0, 1));
    assert_eq!((figures.invented.of, figures.wrong_stopped.all), (0, 0));
    assert!(shown.contains("alias 1"), "{shown}");

    // The user said no.
    let (figures, shown) = measured(format!("{}\n{}\n", recorded("no", "no"), recorded("yes", "no")));
    assert_eq!((figures.found.of, figures.found.all), (13, 14), "{shown}");
    assert_eq!((figures.wrong_stopped.of, figures.wrong_stopped.all), (1, 1));
    assert_eq!((figures.refused_stopped.of, figures.refused_stopped.all), (1, 1));
    let otherwise = shown.split("The user has said something else last:").nth(1).unwrap_or_default();
    assert!(otherwise.trim_start().starts_with("insurance"), "{shown}");
    assert!(otherwise.contains("1, of which 0 right: \"yes\" (first in task 1, trial 0)"), "{shown}");
    assert!(shown.contains("What remains, and why: 1 values"), "{shown}");
    let missed = grounding::Figures::default().missed();
    assert_eq!(missed.len(), 3, "nothing found and nothing stopped isn't enough: {missed:?}");

    for wrong in ["{", "{}", "\u{1f}\u{8b}"] {
        grounding::run(wrong.as_bytes(), 0, 0, &mut Vec::new()).unwrap_err();
    }
}

/// Somebody says how many bags there are and what the certificate pays, and nobody what that comes to. One bag is free, two
/// cost 100, and 60 of 271 are paid by the certificate.
fn booked(rest: u32) -> String {
    let call = |id: &str, name: &str, arguments: &Value| {
        json!({"role": "assistant", "content": null,
               "tool_calls": [{"id": id, "function": {"name": name, "arguments": arguments.to_string()}}]})
    };
    let result = |id: &str, content: Value| json!({"role": "tool", "tool_call_id": id, "content": content.to_string()});
    let book = |rest: u32| {
        json!({"user_id": "mia_li_3668", "origin": "JFK", "destination": "SEA", "flight_type": "one_way",
               "cabin": "economy", "insurance": "no", "total_baggages": 3, "nonfree_baggages": 2,
               "flights": [{"flight_number": "HAT136", "date": "2024-05-20"}],
               "passengers": [{"first_name": "Mia", "last_name": "Li", "dob": "1990-04-05"}],
               "payment_methods": [{"payment_id": "certificate_1", "amount": 60},
                                   {"payment_id": "credit_card_2", "amount": rest}]})
    };
    let wish = "I am mia_li_3668, Mia Li, born 1990-04-05. A one way trip from New York to Seattle on May 20th, economy \
                class, three bags, no insurance. Pay 60 by certificate_1 and the rest by credit_card_2.";
    let messages = json!([
        {"role": "user", "content": wish},
        call("c1", "get_user_details", &json!({"user_id": "mia_li_3668"})),
        result("c1", json!({"membership": "regular"})),
        call("c2", "search_direct_flight", &json!({"origin": "JFK", "destination": "SEA", "date": "2024-05-20"})),
        result("c2", json!([{"flight_number": "HAT136", "prices": {"economy": 171, "business": 300}}])),
        call("c3", "book_reservation", &book(rest)),
        result("c3", json!({})),
    ]);
    let expected = json!([{"name": "book_reservation", "kwargs": book(211)}]);
    json!({"task": 2, "trial": 0, "reward": 1.0, "expected_actions": expected, "messages": messages}).to_string()
}

#[test]
fn grounding_shows_what_follows_from_other_values_beside_what_was_said() {
    let measured = |file: String| {
        let mut out = Vec::new();
        let figures = grounding::run(file.as_bytes(), 1, 1, &mut out).unwrap();
        (figures, String::from_utf8(out).unwrap())
    };
    let (figures, shown) = measured(booked(211));
    let [right, wrong, _] = figures.with_derivations;
    assert_eq!((figures.found.of, figures.found.all), (15, 17), "{shown}");
    assert_eq!((figures.right_stopped.of, figures.right_stopped.all), (1, 1), "{shown}");
    assert_eq!((right.of, right.all, wrong.all), (0, 1, 0), "{shown}");
    for line in [
        "amount by a formula of the list: 1, of which the call should have had 1",
        "nonfree_baggages by a formula of the list: 1, of which the call should have had 1",
        "  for a value that was right: 100.0 % (2 of 2)",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }

    // It comes to something else.
    let (figures, shown) = measured(booked(212));
    let [_, wrong, _] = figures.with_derivations;
    assert_eq!((wrong.of, wrong.all), (1, 1), "{shown}");
    assert!(!shown.contains("amount by a formula"), "{shown}");
}

/// What an example does in a folder of its own.
fn in_folder<T>(name: &str, does: impl AsyncFnOnce(&std::path::Path) -> T) -> T {
    let folder = std::env::temp_dir().join(format!("examples-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let done = runtime.block_on(does(&folder));
    std::fs::remove_dir_all(&folder).unwrap();
    done
}

#[test]
fn a_checklist_asks_for_what_nobody_gave_and_takes_rules_while_it_runs() {
    let shown = in_folder("checklist", async |folder| {
        let mut out = Vec::new();
        examples::approvals::checklist::run(folder, &mut out).await.unwrap();
        String::from_utf8(out).unwrap()
    });
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    assert!(lines.contains(&"Asked for: Which account should the money go to?"), "{shown}");
    assert_eq!(
        lines.iter().filter(|line| **line == "result: paid 25 to DE02120300000000202051 (lamp)").count(),
        1,
        "{shown}"
    );
    assert!(!shown.contains("paid 25 to DE9999"), "{shown}");
    assert!(
        lines.iter().any(|line| line.starts_with("result: `pay` did not run: it is not so that the payment is within")),
        "{shown}"
    );
    assert!(lines.iter().any(|line| line.starts_with("/amount: found at u1 (exact)")), "{shown}");
    assert!(shown.contains(r#""problem":"names_nothing""#), "{shown}");
}

#[test]
fn approvals_are_for_values_and_outlast_a_process() {
    let shown = in_folder("durable", async |folder| {
        let mut out = Vec::new();
        // The test's own process can't be started again: another host will do.
        let second = |database: &std::path::Path, case| {
            let database = database.to_owned();
            let other = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    let ledger = examples::approvals::durable::shared(&database, "second").await.unwrap();
                    let mut out = Vec::new();
                    examples::approvals::durable::resume(&ledger, case, &mut out).await.unwrap();
                    String::from_utf8(out).unwrap()
                })
            });
            Ok(other.join().unwrap())
        };
        examples::approvals::durable::run(folder, second, &mut out).await.unwrap();
        String::from_utf8(out).unwrap()
    });
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    assert!(lines.contains(&"confirmed before: /to; to be confirmed: /amount"), "{shown}");
    assert!(lines.contains(&"refused: nobody has answered yet"), "{shown}");
    // One is taken back; of the other a value has come in.
    assert_eq!(lines.iter().filter(|line| line.starts_with("approval_void: ")).count(), 2, "{shown}");
    assert!(lines.contains(&r#"agreed to: {"to":"alice","amount":10}"#), "{shown}");
    assert!(lines.contains(&r#"would run: {"to":"alice","amount":10,"fee":2}"#), "{shown}");
    assert!(lines.contains(&"confirmed before: /amount, /to; to be confirmed: /fee"), "{shown}");
    assert!(lines.contains(&"ok: paid 10 to alice, and kept 2"), "{shown}");
    assert!(lines.contains(&"ok: paid 25 to alice"), "{shown}");
    assert!(lines.iter().any(|line| line.starts_with("ann, on the web: 7, which can't be taken")), "{shown}");
    assert!(lines.contains(&"ok: paid 30 to bob"), "{shown}");
    assert!(lines.contains(&"refused: no such call waits: it is over, or somebody else goes on with it"), "{shown}");
    assert!(lines.iter().any(|line| line.starts_with("refused: line ")), "{shown}");
    assert!(!shown.contains("paid 1000") && !shown.contains("paid 99") && !lines.contains(&"taken"), "{shown}");
}

#[test]
fn a_ledger_says_what_became_of_calls_and_why() {
    in_folder("ledger", async |folder| {
        let key = || tool_runtime::LedgerKey::new("main", [1; 32]).unwrap();
        for store in ["ledger.jsonl", "ledger.db"] {
            let store = folder.join(store).to_str().unwrap().to_owned();
            let ask = async |words: &[&str]| {
                let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
                let mut out = Vec::new();
                examples::ledger::run(&words, key(), &mut out).await.map(|()| String::from_utf8(out).unwrap())
            };
            let case = {
                let ledger = examples::ledger::open(&store, key(), "host").await.unwrap();
                let mut out = Vec::new();
                let quarantine = Quarantine::open(Arc::clone(&ledger)).await.unwrap();
                let tool = DynamicTool::builder("search", "Searches.").output("true");
                let tool = tool.run(|_, _| async { Ok("1".to_owned()) }).unwrap();
                quarantine.hold(&tool, "it races").await.unwrap();
                let ann = Signer::new("ann", "terminal");
                quarantine.lift_by_person("search", ann, "it was mended").await.unwrap();
                examples::approvals::durable::propose(&ledger, 7, &mut out).await.unwrap().0
            };
            let declared = ask(&["declared", &store]).await.unwrap();
            let lines = ["search  quarantined: it races", "search  lifted: it was mended (ann by terminal)"];
            assert_eq!(declared.lines().collect::<Vec<_>>(), lines);
            let calls = ask(&["calls", &store, "--conversation", "demo"]).await.unwrap();
            assert!(calls.contains(r#"pay {"to":"alice","amount":7}  waits for an answer"#), "{calls}");
            assert_eq!(ask(&["calls", &store, "--tool", "other"]).await.unwrap(), "");
            let waiting = ask(&["waiting", &store]).await.unwrap();
            assert!(waiting.contains("because: payments are confirmed") && waiting.contains("question: "), "{waiting}");
            let why = ask(&["why", &store, &case.to_string()]).await.unwrap();
            assert!(why.contains("stopped at: approval_pending"), "{why}");
            assert!(why.contains("rules: payments are confirmed"), "{why}");
            assert_eq!(ask(&["stops", &store]).await.unwrap(), "pay approval_pending × 1\n");
            assert_eq!(ask(&["failed", &store]).await.unwrap(), "");
            assert!(ask(&["report", &store]).await.unwrap().contains(r#""findings": []"#));
            assert_eq!(ask(&["repair", &store]).await.unwrap(), "");
            assert!(ask(&["nothing", &store]).await.is_err());
        }
        let store = folder.join("ledger.jsonl").to_str().unwrap().to_owned();
        let ask = async |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let mut out = Vec::new();
            examples::ledger::run(&words, key(), &mut out).await.map(|()| String::from_utf8(out).unwrap())
        };
        let head = ask(&["head", &store]).await.unwrap();
        let verified = ask(&["verify", &store, "--expect", head.trim()]).await.unwrap();
        assert!(verified.contains("all as they were written"), "{verified}");
        let text = std::fs::read_to_string(&store).unwrap();
        std::fs::write(&store, &text[..text.len() - 1]).unwrap();
        assert!(ask(&["verify", &store]).await.is_err());
        let cut = text[..text.len() - 1].rfind('\n').unwrap() + 1;
        std::fs::write(&store, &text[..cut]).unwrap();
        assert!(ask(&["verify", &store]).await.is_ok());
        assert!(ask(&["verify", &store, "--expect", head.trim()]).await.is_err());
    });
}

/// A rule is tried on what happened before it decides anything.
#[test]
fn a_ledger_says_what_other_rules_would_have_decided() {
    use tool_runtime::{AllowAll, Answers, BoxFuture, CheckedCall, Checklist, Harness, Registry, ToolCall};

    in_folder("replay", async |folder| {
        let key = || tool_runtime::LedgerKey::new("main", [1; 32]).unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let parameters = r#"{"type":"object","properties":{"amount":{"type":"integer"}},"required":["amount"]}"#;
        let tools =
            file("tools.json", &format!(r#"[{{"name":"pay","description":"Pays.","parameters":{parameters}}}]"#));
        let line = |limit: &str| {
            format!(
                r#"{{"scope":{{"calls":"none"}},"line":[{{"name":"limit","check":"{limit}","text":"it is within the limit"}}]}}"#
            )
        };
        let (old, new) = (file("old.json", &line("within_limit")), file("new.json", &line("is_working_day")));
        let rules = file("rules.toml", "[[rule]]\ndecision = \"deny\"\ntool = \"pay\"\nreason = \"not any more\"\n");
        let store = folder.join("ledger.jsonl").to_str().unwrap().to_owned();
        {
            let tool = DynamicTool::builder("pay", "Pays.").parameters(parameters).output("true");
            let tool = tool.run(|_, _| async { Ok("true".to_owned()) }).unwrap();
            let registry = Registry::builder().tool(tool).build().unwrap();
            let within = |call: CheckedCall| -> BoxFuture<'static, Result<bool, String>> {
                Box::pin(async move { Ok(call.arguments().read::<u32>("/amount").ok_or("none")? <= 20) })
            };
            let list = Checklist::builder().answers(&Answers::new()).condition("within_limit", within).file(&old);
            let list = list.build(&registry).unwrap();
            let ledger = examples::ledger::open(&store, key(), "host").await.unwrap();
            let harness = Harness::new(registry, AllowAll).checklist(list).ledger(ledger);
            for amount in [5, 25] {
                harness.run([ToolCall::new("c", "pay", format!(r#"{{"amount":{amount}}}"#))]).await;
            }
        }
        let ask = async |options: &[&str]| {
            let words = [&["replay", &store, "--tools", &tools][..], options].concat();
            let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            let mut out = Vec::new();
            let done = examples::ledger::run(&words, key(), &mut out).await;
            done.map(|()| String::from_utf8(out).unwrap())
        };
        let same = ask(&["--list", &old, "--check", "within_limit"]).await.unwrap();
        assert_eq!(same, "0 of 2 would come to something else\n");
        let all = ask(&["--list", &old, "--check", "within_limit", "--all"]).await.unwrap();
        assert!(all.contains("was cleared, and would be again"), "{all}");
        // Whether it was a working day nobody looked up then.
        let other = ask(&["--list", &new, "--check", "is_working_day"]).await.unwrap();
        assert_eq!(other.matches("would be unanswered: it is within the limit").count(), 2, "{other}");
        assert!(other.contains("    limit: holds -> open\n"), "{other}");
        let denied = ask(&["--rules", &rules]).await.unwrap();
        assert!(denied.contains("was cleared; would be denied: not any more"), "{denied}");
        assert!(denied.contains("was condition_not_met; would be denied"), "{denied}");
        for wrong in [&["--what"][..], &["--rules"], &["--list", "nowhere.json"]] {
            assert!(ask(wrong).await.is_err(), "{wrong:?}");
        }
    });
}

#[test]
fn ruling_gives_one_line_for_each() {
    let sample = r#"[{"id":7},"found"]"#;
    let line = format!(r#"{{"tool":{{"deterministic":true,"verified":true}},"samples":[{}]}}"#, [sample; 5].join(","));
    let mut out = Vec::new();
    ruling::run(&mut [line.as_bytes(), b"\n\n\xff\n{"].concat().as_slice(), &mut out).unwrap();
    let outside = r#"{"ruling":"error","argument_agreement":null,"result_agreement":null,"reason":"outside_domain"}"#;
    let accepted = r#"{"ruling":"accept","argument_agreement":1,"result_agreement":1,"reason":"agreed"}"#;
    assert_eq!(String::from_utf8(out).unwrap().lines().collect::<Vec<_>>(), [accepted, outside, outside, outside]);
}
