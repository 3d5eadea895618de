use tool_runtime::ToolCall;
use tool_runtime::wire::openai_chat::{calls, history, messages, text};

use crate::support::{arguments, ids, results, results_of, streamed, truncated};

#[test]
fn b35_b36_arguments_may_be_text_an_object_or_missing() {
    let message = r#"{"tool_calls":[
        {"id":"1","function":{"name":"a","arguments":"{\"n\":1.0}"}},
        {"id":"2","function":{"name":"a","arguments":{"n" : 1.0, "n":2}}},
        {"id":"3","function":{"name":"a","arguments":""}},
        {"id":"4","function":{"name":"a","arguments":null}},
        {"id":"5","function":{"name":"a"}},
        {"id":"6","function":{"name":"a","arguments":[5]}},
        {"id":"7","function":{"name":"a","arguments":"{\"path\":\"a\", \"recursive\":tru"}}]}"#;
    let calls = calls(message).unwrap();
    let expected = [r#"{"n":1.0}"#, r#"{"n" : 1.0, "n":2}"#, "", "", "", "[5]", r#"{"path":"a", "recursive":tru"#];
    assert_eq!(arguments(&calls), expected);
    assert_eq!(ids(&calls), ["1", "2", "3", "4", "5", "6", "7"]);
}

#[test]
fn the_first_choice_counts() {
    let response = r#"{"choices":[
        {"finish_reason":"stop","message":{"role":"assistant","content":[{"type":"text","text":"a"},{"text":"b"}]}},
        {"finish_reason":"length","message":{"tool_calls":[{"function":{"name":"x"}}]}}]}"#;
    assert_eq!(calls(response), Ok(Vec::new()));
    assert_eq!(text(response).unwrap(), "ab");
    assert!(calls(r#"{"choices":[]}"#).is_err());
    assert!(calls(r#"{"choices":[{"delta":{}}]}"#).is_err());
}

/// Of OpenAI, Mistral, DeepSeek and servers of open models.
#[test]
fn b39_a_turn_that_was_interrupted_is_cut_off_however_a_server_says_so() {
    let call = r#""tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{}"}}]"#;
    for (reason, cut_off) in [
        ("null", false),
        (r#""stop""#, false),
        (r#""tool_calls""#, false),
        (r#""function_call""#, false),
        (r#""length""#, true),
        (r#""content_filter""#, true),
        (r#""model_length""#, true),
        (r#""error""#, true),
        (r#""insufficient_system_resource""#, true),
        (r#""abort""#, true),
    ] {
        let choice = |message: &str| {
            format!(
                r#"{{"choices":[{{"index":0,"{message}":{{"role":"assistant",{call}}},"finish_reason":{reason}}}]}}"#
            )
        };
        assert_eq!(truncated(&calls(&choice("message")).unwrap()), [cut_off], "{reason}");
        let streamed = streamed("openai_chat", &[&choice("delta"), "[DONE]"]);
        assert_eq!(truncated(&streamed.calls), [cut_off], "{reason}");
    }
}

#[test]
fn a_refusal_is_what_the_model_says() {
    let whole = r#"{"role":"assistant","content":null,"refusal":"I can't."}"#;
    assert_eq!(text(whole).unwrap(), "I can't.");
    assert_eq!(history(whole).unwrap(), whole);
    let parts = r#"{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"refusal","refusal":"b"}]}"#;
    assert_eq!(text(parts).unwrap(), "ab");
    let pieces =
        [r#"{"role":"assistant","content":null}"#, r#"{"refusal":"I "}"#, r#"{"refusal":"can't."}"#].map(delta);
    let streamed = streamed("openai_chat", &[&pieces[0], &pieces[1], &pieces[2], ENDS]);
    assert_eq!(streamed.text, "I can't.");
    assert_eq!(streamed.history, whole);
}

#[test]
fn calls_have_names_and_stand_in_a_list() {
    for (message, said) in [
        (r#"{"tool_calls":{}}"#, "`tool_calls` has to be an array"),
        (r#"{"tool_calls":[5]}"#, "`tool_calls[0]` has no `function`"),
        (r#"{"tool_calls":[{"function":{"name":"a"}},{"function":{}}]}"#, "`tool_calls[1]` has no name"),
        (r#"{"tool_calls":[{"function":{"name":"a","name":"b"}}]}"#, "`name` is given twice"),
    ] {
        assert_eq!(calls(message).unwrap_err().to_string(), format!("not a message of Chat Completions: {said}"));
    }
}

#[test]
fn answers_are_tool_messages_and_then_the_asides() {
    let results = results(&[("1", "aside"), ("2", "fail"), ("3", "image")]);
    let sent: Vec<String> = messages(&results).iter().map(|message| message.to_json()).collect();
    assert_eq!(
        sent,
        [
            r#"{"role":"tool","tool_call_id":"1","content":"aside"}"#,
            r#"{"role":"tool","tool_call_id":"2","content":"fail"}"#,
            r#"{"role":"tool","tool_call_id":"3","content":"image\n[an image (image/png), which can't be sent here]"}"#,
            r#"{"role":"user","content":"by the way\n[an image (image/png), which can't be sent here]"}"#,
            r#"{"role":"user","content":"and this"}"#,
        ]
    );
}

fn delta(delta: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{delta}}}]}}"#)
}

const ENDS: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;

#[test]
fn pieces_of_several_calls_may_come_in_turns() {
    let streamed = streamed(
        "openai_chat",
        &[
            &delta(
                r#"{"tool_calls":[{"index":1,"id":"b","function":{"name":"two","arguments":"{\"b\""}},
                {"index":0,"id":"a","function":{"name":"one","arguments":"{"}}]}"#,
            ),
            &delta(
                r#"{"tool_calls":[{"index":0,"function":{"arguments":"}"}},{"index":1,"function":{"arguments":":2}"}}]}"#,
            ),
            ENDS,
        ],
    );
    assert_eq!(streamed.calls, [ToolCall::new("a", "one", "{}"), ToolCall::new("b", "two", r#"{"b":2}"#)]);
}

#[test]
fn servers_that_count_otherwise_are_understood() {
    // Every call is the first; no index; identifier and name again with each piece.
    for pieces in [
        [r#""index":0,"id":"a","#, r#""index":0,"id":"b","#, r#""index":0,"#],
        [r#""id":"a","#, r#""id":"b","#, ""],
        [r#""index":0,"id":"a","#, r#""index":1,"id":"b","#, r#""index":1,"id":"b","#],
        [r#""index":0,"id":"a","#, r#""index":1,"id":"b","#, r#""index":1,"id":"","#],
    ] {
        let call =
            |head: &str, function: &str| delta(&format!(r#"{{"tool_calls":[{{{head}"function":{function}}}]}}"#));
        let streamed = streamed(
            "openai_chat",
            &[
                &call(pieces[0], r#"{"name":"one","arguments":"{}"}"#),
                &call(pieces[1], r#"{"name":"two","arguments":"{\"b\""}"#),
                &call(pieces[2], r#"{"name":"","arguments":":2}"}"#),
                ENDS,
            ],
        );
        let expected = [ToolCall::new("a", "one", "{}"), ToolCall::new("b", "two", r#"{"b":2}"#)];
        assert_eq!(streamed.calls, expected, "{pieces:?}");
    }
}

#[test]
fn b45_a_character_that_was_cut_in_two_is_one_again() {
    let streamed = streamed(
        "openai_chat",
        &[
            &delta(r#"{"content":"a\ud83c"}"#),
            &delta(r#"{"content":"\udf78b"}"#),
            &delta(r#"{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{\"s\":\"\ud83c"}}]}"#),
            &delta(r#"{"tool_calls":[{"index":0,"function":{"arguments":"\udf78\"}"}}]}"#),
            ENDS,
        ],
    );
    assert_eq!(streamed.text, "a\u{1f378}b");
    assert_eq!(streamed.calls, [ToolCall::new("1", "a", "{\"s\":\"\u{1f378}\"}")]);
}

#[test]
fn the_end_may_be_said_in_either_way() {
    let call = delta(r#"{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{}"}}]}"#);
    assert_eq!(truncated(&streamed("openai_chat", &[&call]).calls), [true]);
    let goes_on = call.replace(r#","delta""#, r#","finish_reason":"","delta""#);
    assert_eq!(truncated(&streamed("openai_chat", &[&goes_on]).calls), [true]);
    assert_eq!(truncated(&streamed("openai_chat", &[&call, ENDS]).calls), [false]);
    assert_eq!(truncated(&streamed("openai_chat", &[&call, " [DONE]\n"]).calls), [false]);
}

#[test]
fn what_else_came_is_sent_back() {
    let streamed = streamed(
        "openai_chat",
        &[
            &delta(r#"{"role":"assistant","content":null,"reasoning_content":"so \ud83c"}"#),
            &delta(r#"{"reasoning_content":"\udf78!","details":[{"a":1.0}]}"#),
            &delta(r#"{"details":[{"b":2}],"refusal":null}"#),
            &delta(
                r#"{"tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"a","arguments":"{}"},
                    "extra_content":{"google":{"thought_signature":"c2ln"}}}]}"#,
            ),
            ENDS,
        ],
    );
    assert_eq!(
        streamed.history,
        concat!(
            "{\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"so \u{1f378}!\",",
            r#""details":[{"a":1.0},{"b":2}],"tool_calls":[{"id":"1","type":"function","#,
            r#""function":{"name":"a","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}]}"#
        )
    );
    let message = r#"{"role":"assistant", "content":"","x":[1.0]}"#;
    assert_eq!(history(message).unwrap(), message);
}

/// Why a turn has no end is not said where it isn't known.
#[test]
fn a_turn_that_a_filter_stopped_is_not_said_to_be_too_long() {
    let call = r#"{"id":"1","type":"function","function":{"name":"show","arguments":"{\"what\":\"a\"}"}}"#;
    let response = format!(
        r#"{{"choices":[{{"message":{{"role":"assistant","tool_calls":[{call}]}},"finish_reason":"content_filter"}}]}}"#
    );
    let said = results_of(calls(&response).unwrap())[0].text();
    assert!(said.contains("stopped before its end") && !said.contains("length"), "{said}");
}
