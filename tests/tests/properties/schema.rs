//! JSON Schemas over the structural keywords.

use serde_json::{Map, Value, json};

use crate::instance::{NAMES, anything, instance};
use crate::json::Tree;
use crate::tape::Tape;

const DEFINITIONS: [&str; 3] = ["x", "y", "z"];

/// The schema of a tool's arguments: an object with up to four properties, and definitions that
/// may refer to each other.
pub(crate) fn parameters(tape: &mut Tape<'_>) -> Value {
    let definitions: Map<String, Value> =
        DEFINITIONS.iter().enumerate().map(|(index, name)| ((*name).to_owned(), any(tape, 2, index + 1))).collect();
    let mut schema = object(tape, 3, 0);
    schema.insert("type".into(), "object".into());
    schema.entry("properties").or_insert_with(|| json!({}));
    schema.insert("$defs".into(), definitions.into());
    schema.into()
}

/// `free`: the first definition that may be referred to without an object or array in between;
/// the others would lead back to where they came from.
fn any(tape: &mut Tape<'_>, depth: usize, free: usize) -> Value {
    let schema = structural(tape, depth, free);
    if tape.foreign && tape.once_in(4) { with_foreign(schema, tape, depth, free) } else { schema }
}

/// With one of the keywords that need the `jsonschema` crate.
fn with_foreign(schema: Value, tape: &mut Tape<'_>, depth: usize, free: usize) -> Value {
    let Value::Object(mut schema) = schema else {
        return schema;
    };
    let inner = depth.saturating_sub(1);
    let pattern = tape.of(&["^a", "b$", "é", "^.?$"]);
    match tape.pick(12) {
        0 | 1 => drop(schema.insert("pattern".into(), pattern.into())),
        2 => drop(schema.insert("not".into(), any(tape, 0, free))),
        3 | 4 => {
            schema.insert("if".into(), any(tape, 0, free));
            schema.insert("then".into(), any(tape, inner, free));
            schema.insert("else".into(), any(tape, inner, free));
        }
        5 => drop(schema.insert("contains".into(), any(tape, 0, 0))),
        6 => drop(schema.insert("propertyNames".into(), json!({"pattern": pattern}))),
        7 => drop(schema.insert("dependentRequired".into(), json!({"a": ["b"], "c": ["a"]}))),
        8 => drop(schema.insert("patternProperties".into(), json!({pattern: any(tape, inner, 0)}))),
        9 => drop(schema.insert("multipleOf".into(), json!(0.5))),
        10 => drop(schema.insert("unevaluatedProperties".into(), any(tape, 0, 0))),
        _ => drop(schema.insert("unevaluatedProperties".into(), json!(false))),
    }
    schema.into()
}

fn structural(tape: &mut Tape<'_>, depth: usize, free: usize) -> Value {
    let leaf = depth == 0 || tape.is_over();
    match tape.pick(if leaf { 12 } else { 24 }) {
        0 => json!({"type": "string"}),
        1 => json!({"type": tape.of(&["boolean", "null", "integer", "number"])}),
        2 | 3 => integer(tape),
        4 => number(tape),
        5 => string(tape),
        6 => json!({"enum": closed_set(tape)}),
        7 => json!({"const": literal(tape)}),
        8 => json!({"type": types(tape)}),
        9 => reference(tape, free, DEFINITIONS.len()),
        10 => json!(tape.pick(8) != 7),
        11 => json!({"type": "string", "enum": ["a", "b", "é\""]}),
        12 | 13 => object(tape, depth - 1, 0).into(),
        14 => one_of_its_own(tape, depth - 1),
        15 | 16 => array(tape, depth - 1).into(),
        17 => with_siblings(tape, depth - 1, free, "anyOf"),
        18 => with_siblings(tape, depth - 1, free, "oneOf"),
        19 => all_of_a_kind(tape, depth - 1, free),
        20 => tagged(tape, depth - 1),
        21 => named(tape, depth - 1),
        22 => {
            // All types at once, each with rules of its own.
            let mut schema = object(tape, depth - 1, 0);
            schema.extend(array(tape, depth - 1));
            for part in [integer(tape), string(tape)] {
                schema.extend(part.as_object().cloned().unwrap_or_default());
            }
            schema.insert("type".into(), types(tape));
            schema.into()
        }
        _ => {
            let mut schema = reference(tape, free, DEFINITIONS.len());
            if let Some(Value::Object(beside)) = Some(any(tape, 0, free)).filter(|beside| beside.get("$ref").is_none())
            {
                schema.as_object_mut().expect("an object").extend(beside);
            }
            schema
        }
    }
}

fn reference(tape: &mut Tape<'_>, from: usize, to: usize) -> Value {
    if from >= to {
        return json!({"type": "integer"});
    }
    json!({"$ref": format!("#/$defs/{}", DEFINITIONS[from + tape.pick(to - from)])})
}

fn types(tape: &mut Tape<'_>) -> Value {
    let all = ["string", "null", "integer", "number", "boolean", "object", "array"];
    let start = tape.pick(all.len());
    let mut names: Vec<&str> = Vec::new();
    for step in 0..=tape.pick(3) {
        names.push(all[(start + step) % all.len()]);
    }
    json!(names)
}

fn literal(tape: &mut Tape<'_>) -> Value {
    read(&anything(tape, 2)).unwrap_or_default()
}

/// `None` where it has a number that not every build of `serde_json` can read.
fn read(tree: &Tree) -> Option<Value> {
    let too_large =
        tree.any(&mut |tree| matches!(tree, Tree::Number(text) if !text.parse::<f64>().is_ok_and(f64::is_finite)));
    if too_large { None } else { serde_json::from_str(&tree.text()).ok() }
}

fn closed_set(tape: &mut Tape<'_>) -> Vec<Value> {
    let mut values = vec![literal(tape)];
    for _ in 0..tape.pick(3) {
        let next = literal(tape);
        if !values.contains(&next) {
            values.push(next);
        }
    }
    values
}

/// Some of the keywords, each with a value made on the spot.
fn some(tape: &mut Tape<'_>, keywords: &[&str], value: impl Fn(&mut Tape<'_>) -> Value) -> Map<String, Value> {
    let mut schema = Map::new();
    for keyword in keywords {
        if tape.once_in(3) {
            schema.insert((*keyword).to_owned(), value(tape));
        }
    }
    schema
}

fn integer(tape: &mut Tape<'_>) -> Value {
    let keywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    let mut schema =
        some(tape, &keywords, |tape| json!(tape.of(&[0_i64, 1, -3, 5, 10, 255, 9_007_199_254_740_993, i64::MAX])));
    if tape.once_in(4) {
        schema.insert("multipleOf".into(), json!(tape.of(&[1, 2, 3, 10])));
    }
    schema.insert("type".into(), "integer".into());
    schema.into()
}

fn number(tape: &mut Tape<'_>) -> Value {
    let keywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    let mut schema = some(tape, &keywords, |tape| json!(tape.of(&[0.0, 0.5, 1.5, -2.25, 100.0])));
    if tape.once_in(3) {
        schema.insert("type".into(), "number".into());
    }
    if tape.once_in(6) {
        schema.insert("multipleOf".into(), json!(tape.of(&[1, 2, 3])));
    }
    schema.into()
}

fn string(tape: &mut Tape<'_>) -> Value {
    let mut schema = some(tape, &["minLength", "maxLength"], |tape| json!(tape.pick(5)));
    if tape.once_in(8) {
        schema.insert("format".into(), "date".into());
    }
    if tape.once_in(2) {
        schema.insert("type".into(), "string".into());
    }
    schema.into()
}

fn array(tape: &mut Tape<'_>, depth: usize) -> Map<String, Value> {
    let mut schema = some(tape, &["minItems", "maxItems"], |tape| json!(tape.pick(4)));
    if tape.once_in(3) {
        let prefix: Vec<Value> = (0..=tape.pick(3)).map(|_| any(tape, depth, 0)).collect();
        schema.insert("prefixItems".into(), prefix.into());
    }
    if !tape.once_in(4) {
        schema.insert("items".into(), any(tape, depth, 0));
    }
    if tape.once_in(3) {
        schema.insert("uniqueItems".into(), json!(!tape.once_in(8)));
    }
    if !tape.once_in(3) {
        schema.insert("type".into(), "array".into());
    }
    schema
}

fn object(tape: &mut Tape<'_>, depth: usize, tag: usize) -> Map<String, Value> {
    let mut schema = some(tape, &["minProperties", "maxProperties"], |tape| json!(tape.pick(4)));
    if tape.once_in(2) {
        schema.remove("maxProperties");
    }
    let mut properties = Map::new();
    let mut required = Vec::new();
    for name in NAMES.iter().skip(tag) {
        if properties.len() < 4 && tape.once_in(2) {
            let mut property = any(tape, depth, 0);
            let default = if tape.once_in(12) { own_value(&property, tape) } else { None };
            if let (Value::Object(schema), Some(default)) = (&mut property, default) {
                schema.insert("default".into(), default);
            } else if tape.once_in(3) {
                required.push(*name);
            }
            properties.insert((*name).to_owned(), property);
        }
    }
    if tape.once_in(12) {
        required.push("further");
    }
    if !properties.is_empty() {
        schema.insert("properties".into(), properties.into());
    }
    if !required.is_empty() {
        schema.insert("required".into(), json!(required));
    }
    match tape.pick(4) {
        0 | 1 => {
            schema.insert("additionalProperties".into(), json!(false));
        }
        2 => {
            schema.insert("additionalProperties".into(), any(tape, depth, 0));
        }
        _ => {}
    }
    if !tape.once_in(3) {
        schema.insert("type".into(), "object".into());
    }
    schema
}

fn with_siblings(tape: &mut Tape<'_>, depth: usize, free: usize, keyword: &str) -> Value {
    let branches: Vec<Value> = (0..=1 + tape.pick(2)).map(|_| any(tape, depth, free)).collect();
    let mut schema = Map::new();
    if tape.once_in(3) {
        schema = object(tape, depth, 0);
    }
    schema.insert(keyword.to_owned(), branches.into());
    schema.into()
}

/// A value that probably fits. What it refers to isn't known yet.
fn own_value(schema: &Value, tape: &mut Tape<'_>) -> Option<Value> {
    read(&instance(&Value::Null, schema, tape, 2))
}

/// An object or array that is limited to a few values, and says besides what is in them.
fn one_of_its_own(tape: &mut Tape<'_>, depth: usize) -> Value {
    let mut schema = if tape.once_in(3) { array(tape, depth) } else { object(tape, depth, 0) };
    let described = Value::Object(schema.clone());
    let values: Vec<Value> = (0..=tape.pick(3)).filter_map(|_| own_value(&described, tape)).collect();
    match values.as_slice() {
        [value] => schema.insert("const".into(), value.clone()),
        _ => schema.insert("enum".into(), values.into()),
    };
    schema.into()
}

/// Parts that speak of the same.
fn all_of_a_kind(tape: &mut Tape<'_>, depth: usize, free: usize) -> Value {
    let kind = tape.pick(6);
    let parts: Vec<Value> = (0..=1 + tape.pick(2))
        .map(|_| match kind {
            0 => integer(tape),
            1 => string(tape),
            2 => array(tape, depth).into(),
            3 => object(tape, depth, 0).into(),
            4 => with_siblings(tape, depth, free, "anyOf"),
            _ => any(tape, depth, free),
        })
        .collect();
    let mut schema = if tape.once_in(3) { object(tape, depth, 0) } else { Map::new() };
    schema.insert("allOf".into(), parts.into());
    schema.into()
}

/// Objects that say by a property which of them they are.
fn tagged(tape: &mut Tape<'_>, depth: usize) -> Value {
    let words = [json!("a"), json!("b"), json!(1), json!(null), json!(true)];
    let branches: Vec<Value> = (0..=1 + tape.pick(2))
        .map(|index| {
            let mut branch = object(tape, depth, 5);
            let mut properties =
                branch.remove("properties").and_then(|properties| properties.as_object().cloned()).unwrap_or_default();
            let word = words[(index + tape.pick(2)) % words.len()].clone();
            let tag = if tape.once_in(4) { json!({"enum": [word]}) } else { json!({"const": word}) };
            properties.insert("kind".into(), tag);
            let mut required =
                branch.remove("required").and_then(|required| required.as_array().cloned()).unwrap_or_default();
            if !tape.once_in(8) {
                required.push("kind".into());
            }
            branch.insert("properties".into(), properties.into());
            branch.insert("required".into(), required.into());
            branch.into()
        })
        .collect();
    json!({(tape.of(&["oneOf", "anyOf"])): branches})
}

/// Objects whose only member says which of them they are.
fn named(tape: &mut Tape<'_>, depth: usize) -> Value {
    let branches: Vec<Value> = (0..=1 + tape.pick(2))
        .map(|index| {
            let name = NAMES[(index + tape.pick(2)) % NAMES.len()];
            json!({
                "type": "object",
                "properties": {name: any(tape, depth, 0)},
                "required": [name],
                "additionalProperties": false,
            })
        })
        .collect();
    let mut branches = branches;
    if tape.once_in(2) {
        branches.push(json!({"type": "string", "enum": ["a", "c"]}));
    }
    json!({(tape.of(&["oneOf", "anyOf"])): branches})
}

/// A value for the arguments of a schema.
pub(crate) fn arguments(schema: &Value, tape: &mut Tape<'_>) -> Tree {
    tape.slips = tape.of(&[0, 1, 0, 2, usize::MAX]);
    let tree = instance(schema, schema, tape, 5);
    match tree {
        Tree::Object(_) => tree,
        _ => Tree::Object(Vec::new()),
    }
}
