//! Words of closed sets, and `null` for a default.

use tool_runtime::{tool, tool_type};

use super::{DrawTool, Pri, SearchTool};
use crate::support::bench;

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
