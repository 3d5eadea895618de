//! Roots, references and what refers to itself.

use serde_json::{Value, json};
use tool_runtime::{CallContext, Code, Registry, tool, tool_type};

use super::{CropTool, PageTool, Place, SetTool, TagTool, Unit, at_ref};
use crate::support::{bench, objects, output, parameters, registry};

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
