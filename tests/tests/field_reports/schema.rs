//! Section B: the full schema, which is shown to those who take it whole and enforced for everybody.
//!
//! What single providers take of it is tested where their formats are written (see the table in `main.rs`).

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU8;
use std::ops::Range;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use tool_runtime::{CallContext, Code, HostTool, Registry, tool, tool_type};

use crate::support::{bench, objects, output, parameters, registry, shown_order};

/// A page of results.
#[tool_type]
struct Page {
    small: i8,
    wait: std::time::Duration,
    ids: Vec<u64>,
    ratio: f32,
}

/// Shows a page.
#[tool]
#[expect(clippy::too_many_arguments, reason = "one of each width")]
fn page(
    /// How many.
    limit: u32,
    /// From here to there.
    win: Range<usize>,
    /// A byte.
    b: u8,
    /// Which.
    id: Option<u64>,
    /// How much.
    f: f64,
    /// When.
    #[arg(format = "date-time")]
    at: String,
    /// At least one.
    #[arg(default = NonZeroU8::MIN)]
    some: NonZeroU8,
    /// Very many.
    #[arg(default)]
    huge: u128,
) -> Vec<Page> {
    let _ = (limit, win, b, id, f, at, some, huge);
    Vec::new()
}

#[tokio::test]
async fn b17_the_widths_of_integers_are_bounds_and_not_formats() {
    let tool = PageTool::host();
    for schema in [parameters(&tool), output(&tool)] {
        for (pointer, object) in objects(&schema) {
            let numeric = object.get("type").is_some_and(|of| {
                let of = of.to_string();
                of.contains("integer") || of.contains("number")
            });
            assert!(!(numeric && object.contains_key("format")), "{pointer}: {object:?}");
        }
    }
    let shown = parameters(&tool);
    let properties = &shown["properties"];
    assert_eq!(properties["b"], json!({"type": "integer", "description": "A byte.", "minimum": 0, "maximum": 255}));
    assert_eq!(
        properties["limit"],
        json!({"type": "integer", "description": "How many.", "minimum": 0, "maximum": u32::MAX})
    );
    assert_eq!(properties["id"]["minimum"], 0);
    assert_eq!(properties["id"]["type"], json!(["integer", "null"]));
    assert_eq!(properties["at"]["format"], "date-time");
    assert_eq!(properties["some"]["minimum"], 1);
    assert_eq!(properties["some"]["maximum"], 255);
    assert_eq!(properties["huge"]["minimum"], 0);
    let range = at_ref(&shown, &properties["win"]);
    assert_eq!(range["properties"]["start"]["type"], "integer");
    assert_eq!(range["properties"]["start"]["minimum"], 0);
    // They are enforced as well.
    assert_eq!(
        bench(tool)
            .refused(r#"{"limit":1,"win":{"start":0,"end":-1},"b":256,"f":1,"at":"2026-01-01T00:00:00Z"}"#)
            .await
            .len(),
        2
    );
}

/// The definition that a schema refers to.
fn at_ref<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let Some(reference) = schema["$ref"].as_str() else {
        return schema;
    };
    match reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer)) {
        Some(found) => found,
        None => panic!("`{reference}` leads nowhere in {root}"),
    }
}

/// What time is it?
#[tool]
fn now() -> String {
    "noon".to_owned()
}

/// What is this call?
#[tool]
fn this_call(#[host] cx: &CallContext) -> String {
    cx.call_id().to_string()
}

/// No arguments, as a type.
#[tool_type]
struct Nothing {}

/// Takes nothing, as a type.
#[tool]
fn nothing_whole(#[args] nothing: Nothing) -> u8 {
    let Nothing {} = nothing;
    1
}

#[tokio::test]
async fn b18_no_arguments_are_an_empty_object() {
    for arguments in ["", "null", "{}"] {
        assert_eq!(bench(NothingWholeTool::host()).ok(arguments).await, "1");
        assert_eq!(bench(ThisCallTool::host()).ok(arguments).await, "call_1");
    }
    let expected = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
    assert_eq!(NowTool::schema().parameters(), expected);
    assert_eq!(ThisCallTool::schema().parameters(), expected);
    let whole = parameters(&NothingWholeTool::host());
    assert_eq!(whole["type"], "object");
    assert_eq!(whole["properties"], json!({}));
    assert_eq!(whole["additionalProperties"], false);
    assert_eq!(whole.get("title"), None);
    assert_eq!(whole.get("required"), None);
}

/// A unit.
#[tool_type]
#[derive(Debug, Clone, Copy)]
enum Unit {
    C,
    F,
}

/// A place.
#[tool_type]
#[derive(Debug, Clone)]
struct Place {
    /// Its city.
    city: String,
    /// What it measures in.
    unit: Unit,
}

/// Tells the weather.
#[tool]
fn weather(
    /// Here.
    at: Place,
    /// Or there.
    alt: Option<Place>,
    /// Measured so.
    #[arg(default = Unit::F)]
    unit: Unit,
) -> String {
    format!("{} {:?} {:?} {unit:?}", at.city, at.unit, alt.map(|alt| alt.city))
}

/// Every reference leads somewhere in the same schema.
fn assert_self_contained(schema: &Value) {
    for (pointer, object) in objects(schema) {
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            let inside = reference.strip_prefix("#/$defs/").is_some_and(|name| !name.is_empty());
            assert!(inside, "{pointer}: `{reference}` is outside of $defs");
            at_ref(schema, &Value::Object(object.clone()));
        }
    }
}

#[tokio::test]
async fn b19_the_full_schema_keeps_references_and_what_stands_beside_them() {
    let shown = parameters(&WeatherTool::host());
    assert_self_contained(&shown);
    assert_eq!(shown["properties"]["at"]["description"], "Here.");
    assert_eq!(shown["properties"]["alt"]["description"], "Or there.");
    assert_eq!(shown["properties"]["unit"]["description"], "Measured so.");
    assert_eq!(shown["properties"]["unit"]["default"], "F");
    assert_eq!(shown["required"], json!(["at"]));
    for object in objects(&shown) {
        assert_eq!(object.1.get("title"), None, "a type's name shows at {}", object.0);
    }
    assert_eq!(
        bench(WeatherTool::host()).ok(r#"{"at":{"city":"Rome","unit":"C"},"alt":{"city":"Oslo","unit":"C"}}"#).await,
        "Rome C Some(\"Oslo\") F"
    );
}

/// A tree.
#[tool_type]
#[derive(Debug)]
struct Node {
    name: String,
    kids: Vec<Node>,
}

impl Node {
    fn count(&self) -> usize {
        1 + self.kids.iter().map(Node::count).sum::<usize>()
    }
}

#[tool_type]
#[derive(Debug)]
struct Even {
    odd: Option<Box<Odd>>,
}

#[tool_type]
#[derive(Debug)]
struct Odd {
    even: Box<Option<Even>>,
}

impl Even {
    fn depth(&self) -> usize {
        1 + self.odd.as_ref().map_or(0, |odd| odd.depth())
    }
}

impl Odd {
    fn depth(&self) -> usize {
        1 + self.even.as_ref().as_ref().map_or(0, Even::depth)
    }
}

/// Puts a tree.
#[tool]
fn put(
    /// Its root.
    root: Node,
) -> usize {
    root.count()
}

/// Puts a tree that is the whole object.
#[tool]
fn put_whole(#[args] root: Node) -> usize {
    root.count()
}

/// Goes to and fro.
#[tool]
fn alternate(
    /// Begins here.
    even: Even,
) -> usize {
    even.depth()
}

/// Gives a tree.
#[tool]
fn grow() -> Node {
    Node { name: "a".to_owned(), kids: vec![Node { name: "b".to_owned(), kids: Vec::new() }] }
}

/// Gives a tree that is nothing but a trunk.
#[tool]
fn trunk() -> Node {
    (0..2_000)
        .fold(Node { name: String::new(), kids: Vec::new() }, |kid, _| Node { name: String::new(), kids: vec![kid] })
}

/// Answers.
#[tool]
fn ping() -> &'static str {
    "pong"
}

#[tokio::test]
async fn b20_recursive_types_are_self_contained_and_sink_nobody() {
    let all =
        registry([PutTool::host(), PutWholeTool::host(), AlternateTool::host(), GrowTool::host(), PingTool::host()]);
    for tool in all.iter() {
        assert_self_contained(&parameters(tool));
        assert_self_contained(&output(tool));
    }
    assert!(all.schemas().any(|schema| schema.name() == "ping"));
    let shown = parameters(&PutTool::host());
    let node = at_ref(&shown, &shown["properties"]["root"]);
    assert_eq!(node["properties"]["kids"]["items"], json!({"$ref": "#/$defs/Node"}));
    let whole = parameters(&PutWholeTool::host());
    assert_eq!(whole["type"], "object");
    assert_eq!(whole.get("$ref"), None);

    let tree = r#"{"name":"a","kids":[{"name":"b","kids":[]},{"name":"c","kids":[{"name":"d","kids":[]}]}]}"#;
    let put = bench(PutTool::host());
    assert_eq!(put.ok(format!(r#"{{"root":{tree}}}"#)).await, "4");
    assert_eq!(bench(PutWholeTool::host()).ok(tree).await, "4");
    assert_eq!(bench(AlternateTool::host()).ok(r#"{"even":{"odd":{"even":{"odd":{"even":null}}}}}"#).await, "4");
    assert_eq!(bench(GrowTool::host()).ok("").await, r#"{"name":"a","kids":[{"name":"b","kids":[]}]}"#);
    assert_eq!(
        put.refused(r#"{"root":{"name":"a","kids":[{"name":"b","kids":[{"name":1,"kids":[],"x":2}]}]}}"#).await,
        [
            "`root.kids[0].kids[0].name`: expected string, got number 1",
            "`root.kids[0].kids[0].x`: unknown name; known: `name`, `kids`",
        ]
    );
    let trunk = bench(TrunkTool::host()).settle("").await;
    assert_eq!(trunk.record().code(), Code::InvalidOutput);
    // As deep as the stack would never bear, were it followed.
    let mut deep = r#"{"root":"#.to_owned();
    deep.push_str(&r#"{"name":"a","kids":["#.repeat(100_000));
    let problems = put.refused(deep).await;
    assert_eq!(problems.len(), 1);
    assert!(problems[0].starts_with("not valid JSON: "), "{problems:?}");
}

/// An operation.
#[tool_type]
#[serde(tag = "kind")]
#[derive(Debug)]
enum Op {
    Add { a: i64 },
    Del { id: u32 },
}

/// Does it, as the whole object.
#[tool]
fn op_whole(#[args] op: Op) -> String {
    format!("{op:?}")
}

#[tool_type]
#[derive(Debug)]
struct Noted {
    note: String,
    #[serde(flatten)]
    op: Op,
}

/// Does it, flattened.
#[tool]
fn op_flattened(#[args] noted: Noted) -> String {
    format!("{} {:?}", noted.note, noted.op)
}

/// Does it, flattened inside.
#[tool]
fn op_inside(
    /// What.
    noted: Noted,
) -> String {
    format!("{} {:?}", noted.note, noted.op)
}

/// Takes a list as the whole object.
#[tool]
fn list_whole(#[args] list: Vec<u8>) -> usize {
    list.len()
}

/// Does it.
#[tool]
fn op(
    /// What.
    op: Op,
) -> String {
    format!("{op:?}")
}

#[tokio::test]
async fn b21_roots_are_plain_objects() {
    for (tool, said) in [
        (OpWholeTool::host(), "the root has to be a plain object"),
        (OpFlattenedTool::host(), "the root has `oneOf`"),
        (ListWholeTool::host(), "the root has to be a plain object"),
    ] {
        let name = tool.name().to_owned();
        let Err(error) = Registry::builder().tool(tool).tool(PingTool::host()).build() else {
            panic!("{name} was taken")
        };
        assert_eq!(error.tools().collect::<Vec<_>>(), [name.as_str()]);
        let text = error.to_string();
        assert!(text.starts_with(&format!("tool `{name}`: ")) && text.contains(said), "{text}");
    }
    // Inside of an argument it is a plain matter.
    let inside = bench(OpInsideTool::host());
    assert_eq!(inside.ok(r#"{"noted":{"note":"n","kind":"Add","a":1}}"#).await, "n Add { a: 1 }");
    for (arguments, path) in [
        (r#"{"noted":{"note":"n","kind":"Add","a":"1"}}"#, "noted.a"),
        (r#"{"noted":{"note":"n","kind":"Add","a":1,"id":1}}"#, "noted.id"),
        (r#"{"noted":{"note":1,"kind":"Add","a":1}}"#, "noted.note"),
    ] {
        let problems = inside.refused(arguments).await;
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with(&format!("`{path}`: ")), "{arguments}: {problems:?}");
    }
    let shown = parameters(&OpTool::host());
    assert_eq!(shown["type"], "object");
    for keyword in ["oneOf", "anyOf", "allOf", "$ref"] {
        assert_eq!(shown.get(keyword), None);
    }
    let op = bench(OpTool::host());
    assert_eq!(op.ok(r#"{"op":{"kind":"Add","a":1}}"#).await, "Add { a: 1 }");
    assert_eq!(
        op.refused(r#"{"op":{"kind":"add","a":1}}"#).await,
        [r#"`op.kind`: expected one of "Add", "Del", got string "add"; did you mean "Add"?"#]
    );
    let [problem] = <[String; 1]>::try_from(op.refused(r#"{"op":{"kind":"Del","id":1,"a":1}}"#).await)
        .unwrap_or_else(|problems| panic!("one problem, not {problems:?}"));
    assert!(problem.starts_with("`op.a`: unknown name; known: "), "{problem}");
}

/// Has what may be left out.
#[tool]
fn optional(
    /// A number.
    n: Option<u32>,
    /// A place.
    p: Option<Place>,
) -> String {
    format!("{n:?} {}", p.is_some())
}

#[tokio::test]
async fn b22_null_and_absence_are_one_for_an_option() {
    let shown = parameters(&OptionalTool::host());
    assert_eq!(shown.get("required"), None);
    assert_eq!(shown["properties"]["n"]["type"], json!(["integer", "null"]));
    let optional = bench(OptionalTool::host());
    for arguments in ["{}", r#"{"n":null}"#, r#"{"p":null}"#, r#"{"n":null,"p":null}"#] {
        assert_eq!(optional.ok(arguments).await, "None false", "{arguments}");
    }
    assert_eq!(optional.ok(r#"{"p":{"city":"a","unit":"C"},"n":1}"#).await, "Some(1) true");
}

/// Sets a value.
#[tool]
fn set(
    /// Under this key.
    key: String,
    /// Whatever it is.
    value: Value,
) -> Value {
    json!({ key: value })
}

#[tokio::test]
async fn b23_a_free_value_has_an_object_for_a_schema() {
    let shown = parameters(&SetTool::host());
    assert_eq!(shown["properties"]["value"], json!({"description": "Whatever it is."}));
    assert_eq!(shown["required"], json!(["key", "value"]));
    let set = bench(SetTool::host());
    for value in [
        r#"{"a":[1,{"b":"c"}]}"#,
        "[1,2]",
        "7",
        "true",
        // It takes `null`, so `null` is a value.
        "null",
        // Text that looks like JSON stays text.
        r#""[1,2]""#,
    ] {
        assert_eq!(set.ok(format!(r#"{{"key":"k","value":{value}}}"#)).await, format!(r#"{{"k":{value}}}"#));
    }
}

/// Crops.
#[tool]
fn crop(
    /// Left, top, right and bottom.
    bbox: (i32, i32, i32, i32),
    /// A name and a weight.
    pt: (String, f64),
) -> String {
    format!("{bbox:?} {pt:?}")
}

#[tokio::test]
async fn b24_tuples_have_their_length_and_their_types() {
    let crop = bench(CropTool::host());
    assert_eq!(crop.ok(r#"{"bbox":[1,2,3,4],"pt":["a",0.5]}"#).await, r#"(1, 2, 3, 4) ("a", 0.5)"#);
    for (bbox, count) in [("[1,2,3]", 3), ("[]", 0), ("[1,2,3,4,5]", 5)] {
        assert_eq!(
            crop.refused(format!(r#"{{"bbox":{bbox},"pt":["a",0.5]}}"#)).await,
            [format!("`bbox`: expected array of 4 elements, got array of {count}")]
        );
    }
    assert_eq!(
        crop.refused(r#"{"bbox":[1,2,3,"4"],"pt":[1,0.5]}"#).await,
        [
            "`bbox[3]`: expected integer from -2147483648 to 2147483647, got string \"4\"",
            "`pt[0]`: expected string, got number 1",
        ]
    );
}

#[test]
fn b25_no_dialect_is_marked_and_no_old_spelling_used() {
    for tool in [
        PageTool::host(),
        NowTool::host(),
        WeatherTool::host(),
        PutTool::host(),
        GrowTool::host(),
        OpTool::host(),
        SetTool::host(),
        CropTool::host(),
        TagTool::host(),
    ] {
        for schema in [parameters(&tool), output(&tool)] {
            for (pointer, object) in objects(&schema) {
                // Names of properties are no keywords.
                if pointer.ends_with("/properties") || pointer.ends_with("/$defs") {
                    continue;
                }
                for keyword in ["$schema", "definitions", "additionalItems", "id"] {
                    assert!(!object.contains_key(keyword), "{}: `{keyword}` at `{pointer}`", tool.name());
                }
                assert!(!object.get("items").is_some_and(Value::is_array), "{}: `{pointer}`", tool.name());
            }
        }
    }
}

/// Lists.
#[tool]
fn list(
    /// How many.
    #[arg(rename = "$top")]
    top: u32,
    /// How large.
    größe: u8,
    /// Which.
    #[arg(rename = "filter[id]")]
    filter: Option<u8>,
) -> String {
    format!("{top} {größe} {filter:?}")
}

#[tokio::test]
async fn b26_the_full_schema_has_names_as_their_author_wrote_them() {
    let shown = parameters(&ListTool::host());
    assert_eq!(shown["required"], json!(["$top", "größe"]));
    assert!(shown["properties"]["filter[id]"].is_object());
    let list = bench(ListTool::host());
    assert_eq!(list.ok(r#"{"$top":1,"größe":2,"filter[id]":3}"#).await, "1 2 Some(3)");
    assert_eq!(
        list.refused(r#"{"top":1,"größe":"x"}"#).await,
        [
            "`$top`: missing, expected integer from 0 to 4294967295",
            "`[\"größe\"]`: expected integer from 0 to 255, got string \"x\"",
            "`top`: unknown name; did you mean `$top`?",
        ]
    );
}

/// Closed.
#[tool_type]
#[serde(deny_unknown_fields)]
#[derive(Debug)]
struct Closed {
    a: u8,
}

/// Tags.
#[tool]
fn tag(
    /// Weights by tag.
    m: HashMap<String, i64>,
    /// Closed ones.
    deep: Vec<Closed>,
) -> String {
    let m: BTreeMap<_, _> = m.into_iter().collect();
    format!("{m:?} {deep:?}")
}

/// Names by number.
#[tool]
fn numbered(
    /// Them.
    names: BTreeMap<u8, String>,
) -> String {
    format!("{names:?}")
}

#[tokio::test]
async fn b27_the_keys_of_a_map_are_checked_too() {
    let numbered = bench(NumberedTool::host());
    assert_eq!(numbered.ok(r#"{"names":{"10":"b","2":"a"}}"#).await, r#"{2: "a", 10: "b"}"#);
    for key in ["x", "256", "-1", "1.0", "", " 1"] {
        let problems = numbered.refused(format!(r#"{{"names":{{"{key}":"a"}}}}"#)).await;
        assert_eq!(problems.len(), 1, "{key}: {problems:?}");
        assert!(problems[0].starts_with("`names"), "{key}: {problems:?}");
    }
}

#[tokio::test]
async fn b27_maps_are_open_and_structs_are_closed_at_every_depth() {
    let shown = parameters(&TagTool::host());
    let m = &shown["properties"]["m"];
    assert_eq!(m["type"], "object");
    assert_eq!(m["additionalProperties"]["type"], "integer");
    let closed = at_ref(&shown, &shown["properties"]["deep"]["items"]);
    assert_eq!(closed["additionalProperties"], false);
    let tag = bench(TagTool::host());
    assert_eq!(tag.ok(r#"{"m":{"b":2,"a":1},"deep":[{"a":1}]}"#).await, r#"{"a": 1, "b": 2} [Closed { a: 1 }]"#);
    assert_eq!(
        tag.refused(r#"{"m":{"b":"2"},"deep":[{"a":1},{"a":1,"b":2}]}"#).await,
        [
            "`m.b`: expected integer from -9223372036854775808 to 9223372036854775807, got string \"2\"",
            "`deep[1].b`: unknown name; known: `a`",
        ]
    );
}

fn ten() -> u32 {
    10
}

/// A default that can't be shown: it doesn't serialise.
#[derive(Debug, serde::Deserialize)]
struct Unshown(u8);

impl Serialize for Unshown {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("not today"))
    }
}

impl schemars::JsonSchema for Unshown {
    fn schema_name() -> Cow<'static, str> {
        "Unshown".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        u8::json_schema(generator)
    }
}

/// All of it may be left out, for the type has a default.
#[tool_type]
#[serde(default)]
#[derive(Debug)]
struct Whole {
    depth: u8,
    word: String,
}

impl Default for Whole {
    fn default() -> Self {
        Whole { depth: 3, word: "w".to_owned() }
    }
}

#[tool_type]
#[derive(Debug)]
struct Limits {
    #[serde(default = "ten")]
    old: u32,
    #[arg(default = 11)]
    new: u32,
}

/// Lists, with defaults.
#[tool]
fn limited(
    /// How many.
    #[arg(default = ten())]
    limit: u32,
    /// More.
    limits: Limits,
    /// A whole type.
    #[arg(default)]
    whole: Whole,
) -> String {
    format!("{limit} {} {} {} {}", limits.old, limits.new, whole.depth, whole.word)
}

/// Has defaults that can't be written.
#[tool]
fn unsayable(
    /// How far.
    #[arg(default = f64::NAN)]
    far: f64,
    /// What nobody can see.
    #[arg(default = Unshown(3))]
    unshown: Unshown,
) -> String {
    format!("{far} {}", unshown.0)
}

/// A default that fails to serialise is left out, without a panic; and since nobody who judges a
/// call could see it, such a tool isn't taken.
#[test]
fn b28_a_default_that_nobody_can_see_is_refused() {
    let shown = parameters(&UnsayableTool::host());
    assert_eq!(shown["properties"]["far"].get("default"), None);
    assert_eq!(shown["properties"]["unshown"].get("default"), None);
    let Err(error) = Registry::builder().tool(UnsayableTool::host()).build() else { panic!("it was taken") };
    let text = error.to_string();
    assert!(
        text.contains("parameters/properties/far/default") && text.contains("properties/unshown/default"),
        "{text}"
    );
}

#[tokio::test]
async fn b28_defaults_are_shown_and_filled_in() {
    let shown = parameters(&LimitedTool::host());
    assert_eq!(shown["required"], json!(["limits"]));
    assert_eq!(shown["properties"]["limit"]["default"], 10);
    assert_eq!(shown["properties"]["whole"]["default"], json!({"depth": 3, "word": "w"}));
    let whole = at_ref(&shown, &shown["properties"]["whole"]);
    assert_eq!(whole.get("required"), None);
    assert_eq!(whole["properties"]["depth"]["default"], 3);
    let limits = at_ref(&shown, &shown["properties"]["limits"]);
    assert_eq!(limits.get("required"), None);
    assert_eq!(limits["properties"]["old"]["default"], 10);
    assert_eq!(limits["properties"]["new"]["default"], 11);
    let limited = bench(LimitedTool::host());
    assert_eq!(limited.ok(r#"{"limits":{}}"#).await, "10 10 11 3 w");
    assert_eq!(limited.ok(r#"{"limits":{"old":1,"new":2},"whole":{"depth":4}}"#).await, "10 1 2 4 w");
    // Whoever judges sees what the handler gets.
    let judged = limited.judged();
    assert_eq!(
        judged.first().map(String::as_str),
        Some(r#"{"limit":10,"limits":{"old":10,"new":11},"whole":{"depth":3,"word":"w"}}"#)
    );
}

/// A choice whose members are not in the order of the alphabet.
#[tool_type]
#[derive(Debug)]
enum Choice {
    /// One way.
    Way { zulu: u8, mike: Option<u8>, alpha: u8 },
}

/// Chooses.
#[tool]
fn choose(
    /// Which.
    choice: Choice,
) -> String {
    format!("{choice:?}")
}

/// The schema shows arguments as they are declared, at every depth, whatever map `serde_json` was built with.
#[test]
fn b28_members_are_shown_in_declared_order() {
    let shown = |tool: HostTool| tool.schema().parameters().to_owned();
    assert!(shown_order(&shown(LimitedTool::host()), &["limit", "limits", "whole"]));
    assert!(shown_order(&shown(LimitedTool::host()), &["old", "new"]));
    assert!(shown_order(&shown(ChooseTool::host()), &["zulu", "mike", "alpha"]));
    assert!(shown_order(&shown(PageTool::host()), &["limit", "win", "b", "id", "f", "at"]));
}
