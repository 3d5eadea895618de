use std::collections::BTreeMap;
use tool_runtime::{CallContext, Card, tool, tool_type};

#[tool_type]
struct Query {
    /// What to look for.
    text: String,
    #[arg(default = 10, range = 1..=100)]
    limit: u32,
    #[serde(flatten)]
    more: BTreeMap<String, bool>,
}

fn present(query: &Query) -> Card {
    Card::new(&query.text)
}

fn is_safe(query: &Query) -> bool {
    query.limit < 10
}

/// Looks something up.
#[tool(host(present_call = present, concurrency_safe = is_safe))]
async fn look_up(#[args] query: Query, #[host] cx: &CallContext) -> Vec<String> {
    let _ = (cx, query.more);
    vec![query.text; query.limit as usize]
}

/// Lends it.
#[tool]
fn lend(
    #[host] cx: CallContext,
    #[args] query: &Query,
) -> usize {
    cx.tool().len() + query.text.len()
}

/// Takes whatever comes.
#[tool]
fn anything(#[args] values: BTreeMap<String, u32>) -> u32 {
    values.values().sum()
}

/// Takes it apart.
#[tool]
fn apart(#[args] Query { text, limit, .. }: Query) -> String {
    format!("{text}{limit}")
}

fn main() {
    let parameters = LookUpTool::schema().parameters();
    assert!(parameters.contains(r#""maximum":100"#), "{parameters}");
    let _ = (LendTool::host(), AnythingTool::host(), ApartTool::host());
    let same: <LookUpTool as tool_runtime::Tool>::Args = Query { text: String::new(), limit: 1, more: BTreeMap::new() };
    assert_eq!(same.limit, 1);
}
