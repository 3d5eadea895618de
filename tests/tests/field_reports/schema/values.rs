//! Widths of numbers, nulls, free values, tuples and maps.

use std::collections::BTreeMap;

use serde_json::json;
use tool_runtime::tool;

use super::{CropTool, PageTool, Place, SetTool, TagTool, at_ref};
use crate::support::{bench, objects, output, parameters};

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
