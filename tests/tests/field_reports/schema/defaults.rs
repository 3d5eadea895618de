//! Defaults and members, as they are shown.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::json;
use tool_runtime::{HostTool, Registry, tool, tool_type};

use super::{PageTool, at_ref};
use crate::support::{bench, parameters, shown_order};

fn ten() -> u32 {
    10
}

/// A default that can't be shown: it doesn't serialise.
#[derive(Debug, serde::Deserialize)]
struct Unshown(u8);

impl Serialize for Unshown {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("not today"))
    }
}

impl schemars::JsonSchema for Unshown {
    fn schema_name() -> Cow<'static, str> {
        "Unshown".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        u8::json_schema(generator)
    }
}

/// All of it may be left out, for the type has a default.
#[tool_type]
#[serde(default)]
#[derive(Debug)]
struct Whole {
    depth: u8,
    word: String,
}

impl Default for Whole {
    fn default() -> Self {
        Whole { depth: 3, word: "w".to_owned() }
    }
}

#[tool_type]
#[derive(Debug)]
struct Limits {
    #[serde(default = "ten")]
    old: u32,
    #[arg(default = 11)]
    new: u32,
}

/// Lists, with defaults.
#[tool]
fn limited(
    /// How many.
    #[arg(default = ten())]
    limit: u32,
    /// More.
    limits: Limits,
    /// A whole type.
    #[arg(default)]
    whole: Whole,
) -> String {
    format!("{limit} {} {} {} {}", limits.old, limits.new, whole.depth, whole.word)
}

/// Has defaults that can't be written.
#[tool]
fn unsayable(
    /// How far.
    #[arg(default = f64::NAN)]
    far: f64,
    /// What nobody can see.
    #[arg(default = Unshown(3))]
    unshown: Unshown,
) -> String {
    format!("{far} {}", unshown.0)
}

/// A default that fails to serialise is left out, without a panic; and since nobody who judges a
/// call could see it, such a tool isn't taken.
#[test]
fn b28_a_default_that_nobody_can_see_is_refused() {
    let shown = parameters(&UnsayableTool::host());
    assert_eq!(shown["properties"]["far"].get("default"), None);
    assert_eq!(shown["properties"]["unshown"].get("default"), None);
    let Err(error) = Registry::builder().tool(UnsayableTool::host()).build() else { panic!("it was taken") };
    let text = error.to_string();
    assert!(
        text.contains("parameters/properties/far/default") && text.contains("properties/unshown/default"),
        "{text}"
    );
}

#[tokio::test]
async fn b28_defaults_are_shown_and_filled_in() {
    let shown = parameters(&LimitedTool::host());
    assert_eq!(shown["required"], json!(["limits"]));
    assert_eq!(shown["properties"]["limit"]["default"], 10);
    assert_eq!(shown["properties"]["whole"]["default"], json!({"depth": 3, "word": "w"}));
    let whole = at_ref(&shown, &shown["properties"]["whole"]);
    assert_eq!(whole.get("required"), None);
    assert_eq!(whole["properties"]["depth"]["default"], 3);
    let limits = at_ref(&shown, &shown["properties"]["limits"]);
    assert_eq!(limits.get("required"), None);
    assert_eq!(limits["properties"]["old"]["default"], 10);
    assert_eq!(limits["properties"]["new"]["default"], 11);
    let limited = bench(LimitedTool::host());
    assert_eq!(limited.ok(r#"{"limits":{}}"#).await, "10 10 11 3 w");
    assert_eq!(limited.ok(r#"{"limits":{"old":1,"new":2},"whole":{"depth":4}}"#).await, "10 1 2 4 w");
    // Whoever judges sees what the handler gets.
    let judged = limited.judged();
    assert_eq!(
        judged.first().map(String::as_str),
        Some(r#"{"limit":10,"limits":{"old":10,"new":11},"whole":{"depth":3,"word":"w"}}"#)
    );
}

/// A choice whose members are not in the order of the alphabet.
#[tool_type]
#[derive(Debug)]
enum Choice {
    /// One way.
    Way { zulu: u8, mike: Option<u8>, alpha: u8 },
}

/// Chooses.
#[tool]
fn choose(
    /// Which.
    choice: Choice,
) -> String {
    format!("{choice:?}")
}

/// The schema shows arguments as they are declared, at every depth, whatever map `serde_json` was built with.
#[test]
fn b28_members_are_shown_in_declared_order() {
    let shown = |tool: HostTool| tool.schema().parameters().to_owned();
    assert!(shown_order(&shown(LimitedTool::host()), &["limit", "limits", "whole"]));
    assert!(shown_order(&shown(LimitedTool::host()), &["old", "new"]));
    assert!(shown_order(&shown(ChooseTool::host()), &["zulu", "mike", "alpha"]));
    assert!(shown_order(&shown(PageTool::host()), &["limit", "win", "b", "id", "f", "at"]));
}
