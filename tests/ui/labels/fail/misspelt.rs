use tool_runtime::tool;

/// Books a flight.
///
/// [requierd] The passport is valid.
#[tool]
fn book(
    /// Which flight.
    ///
    /// [comfirm] The date.
    flight: String,
) -> String {
    flight
}

fn main() {}
