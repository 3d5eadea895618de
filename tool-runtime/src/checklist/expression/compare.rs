//! Which comparisons and sums can't be, whatever the values.

use super::kinds::{Kinds, Known};
use super::node::{Arithmetic, Comparison};
use crate::schema::text;

/// How many values a fault lists.
const LISTED: usize = 8;

/// What is wrong with a comparison that has no answer, or always the same, for all values of these kinds.
pub(super) fn never(comparison: Comparison, a: &Known, b: &Known, is_in: bool) -> Option<String> {
    let who = |known: &Known| match (&known.place, &known.literal) {
        (Some(place), _) => format!("`{}` is {}", place.written(), known.kinds.words()),
        (None, Some(literal)) => text::visible(literal, 80),
        (None, None) => format!("this is {}", known.kinds.words()),
    };
    let with = |known: &Known| match (&known.place, &known.literal) {
        (Some(place), _) => format!("`{}`, which is {}", place.written(), known.kinds.words()),
        (None, Some(literal)) => text::visible(literal, 80),
        (None, None) => known.kinds.words(),
    };
    let is_equality = matches!(comparison, Comparison::Equal | Comparison::Unequal);
    // The side that is read from somewhere is the one to speak of.
    let (a, b) = if a.place.is_none() && b.place.is_some() { (b, a) } else { (a, b) };
    let shared = a.kinds.comparable().and(b.kinds.comparable());
    if !is_equality {
        let ordered = Kinds::NUMBER.or(Kinds::STRING).or(Kinds::MOMENT).or(Kinds::SPAN);
        return (!shared.meets(ordered)).then(|| format!("{}, and has no order with {}", who(a), with(b)));
    }
    if !is_in && (a.kinds == Kinds::NULL || b.kinds == Kinds::NULL) {
        let never = a.place.is_some() && !a.kinds.meets(Kinds::NULL);
        return never.then(|| format!("{}, and never null; `has(…)` asks whether something is there", who(a)));
    }
    if shared == Kinds::NONE {
        return Some(format!("{}, and can't be compared with {}", who(a), with(b)));
    }
    let place = a.place.as_ref()?.written();
    // A list of literals: each of them has to be possible.
    let literals: Vec<&String> = match (&b.literal, &b.listed) {
        (Some(literal), _) => vec![literal],
        (None, Some(listed)) if is_in && b.place.is_none() => listed.iter().collect(),
        _ => return None,
    };
    literals.into_iter().find_map(|literal| impossible(a, &place, literal))
}

/// What is wrong with a literal that can't stand at a place.
fn impossible(known: &Known, place: &str, literal: &str) -> Option<String> {
    let kinds = match literal.as_bytes().first()? {
        b'"' => Kinds::STRING,
        b't' | b'f' => Kinds::BOOLEAN,
        b'n' => Kinds::NULL,
        _ if literal.contains(['.', 'e']) => Kinds::FRACTION,
        _ => Kinds::INTEGER,
    };
    let shown = text::visible(literal, 80);
    if !known.kinds.meets(kinds) {
        return Some(format!("`{place}` is {}, and never {shown}", known.kinds.words()));
    }
    let listed = known.listed.as_deref()?;
    if listed.iter().any(|word| word == literal) {
        return None;
    }
    let words: Vec<String> = listed.iter().map(|word| text::visible(word, 80)).collect();
    let words = || words.iter().map(String::as_str);
    Some(match text::nearest(&shown, words()) {
        Some(nearest) => format!("`{place}` is never {shown}; did you mean {nearest}?"),
        None => format!("`{place}` is never {shown}: it is one of {}", text::listed(words(), LISTED)),
    })
}

/// The kinds that a sum, a difference, … can have. `None` if it can't be made.
pub(super) fn arithmetic(arithmetic: Arithmetic, a: Kinds, b: Kinds) -> Option<Kinds> {
    let mut kinds = Kinds::NONE;
    let mut add = |holds: bool, gives: Kinds| {
        if holds {
            kinds = kinds.or(gives);
        }
    };
    let both = |kind: Kinds| a.meets(kind) && b.meets(kind);
    let (plus, minus) = (arithmetic == Arithmetic::Plus, arithmetic == Arithmetic::Minus);
    let has_fractions = (a.or(b)).meets(Kinds::FRACTION) && arithmetic != Arithmetic::Modulo;
    add(both(Kinds::INTEGER), Kinds::INTEGER);
    add(both(Kinds::NUMBER) && has_fractions, Kinds::FRACTION);
    add(plus && both(Kinds::STRING), Kinds::STRING);
    add(plus && both(Kinds::LIST), Kinds::LIST);
    add((plus || minus) && both(Kinds::SPAN), Kinds::SPAN);
    add((plus || minus) && a.meets(Kinds::MOMENT) && b.meets(Kinds::SPAN), Kinds::MOMENT);
    add(plus && a.meets(Kinds::SPAN) && b.meets(Kinds::MOMENT), Kinds::MOMENT);
    add(minus && both(Kinds::MOMENT), Kinds::SPAN);
    (kinds != Kinds::NONE).then_some(kinds)
}
