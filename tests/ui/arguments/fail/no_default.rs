use tool_runtime::{tool, tool_type};

#[tool_type]
struct Place {
    city: String,
}

/// Looks up the weather.
#[tool]
fn weather(
    /// Where.
    #[arg(default)]
    place: Place,
) -> String {
    place.city
}

fn main() {}
