//! What a schema asks for, in words for a model.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::json::{Number, Token};
use super::node::{ArrayRules, Graph, NodeId, NumberRules, ObjectRules, Plain, Shape, StringRules, Types, Union};
use super::problem::What;
use super::text;

/// How many characters of a value may be quoted.
const QUOTED: usize = 40;

/// The JSON type of a text, and the value itself if it is short and no secret.
pub(crate) fn got(raw: &str, secret: bool) -> String {
    let kind = match raw.trim_start().as_bytes().first() {
        Some(b'"') => "string",
        Some(b'{') => "object",
        Some(b'[') => "array",
        Some(b't' | b'f') => "boolean",
        Some(b'n') => return "null".to_owned(),
        Some(_) => "number",
        None => return "nothing".to_owned(),
    };
    if secret || matches!(kind, "object" | "array") {
        return kind.to_owned();
    }
    let inner = raw.trim();
    let inner = inner.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(inner);
    let characters = inner.chars().count();
    if characters > QUOTED {
        return format!("{kind} of {characters} characters");
    }
    let mut words = String::with_capacity(kind.len() + inner.len() + 24);
    words.push_str(kind);
    words.push(' ');
    match kind {
        "string" => {
            words.push('"');
            text::push_shown(&mut words, &Token::unescape(inner, inner.contains('\\')), QUOTED);
            words.push('"');
        }
        _ => words.push_str(inner),
    }
    words
}

pub(super) fn node(graph: &Graph, mut node: NodeId) -> String {
    loop {
        match &graph.nodes[node].shape {
            Shape::Plain(plain) => return self::plain(graph, plain),
            Shape::Union(union) => return self::union(graph, union),
            Shape::Link(target) if *target == node => return "a value".to_owned(),
            Shape::Link(target) => node = *target,
        }
    }
}

pub(super) fn plain(graph: &Graph, plain: &Plain) -> String {
    if let Some(words) = &plain.one_of {
        return self::words(words);
    }
    if plain.types == Types::ALL {
        return "a value".to_owned();
    }
    if plain.types == Types::NONE {
        return "nothing at all".to_owned();
    }
    if plain.types.both(Types::NUMBER) == plain.types {
        return number(plain);
    }
    let kinds: Vec<String> = plain
        .types
        .names()
        .into_iter()
        .map(|kind| match kind {
            "integer" | "number" => number(plain),
            "string" => plain.string.as_deref().map_or_else(|| "string".to_owned(), string),
            "array" => array(graph, plain.array.as_deref()),
            kind => kind.to_owned(),
        })
        .collect();
    kinds.join(" or ")
}

pub(super) fn number(plain: &Plain) -> String {
    let kind = if plain.types.has(Types::FRACTION) { "number" } else { "integer" };
    let Some(rules) = &plain.number else {
        return kind.to_owned();
    };
    let mut words = String::with_capacity(64);
    words.push_str(kind);
    push_bounds(&mut words, rules);
    if let Some(step) = rules.multiple_of {
        words.push_str(" that is a multiple of ");
        push_number(&mut words, step);
    }
    words
}

fn push_number(words: &mut String, number: Number) {
    match number {
        Number::Integer(integer) => words.push_str(itoa::Buffer::new().format(integer)),
        Number::Float(float) => super::json::write_f64(words, float),
    }
}

fn push_bounds(words: &mut String, rules: &NumberRules) {
    if let (Some(low), Some(high)) = (rules.minimum, rules.maximum) {
        words.push_str(" from ");
        push_number(words, low);
        words.push_str(" to ");
        push_number(words, high);
        return;
    }
    let low = rules.minimum.map(|bound| ("at least ", bound)).or(rules.above.map(|bound| ("more than ", bound)));
    let high = rules.maximum.map(|bound| ("at most ", bound)).or(rules.below.map(|bound| ("less than ", bound)));
    let mut before = " ";
    for (word, bound) in low.into_iter().chain(high) {
        words.push_str(before);
        words.push_str(word);
        push_number(words, bound);
        before = " and ";
    }
}

/// `unit` in the singular; all of them take an `s`.
fn range(min: Option<u64>, max: Option<u64>, unit: &str) -> Option<String> {
    let unit = if max.or(min) == Some(1) { unit.to_owned() } else { format!("{unit}s") };
    Some(match (min, max) {
        (Some(min), Some(max)) if min == max => format!("{min} {unit}"),
        (Some(min), Some(max)) => format!("{min} to {max} {unit}"),
        (Some(min), None) => format!("at least {min} {unit}"),
        (None, Some(max)) => format!("at most {max} {unit}"),
        (None, None) => return None,
    })
}

pub(super) fn string(rules: &StringRules) -> String {
    if let Some(format) = rules.format {
        return format.describe().to_owned();
    }
    match range(rules.min_length, rules.max_length, "character") {
        Some(length) => format!("string of {length}"),
        None => "string".to_owned(),
    }
}

fn array(graph: &Graph, rules: Option<&ArrayRules>) -> String {
    let Some(rules) = rules else { return "array".to_owned() };
    if !rules.prefix.is_empty() {
        return array_length(rules);
    }
    let mut words = "array".to_owned();
    if let Some(items) = rules.items {
        let inner = &graph.nodes[items].shape;
        if let Shape::Plain(inner) = inner {
            let names = inner.types.names();
            if let ([kind], None) = (names.as_slice(), &inner.one_of) {
                let _ = write!(words, " of {kind}");
            }
        }
    }
    words
}

pub(super) fn array_length(rules: &ArrayRules) -> String {
    let tuple = (rules.items.is_none()).then_some(rules.prefix.len() as u64);
    match range(rules.min.or(tuple), rules.max.or(tuple), "element") {
        Some(length) => format!("array of {length}"),
        None => "array".to_owned(),
    }
}

pub(super) fn object_size(rules: &ObjectRules) -> String {
    match range(rules.min, rules.max, "member") {
        Some(size) => format!("object of {size}"),
        None => "object".to_owned(),
    }
}

/// The words of a closed set.
pub(super) fn words(words: &[String]) -> String {
    const SHOWN: usize = 24;
    match words {
        [] => "nothing at all".to_owned(),
        [only] => only.clone(),
        words => {
            let mut out = format!("one of {}", words[..words.len().min(SHOWN)].join(", "));
            if words.len() > SHOWN {
                let _ = write!(out, " and {} more", words.len() - SHOWN);
            }
            out
        }
    }
}

/// Which word of a closed set was meant, in quotes as the model has to write it.
pub(super) fn nearest_word(value: &str, words: &[String]) -> Option<String> {
    let bare = value.strip_prefix('"')?.strip_suffix('"')?;
    text::nearest(bare, words.iter().map(String::as_str)).map(str::to_owned)
}

pub(super) fn union(graph: &Graph, union: &Union) -> String {
    const SHOWN: usize = 24;
    let mut kinds: Vec<String> = Vec::new();
    // Each form once: they may lead to one another along very many ways.
    let mut seen = HashSet::new();
    let mut pending: Vec<NodeId> = union.branches.iter().rev().copied().collect();
    while let Some(branch) = pending.pop() {
        if !seen.insert(branch) {
            continue;
        }
        let kind = match &graph.nodes[branch].shape {
            Shape::Plain(plain) if plain.one_of.is_none() && plain.types.names().as_slice() == ["object"] => {
                "object".to_owned()
            }
            Shape::Plain(plain) => self::plain(graph, plain),
            Shape::Link(target) => {
                pending.push(*target);
                continue;
            }
            Shape::Union(union) => {
                pending.extend(union.branches.iter().rev());
                continue;
            }
        };
        if kinds.contains(&kind) {
            continue;
        }
        if kinds.len() == SHOWN {
            kinds.push("another form".to_owned());
            break;
        }
        kinds.push(kind);
    }
    kinds.join(" or ")
}

/// A member that isn't declared.
pub(super) fn unknown(rules: &ObjectRules, key: &str) -> What {
    const SHOWN: usize = 24;
    let names = || rules.properties.iter().map(|property| &*property.name);
    What::Unknown {
        suggestion: text::nearest(key, names()).map(str::to_owned),
        known: text::listed(names().collect::<Vec<_>>().into_iter(), SHOWN),
    }
}
