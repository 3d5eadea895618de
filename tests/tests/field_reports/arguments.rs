//! Section D: what models send as arguments, and B84: what a refusal may say of them.
//!
//! Everything here is tried on the full path: what is refused is refused before the gate is asked.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Deserializer};
use serde_json::json;
use tool_runtime::path::Settled;
use tool_runtime::wire::openai_chat;
use tool_runtime::{
    AllowAll, Answer, BoxFuture, CallContext, CallFacts, Code, Decision, Entry, Harness, HostTool, MAX_DEPTH,
    MemoryLedger, QuestionSet, RawArguments, Secret, ToolCall, tool, tool_type,
};

use crate::support::{bench, lock, objects, parameters, registry};

/// What time is it?
#[tool]
fn now() -> String {
    "noon".to_owned()
}

/// Takes what may be left out.
#[tool]
fn maybe(
    /// Perhaps.
    q: Option<String>,
) -> String {
    format!("{q:?}")
}

/// Takes a number.
#[tool]
fn needs(
    /// A number.
    n: u32,
) -> u32 {
    n
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

static COUNTED: AtomicUsize = AtomicUsize::new(0);

/// A count.
#[tool_type]
#[derive(Debug)]
struct Count {
    count: u32,
}

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

/// Counts inside.
#[tool]
fn count_inside(
    /// So many.
    inner: Count,
    /// And so many.
    more: Vec<Count>,
) -> u32 {
    inner.count + more.iter().map(|count| count.count).sum::<u32>()
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

#[tool_type]
#[derive(Debug)]
enum Shape {
    Point,
    Circle { radius: u8 },
}

#[tool_type]
#[serde(tag = "kind")]
#[derive(Debug)]
enum Tagged {
    Circle { radius: u8 },
    Square { side: u8 },
}

/// Draws.
#[tool]
fn draw(
    /// A shape.
    shape: Option<Shape>,
    /// A tagged shape.
    tagged: Option<Tagged>,
) -> String {
    format!("{shape:?} {tagged:?}")
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

/// Crawls.
#[tool]
fn crawl(
    /// From here.
    url: String,
    /// So deep.
    depth: Option<u32>,
    /// A code.
    code: String,
) -> String {
    format!("{url} {depth:?} {code}")
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

/// Echoes.
#[tool]
fn echo(
    /// Unsigned.
    id: u64,
    /// Signed.
    signed: i64,
) -> BTreeMap<&'static str, serde_json::Value> {
    BTreeMap::from([("id", id.into()), ("signed", signed.into())])
}

/// Echoes.
#[tool]
fn echo_one(
    /// It.
    id: u64,
) -> u64 {
    id
}

#[tokio::test]
async fn b44_integers_beyond_a_double_are_exact_in_and_out() {
    let (echo, one) = (bench(EchoTool::host()), bench(EchoOneTool::host()));
    for id in [0, 9_007_199_254_740_992, 9_007_199_254_740_993, u64::MAX] {
        assert_eq!(one.ok(format!(r#"{{"id":{id}}}"#)).await, id.to_string());
        for signed in [i64::MIN, -9_007_199_254_740_993, i64::MAX] {
            let text = format!(r#"{{"id":{id},"signed":{signed}}}"#);
            assert_eq!(echo.ok(text.as_str()).await, text);
            assert_eq!(echo.judged().last(), Some(&text));
        }
    }
    assert_eq!(
        one.refused(r#"{"id":18446744073709551616}"#).await,
        ["`id`: expected integer from 0 to 18446744073709551615, got number 18446744073709551616"]
    );
    assert_eq!(
        echo.refused(r#"{"id":0,"signed":-9223372036854775809}"#).await,
        [
            "`signed`: expected integer from -9223372036854775808 to 9223372036854775807, got number -9223372036854775809"
        ]
    );
}

/// Keeps whatever it is.
#[tool]
fn keep(
    /// It.
    value: serde_json::Value,
) -> serde_json::Value {
    value
}

/// Where nothing says how large a number may be, it is exact or it is refused.
#[tokio::test]
async fn b44_a_free_number_is_never_silently_another() {
    let keep = bench(KeepTool::host());
    for digits in [
        "9007199254740993",
        "18446744073709551615",
        "-9223372036854775808",
        "18446744073709551617",
        "-9223372036854775809",
        "100000000000000000000000000000000000001",
    ] {
        let settled = keep.settle(format!(r#"{{"value":{{"id":{digits}}}}}"#)).await;
        let exact = settled.result().text() == format!(r#"{{"id":{digits}}}"#);
        let refused = settled.record().code() == Code::InvalidArguments;
        assert!(exact || refused, "{digits}: {}", settled.result().text());
    }
}

/// Says it.
#[tool]
fn say(
    /// What.
    s: String,
) -> String {
    format!("{s} has {} chars", s.chars().count())
}

/// All that the host keeps and the model reads of a call, as text.
fn kept(settled: &Settled) -> String {
    let record = match serde_json::to_string(settled.record()) {
        Ok(record) => record,
        Err(error) => panic!("a record can't be written: {error}"),
    };
    let verdict = settled.record().verdict().map(serde_json::to_string);
    let verdict = match verdict.transpose() {
        Ok(verdict) => verdict.unwrap_or_default(),
        Err(error) => panic!("a verdict can't be written: {error}"),
    };
    let message = openai_chat::message(settled.result()).to_json();
    format!("{record}\n{verdict}\n{message}\n{}\n{settled:?}", settled.result().text())
}

#[tokio::test]
async fn b45_half_a_surrogate_pair_is_refused_and_poisons_nothing() {
    let say = bench(SayTool::host());
    assert_eq!(say.ok(r#"{"s":"\ud83c\udf78"}"#).await, "🍸 has 1 chars");
    for arguments in [
        r#"{"s":"\ud800"}"#,
        r#"{"s":"\udc00x"}"#,
        r#"{"s":"\ud800\u0041"}"#,
        r#"{"s":"\ud800\ud800"}"#,
        r#"{"\ud800":"s"}"#,
    ] {
        let problems = say.refused(arguments).await;
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("not valid JSON: "), "{problems:?}");
        for line in kept(&say.settle(arguments).await).lines().take(1) {
            let _: serde_json::Value = crate::support::parsed(line);
        }
    }
    assert_eq!(say.ok(r#"{"s":"still here"}"#).await, "still here has 10 chars");
}

static SPAWNED: AtomicUsize = AtomicUsize::new(0);

/// Runs.
#[tool]
fn spawn(
    /// The command.
    cmd: String,
) -> Result<String, String> {
    SPAWNED.fetch_add(1, Ordering::SeqCst);
    if cmd == "a\0b" { Err("nul byte found in provided data".to_owned()) } else { Ok(cmd) }
}

/// Opens.
#[tool]
fn open(
    /// What.
    #[arg(path)]
    path: String,
) -> String {
    path
}

/// Opens many.
#[tool]
fn open_all(
    /// Which.
    #[arg(path)]
    paths: Vec<std::path::PathBuf>,
    /// And one more.
    #[arg(path)]
    last: Option<String>,
) -> String {
    format!("{paths:?} {last:?}")
}

#[tokio::test]
async fn b46_paths_are_paths_in_lists_and_options_too() {
    let open = bench(OpenAllTool::host());
    assert_eq!(open.ok(r#"{"paths":["./a","x/../b"],"last":"c//d/"}"#).await, r#"["a", "b"] Some("c/d")"#);
    assert_eq!(open.judged(), [r#"{"paths":["a","b"],"last":"c/d"}"#]);
    let problems = open.refused(r#"{"paths":["a","b\u0000c"],"last":"\u0000"}"#).await;
    let places: Vec<_> = problems.iter().filter_map(|problem| problem.split(':').next()).collect();
    assert_eq!(places, ["`paths[1]`", "`last`"], "{problems:?}");
}

#[tokio::test]
async fn b46_nul_reaches_the_handler_and_never_a_path() {
    let spawn = bench(SpawnTool::host());
    let failed = spawn.settle(r#"{"cmd":"a\u0000b"}"#).await;
    assert_eq!(failed.record().code(), Code::ToolError);
    assert_eq!(failed.result().text(), "nul byte found in provided data");
    assert_eq!(SPAWNED.load(Ordering::SeqCst), 1, "it was tried again");
    let verdict = failed.record().verdict().map(|verdict| verdict.arguments().to_owned());
    assert_eq!(verdict.as_deref(), Some(r#"{"cmd":"a\u0000b"}"#));
    let line = match serde_json::to_string(failed.record()) {
        Ok(line) => line,
        Err(error) => panic!("{error}"),
    };
    assert!(!line.contains('\0') && !line.contains('\n'), "{line}");

    let open = bench(OpenTool::host());
    for arguments in [r#"{"path":"ok\u0000/../secret"}"#, r#"{"path":"\u0000"}"#] {
        let problems = open.refused(arguments).await;
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with("`path`: expected a file path without NUL, got string"), "{problems:?}");
        assert!(!problems[0].contains('\0'));
    }
    assert_eq!(open.ok(r#"{"path":"./x/../a//b/."}"#).await, "a/b");
    assert_eq!(open.judged(), [r#"{"path":"a/b"}"#]);
}

/// Logs.
#[tool]
fn log(
    /// How far back.
    hours_back: Option<u32>,
) -> String {
    format!("{hours_back:?}")
}

/// Puts.
#[tool]
fn put(
    /// In here.
    parent_folder_id: String,
) -> String {
    parent_folder_id
}

#[tool_type]
#[derive(Debug)]
struct Filter {
    limit: Option<u32>,
    tags: Vec<Filter>,
}

/// Filters.
#[tool]
fn filter(
    /// By this.
    filter: Filter,
) -> String {
    format!("{filter:?}")
}

/// Takes more than is known.
#[tool_type]
#[derive(Debug)]
struct Open {
    name: String,
    #[serde(flatten)]
    more: HashMap<String, u8>,
}

/// Takes what is known, and more.
#[tool]
fn extras(#[args] open: Open) -> String {
    let more: BTreeMap<_, _> = open.more.into_iter().collect();
    format!("{} {more:?}", open.name)
}

#[tool_type]
#[derive(Debug)]
struct Paging {
    page: Option<u32>,
}

/// Part of it is another type.
#[tool_type]
#[derive(Debug)]
struct Listing {
    name: String,
    #[serde(flatten)]
    paging: Paging,
}

/// Lists.
#[tool]
fn listing(#[args] listing: Listing) -> String {
    format!("{} {:?}", listing.name, listing.paging.page)
}

/// Lists inside.
#[tool]
fn listing_inside(
    /// What.
    listing: Listing,
) -> String {
    format!("{} {:?}", listing.name, listing.paging.page)
}

#[tokio::test]
async fn b47_a_flattened_struct_opens_nothing() {
    let whole = bench(ListingTool::host());
    assert_eq!(whole.ok(r#"{"name":"n","page":1}"#).await, "n Some(1)");
    let problems = whole.refused(r#"{"name":"n","pages":1}"#).await;
    assert_eq!(problems, ["`pages`: unknown name; did you mean `page`?"]);
    let inside = bench(ListingInsideTool::host());
    assert_eq!(inside.ok(r#"{"listing":{"name":"n","page":1}}"#).await, "n Some(1)");
    let problems = inside.refused(r#"{"listing":{"name":"n","pages":1}}"#).await;
    assert_eq!(problems, ["`listing.pages`: unknown name; did you mean `page`?"]);
}

#[tokio::test]
async fn b47_unknown_names_are_refused_at_every_depth() {
    let log = bench(LogTool::host());
    assert_eq!(
        log.refused(r#"{"hours":1,"status":"x"}"#).await,
        ["`hours`: unknown name; did you mean `hours_back`?", "`status`: unknown name; known: `hours_back`",]
    );
    assert_eq!(bench(NowTool::host()).refused(r#"{"tz":"UTC"}"#).await, ["`tz`: unknown name; none is taken here"]);
    assert_eq!(
        bench(PutTool::host()).refused(r#"{"parentId":"1"}"#).await,
        ["`parent_folder_id`: missing, expected string", "`parentId`: unknown name; known: `parent_folder_id`",]
    );
    assert_eq!(
        bench(FilterTool::host())
            .refused(r#"{"filter":{"limit":1,"tags":[{"tags":[]},{"limits":1,"tags":[],"x":0}]}}"#)
            .await,
        [
            "`filter.tags[1].limits`: unknown name; did you mean `limit`?",
            "`filter.tags[1].x`: unknown name; known: `limit`, `tags`",
        ]
    );
    for tool in [LogTool::host(), PutTool::host(), FilterTool::host(), NowTool::host()] {
        for (pointer, object) in objects(&parameters(&tool)) {
            if object.get("type") == Some(&json!("object")) {
                assert_eq!(object.get("additionalProperties"), Some(&json!(false)), "{}{pointer}", tool.name());
            }
        }
    }
    let extras = bench(ExtrasTool::host());
    assert_eq!(extras.ok(r#"{"b":2,"name":"n","a":1}"#).await, r#"n {"a": 1, "b": 2}"#);
    assert_eq!(extras.judged(), [r#"{"name":"n","a":1,"b":2}"#]);
    assert_eq!(
        extras.refused(r#"{"name":"n","a":"1"}"#).await,
        ["`a`: expected integer from 0 to 255, got string \"1\""]
    );
}

/// Reads.
#[tool]
fn read(
    /// Which.
    file_path: String,
) -> String {
    file_path
}

/// Reads, whatever it is called.
#[tool]
fn read_alias(
    /// Which.
    #[arg(alias = "filePath", alias = "path")]
    file_path: String,
) -> String {
    file_path
}

#[tokio::test]
async fn b48_near_misses_are_named_and_aliases_are_one_argument() {
    let read = bench(ReadTool::host());
    for name in ["filePath", "FILE_PATH", "file-path", "path", "filepath"] {
        assert_eq!(
            read.refused(format!(r#"{{"{name}":"a"}}"#)).await,
            [
                "`file_path`: missing, expected string".to_owned(),
                format!("`{name}`: unknown name; did you mean `file_path`?"),
            ]
        );
    }
    assert_eq!(
        read.refused(r#"{"file_path":"a","filePath":"b"}"#).await,
        ["`filePath`: unknown name; did you mean `file_path`?"]
    );

    let shown = ReadAliasTool::schema().parameters();
    assert!(!shown.contains("filePath"), "{shown}");
    let alias = bench(ReadAliasTool::host());
    for arguments in [r#"{"file_path":"a"}"#, r#"{"filePath":"a"}"#, r#"{"path":"a"}"#] {
        assert_eq!(alias.ok(arguments).await, "a");
    }
    // Whoever judges sees one name.
    assert_eq!(alias.judged(), [r#"{"file_path":"a"}"#; 3]);
    for (arguments, also) in [
        (r#"{"file_path":"a","filePath":"b"}"#, "filePath"),
        (r#"{"filePath":"a","file_path":"b"}"#, ""),
        (r#"{"filePath":"a","path":"a"}"#, "path"),
    ] {
        let problems = alias.refused(arguments).await;
        assert_eq!(problems.len(), 1, "{problems:?}");
        let said = if also.is_empty() {
            "`file_path`: given twice".to_owned()
        } else {
            format!("`file_path`: given twice, also as `{also}`")
        };
        assert_eq!(problems, [said]);
    }
    assert_eq!(read.refused(r#"{"file_path":"a","file_path":"a"}"#).await, ["`file_path`: given twice"]);
}

#[tool_type]
#[derive(Debug)]
struct Aliased {
    #[arg(alias = "filePath")]
    file_path: String,
    #[serde(alias = "lineNo")]
    line_no: Option<u32>,
}

/// Reads inside.
#[tool]
fn read_inside(
    /// What.
    what: Aliased,
) -> String {
    format!("{} {:?}", what.file_path, what.line_no)
}

#[tokio::test]
async fn b48_aliases_of_fields_are_one_member_too() {
    let shown = ReadInsideTool::schema().parameters();
    assert!(!shown.contains("filePath") && !shown.contains("lineNo"), "{shown}");
    let inside = bench(ReadInsideTool::host());
    assert_eq!(inside.ok(r#"{"what":{"filePath":"a"}}"#).await, "a None");
    assert_eq!(inside.ok(r#"{"what":{"lineNo":1,"file_path":"a"}}"#).await, "a Some(1)");
    assert_eq!(inside.judged(), [r#"{"what":{"file_path":"a"}}"#, r#"{"what":{"file_path":"a","line_no":1}}"#]);
    assert_eq!(inside.refused(r#"{"what":{"filePath":"a","file_path":"b"}}"#).await, ["`what.file_path`: given twice"]);
}

/// A name that is given twice has two values, and whoever reads one of them is wrong.
#[tokio::test]
async fn b48_no_name_is_given_twice_at_any_depth() {
    let keep = bench(KeepTool::host());
    assert_eq!(keep.refused(r#"{"value":{"a":[{"b":1,"c":2,"b":3}]}}"#).await, ["`value.a[0].b`: given twice"]);
    assert_eq!(keep.refused(r#"{"value":{"a":1,"\u0061":1}}"#).await, ["`value.a`: given twice"]);
    assert_eq!(
        bench(FilterTool::host()).refused(r#"{"filter":{"tags":[],"limit":1,"limit":2}}"#).await,
        ["`filter.limit`: given twice"]
    );
    assert_eq!(bench(ExtrasTool::host()).refused(r#"{"name":"n","a":1,"a":2}"#).await, ["`a`: given twice"]);
}

#[tool_type]
#[serde(rename_all = "lowercase")]
#[derive(Debug)]
enum Pri {
    Low,
    High,
}

/// The same with a description for each word.
#[tool_type]
#[serde(rename_all = "lowercase")]
#[derive(Debug)]
enum Told {
    /// Not soon.
    Low,
    /// Soon.
    High,
}

/// Sets it.
#[tool]
fn set_pri(
    /// It.
    p: Pri,
) -> String {
    format!("{p:?}")
}

/// Sets it.
#[tool]
fn set_told(
    /// It.
    p: Told,
) -> String {
    format!("{p:?}")
}

#[tokio::test]
async fn b49_a_word_of_a_closed_set_is_spelt_as_it_is_shown() {
    for tool in [SetPriTool::host(), SetToldTool::host()] {
        let bench = bench(tool);
        assert_eq!(bench.ok(r#"{"p":"high"}"#).await, "High");
        for (p, got) in [
            ("\"HIGH\"", "string \"HIGH\"; did you mean \"high\"?"),
            ("\"urgent\"", "string \"urgent\""),
            ("0", "number 0"),
            (r#"{"high":null}"#, "object"),
            ("\"High\"", "string \"High\"; did you mean \"high\"?"),
            ("[\"high\"]", "array"),
        ] {
            assert_eq!(
                bench.refused(format!(r#"{{"p":{p}}}"#)).await,
                [format!(r#"`p`: expected one of "low", "high", got {got}"#)]
            );
        }
        assert_eq!(bench.refused("{}").await, [r#"`p`: missing, expected one of "low", "high""#]);
    }
}

/// `serde` would take an object for a word.
#[tokio::test]
async fn b49_a_word_among_other_forms_is_a_word() {
    let draw = bench(DrawTool::host());
    assert_eq!(draw.ok(r#"{"shape":"Point"}"#).await, "Some(Point) None");
    for arguments in [
        r#"{"shape":{"Point":null}}"#,
        r#"{"shape":"Circle"}"#,
        r#"{"shape":"point"}"#,
        r#"{"shape":{"Circle":{"radius":1},"Point":null}}"#,
        r#"{"shape":{}}"#,
        r#"{"tagged":{"kind":"circle","radius":1}}"#,
        r#"{"tagged":{"radius":1}}"#,
        r#"{"tagged":{"kind":"Circle","side":1}}"#,
    ] {
        let problems = draw.refused(arguments).await;
        assert!(!problems.is_empty(), "{arguments}");
    }
}

/// Searches.
#[tool]
fn search(
    /// For this.
    q: String,
    /// So many.
    #[arg(default = 10)]
    limit: u32,
    /// With this tag.
    tag: Option<String>,
) -> String {
    format!("{q} {limit} {tag:?}")
}

#[tokio::test]
async fn b50_null_means_the_default_and_never_a_required_value() {
    let search = bench(SearchTool::host());
    for arguments in [r#"{"q":"a","limit":null,"tag":null}"#, r#"{"q":"a","limit":null}"#, r#"{"q":"a"}"#] {
        assert_eq!(search.ok(arguments).await, "a 10 None");
    }
    assert!(search.judged().iter().all(|judged| judged.contains(r#""limit":10"#)));
    assert_eq!(search.refused(r#"{"q":null,"limit":1}"#).await, ["`q`: expected string, got null"]);
}

#[tool_type]
#[derive(Debug)]
struct Limits {
    q: String,
    #[arg(default = 10)]
    limit: u32,
    tag: Option<String>,
}

/// Searches inside.
#[tool]
fn search_inside(
    /// How.
    limits: Limits,
    /// How often.
    #[arg(default)]
    times: Vec<u8>,
) -> String {
    format!("{} {} {:?} {times:?}", limits.q, limits.limit, limits.tag)
}

#[tokio::test]
async fn b50_null_means_the_default_at_every_depth() {
    let inside = bench(SearchInsideTool::host());
    assert_eq!(inside.ok(r#"{"limits":{"q":"a","limit":null,"tag":null},"times":null}"#).await, "a 10 None []");
    assert_eq!(inside.refused(r#"{"limits":{"q":null}}"#).await, ["`limits.q`: expected string, got null"]);
    assert_eq!(inside.refused(r#"{"limits":null}"#).await, ["`limits`: expected object, got null"]);
}

/// A number that only its own type finds wrong.
#[derive(Debug)]
struct Even(u32);

impl<'de> Deserialize<'de> for Even {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            even if even % 2 == 0 => Ok(Even(even)),
            _ => Err(serde::de::Error::custom("expected an even number")),
        }
    }
}

impl serde::Serialize for Even {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.0)
    }
}

impl schemars::JsonSchema for Even {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Even".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        u32::json_schema(generator)
    }
}

#[tool_type]
#[derive(Debug)]
struct Booking {
    name: String,
    seats: Even,
}

/// Books.
#[tool]
fn book(
    /// The first.
    first: Even,
    /// One.
    booking: Booking,
    /// Several.
    more: Vec<Booking>,
) -> u32 {
    let more: u32 = more.iter().map(|booking| booking.seats.0).sum();
    first.0 + booking.seats.0 + more + u32::try_from(booking.name.len()).unwrap_or_default()
}

/// Books, as the whole object.
#[tool]
fn book_whole(#[args] booking: Booking) -> u32 {
    booking.seats.0
}

/// What a type's own code refuses is refused in its place, and each argument's together.
#[tokio::test]
async fn b51_what_only_a_type_refuses_has_its_path() {
    let book = bench(BookTool::host());
    assert_eq!(book.ok(r#"{"first":2,"booking":{"name":"n","seats":4},"more":[{"name":"m","seats":6}]}"#).await, "13");
    assert_eq!(
        book.refused(
            r#"{"first":1,"booking":{"name":"n","seats":3},"more":[{"name":"m","seats":6},{"name":"o","seats":7}]}"#
        )
        .await,
        [
            "`first`: expected an even number, got number 1",
            "`booking.seats`: expected an even number, got number 3",
            "`more[1].seats`: expected an even number, got number 7",
        ]
    );
    assert_eq!(
        bench(BookWholeTool::host()).refused(r#"{"name":"n","seats":3}"#).await,
        ["`seats`: expected an even number, got number 3"]
    );
}

/// Values that are nested as deeply as may be, and deeper.
#[tokio::test]
async fn b51_depth_costs_no_stack() {
    let keep = bench(KeepTool::host());
    let nested = |depth: usize, open: &str, close: &str| {
        format!(r#"{{"value":{}0{}}}"#, open.repeat(depth), close.repeat(depth))
    };
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let deepest = MAX_DEPTH - 1;
        let text = keep.ok(nested(deepest, open, close)).await;
        assert_eq!(text, format!("{}0{}", open.repeat(deepest), close.repeat(deepest)));
        for depth in [MAX_DEPTH, MAX_DEPTH + 1, 1_000, 100_000] {
            let problems = keep.refused(nested(depth, open, close)).await;
            assert_eq!(problems.len(), 1);
            assert!(problems[0].contains("nested too deeply"), "{depth}: {problems:?}");
        }
    }
}

/// Hidden.
#[tool(defer)]
fn secret_plans() -> u8 {
    1
}

#[tokio::test]
async fn b51_the_model_reads_what_is_wrong_and_all_of_it() {
    let all = registry([SearchTool::host(), CrawlTool::host(), SecretPlansTool::host()]);
    let harness = Harness::new(all, AllowAll);
    let results = harness
        .run([
            ToolCall::new("1", "search", r#"{"limit":"x","tag":1,"page":2}"#),
            ToolCall::new("2", "no_such_tool", "{}"),
            ToolCall::new("3", "serch", "{}"),
            ToolCall::new("4", "secret_plan", "{}"),
            ToolCall::new("5", "search", "{"),
            ToolCall::new("6", "search", r#"{"q":"a"}"#),
        ])
        .await;
    let ids: Vec<_> = results.iter().map(|result| result.call_id().as_str()).collect();
    assert_eq!(ids, ["1", "2", "3", "4", "5", "6"]);
    let errors: Vec<_> = results.iter().map(tool_runtime::ToolResult::is_error).collect();
    assert_eq!(errors, [true, true, true, true, true, false]);
    assert_eq!(
        results[0].text(),
        "The arguments of `search` were refused, and it did not run.\n\
         - `q`: missing, expected string\n\
         - `limit`: expected integer from 0 to 4294967295, got string \"x\"\n\
         - `tag`: expected string or null, got number 1\n\
         - `page`: unknown name; known: `q`, `limit`, `tag`\n\
         Correct them all and call the tool again."
    );
    assert_eq!(
        results[1].text(),
        "There is no tool named `no_such_tool`, and nothing was run. Call one of the tools that you were given."
    );
    assert_eq!(results[2].text(), "There is no tool named `serch`; did you mean `search`? Nothing was run.");
    // What is hidden is never suggested.
    assert!(!results[3].text().contains("secret_plans"), "{}", results[3].text());
    assert!(results[4].text().contains("not valid JSON"), "{}", results[4].text());
    assert_eq!(results[5].text(), "a 10 None");
    // A name that a model made up is shown on one line, with what deceives made visible.
    let results = harness.run([ToolCall::new("7", "se\n\u{202e}arсh\u{1b}[2K", "{}")]).await;
    assert!(results[0].is_error());
    let text = results[0].text();
    assert!(text.starts_with(r"There is no tool named `se\n\u{202e}arсh\u{1b}[2K`"), "{text}");
}

const TOKEN: &str = "sk-live-1";

/// A value whose own code quotes what it refuses.
#[derive(Debug)]
struct Pin;

impl<'de> Deserialize<'de> for Pin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "1234" { Ok(Pin) } else { Err(serde::de::Error::custom(format!("no such pin: {text}"))) }
    }
}

impl serde::Serialize for Pin {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl schemars::JsonSchema for Pin {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Pin".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

#[tool_type]
#[derive(Debug)]
struct Login {
    user: String,
    #[arg(secret)]
    key: u32,
}

#[tool_type]
#[derive(Debug)]
struct PinLogin {
    user: String,
    #[arg(secret)]
    pin: Pin,
}

/// A secret inside of a choice.
#[tool_type]
#[serde(tag = "kind")]
#[derive(Debug)]
enum Access {
    Key {
        #[arg(secret)]
        key: String,
    },
    Code {
        // What reads a secret back has no `Serialize`.
        #[serde(skip_serializing)]
        code: Secret<u32>,
    },
}

/// Uses a key.
#[tool]
fn use_key(
    /// The key.
    #[arg(secret)]
    key: u32,
) -> u32 {
    key
}

/// Uses a key that is secret by its type.
#[tool]
fn use_typed_key(
    /// The key.
    key: Secret<u32>,
) -> u32 {
    *key.expose()
}

/// Uses a key inside.
#[tool]
fn use_login(
    /// Who.
    login: Login,
    /// More of them, by name.
    more: HashMap<String, Vec<Login>>,
) -> u32 {
    login.key + u32::try_from(more.len()).unwrap_or_default() + u32::try_from(login.user.len()).unwrap_or_default()
}

/// Uses a pin.
#[tool]
fn use_pin(
    /// The pin.
    #[arg(secret)]
    pin: Pin,
) -> u8 {
    let Pin = pin;
    1
}

/// Uses a pin that is secret by its type.
#[tool]
fn use_typed_pin(
    /// The pin.
    pin: Secret<Pin>,
) -> u8 {
    let Pin = pin.expose();
    1
}

/// Uses a pin inside of an argument.
#[tool]
fn use_pin_inside(
    /// Who.
    login: PinLogin,
) -> usize {
    let Pin = login.pin;
    login.user.len()
}

/// Uses a pin inside of the whole object.
#[tool]
fn use_pin_whole(#[args] login: PinLogin) -> usize {
    let Pin = login.pin;
    login.user.len()
}

/// Uses secrets wherever they may stand.
#[tool]
fn use_many(
    /// Perhaps.
    maybe: Option<Secret<u32>>,
    /// In a list.
    list: Vec<Secret<String>>,
    /// Under a name.
    map: HashMap<String, Secret<String>>,
    /// In a choice.
    access: Access,
    /// A whole object.
    #[arg(secret)]
    whole: HashMap<String, String>,
    /// A file that nobody is to know of.
    #[arg(secret, path)]
    file: Option<String>,
) -> String {
    let known = match access {
        Access::Key { key } => key.len(),
        Access::Code { code } => code.expose().to_string().len(),
    };
    let listed: usize = list.iter().chain(map.values()).map(|text| text.expose().len()).sum();
    format!("{} {listed} {known} {} {}", maybe.is_some(), whole.len(), file.is_some())
}

/// Uses a small secret.
#[tool]
fn use_closed(
    /// One of few words.
    #[arg(secret)]
    word: Option<Pri>,
    /// At least so long.
    #[arg(secret, length = 12..=20)]
    text: String,
) -> String {
    format!("{word:?} {}", text.len())
}

/// Everything that is written or read of one call with these arguments, the ledger's lines included.
async fn everything(tool: HostTool, arguments: &str) -> (Code, String) {
    let ledger = Arc::new(MemoryLedger::default());
    let name = tool.name().to_owned();
    let harness = Harness::new(registry([tool]), AllowAll).ledger(Arc::clone(&ledger));
    let call = ToolCall::new("c", name, arguments);
    let mut all = format!("{call:?} {:?} {harness:?}", call.arguments());
    let settled = harness.run_settled([call], None).await;
    all.push_str(&kept(&settled[0]));
    for entry in ledger.entries() {
        match serde_json::to_string(&entry) {
            Ok(line) => all.push_str(&line),
            Err(error) => panic!("{error}"),
        }
        if let Entry::Verdict(verdict) = &entry {
            all.push_str(&format!("{verdict:?}"));
        }
    }
    (settled[0].record().code(), all)
}

async fn assert_refused_without_a_word(tool: HostTool, arguments: &str) {
    let (code, all) = everything(tool, arguments).await;
    assert_eq!(code, Code::InvalidArguments, "{arguments}");
    let leak = all.lines().find(|line| line.contains(TOKEN));
    assert_eq!(leak, None, "{arguments}");
}

#[tokio::test]
async fn b84_no_secret_is_quoted_by_what_refuses_it() {
    for (tool, arguments) in [
        (UseKeyTool::host(), format!(r#"{{"key":"{TOKEN}"}}"#)),
        (UseKeyTool::host(), format!(r#"{{"key":["{TOKEN}"]}}"#)),
        (UseKeyTool::host(), format!(r#"{{"key":"{TOKEN}"#)),
        (UseKeyTool::host(), format!(r#"{{"key":{TOKEN}}}"#)),
        (UseKeyTool::host(), format!(r#"{{"key":1}} {TOKEN}"#)),
        (UseTypedKeyTool::host(), format!(r#"{{"key":"{TOKEN}"}}"#)),
        (UseLoginTool::host(), format!(r#"{{"login":{{"user":"u","key":"{TOKEN}"}},"more":{{}}}}"#)),
        (
            UseLoginTool::host(),
            format!(
                r#"{{"login":{{"user":"u","key":1}},"more":{{"x":[{{"user":"u","key":2}},{{"user":"u","key":"{TOKEN}"}}]}}}}"#
            ),
        ),
        (UsePinTool::host(), format!(r#"{{"pin":"{TOKEN}"}}"#)),
        (UseClosedTool::host(), format!(r#"{{"word":"{TOKEN}","text":"{TOKEN}"}}"#)),
        (UseClosedTool::host(), format!(r#"{{"word":"low","text":"{TOKEN}","txt":"{TOKEN}"}}"#)),
        (
            UseManyTool::host(),
            format!(
                r#"{{"maybe":"{TOKEN}","list":[1,{{"a":"{TOKEN}"}}],"map":{{"a":["{TOKEN}"]}},"access":{{"kind":"Code","code":"{TOKEN}"}},"whole":"{TOKEN}","file":"{TOKEN}\u0000"}}"#
            ),
        ),
        (
            UseManyTool::host(),
            format!(
                r#"{{"list":[],"map":{{}},"access":{{"kind":"Key","key":["{TOKEN}"]}},"whole":{{"a":{{"b":"{TOKEN}"}}}}}}"#
            ),
        ),
    ] {
        assert_refused_without_a_word(tool, &arguments).await;
    }
    assert_eq!(
        bench(UseKeyTool::host()).refused(r#"{"key":"sk-live-1"}"#).await,
        ["`key`: expected integer from 0 to 4294967295, got string"]
    );
    assert_eq!(
        bench(UsePinTool::host()).refused(r#"{"pin":"sk-live-1"}"#).await,
        ["`pin`: expected a value that its type takes, got string"]
    );
}

/// `Secret<T>` is as good as the attribute.
#[tokio::test]
async fn b84_no_secret_is_quoted_by_a_type_inside_a_secret() {
    assert_refused_without_a_word(UseTypedPinTool::host(), &format!(r#"{{"pin":"{TOKEN}"}}"#)).await;
}

/// A type's own code may refuse a secret that stands deeper than at the top.
#[tokio::test]
async fn b84_no_secret_is_quoted_by_a_type_inside_another() {
    let arguments = format!(r#"{{"login":{{"user":"u","pin":"{TOKEN}"}}}}"#);
    assert_refused_without_a_word(UsePinInsideTool::host(), &arguments).await;
}

/// Nor one in a type that is the whole object.
#[tokio::test]
async fn b84_no_secret_is_quoted_by_the_type_of_the_whole_object() {
    let arguments = format!(r#"{{"user":"u","pin":"{TOKEN}"}}"#);
    assert_refused_without_a_word(UsePinWholeTool::host(), &arguments).await;
}

/// What succeeds quotes no secret either, and the handler gets it as it is.
#[tokio::test]
async fn b84_an_accepted_secret_is_kept_by_nobody() {
    for access in [format!(r#"{{"kind":"Key","key":"{TOKEN}"}}"#), r#"{"kind":"Code","code":123456789}"#.to_owned()] {
        let arguments = format!(
            r#"{{"maybe":123456789,"list":["{TOKEN}","b"],"map":{{"a":"{TOKEN}"}},"access":{access},"whole":{{"x":"{TOKEN}"}},"file":"/{TOKEN}"}}"#
        );
        let (code, all) = everything(UseManyTool::host(), &arguments).await;
        assert_eq!(code, Code::Ok, "{all}");
        assert!(!all.contains(TOKEN) && !all.contains("123456789"), "{all}");
        assert!(all.contains("true 19 9 1 true"), "{all}");
        // The keys stay.
        assert!(all.contains(r#"\"list\":[\"[redacted]\",\"[redacted]\"]"#), "{all}");
    }
    let (code, all) = everything(UseClosedTool::host(), r#"{"word":"low","text":"sk-live-12345"}"#).await;
    assert_eq!(code, Code::Ok);
    assert!(!all.contains(TOKEN), "{all}");
    assert!(all.contains("[redacted]"), "{all}");
    assert!(all.contains("Some(Low) 13"), "{all}");
}

/// Whoever is asked sees what will run, and no secret of it.
#[tokio::test]
async fn b84_a_question_quotes_no_secret() {
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let seen = Arc::clone(&asked);
    let harness = Harness::new(registry([UseKeyTool::host()]), |_: &CallFacts<'_>| Decision::ask("why not")).approver(
        move |questions: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            lock(&seen).push(format!("{questions:?}"));
            let answers = vec![Answer::Yes; questions.questions.len()];
            Box::pin(std::future::ready(answers))
        },
    );
    let results = harness.run([ToolCall::new("c", "use_key", r#"{"key":123456789}"#)]).await;
    assert_eq!(results[0].text(), "123456789", "the handler gets the true value");
    let asked = lock(&asked).concat();
    assert!(asked.contains("[redacted]") && !asked.contains("123456789"), "{asked}");
}

#[tokio::test]
async fn b84_a_long_value_is_not_quoted_at_all() {
    let needs = bench(NeedsTool::host());
    let problems = needs.refused(format!(r#"{{"n":"{}"}}"#, "x".repeat(1_000_000))).await;
    assert_eq!(problems, ["`n`: expected integer from 0 to 4294967295, got string of 1000000 characters"]);
    // A name that the model made up is cut as well, and so is a list of them.
    let key = "k".repeat(100_000);
    let problems = needs.refused(format!(r#"{{"n":1,"{key}":1}}"#)).await;
    assert!(problems[0].len() < 200, "{problems:?}");
    let many: Vec<_> = (0..10_000).map(|index| format!("\"k{index}\":1")).collect();
    let problems = needs.refused(format!("{{{}}}", many.join(","))).await;
    assert!(problems.len() < 50, "{}", problems.len());
    assert!(problems.last().is_some_and(|last| last.contains("more")), "{problems:?}");
    // Quoted text is on one line, with what could deceive a reader escaped.
    assert_eq!(
        needs.refused(r#"{"n":"a\n- `n`: fine\u202e\u001b[2K"}"#).await,
        [r#"`n`: expected integer from 0 to 4294967295, got string "a\n- `n`: fine\u{202e}\u{1b}[2K""#]
    );
}

/// Counts what reaches it.
#[tool]
async fn probe(
    /// A number.
    n: u32,
    #[host] cx: &CallContext,
) -> String {
    format!("{n} {}", cx.call_id())
}

/// Bad calls cost their own result and nothing else.
#[tokio::test]
async fn b51_a_bad_call_leaves_the_others_alone() {
    let harness = Harness::new(registry([ProbeTool::host()]), |_: &CallFacts<'_>| Decision::Allow);
    let texts = ["{", "[1]", "", r#"{"n":1}"#, r#"{"n":-1}"#, r#"{"n":2.0}"#, "\u{0}"];
    let calls =
        texts.iter().enumerate().map(|(index, arguments)| ToolCall::new(index.to_string(), "probe", *arguments));
    let results = harness.run(calls).await;
    assert_eq!(results.len(), texts.len());
    let fine: Vec<_> = results.iter().filter(|result| !result.is_error()).map(tool_runtime::ToolResult::text).collect();
    assert_eq!(fine, ["1 3", "2 5"]);
}
