//! JSON whose spelling is in the test's hand.

use serde_json::Value;

use crate::tape::Tape;

/// A JSON value with the spelling of its numbers, the order of its members, and members given twice.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Number(String),
    String(String),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl From<&Value> for Tree {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Tree::Null,
            Value::Bool(value) => Tree::Bool(*value),
            Value::Number(number) => Tree::Number(number.to_string()),
            Value::String(text) => Tree::String(text.clone()),
            Value::Array(elements) => Tree::Array(elements.iter().map(Tree::from).collect()),
            Value::Object(members) => {
                Tree::Object(members.iter().map(|(key, value)| (key.clone(), value.into())).collect())
            }
        }
    }
}

impl Tree {
    /// Compact, in the shortest spelling of its strings.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, None);
        out
    }

    /// The same value, spelt otherwise: white space, order of members, numbers, escapes.
    pub(crate) fn respelt(&self, tape: &mut Tape<'_>) -> String {
        let mut out = String::new();
        space(&mut out, tape);
        self.write(&mut out, Some(tape));
        // At the end it costs a reader nothing, so a budget that grows with the text shows here.
        if tape.once_in(8) {
            out.push_str(&" ".repeat(5_000));
        }
        out
    }

    fn write(&self, out: &mut String, mut tape: Option<&mut Tape<'_>>) {
        match self {
            Tree::Null => out.push_str("null"),
            Tree::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Tree::Number(text) => match tape {
                Some(tape) => out.push_str(&respelt_number(text, tape)),
                None => out.push_str(text),
            },
            Tree::String(text) => write_string(out, text, tape),
            Tree::Array(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    around(out, &mut tape, |out, tape| element.write(out, tape));
                }
                out.push(']');
            }
            Tree::Object(members) => {
                let mut order: Vec<&(String, Tree)> = members.iter().collect();
                if let Some(tape) = &mut tape {
                    for last in (1..order.len()).rev() {
                        order.swap(last, last - tape.pick(last + 1));
                    }
                }
                out.push('{');
                for (index, (key, value)) in order.into_iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    around(out, &mut tape, |out, tape| write_string(out, key, tape));
                    out.push(':');
                    around(out, &mut tape, |out, tape| value.write(out, tape));
                }
                out.push('}');
            }
        }
    }

    pub(crate) fn any(&self, test: &mut dyn FnMut(&Tree) -> bool) -> bool {
        test(self)
            || match self {
                Tree::Array(elements) => elements.iter().any(|element| element.any(test)),
                Tree::Object(members) => members.iter().any(|(_, value)| value.any(test)),
                _ => false,
            }
    }

    pub(crate) fn has_null_member(&self) -> bool {
        self.any(
            &mut |tree| matches!(tree, Tree::Object(members) if members.iter().any(|(_, value)| *value == Tree::Null)),
        )
    }

    /// How many values there are in it.
    pub(crate) fn count(&self) -> usize {
        let mut count = 0;
        self.any(&mut |_| {
            count += 1;
            false
        });
        count
    }

    /// Puts `change` of it in the place of the value at `index`, counted as `count` does.
    pub(crate) fn change_at(&mut self, index: &mut usize, change: &mut dyn FnMut(&mut Tree)) {
        if *index == 0 {
            change(self);
            *index = usize::MAX;
            return;
        }
        *index = index.saturating_sub(1);
        let inner: Vec<&mut Tree> = match self {
            Tree::Array(elements) => elements.iter_mut().collect(),
            Tree::Object(members) => members.iter_mut().map(|(_, value)| value).collect(),
            _ => Vec::new(),
        };
        for tree in inner {
            if *index == usize::MAX {
                return;
            }
            tree.change_at(index, change);
        }
    }
}

fn around(
    out: &mut String,
    tape: &mut Option<&mut Tape<'_>>,
    mut write: impl FnMut(&mut String, Option<&mut Tape<'_>>),
) {
    match tape {
        Some(tape) => {
            space(out, tape);
            write(out, Some(tape));
            space(out, tape);
        }
        None => write(out, None),
    }
}

fn space(out: &mut String, tape: &mut Tape<'_>) {
    out.push_str(tape.of(&["", "", "", " ", "\n", "\t\r\n  "]));
}

fn write_string(out: &mut String, text: &str, mut tape: Option<&mut Tape<'_>>) {
    use std::fmt::Write as _;

    out.push('"');
    for character in text.chars() {
        let escaped = tape.as_mut().map_or(0, |tape| tape.pick(4));
        let short = match character {
            '"' => Some('"'),
            '\\' => Some('\\'),
            '\u{8}' => Some('b'),
            '\u{c}' => Some('f'),
            '\n' => Some('n'),
            '\r' => Some('r'),
            '\t' => Some('t'),
            '/' if escaped == 1 => Some('/'),
            _ => None,
        };
        match (escaped, short) {
            (2 | 3, _) | (_, None) if escaped > 1 || character < ' ' => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = if escaped == 3 { write!(out, "\\u{unit:04X}") } else { write!(out, "\\u{unit:04x}") };
                }
            }
            (_, Some(short)) => {
                out.push('\\');
                out.push(short);
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// A number as its digits and a power of ten, without zeros at either end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub(crate) negative: bool,
    pub(crate) digits: String,
    pub(crate) exponent: i64,
}

impl Decimal {
    pub(crate) fn of(text: &str) -> Self {
        let negative = text.starts_with('-');
        let text = text.trim_start_matches('-').to_ascii_lowercase();
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0').trim_end_matches('0');
        if digits.is_empty() {
            return Decimal { negative: false, digits: String::new(), exponent: 0 };
        }
        let dropped = all.len() - all.trim_end_matches('0').len();
        let exponent: i64 = exponent.parse().unwrap_or(if exponent.starts_with('-') { -99_999 } else { 99_999 });
        Decimal { negative, exponent: exponent - fraction.len() as i64 + dropped as i64, digits: digits.to_owned() }
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.exponent >= 0
    }

    /// How many digits stand before the point.
    pub(crate) fn magnitude(&self) -> i64 {
        self.digits.len() as i64 + self.exponent
    }

    /// `serde_json` reads it as just this number, whatever its features: an integer of 64 bits, or
    /// a decimal of which both the digits and the power of ten are doubles.
    pub(crate) fn is_exact(&self, text: &str) -> bool {
        let integer = !text.contains(['.', 'e', 'E']) && (text.parse::<u64>().is_ok() || text.parse::<i64>().is_ok());
        integer || (self.digits.len() <= 15 && self.exponent.abs() <= 22)
    }

    /// Beyond ±2^53, where a double isn't the only integer near it (generously: of 16 digits).
    pub(crate) fn is_large(&self) -> bool {
        self.magnitude() >= 16
    }
}

pub(crate) fn is_float_spelling(text: &str) -> bool {
    text.contains(['.', 'e', 'E'])
}

/// The same number, spelt otherwise. An integer beyond 2^53 has no other spelling: as a float it
/// would be another number.
fn respelt_number(text: &str, tape: &mut Tape<'_>) -> String {
    let decimal = Decimal::of(text);
    let large = decimal.is_large() && decimal.is_whole();
    if large && !is_float_spelling(text) {
        return text.to_owned();
    }
    let sign = if decimal.negative { "-" } else { "" };
    if decimal.digits.is_empty() {
        return tape.of(&["0", "-0", "0.0", "-0.00", "0e5", "0E-1"]).to_owned();
    }
    let Decimal { digits, exponent, .. } = &decimal;
    match tape.pick(6) {
        0 => text.to_owned(),
        1 if !large && decimal.is_whole() && *exponent < 20 => {
            format!("{sign}{digits}{}", "0".repeat(*exponent as usize))
        }
        2 if decimal.is_whole() && *exponent < 20 => format!("{sign}{digits}{}.0", "0".repeat(*exponent as usize)),
        3 => format!("{sign}{digits}0E{:+}", exponent - 1),
        4 => format!("{sign}0.{digits}e{}", exponent + digits.len() as i64),
        _ => format!("{sign}{}.{}0e{:03}", &digits[..1], &digits[1..], exponent + digits.len() as i64 - 1),
    }
}

/// Equal as JSON: numbers by what they are worth, objects in any order. A member that only `value`
/// has may be `null`, as serde writes what isn't there.
pub(crate) fn says_the_same(canonical: &Value, value: &Value) -> bool {
    match (canonical, value) {
        (Value::Number(a), Value::Number(b)) => same_number(&a.to_string(), &b.to_string()),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| says_the_same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.iter().all(|(key, a)| b.get(key).is_some_and(|b| says_the_same(a, b)))
                && b.iter().all(|(key, b)| a.contains_key(key) || b.is_null())
        }
        (a, b) => a == b,
    }
}

/// The same with its arrays, which are sets, in one order.
pub(crate) fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(elements) => {
            let mut elements: Vec<Value> = elements.iter().map(sorted).collect();
            elements.sort_by_key(ToString::to_string);
            elements.into()
        }
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), sorted(value))).collect(),
        _ => value.clone(),
    }
}

/// Equal digits, or the same double where one of them was read as one.
pub(crate) fn same_number(a: &str, b: &str) -> bool {
    let doubles = || a.parse::<f64>().ok() == b.parse::<f64>().ok();
    Decimal::of(a) == Decimal::of(b) || ((is_float_spelling(a) || is_float_spelling(b)) && doubles())
}
