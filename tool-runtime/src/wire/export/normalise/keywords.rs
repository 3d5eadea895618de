//! What is known of keywords, whoever the schema is for.

use crate::schema::json::Json;

/// Keywords that say nothing about values and are left out.
pub(super) fn is_silent(keyword: &str) -> bool {
    matches!(
        keyword,
        "$schema"
            | "$id"
            | "$anchor"
            | "$comment"
            | "$defs"
            | "definitions"
            | "title"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "propertyOrdering"
            | "nullable"
    ) || keyword.starts_with("x-")
}

/// Keywords that describe and don't constrain: leaving them out loses nothing that is enforced.
pub(super) fn is_annotation(keyword: &str) -> bool {
    is_silent(keyword)
        || matches!(keyword, "description" | "default" | "examples" | "contentEncoding" | "contentMediaType")
}

/// Which type a keyword is about.
pub(super) fn about(keyword: &str) -> Option<&'static [&'static str]> {
    Some(match keyword {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => &["integer", "number"],
        "minLength" | "maxLength" | "pattern" | "format" | "contentEncoding" | "contentMediaType" => &["string"],
        "items" | "prefixItems" | "additionalItems" | "minItems" | "maxItems" | "uniqueItems" | "contains"
        | "minContains" | "maxContains" | "unevaluatedItems" => &["array"],
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "minProperties"
        | "maxProperties"
        | "propertyNames"
        | "dependentRequired"
        | "dependentSchemas"
        | "dependencies"
        | "unevaluatedProperties" => &["object"],
        _ => return None,
    })
}

/// A bound that a Rust type has because of its width alone.
pub(super) fn is_width(keyword: &str, value: &Json) -> bool {
    match (keyword, value.as_number()) {
        ("minimum", Some(number)) => matches!(number, "-9223372036854775808" | "-3.4028235e+38"),
        ("maximum", Some(number)) => {
            matches!(number, "9223372036854775807" | "18446744073709551615" | "3.4028235e+38")
        }
        _ => false,
    }
}

pub(super) fn type_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(text) if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => "integer",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// The values of `enum` or `const`.
pub(super) fn values(schema: &Json) -> Option<Vec<Json>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Json::Array(values))) => Some(values.clone()),
        _ => None,
    }
}
