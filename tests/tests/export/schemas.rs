//! Sixty schemas of our own: types as authors write them, and what servers send.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;
use tool_runtime::{DynamicTool, HostTool, tool, tool_type};

/// A tool that is known by its schema alone.
pub(crate) fn dynamic(name: &str, parameters: &str) -> HostTool {
    DynamicTool::builder(name, "Is tried out.")
        .parameters(parameters)
        .output("true")
        .run(|_, _| async { Ok("null".to_owned()) })
        .unwrap_or_else(|error| panic!("{error}"))
}

/// A unit.
#[tool_type]
enum Unit {
    /// Degrees of Celsius.
    Celsius,
    /// Degrees of Fahrenheit.
    Fahrenheit,
    Kelvin,
}

#[tool_type]
#[serde(rename_all = "lowercase")]
enum Plain {
    Low,
    High,
}

/// Told by a name.
#[tool_type]
enum External {
    Nothing,
    Number(i64),
    Both(i64, String),
    Named { a: u8 },
}

/// Told by a tag.
#[tool_type]
#[serde(tag = "kind")]
enum Internal {
    Add { a: i64 },
    Delete { id: u32 },
}

/// Told by a tag, beside its content.
#[tool_type]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Empty,
    Text(String),
    Named { a: u8 },
}

/// Told by itself.
#[tool_type]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Text(String),
    Point { x: f64, y: f64 },
}

/// A place.
#[tool_type]
struct Place {
    /// Its city.
    city: String,
    /// What temperatures are in.
    #[arg(default = Unit::Celsius)]
    unit: Unit,
    #[serde(rename = "größe")]
    size: Option<u8>,
}

/// A tree.
#[tool_type]
struct Tree {
    name: String,
    #[arg(default)]
    kids: Vec<Tree>,
}

/// Holds what holds it.
#[tool_type]
struct Ping {
    pong: Option<Box<Pong>>,
}

/// Held by what it holds.
#[tool_type]
struct Pong {
    ping: Option<Box<Ping>>,
    n: u16,
}

/// A page, with what is asked for.
#[tool_type]
struct Paged {
    #[serde(flatten)]
    place: Place,
    page: u32,
}

/// A text by another name.
#[tool_type]
struct Wrapped(String);

/// Has nothing in it.
#[tool_type]
struct Empty {}

/// One of several forms, beside what all have.
#[tool_type]
struct Flattened {
    #[serde(flatten)]
    what: Internal,
    page: u32,
}

/// Takes what isn't known yet.
#[tool_type]
struct Extended {
    name: String,
    #[serde(flatten)]
    more: BTreeMap<String, i64>,
}

macro_rules! tools {
    ($($name:ident: $type:ty),* $(,)?) => {
        $(
            /// Takes one value.
            #[tool]
            fn $name(
                /// The value.
                value: $type,
                /// Another, that may be left out.
                #[arg(rename = "$top")]
                top: Option<u32>,
            ) {
                let _ = (value, top);
            }
        )*
    };
}

tools! {
    takes_text: String,
    takes_flag: bool,
    takes_u8: u8,
    takes_i64: i64,
    takes_u64: u64,
    takes_f32: f32,
    takes_f64: f64,
    takes_char: char,
    takes_option: Option<u32>,
    takes_option_of_type: Option<Place>,
    takes_option_of_enum: Option<Unit>,
    takes_list: Vec<String>,
    takes_lists: Vec<Vec<Option<i64>>>,
    takes_set: BTreeSet<String>,
    takes_map: BTreeMap<String, i64>,
    takes_map_of_types: BTreeMap<String, Place>,
    takes_numbered_map: BTreeMap<u32, String>,
    takes_json: Value,
    takes_pair: (i32, i32),
    takes_mixed: (String, f64, bool),
    takes_pairs: Vec<(String, u8)>,
    takes_array: [u8; 3],
    takes_unit: Unit,
    takes_plain: Plain,
    takes_external: External,
    takes_internal: Internal,
    takes_adjacent: Adjacent,
    takes_untagged: Untagged,
    takes_place: Place,
    takes_places: Vec<Place>,
    takes_tree: Tree,
    takes_ping: Ping,
    takes_paged: Paged,
    takes_i8: i8,
    takes_usize: usize,
    takes_i128: i128,
    takes_bytes: Vec<u8>,
    takes_duration: Duration,
    takes_result: Result<u8, String>,
    takes_json_map: BTreeMap<String, Value>,
    takes_jsons: Vec<Value>,
    takes_option_of_json: Option<Value>,
    takes_wrapped: Wrapped,
    takes_empty: Empty,
    takes_flattened: Flattened,
    takes_extended: Extended,
}

/// Takes nothing.
#[tool]
fn takes_nothing() {}

/// Has limits, and defaults within defaults.
#[tool]
fn takes_limits(
    /// Some text.
    #[arg(length = 1..=80)]
    text: String,
    /// A count.
    #[arg(range = 1..=100, default = 10)]
    count: u32,
    /// A place.
    #[arg(default = Place { city: "Paris".to_owned(), unit: Unit::Kelvin, size: None })]
    place: Place,
    /// Maybe.
    #[arg(default = Some(3))]
    maybe: Option<u8>,
) {
    drop((text, count, place, maybe));
}

/// Of types.
pub(crate) fn typed() -> Vec<HostTool> {
    vec![
        TakesTextTool::host(),
        TakesFlagTool::host(),
        TakesU8Tool::host(),
        TakesI64Tool::host(),
        TakesU64Tool::host(),
        TakesF32Tool::host(),
        TakesF64Tool::host(),
        TakesCharTool::host(),
        TakesOptionTool::host(),
        TakesOptionOfTypeTool::host(),
        TakesOptionOfEnumTool::host(),
        TakesListTool::host(),
        TakesListsTool::host(),
        TakesSetTool::host(),
        TakesMapTool::host(),
        TakesMapOfTypesTool::host(),
        TakesNumberedMapTool::host(),
        TakesJsonTool::host(),
        TakesPairTool::host(),
        TakesMixedTool::host(),
        TakesPairsTool::host(),
        TakesArrayTool::host(),
        TakesUnitTool::host(),
        TakesPlainTool::host(),
        TakesExternalTool::host(),
        TakesInternalTool::host(),
        TakesAdjacentTool::host(),
        TakesUntaggedTool::host(),
        TakesPlaceTool::host(),
        TakesPlacesTool::host(),
        TakesTreeTool::host(),
        TakesPingTool::host(),
        TakesPagedTool::host(),
        TakesI8Tool::host(),
        TakesUsizeTool::host(),
        TakesI128Tool::host(),
        TakesBytesTool::host(),
        TakesDurationTool::host(),
        TakesResultTool::host(),
        TakesJsonMapTool::host(),
        TakesJsonsTool::host(),
        TakesOptionOfJsonTool::host(),
        TakesWrappedTool::host(),
        TakesEmptyTool::host(),
        TakesFlattenedTool::host(),
        TakesExtendedTool::host(),
        TakesNothingTool::host(),
        TakesLimitsTool::host(),
    ]
}

/// What servers send: name, schema, and whether its root has to be merged, which no registry takes.
fn written() -> Vec<HostTool> {
    let long = "k".repeat(65);
    let bomb: Vec<String> = (1..30)
        .map(|level| {
            let below = level - 1;
            format!(
                r##""D{level}":{{"type":"object","properties":{{"a":{{"$ref":"#/$defs/D{below}"}},"b":{{"$ref":"#/$defs/D{below}","description":"d"}}}}}}"##
            )
        })
        .collect();
    let bomb = format!(
        r##"{{"type":"object","properties":{{"p":{{"$ref":"#/$defs/D29"}}}},"$defs":{{"D0":{{"type":"string"}},{}}}}}"##,
        bomb.join(",")
    );
    let keys = format!(
        r#"{{"type":"object","properties":{{"$top":{{"type":"integer"}},"größe":{{"type":"string"}},"{long}":{{"type":"boolean"}},"sources":{{"type":"array","items":{{"type":"object","properties":{{"a/b":{{"type":"integer"}}}}}}}}}},"required":["$top"]}}"#
    );
    let own = [
        (
            "root_one_of",
            r#"{"type":"object","oneOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"integer"}},"required":["b"]}]}"#,
        ),
        (
            "root_any_of",
            r#"{"type":"object","properties":{"id":{"type":"string"},"url":{"type":"string"}},"anyOf":[{"required":["id"]},{"required":["url"]}]}"#,
        ),
        (
            "root_all_of",
            r##"{"type":"object","allOf":[{"$ref":"#/$defs/A"},{"properties":{"b":{"type":"integer"}}}],"$defs":{"A":{"properties":{"a":{"type":"string"}},"required":["a"]}}}"##,
        ),
        (
            "root_reference",
            r##"{"$ref":"#/definitions/A","definitions":{"A":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}"##,
        ),
        ("root_open", r#"{"type":"object"}"#),
        ("root_map", r#"{"type":"object","additionalProperties":{"type":"integer"}}"#),
        (
            "mutual",
            r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object","properties":{"b":{"$ref":"#/$defs/B"}}},"B":{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}}}}}"##,
        ),
        ("itself", r##"{"type":"object","properties":{"n":{"type":"integer"},"next":{"$ref":"#"}}}"##),
        ("keys", keys.as_str()),
        ("bomb", bomb.as_str()),
        (
            "words_as_names",
            r##"{"type":"object","properties":{"type":{"type":"string"},"properties":{"type":"object","properties":{"$ref":{"type":"string"}}},"enum":{"type":"array","items":{"type":"string"}},"required":{"type":"boolean"}},"required":["type"]}"##,
        ),
        (
            "data_like_schemas",
            r##"{"type":"object","properties":{"a":{"type":"object","properties":{"oneOf":{"type":"array","items":{"type":"integer"}}},"default":{"oneOf":[1]},"examples":[{"oneOf":[]}]},"b":{"enum":[{"$ref":"#/nowhere"},{"allOf":[]}]}}}"##,
        ),
        (
            "null_is_a_value",
            r#"{"type":"object","properties":{"media":{"enum":["screen","print",null]},"must":{"type":["string","null"]}},"required":["must"]}"#,
        ),
        (
            "older_draft",
            r##"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"$ref":"#/definitions/A%20b"}},"definitions":{"A b":{"type":"string","minLength":2}}}"##,
        ),
        (
            "several_types",
            r#"{"type":"object","properties":{"a":{"type":["string","integer","boolean"],"minLength":1,"minimum":3}}}"#,
        ),
        (
            "untyped",
            r#"{"type":"object","properties":{"a":{"properties":{"b":{"type":"string"}}},"c":{"minLength":3}}}"#,
        ),
        (
            "any_of_requires",
            r#"{"type":"object","properties":{"q":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}}}"#,
        ),
        ("same_forms", r#"{"type":"object","properties":{"q":{"oneOf":[{"type":"integer"},{"type":"number"}]}}}"#),
        (
            "nested_unions",
            r#"{"type":"object","properties":{"q":{"anyOf":[{"anyOf":[{"type":"string"},{"type":"null"}]},{"type":"array","items":{"anyOf":[{"type":"integer"},{"type":"string","enum":["all"]}]}}]}}}"#,
        ),
        ("true_and_false", r#"{"type":"object","properties":{"a":true,"b":false,"c":{"type":"array","items":true}}}"#),
        (
            "sizes",
            r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","maxLength":3},"minItems":2,"maxItems":4},"b":{"type":"object","minProperties":1,"maxProperties":2,"additionalProperties":{"type":"string"}}}}"#,
        ),
        (
            "steps",
            r#"{"type":"object","properties":{"a":{"type":"integer","multipleOf":5,"exclusiveMaximum":100},"b":{"type":"number","exclusiveMinimum":0}}}"#,
        ),
        (
            "constants",
            r#"{"type":"object","properties":{"v":{"const":1},"w":{"const":"x"},"n":{"const":null}},"required":["v"]}"#,
        ),
        (
            "formats",
            r#"{"type":"object","properties":{"u":{"type":"integer","format":"uint"},"i":{"type":"integer","format":"int128"},"f":{"type":"number","format":"float"},"t":{"type":"string","format":"partial-time"},"ip":{"type":"string","format":"ip"},"e":{"type":"string","format":"email"}}}"#,
        ),
        (
            "forms_that_overlap",
            r#"{"type":"object","properties":{"r":{"oneOf":[{"type":"object","properties":{"Ok":{"type":"integer"}},"required":["Ok"]},{"type":"object","properties":{"Err":{"type":"string"}},"required":["Err"]}]}}}"#,
        ),
        (
            "nothing_within",
            r#"{"type":"object","properties":{"e":{"type":"object","properties":{},"additionalProperties":false}}}"#,
        ),
        (
            "null_alone",
            r#"{"type":"object","properties":{"n":{"type":"null"},"l":{"type":"array","items":{"type":"object","properties":{}}}}}"#,
        ),
        (
            "keys_in_data",
            r##"{"type":"object","properties":{"page":{"type":"object","properties":{"$top":{"type":"integer"},"größe":{"type":"object","properties":{"$top":{"type":"string"}}}},"default":{"$top":3,"größe":{"$top":"a"}},"examples":[{"$top":7}]},"one":{"type":"object","properties":{"$top":{"type":"integer"}},"enum":[{"$top":1},{"$top":2}]},"if":{"if":{"type":"object","required":["$top"]},"then":{"type":"object","properties":{"$top":{"const":1}}}},"by":{"$ref":"#/properties/page/properties/größe"}},"dependentRequired":{"page":["one"]}}"##,
        ),
        ("required_alone", r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"]}"#),
        (
            "closed_in_all_of",
            r#"{"type":"object","properties":{"q":{"allOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"integer"}},"required":["b"]}],"description":"Both."}}}"#,
        ),
    ];
    let named = [
        "calendar.events.list".to_owned(),
        "9-lives".to_owned(),
        format!("{}_", "create_".repeat(10)),
        "n".repeat(128),
    ];
    let named = named.iter().map(|name| dynamic(name, r#"{"type":"object","properties":{"a":{"type":"string"}}}"#));
    own.into_iter().map(|(name, parameters)| dynamic(name, parameters)).chain(named).collect()
}

/// All of them.
pub(crate) fn all() -> Vec<HostTool> {
    typed().into_iter().chain(written()).collect()
}
