//! Section G, outputs: what a model reads of what a body returns.

use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::fmt;

use serde_json::json;
use tool_runtime::{AllowAll, Block, Code, Content, Harness, HostTool, ToolCall, tool, tool_type};

use crate::support::{bench, output, registry};

/// Gives the mean.
#[tool]
fn mean(
    /// Of these.
    xs: Vec<f64>,
) -> f64 {
    xs.iter().sum::<f64>() / xs.len() as f64
}

/// Gives a number that is none, deep inside.
#[tool]
fn nested() -> BTreeMap<&'static str, Vec<f64>> {
    BTreeMap::from([("a", vec![1.0, f64::INFINITY])])
}

/// Gives a number that is none, under a name that a pointer has to escape.
#[tool]
fn under_a_name() -> BTreeMap<&'static str, f32> {
    BTreeMap::from([("a/b~c", f32::NAN)])
}

/// Gives a single-precision number that is none.
#[tool]
fn single() -> f32 {
    f32::NEG_INFINITY
}

/// A reading, of which there may be none.
#[tool_type]
struct Reading {
    value: Option<f64>,
}

/// Gives a reading that is no number.
#[tool]
fn reading() -> Reading {
    Reading { value: Some(f64::NAN) }
}

/// Gives JSON, which has no such number.
#[tool]
fn in_a_tuple() -> Result<(u8, Option<f32>), String> {
    Ok((1, Some(f32::NAN)))
}

#[tokio::test]
async fn b75_a_number_that_is_none_is_an_error_and_never_null() {
    for (tool, arguments, place) in [
        (MeanTool::host(), r#"{"xs":[]}"#, ""),
        (NestedTool::host(), "", " at `/a/1`"),
        (UnderANameTool::host(), "", " at `/a~1b~0c`"),
        (SingleTool::host(), "", ""),
        (ReadingTool::host(), "", " at `/value`"),
        (InATupleTool::host(), "", " at `/1`"),
    ] {
        let name = tool.name().to_owned();
        let settled = bench(tool).settle(arguments).await;
        assert_eq!(settled.record().code(), Code::InvalidOutput, "{name}");
        assert!(settled.result().is_error(), "{name}");
        assert_eq!(
            settled.result().text(),
            format!(
                "`{name}` ran, but its output was refused: a number that isn't finite{place}. Its effects may have happened; calling it again may repeat them."
            )
        );
        assert_eq!(settled.value(), None, "{name}");
    }
    assert_eq!(bench(MeanTool::host()).ok(r#"{"xs":[1,2]}"#).await, "1.5");
}

/// Says something with characters of three and four bytes.
#[tool]
fn wide(
    /// So often.
    times: usize,
    /// Behind so many characters of one byte.
    offset: usize,
    /// Fail with it?
    #[arg(default)]
    fail: bool,
) -> Result<String, String> {
    let text = format!("{}{}", "a".repeat(offset), "─🍸é".repeat(times));
    if fail { Err(text) } else { Ok(text) }
}

#[tokio::test]
async fn b77_cuts_fall_between_characters_and_say_how_much_is_gone() {
    for cap in [0, 1, 2, 3, 4, 5, 64, 100, 101, 102, 103, 200, 1000] {
        let harness = Harness::new(registry([WideTool::host()]), AllowAll).result_cap(cap);
        for offset in 0..4 {
            for fail in [false, true] {
                let arguments = format!(r#"{{"times":1000,"offset":{offset},"fail":{fail}}}"#);
                let settled = harness.run_settled([ToolCall::new("call_1", "wide", arguments)], None).await;
                let (text, record) = (settled[0].result().text(), settled[0].record());
                assert!(text.len() <= cap, "{} of {cap} bytes", text.len());
                assert!(!text.contains('\u{fffd}'));
                let whole = record.whole().and_then(Content::as_text).unwrap_or_default();
                assert_eq!(whole.len(), 9000 + offset, "the host has the whole");
                assert_eq!(settled[0].result().is_error(), fail);
                if cap >= 100 {
                    // Head, mark, tail; and nothing is unaccounted for.
                    let mut parts = text.splitn(2, "\n[… ");
                    let head = parts.next().unwrap_or_default();
                    let (mark, tail) = parts
                        .next()
                        .and_then(|rest| rest.split_once(" …]\n"))
                        .unwrap_or_else(|| panic!("no mark in {text}"));
                    let (left_out, handle) = mark.split_once(" bytes left out; ").unwrap_or_default();
                    assert_eq!(handle, "the host has the whole as `call_1`");
                    assert!(whole.starts_with(head) && whole.ends_with(tail));
                    assert_eq!(left_out.parse(), Ok(whole.len() - head.len() - tail.len()));
                }
            }
        }
        // What is short enough isn't cut.
        let settled = harness.run_settled([ToolCall::new("call_1", "wide", r#"{"times":0,"offset":1}"#)], None).await;
        if cap >= 1 {
            assert_eq!(settled[0].result().text(), "a");
            assert!(settled[0].record().whole().is_none());
        }
    }
}

/// What the host keeps of arguments that nobody could read is cut as well, and so is what a refusal quotes.
#[tokio::test]
async fn b77_previews_are_cut_between_characters_too() {
    let wide = bench(WideTool::host());
    for offset in 0..8 {
        let unreadable = format!("{{{}{}", "a".repeat(offset), "─🍸é".repeat(10_000));
        let settled = wide.settle(unreadable).await;
        let detail = settled.record().detail().unwrap_or_default();
        assert!(detail.len() < 2048 && detail.contains('─'), "{} bytes", detail.len());
        assert!(!detail.contains('\u{fffd}'));
        let text = format!("{}{}", "a".repeat(offset), "─🍸é".repeat(10_000));
        let problems = wide.refused(format!(r#"{{"times":"{text}","offset":0}}"#)).await;
        assert_eq!(
            problems,
            [format!(
                "`times`: expected integer from 0 to 18446744073709551615, got string of {} characters",
                30_000 + offset
            )]
        );
        let problems = wide.refused(format!(r#"{{"times":0,"offset":0,"{text}":1}}"#)).await;
        assert_eq!(problems.len(), 1);
        assert!(problems[0].len() < 400, "{problems:?}");
    }
}

/// Gives bytes.
#[tool]
fn bytes() -> Vec<u8> {
    vec![0x66, 0xff, 0xfe, 0x0a, 0x67]
}

/// Gives a path that is no text.
#[cfg(unix)]
#[tool]
fn odd_path() -> std::path::PathBuf {
    use std::os::unix::ffi::OsStringExt as _;

    std::ffi::OsString::from_vec(vec![0x66, 0xff, 0x67]).into()
}

/// Fails with a text that somebody else has read badly.
#[tool]
fn misread() -> Result<u8, String> {
    Err(String::from_utf8_lossy(&[0x66, 0xff, 0x0a, 0x67]).into_owned())
}

#[tokio::test]
async fn b78_bytes_are_never_read_as_text() {
    // A list of numbers: nothing is lost, and nothing behind the bad byte either.
    assert_eq!(bench(BytesTool::host()).ok("").await, "[102,255,254,10,103]");
    let misread = bench(MisreadTool::host()).settle("").await;
    assert_eq!(misread.result().text(), "f\u{fffd}\ng");
    #[cfg(unix)]
    {
        let settled = bench(OddPathTool::host()).settle("").await;
        assert_eq!(settled.record().code(), Code::InvalidOutput);
        assert!(settled.result().is_error());
        let text = settled.result().text();
        assert!(text.starts_with("`odd_path` ran, but its output was refused: "), "{text}");
    }
}

/// Nothing at all.
#[tool_type]
struct Empty {}

mod empties {
    use tool_runtime::{Content, tool};

    use super::Empty;

    /// Gives nothing.
    #[tool]
    pub(super) fn unit() {}

    /// Gives nothing, and might fail.
    #[tool]
    pub(super) async fn unit_result() -> Result<(), std::io::Error> {
        Ok(())
    }

    /// Gives an empty text.
    #[tool]
    pub(super) fn text() -> &'static str {
        ""
    }

    /// Gives none.
    #[tool]
    pub(super) fn none() -> Option<u8> {
        None
    }

    /// Gives an empty list.
    #[tool]
    pub(super) fn list() -> Vec<u8> {
        Vec::new()
    }

    /// Gives an empty object.
    #[tool]
    pub(super) fn object() -> Empty {
        Empty {}
    }

    /// Gives nothing to read.
    #[tool(host(project = nothing))]
    pub(super) fn projected() -> u8 {
        1
    }

    fn nothing(_: &u8) -> Content {
        Content::blocks([])
    }

    /// Fails without a word.
    #[tool]
    pub(super) fn wordless() -> Result<u8, String> {
        Err(String::new())
    }
}

#[tokio::test]
async fn b79_an_empty_result_is_a_result() {
    for (tool, text) in [
        (empties::UnitTool::host(), "(no output)"),
        (empties::UnitResultTool::host(), "(no output)"),
        (empties::TextTool::host(), "(no output)"),
        (empties::NoneTool::host(), "null"),
        (empties::ListTool::host(), "[]"),
        (empties::ObjectTool::host(), "{}"),
        (empties::ProjectedTool::host(), "(no output)"),
    ] {
        let name = tool.name().to_owned();
        assert_eq!(bench(tool).ok("").await, text, "{name}");
    }
    let wordless = bench(empties::WordlessTool::host()).settle("").await;
    assert!(wordless.result().is_error());
    assert_eq!(wordless.result().text(), "`wordless` failed.");
    assert_eq!(output(&empties::UnitTool::host()), json!({"type": "null"}));
}

/// Says much.
#[tool]
fn say_much(
    /// So many bytes.
    bytes: usize,
    /// Fail with it?
    #[arg(default)]
    fail: bool,
) -> Result<String, String> {
    let text = "x".repeat(bytes);
    if fail { Err(text) } else { Ok(text) }
}

/// Lists much.
#[tool]
fn list_much() -> Vec<String> {
    (0..100_000).map(|index| format!("element {index}")).collect()
}

/// Says much, in several blocks.
#[tool(host(project = in_blocks))]
fn block_much() -> u8 {
    1
}

fn in_blocks(_: &u8) -> Content {
    Content::blocks([Block::Text("x".repeat(1_000_000).into()), Block::Text("y".repeat(1_000_000).into())])
}

/// What a model reads of one result if nobody says otherwise.
const CAP: usize = 100_000;

#[tokio::test]
async fn b80_a_result_is_capped_unless_somebody_says_otherwise() {
    let much = bench(SayMuchTool::host());
    for fail in [false, true] {
        let settled = much.settle(format!(r#"{{"bytes":50000000,"fail":{fail}}}"#)).await;
        let text = settled.result().text();
        assert!(text.len() <= CAP && text.len() > CAP / 2, "{} bytes", text.len());
        assert!(text.starts_with('x') && text.ends_with('x') && text.contains("bytes left out"));
        assert_eq!(settled.result().is_error(), fail);
        let whole = settled.record().whole().and_then(Content::as_text);
        assert_eq!(whole.map(str::len), Some(50_000_000));
        // What the tool returned is kept whole for the host.
        assert_eq!(settled.value().map(str::len), (!fail).then_some(50_000_002));
    }
    let listed = bench(ListMuchTool::host()).settle("").await;
    assert!(listed.result().text().len() <= CAP);
    let value = crate::support::parsed(listed.value().unwrap_or_default());
    assert_eq!(value.as_array().map(Vec::len), Some(100_000));

    // The cap is one result's.
    let calls = ["1", "2", "3", "4"].map(|id| ToolCall::new(id, "say_much", r#"{"bytes":100001}"#));
    for result in much.harness().run(calls).await {
        assert!(result.text().len() <= CAP);
    }
    let exact = much.settle(r#"{"bytes":100000}"#).await;
    assert_eq!(exact.result().text().len(), CAP);
    assert!(exact.record().whole().is_none());
}

#[tokio::test]
async fn b80_several_blocks_are_capped_like_one() {
    let settled = bench(BlockMuchTool::host()).settle("").await;
    let text = settled.result().text();
    assert!(text.len() <= CAP, "the model reads {} bytes", text.len());
}

#[derive(Debug, thiserror::Error)]
#[error("load config")]
struct LoadError {
    #[source]
    cause: ReadError,
}

#[derive(Debug, thiserror::Error)]
#[error("read /x")]
struct ReadError(#[source] std::io::Error);

#[derive(Debug, thiserror::Error)]
enum AnyError {
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Says what its cause says, and more.
    #[error("config: {0}")]
    Embedded(#[source] ReadError),
}

fn missing() -> std::io::Error {
    std::io::Error::other("No such file")
}

fn load_error() -> LoadError {
    LoadError { cause: ReadError(missing()) }
}

/// So many causes, one in the other.
#[derive(Debug)]
struct Deep(usize, Option<Box<Deep>>);

impl fmt::Display for Deep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "level <{}>", self.0)
    }
}

impl StdError for Deep {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.1.as_deref().map(|cause| cause as _)
    }
}

/// Its own cause.
#[derive(Debug)]
struct Cyclic;

impl fmt::Display for Cyclic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("round")
    }
}

impl StdError for Cyclic {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(self)
    }
}

mod failing {
    use std::error::Error;

    use anyhow::Context as _;
    use tool_runtime::tool;

    use super::{AnyError, Cyclic, Deep, LoadError, ReadError, load_error, missing};

    type BoxError = Box<dyn Error + Send + Sync>;

    /// Fails with a chain.
    #[tool(host(causes))]
    pub(super) fn chained() -> Result<u8, LoadError> {
        Err(load_error())
    }

    /// Fails with a chain that anyhow holds.
    #[tool(host(causes))]
    pub(super) fn contextual() -> anyhow::Result<u8> {
        Err(missing()).context("read /x").context("load config")
    }

    /// Fails with a chain in a box.
    #[tool(host(causes))]
    pub(super) fn boxed() -> Result<u8, BoxError> {
        Err(load_error().into())
    }

    /// Fails with a chain in another's clothes.
    #[tool(host(causes))]
    pub(super) fn transparent() -> Result<u8, AnyError> {
        Err(load_error().into())
    }

    /// Fails with a text that has its cause's text in it.
    #[tool(host(causes))]
    pub(super) fn embedded() -> Result<u8, AnyError> {
        Err(AnyError::Embedded(ReadError(missing())))
    }

    /// Fails with a hundred causes.
    #[tool(host(causes))]
    pub(super) fn deep() -> Result<u8, Deep> {
        let chain = (0..100).rev().fold(None, |cause, level| Some(Box::new(Deep(level, cause))));
        Err(*chain.unwrap_or_else(|| Box::new(Deep(0, None))))
    }

    /// Fails with itself as a cause.
    #[tool(host(causes))]
    pub(super) fn cyclic() -> Result<u8, Cyclic> {
        Err(Cyclic)
    }

    /// Fails with two lines.
    #[tool(host(causes))]
    pub(super) fn two_lines() -> Result<u8, String> {
        Err("one\ntwo".to_owned())
    }

    /// Fails with a chain, and shows its top alone.
    #[tool]
    pub(super) fn discreet() -> Result<u8, LoadError> {
        Err(load_error())
    }
}

async fn failure(tool: HostTool) -> (String, Option<String>) {
    let settled = bench(tool).settle("").await;
    assert_eq!(settled.record().code(), Code::ToolError);
    assert!(settled.result().is_error());
    (settled.result().text(), settled.record().detail().map(str::to_owned))
}

#[tokio::test]
async fn b81_each_cause_is_said_once_to_whom_it_may_be_said() {
    for (tool, text) in [
        (failing::ChainedTool::host(), "load config: read /x: No such file"),
        (failing::ContextualTool::host(), "load config: read /x: No such file"),
        (failing::BoxedTool::host(), "load config: read /x: No such file"),
        (failing::TransparentTool::host(), "load config: read /x: No such file"),
        (failing::EmbeddedTool::host(), "config: read /x: No such file"),
        (failing::CyclicTool::host(), "round"),
        (failing::TwoLinesTool::host(), "one\ntwo"),
    ] {
        let name = tool.name().to_owned();
        assert_eq!(failure(tool).await.0, text, "{name}");
    }
    let (deep, _) = failure(failing::DeepTool::host()).await;
    assert!(deep.starts_with("level <0>: level <1>: level <2>"), "{deep}");
    assert!(deep.matches("level").count() <= 32, "{deep}");
    // Without `causes` the model reads the error's own words, and the host has the rest.
    let (said, detail) = failure(failing::DiscreetTool::host()).await;
    assert_eq!(said, "load config");
    assert_eq!(detail.as_deref(), Some("load config: read /x: No such file"));
}
