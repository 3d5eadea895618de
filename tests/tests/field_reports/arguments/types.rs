//! A value of another type than the one that is wanted.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tool_runtime::tool;

use super::{Count, CountInsideTool, CrawlTool, DrawTool};
use crate::support::{bench, parameters};

static COUNTED: AtomicUsize = AtomicUsize::new(0);

/// Counts.
#[tool]
fn count(
    /// So many.
    count: u32,
) -> u32 {
    COUNTED.fetch_add(1, Ordering::SeqCst);
    count
}

/// Counts, in a type of its own.
#[tool]
fn count_whole(#[args] count: Count) -> u32 {
    count.count
}

#[tokio::test]
async fn b38_a_bare_array_never_fills_a_struct() {
    for tool in [CountTool::host(), CountWholeTool::host()] {
        let bench = bench(tool);
        for (arguments, got) in [
            ("[5]", "array"),
            ("[]", "array"),
            (r#"[{"count":5}]"#, "array"),
            (r#""x""#, "string \"x\""),
            ("7", "number 7"),
            ("-0.5", "number -0.5"),
            ("true", "boolean true"),
            ("false", "boolean false"),
        ] {
            assert_eq!(bench.refused(arguments).await, [format!("expected object, got {got}")], "{arguments}");
        }
        assert_eq!(bench.ok(r#"{"count":5}"#).await, "5");
    }
    assert_eq!(COUNTED.load(Ordering::SeqCst), 1);
    let inside = bench(CountInsideTool::host());
    assert_eq!(
        inside.refused(r#"{"inner":[5],"more":[[6],{"count":7},8]}"#).await,
        [
            "`inner`: expected object, got array",
            "`more[0]`: expected object, got array",
            "`more[2]`: expected object, got number 8",
        ]
    );
}

/// `serde` takes a list for each of these.
#[tokio::test]
async fn b38_a_bare_array_never_fills_a_variant() {
    let draw = bench(DrawTool::host());
    assert_eq!(
        draw.ok(r#"{"shape":{"Circle":{"radius":1}},"tagged":{"radius":2,"kind":"Circle"}}"#).await,
        "Some(Circle { radius: 1 }) Some(Circle { radius: 2 })"
    );
    for (arguments, path) in [
        (r#"{"shape":{"Circle":[1]}}"#, "shape.Circle"),
        (r#"{"tagged":["Circle",1]}"#, "tagged"),
        (r#"{"tagged":["Circle",{"radius":1}]}"#, "tagged"),
        (r#"{"shape":["Circle",{"radius":1}]}"#, "shape"),
    ] {
        let problems = draw.refused(arguments).await;
        assert_eq!(problems.len(), 1, "{problems:?}");
        let start = format!("`{path}`: expected ");
        assert!(problems[0].starts_with(&start) && problems[0].ends_with(", got array"), "{problems:?}");
    }
}

/// Tags.
#[tool]
fn tag(
    /// The tags.
    tags: Vec<String>,
    /// Places.
    at: Option<Vec<i64>>,
) -> String {
    format!("{tags:?} {at:?}")
}

#[tokio::test]
async fn b41_a_list_in_quotes_is_text() {
    let tag = bench(TagTool::host());
    for (arguments, path, expected) in [
        (r#"{"tags":"[\"a\",\"b\"]"}"#, "tags", "array of string"),
        (r#"{"tags":"a"}"#, "tags", "array of string"),
        (r#"{"tags":[],"at":"[1,2]"}"#, "at", "array"),
    ] {
        let problems = tag.refused(arguments).await;
        let [problem] = problems.as_slice() else { panic!("{arguments}: {problems:?}") };
        let start = format!("`{path}`: expected {expected}");
        assert!(problem.starts_with(&start), "{arguments}: {problem}");
        assert!(problem.contains("got string"), "{arguments}: {problem}");
    }
    assert_eq!(tag.ok(r#"{"tags":["a","b"]}"#).await, r#"["a", "b"] None"#);
}

/// Whoever put a list in quotes has to be told that the quotes are wrong.
#[tokio::test]
async fn b41_the_refusal_says_to_send_a_json_array() {
    let settled = bench(TagTool::host()).settle(r#"{"tags":"[\"a\",\"b\"]"}"#).await;
    let text = settled.result().text();
    assert!(text.contains("JSON array"), "no hint to send a JSON array: {text}");
}

#[tokio::test]
async fn b42_a_number_in_quotes_is_text() {
    let shown = parameters(&CrawlTool::host());
    assert_eq!(shown["properties"]["depth"]["type"], json!(["integer", "null"]));
    let crawl = bench(CrawlTool::host());
    for depth in ["1", "1.5", "-1", " 1", "0x10", "١", ""] {
        assert_eq!(
            crawl.refused(format!(r#"{{"url":"u","depth":"{depth}","code":"007"}}"#)).await,
            [format!("`depth`: expected integer from 0 to 4294967295 or null, got string \"{depth}\"")]
        );
    }
    assert_eq!(crawl.ok(r#"{"url":"u","depth":1,"code":"007"}"#).await, "u Some(1) 007");
    assert_eq!(crawl.refused(r#"{"url":"u","code":7}"#).await, ["`code`: expected string, got number 7"]);
}

/// Shows the top.
#[tool]
fn top(
    /// How many.
    n: u64,
    /// From where.
    off: i32,
) -> String {
    format!("{n} {off}")
}

#[tokio::test]
async fn b43_a_whole_number_is_an_integer_however_it_is_written() {
    let top = bench(TopTool::host());
    for (n, value) in [
        ("30.0", "30"),
        ("5e0", "5"),
        ("-0.0", "0"),
        ("-0", "0"),
        ("1e3", "1000"),
        ("3000e-2", "30"),
        ("4294967296.0", "4294967296"),
        ("9007199254740991.0", "9007199254740991"),
    ] {
        assert_eq!(top.ok(format!(r#"{{"n":{n},"off":-2.0}}"#)).await, format!("{value} -2"), "{n}");
        assert_eq!(top.judged().last().map(String::as_str), Some(format!(r#"{{"n":{value},"off":-2}}"#).as_str()));
    }
    for (n, beyond) in [
        ("30.5", ""),
        ("-1", ""),
        ("-1.0", ""),
        ("1e19", ", written in digits alone beyond 9007199254740992"),
        ("9007199254740994.0", ", written in digits alone beyond 9007199254740992"),
    ] {
        assert_eq!(
            top.refused(format!(r#"{{"n":{n},"off":0}}"#)).await,
            [format!("`n`: expected integer from 0 to 18446744073709551615{beyond}, got number {n}")],
            "{n}"
        );
    }
    assert_eq!(
        top.refused(r#"{"n":0,"off":4294967296.0}"#).await,
        ["`off`: expected integer from -2147483648 to 2147483647, got number 4294967296.0"]
    );
    assert_eq!(top.refused(r#"{"n":1e400,"off":0}"#).await.len(), 1);
    assert_eq!(top.refused(r#"{"n":1e999999999,"off":0}"#).await.len(), 1);
}
