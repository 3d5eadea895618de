// Nothing that is generated is the author's fault.
#![deny(warnings)]
#![deny(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    unused,
    unused_qualifications,
    unused_results,
    unused_lifetimes,
    unused_import_braces,
    single_use_lifetimes,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    let_underscore_drop,
    redundant_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    variant_size_differences,
    unit_bindings,
    meta_variable_misuse,
    keyword_idents,
    non_ascii_idents,
    future_incompatible,
    nonstandard_style,
    rust_2018_idioms,
    rust_2021_compatibility,
    rust_2024_compatibility
)]
#![forbid(unsafe_code)]

//! A crate with strict lints.

use std::sync::Arc;
use tool_runtime::{CallContext, HostTool, tool, tool_type, toolset};

/// A place.
#[tool_type]
#[derive(Debug)]
pub struct Place {
    /// City name.
    pub city: String,
    /// Country code.
    #[arg(default = "de")]
    pub country: String,
}

/// Looks up the weather.
#[tool(host(timeout = "5s", concurrency_safe, read_only))]
pub async fn weather(
    /// Where.
    mut place: Place,
    /// Not looked at.
    #[arg(default)]
    _dry_run: bool,
    /// Names.
    names: &[String],
    #[host] cx: &CallContext,
) -> Result<Place, std::io::Error> {
    place.city.push_str(&names.concat());
    place.country.push_str(cx.tool());
    Ok(place)
}

/// Pings.
#[tool(host(inline))]
pub(crate) fn ping<'a>(
    /// Whom.
    name: &'a str,
) -> &'a str {
    name
}

/// Is old.
#[deprecated(note = "use `ping`")]
#[tool]
fn old() {}

/// Files.
#[derive(Debug)]
pub struct Files;

#[toolset]
impl Files {
    /// Reads.
    #[tool]
    pub async fn read(
        self: Arc<Self>,
        /// Where it is.
        #[arg(path)]
        path: String,
    ) -> String {
        path
    }

    /// Writes.
    #[tool]
    fn write(&self) {}
}

/// All tools.
pub fn tools() -> Vec<HostTool> {
    let mut tools = Arc::new(Files).tools();
    tools.extend([WeatherTool::host(), PingTool::host()]);
    tools.push(OldTool::host());
    tools
}

fn main() {
    assert_eq!(tools().len(), 5);
    assert_eq!(ping("pong"), "pong");
}
