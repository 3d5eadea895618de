//! Tools of an author who denies every lint there is (field reports B01, B06 and B08).
//!
//! That this crate is built, and that clippy says nothing of it, is the test.
#![forbid(unsafe_code)]
#![deny(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    dead_code,
    unused,
    unused_mut,
    unused_qualifications,
    unused_variables,
    rust_2018_idioms,
    unused_crate_dependencies,
    unused_lifetimes,
    single_use_lifetimes,
    non_snake_case,
    nonstandard_style,
    clippy::all,
    clippy::pedantic,
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    clippy::unused_async,
    clippy::used_underscore_binding
)]

use std::sync::Arc;

use tool_runtime::{HostTool, tool, tool_type, toolset};

/// Adds.
#[tool]
#[must_use]
pub fn add(
    /// The first.
    a: i64,
    /// The second.
    b: i64,
) -> i64 {
    a + b
}

/// A module that others reach.
pub mod reached {
    use tool_runtime::tool;

    /// Subtracts.
    #[tool(host(inline, read_only, idempotent, deterministic))]
    #[must_use]
    pub fn subtract(
        /// From this.
        a: i64,
        /// This.
        b: i64,
    ) -> i64 {
        a - b
    }
}

mod hidden {
    use tool_runtime::tool;

    /// Called as a function, registered by nobody.
    #[tool]
    pub(crate) fn double(
        /// What is doubled.
        n: i64,
    ) -> i64 {
        n * 2
    }
}

/// Uses the function of a tool that is never registered.
#[must_use]
pub fn doubled(n: i64) -> i64 {
    hidden::double(n)
}

/// Where something is.
#[tool_type]
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The city.
    pub city: String,
    /// The district.
    #[arg(default = "centre")]
    pub district: String,
}

/// A probe that ignores one of its arguments (B06).
#[tool]
#[must_use]
pub fn probe(
    /// Only pretend.
    _dry_run: bool,
    /// Its name.
    name: String,
) -> String {
    name
}

/// As many arguments as clippy lets a function have (B06).
#[tool]
#[must_use]
pub fn many(
    /// One.
    one: u8,
    /// Two.
    two: u8,
    /// Three.
    three: u8,
    /// Four.
    four: u8,
    /// Five.
    five: u8,
    /// Six.
    six: u8,
    /// Seven.
    seven: u8,
) -> u32 {
    [one, two, three, four, five, six, seven].into_iter().map(u32::from).sum()
}

/// Awaits something, so that clippy lets it be async (B06).
#[tool]
pub async fn wait(
    /// Where.
    place: Place,
) -> Place {
    std::future::ready(()).await;
    place
}

/// Sorts (B08).
#[tool]
pub async fn sort(
    /// The numbers.
    mut xs: Vec<i64>,
) -> Vec<i64> {
    std::future::ready(()).await;
    xs.sort_unstable();
    xs
}

/// Sorts, in the blocking pool (B08).
#[tool]
#[must_use]
pub fn sort_now(
    /// The numbers.
    mut xs: Vec<i64>,
) -> Vec<i64> {
    xs.sort_unstable();
    xs
}

/// A set of tools.
#[derive(Debug)]
pub struct Shelf {
    /// Before every title.
    pub shelfmark: String,
}

#[toolset]
impl Shelf {
    /// Gives a book.
    #[tool(host(read_only))]
    #[must_use]
    pub fn book(
        &self,
        /// Its title.
        title: String,
    ) -> String {
        title + &self.shelfmark
    }
}

/// All that can be registered.
#[must_use]
pub fn all() -> Vec<HostTool> {
    let mut all = vec![
        AddTool::host(),
        reached::SubtractTool::host(),
        ProbeTool::host(),
        ManyTool::host(),
        WaitTool::host(),
        SortTool::host(),
        SortNowTool::host(),
    ];
    all.extend(Arc::new(Shelf { shelfmark: "PQ ".to_owned() }).tools());
    all
}
