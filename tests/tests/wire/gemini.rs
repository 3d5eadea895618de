use tool_runtime::ToolCall;
use tool_runtime::wire::gemini::{Stream, calls, history, messages, miscall, text};

use crate::support::{arguments, ids, results, results_of, streamed, truncated};

#[test]
fn b35_b36_args_may_be_an_object_text_or_missing() {
    let content = r#"{"role":"model","parts":[
        {"functionCall":{"id":"1","name":"a","args":{"n" : 1.0, "n":2}}},
        {"functionCall":{"name":"a","args":"{\"n\":1.0}"}},
        {"functionCall":{"name":"a","args":""}},
        {"functionCall":{"name":"a","args":null}},
        {"functionCall":{"id":"","name":"a"}},
        {"functionCall":{"name":"a","args":"{\"half"}}]}"#;
    for response in [content.to_owned(), format!(r#"{{"candidates":[{{"content":{content}}}]}}"#)] {
        let calls = calls(&response).unwrap();
        assert_eq!(arguments(&calls), [r#"{"n" : 1.0, "n":2}"#, r#"{"n":1.0}"#, "", "", "", "{\"half"]);
        let made_up: Vec<String> = (1..6).map(|index| format!("call_without_id_{index}")).collect();
        assert_eq!(ids(&calls)[0], "1");
        assert_eq!(ids(&calls)[1..], made_up);
    }
}

#[test]
fn thoughts_and_signatures_are_neither_calls_nor_text() {
    let content = r#"{"parts":[
        {"text":"hm","thought":true},{"text":"a","thoughtSignature":"c2ln"},
        {"functionCall":{"name":"a","args":{}},"thoughtSignature":"c2ln"},
        {"executableCode":{"code":"x"}},{"text":"b"}],"role":"model"}"#;
    assert_eq!(calls(content).unwrap(), [ToolCall::new("call_without_id_0", "a", "{}")]);
    assert_eq!(text(content).unwrap(), "ab");
    assert_eq!(history(content).unwrap(), content);
}

#[test]
fn a_response_may_have_nothing_in_it() {
    for response in [
        r#"{"candidates":[{"finishReason":"MAX_TOKENS"}]}"#,
        r#"{"candidates":[{"content":{"role":"model"},"finishReason":"STOP"}]}"#,
        r#"{"candidates":[],"usageMetadata":{}}"#,
        r#"{"usageMetadata":{}}"#,
        "[]",
    ] {
        assert_eq!(calls(response), Ok(Vec::new()), "{response}");
        assert_eq!(text(response).unwrap(), "");
        assert!(history(response).unwrap().contains("model"), "{response}");
    }
}

#[test]
fn a_request_that_is_refused_is_an_error() {
    let error = calls(r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#).unwrap_err();
    assert_eq!(error.reported(), Some("the request is refused: SAFETY"));
    let error = calls(r#"{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}"#).unwrap_err();
    assert_eq!(error.reported(), Some("bad"));
}

#[test]
fn b39_reasons_that_are_not_known_are_not_trusted() {
    for (reason, cut_off) in [("STOP", false), ("MAX_TOKENS", true), ("SAFETY", true), ("NEW_REASON", true)] {
        let response = format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"name":"a"}}}}]}},"finishReason":"{reason}"}}]}}"#
        );
        assert_eq!(truncated(&calls(&response).unwrap()), [cut_off], "{reason}");
    }
}

#[test]
fn an_array_of_responses_is_one() {
    let chunk = |parts: &str| format!(r#"{{"candidates":[{{"content":{{"role":"model","parts":[{parts}]}}}}]}}"#);
    let (one, two) = (r#"{"text":"a"}"#, r#"{"functionCall":{"name":"a"},"thoughtSignature":"c2ln"}"#);
    let response = format!("[{},\n{}]", chunk(one), chunk(two));
    assert_eq!(calls(&response).unwrap().len(), 1);
    assert_eq!(history(&response).unwrap(), format!(r#"{{"role":"model","parts":[{one},{two}]}}"#));
}

#[test]
fn answers_are_one_content_and_end_with_the_asides() {
    let results = results(&[("1", "aside"), ("2", "fail with image"), ("3", "both")]);
    let messages = messages(&results);
    assert_eq!(messages.len(), 1);
    let image = r#"{"inlineData":{"mimeType":"image/png","data":"aW1n"}}"#;
    let named = |kind: &str| format!("[an image (image/{kind}), which can't be sent here]");
    let response = |id: u8, key: &str, said: &str, parts: &str| {
        format!(r#"{{"functionResponse":{{"id":"{id}","name":"show","response":{{"{key}":"{said}"}}{parts}}}}}"#)
    };
    let (tiff, png) = (named("tiff"), named("png"));
    let parts = format!(r#","parts":[{image}]"#);
    let with_images = [
        response(1, "output", "aside", ""),
        response(2, "error", "fail with image", &parts),
        response(3, "output", &format!("both\\n{tiff}"), &parts),
        r#"{"text":"by the way"}"#.to_owned(),
        image.to_owned(),
        r#"{"text":"and this"}"#.to_owned(),
    ];
    assert_eq!(messages[0].to_json(), format!(r#"{{"role":"user","parts":[{}]}}"#, with_images.join(",")));
    let without = [
        response(1, "output", "aside", ""),
        response(2, "error", &format!("fail with image\\n{png}"), ""),
        response(3, "output", &format!("both\\n{png}\\n{tiff}"), ""),
        r#"{"text":"by the way"}"#.to_owned(),
        format!(r#"{{"text":"{png}"}}"#),
        r#"{"text":"and this"}"#.to_owned(),
    ];
    let sent = messages[0].without_images().to_json();
    assert_eq!(sent, format!(r#"{{"role":"user","parts":[{}]}}"#, without.join(",")));
}

#[test]
fn identifiers_that_were_made_up_are_not_sent() {
    let calls = calls(
        r#"{"parts":[{"functionCall":{"name":"show","args":{"what":"a"}}},
            {"functionCall":{"id":"x","name":"show","args":{"what":"b"}}}]}"#,
    );
    let sent = messages(&results_of(calls.unwrap()))[0].to_json();
    let a = r#"{"functionResponse":{"name":"show","response":{"output":"a"}}}"#;
    let b = r#"{"functionResponse":{"id":"x","name":"show","response":{"output":"b"}}}"#;
    assert_eq!(sent, format!(r#"{{"role":"user","parts":[{a},{b}]}}"#));
}

#[test]
fn parts_of_a_stream_are_sent_back_as_they_came() {
    let parts = [
        r#"{"text":"hm","thought":true}"#,
        r#"{ "functionCall":{"name":"a","args":{"n":1.0}},"thoughtSignature":"c2ln" }"#,
    ];
    let events: Vec<String> =
        parts.iter().map(|part| format!(r#"{{"candidates":[{{"content":{{"parts":[{part}]}}}}]}}"#)).collect();
    let streamed = streamed("gemini", &events.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(streamed.history, format!(r#"{{"role":"model","parts":[{}]}}"#, parts.join(",")));
    // Calls come whole.
    assert_eq!(truncated(&streamed.calls), [false]);
}

/// It looks like the end of a conversation, and is a call that the model has to make again.
#[test]
fn a_call_that_gemini_could_not_read_is_seen_and_answered() {
    let wrote = r#"Malformed function call: print(default_api.wipe(name=\"a\"))"#;
    for (reason, told) in
        [("MALFORMED_FUNCTION_CALL", "could not be read"), ("UNEXPECTED_TOOL_CALL", "can't be called now")]
    {
        for content in ["", r#""content":{},"#, r#""content":{"role":"model","parts":[]},"#] {
            let response = format!(
                r#"{{"candidates":[{{{content}"finishReason":"{reason}","finishMessage":"{wrote}"}}],"usageMetadata":{{}}}}"#
            );
            assert_eq!(calls(&response), Ok(Vec::new()));
            let seen = miscall(&response).unwrap().expect("a call that could not be read");
            assert_eq!((seen.reason(), seen.said().unwrap()), (reason, &*wrote.replace('\\', "")));
            // Neither is a content of nothing, and the model sees what it wrote.
            assert_eq!(history(&response).unwrap(), format!(r#"{{"role":"model","parts":[{{"text":"{wrote}"}}]}}"#));
            let answer: serde_json::Value = serde_json::from_str(&seen.to_json()).unwrap();
            assert_eq!(answer, serde_json::to_value(&seen).unwrap());
            assert_eq!(answer["role"], "user");
            assert!(answer["parts"][0]["text"].as_str().unwrap().contains(told), "{answer}");
            let mut stream = Stream::new();
            stream.push(&response).unwrap();
            stream.push(r#"{"candidates":[{"finishReason":""}],"usageMetadata":{}}"#).unwrap();
            assert_eq!((stream.miscall(), stream.history()), (Some(&seen), history(&response).unwrap()));
        }
        // What the results of calls tell needs no other words.
        let parts = r#"{"parts":[{"functionCall":{"name":"a"}}]}"#;
        let response = format!(r#"{{"candidates":[{{"content":{parts},"finishReason":"{reason}"}}]}}"#);
        assert_eq!(calls(&response).unwrap().len(), 1);
        assert_eq!(miscall(&response), Ok(None));
    }
    for fine in ["STOP", "MAX_TOKENS", "SAFETY"] {
        assert_eq!(miscall(&format!(r#"{{"candidates":[{{"finishReason":"{fine}"}}]}}"#)), Ok(None));
    }
}

/// A server may send any number of them: the time that each takes must not grow with those before it.
#[test]
fn many_calls_of_one_turn_are_read_in_time() {
    let part = r#"{"functionCall":{"name":"a","args":{}}}"#;
    let response = format!(r#"{{"role":"model","parts":[{}]}}"#, vec![part; 60_000].join(","));
    let begun = std::time::Instant::now();
    assert_eq!(calls(&response).unwrap().len(), 60_000);
    // Unoptimised, a second; if each looked at all others, a minute.
    assert!(begun.elapsed().as_secs() < 15, "{:?}", begun.elapsed());
}
