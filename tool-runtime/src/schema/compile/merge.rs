//! One schema that asks for all that two ask for.

use super::super::json::{Json, Number, same_value};
use super::super::node::Types;
use super::is_annotation;

/// One schema that asks for all that the two ask for, neither of which has `$ref` or a union.
/// `None` where that can't be said.
pub(super) fn merge(a: Json, b: Json) -> Option<Json> {
    let (Json::Object(a), Json::Object(b)) = (a, b) else {
        return None;
    };
    if a.is_empty() {
        return Some(Json::Object(b));
    }
    let mut merged = Json::Object(a);
    let other = Json::Object(b);
    let says = |schema: &Json, keyword| schema.get(keyword).is_some();
    let elements = |schema: &Json| says(schema, "prefixItems") || says(schema, "items");
    if elements(&merged) && elements(&other) && (says(&merged, "prefixItems") || says(&other, "prefixItems")) {
        // What `items` speaks of depends on the `prefixItems` beside it.
        return None;
    }
    let (names, others) = ("patternProperties", "additionalProperties");
    if (says(&merged, names) && says(&other, others)) || (says(&other, names) && says(&merged, others)) {
        // Nor does `additionalProperties` see the names of another part.
        return None;
    }
    merge_properties(&mut merged, &other);
    for (keyword, value) in other.as_object().unwrap_or_default() {
        let Some(mine) = merged.get(keyword).cloned() else {
            if keyword != "properties" {
                merged.set(keyword, value.clone());
            }
            continue;
        };
        if mine == *value || is_annotation(keyword) || keyword == "properties" {
            continue;
        }
        let both = match keyword.as_str() {
            "type" => common_types(&mine, value)?,
            "required" => union_of_names(&mine, value)?,
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => tighter(mine, value, true)?,
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => tighter(mine, value, false)?,
            "enum" => {
                let other: Vec<String> = value.as_array()?.iter().map(Json::canonical).collect();
                let both = mine.as_array()?.iter().filter(|word| {
                    let word = word.canonical();
                    other.iter().any(|other| same_value(other, &word))
                });
                Json::Array(both.cloned().collect())
            }
            "const" if same_value(&mine.canonical(), &value.canonical()) => mine,
            "additionalProperties" | "items" => both_schemas(&mine, value),
            "uniqueItems" => Json::Bool(true),
            "unevaluatedProperties" => both_schemas(&mine, value),
            _ => return None,
        };
        merged.set(keyword, both);
    }
    Some(merged)
}

fn both_schemas(a: &Json, b: &Json) -> Json {
    match (a, b) {
        (Json::Bool(true), other) | (other, Json::Bool(true)) => other.clone(),
        (Json::Bool(false), _) | (_, Json::Bool(false)) => Json::Bool(false),
        _ if a == b => a.clone(),
        _ => Json::Object(vec![("allOf".into(), Json::Array(vec![a.clone(), b.clone()]))]),
    }
}

/// A member that only one side declares still has to please what the other says of further members.
fn merge_properties(merged: &mut Json, other: &Json) {
    let none: &[(String, Json)] = &[];
    let of = |schema: &Json| schema.get("properties").and_then(Json::as_object).unwrap_or(none).to_vec();
    let (mine, theirs) = (of(merged), of(other));
    let additional = |schema: &Json| schema.get("additionalProperties").cloned().unwrap_or(Json::Bool(true));
    let (my_extra, their_extra) = (additional(merged), additional(other));
    let mut properties = Vec::new();
    for (name, schema) in &mine {
        let beside = theirs.iter().find(|(other, _)| other == name).map_or(&their_extra, |(_, schema)| schema);
        properties.push((name.clone(), both_schemas(schema, beside)));
    }
    for (name, schema) in &theirs {
        if !mine.iter().any(|(other, _)| other == name) {
            properties.push((name.clone(), both_schemas(schema, &my_extra)));
        }
    }
    if !properties.is_empty() {
        if both_schemas(&my_extra, &their_extra) == Json::Bool(false) {
            // What one side forbids isn't declared: it is refused like any other unknown member.
            properties.retain(|(_, schema)| *schema != Json::Bool(false));
        }
        merged.set("properties", Json::Object(properties));
    }
}

fn common_types(a: &Json, b: &Json) -> Option<Json> {
    let read = |value: &Json| -> Option<Types> {
        match value {
            Json::String(name) => Types::named(name),
            Json::Array(names) => {
                names.iter().try_fold(Types::NONE, |types, name| Some(types.with(Types::named(name.as_str()?)?)))
            }
            _ => None,
        }
    };
    let common = read(a)?.both(read(b)?);
    let names: Vec<Json> = common.names().into_iter().map(Json::string).collect();
    (!names.is_empty()).then_some(Json::Array(names))
}

fn union_of_names(a: &Json, b: &Json) -> Option<Json> {
    let mut names = a.as_array()?.to_vec();
    for name in b.as_array()? {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    Some(Json::Array(names))
}

fn tighter(a: Json, b: &Json, larger: bool) -> Option<Json> {
    let order = Number::parse(a.as_number()?)?.compare(Number::parse(b.as_number()?)?);
    Some(if (order == std::cmp::Ordering::Less) == larger { b.clone() } else { a })
}
