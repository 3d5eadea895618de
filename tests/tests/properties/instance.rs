//! Values near what a schema asks for: mostly valid, and wrong in one place or another.

use serde_json::{Map, Value};

use crate::json::Tree;
use crate::tape::Tape;

/// Numbers at which something changes: widths, 2^53, what `serde_json` has words for, doubles.
const NUMBERS: [&str; 38] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "10",
    "127",
    "128",
    "-128",
    "255",
    "256",
    "65536",
    "-32769",
    "4294967295",
    "2147483648",
    "0.5",
    "1.5",
    "-2.25",
    "0.1",
    "1e3",
    "5.0",
    "1e-7",
    "123456789.125",
    "9007199254740992",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "170141183460469231731687303715884105728",
    "340282366920938463463374607431768211456",
    "1e20",
    "1.7976931348623157e308",
    "5e-324",
    "0.30000000000000004",
    "1e400",
];

const CHARACTERS: [char; 16] =
    ['a', 'b', '/', '.', '0', 'é', '🍸', '"', '\\', '\n', '\u{0}', '\u{7f}', '\u{2028}', '\u{fb33}', ' ', '\u{1f}'];

/// Names that schemas here are likely to have, and some that they aren't.
pub(crate) const NAMES: [&str; 8] = ["a", "b", "c", "d", "kind", "é\"", "\u{fb33}", "🍸"];

pub(crate) fn number(tape: &mut Tape<'_>) -> String {
    match tape.pick(4) {
        0 | 1 => NUMBERS[tape.pick(16)].to_owned(),
        2 => tape.of(&NUMBERS).to_owned(),
        _ => {
            let float = f64::from_bits(tape.bits());
            if float.is_finite() { format!("{float:e}") } else { "0".to_owned() }
        }
    }
}

pub(crate) fn string(tape: &mut Tape<'_>, length: usize) -> String {
    (0..length).map(|_| tape.of(&CHARACTERS)).collect()
}

pub(crate) fn anything(tape: &mut Tape<'_>, depth: usize) -> Tree {
    match tape.pick(if depth == 0 { 5 } else { 8 }) {
        0 => Tree::Null,
        1 => Tree::Bool(tape.once_in(2)),
        2 => Tree::Number(number(tape)),
        3 | 4 => {
            let length = tape.pick(4);
            Tree::String(string(tape, length))
        }
        5 | 6 => Tree::Array((0..tape.pick(4)).map(|_| anything(tape, depth - 1)).collect()),
        _ => {
            let mut members: Vec<(String, Tree)> = Vec::new();
            for _ in 0..tape.pick(4) {
                let name = tape.of(&NAMES);
                if !members.iter().any(|(other, _)| other == name) {
                    members.push((name.to_owned(), anything(tape, depth - 1)));
                }
            }
            Tree::Object(members)
        }
    }
}

/// A value for a schema that stands in `root`.
pub(crate) fn instance(root: &Value, schema: &Value, tape: &mut Tape<'_>, depth: usize) -> Tree {
    if tape.slips(40) {
        return anything(tape, 2);
    }
    let rules = gathered(root, schema, tape, 0);
    if let Some(value) = rules.get("const") {
        return value.into();
    }
    if let Some(Value::Array(values)) = rules.get("enum")
        && !values.is_empty()
    {
        return (&values[tape.pick(values.len())]).into();
    }
    match kind(&rules, tape) {
        "null" => Tree::Null,
        "boolean" => Tree::Bool(tape.once_in(2)),
        "integer" => Tree::Number(bounded(&rules, tape, false)),
        "number" => Tree::Number(bounded(&rules, tape, true)),
        "string" => text(&rules, tape),
        "array" => array(root, &rules, tape, depth),
        "object" => object(root, &rules, tape, depth),
        _ => anything(tape, 2),
    }
}

fn kind(rules: &Map<String, Value>, tape: &mut Tape<'_>) -> &'static str {
    const KINDS: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
    let named = |name: &Value| KINDS.into_iter().find(|kind| name.as_str() == Some(kind));
    match rules.get("type") {
        Some(Value::Array(names)) => named(&names[tape.pick(names.len())]).unwrap_or(""),
        Some(name) => named(name).unwrap_or(""),
        None => {
            let has = |keywords: &[&str]| keywords.iter().any(|keyword| rules.contains_key(*keyword));
            if has(&["properties", "required", "additionalProperties", "minProperties", "maxProperties"]) {
                "object"
            } else if has(&["items", "prefixItems", "minItems", "maxItems", "uniqueItems"]) {
                "array"
            } else if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
                "number"
            } else if has(&["minLength", "maxLength", "format"]) {
                "string"
            } else {
                ""
            }
        }
    }
}

/// All that applies to a value at once, with one branch of each union.
fn gathered(root: &Value, schema: &Value, tape: &mut Tape<'_>, depth: usize) -> Map<String, Value> {
    let Value::Object(schema) = schema else {
        return Map::new();
    };
    let mut rules = schema.clone();
    let mut parts = Vec::new();
    if let Some(Value::String(reference)) = rules.remove("$ref")
        && let Some(target) = root.pointer(reference.trim_start_matches('#'))
    {
        parts.push(target.clone());
    }
    if let Some(Value::Array(all)) = rules.remove("allOf") {
        parts.extend(all);
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(Value::Array(branches)) = rules.remove(keyword)
            && !branches.is_empty()
        {
            parts.push(branches[tape.pick(branches.len())].clone());
        }
    }
    if depth < 8 {
        for part in parts {
            for (keyword, value) in gathered(root, &part, tape, depth + 1) {
                match (rules.get_mut(&keyword), value) {
                    (Some(Value::Object(mine)), Value::Object(other)) if keyword == "properties" => mine.extend(other),
                    (Some(Value::Array(mine)), Value::Array(other)) if keyword == "required" => mine.extend(other),
                    (Some(_), _) if keyword == "type" && tape.once_in(2) => {}
                    (_, value) => {
                        rules.insert(keyword, value);
                    }
                }
            }
        }
    }
    rules
}

fn bounded(rules: &Map<String, Value>, tape: &mut Tape<'_>, fraction: bool) -> String {
    let bound = |keyword: &str| rules.get(keyword).and_then(Value::as_f64);
    let exact = |keyword: &str| rules.get(keyword)?.to_string().parse::<i128>().ok();
    let low = exact("minimum").or_else(|| Some(exact("exclusiveMinimum")? + 1));
    let high = exact("maximum").or_else(|| Some(exact("exclusiveMaximum")? - 1));
    let near: Vec<i128> = [low, high, exact("multipleOf")].into_iter().flatten().collect();
    let text = match tape.pick(8) {
        0..=3 if !near.is_empty() => {
            let step = tape.of(&[0_i128, 1, -1, 2, -2]);
            tape.of(&near).saturating_add(step).to_string()
        }
        4 | 5 if fraction => tape.of(&["0.5", "1.5", "-2.25", "0.1", "0.25", "1e-7"]).to_owned(),
        6 => number(tape),
        _ => NUMBERS[tape.pick(12)].to_owned(),
    };
    let value: f64 = text.parse().unwrap_or(f64::NAN);
    let fits = (fraction || value.fract() == 0.0)
        && bound("minimum").is_none_or(|bound| value >= bound)
        && bound("exclusiveMinimum").is_none_or(|bound| value > bound)
        && bound("maximum").is_none_or(|bound| value <= bound)
        && bound("exclusiveMaximum").is_none_or(|bound| value < bound)
        && bound("multipleOf").is_none_or(|step| value % step == 0.0);
    match (fits || tape.slips(4), low.or(high), bound("minimum").or(bound("maximum"))) {
        (true, ..) | (false, None, None) => text,
        (false, Some(near), _) => near.to_string(),
        (false, None, Some(near)) => near.to_string(),
    }
}

fn count(rules: &Map<String, Value>, low: &str, high: &str, most: usize, tape: &mut Tape<'_>) -> usize {
    let bound = |keyword: &str| rules.get(keyword).and_then(Value::as_u64).map(|bound| bound as usize);
    let low = bound(low).unwrap_or(0);
    let high = bound(high).unwrap_or(low + most).max(low).min(low + most);
    let within = low + tape.pick(high - low + 1);
    if tape.once_in(24) { tape.of(&[within + 1, within.saturating_sub(1)]) } else { within }
}

fn text(rules: &Map<String, Value>, tape: &mut Tape<'_>) -> Tree {
    if let Some("date") = rules.get("format").and_then(Value::as_str) {
        let dates = ["2026-01-31", "2024-02-29", "2023-02-29", "2024-13-01", "x"];
        let known = if tape.slips(4) { dates.len() } else { 2 };
        return Tree::String(dates[tape.pick(known)].to_owned());
    }
    let length = count(rules, "minLength", "maxLength", 4, tape);
    let text = string(tape, length);
    // A path can't have it.
    Tree::String(if tape.slips(8) { text } else { text.replace('\u{0}', "x") })
}

/// A value inside an object or array of this depth; a schema may ask for one without end.
fn within(root: &Value, schema: &Value, tape: &mut Tape<'_>, depth: usize) -> Tree {
    if depth == 0 { anything(tape, 0) } else { instance(root, schema, tape, depth - 1) }
}

fn array(root: &Value, rules: &Map<String, Value>, tape: &mut Tape<'_>, depth: usize) -> Tree {
    let most = if depth == 0 { 0 } else { 3 };
    let length = count(rules, "minItems", "maxItems", most, tape);
    let none = Vec::new();
    let prefix = rules.get("prefixItems").and_then(Value::as_array).unwrap_or(&none);
    let items = rules.get("items").unwrap_or(&Value::Bool(true));
    let mut elements: Vec<Tree> =
        (0..length).map(|index| within(root, prefix.get(index).unwrap_or(items), tape, depth)).collect();
    if elements.len() > 1 && tape.slips(16) {
        elements[0] = elements[1].clone();
    } else if rules.get("uniqueItems") == Some(&Value::Bool(true)) {
        let mut unique: Vec<Tree> = Vec::new();
        elements.retain(|element| {
            let new = !unique.contains(element);
            unique.push(element.clone());
            new
        });
    }
    Tree::Array(elements)
}

fn object(root: &Value, rules: &Map<String, Value>, tape: &mut Tape<'_>, depth: usize) -> Tree {
    let mut members: Vec<(String, Tree)> = Vec::new();
    let required: Vec<&str> =
        rules.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let none = Map::new();
    let properties = rules.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let further = rules.get("additionalProperties").unwrap_or(&Value::Bool(true));
    for (name, schema) in properties {
        let present = if required.contains(&name.as_str()) { !tape.once_in(32) } else { depth > 0 && tape.once_in(2) };
        if !present {
            continue;
        }
        let value = if tape.once_in(12) { Tree::Null } else { within(root, schema, tape, depth) };
        members.push((name.clone(), value));
    }
    for name in required {
        if !properties.contains_key(name) && !tape.slips(32) && !members.iter().any(|(other, _)| other == name) {
            members.push((name.to_owned(), within(root, further, tape, depth)));
        }
    }
    let closed = *further == Value::Bool(false) || rules.get("unevaluatedProperties") == Some(&Value::Bool(false));
    let least = rules.get("minProperties").and_then(Value::as_u64).unwrap_or(0) as usize;
    let numbered = rules.get("patternProperties").and_then(Value::as_object);
    let more = match (closed, numbered) {
        (_, Some(_)) => tape.pick(3),
        (true, None) => usize::from(tape.slips(24)),
        (false, None) if depth == 0 => 0,
        (false, None) => least.saturating_sub(members.len()).max(tape.pick(3)),
    };
    for _ in 0..more {
        let (name, schema) = match numbered.and_then(|patterns| patterns.iter().next()) {
            Some((_, schema)) => {
                let names = ["0", "7", "42", "255", "-3", "007", "256", "4294967296", "-0", "x", ""];
                let known = if tape.slips(4) { names.len() } else { 4 };
                (names[tape.pick(known)], schema)
            }
            None => (tape.of(&NAMES), further),
        };
        if !members.iter().any(|(other, _)| other == name) && !properties.contains_key(name) {
            members.push((name.to_owned(), within(root, schema, tape, depth)));
        }
    }
    Tree::Object(members)
}
