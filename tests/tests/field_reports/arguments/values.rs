//! Numbers, texts and paths at the edge of what can be said.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use tool_runtime::{Code, tool};

use super::{KeepTool, kept};
use crate::support::bench;

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
        // The record, and what the provider is sent next.
        let kept = kept(&say.settle(arguments).await);
        let lines: Vec<_> = kept.lines().take(3).filter(|line| !line.is_empty()).map(crate::support::parsed).collect();
        let [record, message] = lines.as_slice() else { panic!("{kept}") };
        assert_eq!((&record["code"], &message["role"]), (&"invalid_arguments".into(), &"tool".into()));
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
