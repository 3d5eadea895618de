//! Sixty schemas of our own: types as authors write them, and what servers send.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tool_runtime::wire::export::{Export, Fit, Provider, Strict, check};
use tool_runtime::{HostTool, JsonPath, Registry, ToolCall, ToolSchema, tool, tool_type};

use crate::properties::{there_and_back, twice_is_once};
use crate::support::{dynamic, export, forms, is_refused, parse};

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

fn typed() -> Vec<HostTool> {
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
        ("required_alone", r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"]}"#),
        (
            "closed_in_all_of",
            r#"{"type":"object","properties":{"q":{"allOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"integer"}},"required":["b"]}],"description":"Both."}}}"#,
        ),
    ];
    own.into_iter().map(|(name, parameters)| dynamic(name, parameters)).collect()
}

fn all() -> Vec<HostTool> {
    typed().into_iter().chain(written()).collect()
}

#[test]
fn there_are_sixty() {
    assert_eq!(all().len(), 60);
}

#[test]
fn every_form_of_every_schema_is_a_schema_with_a_plain_root() {
    for tool in all() {
        for form in forms() {
            let export = export(form, &tool);
            let exported = &export.tools()[0];
            let Some(parameters) = exported.parameters() else {
                assert_eq!(form.1, Strict::Require, "{}: {:?}", tool.name(), exported.fit());
                continue;
            };
            let schema = parse(parameters);
            assert!(jsonschema::meta::is_valid(&schema), "{form:?} {parameters}");
            assert_eq!(schema["type"], "object", "{form:?} {parameters}");
            for keyword in
                ["oneOf", "anyOf", "allOf", "not", "enum", "const", "$ref", "$schema", "title", "definitions"]
            {
                assert!(schema.get(keyword).is_none(), "{form:?} {parameters}");
            }
            assert!(parameters.len() < 1_000_000, "{form:?} of `{}`", tool.name());
            parse(&export.to_json());
        }
    }
}

/// The pointers of what is lost lead into the schema that the host has.
#[test]
fn what_is_lost_is_there() {
    for tool in typed() {
        let schema = parse(tool.schema().parameters());
        for form in forms() {
            let export = export(form, &tool);
            if let Fit::Widened(losses) = export.tools()[0].fit() {
                for loss in losses {
                    assert!(JsonPath::from_pointer(&loss.pointer).is_some());
                    let through_reference = loss.pointer.contains("/anyOf/") || loss.pointer.contains("/oneOf/");
                    assert!(
                        schema.pointer(&loss.pointer).is_some() || through_reference || loss.keyword == "$ref",
                        "{form:?} {loss} in {schema}"
                    );
                }
            }
        }
    }
}

#[test]
fn normalised_twice_is_once() {
    for tool in all() {
        twice_is_once(&tool).unwrap_or_else(|error| panic!("`{}`: {error}", tool.name()));
    }
}

#[test]
fn arguments_go_there_and_back() {
    let given = [
        ("takes_text", r#"{"value":"x","$top":3}"#),
        ("takes_u64", r#"{"value":18446744073709551615}"#),
        ("takes_i64", r#"{"value":-9223372036854775808,"$top":null}"#),
        ("takes_option", r#"{"value":7}"#),
        ("takes_option", "{}"),
        ("takes_option_of_type", r#"{"value":{"city":"Paris","größe":3}}"#),
        ("takes_option_of_type", r#"{"value":null}"#),
        ("takes_option_of_enum", r#"{"value":"Kelvin"}"#),
        ("takes_lists", r#"{"value":[[1,null],[]]}"#),
        ("takes_set", r#"{"value":["a","b"]}"#),
        ("takes_map", r#"{"value":{"$top":1,"größe":2}}"#),
        ("takes_map_of_types", r#"{"value":{"$top":{"city":"Paris","größe":3}},"$top":1}"#),
        ("takes_numbered_map", r#"{"value":{"1":"a","20":"b"}}"#),
        ("takes_json", r#"{"value":{"$top":[1,null]}}"#),
        ("takes_mixed", r#"{"value":["a",0.5,true]}"#),
        ("takes_pairs", r#"{"value":[["a",1],["b",2]]}"#),
        ("takes_array", r#"{"value":[1,2,3]}"#),
        ("takes_unit", r#"{"value":"Celsius"}"#),
        ("takes_external", r#"{"value":"Nothing"}"#),
        ("takes_external", r#"{"value":{"Both":[1,"a"]}}"#),
        ("takes_external", r#"{"value":{"Named":{"a":1}}}"#),
        ("takes_internal", r#"{"value":{"kind":"Delete","id":3}}"#),
        ("takes_adjacent", r#"{"value":{"t":"Empty"}}"#),
        ("takes_adjacent", r#"{"value":{"t":"Named","c":{"a":1}}}"#),
        ("takes_untagged", r#"{"value":{"x":1,"y":2}}"#),
        ("takes_untagged", r#"{"value":"x"}"#),
        ("takes_places", r#"{"value":[{"city":"Paris","größe":3},{"city":"Rome","unit":"Kelvin"}]}"#),
        ("takes_tree", r#"{"value":{"name":"a","kids":[{"name":"b","kids":[{"name":"c","kids":[{"name":"d"}]}]}]}}"#),
        ("takes_ping", r#"{"value":{"pong":{"n":1,"ping":{"pong":{"n":2}}}}}"#),
        ("takes_paged", r#"{"value":{"city":"Paris","page":1,"größe":4}}"#),
        ("takes_nothing", "{}"),
        ("takes_limits", r#"{"text":"x"}"#),
        ("takes_limits", r#"{"text":"x","maybe":null,"count":5,"place":{"city":"Rome"}}"#),
        ("mutual", r#"{"a":{"b":{"a":null}}}"#),
        ("itself", r#"{"n":1,"next":{"next":{"n":3,"next":{"next":{"n":4}}}}}"#),
        ("keys", r#"{"$top":1,"größe":"x","sources":[{"a/b":1}]}"#),
        ("bomb", r#"{"p":{"a":{"b":{"a":{}}}}}"#),
        ("words_as_names", r#"{"type":"a","properties":{"$ref":"x"},"required":true}"#),
        ("null_is_a_value", r#"{"media":null,"must":null}"#),
        ("several_types", r#"{"a":5}"#),
        ("any_of_requires", r#"{"q":{"b":"x"}}"#),
        ("nested_unions", r#"{"q":[1,"all"]}"#),
        ("constants", r#"{"v":1,"n":null}"#),
        ("closed_in_all_of", r#"{"q":{"a":"x","b":2}}"#),
    ];
    let tools = all();
    for (name, arguments) in given {
        let tool = tools.iter().find(|tool| tool.name() == name).unwrap_or_else(|| panic!("no tool `{name}`"));
        let registry = Registry::builder().tool(tool.clone()).build().unwrap_or_else(|error| panic!("{error}"));
        let tried = there_and_back(tool, &registry, arguments).unwrap_or_else(|error| panic!("`{name}`: {error}"));
        assert!(tried >= 5, "`{name}` took {arguments} in {tried} forms");
    }
}

/// Each declared name reaches the tool that it was declared for.
#[test]
fn b31_what_is_declared_can_be_called() {
    let tools = all();
    for &provider in Provider::all() {
        let export = Export::new(provider, tools.iter().map(HostTool::schema));
        for exported in export.tools() {
            assert!(!is_refused(exported));
            let call = export.restore(ToolCall::new("call", exported.wire_name(), "{}"));
            assert_eq!(call.name(), exported.name());
            let json = export.declare([exported.name()]);
            assert!(
                json.contains(exported.wire_name()) && export.to_json().contains(exported.as_json().unwrap_or("?"))
            );
        }
        assert_eq!(export.to_json(), export.declare(tools.iter().map(HostTool::name)));
    }
}

#[test]
fn strict_forms_are_refused_for_what_is_open_and_for_nothing_else() {
    let open = [
        "takes_map",
        "takes_map_of_types",
        "takes_numbered_map",
        "takes_json",
        "root_map",
        "true_and_false",
        "data_like_schemas",
        "sizes",
        "untyped",
    ];
    let recursive = ["takes_tree", "takes_ping", "mutual", "itself"];
    for tool in all() {
        let refused = |provider| {
            let export = export((provider, Strict::Require), &tool);
            matches!(export.tools()[0].fit(), Fit::Refused(_))
        };
        let name = tool.name();
        if name == "bomb" {
            continue;
        }
        assert_eq!(refused(Provider::OpenAiChat), open.contains(&name), "{name}");
        assert_eq!(refused(Provider::Anthropic), open.contains(&name) || recursive.contains(&name), "{name}");
    }
}

#[test]
fn findings_read_well() {
    let tools = [TakesMapTool::schema(), TakesNothingTool::schema()];
    let findings: Vec<String> = check(tools).iter().map(ToString::to_string).collect();
    let text = findings.join("\n");
    assert!(text.contains("tool `takes_map` for OpenAI Chat Completions, strict: refused at `/properties/value/additionalProperties`: an object with members of any name has no strict form"), "{text}");
    assert!(!text.contains("takes_nothing"), "{text}");
    assert!(check(std::iter::empty::<ToolSchema>()).is_empty());
}
