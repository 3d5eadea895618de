//! Section A: what `#[tool]`, `#[toolset]` and `#[tool_type]` make of what authors write.
//!
//! What has to be refused at compile time (B02, B07, B13 and parts of others) is in `tests/ui`. The crates beside these
//! tests, `pedantic`, `renamed` and `mid`, are part of B01, B06, B08, B10 and B11: that they build is half of the test,
//! and that clippy has nothing to say of them another.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use serde_json::json;
use tool_runtime::{Code, HostTool, Registry, tool, tool_type, toolset};

use crate::support::{bench, parameters, registry};

#[tokio::test]
async fn b01_tools_live_under_the_strictest_lints() {
    let all = registry(pedantic::all());
    assert_eq!(all.len(), 8);
    assert_eq!(pedantic::doubled(2), 4);
    assert_eq!(bench(pedantic::AddTool::host()).ok(r#"{"a":1,"b":2}"#).await, pedantic::add(1, 2).to_string());
    assert_eq!(bench(pedantic::reached::SubtractTool::host()).ok(r#"{"a":3,"b":2}"#).await, "1");
}

/// Counts letters.
#[tool]
async fn letters(
    /// The text.
    text: &str,
) -> usize {
    tokio::task::yield_now().await;
    text.len()
}

#[tokio::test]
async fn b02_the_function_itself_stays_as_it_was_written() {
    // It borrows, as it did before the attribute, and its future is nobody's but its caller's.
    let text = String::from("four");
    assert_eq!(letters(&text).await, 4);
    assert_eq!(bench(LettersTool::host()).ok(r#"{"text":"four"}"#).await, "4");
}

mod closures {
    use std::future::Future;

    use futures_util::StreamExt as _;
    use futures_util::stream;
    use tool_runtime::tool;

    pub(super) fn assert_send<F: Future + Send>(future: F) -> F {
        future
    }

    /// Adds up, several at a time. Owned items are the way round a limit of the compiler.
    #[tool]
    pub(super) async fn total(
        /// The numbers.
        xs: Vec<u32>,
    ) -> u32 {
        stream::iter(xs).map(|x| async move { x }).buffered(4).fold(0, |sum, x| async move { sum + x }).await
    }

    /// Adds up without taking the items. A boxed stream is the other way round.
    #[tool]
    pub(super) async fn lent_total(
        /// The numbers.
        xs: Vec<u32>,
    ) -> u32 {
        stream::iter(&xs)
            .map(|x| std::future::ready(*x))
            .buffered(4)
            .boxed()
            .fold(0, |sum, x| async move { sum + x })
            .await
    }
}

#[tokio::test]
async fn b03_a_body_that_is_send_without_the_attribute_is_a_tool() {
    assert_eq!(closures::assert_send(closures::total(vec![1, 2, 3])).await, 6);
    assert_eq!(closures::assert_send(closures::lent_total(vec![1, 2, 3])).await, 6);
    for tool in [closures::TotalTool::host(), closures::LentTotalTool::host()] {
        assert_eq!(bench(tool).ok(r#"{"xs":[1,2,3]}"#).await, "6");
    }
}

macro_rules! mk {
    ($name:ident, $doc:literal) => {
        #[doc = $doc]
        #[tool]
        fn $name() -> u8 {
            1
        }
    };
    ($name:ident, $doc:expr, $arg:ident: $ty:ty => $result:ty, $body:expr) => {
        #[doc = $doc]
        #[tool]
        fn $name(
            /// What it takes.
            $arg: $ty,
        ) -> $result {
            $body($arg)
        }
    };
}

mk!(ping, "Ping.");
mk!(half, concat!("Halves", "."), n: Option<u32> => Result<u32, String>, |n: Option<u32>| n.map(|n| n / 2).ok_or_else(|| "none".to_owned()));

#[tokio::test]
async fn b04_a_tool_that_a_macro_writes_is_a_tool() {
    let all = registry([PingTool::host(), HalfTool::host()]);
    let shown: Vec<_> = all.schemas().map(|schema| (schema.name(), schema.description())).collect();
    assert_eq!(shown, [("half", "Halves."), ("ping", "Ping.")]);
    assert_eq!(bench(PingTool::host()).ok("").await, "1");
    // A type that comes as `$ty` is an `Option` and a `Result` all the same.
    let half = bench(HalfTool::host());
    assert_eq!(half.ok(r#"{"n":8}"#).await, "4");
    assert_eq!(half.settle("{}").await.record().code(), Code::ToolError);
    assert_eq!(ping() + 1, 2);
}

/// Finds.
#[tool]
fn find(
    /// Of this type.
    r#type: String,
    /// In here.
    r#in: Option<u32>,
) -> String {
    format!("{} {in:?}", r#type, in = r#in)
}

/// Does it.
#[tool]
fn r#do() -> String {
    "done".to_owned()
}

struct Robot;

#[toolset]
impl Robot {
    /// Moves.
    #[tool]
    fn r#move(
        &self,
        /// To there.
        r#where: u8,
    ) -> u8 {
        r#where
    }
}

#[tokio::test]
async fn b05_raw_identifiers_are_plain_names() {
    let find = bench(FindTool::host());
    let shown = parameters(&FindTool::host());
    assert_eq!(shown["required"], json!(["type"]));
    let names: Vec<_> = shown["properties"].as_object().map_or_else(Vec::new, |names| names.keys().cloned().collect());
    let mut sorted = names;
    sorted.sort();
    assert_eq!(sorted, ["in", "type"]);
    assert_eq!(find.ok(r#"{"type":"x"}"#).await, "x None");
    assert_eq!(find.judged(), [r#"{"type":"x"}"#]);
    assert_eq!(find.refused(r#"{"type":1}"#).await, ["`type`: expected string, got number 1"]);
    assert_eq!(FindTool::schema().name(), "find");
    assert_eq!(bench(DoTool::host()).ok("").await, "done");
    assert_eq!(DoTool::schema().name(), "do");
    assert_eq!(RobotMoveTool::schema().name(), "move");
    for tool in Arc::new(Robot).tools() {
        assert_eq!(bench(tool).ok(r#"{"where":3}"#).await, "3");
    }
    assert!(!format!("{:?}{:?}", FindTool::schema(), FindTool::host()).contains("r#"));
}

#[tokio::test]
async fn b06_leading_underscores_are_not_part_of_a_name() {
    let probe = bench(pedantic::ProbeTool::host());
    let shown = parameters(&pedantic::ProbeTool::host());
    assert_eq!(shown["required"], json!(["dry_run", "name"]));
    assert_eq!(probe.ok(r#"{"dry_run":true,"name":"n"}"#).await, "n");
    assert_eq!(
        probe.refused(r#"{"_dry_run":true,"dry_run":"yes","name":"n"}"#).await,
        ["`dry_run`: expected boolean, got string \"yes\"", "`_dry_run`: unknown name; did you mean `dry_run`?",]
    );
    assert_eq!(
        bench(pedantic::ManyTool::host())
            .ok(r#"{"one":1,"two":2,"three":3,"four":4,"five":5,"six":6,"seven":7}"#)
            .await,
        "28"
    );
}

#[tokio::test]
async fn b08_mut_parameters_stay_mutable() {
    for tool in [pedantic::SortTool::host(), pedantic::SortNowTool::host()] {
        assert_eq!(parameters(&tool)["required"], json!(["xs"]));
        assert_eq!(bench(tool).ok(r#"{"xs":[2,1]}"#).await, "[1,2]");
    }
}

/// An error of an author's own.
#[derive(Debug)]
struct MyErr;

impl fmt::Display for MyErr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("mine")
    }
}

impl StdError for MyErr {}

mod aliases {
    use tool_runtime::tool;

    use super::MyErr;

    type Result<T> = std::result::Result<T, MyErr>;
    type Res<T> = std::result::Result<T, MyErr>;
    type Maybe<T> = Option<T>;

    /// Reads.
    #[tool]
    pub(super) fn read(
        /// Where.
        path: String,
    ) -> Result<String> {
        if path.is_empty() { Err(MyErr) } else { Ok(path) }
    }

    /// Reads again.
    #[tool]
    pub(super) async fn reread(
        /// Where.
        path: Maybe<String>,
    ) -> Res<String> {
        path.ok_or(MyErr)
    }
}

mod anyhow_result {
    use anyhow::{Result, bail};
    use tool_runtime::tool;

    /// Reads.
    #[tool]
    pub(super) fn read_any(
        /// Where.
        path: Option<String>,
    ) -> Result<String> {
        match path {
            Some(path) => Ok(path),
            None => bail!("mine"),
        }
    }
}

#[tokio::test]
async fn b09_a_result_is_told_by_its_type_and_not_by_its_spelling() {
    for (tool, good, bad) in [
        (aliases::ReadTool::host(), r#"{"path":"a"}"#, r#"{"path":""}"#),
        (aliases::RereadTool::host(), r#"{"path":"a"}"#, "{}"),
        (anyhow_result::ReadAnyTool::host(), r#"{"path":"a"}"#, "{}"),
    ] {
        let name = tool.name().to_owned();
        let bench = bench(tool);
        assert_eq!(bench.ok(good).await, "a", "{name}");
        let failed = bench.settle(bad).await;
        assert_eq!(failed.record().code(), Code::ToolError, "{name}");
        assert!(failed.result().is_error(), "{name}");
        assert_eq!(failed.result().text(), "mine", "{name}");
    }
}

#[tokio::test]
async fn b10_the_sdk_may_have_another_name() {
    assert_eq!(bench(renamed::as_tk::EchoTool::host()).ok(r#"{"n":3}"#).await, "3");
    let resize = bench(renamed::as_tk::ResizeTool::host());
    assert_eq!(resize.ok("{}").await, "Large");
    assert_eq!(
        resize.refused(r#"{"size":"small"}"#).await,
        [r#"`size`: expected one of "Small", "Large", got string "small"; did you mean "Small"?"#]
    );
    let [count, begin] = Arc::new(renamed::as_tk::Counters).tools().try_into().unwrap();
    assert_eq!((count.name(), begin.name()), ("count", "gen"));
    assert_eq!(bench(count).ok(r#"{"from":1}"#).await, "2");
    // A name that is a keyword since the macros' edition.
    assert_eq!(bench(begin).ok("{}").await, "0");
    assert_eq!(renamed::as_tk::GenTool::schema().name(), "gen");
    assert_eq!(bench(renamed::as_tk::GenTool::host()).ok(r#"{"gen":3}"#).await, "3");
}

/// A macro of this crate that uses one of another's.
macro_rules! mk_answer {
    ($name:ident) => {
        mid::answer_tool!($name, "The answer again.");
    };
}
mk_answer!(answer_here);

#[tokio::test]
async fn b11_the_sdk_may_come_through_another_crate() {
    assert_eq!(bench(renamed::through_mid::NothingTool::host()).ok("").await, "(no output)");
    assert_eq!(bench(renamed::through_mid::AnswerTool::host()).ok("").await, "42");
    assert_eq!(bench(renamed::through_mid::AddTool::host()).ok(r#"{"pair":{"a":2}}"#).await, "9");
    assert_eq!(renamed::through_mid::AnswerTool::schema().description(), "The answer.");
    assert_eq!(bench(AnswerHereTool::host()).ok("").await, "42");
}

/// An error that is another one.
#[derive(Debug, thiserror::Error)]
enum Wrapped {
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

mod errors {
    use std::convert::Infallible;
    use std::error::Error;

    use tool_runtime::tool;

    use super::{MyErr, Wrapped};

    /// Fails with a type of its own.
    #[tool]
    pub(super) fn own() -> Result<u8, MyErr> {
        Err(MyErr)
    }

    /// Fails with a text.
    #[tool]
    pub(super) fn text() -> Result<u8, String> {
        Err("mine".to_owned())
    }

    /// Fails with a literal.
    #[tool]
    pub(super) fn literal() -> Result<u8, &'static str> {
        Err("mine")
    }

    /// Fails with whatever came.
    #[tool]
    pub(super) fn any() -> anyhow::Result<u8> {
        Err(MyErr.into())
    }

    /// Fails with a box.
    #[tool]
    pub(super) fn boxed() -> Result<u8, Box<dyn Error + Send + Sync>> {
        Err("mine".into())
    }

    /// Fails with what the system says.
    #[tool]
    pub(super) fn io() -> Result<u8, std::io::Error> {
        Err(std::io::Error::other("mine"))
    }

    /// Fails with what the system says, in a type of its own.
    #[tool]
    pub(super) fn wrapped() -> Result<u8, Wrapped> {
        Err(std::io::Error::other("mine").into())
    }

    /// Can't fail.
    #[tool]
    pub(super) fn never() -> Result<u8, Infallible> {
        Ok(1)
    }
}

#[tokio::test]
async fn b12_every_error_type_is_taken() {
    for tool in [
        errors::OwnTool::host(),
        errors::TextTool::host(),
        errors::LiteralTool::host(),
        errors::AnyTool::host(),
        errors::BoxedTool::host(),
        errors::IoTool::host(),
        errors::WrappedTool::host(),
    ] {
        let name = tool.name().to_owned();
        let settled = bench(tool).settle("").await;
        assert_eq!(settled.record().code(), Code::ToolError, "{name}");
        assert!(settled.result().is_error(), "{name}");
        assert_eq!(settled.result().text(), "mine", "{name}");
    }
    assert_eq!(bench(errors::NeverTool::host()).ok("").await, "1");
}

trait Store: Send + Sync {
    fn get(&self, key: &str) -> Option<String>;
}

#[derive(Debug)]
struct Upper;

impl Store for Upper {
    fn get(&self, key: &str) -> Option<String> {
        (!key.is_empty()).then(|| key.to_uppercase())
    }
}

struct Svc<S> {
    store: S,
}

#[toolset]
impl Svc<Upper> {
    /// Gets.
    #[tool(type = GetKey)]
    async fn get(
        &self,
        /// The key.
        key: &str,
        /// Tried one after the other, if there is nothing under the key.
        fallbacks: &[String],
    ) -> Option<String> {
        std::iter::once(key).chain(fallbacks.iter().map(String::as_str)).find_map(|key| self.store.get(key))
    }
}

#[tokio::test]
async fn b13_a_generic_type_is_a_toolset_where_it_is_concrete_and_arguments_can_be_lent() {
    let [tool] = <[HostTool; 1]>::try_from(Arc::new(Svc { store: Upper }).tools())
        .unwrap_or_else(|tools| panic!("one tool, not {}", tools.len()));
    assert_eq!(tool.schema(), GetKey::schema());
    assert_eq!(parameters(&tool)["properties"]["key"]["type"], "string");
    let bench = bench(tool);
    assert_eq!(bench.ok(r#"{"key":"a","fallbacks":[]}"#).await, "A");
    assert_eq!(bench.ok(r#"{"key":"","fallbacks":["","b"]}"#).await, "B");
    assert_eq!(bench.ok(r#"{"key":"","fallbacks":[]}"#).await, "null");
}

const SPECIAL: &str = r#"Match "**/*" with {n} at C:\tmp — a "quoted" \u{1F600} word"#;

/// Match "**/*" with {n} at C:\tmp — a "quoted" \u{1F600} word
#[tool]
fn lines(
    /// Match "**/*" with {n} at C:\tmp — a "quoted" \u{1F600} word
    x: u8,
) -> u8 {
    x
}

/** Match "**" with {n} at C:\tmp — a "quoted" \u{1F600} word */
#[tool]
fn block(
    /** Match "**" with {n} at C:\tmp — a "quoted" \u{1F600} word */
    x: u8,
) -> u8 {
    x
}

#[doc = concat!("a {n} ", "\\ \"b\"")]
#[tool]
fn joined(#[doc = concat!("c", "d")] x: u8) -> u8 {
    x
}

#[doc = include_str!("description.md")]
#[tool]
fn included() -> u8 {
    1
}

/// Head.
#[doc = concat!("mid", "dle")]
/// Tail.
#[tool]
fn mixed() -> u8 {
    1
}

#[test]
fn b14_a_description_is_its_comment_byte_for_byte() {
    let of_x = |tool: HostTool| parameters(&tool)["properties"]["x"]["description"].clone();
    assert_eq!(LinesTool::schema().description(), SPECIAL);
    assert_eq!(of_x(LinesTool::host()), SPECIAL);
    let block = SPECIAL.replace("**/*", "**");
    assert_eq!(BlockTool::schema().description(), block);
    assert_eq!(of_x(BlockTool::host()), block);
    assert_eq!(JoinedTool::schema().description(), r#"a {n} \ "b""#);
    assert_eq!(of_x(JoinedTool::host()), "cd");
    assert_eq!(IncludedTool::schema().description(), include_str!("description.md").trim_end());
    assert_eq!(MixedTool::schema().description(), "Head.\nmiddle\nTail.");
}

/// Head.
///
/// ```json
/// {
///   "a": 1
/// }
/// ```
/// - one
///   - two
///
#[tool]
fn laid_out(
    /// Head.
    ///
    /// ```json
    /// {
    ///   "a": 1
    /// }
    /// ```
    /// - one
    ///   - two
    ///
    x: LaidOut,
) -> u8 {
    x.field
}

/// Head.
///
/// ```json
/// {
///   "a": 1
/// }
/// ```
/// - one
///   - two
///
#[tool_type]
struct LaidOut {
    /// Head.
    ///
    /// ```json
    /// {
    ///   "a": 1
    /// }
    /// ```
    /// - one
    ///   - two
    ///
    field: u8,
}

/// Opens it.
///
/// # Errors
/// If it is shut.
#[tool]
fn open() -> u8 {
    1
}

#[test]
fn b15_the_layout_of_a_comment_is_kept() {
    let expected = "Head.\n\n```json\n{\n  \"a\": 1\n}\n```\n- one\n  - two";
    let tool = LaidOutTool::host();
    assert_eq!(tool.schema().description(), expected);
    let shown = parameters(&tool);
    assert_eq!(shown["properties"]["x"]["description"], expected);
    // A function and a type are read alike.
    assert_eq!(shown["$defs"]["LaidOut"]["description"], expected);
    assert_eq!(shown["$defs"]["LaidOut"]["properties"]["field"]["description"], expected);
    assert_eq!(OpenTool::schema().description(), "Opens it.\n\n# Errors\nIf it is shut.");
}

struct Gated;

#[toolset]
impl Gated {
    /// Left out.
    #[cfg(not(test))]
    #[tool]
    fn hidden(&self) -> Missing {
        Missing
    }

    /// Left out as well.
    #[tool]
    #[cfg(not(test))]
    fn hidden_too(&self) -> Missing {
        Missing
    }

    /// There.
    #[cfg(test)]
    #[tool]
    fn shown(&self) -> u8 {
        1
    }

    /// There too.
    #[tool]
    #[cfg(test)]
    fn shown_too(&self) -> u8 {
        2
    }

    /// A tool on a condition that holds.
    #[cfg_attr(test, tool(host(read_only)))]
    fn conditional(&self) -> u8 {
        3
    }

    /// A method, and no tool.
    #[cfg_attr(not(test), tool)]
    fn plain(&self) -> u8 {
        4
    }
}

/// Left out.
#[cfg(not(test))]
#[tool]
fn free_hidden() -> Missing {
    Missing
}

/// Left out as well.
#[tool]
#[cfg(not(test))]
fn free_hidden_too() -> Missing {
    Missing
}

/// There.
#[cfg_attr(test, tool)]
fn free_shown() -> u8 {
    5
}

#[test]
fn b16_what_cfg_leaves_out_is_nowhere() {
    let gated = Arc::new(Gated);
    assert_eq!(gated.plain(), 4);
    let all = Registry::builder()
        .tools(gated.tools())
        .tool(FreeShownTool::host())
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<_> = all.iter().map(HostTool::name).collect();
    assert_eq!(names, ["conditional", "free_shown", "shown", "shown_too"]);
    assert!(all.get("conditional").is_some_and(|tool| tool.hints().read_only));
    assert_eq!(free_shown(), 5);
}
