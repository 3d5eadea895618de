//! What the `jsonschema` crate says of a value.

use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};

use crate::json::{Decimal, Tree};

pub(crate) fn validator(schema: &Value) -> Validator {
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .should_validate_formats(true)
        .build(schema)
        .unwrap_or_else(|error| panic!("{schema} isn't a schema: {error}"))
}

/// A number in it isn't the same to both: `serde_json` reads another, or it is a whole number
/// beyond 2^53 that is spelt as a float, which is no integer here (nor is one beyond 64 bits a float).
pub(crate) fn has_exempt_number(tree: &Tree) -> bool {
    tree.any(&mut |tree| match tree {
        Tree::Number(text) => {
            let decimal = Decimal::of(text);
            let integer = text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok();
            !decimal.is_exact(text) || (decimal.is_large() && decimal.is_whole() && !integer)
        }
        _ => false,
    })
}

/// Which defaults a value is judged with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Defaults {
    /// Those of required members.
    Required,
    All,
}

/// The value as it is judged: without the `null`s by which a model leaves optional members out, and
/// with declared defaults. `None` where only a reader of unions could tell which these are.
pub(crate) fn as_judged(root: &Value, schema: &Value, value: &Value, defaults: Defaults) -> Option<Value> {
    judged(root, schema, value, defaults, 0)
}

fn judged(root: &Value, schema: &Value, value: &Value, defaults: Defaults, depth: usize) -> Option<Value> {
    if !value.is_object() && !value.is_array() {
        return Some(value.clone());
    }
    let has_defaults = || root.to_string().contains("\"default\":");
    let Some(rules) = gathered(root, schema, value, depth) else {
        return (!Tree::from(value).has_null_member() && !has_defaults()).then(|| value.clone());
    };
    if depth > 64 {
        return None;
    }
    match value {
        Value::Array(elements) => {
            let none = Vec::new();
            let prefix = rules.get("prefixItems").and_then(Value::as_array).unwrap_or(&none);
            let items = rules.get("items").unwrap_or(&Value::Bool(true));
            let elements = elements
                .iter()
                .enumerate()
                .map(|(index, element)| judged(root, prefix.get(index).unwrap_or(items), element, defaults, depth + 1));
            elements.collect::<Option<Vec<_>>>().map(Value::Array)
        }
        Value::Object(members) => {
            let mut kept = Map::new();
            let none = Map::new();
            let properties = rules.get("properties").and_then(Value::as_object).unwrap_or(&none);
            for (name, member) in members {
                let declared = properties.get(name);
                let schema = declared.or_else(|| rules.get("additionalProperties")).unwrap_or(&Value::Bool(true));
                if member.is_null() && declared.is_some_and(|schema| null_means_absent(root, &rules, name, schema)) {
                    continue;
                }
                kept.insert(name.clone(), judged(root, schema, member, defaults, depth + 1)?);
            }
            for (name, schema) in properties {
                // A default that is `null` says what absence means.
                let default = schema
                    .get("default")
                    .filter(|default| !default.is_null() && (defaults == Defaults::All || is_required(&rules, name)));
                if let (Some(default), false) = (default, kept.contains_key(name)) {
                    kept.insert(name.clone(), judged(root, schema, default, defaults, depth + 1)?);
                }
            }
            Some(kept.into())
        }
        _ => Some(value.clone()),
    }
}

/// All rules for this object or array in one schema, with the one branch of each union that it may
/// belong to. `None` where several branches, or several parts, speak of the same.
fn gathered(root: &Value, schema: &Value, value: &Value, depth: usize) -> Option<Map<String, Value>> {
    let Value::Object(schema) = schema else {
        return Some(Map::new());
    };
    if depth > 64 {
        return None;
    }
    let mut rules = schema.clone();
    let mut parts = Vec::new();
    if let Some(Value::String(reference)) = rules.remove("$ref") {
        parts.push(gathered(root, root.pointer(reference.trim_start_matches('#'))?, value, depth + 1)?);
    }
    if let Some(Value::Array(all)) = rules.remove("allOf") {
        for part in &all {
            parts.push(gathered(root, part, value, depth + 1)?);
        }
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(Value::Array(branches)) = rules.remove(keyword) {
            let mut fitting = Vec::new();
            for branch in &branches {
                let branch = gathered(root, branch, value, depth + 1)?;
                if may_fit(&branch, value) {
                    fitting.push(branch);
                }
            }
            match fitting.len() {
                0 => {}
                1 => parts.extend(fitting),
                _ => return None,
            }
        }
    }
    let speaks = ["additionalProperties", "items", "prefixItems", "properties"];
    let speakers = std::iter::once(&rules)
        .chain(&parts)
        .filter(|part| speaks.iter().any(|keyword| part.contains_key(*keyword)))
        .count();
    for part in parts {
        for (keyword, theirs) in part {
            match (rules.get_mut(&keyword), theirs) {
                (None, theirs) => {
                    if rules.contains_key("prefixItems") && keyword == "items" {
                        return None;
                    }
                    rules.insert(keyword, theirs);
                }
                (Some(Value::Object(mine)), Value::Object(theirs)) if keyword == "properties" => {
                    if theirs.keys().any(|name| mine.contains_key(name)) {
                        return None;
                    }
                    mine.extend(theirs);
                }
                (Some(Value::Array(mine)), Value::Array(theirs)) if keyword == "required" => mine.extend(theirs),
                (Some(mine), theirs) => {
                    if *mine != theirs && speaks.contains(&keyword.as_str()) {
                        return None;
                    }
                }
            }
        }
    }
    // What is a further member of one part may be declared in another.
    let further = rules.contains_key("additionalProperties");
    (!further || speakers < 2).then_some(rules)
}

/// Whether a value may belong to a branch, by its type and the words that tell branches apart.
fn may_fit(branch: &Map<String, Value>, value: &Value) -> bool {
    let kind = if value.is_object() { "object" } else { "array" };
    let typed = match branch.get("type") {
        Some(Value::Array(names)) => names.iter().any(|name| name == kind),
        Some(name) => name == kind,
        None => true,
    };
    let (Value::Object(members), none) = (value, Map::new()) else {
        return typed;
    };
    let properties = branch.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required = branch.get("required").and_then(Value::as_array);
    typed
        && required.into_iter().flatten().filter_map(Value::as_str).all(|name| {
            members.contains_key(name) || properties.get(name).is_some_and(|one| one.get("default").is_some())
        })
        && properties.iter().all(|(name, schema)| match (members.get(name), schema.get("const")) {
            (Some(member), Some(word)) => member == word || (member.is_null() && !is_required(branch, name)),
            _ => true,
        })
}

fn null_means_absent(root: &Value, rules: &Map<String, Value>, name: &str, schema: &Value) -> bool {
    let takes_null = || {
        let alone = json!({"$defs": root.get("$defs").unwrap_or(&json!({})), "allOf": [schema]});
        schema.get("default").is_some() && validator(&alone).is_valid(&Value::Null)
    };
    !is_required(rules, name) && !takes_null()
}

fn is_required(rules: &Map<String, Value>, name: &str) -> bool {
    let required = rules.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|other| other == name))
}
