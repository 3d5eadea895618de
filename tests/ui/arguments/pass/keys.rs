use std::collections::HashMap;
use tool_runtime::{tool, tool_type};

#[tool_type]
#[derive(Clone, PartialEq)]
enum Unit {
    Celsius,
    Fahrenheit,
}

fn five() -> u8 {
    5
}

/// Takes everything that can be said of an argument.
#[tool]
fn everything(
    /// Expressions are defaults.
    #[arg(default = five() + 1)]
    call: u8,
    /// So are values of own types.
    #[arg(default = Unit::Celsius, example = Unit::Fahrenheit)]
    unit: Unit,
    /// So is the type's.
    #[arg(default)]
    map: HashMap<String, Unit>,
    /// A literal makes whatever it can make.
    #[arg(default = "C", example = "F")]
    boxed: Box<str>,
    /// Nothing is a default, too.
    #[arg(default = None)]
    none: Option<u8>,
    /// Closures work as they do elsewhere.
    #[arg(default = [1, 2].iter().map(|n| n * 2).collect())]
    list: Vec<u8>,
    /// Bounds.
    #[arg(range = -1.5..2.5)]
    float: f64,
    /// Bounds.
    #[arg(range = ..10)]
    below: i64,
    /// Bounds.
    #[arg(length = 3)]
    exact: String,
    /// Bounds of a list.
    #[arg(length = ..5)]
    few: Vec<u8>,
    /// A text.
    #[arg(format = "email", pattern = "@", alias = "mail", alias = "address")]
    email: String,
    /// A secret.
    #[arg(secret)]
    token: String,
    /// A secret that may be absent.
    #[arg(secret, length = 4..)]
    pin: Option<String>,
    /// [required] A path.
    #[arg(path)]
    path: std::path::PathBuf,
    /// A text.
    #[arg(authored)]
    body: String,
) -> usize {
    let _ = (call, unit, map, none, list, float, below, exact, few, email, token, pin, path, body);
    boxed.len()
}

fn main() {
    let schema: serde_json::Value = serde_json::from_str(EverythingTool::schema().parameters()).unwrap();
    let properties = &schema["properties"];
    assert_eq!(properties["call"]["default"], 6);
    assert_eq!(properties["unit"]["default"], "Celsius");
    assert_eq!(properties["boxed"]["examples"][0], "F");
    assert_eq!(properties["list"]["default"], serde_json::json!([2, 4]));
    assert_eq!((&properties["float"]["minimum"], &properties["float"]["exclusiveMaximum"]), (&(-1.5).into(), &2.5.into()));
    assert_eq!((&properties["exact"]["minLength"], &properties["exact"]["maxLength"]), (&3.into(), &3.into()));
    assert_eq!(properties["few"]["maxItems"], 4);
    assert_eq!(properties["email"]["format"], "email");
}
