// What stands in a doc comment reaches the model byte for byte.
use tool_runtime::tool;

/// Match "**/*" with {n} at C:\tmp — a "quoted" \u{1F600} word.
///
/// ```json
/// {
///   "a": [1]
/// }
/// ```
/// - one
///   - two
#[tool]
fn lines() {}

/**
 * Head.
 *
 *   Indented.
 */
#[tool]
fn block() {}

#[doc = concat!("Made ", "of parts.")]
#[tool]
fn parts() {}

#[doc = include_str!("texts.md")]
#[tool]
fn file(
    #[doc = include_str!("texts.md")]
    argument: String,
) -> String {
    argument
}

const TEXT: &str = "From a constant.";

#[tool(description = TEXT)]
fn constant() {}

/// Seen by people only.
#[tool(description = include_str!("texts.md"))]
#[doc(hidden)]
fn instead() {}

fn main() {
    let from_file = include_str!("texts.md").trim_end();
    let lines = "Match \"**/*\" with {n} at C:\\tmp — a \"quoted\" \\u{1F600} word.\n\n```json\n{\n  \"a\": [1]\n}\n```\n- one\n  - two";
    assert_eq!(LinesTool::schema().description(), lines);
    assert_eq!(BlockTool::schema().description(), "Head.\n\n  Indented.");
    assert_eq!(PartsTool::schema().description(), "Made of parts.");
    assert_eq!(FileTool::schema().description(), from_file);
    assert_eq!(ConstantTool::schema().description(), TEXT);
    assert_eq!(InsteadTool::schema().description(), from_file);
}
