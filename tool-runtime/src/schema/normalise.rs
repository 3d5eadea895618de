//! What `schemars` says of a type → the schema that is shown and enforced.

use std::cmp::Ordering;

use super::format::{FOREIGN_FORMATS, Format};
use super::hints;
use super::json::{Json, Number, cmp_utf16};

/// The keywords whose value is one schema, a list of schemas, or schemas by name.
const ONE: [&str; 9] = [
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
];
const ONE_MORE: &str = "else";
const LISTS: [&str; 4] = ["prefixItems", "oneOf", "anyOf", "allOf"];
const BY_NAME: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Applies `change` to every schema directly inside this one. Data (`default`, `enum`, `const`,
/// `examples`) is never taken for a schema.
pub(crate) fn for_each_subschema(schema: &mut Json, change: &mut dyn FnMut(&mut Json)) {
    let Json::Object(members) = schema else { return };
    for (keyword, value) in members {
        let keyword = keyword.as_str();
        if ONE.contains(&keyword) || keyword == ONE_MORE {
            change(value);
        } else if LISTS.contains(&keyword) {
            if let Json::Array(schemas) = value {
                schemas.iter_mut().for_each(&mut *change);
            }
        } else if BY_NAME.contains(&keyword)
            && let Json::Object(schemas) = value
        {
            schemas.iter_mut().for_each(|(_, schema)| change(schema));
        }
    }
}

/// Brings the schema of a Rust type into this crate's form, at every depth: integer widths as
/// bounds instead of private formats, declared member order, closed objects.
pub(crate) fn normalise(schema: &mut Json) {
    let definitions = schema.get("$defs").cloned().unwrap_or(Json::Null);
    inline_parts(schema, &definitions, false, 0);
    normalise_within(schema, false);
}

/// A reference that describes only a part of an object (the content of a tagged variant, beside
/// its tag) is replaced by what it refers to: the definition itself is closed, the part can't be.
fn inline_parts(schema: &mut Json, definitions: &Json, part: bool, depth: usize) {
    let described = schema.get("properties").is_some();
    if depth < 64 && (part || described) {
        let target = schema
            .get("$ref")
            .and_then(Json::as_str)
            .and_then(|reference| reference.strip_prefix("#/$defs/"))
            .map(str::to_owned);
        let content =
            target.and_then(|name| definitions.get(&name)).filter(|content| content.get("properties").is_some());
        if let Some(content) = content.cloned() {
            schema.remove("$ref");
            let mut parts = match schema.remove("allOf") {
                Some(Json::Array(parts)) => parts,
                _ => Vec::new(),
            };
            parts.push(content);
            schema.set("allOf", Json::Array(parts));
        }
    }
    let descend = |schema: &mut Json, part| inline_parts(schema, definitions, part, depth + 1);
    for_each_union(schema, &mut |keyword, branch| {
        descend(branch, part || described || keyword == "allOf");
    });
    for_each_subschema_but_unions(schema, &mut |inner| descend(inner, false));
}

fn for_each_union(schema: &mut Json, change: &mut dyn FnMut(&str, &mut Json)) {
    let Json::Object(members) = schema else { return };
    for (keyword, value) in members {
        if let ("oneOf" | "anyOf" | "allOf", Json::Array(branches)) = (keyword.as_str(), value) {
            branches.iter_mut().for_each(|branch| change(keyword, branch));
        }
    }
}

/// `part`: the schema describes only a part of an object (a branch beside `properties`, a part of
/// `allOf`), so it can't be closed on its own.
fn normalise_within(schema: &mut Json, part: bool) {
    schema.remove("$schema");
    bounds_for_number_format(schema);
    spell_number_keys(schema);
    order_default_set(schema);
    order_members(schema);
    let composed = ["oneOf", "anyOf", "allOf", "$ref", "if"].iter().any(|keyword| schema.get(keyword).is_some());
    let described = schema.get("properties").is_some();
    let is_object = schema.get("type").and_then(Json::as_str) == Some("object");
    let open = ["additionalProperties", "unevaluatedProperties", "patternProperties"]
        .iter()
        .any(|keyword| schema.get(keyword).is_some());
    // Beside `properties`, branches describe the same object.
    let branches_are_parts = described && composed;
    for_each_union(schema, &mut |keyword, branch| {
        normalise_within(branch, part || branches_are_parts || keyword == "allOf");
    });
    for_each_subschema_but_unions(schema, &mut |inner| normalise_within(inner, false));
    if (described || is_object) && !open && !part {
        let keyword = if composed { "unevaluatedProperties" } else { "additionalProperties" };
        schema.set(keyword, Json::Bool(false));
    }
}

fn for_each_subschema_but_unions(schema: &mut Json, change: &mut dyn FnMut(&mut Json)) {
    let mut unions = Vec::new();
    for keyword in ["oneOf", "anyOf", "allOf"] {
        if let Json::Object(members) = schema
            && let Some((_, value)) = members.iter_mut().find(|(name, _)| name == keyword)
        {
            unions.push((keyword, std::mem::replace(value, Json::Null)));
        }
    }
    for_each_subschema(schema, change);
    for (keyword, value) in unions {
        schema.set(keyword, value);
    }
}

/// `"format":"uint8"` is Rust's word, refused or warned of by most clients; the bounds it stands
/// for are everybody's.
fn bounds_for_number_format(schema: &mut Json) {
    let Some(format) = schema.get("format").and_then(Json::as_str) else {
        return;
    };
    let is_single = format == "float";
    let range: Option<(i128, i128)> = match format {
        "uint8" => Some((0, u8::MAX.into())),
        "uint16" => Some((0, u16::MAX.into())),
        "uint32" => Some((0, u32::MAX.into())),
        "uint64" | "uint" => Some((0, u64::MAX.into())),
        "int8" => Some((i8::MIN.into(), i8::MAX.into())),
        "int16" => Some((i16::MIN.into(), i16::MAX.into())),
        "int32" => Some((i32::MIN.into(), i32::MAX.into())),
        "int64" | "int" => Some((i64::MIN.into(), i64::MAX.into())),
        "uint128" | "int128" | "float" | "double" => None,
        format if Format::named(format).is_some() || FOREIGN_FORMATS.contains(&format) => return,
        // A word of some type's own, which nobody else knows and which the type itself enforces.
        _ => None,
    };
    schema.remove("format");
    let bounds = match (range, is_single) {
        (Some((low, high)), _) => Some((Json::integer(low), Json::integer(high))),
        // What is larger would be read as infinite. In the shortest spelling of `f32::MAX`, which is
        // how an output has it.
        (None, true) => Some((Json::Number("-3.4028235e+38".into()), Json::Number("3.4028235e+38".into()))),
        (None, false) => None,
    };
    let Some((low, high)) = bounds else { return };
    if is_beyond(schema, "minimum", &low, Ordering::Less) {
        schema.set("minimum", low);
    }
    if is_beyond(schema, "maximum", &high, Ordering::Greater) {
        schema.set("maximum", high);
    }
}

/// Is there no declared bound, or one that lies outside the type's own?
fn is_beyond(schema: &Json, keyword: &str, own: &Json, outside: Ordering) -> bool {
    let parse = |value: &Json| value.as_number().and_then(Number::parse);
    let declared = schema.get(keyword).and_then(parse);
    declared.zip(parse(own)).is_none_or(|(declared, own)| declared.compare(own) == outside)
}

/// `schemars` lets the keys of a map with number keys be spelt in several ways. Two spellings of
/// one key would be two members of what is judged and one of what runs.
fn spell_number_keys(schema: &mut Json) {
    let Json::Object(members) = schema else { return };
    for (keyword, value) in members {
        if let ("patternProperties", Json::Object(patterns)) = (keyword.as_str(), value) {
            for (pattern, _) in patterns {
                match pattern.as_str() {
                    r"^\d+$" => UNSIGNED_KEY.clone_into(pattern),
                    r"^-?\d+$" => SIGNED_KEY.clone_into(pattern),
                    _ => {}
                }
            }
        }
    }
}

/// The keys of maps whose keys are whole numbers, each with one spelling.
pub(super) const UNSIGNED_KEY: &str = r"^(0|[1-9]\d*)$";
pub(super) const SIGNED_KEY: &str = r"^(0|-?[1-9]\d*)$";

/// A default that is a set may come in the order of a hash.
fn order_default_set(schema: &mut Json) {
    if schema.get("uniqueItems") != Some(&Json::Bool(true)) {
        return;
    }
    let Json::Object(members) = schema else { return };
    for (keyword, value) in members {
        if let ("default", Json::Array(elements)) = (keyword.as_str(), value) {
            let number = |element: &Json| element.as_number().and_then(Number::parse);
            elements.sort_by(|a, b| match (number(a), number(b)) {
                (Some(a), Some(b)) => a.compare(b),
                _ => a.to_string().cmp(&b.to_string()),
            });
        }
    }
}

/// Members as the struct declares them; of types that don't tell their order, by name.
fn order_members(schema: &mut Json) {
    let place = |schema: &Json| {
        let declared = schema.get(hints::ORDER).and_then(Json::as_number).and_then(|text| text.parse::<u64>().ok());
        // A tag comes before what it decides.
        let tag = schema.get("const").map(|_| 0);
        declared.map(|place| place + 1).or(tag)
    };
    if let Json::Object(members) = schema {
        for (keyword, value) in members.iter_mut() {
            if let ("properties", Json::Object(properties)) = (keyword.as_str(), value) {
                properties.sort_by(|(a, x), (b, y)| {
                    place(x).unwrap_or(u64::MAX).cmp(&place(y).unwrap_or(u64::MAX)).then_with(|| cmp_utf16(a, b))
                });
            }
        }
        let order: Vec<String> = schema
            .get("properties")
            .and_then(Json::as_object)
            .unwrap_or_default()
            .iter()
            .map(|(name, _)| name.clone())
            .collect();
        if let Json::Object(members) = schema {
            if let Some((_, Json::Array(required))) = members.iter_mut().find(|(keyword, _)| keyword == "required") {
                required.sort_by_key(|name| order.iter().position(|other| Some(other.as_str()) == name.as_str()));
            }
            // `serde_json`'s features decide in which order these come.
            members.sort_by(|(a, _), (b, _)| rank(a).cmp(&rank(b)).then_with(|| cmp_utf16(a, b)));
        }
    }
}

/// Keywords in the order that a person would write them in.
fn rank(keyword: &str) -> usize {
    const ORDER: [&str; 12] = [
        "$ref",
        "type",
        "title",
        "description",
        "const",
        "enum",
        "format",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "default",
    ];
    ORDER.iter().position(|known| *known == keyword).unwrap_or(ORDER.len()) + usize::from(keyword == "$defs") * 100
}

/// The schema without what only this crate understands.
pub(crate) fn shown(schema: &Json) -> Json {
    fn strip(schema: &mut Json) {
        hints::strip(schema);
        for_each_subschema(schema, &mut strip);
    }
    let mut schema = schema.clone();
    strip(&mut schema);
    schema
}
