use tool_runtime::wire::anthropic::{Stream, calls, found, history, messages, text};
use tool_runtime::wire::export::{Deferral, Export, Provider};
use tool_runtime::{DynamicTool, HostTool, ToolCall};

use crate::support::{arguments, ids, results, streamed, truncated};

#[test]
fn b35_b36_input_may_be_an_object_text_or_missing() {
    let content = r#"[
        {"type":"tool_use","id":"1","name":"a","input":{"n" : 1.0, "n":2}},
        {"type":"tool_use","id":"2","name":"a","input":"{\"n\":1.0}"},
        {"type":"tool_use","id":"3","name":"a","input":""},
        {"type":"tool_use","id":"4","name":"a","input":null},
        {"type":"tool_use","name":"a"},
        {"type":"tool_use","id":"6","name":"a","input":"{\"half"}]"#;
    for response in [content.to_owned(), format!(r#"{{"role":"assistant","content":{content}}}"#)] {
        let calls = calls(&response).unwrap();
        assert_eq!(arguments(&calls), [r#"{"n" : 1.0, "n":2}"#, r#"{"n":1.0}"#, "", "", "", "{\"half"]);
        assert_eq!(ids(&calls), ["1", "2", "3", "4", "call_without_id_4", "6"]);
    }
}

#[test]
fn blocks_of_other_types_are_no_calls() {
    let response = r#"{"content":[
        {"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"redacted_thinking","data":"x"},
        {"type":"text","text":"a"},{"type":"server_tool_use","id":"s","name":"web_search","input":{}},
        {"type":"web_search_tool_result","tool_use_id":"s","content":[]},{"type":"text","text":"b"},
        {"type":"tool_use","id":"1","name":"a","input":{}}],"stop_reason":"tool_use"}"#;
    assert_eq!(calls(response).unwrap(), [ToolCall::new("1", "a", "{}")]);
    assert_eq!(text(response).unwrap(), "ab");
    assert_eq!(text(r#"{"role":"assistant","content":"just text"}"#).unwrap(), "just text");
    assert!(calls(r#"{"content":[{"type":"tool_use","id":"1"}]}"#).unwrap_err().to_string().contains("no name"));
}

#[test]
fn b39_reasons_that_are_not_known_are_not_trusted() {
    for (reason, cut_off) in [
        ("null", false),
        ("\"tool_use\"", false),
        ("\"end_turn\"", false),
        ("\"max_tokens\"", true),
        ("\"model_context_window_exceeded\"", true),
        ("\"refusal\"", true),
    ] {
        let response =
            format!(r#"{{"content":[{{"type":"tool_use","id":"1","name":"a","input":{{}}}}],"stop_reason":{reason}}}"#);
        assert_eq!(truncated(&calls(&response).unwrap()), [cut_off], "{reason}");
    }
}

#[test]
fn history_has_what_a_request_takes() {
    let content = r#"[ {"type":"thinking","thinking":"hm","signature":"c2ln"}, {"type":"tool_use","id":"1","name":"a","input":{"n":1.0}} ]"#;
    let response = format!(r#"{{"id":"msg","model":"m","content":{content},"role":"assistant","usage":{{}}}}"#);
    let expected = format!(r#"{{"role":"assistant","content":{content}}}"#);
    assert_eq!(history(&response).unwrap(), expected);
    assert_eq!(history(&expected).unwrap(), expected);
    assert_eq!(history(content).unwrap(), expected);
}

/// The API gives such blocks, and refuses a request that has them ("text content blocks must be non-empty", "must contain
/// non-whitespace text").
#[test]
fn text_that_is_blank_is_not_sent_back() {
    let call = r#"{"type":"tool_use","id":"1","name":"a","input":{}}"#;
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let content = [text(""), text(r"\n\u00a0 "), text(" a"), call.to_owned(), text(r"\t")].join(" , ");
    let expected = format!(r#"{{"role":"assistant","content":[{},{call}]}}"#, text(" a"));
    assert_eq!(history(&format!(r#"{{"role":"assistant","content":[{content}]}}"#)).unwrap(), expected);
    let mut events = Vec::new();
    for (index, block) in [text(""), text(r"\n"), text(""), call.to_owned()].into_iter().enumerate() {
        events.push(format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#));
        let piece = if index == 2 { " a" } else { " " };
        if index < 3 {
            let delta = format!(r#"{{"type":"text_delta","text":"{piece}"}}"#);
            events.push(format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#));
        }
        events.push(format!(r#"{{"type":"content_block_stop","index":{index}}}"#));
    }
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    assert_eq!(streamed("anthropic", &events).history, expected);

    // Nor beside an image.
    let sent = messages(&results(&[("1", "\n")]))[0].to_json();
    assert!(sent.contains(r#""content":[{"type":"image","#), "{sent}");
}

#[test]
fn answers_begin_with_all_results_in_one_message() {
    let results = results(&[("1", "aside"), ("2", "fail with image"), ("3", "image"), ("4", "both"), ("5", "tiff")]);
    let sent: Vec<String> = messages(&results).iter().map(|message| message.to_json()).collect();
    let image = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aW1n"}}"#;
    let named = |kind: &str| format!("[an image (image/{kind}), which can't be sent here]");
    let result = |id: u8, content: &str, error: &str| {
        format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":{content}{error}}}"#)
    };
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let blocks = [
        result(1, r#""aside""#, ""),
        // A failure holds text alone.
        result(2, &format!(r#""fail with image\n{}""#, named("png")), r#","is_error":true"#),
        result(3, &format!("[{},{image}]", text("image")), ""),
        result(4, &format!("[{},{image},{}]", text("both"), text(&named("tiff"))), ""),
        result(5, &format!(r#""tiff\n{}""#, named("tiff")), ""),
        text("by the way"),
        image.to_owned(),
        text("and this"),
    ];
    assert_eq!(sent, [format!(r#"{{"role":"user","content":[{}]}}"#, blocks.join(","))]);
}

#[test]
fn blocks_of_a_stream_are_sent_back_as_if_they_had_come_whole() {
    let mut events = vec![
        r#"{"type":"message_start","message":{"id":"m","role":"assistant","content":[]}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"h"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"m"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"x"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"text","text":"a"}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"b"}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"citations_delta","citation":{"x":1.0}}}"#,
        r#"{"type":"content_block_stop","index":3}"#,
        r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"1","name":"a","input":{}}}"#,
        r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"n\":1.0"}}"#,
        r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"}"}}"#,
        r#"{"type":"content_block_stop","index":4}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let whole = streamed("anthropic", &events);
    let history = |input: &str| {
        format!(
            r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":"hm","signature":"c2ln"}},{{"type":"redacted_thinking","data":"x"}},{{"type":"text","text":"ab","citations":[{{"x":1.0}}]}},{{"type":"tool_use","id":"1","name":"a","input":{input}}}]}}"#
        )
    };
    assert_eq!(whole.errors, []);
    assert_eq!(whole.text, "ab");
    assert_eq!(whole.history, history(r#"{"n":1.0}"#));
    assert_eq!(whole.calls, [ToolCall::new("1", "a", r#"{"n":1.0}"#)]);

    // Nobody has said yet why it ended.
    events.truncate(19);
    assert_eq!(truncated(&streamed("anthropic", &events).calls), [true]);
    // Half an input is no JSON.
    events.truncate(17);
    let early = streamed("anthropic", &events);
    assert_eq!(early.history, history("{}"));
    assert_eq!(early.calls, [ToolCall::new("1", "a", r#"{"n":1.0"#).truncated()]);
    // Half a thought has no signature.
    let nothing = r#"{"role":"assistant","content":[{"type":"text","text":"(no answer)"}]}"#;
    assert_eq!(streamed("anthropic", &events[..4]).history, nothing);
}

#[test]
fn a_call_without_pieces_has_the_input_that_it_began_with() {
    for (input, expected) in [(r#""input":{}"#, "{}"), (r#""input":{"n":1.0}"#, r#"{"n":1.0}"#), (r#""x":1"#, "")] {
        let begins = format!(
            r#"{{"type":"content_block_start","index":0,"content_block":{{"type":"tool_use","id":"1","name":"a",{input}}}}}"#
        );
        let streamed = streamed("anthropic", &[&begins, r#"{"type":"content_block_stop","index":0}"#]);
        assert_eq!(arguments(&streamed.calls), [expected]);
    }
    let streamed =
        streamed("anthropic", &[r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta"}}"#]);
    assert_eq!(streamed.errors.len(), 1);
}

#[test]
fn what_a_search_of_the_provider_found_is_loaded_and_nothing_else() {
    let search = r#"{"type":"server_tool_use","id":"srv_1","name":"tool_search_tool_regex","input":{"query":"a"}}"#;
    let result =
        |content: &str| format!(r#"{{"type":"tool_search_tool_result","tool_use_id":"srv_1","content":{content}}}"#);
    let found_two = result(
        r#"{"type":"tool_search_tool_search_result","tool_references":[{"type":"tool_reference","tool_name":"a_b_2e7336dc"},{"type":"tool_reference","tool_name":"plain"},{"type":"tool_reference","tool_name":"unknown"},{"type":"tool_reference"}]}"#,
    );
    let failed = result(r#"{"type":"tool_search_tool_result_error","error_code":"too_many_requests"}"#);
    let response =
        |block: &str| format!(r#"{{"role":"assistant","content":[{search},{block}],"stop_reason":"tool_use"}}"#);
    assert_eq!(found(&response(&found_two)).unwrap(), ["a_b_2e7336dc", "plain", "unknown"]);
    assert!(found(&response(&failed)).unwrap().is_empty() && found(r#"{"content":"text"}"#).unwrap().is_empty());
    assert!(calls(&response(&found_two)).unwrap().is_empty());
    // Unchanged in the history, whole or in pieces, and read from there.
    let whole = history(&response(&found_two)).unwrap();
    assert!(whole.contains(&found_two));
    let mut stream = Stream::new();
    for (index, block) in [search, &found_two].into_iter().enumerate() {
        stream.push(&format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#)).unwrap();
        stream.push(&format!(r#"{{"type":"content_block_stop","index":{index}}}"#)).unwrap();
    }
    assert_eq!(found(&stream.history()).unwrap(), found(&whole).unwrap());

    // Only what was declared as deferred is loaded by it, under the host's name.
    let tool = |name: &str, deferred: bool| {
        let tool = DynamicTool::builder(name, "Does it.").output("true");
        let tool = if deferred { tool.deferred() } else { tool };
        tool.run(|_, _| async { Ok("null".to_owned()) }).unwrap()
    };
    let tools = [tool("a.b", true), tool("plain", false)];
    let export =
        |deferral| Export::with(Provider::Anthropic).deferral(deferral).tools(tools.iter().map(HostTool::schema));
    let named = found(&whole).unwrap();
    assert_eq!(export(Deferral::Provider).found(&named), ["a.b"]);
    assert!(export(Deferral::Host).found(&named).is_empty());
}
