//! What the model reads of arguments that are refused.

use serde::{Deserialize, Deserializer};
use tool_runtime::{AllowAll, CallContext, CallFacts, Decision, Harness, MAX_DEPTH, ToolCall, tool, tool_type};

use super::{CrawlTool, KeepTool, SearchTool};
use crate::support::{bench, registry};

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
