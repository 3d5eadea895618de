//! Nothing that a model can send panics, hangs, overflows the stack, or ends the loop; nor does a host without the
//! runtime that some of its tools need.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::Value;
use tool_runtime::path::Settled;
use tool_runtime::wire::openai_chat;
use tool_runtime::{AllowAll, Code, DynamicTool, Harness, HostTool, JsonPath, RawArguments, ToolCall, tool, tool_type};

use crate::support::{Ran, block_on, echo, registry, watched};

/// Holds itself.
#[tool_type]
struct Tree {
    /// What it is.
    #[arg(default)]
    name: String,
    /// What hangs from it.
    #[arg(default)]
    below: Vec<Tree>,
}

impl Tree {
    fn size(&self) -> usize {
        1 + self.below.iter().map(Tree::size).sum::<usize>()
    }
}

/// Takes anything.
#[tool(host(inline))]
fn anything(
    /// It.
    #[arg(default)]
    value: Value,
    /// A tree.
    tree: Option<Tree>,
    /// A number.
    number: Option<f64>,
    /// Some numbers.
    #[arg(default)]
    numbers: std::collections::BTreeSet<i64>,
    /// A path.
    #[arg(path)]
    path: Option<String>,
    /// A text.
    #[arg(length = 0..=2_000_000)]
    text: Option<String>,
    /// Named ones.
    #[arg(default)]
    named: std::collections::HashMap<String, i8>,
) -> usize {
    value.to_string().len()
        + tree.map_or(0, |tree| tree.size())
        + usize::from(number.is_some())
        + numbers.len()
        + path.map_or(0, |path| path.len())
        + text.map_or(0, |text| text.len())
        + named.len()
}

/// What a model may come up with.
fn hostile() -> Vec<(String, RawArguments)> {
    let mut found: Vec<(String, RawArguments)> = Vec::new();
    let mut add = |what: &str, text: String| found.push((what.to_owned(), text.into()));
    for depth in [120, 127, 128, 129, 500, 10_000, 200_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("{\"below\":[", "]}"), ("[{\"\":", "}]")] {
            let nest = format!("{}{}{}", open.repeat(depth), "1", close.repeat(depth));
            add(&format!("{open} {depth} deep"), nest.clone());
            add(&format!("a value {open} {depth} deep"), format!(r#"{{"value":{nest}}}"#));
            add(&format!("a tree {open} {depth} deep"), format!(r#"{{"tree":{nest}}}"#));
            add(&format!("unknown {open} {depth} deep"), format!(r#"{{"nobody":{nest}}}"#));
            add(&format!("unclosed {open} {depth} deep"), format!(r#"{{"value":{}"#, open.repeat(depth)));
        }
        let mut quoted = "{}".to_owned();
        for _ in 0..depth.min(12) {
            quoted = Value::String(quoted).to_string();
        }
        add(&format!("quoted {depth} times"), quoted);
    }
    for number in [
        "1e400",
        "-1e400",
        "1e-400",
        "1e99999999999999999999",
        "-1e-99999999999999999999",
        "-0",
        "-0.0",
        "0e999999999",
        "9223372036854775808",
        "-9223372036854775809",
        "1e308",
        "1.7976931348623159e308",
        "NaN",
        "Infinity",
        "-Infinity",
        "+1",
        "01",
        ".5",
        "5.",
        "1e",
        "0x10",
        "1_000",
    ] {
        add(number, format!(r#"{{"number":{number}}}"#));
        add(number, format!(r#"{{"numbers":[{number}],"named":{{"a":{number}}}}}"#));
        add(number, format!(r#"{{"value":{number}}}"#));
        add(number, number.to_owned());
    }
    for digits in [400, 100_000, 1_000_000] {
        let nines = "9".repeat(digits);
        for number in [nines.clone(), format!("0.{nines}"), format!("1e{nines}"), format!("-{nines}.{nines}e-{nines}")]
        {
            add(&format!("{digits} digits"), format!(r#"{{"number":{number}}}"#));
            add(&format!("{digits} digits"), format!(r#"{{"numbers":[{number}]}}"#));
            add(&format!("{digits} digits"), format!(r#"{{"value":{number}}}"#));
        }
    }
    for filler in ["a", "\\u0000", "\\ud83c\\udf78", "🍸", "\\\\", "\\\"", "\u{202e}", "é", "\\n"] {
        let text = filler.repeat(1_000_000 / filler.len());
        add(&format!("1 MB of {filler}"), format!(r#"{{"text":"{text}"}}"#));
        add(&format!("1 MB of {filler} where a number should be"), format!(r#"{{"number":"{text}"}}"#));
        add(&format!("1 MB of {filler} as a name"), format!(r#"{{"{text}":1}}"#));
        add(&format!("1 MB of {filler} unclosed"), format!(r#"{{"text":"{text}"#));
        add(&format!("1 MB of {filler} as a path"), format!(r#"{{"path":"{text}"}}"#));
        add(&format!("1 MB of {filler} alone"), format!("\"{text}\""));
    }
    let mut keys = String::from("{");
    for n in 0..10_000 {
        let _ = write!(keys, "{}\"key_{n}\":{}", if n > 0 { "," } else { "" }, n % 100);
    }
    keys.push('}');
    add("10,000 unknown names", keys.clone());
    add("10,000 names in a map", format!(r#"{{"named":{keys}}}"#));
    add("10,000 names in anything", format!(r#"{{"value":{keys}}}"#));
    add("10,000 times the same name", format!("{{{}}}", vec![r#""text":"a""#; 10_000].join(",")));
    add("10,000 times the same name in a map", format!(r#"{{"named":{{{}}}}}"#, vec![r#""a":1"#; 10_000].join(",")));
    add(
        "10,000 near misses",
        format!("{{{}}}", (0..10_000).map(|n| format!(r#""nummber{n}":1"#)).collect::<Vec<_>>().join(",")),
    );
    add(
        "100,000 numbers in a set",
        format!(r#"{{"numbers":[{}]}}"#, (0..100_000).map(|n| n.to_string()).collect::<Vec<_>>().join(",")),
    );
    add("100,000 equal numbers in a set", format!(r#"{{"numbers":[{}]}}"#, vec!["1"; 100_000].join(",")));
    add("20,000 trees", format!(r#"{{"tree":{{"below":[{}]}}}}"#, vec!["{}"; 20_000].join(",")));
    add("20,000 wrong trees", format!(r#"{{"tree":{{"below":[{}]}}}}"#, vec![r#"{"nam":1}"#; 20_000].join(",")));
    add("steps up", format!(r#"{{"path":"{}etc"}}"#, "../".repeat(100_000)));
    for text in [
        "",
        " ",
        "\0",
        "{",
        "}",
        "[",
        "\"",
        "null",
        "true",
        "tru",
        "{}{}",
        "{} x",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "{'a':1}",
        "// c\n{}",
        "\u{feff}{}",
        "```json\n{}\n```",
        "<tool>",
        "\\",
        "{\"\\ud800\":1}",
        "{\"text\":\"\\ud800\"}",
        "{\"text\":\"\\udf78\\ud83c\"}",
        "{\"text\":\"\\u12\"}",
        "{\"text\":\"\\x\"}",
        "{\"text\":\"\n\"}",
        "{\"text\":\"\t\"}",
        "{\"text\":\"a\\u0000b\"}",
        "{\"path\":\"a\\u0000b\"}",
        "{\"path\":\"\"}",
        "{\"text\":\"\u{202e}\u{2066}\u{200b}\"}",
        "{\"\u{202e}text\":1}",
        "{\"te\\nxt\":1}",
        "{\"\":1}",
        "{\"value\":{\"\":{\"\":1}}}",
        "{\"__proto__\":{\"a\":1}}",
        "{\"$serde_json::private::Number\":\"1\"}",
        "{\"value\":{\"$serde_json::private::Number\":\"1\"}}",
        "{\"value\":{\"$serde_json::private::RawValue\":\"1\"}}",
        "{\"value\":{\"$ref\":\"#\"}}",
        "{\"number\":{\"$serde_json::private::Number\":\"1\"}}",
        "{\"text\":\"%s%n{}{:?}\"}",
    ] {
        add(&format!("{text:?}"), text.to_owned());
    }
    for bytes in
        [&b"\xff"[..], b"{\"text\":\"\xc3\x28\"}", b"{\"\xf0\x9f\":1}", b"\xed\xa0\x80", b"{}\x80", b"\xef\xbb\xbf{}"]
    {
        found.push((format!("{bytes:?}"), bytes.to_vec().into()));
    }
    found.push(("absent".to_owned(), RawArguments::absent()));
    found
}

/// One result that a model can read, of bounded length, in time.
fn sound(what: &str, settled: &Settled, took: Duration) {
    let text = settled.result().text();
    let code = settled.record().code();
    assert!([Code::Ok, Code::InvalidArguments].contains(&code), "{what} ended {code}: {text}");
    assert!(!text.is_empty() && text.len() <= 2048, "{what}: {} bytes", text.len());
    assert_eq!(settled.record().started(), code == Code::Ok, "{what}");
    let hidden = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    assert!(code == Code::Ok || !text.contains(hidden), "{what}: {text:?}");
    assert!(took < Duration::from_secs(20), "{what} took {took:?}");
    assert!(serde_json::to_string(settled.record()).is_ok(), "{what}");
    assert!(serde_json::from_str::<Value>(&openai_chat::message(settled.result()).to_json()).is_ok(), "{what}");
}

/// With little stack: what a model sends must not decide how much is needed.
fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(512 * 1024).spawn(run);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(())) => {}
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => panic!("{error}"),
    }
}

/// The tool `anything` gives a sound result for all hostile arguments.
fn withstands(harness: &Harness) {
    let mut slowest = (Duration::ZERO, String::new());
    for (what, arguments) in hostile() {
        let begun = Instant::now();
        let mut settled = block_on(harness.run_settled([ToolCall::new("1", "anything", arguments)], None));
        let took = begun.elapsed();
        assert_eq!(settled.len(), 1, "{what}");
        settled.drain(..).for_each(|settled| sound(&what, &settled, took));
        slowest = slowest.max((took, what));
    }
    println!("slowest: {slowest:?}");
}

#[test]
fn inv14_no_arguments_are_too_much() {
    on_a_small_stack(|| {
        let harness = Harness::new(registry([AnythingTool::host()]), AllowAll);
        withstands(&harness);
    });
}

/// The same against schemas that somebody wrote, with a union, a recursion and a free map.
#[test]
fn inv14_no_arguments_are_too_much_for_a_written_schema() {
    on_a_small_stack(|| {
        let tool = echo(
            "anything",
            r##"{"type":"object","properties":{
                "value":{"anyOf":[{"$ref":"#/$defs/tree"},{"type":"array","items":{"$ref":"#/properties/value"},"uniqueItems":true},{"type":"number"},{"type":"string","maxLength":9}]},
                "tree":{"$ref":"#/$defs/tree"},
                "named":{"type":"object","additionalProperties":{"type":"integer","multipleOf":3}},
                "number":{"enum":[1,2.5,"3",null]}},
                "$defs":{"tree":{"type":"object","properties":{"below":{"type":"array","items":{"$ref":"#/$defs/tree"}},"a":{"$ref":"#/$defs/tree"}}}}}"##,
        );
        let harness = Harness::new(registry([tool]), AllowAll).result_cap(2000);
        withstands(&harness);
    });
}

/// Names and identifiers that a model makes up.
fn odd_names() -> Vec<String> {
    let mut names: Vec<String> = [
        "",
        " ",
        "anythin",
        "Anything",
        "anything ",
        "anything\n",
        "any\nthing",
        "functions.anything",
        "anything\0",
        "\u{202e}gnihtyna",
        "аnything",
        "any\u{200b}thing",
        "`anything`",
        "{}",
        "../anything",
        "%s",
        "\u{1b}[2Kanything",
    ]
    .map(str::to_owned)
    .to_vec();
    names.extend(["a".repeat(1_000_000), "anything".repeat(10_000), "\n".repeat(10_000), "🍸".repeat(250_000)]);
    names
}

#[test]
fn inv14_no_name_is_too_odd() {
    let (registry, _) = watched([AnythingTool::host(), echo("another", r#"{"type":"object"}"#)]);
    let harness = Harness::new(registry, AllowAll);
    for name in odd_names() {
        let calls = [
            ToolCall::new(name.as_str(), name.as_str(), "{}"),
            ToolCall::new(name.as_str(), "anything", "{}"),
            ToolCall::new(name.as_str(), name.as_str(), "{"),
        ];
        let settled = block_on(harness.run_settled(calls, None));
        let codes: Vec<_> = settled.iter().map(|settled| settled.record().code()).collect();
        assert_eq!(codes, [Code::UnknownTool, Code::Ok, Code::UnknownTool]);
        for settled in &settled {
            // Echoed as it came where it identifies, and harmless where it is read.
            assert_eq!(settled.result().call_id().as_str(), name);
            let text = settled.result().text();
            assert!(text.len() < 2048 && !text.chars().any(|c| c.is_control()), "{text:?}");
            assert!(!text.contains(['\u{202e}', '\u{200b}']), "{text:?}");
        }
    }
    let paths =
        ["", "/", "/a/b", "/0", "/number", "/value/0/1/2/3", "/\u{202e}", "/~", "/~2", "/99999999999999999999999"];
    let long = format!("/{}", "a/".repeat(100_000));
    let paths = paths.into_iter().chain([long.as_str()]);
    for path in paths {
        let call = ToolCall::new("1", "anything", r#"{"number":1}"#).with_no_result(JsonPath::from_pointer(path));
        let settled = block_on(harness.run_settled([call], None));
        assert_eq!(settled.len(), 1);
        let code = settled[0].record().code();
        assert!([Code::Ok, Code::Unanswered, Code::InvalidArguments].contains(&code), "{code}");
        let text = settled[0].result().text();
        assert!(text.len() <= tool_runtime::path::settle::DEFAULT_RESULT_CAP, "{} bytes", text.len());
        assert!(!text.contains('\u{202e}'), "{text:?}");
    }
}

/// A batch in which everything is wrong at once, with identifiers that repeat.
async fn batch(harness: &Harness) {
    let mut calls: Vec<ToolCall> = hostile()
        .into_iter()
        .filter(|(what, _)| !what.contains("1 MB") && !what.contains("00,000") && !what.contains("1000000"))
        .map(|(_, arguments)| ToolCall::new("same", "anything", arguments))
        .collect();
    calls.extend(odd_names().into_iter().map(|name| ToolCall::new("same", name, "{}")));
    calls.push(ToolCall::new("same", "anything", r#"{"number":1}"#));
    let ids = calls.len();
    let results = harness.run(calls).await;
    assert_eq!(results.len(), ids);
    assert!(results.iter().all(|result| result.call_id().as_str() == "same"));
    assert!(results.last().is_some_and(|result| !result.is_error()));
}

#[tokio::test(flavor = "current_thread")]
async fn inv14_a_hostile_batch_on_one_thread() {
    batch(&Harness::new(registry([AnythingTool::host()]), AllowAll)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inv14_a_hostile_batch_on_several_threads() {
    let harness = std::sync::Arc::new(Harness::new(registry([AnythingTool::host()]), AllowAll));
    let tasks: Vec<_> = (0..3)
        .map(|_| {
            let harness = std::sync::Arc::clone(&harness);
            tokio::spawn(async move { batch(&harness).await })
        })
        .collect();
    for task in tasks {
        if let Err(error) = task.await {
            panic!("the loop was ended: {error}");
        }
    }
}

#[test]
fn inv14_messages_of_a_provider_are_data_too() {
    on_a_small_stack(|| {
        for depth in [100, 1_000, 200_000] {
            for message in [
                format!("{}{}", "[".repeat(depth), "]".repeat(depth)),
                format!(r#"{{"tool_calls":{}{}}}"#, "[".repeat(depth), "]".repeat(depth)),
                format!(
                    r#"{{"tool_calls":[{{"id":"1","function":{{"name":"a","arguments":{}{}}}}}]}}"#,
                    "[".repeat(depth),
                    "]".repeat(depth)
                ),
                "{\"choices\":[".repeat(depth),
            ] {
                match openai_chat::calls(&message) {
                    Ok(calls) => assert!(calls.len() <= 1),
                    Err(error) => assert!(error.to_string().len() < 1000),
                }
            }
        }
        for message in [
            "",
            "null",
            "[]",
            "{",
            "{\"tool_calls\":5}",
            "{\"tool_calls\":[5]}",
            "{\"tool_calls\":[{\"function\":{\"name\":5}}]}",
        ] {
            if let Ok(calls) = openai_chat::calls(message) {
                assert!(calls.is_empty(), "{message}");
            }
        }
    });
}

// Hosts without what some tools need.

/// Needs the blocking pool.
#[tool]
fn blocking(#[host] ran: Ran) -> u8 {
    ran.note();
    1
}

/// Needs the blocking pool and a timer.
#[tool(host(timeout = "5s"))]
fn blocking_in_time(#[host] ran: Ran) -> u8 {
    ran.note();
    1
}

/// Needs a timer, or would if it took long.
#[tool(host(timeout = "5s"))]
async fn in_time(#[host] ran: Ran) -> u8 {
    ran.note();
    1
}

/// Needs nothing.
#[tool]
async fn free(#[host] ran: Ran) -> u8 {
    ran.note();
    1
}

/// Needs nothing, and doesn't wait.
#[tool(host(inline))]
fn inline(#[host] ran: Ran) -> u8 {
    ran.note();
    1
}

/// A closure with a budget, which acts as soon as it is called.
fn eager(ran: Ran) -> HostTool {
    let tool = DynamicTool::builder("eager", "Acts at once.").output("true").timeout(Duration::from_secs(5)).run(
        move |_, _| {
            ran.note();
            async { Ok("1".to_owned()) }
        },
    );
    tool.unwrap_or_else(|error| panic!("{error}"))
}

/// Which tools end well where there is only so much, and that the others don't begin.
fn without(run: impl Fn(&Harness, ToolCall) -> Vec<Settled>, works: &[&str]) {
    for name in ["blocking", "blocking_in_time", "in_time", "free", "inline", "eager"] {
        let ran = Ran::default();
        let tools = [
            BlockingTool::host(),
            BlockingInTimeTool::host(),
            InTimeTool::host(),
            FreeTool::host(),
            InlineTool::host(),
            eager(ran.clone()),
        ];
        let registry = tool_runtime::Registry::builder().tools(tools).state(ran.clone()).build();
        let harness = Harness::new(registry.unwrap_or_else(|error| panic!("{error}")), AllowAll);
        for round in 1..=2 {
            let settled = run(&harness, ToolCall::new("1", name, ""));
            assert_eq!(settled.len(), 1, "{name}");
            let (code, text) = (settled[0].record().code(), settled[0].result().text());
            // What was handed to another thread has time to show.
            std::thread::sleep(Duration::from_millis(20));
            if works.contains(&name) {
                assert_eq!((code, text.as_str()), (Code::Ok, "1"), "{name}");
                assert_eq!(ran.times(), round, "{name}");
            } else {
                assert_eq!(code, Code::HostError, "{name}: {text}");
                assert!(!settled[0].record().started(), "{name}");
                assert!(text.contains("did not run") && text.contains("not the call's fault"), "{name}: {text}");
                assert!(settled[0].record().detail().is_some(), "{name}: the host isn't told why");
                assert_eq!(ran.times(), 0, "{name}: its body began, and its result says that it did not run");
            }
        }
    }
}

#[test]
fn inv14_no_runtime_is_an_answer_and_no_panic() {
    without(|harness, call| block_on(harness.run_settled([call], None)), &["free", "inline"]);
}

#[test]
fn inv14_a_runtime_without_a_timer_is_an_answer_and_no_panic() {
    let one = tokio::runtime::Builder::new_current_thread().build();
    let several = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build();
    for runtime in [one, several] {
        let runtime = runtime.unwrap_or_else(|error| panic!("{error}"));
        without(|harness, call| runtime.block_on(harness.run_settled([call], None)), &["free", "inline", "blocking"]);
    }
}

#[test]
fn inv14_one_runtime_says_nothing_about_another() {
    let with = || {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap_or_else(|error| panic!("{error}"))
    };
    let bare = || tokio::runtime::Builder::new_current_thread().build().unwrap_or_else(|error| panic!("{error}"));
    let (registry, ran) = watched([InTimeTool::host()]);
    let harness = Harness::new(registry, AllowAll);
    let call = || [ToolCall::new("1", "in_time", "")];
    for round in 1..=2 {
        assert!(!with().block_on(harness.run(call()))[0].is_error());
        assert!(bare().block_on(harness.run(call()))[0].is_error());
        assert!(block_on(harness.run(call()))[0].is_error());
        assert_eq!(ran.times(), round);
    }
}

/// Waits, where there is no timer that could stop it, but somebody who may.
#[test]
fn inv14_a_token_needs_no_runtime() {
    let token = tokio_util::sync::CancellationToken::new();
    let (registry, ran) = watched([FreeTool::host(), PatientTool::host()]);
    let harness = Harness::new(registry, AllowAll);
    let cancel = token.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(30));
        cancel.cancel();
    });
    let calls = [ToolCall::new("1", "patient", ""), ToolCall::new("2", "free", "")];
    let settled = block_on(harness.run_settled(calls, Some(token)));
    let codes: Vec<_> = settled.iter().map(|settled| settled.record().code()).collect();
    assert_eq!(codes, [Code::Cancelled, Code::CancelledBeforeStart]);
    assert_eq!(ran.times(), 0);
    assert!(thread.join().is_ok());
}

/// Waits.
#[tool]
async fn patient() -> u8 {
    std::future::pending().await
}
