use std::collections::BTreeMap;
use tool_runtime::{HostTool, tool, tool_type};

#[tool_type]
#[derive(Debug, Clone, PartialEq)]
struct Page<T, const N: usize = 3>
where
    T: Clone,
{
    items: Vec<T>,
    #[arg(default = 1)]
    number: u32,
}

#[tool_type]
enum Either<L, R> {
    Left {
        value: L,
        #[arg(default = "l")]
        name: String,
    },
    Right(R),
}

#[tool_type]
struct Keyed<K: Ord, V> {
    map: BTreeMap<K, V>,
}

/// Turns pages.
#[tool]
fn turn(
    /// Which.
    page: Page<String>,
    /// Another.
    other: Option<Page<u8, 4>>,
    /// One or the other.
    either: Either<u8, Page<bool>>,
    /// A map.
    keyed: Keyed<String, u8>,
) -> Page<Page<u8>> {
    let _ = (page, other, keyed.map);
    let name = match either {
        Either::Left { value, name } => (value, name),
        Either::Right(page) => (page.number as u8, String::new()),
    };
    let _ = name;
    Page { items: Vec::new(), number: 1 }
}

fn main() {
    let tool: HostTool = TurnTool::host();
    // No name of a Rust type leaks.
    assert!(!tool.schema().as_json().contains("title"), "{:?}", tool.schema());
}
