use tool_runtime::tool;

/**
 * Books a flight.
 *
 * [required] The passport is valid.
 * [notise] Fees are not paid back.
 */
#[tool]
fn book() {}

fn main() {}
