//! What is sent in the place of an object: nothing, `null`, no JSON, half of it, an object in quotes.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tool_runtime::path::Settled;
use tool_runtime::wire::openai_chat;
use tool_runtime::{Code, RawArguments, ToolCall, tool};

use super::{CountInsideTool, NeedsTool, NowTool};
use crate::support::bench;

/// Takes what may be left out.
#[tool]
fn maybe(
    /// Perhaps.
    q: Option<String>,
) -> String {
    format!("{q:?}")
}

const N_IS_MISSING: &str = "`n`: missing, expected integer from 0 to 4294967295";

#[tokio::test]
async fn b35_empty_arguments_are_no_arguments() {
    let (now, needs) = (bench(NowTool::host()), bench(NeedsTool::host()));
    for arguments in ["", "   ", "\n", "\t\r\n "] {
        assert_eq!(now.ok(arguments).await, "noon", "{arguments:?}");
        assert_eq!(needs.refused(arguments).await, [N_IS_MISSING], "{arguments:?}");
    }
    assert_eq!(now.ok(RawArguments::absent()).await, "noon");
    assert_eq!(needs.refused(RawArguments::absent()).await, [N_IS_MISSING]);
}

#[tokio::test]
async fn b36_null_is_no_arguments_too() {
    let (now, maybe, needs) = (bench(NowTool::host()), bench(MaybeTool::host()), bench(NeedsTool::host()));
    for arguments in [RawArguments::absent(), "null".into(), " null\n".into(), "{}".into()] {
        assert_eq!(now.ok(arguments.clone()).await, "noon");
        assert_eq!(maybe.ok(arguments.clone()).await, "None");
        assert_eq!(needs.refused(arguments).await, [N_IS_MISSING]);
    }
    for judged in now.judged().into_iter().chain(maybe.judged()) {
        assert_eq!(judged, "{}");
    }
}

static REMOVED: AtomicUsize = AtomicUsize::new(0);

/// Removes.
#[tool]
fn remove(
    /// What; everything if left out.
    path: Option<String>,
    /// All that is inside.
    recursive: Option<bool>,
    /// Anything.
    a: Option<serde_json::Value>,
) -> u8 {
    let _ = (path, recursive, a);
    REMOVED.fetch_add(1, Ordering::SeqCst);
    1
}

#[tokio::test]
async fn b37_what_is_no_json_never_becomes_an_empty_object() {
    let remove = bench(RemoveTool::host());
    for (arguments, line, column) in [
        (r#"{"path":"a", "recursive":tru"#, 1, None),
        (r#"{"a":1} trailing"#, 1, Some(9)),
        ("{a:1}", 1, Some(2)),
        (r#"{"a":1,}"#, 1, Some(8)),
        ("NaN", 1, Some(1)),
        ("\u{feff}{}", 1, Some(1)),
        (r#"{"a":NaN}"#, 1, Some(6)),
        ("{\"path\":\n \"a\nb\"}", 2, None),
        ("{\"path\":\n\n \"a\"", 3, None),
        ("{'path':'a'}", 1, Some(2)),
        ("path=a", 1, Some(1)),
        ("```json\n{}\n```", 1, Some(1)),
        (r#"{"a":01}"#, 1, None),
        (r#"{"a":"\x41"}"#, 1, None),
        (r#"{"a":1}{"a":2}"#, 1, Some(8)),
    ] {
        let settled = remove.settle(arguments).await;
        let detail = settled.record().detail().unwrap_or_default().to_owned();
        let problems = remove.refused(arguments).await;
        let [problem] = problems.as_slice() else { panic!("{arguments}: {problems:?}") };
        assert!(problem.starts_with("not valid JSON: "), "{arguments}: {problem}");
        let place = match column {
            Some(column) => format!("(line {line}, column {column})"),
            None => format!("(line {line}, column "),
        };
        assert!(problem.contains(&place), "{arguments}: {problem}");
        // The host keeps what nobody could read.
        assert!(detail.starts_with("raw arguments: "), "{arguments}: {detail}");
        assert!(!detail.contains('\n'), "{arguments}: {detail}");
    }
    let detail = |settled: &Settled| settled.record().detail().unwrap_or_default().to_owned();
    let long = format!("{{\"a\":{}", "x".repeat(1_000_000));
    assert!(detail(&remove.settle(long).await).len() < 2048);
    let bytes = remove.settle(b"{\"path\":\"\xff\"}".to_vec()).await;
    assert_eq!(bytes.record().code(), Code::InvalidArguments);
    assert!(bytes.result().text().contains("not UTF-8"), "{}", bytes.result().text());
    assert_eq!(REMOVED.load(Ordering::SeqCst), 0);
    assert_eq!(remove.judged(), Vec::<String>::new());
}

/// Writes.
#[tool]
fn write(
    /// Where.
    path: String,
    /// What.
    content: String,
) -> String {
    format!("{path}: {content}")
}

/// A response of one turn with these calls of `write`.
fn response(finish: &str, arguments: &[&str]) -> String {
    let calls: Vec<_> = arguments
        .iter()
        .enumerate()
        .map(|(index, arguments)| {
            json!({"id": format!("call_{index}"), "type": "function",
                "function": {"name": "write", "arguments": arguments}})
        })
        .collect();
    let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
    json!({"choices": [{"index": 0, "finish_reason": finish, "message": message}]}).to_string()
}

fn calls(response: &str) -> Vec<ToolCall> {
    match openai_chat::calls(response) {
        Ok(calls) => calls,
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn b39_a_call_that_was_cut_off_is_not_mended() {
    let bench = bench(WriteTool::host());
    let half = r#"{"path":"a.txt","content":"hel"#;
    let whole = r#"{"path":"a.txt","content":"hello"}"#;

    let results = bench.harness().run(calls(&response("length", &[half]))).await;
    assert!(results[0].is_error());
    assert!(results[0].text().contains("cut off"), "{}", results[0].text());
    assert_eq!(bench.judged(), Vec::<String>::new());

    // It happens to parse, and may yet be half of what was meant. The call before it is whole.
    let results = bench.harness().run(calls(&response("length", &[whole, whole]))).await;
    assert_eq!(results.len(), 2);
    assert_eq!(results[0].text(), "a.txt: hello");
    assert!(results[1].is_error());
    assert!(results[1].text().contains("cut off"), "{}", results[1].text());
    assert_eq!(bench.judged().len(), 1);

    let results = bench.harness().run(calls(&response("tool_calls", &[whole]))).await;
    assert!(!results[0].is_error());
    // Without the reason it is plainly no JSON, and no bracket is closed for it either.
    let results = bench.harness().run(calls(&response("tool_calls", &[half]))).await;
    assert!(results[0].text().contains("not valid JSON"), "{}", results[0].text());
}

/// Finds an order.
#[tool]
fn find(
    /// Its number.
    order: String,
) -> String {
    order
}

#[tokio::test]
async fn b40_an_object_in_quotes_is_unwrapped_at_the_top_and_no_deeper() {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let find = bench(FindTool::host());
    let plain = r#"{"order":"27422"}"#;
    let once = quoted(plain);
    let twice = quoted(&once);
    let thrice = quoted(&twice);
    for arguments in [plain, &once, &twice] {
        assert_eq!(find.ok(arguments).await, "27422", "{arguments}");
    }
    // The gate saw what the handler got.
    assert_eq!(find.judged(), [plain, plain, plain]);
    let [problem] = <[String; 1]>::try_from(find.refused(thrice).await)
        .unwrap_or_else(|problems| panic!("one problem, not {problems:?}"));
    assert!(problem.starts_with("expected object, got string"), "{problem}");

    let list = find.refused(quoted(r#"["27422"]"#)).await;
    assert!(list[0].starts_with("expected object, got "), "{list:?}");
    assert_eq!(find.refused(quoted("null")).await, ["`order`: missing, expected string"]);
    assert_eq!(find.refused(quoted("")).await, ["`order`: missing, expected string"]);
    assert_eq!(bench(MaybeTool::host()).ok(quoted("null")).await, "None");
    assert_eq!(find.judged().len(), 3);

    // What is inside stays text.
    assert_eq!(
        bench(CountInsideTool::host()).refused(r#"{"inner":"{\"count\":1}","more":[]}"#).await,
        [r#"`inner`: expected object, got string "{\"count\":1}"; send the JSON object itself, not as text"#]
    );
    assert_eq!(find.ok(r#"{"order":"{\"order\":1}"}"#).await, r#"{"order":1}"#);
}
