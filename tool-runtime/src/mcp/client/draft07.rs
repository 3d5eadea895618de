//! Schemas of draft-07, which many servers still write, in the words of 2020-12.

use crate::schema::for_each_subschema;
use crate::schema::json::Json;

/// Says the same in 2020-12, if the schema says that it is of an older draft. What stays is enforced; what can't be said
/// is left for whoever compiles it to refuse.
pub(super) fn modern(schema: &mut Json) {
    let is_old = schema
        .get("$schema")
        .and_then(Json::as_str)
        .is_some_and(|dialect| ["draft-04", "draft-06", "draft-07"].iter().any(|draft| dialect.contains(draft)));
    if is_old {
        schema.remove("$schema");
        translate(schema);
    }
}

fn translate(schema: &mut Json) {
    reword(schema);
    for_each_subschema(schema, &mut translate);
}

fn reword(schema: &mut Json) {
    // Beside a reference nothing else counted.
    if let Some(reference) = schema.get("$ref").cloned() {
        let definitions = ["definitions", "$defs"].map(|key| (key, schema.remove(key)));
        *schema = Json::Object(vec![("$ref".to_owned(), reference)]);
        for (key, definitions) in definitions {
            if let Some(definitions) = definitions {
                schema.set(key, definitions);
            }
        }
        return;
    }
    if let Some(items @ Json::Array(_)) = schema.get("items").cloned() {
        let rest = schema.remove("additionalItems");
        schema.remove("items");
        schema.set("prefixItems", items);
        if let Some(rest) = rest {
            schema.set("items", rest);
        }
    } else {
        schema.remove("additionalItems");
    }
    if let Some(Json::Object(dependencies)) = schema.remove("dependencies") {
        let (keys, schemas): (Vec<_>, Vec<_>) =
            dependencies.into_iter().partition(|(_, dependency)| matches!(dependency, Json::Array(_)));
        for (keyword, members) in [("dependentRequired", keys), ("dependentSchemas", schemas)] {
            if !members.is_empty() {
                schema.set(keyword, Json::Object(members));
            }
        }
    }
    // Draft-04 had flags where there are numbers now.
    for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        match schema.get(flag) {
            Some(Json::Bool(true)) => {
                if let Some(limit) = schema.remove(bound) {
                    schema.set(flag, limit);
                }
            }
            Some(Json::Bool(false)) => {
                schema.remove(flag);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(schema: &str) -> String {
        let mut schema = Json::parse(schema).unwrap_or(Json::Null);
        modern(&mut schema);
        schema.to_string()
    }

    #[test]
    fn what_draft_07_spells_otherwise_is_translated() {
        let draft = r#""$schema":"http://json-schema.org/draft-07/schema#""#;
        for (old, new) in [
            (r#""type":"object""#, r#"{"type":"object"}"#),
            (
                r#""items":[{"type":"integer"}],"additionalItems":false"#,
                r#"{"prefixItems":[{"type":"integer"}],"items":false}"#,
            ),
            (r#""items":{"type":"integer"},"additionalItems":false"#, r#"{"items":{"type":"integer"}}"#),
            (
                r#""dependencies":{"a":["b"],"c":{"required":["d"]}}"#,
                r#"{"dependentRequired":{"a":["b"]},"dependentSchemas":{"c":{"required":["d"]}}}"#,
            ),
            (
                r##""definitions":{"a":{"type":"null"}},"properties":{"p":{"$ref":"#/definitions/a","minimum":3}}"##,
                r##"{"definitions":{"a":{"type":"null"}},"properties":{"p":{"$ref":"#/definitions/a"}}}"##,
            ),
            (r#""minimum":3,"exclusiveMinimum":true"#, r#"{"exclusiveMinimum":3}"#),
        ] {
            assert_eq!(translated(&format!("{{{draft},{old}}}")), new);
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        for schema in [
            r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","items":{"type":"integer"}}"#,
            r#"{"items":[{"type":"integer"}]}"#,
            "true",
        ] {
            assert_eq!(translated(schema), schema);
        }
    }
}
