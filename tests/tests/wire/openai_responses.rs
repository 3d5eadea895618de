use tool_runtime::ToolCall;
use tool_runtime::wire::openai_responses::{calls, history, messages, text};

use crate::support::{arguments, ids, results, streamed, truncated};

#[test]
fn b35_b36_arguments_may_be_text_an_object_or_missing() {
    let items = r#"[
        {"type":"function_call","call_id":"1","name":"a","arguments":"{\"n\":1.0}"},
        {"type":"function_call","call_id":"2","name":"a","arguments":{"n" : 1.0}},
        {"type":"function_call","call_id":"3","name":"a","arguments":""},
        {"type":"function_call","call_id":"4","name":"a","arguments":null},
        {"type":"function_call","id":"fc","name":"a"},
        {"type":"function_call","call_id":"6","name":"a","arguments":"{\"half"}]"#;
    for response in [items.to_owned(), format!(r#"{{"output":{items}}}"#)] {
        let calls = calls(&response).unwrap();
        assert_eq!(arguments(&calls), [r#"{"n":1.0}"#, r#"{"n" : 1.0}"#, "", "", "", "{\"half"]);
        assert_eq!(ids(&calls), ["1", "2", "3", "4", "call_without_id_4", "6"]);
    }
}

#[test]
fn items_of_other_types_are_no_calls() {
    let response = r#"{"status":"completed","error":null,"output":[
        {"type":"reasoning","id":"rs","summary":[],"encrypted_content":"x"},
        {"type":"message","role":"assistant","content":[
            {"type":"output_text","text":"a","annotations":[]},{"type":"refusal","refusal":"no"},
            {"type":"output_text","text":"b"}]},
        {"type":"web_search_call","id":"ws","status":"completed"},
        {"type":"function_call","call_id":"1","name":"a","arguments":"{}","status":"completed"}]}"#;
    assert_eq!(calls(response).unwrap(), [ToolCall::new("1", "a", "{}")]);
    assert_eq!(text(response).unwrap(), "anob");
    let item = r#"{"type":"function_call","call_id":"1","name":"a","arguments":"{}"}"#;
    assert_eq!(calls(item).unwrap().len(), 1);
    assert_eq!(history(item).unwrap(), format!("[{item}]"));
    assert_eq!(history(&history(item).unwrap()), history(item));
}

#[test]
fn b39_calls_that_say_that_they_are_incomplete_are() {
    let call = |status: &str| format!(r#"{{"type":"function_call","call_id":"1","name":"a","status":"{status}"}}"#);
    let response = |status: &str, item: &str| {
        format!(r#"{{"status":"{status}","output":[{0},{1},{1}]}}"#, call(item), call("completed"))
    };
    let marks = |status, item| truncated(&calls(&response(status, item)).unwrap());
    assert_eq!(marks("completed", "completed"), [false, false, false]);
    assert_eq!(marks("completed", "incomplete"), [true, false, false]);
    assert_eq!(marks("incomplete", "completed"), [false, false, true]);
    assert_eq!(marks("cancelled", "in_progress"), [true, false, true]);
}

#[test]
fn a_response_that_failed_is_an_error() {
    let failed = r#"{"status":"failed","output":[],"error":{"code":"server_error","message":"broken"}}"#;
    assert_eq!(calls(failed).unwrap_err().reported(), Some("broken"));
    assert!(calls(r#"{"status":"failed","output":[],"error":null}"#).unwrap_err().reported().is_some());
    let event = format!(r#"{{"type":"response.failed","response":{failed}}}"#);
    assert_eq!(streamed("openai_responses", &[&event]).errors[0].reported(), Some("broken"));
    let event = r#"{"type":"error","code":"x","message":"broken","param":null}"#;
    assert_eq!(streamed("openai_responses", &[event]).errors[0].reported(), Some("broken"));
}

#[test]
fn answers_are_outputs_and_then_the_asides() {
    let results = results(&[("1", "aside"), ("2", "fail with image"), ("3", "tiff"), ("4", "both")]);
    let sent: Vec<String> = messages(&results).iter().map(|message| message.to_json()).collect();
    let image = r#"{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,aW1n"}"#;
    let tiff = "[an image (image/tiff), which can't be sent here]";
    assert_eq!(
        sent,
        [
            r#"{"type":"function_call_output","call_id":"1","output":"aside"}"#.to_owned(),
            format!(
                r#"{{"type":"function_call_output","call_id":"2","output":[{{"type":"input_text","text":"fail with image"}},{image}]}}"#
            ),
            format!(r#"{{"type":"function_call_output","call_id":"3","output":"tiff\n{tiff}"}}"#),
            format!(
                r#"{{"type":"function_call_output","call_id":"4","output":[{{"type":"input_text","text":"both"}},{image},{{"type":"input_text","text":"{tiff}"}}]}}"#
            ),
            format!(r#"{{"role":"user","content":[{{"type":"input_text","text":"by the way"}},{image}]}}"#),
            r#"{"role":"user","content":"and this"}"#.to_owned(),
        ]
    );
}

#[test]
fn items_of_a_stream_are_sent_back_as_they_came() {
    let reasoning = r#"{"type":"reasoning","id":"rs", "encrypted_content":"x"}"#;
    let call = r#"{"type":"function_call","id":"fc","call_id":"1","name":"a","arguments":"{}", "status":"completed"}"#;
    let mut events = vec![
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs"}}"#.to_owned(),
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"hm"}"#.to_owned(),
        format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{reasoning}}}"#),
        r#"{"type":"response.output_item.added","output_index":1,"item":
            {"type":"function_call","call_id":"1","name":"a","arguments":""}}"#
            .to_owned(),
        r#"{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{"}"#.to_owned(),
    ];
    let early = streamed("openai_responses", &events.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(
        early.history,
        format!(r#"[{reasoning},{{"type":"function_call","call_id":"1","name":"a","arguments":"{{}}"}}]"#)
    );
    assert_eq!(truncated(&early.calls), [true]);
    events.push(format!(r#"{{"type":"response.output_item.done","output_index":1,"item":{call}}}"#));
    let whole = streamed("openai_responses", &events.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(whole.history, format!("[{reasoning},{call}]"));
    assert_eq!(whole.calls, [ToolCall::new("1", "a", "{}")]);
}

#[test]
fn items_that_come_only_at_the_end_are_not_lost() {
    let done = r#"{"type":"response.completed","response":{"status":"completed","output":[
        {"type":"function_call","call_id":"1","name":"a","arguments":"{}"}]}}"#;
    assert_eq!(streamed("openai_responses", &[done]).calls, [ToolCall::new("1", "a", "{}")]);
}

#[test]
fn calls_of_tools_in_namespaces_are_known_by_both_names() {
    let call = |id: u8, namespace: &str, name: &str| {
        format!(r#"{{"type":"function_call","call_id":"{id}"{namespace},"name":"{name}","arguments":"{{}}"}}"#)
    };
    let crm = r#","namespace":"crm""#;
    // The last two are of tools that are in none: one was deferred by itself.
    let items = [
        call(1, crm, "find"),
        call(2, "", "find"),
        call(3, r#","namespace":"find""#, "find"),
        call(4, r#","namespace":"""#, "find"),
    ];
    let response = format!(r#"{{"output":[{}]}}"#, items.join(","));
    let names = |calls: &[ToolCall]| calls.iter().map(|call| call.name().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&calls(&response).unwrap()), ["crm.find", "find", "find", "find"]);
    let event = |kind: &str, index: usize, item: &str| {
        format!(r#"{{"type":"response.output_item.{kind}","output_index":{index},"item":{item}}}"#)
    };
    let mut events = Vec::new();
    for (index, item) in items.iter().enumerate() {
        events.push(event("added", index, &item.replace("{}", "")));
        events.push(event("done", index, item));
    }
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let whole = streamed("openai_responses", &events);
    assert_eq!(whole.calls, calls(&response).unwrap());
    assert_eq!(whole.history, format!("[{}]", items.join(",")));
    // One that was cut off keeps its namespace for the history.
    let cut = streamed("openai_responses", &events[..1]);
    assert_eq!((names(&cut.calls), truncated(&cut.calls)), (vec!["crm.find".to_owned()], vec![true]));
    assert_eq!(names(&calls(&cut.history).unwrap()), ["crm.find"]);
}

#[test]
fn a_refusal_is_what_the_model_says() {
    let item = r#"{"type":"message","content":[{"type":"output_text","text":"a "},{"type":"refusal","refusal":"no"}]}"#;
    assert_eq!(text(&format!(r#"{{"status":"completed","output":[{item}]}}"#)).unwrap(), "a no");
    let streamed = streamed(
        "openai_responses",
        &[
            r#"{"type":"response.output_text.delta","output_index":0,"delta":"a "}"#,
            r#"{"type":"response.refusal.delta","output_index":0,"delta":"no"}"#,
            &format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{item}}}"#),
        ],
    );
    assert_eq!((streamed.text.as_str(), streamed.history), ("a no", format!("[{item}]")));
}
