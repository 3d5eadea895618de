//! Two schemas that both apply → one.

use std::cmp::Ordering;

use crate::schema::json::{Json, Number};

/// A keyword that could not be merged, and its value.
pub(crate) type Lost = (String, Json);

/// Adds what `other` asks for to `base`. The result allows all that both allow; what could not be
/// said in one schema is `lost`. Descriptions and defaults of `base` win.
pub(crate) fn merge(base: &mut Json, other: &Json, lost: &mut Vec<Lost>) {
    let Json::Object(theirs) = other else {
        if *other == Json::Bool(false) {
            base.set("enum", Json::Array(Vec::new()));
        }
        return;
    };
    if !matches!(base, Json::Object(_)) {
        if *base == Json::Bool(true) {
            *base = other.clone();
        }
        return;
    }
    for (keyword, value) in theirs {
        let Some(mine) = base.get(keyword).cloned() else {
            base.set(keyword, value.clone());
            continue;
        };
        if mine == *value {
            continue;
        }
        match merged(keyword, &mine, value, lost) {
            Some(both) => base.set(keyword, both),
            None => lost.push((keyword.clone(), value.clone())),
        }
    }
    // What is closed by one and open to the other is closed; members of both stay.
    if base.get("const").is_some() && base.get("enum").is_some() {
        base.remove("enum");
    }
}

fn merged(keyword: &str, mine: &Json, theirs: &Json, lost: &mut Vec<Lost>) -> Option<Json> {
    Some(match keyword {
        "title" | "description" | "default" | "examples" | "$comment" | "deprecated" | "readOnly" | "writeOnly"
        | "$schema" | "$id" | "$anchor" | "$defs" | "definitions" => mine.clone(),
        "type" => Json::Array(both_types(mine, theirs)),
        "properties" | "patternProperties" => {
            let mut all = mine.clone();
            for (name, schema) in theirs.as_object().unwrap_or_default() {
                let mut one = all.get(name).cloned().unwrap_or(Json::Bool(true));
                merge(&mut one, schema, lost);
                all.set(name, one);
            }
            all
        }
        "required" => {
            let mut all = mine.as_array().unwrap_or_default().to_vec();
            for name in theirs.as_array().unwrap_or_default() {
                if !all.contains(name) {
                    all.push(name.clone());
                }
            }
            Json::Array(all)
        }
        "enum" => Json::Array(
            mine.as_array()?
                .iter()
                .filter(|value| theirs.as_array().is_some_and(|all| all.contains(value)))
                .cloned()
                .collect(),
        ),
        "additionalProperties" | "unevaluatedProperties" | "items" => {
            if *mine == Json::Bool(false) || *theirs == Json::Bool(false) {
                Json::Bool(false)
            } else {
                let mut one = mine.clone();
                merge(&mut one, theirs, lost);
                one
            }
        }
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            tighter(mine, theirs, Ordering::Less)?
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            tighter(mine, theirs, Ordering::Greater)?
        }
        "uniqueItems" => Json::Bool(true),
        _ => return None,
    })
}

fn tighter(mine: &Json, theirs: &Json, looser: Ordering) -> Option<Json> {
    let number = |value: &Json| value.as_number().and_then(Number::parse);
    Some(if number(mine)?.compare(number(theirs)?) == looser { theirs.clone() } else { mine.clone() })
}

/// The types of both. An integer is a number.
fn both_types(mine: &Json, theirs: &Json) -> Vec<Json> {
    let (mine, theirs) = (names(mine), names(theirs));
    let has =
        |all: &[String], name: &str| all.iter().any(|other| other == name || (name == "integer" && other == "number"));
    let mut both: Vec<Json> = Vec::new();
    for name in mine.iter().chain(&theirs) {
        if has(&mine, name) && has(&theirs, name) && !both.iter().any(|other| other.as_str() == Some(name)) {
            both.push(Json::string(name));
        }
    }
    both
}

/// `type` as a list.
pub(crate) fn names(types: &Json) -> Vec<String> {
    match types {
        Json::String(name) => vec![name.clone()],
        Json::Array(names) => names.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(a: &str, b: &str) -> (String, usize) {
        let mut lost = Vec::new();
        let mut base = Json::parse(a).unwrap();
        merge(&mut base, &Json::parse(b).unwrap(), &mut lost);
        (base.to_string(), lost.len())
    }

    #[test]
    fn what_both_ask_for_is_one_schema() {
        for (a, b, merged) in [
            (r#"{"minimum":1}"#, r#"{"minimum":3,"maximum":9}"#, r#"{"minimum":3,"maximum":9}"#),
            (r#"{"type":["number","null"]}"#, r#"{"type":["integer","string"]}"#, r#"{"type":["integer"]}"#),
            (r#"{"enum":["a","b"]}"#, r#"{"enum":["b","c"]}"#, r#"{"enum":["b"]}"#),
            (
                r#"{"properties":{"a":{"type":"string"}},"required":["a"]}"#,
                r#"{"properties":{"b":{},"a":{"minLength":1}},"required":["b","a"],"additionalProperties":false}"#,
                r#"{"properties":{"a":{"type":"string","minLength":1},"b":{}},"required":["a","b"],"additionalProperties":false}"#,
            ),
            (r#"{"description":"mine"}"#, r#"{"description":"theirs"}"#, r#"{"description":"mine"}"#),
        ] {
            assert_eq!(both(a, b), (merged.to_owned(), 0));
        }
    }

    #[test]
    fn what_one_schema_cant_say_is_told() {
        assert_eq!(both(r#"{"pattern":"^a"}"#, r#"{"pattern":"b$"}"#), (r#"{"pattern":"^a"}"#.to_owned(), 1));
    }
}
