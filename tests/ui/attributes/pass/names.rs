// Every name that a function can have gives types, and a name for the model.
use tool_runtime::tool;

/// One letter.
#[tool]
fn a() {}

/// No letter.
#[tool]
fn _1() {}

/// A keyword.
#[tool]
fn r#match() {}

/// Clashes with its result, but for the suffix.
#[tool]
fn weather() -> Weather {
    "sunny".to_owned()
}

type Weather = String;

/// Is short for the model.
#[tool(name = "is-short", type = Gruss)]
fn grüße() {}

fn main() {
    let names = [ATool::schema(), _1Tool::schema(), MatchTool::schema(), WeatherTool::schema()].map(|schema| schema.name());
    assert_eq!(names, ["a", "_1", "match", "weather"]);
    assert_eq!(Gruss::schema().name(), "is-short");
}
