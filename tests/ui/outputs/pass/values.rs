use std::collections::BTreeMap;
use tool_runtime::{Content, HostTool, tool, tool_type};

#[tool_type]
struct Page<T> {
    items: Vec<T>,
    next: Option<u32>,
}

macro_rules! returns {
    ($($name:ident, $tool:ident: $ty:ty = $value:expr;)*) => {
        $(
            /// Returns something.
            #[tool(type = $tool)]
            fn $name() -> $ty {
                $value
            }
        )*
        const TOOLS: &[fn() -> HostTool] = &[$($tool::host),*];
    };
}

returns! {
    nothing, Nothing: () = ();
    literal, Literal: &'static str = "";
    maybe, Maybe: Option<String> = None;
    list, List: Vec<(u8, f64)> = vec![(1, 1.5)];
    array, Array: [bool; 3] = [true; 3];
    map, Map: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    tuple, Tuple: (String, u8) = (String::new(), 1);
    json, Json: serde_json::Value = serde_json::Value::Null;
    page, Paged: Page<String> = Page { items: Vec::new(), next: None };
    nested, Nested: Result<Option<Page<u8>>, String> = Ok(None);
}

/// Returns nothing, without saying so.
#[tool]
fn silent() {}

/// Ends in nothing.
#[tool]
async fn nothing_in_the_end() -> Result<(), String> {
    Ok(())
}

fn project<T>(_: &T) -> Content {
    Content::text("shown")
}

/// Is shown by a generic function.
#[tool(host(project = project::<u8>))]
fn shown() -> u8 {
    1
}

fn main() {
    for tool in TOOLS {
        assert!(!tool().output_schema().is_empty());
    }
    let _ = (SilentTool::host(), NothingInTheEndTool::host(), ShownTool::host());
    assert!(page().items.is_empty() && page().next.is_none());
}
