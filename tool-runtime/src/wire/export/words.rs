//! Keywords in words, for a model that isn't shown them otherwise.

use crate::schema::json::Json;
use crate::schema::text;

/// How much of a schema or a value is quoted.
const QUOTED: usize = 600;

pub(crate) fn json(value: &Json) -> String {
    let whole = value.to_string();
    if whole.len() <= QUOTED { whole } else { format!("{}…", text::head(&whole, QUOTED)) }
}

fn listed(value: &Json) -> String {
    let all: Vec<String> = value.as_array().unwrap_or_default().iter().map(json).collect();
    all.join(", ")
}

fn count(value: &Json, unit: &str) -> String {
    let value = json(value);
    if value == "1" { format!("1 {unit}") } else { format!("{value} {unit}s") }
}

/// What a keyword asks for, as a sentence.
pub(crate) fn of(keyword: &str, value: &Json) -> String {
    match keyword {
        "minimum" => format!("At least {}.", json(value)),
        "maximum" => format!("At most {}.", json(value)),
        "exclusiveMinimum" => format!("More than {}.", json(value)),
        "exclusiveMaximum" => format!("Less than {}.", json(value)),
        "multipleOf" => format!("A multiple of {}.", json(value)),
        "minLength" => format!("At least {}.", count(value, "character")),
        "maxLength" => format!("At most {}.", count(value, "character")),
        "minItems" => format!("At least {}.", count(value, "element")),
        "maxItems" => format!("At most {}.", count(value, "element")),
        "minProperties" => format!("At least {}.", count(value, "member")),
        "maxProperties" => format!("At most {}.", count(value, "member")),
        "uniqueItems" => "No element twice.".to_owned(),
        "pattern" => format!("Matches the regular expression {}.", json(value)),
        "format" => format!("Format: {}.", value.as_str().unwrap_or_default()),
        "default" => format!("Default: {}.", json(value)),
        "examples" => format!("Examples: {}.", listed(value)),
        "enum" if value.as_array().is_some_and(<[Json]>::is_empty) => "No value is right here.".to_owned(),
        "enum" => format!("One of {}.", listed(value)),
        "not" => format!("Must not match {}.", json(value)),
        "contains" => format!("Has an element that matches {}.", json(value)),
        "propertyNames" => format!("The names of its members match {}.", json(value)),
        "additionalProperties" => format!("Any other member matches {}.", json(value)),
        "oneOf" => "Matches exactly one of these forms.".to_owned(),
        "dependentRequired" => {
            let each = value.as_object().unwrap_or_default().iter();
            let each: Vec<String> = each.map(|(name, needed)| format!("`{name}` needs {}.", listed(needed))).collect();
            each.join(" ")
        }
        "patternProperties" => {
            let each = value.as_object().unwrap_or_default().iter();
            let each: Vec<String> =
                each.map(|(pattern, inner)| format!("Members named like {pattern} match {}.", json(inner))).collect();
            each.join(" ")
        }
        keyword => format!("{keyword}: {}.", json(value)),
    }
}
