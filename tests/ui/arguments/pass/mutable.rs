#![deny(unused_mut)]

use tool_runtime::tool;

/// Sorts.
#[tool]
async fn sort(
    /// What.
    mut xs: Vec<i64>,
) -> Vec<i64> {
    xs.sort_unstable();
    xs
}

/// Reverses.
#[tool]
fn reverse(
    /// What.
    mut xs: String,
    /// How often.
    mut times: u8,
) -> String {
    while times > 0 {
        xs = xs.chars().rev().collect();
        times -= 1;
    }
    xs
}

fn main() {
    let _ = SortTool::host();
    let ReverseArgs { xs, times } = ReverseArgs { xs: "ab".to_owned(), times: 1 };
    assert_eq!(reverse(xs, times), "ba");
}
