#![no_implicit_prelude]

// What `schemars` derives for fields with names needs `Into` in scope.
#[::tool_runtime::tool_type]
struct Place(::std::string::String);

/// Looks up the weather.
#[::tool_runtime::tool(host(timeout = "5s", concurrency_safe))]
async fn weather(
    /// Where.
    place: Place,
    /// In what.
    #[arg(default = "C", example = "F")]
    unit: ::std::string::String,
    /// How.
    #[arg(default)]
    how: &str,
    #[host] cx: &::tool_runtime::CallContext,
) -> ::std::result::Result<::std::string::String, ::std::fmt::Error> {
    let _ = (unit, how, cx);
    ::std::result::Result::Ok(place.0)
}

struct Files;

#[::tool_runtime::toolset]
impl Files {
    /// Reads.
    #[tool]
    fn read(&self) {}
}

fn main() {
    let _ = (WeatherTool::host(), ::std::sync::Arc::new(Files).tools());
}
