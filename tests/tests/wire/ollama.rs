use tool_runtime::ToolCall;
use tool_runtime::wire::ollama::{calls, history, messages, text};

use crate::support::{arguments, ids, results, results_of, streamed, truncated};

#[test]
fn b35_b36_arguments_may_be_an_object_text_or_missing() {
    let message = r#"{"role":"assistant","content":"","tool_calls":[
        {"id":"1","function":{"index":0,"name":"a","arguments":{"n" : 1.0, "n":2}}},
        {"function":{"name":"a","arguments":"{\"n\":1.0}"}},
        {"function":{"name":"a","arguments":""}},
        {"function":{"name":"a","arguments":null}},
        {"id":"","function":{"name":"a"}},
        {"function":{"name":"a","arguments":"{\"half"}}]}"#;
    for response in [message.to_owned(), format!(r#"{{"model":"m","message":{message},"done":true}}"#)] {
        let calls = calls(&response).unwrap();
        assert_eq!(arguments(&calls), [r#"{"n" : 1.0, "n":2}"#, r#"{"n":1.0}"#, "", "", "", "{\"half"]);
        let made_up: Vec<String> = (1..6).map(|index| format!("call_without_id_{index}")).collect();
        assert_eq!(ids(&calls)[0], "1");
        assert_eq!(ids(&calls)[1..], made_up);
        // Ollama takes back no arguments that are text.
        let sent = concat!(
            r#"{"role":"assistant","content":"","tool_calls":["#,
            r#"{"id":"1","function":{"index":0,"name":"a","arguments":{"n" : 1.0, "n":2}}},"#,
            r#"{"function":{"name":"a","arguments":{"n":1.0}}},{"function":{"name":"a","arguments":{}}},"#,
            r#"{"function":{"name":"a","arguments":{}}},{"function":{"name":"a","arguments":{}}},"#,
            r#"{"function":{"name":"a","arguments":{}}}]}"#
        );
        assert_eq!(history(&response).unwrap(), sent);
    }
}

#[test]
fn what_the_model_thinks_is_not_what_it_says() {
    let response = r#"{"message":{"role":"assistant","content":"a","thinking":"hm"},"done":true}"#;
    assert_eq!(text(response).unwrap(), "a");
    assert_eq!(calls(response), Ok(Vec::new()));
    let said = calls(r#"{"message":{"tool_calls":{}}}"#).unwrap_err().to_string();
    assert_eq!(said, "not a message of Ollama: `tool_calls` has to be an array");
}

#[test]
fn answers_are_tool_messages_and_then_the_asides() {
    let results = results(&[("1", "aside"), ("2", "fail"), ("3", "image")]);
    let sent: Vec<String> = messages(&results).iter().map(|message| message.to_json()).collect();
    assert_eq!(
        sent,
        [
            r#"{"role":"tool","tool_name":"show","content":"aside","tool_call_id":"1"}"#,
            r#"{"role":"tool","tool_name":"show","content":"fail","tool_call_id":"2"}"#,
            r#"{"role":"tool","tool_name":"show","content":"image\n[an image (image/png), which can't be sent here]","tool_call_id":"3"}"#,
            r#"{"role":"user","content":"by the way","images":["aW1n"]}"#,
            r#"{"role":"user","content":"and this"}"#,
        ]
    );
}

#[test]
fn identifiers_that_were_made_up_are_not_sent() {
    let calls = calls(r#"{"tool_calls":[{"function":{"name":"show","arguments":{"what":"a"}}}]}"#);
    let sent = messages(&results_of(calls.unwrap()))[0].to_json();
    assert_eq!(sent, r#"{"role":"tool","tool_name":"show","content":"a"}"#);
}

#[test]
fn lines_of_a_stream_are_one_message() {
    let streamed = streamed(
        "ollama",
        &[
            "{\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"h\"},\"done\":false}\n",
            r#"{"message":{"role":"assistant","content":"a","thinking":"m"},"done":false}"#,
            r#"{"message":{"content":"b","tool_calls":[{ "function":{"name":"a","arguments":{"n":1.0}} }]}}"#,
            r#"{"message":{"tool_calls":[{"function":{"name":"b"}}]}}"#,
        ],
    );
    assert_eq!(streamed.errors, []);
    assert_eq!(
        streamed.history,
        r#"{"role":"assistant","content":"ab","thinking":"hm","tool_calls":[{ "function":{"name":"a","arguments":{"n":1.0}} },{"function":{"name":"b","arguments":{}}}]}"#
    );
    // Calls come whole, and are counted over all lines.
    assert_eq!(truncated(&streamed.calls), [false, false]);
    assert_eq!(streamed.calls[0], ToolCall::new("call_without_id_0", "a", r#"{"n":1.0}"#));
    assert_eq!(ids(&streamed.calls), ["call_without_id_0", "call_without_id_1"]);
}
