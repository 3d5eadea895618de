//! What failed once, as small as it gets. Every case holds what the properties ask for.

use serde_json::{Value, json};

use crate::agreement::{agree, registered};
use crate::json::Tree;
use crate::oracle::validator;

/// Arguments with one member `v` of this schema, which may refer to these definitions.
fn of(schema: Value, definitions: Value) -> Value {
    json!({"type": "object", "properties": {"v": schema}, "additionalProperties": false, "$defs": definitions})
}

/// Each value is accepted just if it is valid, and its canonical text is its own; or the registry
/// says why the schema can't be enforced.
fn holds(schema: &Value, values: &[&str]) {
    let Some(accept) = registered(schema) else { return };
    let oracle = validator(schema);
    for value in values {
        let text = format!("{{\"v\":{value}}}");
        let tree = Tree::Object(vec![("v".into(), Tree::from(&serde_json::from_str::<Value>(value).expect("JSON")))]);
        agree(&accept, "dynamic", schema, &oracle, &tree);
        if let Ok(canonical) = accept.accept("dynamic", text.as_str()) {
            let again = accept.accept("dynamic", canonical.as_str());
            assert_eq!(again.as_ref(), Ok(&canonical), "{schema} {text}");
        }
    }
}

#[test]
fn items_of_one_part_hold_for_the_prefix_of_another() {
    let list = json!({"type": "array", "prefixItems": [{"type": "array"}]});
    let words = json!({"type": "array", "items": {"type": "string"}});
    holds(&of(json!({"allOf": [list, words]}), json!({})), &["[[]]", "[]", r#"["a"]"#]);
    holds(
        &of(json!({"$ref": "#/$defs/list", "items": {"type": "string"}}), json!({"list": list})),
        &["[[]]", "[]", r#"[[],"a"]"#],
    );
    let pairs = json!({"allOf": [list, {"prefixItems": [true, {"type": "null"}], "items": false}]});
    holds(&of(pairs, json!({})), &["[[]]", "[[],null]", "[[],1]", "[[],null,1]"]);
}

#[test]
fn closed_sets_of_objects_know_no_order_of_members() {
    let object = json!({"type": "object", "properties": {"kind": true}, "additionalProperties": {"type": "integer"}});
    let mut closed = object.clone();
    closed["enum"] = json!([{"b": 0, "kind": "aa"}]);
    holds(&of(closed, json!({})), &[r#"{"b":0,"kind":"aa"}"#, r#"{"kind":"aa","b":0}"#, r#"{"b":0}"#]);
    let mut constant = object;
    constant["const"] = json!({"b": 0, "kind": "aa"});
    holds(&of(constant, json!({})), &[r#"{"b":0,"kind":"aa"}"#, r#"{"b":1,"kind":"aa"}"#]);
    let filled = json!({"type": "object", "properties": {"b": {"type": "integer", "default": -1}}, "const": {}});
    holds(&of(filled, json!({})), &["{}", r#"{"b":-1}"#, r#"{"b":1}"#]);
    let null = json!({"type": "object", "properties": {"c": {"type": "null"}}, "enum": [{"c": null}, {"d": 1}]});
    holds(&of(null, json!({})), &[r#"{"c":null}"#, "{}", r#"{"d":1,"c":null}"#]);
    let twice = r#"{"allOf":[{"enum":[{"a":1,"b":2},1]},{"enum":[{"b":2,"a":1},2]}]}"#;
    holds(&of(serde_json::from_str(twice).expect("JSON"), json!({})), &[r#"{"a":1,"b":2}"#, "1", "2"]);
    let tagged = json!({"oneOf": [
        {"type": "object", "properties": {"t": {"const": {"a": 1, "b": 2}}}, "required": ["t"]},
        {"type": "object", "properties": {"t": {"const": {"a": 1}}}, "required": ["t"]},
    ]});
    holds(&of(tagged, json!({})), &[r#"{"t":{"b":2,"a":1}}"#, r#"{"t":{"a":1}}"#, r#"{"t":{}}"#]);
}

#[test]
fn what_absence_means_does_not_choose_another_branch() {
    let one = json!({"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "b"}, "x": {"type": "string"}}, "required": ["kind"],
         "additionalProperties": false},
        {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"], "additionalProperties": false},
    ]});
    holds(&of(one, json!({})), &[r#"{"kind":"b","x":null}"#, r#"{"kind":"b","x":"a"}"#, r#"{"kind":"b"}"#]);
    let counted = json!({"oneOf": [
        {"type": "object", "properties": {"kind": {"const": 1}}, "required": ["kind"]},
        {"type": "object", "maxProperties": 1, "properties": {"kind": {"const": 1}, "x": {"type": "string", "default": "a"}},
         "required": ["kind"]},
    ]});
    holds(&of(counted, json!({})), &[r#"{"kind":1}"#, r#"{"kind":1,"x":"b"}"#]);
}

#[test]
fn members_are_counted_as_given_and_as_filled() {
    let least = json!({"type": "object", "properties": {"b": {"type": "string", "default": ""}}, "minProperties": 1});
    holds(&of(least, json!({})), &["{}", r#"{"b":""}"#, r#"{"a":1}"#]);
    let most = json!({"type": "object", "properties": {"b": {"type": "string", "default": ""}}, "maxProperties": 1});
    holds(&of(most, json!({})), &["{}", r#"{"b":""}"#, r#"{"a":1}"#]);
    let unique = json!({"type": "array", "uniqueItems": true, "items": {
        "type": "object", "properties": {"b": {"type": "integer", "default": 1}},
    }});
    holds(&of(unique, json!({})), &["[{}]", r#"[{},{"b":2}]"#, r#"[{},{"b":1}]"#]);
}

#[test]
fn a_property_that_is_false_stays_forbidden() {
    let parts = json!({"allOf": [{"properties": {"x": false}}, {"properties": {"y": {"type": "string"}}}]});
    holds(&of(parts, json!({})), &[r#"{"x":1}"#, r#"{"y":"a"}"#, r#"{"z":1}"#]);
    let required = json!({"allOf": [{"properties": {"x": false}, "required": ["x"]}, {"additionalProperties": {"type": "integer"}}]});
    holds(&of(required, json!({})), &[r#"{"x":1}"#, r#"{"y":1}"#, "{}", "1"]);
}

#[test]
fn additional_properties_do_not_see_the_patterns_of_another_part() {
    let parts =
        json!({"allOf": [{"patternProperties": {r"^\d+$": {"type": "integer"}}}, {"additionalProperties": false}]});
    holds(&of(parts, json!({})), &[r#"{"1":1}"#, "{}", r#"{"a":1}"#]);
}

#[test]
fn unevaluated_properties_see_no_cousins() {
    let foo = json!({"properties": {"foo": true}});
    let closed = json!({"unevaluatedProperties": false});
    let values = [r#"{"foo":1}"#, "{}", r#"{"bar":1}"#, r#"{"bar":1,"foo":1}"#];
    holds(&of(json!({"allOf": [foo, closed]}), json!({})), &values);
    holds(&of(json!({"$ref": "#/$defs/closed", "properties": {"foo": true}}), json!({"closed": closed})), &values);
    holds(
        &of(
            json!({"properties": {"foo": true}, "additionalProperties": true, "unevaluatedProperties": false}),
            json!({}),
        ),
        &values,
    );
    let both = json!({"anyOf": [
        {"properties": {"foo": {"type": "integer"}}, "required": ["foo"]},
        {"properties": {"bar": {"type": "integer"}}, "required": ["bar"]},
    ], "unevaluatedProperties": false});
    holds(&of(both, json!({})), &values);
    let apart = json!({"allOf": [{"properties": {"foo": true}, "unevaluatedProperties": false}], "anyOf": [{"properties": {"bar": true}}]});
    holds(&of(apart, json!({})), &values);
}

#[test]
fn every_keyword_is_enforced_or_refused() {
    for (schema, values) in [
        (json!({"not": {"type": "string"}}), [r#""x""#, "1"]),
        (json!({"if": {"type": "string"}, "then": {"const": "a"}, "else": {"type": "null"}}), [r#""x""#, "1"]),
        (json!({"$dynamicRef": "#/$defs/word"}), [r#""x""#, "1"]),
        (json!({"contains": {"const": 1}}), ["[2]", "[1]"]),
        (json!({"propertyNames": {"const": "a"}}), [r#"{"b":1}"#, r#"{"a":1}"#]),
        (json!({"dependentRequired": {"a": ["b"]}}), [r#"{"a":1}"#, r#"{"a":1,"b":1}"#]),
        (json!({"dependentSchemas": {"a": {"required": ["b"]}}}), [r#"{"a":1}"#, r#"{"a":1,"b":1}"#]),
        (json!({"prefixItems": [true], "unevaluatedItems": false}), ["[1,2]", "[1]"]),
        (json!({"pattern": "^a"}), [r#""x""#, r#""a""#]),
        (json!({"format": "email"}), [r#""x""#, r#""a@example.com""#]),
        (json!({"multipleOf": 0.5}), ["0.25", "1.5"]),
    ] {
        let schema = of(schema, json!({"word": {"type": "string"}}));
        let taken = registered(&schema).is_some();
        assert!(taken || cfg!(not(feature = "jsonschema")), "{schema} can be enforced");
        assert!(!taken || cfg!(feature = "jsonschema"), "nothing here enforces {schema}");
        holds(&schema, &values);
    }
}

/// Whether `null` is a value, and whether a default is right, is asked of all that is enforced.
#[test]
fn foreign_keywords_judge_defaults_and_what_null_means() {
    let apart = json!({"allOf": [
        {"type": "array", "items": {"type": "integer"}},
        {"type": "array", "prefixItems": [{"minimum": 1}], "items": {}},
    ]});
    let member = |schema: &Value| {
        let object = json!({"type": "object", "properties": {"w": schema}});
        let lists = json!({"items": {"$ref": "#/$defs/lists"}, "not": {"const": 1}});
        of(object, json!({"apart": apart, "lists": lists, "nothing": {"type": "null"}}))
    };
    for schema in [
        json!({"$ref": "#/$defs/apart", "default": null}),
        json!({"not": {"type": "null"}, "default": null}),
        json!({"allOf": [{"not": {"$ref": "#/$defs/nothing"}}], "default": [1]}),
        json!({"not": {"$ref": "#/$defs/apart"}, "default": null}),
        json!({"$ref": "#/$defs/lists", "default": [[2]]}),
    ] {
        let schema = member(&schema);
        assert_eq!(registered(&schema).is_some(), cfg!(feature = "jsonschema"), "{schema}");
        holds(&schema, &[r#"{"w":null}"#, "{}", r#"{"w":[1,2]}"#, r#"{"w":[0,3]}"#]);
    }
    for schema in [
        json!({"not": {"type": "string"}, "default": "b"}),
        json!({"$ref": "#/$defs/apart", "default": [0, 1]}),
        json!({"items": {"$ref": "#/properties/v/properties/w"}, "not": {"const": 1}, "default": [[1]]}),
    ] {
        assert!(registered(&member(&schema)).is_none(), "{schema}");
    }
}

#[test]
fn branches_with_foreign_keywords_are_told_apart() {
    let patterns = json!({"oneOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^b"}]});
    holds(&of(patterns, json!({})), &[r#""abc""#, r#""b""#, r#""x""#]);
    let defaults = json!({"anyOf": [
        {"type": "object", "properties": {"k": {"type": "string", "pattern": "^a"}, "d": {"type": "integer", "default": 1}}},
        {"type": "object", "properties": {"k": {"type": "string"}, "d": {"type": "string"}}, "additionalProperties": false},
    ]});
    holds(&of(defaults, json!({})), &[r#"{"k":"b"}"#, r#"{"k":"a"}"#, r#"{"k":"b","d":"x"}"#]);
}

#[test]
fn whole_numbers_beyond_doubles_have_one_spelling_each() {
    for schema in [
        json!({"oneOf": [{"type": "integer"}, {"type": "number", "maximum": 1e30}]}),
        json!({"anyOf": [{"type": "integer", "maximum": 5}, {"type": "number", "multipleOf": 3}]}),
        json!({"enum": [1e22, "x"]}),
        json!({"type": "number", "multipleOf": 3}),
    ] {
        holds(&of(schema, json!({})), &["1e20", "3e20", "300000000000000000000", "1e22", "10000000000000000000000"]);
    }
}

/// A keyword that only the `jsonschema` crate knows judges a value before its defaults are filled in, and after.
#[test]
fn foreign_keywords_judge_what_was_given_and_what_it_comes_to() {
    let needs = json!({"type": "object", "additionalProperties": false, "dependentRequired": {"a": ["b"]},
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}, "c": {"type": "string"}}});
    let forbids = json!({"type": "object", "not": {"required": ["a", "b"]},
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}}});
    for schema in [needs, forbids] {
        holds(&of(schema, json!({})), &[r#"{"a":1}"#, r#"{"a":1,"c":null}"#, r#"{"a":1,"b":1}"#, r#"{"b":1}"#, "{}"]);
    }
}

/// A `null` that means absence in one form may be a value in another, and then the value fits both.
#[test]
fn a_null_that_makes_a_value_fit_two_forms_is_refused() {
    let small = json!({"type": "object", "additionalProperties": {"const": null}, "required": ["kind"],
        "properties": {"kind": {"const": "b"}}});
    let large = json!({"type": "object", "additionalProperties": false, "required": ["kind"], "minProperties": 3,
        "properties": {"kind": {"const": "b"}, "c": {}, "d": {"type": "null"}}});
    let values = [r#"{"kind":"b","c":null,"d":null}"#, r#"{"kind":"b"}"#, r#"{"kind":"b","c":null}"#];
    holds(&of(json!({"oneOf": [small, large]}), json!({})), &values);
    let elements = json!({"oneOf": [
        {"type": "object", "required": ["a"], "minProperties": 2, "properties": {"a": {"type": "integer"}, "c": true}},
        {"items": {"minimum": 0}},
    ]});
    holds(&of(elements, json!({})), &[r#"{"a":-3,"c":null}"#, r#"{"a":-3}"#, r#"{"a":-3,"c":1}"#]);
    let inner = json!({"type": "object", "const": {"a": 0, "b": null}, "additionalProperties": false,
        "properties": {"a": {"type": "integer"}, "b": {"const": null}}});
    let compared = json!({"oneOf": [{"type": "object", "properties": {"a": inner}}, true]});
    holds(&of(compared, json!({})), &[r#"{"a":{"a":0,"b":null}}"#, r#"{"a":{"a":0}}"#, r#"{"a":1}"#, "{}"]);
    let optional = json!({"type": "object", "properties": {"b": {"const": null}}, "additionalProperties": false});
    let list = json!({"type": "array", "items": optional, "uniqueItems": true});
    let differ = json!({"oneOf": [list, {"type": "array", "maxItems": 2}]});
    holds(&of(differ, json!({})), &[r#"[{"b":null},{}]"#, "[{},{}]", r#"[{"b":null}]"#, r#"[{"b":1},{}]"#]);
}

/// A path that is written anew may fit a form that it didn't fit as it was given.
#[test]
fn a_path_that_fits_two_forms_once_it_is_short_is_refused() {
    let path = json!({"type": "string", "x-tool-path": true, "maxLength": 10});
    let short = json!({"type": "string", "maxLength": 3});
    let long_path = json!({"type": "string", "x-tool-path": true, "minLength": 4});
    let long = json!({"type": "string", "minLength": 4});
    for (other, taken) in [(short, 2), (long_path, 1), (long, 1)] {
        let schema = of(json!({"oneOf": [path, other]}), json!({}));
        let oracle = validator(&schema);
        let accept = registered(&schema).expect("a schema that can be registered");
        let texts = ["./././a", "./aaaa", "aaaa", "a"].map(|path| json!({ "v": path }).to_string());
        let accepted = texts.iter().filter_map(|text| accept.accept("dynamic", text.as_str()).ok());
        let count = accepted
            .inspect(|canonical| {
                assert!(oracle.is_valid(&serde_json::from_str(canonical).expect("JSON")), "{schema} {canonical}");
                assert_eq!(accept.accept("dynamic", canonical.as_str()).as_ref(), Ok(canonical), "{schema}");
            })
            .count();
        assert_eq!(count, taken, "{schema}");
    }
}

/// They would be followed without end, by the validator of the `jsonschema` crate too.
#[test]
fn i14_references_that_lead_only_to_themselves_are_refused() {
    for definitions in [
        json!({"a": {"$ref": "#/$defs/a"}}),
        json!({"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}),
        json!({"a": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/a"}]}}),
        json!({"a": {"oneOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}),
        json!({"a": {"allOf": [{"type": "string"}, {"$ref": "#/$defs/a"}]}}),
        json!({"a": {"anyOf": [{"type": "null"}, {"allOf": [{"$ref": "#/$defs/b"}]}]}, "b": {"$ref": "#/$defs/a", "type": "null"}}),
    ] {
        assert!(registered(&of(json!({"$ref": "#/$defs/a"}), definitions.clone())).is_none(), "{definitions}");
    }
}

#[test]
fn a_reference_with_siblings_may_recur() {
    let node = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/node", "minProperties": 1}}});
    let schema = of(json!({"$ref": "#/$defs/node"}), json!({"node": node}));
    holds(&schema, &["{}", r#"{"next":{}}"#, r#"{"next":{"next":{"x":1}}}"#]);
}

#[test]
fn what_types_say_of_values_holds_of_their_canonical_text() {
    let accept = crate::accept::Accept::new(crate::zoo::tools());
    for (tool, text, accepted) in [
        (
            "flat_enums",
            r#"{"external":{"Right":{"text":"a"},"name":null},"internal":{"kind":"nothing","name":"\""}}"#,
            true,
        ),
        ("flat_enums", r#"{"external":{"Left":0,"name":null},"internal":{"kind":"nothing","name":"a"}}"#, true),
        ("single", r#"{"single":3.4028235e38,"many":[-340282346638528860000000000000000000000]}"#, true),
        ("single", r#"{"single":3.41e38,"many":[]}"#, false),
        ("number_keys", r#"{"by_number":{"7":"a"},"by_signed":{"-7":true,"0":false},"by_small":{"255":[]}}"#, true),
        ("number_keys", r#"{"by_number":{"007":"a"},"by_signed":{},"by_small":{}}"#, false),
        ("number_keys", r#"{"by_number":{},"by_signed":{"-0":true},"by_small":{}}"#, false),
        ("number_keys", r#"{"by_number":{},"by_signed":{},"by_small":{"256":[]}}"#, false),
    ] {
        let canonical = accept.accept(tool, text);
        assert_eq!(canonical.is_ok(), accepted, "{tool} {text}: {canonical:?}");
        if let Ok(canonical) = canonical {
            assert_eq!(accept.accept(tool, canonical.as_str()), Ok(canonical));
            let settled = accept.run(vec![tool_runtime::ToolCall::new("call", tool, text)]).remove(0);
            assert_eq!(settled.record().code(), tool_runtime::Code::Ok, "{settled:?}");
        }
    }
    // The length of a path is that of the path as it is given and as it is opened.
    let path = |path: &str| {
        format!(
            r#"{{"small":1,"fraction":1,"short":"a","few":[1,2],"path":"a","near_path":"{path}","color":"Low","type":"x","day":"2026-01-31"}}"#
        )
    };
    for (given, accepted) in [("abc", true), ("./abc", true), ("aa/", false), ("././././././././abc", false)] {
        let canonical = accept.accept("limited", path(given).as_str());
        assert_eq!(canonical.is_ok(), accepted, "{given}: {canonical:?}");
    }
}
