// Brackets that are links, items, code, or escaped.
use tool_runtime::tool;

/// Books a flight.
///
/// [text](https://example.com) is a link.
/// [text]: https://example.com
/// [`required`] is code, [todo] is not at the start.
/// [Foo] is an item, and \[todo] is escaped.
/// [1] is a footnote, [two words] are no word.
///
/// ```text
/// [todo] is in a block of code.
/// ```
#[tool]
fn book(
    /// [link][text]
    flight: String,
) -> String {
    flight
}

fn main() {
    assert!(BookTool::host().labels().is_empty());
}
