//! What people are asked, in words: no name of a slot, and none of a tool.

use crate::schema::json::Json;
use crate::schema::{JsonPath, Segment, ToolSchema, text};

/// How much of a description is asked with, in characters.
const LONGEST: usize = 300;

/// What an argument is, in its provider's words; its name, as words, where there are none.
pub(super) fn of_argument(schema: &ToolSchema, path: &JsonPath) -> String {
    let described = described(schema.parameters_json(), path).map(first_words).unwrap_or_default();
    if !described.is_empty() {
        return described;
    }
    let name = path.segments().iter().rev().find_map(|segment| match segment {
        Segment::Key(name) => Some(name.replace(['_', '-'], " ")),
        _ => None,
    });
    name.unwrap_or_else(|| "a value".to_owned())
}

/// The default that a schema declares for the value at a path, as far as it says so plainly.
pub(super) fn default_of<'s>(schema: &'s ToolSchema, path: &JsonPath) -> Option<&'s Json> {
    let root = schema.parameters_json();
    let here = path.segments().iter().try_fold(root, |here, segment| {
        let here = resolved(root, here)?;
        match segment {
            Segment::Key(name) => here.get("properties")?.get(name),
            Segment::Index(_) => here.get("items"),
        }
    });
    here?.get("default")
}

/// The description of the value at a path, as far as the schema says it plainly.
fn described<'s>(root: &'s Json, path: &JsonPath) -> Option<&'s str> {
    let mut here = root;
    let mut said = None;
    for segment in path.segments() {
        here = resolved(root, here)?;
        here = match segment {
            Segment::Key(name) => here.get("properties")?.get(name)?,
            Segment::Index(_) => here.get("items")?,
        };
        // An element is what its list is described as.
        said = here.get("description").and_then(Json::as_str).or(match segment {
            Segment::Index(_) => said,
            Segment::Key(_) => resolved(root, here).and_then(|here| here.get("description")).and_then(Json::as_str),
        });
    }
    said
}

fn resolved<'s>(root: &'s Json, mut schema: &'s Json) -> Option<&'s Json> {
    for _ in 0..8 {
        match schema.get("$ref").and_then(Json::as_str) {
            Some(target) => schema = root.pointer(target.strip_prefix('#')?)?,
            None => return Some(schema),
        }
    }
    None
}

/// The first paragraph, without labelled lines.
fn first_words(description: &str) -> String {
    let mut words = String::new();
    for line in description.lines().map(str::trim) {
        let is_label =
            line.starts_with('[') && line.split_once(']').is_some_and(|(_, rest)| !rest.starts_with(['(', ':']));
        if line.is_empty() || is_label {
            if words.is_empty() {
                continue;
            }
            break;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(line);
    }
    text::excerpt(&words, LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_asked_for_in_its_providers_words() {
        let parameters = r##"{"type":"object","properties":{
            "iban":{"type":"string","description":"[required] as on the invoice\nThe account\nthat is paid.\n\nMore."},
            "valid_until":{"type":"string"},
            "to":{"type":"array","description":"Who gets it.","items":{"$ref":"#/$defs/P"}}},
            "$defs":{"P":{"type":"object","properties":{"name":{"description":"A [name](x)."}}}}}"##;
        let schema = ToolSchema::new("t".into(), String::new(), Json::parse(parameters).unwrap(), false);
        let asks = |pointer: &str| of_argument(&schema, &JsonPath::from_pointer(pointer).unwrap());
        assert_eq!(asks("/iban"), "The account that is paid.");
        assert_eq!(asks("/valid_until"), "valid until");
        assert_eq!(asks("/to/0/name"), "A [name](x).");
        assert_eq!(asks("/to/1"), "Who gets it.");
        assert_eq!(asks("/nowhere"), "nowhere");
    }
}
