use std::fmt;

use crate::schema::json::{Cursor, Fault, Token, canonical_number, cmp_utf16, is_integer_literal, write_string};

/// One thing that canonical form makes alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CanonicalStep {
    /// Members in one order, strings in one spelling, no white space. Without it texts are compared as they were written,
    /// and no other step applies to arguments.
    Keys,
    /// Numbers in one spelling: `1`, `1.0` and `1e0` are one number. `1` and `"1"` stay two values.
    Numbers,
    /// Arguments as the tool's schema accepts them: names resolved, declared defaults filled in. Arguments that the
    /// schema refuses are compared as they are, and never equal accepted ones.
    Schema,
    /// Calls as a multiset: their order doesn't count, their number does.
    Calls,
    /// Arguments of a type that is a set, in one order. Of schemas that somebody wrote nobody knows which arrays are: see
    /// [`ArgumentForm::Unordered`](super::ArgumentForm::Unordered).
    Sets,
    /// What the host declares of single arguments: see [`PlanTool::argument`](super::PlanTool::argument).
    Declared,
}

impl CanonicalStep {
    /// All of them, in the order in which they are taken.
    pub const ALL: [CanonicalStep; 6] =
        [Self::Schema, Self::Sets, Self::Declared, Self::Keys, Self::Numbers, Self::Calls];

    /// Its name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            CanonicalStep::Keys => "keys",
            CanonicalStep::Numbers => "numbers",
            CanonicalStep::Schema => "schema",
            CanonicalStep::Calls => "calls",
            CanonicalStep::Sets => "sets",
            CanonicalStep::Declared => "declared",
        }
    }
}

impl fmt::Display for CanonicalStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which steps are taken before samples are compared: all, unless some are switched off.
///
/// The outcome is the text of RFC 8785, except that integers outside ±2^53 keep their digits: two ids that the RFC would
/// write as one stay two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CanonicalForm([bool; CanonicalStep::ALL.len()]);

impl CanonicalForm {
    /// Every step.
    pub const fn full() -> Self {
        CanonicalForm([true; CanonicalStep::ALL.len()])
    }

    /// Without one step.
    #[must_use]
    pub fn without(mut self, step: CanonicalStep) -> Self {
        self.0[step as usize] = false;
        self
    }

    /// Is it taken? A step that depends on another isn't without it: sets are known by the schema, and arguments that are
    /// compared as they were written have nothing else done to them.
    pub fn takes(&self, step: CanonicalStep) -> bool {
        let needs = match step {
            CanonicalStep::Keys | CanonicalStep::Calls => None,
            CanonicalStep::Sets => Some(CanonicalStep::Schema),
            CanonicalStep::Schema | CanonicalStep::Declared | CanonicalStep::Numbers => Some(CanonicalStep::Keys),
        };
        self.0[step as usize] && needs.is_none_or(|needed| self.takes(needed))
    }

    /// The steps that are taken, in order.
    pub fn steps(&self) -> impl Iterator<Item = CanonicalStep> + use<> {
        let form = *self;
        CanonicalStep::ALL.into_iter().filter(move |step| form.takes(*step))
    }
}

impl Default for CanonicalForm {
    fn default() -> Self {
        CanonicalForm::full()
    }
}

/// What is made of numbers, and of members that are given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// One spelling a number; no member twice.
    Canonical,
    /// The digits as they were written; no member twice.
    Written,
    /// As Python's `json` reads them: integers and doubles apart, and of a member that is given twice the last.
    Python,
}

/// Writes the value under the cursor with its members in order, straight from the text: no tree is made.
pub(super) fn write_value(
    cursor: &mut Cursor<'_>,
    out: &mut String,
    numbers: Numbers,
    depth: usize,
) -> Result<(), Fault> {
    let token = cursor.token()?;
    if depth == 0 && matches!(token, Token::ArrayStart | Token::ObjectStart) {
        return cursor.fail("nested too deeply");
    }
    match token {
        Token::Null => out.push_str("null"),
        Token::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        Token::Number(text) => return write_number(cursor, out, text, numbers),
        Token::String { raw, escaped } => write_text(out, raw, escaped),
        Token::ArrayStart => {
            out.push('[');
            let mut more = cursor.first_element()?;
            while more {
                write_value(cursor, out, numbers, depth - 1)?;
                more = cursor.next_element()?;
                if more {
                    out.push(',');
                }
            }
            out.push(']');
        }
        Token::ObjectStart => return write_members(cursor, out, numbers, depth),
    }
    Ok(())
}

/// A string without escapes is its own canonical spelling.
fn write_text(out: &mut String, raw: &str, escaped: bool) {
    if escaped {
        write_string(out, &Token::unescape(raw, true));
    } else {
        out.push('"');
        out.push_str(raw);
        out.push('"');
    }
}

fn write_number(cursor: &mut Cursor<'_>, out: &mut String, text: &str, numbers: Numbers) -> Result<(), Fault> {
    match numbers {
        Numbers::Written => out.push_str(text),
        Numbers::Canonical => match canonical_number(text) {
            Some(number) => out.push_str(&number),
            None => return cursor.fail("a number that is too large"),
        },
        Numbers::Python if is_integer_literal(text) => match text {
            "-0" => out.push('0'),
            _ if text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok() => out.push_str(text),
            _ => return cursor.fail("an integer of more than 64 bits"),
        },
        // `-0.0` and `0.0` are two texts there, so a double is its bits. Std's reader rounds correctly.
        Numbers::Python => match text.parse::<f64>() {
            Ok(float) if float.is_finite() => {
                out.push('d');
                out.push_str(&float.to_bits().to_string());
            }
            _ => return cursor.fail("a number that is too large"),
        },
    }
    Ok(())
}

fn write_members(cursor: &mut Cursor<'_>, out: &mut String, numbers: Numbers, depth: usize) -> Result<(), Fault> {
    out.push('{');
    let begin = out.len();
    // Each member's name, and where its text ends.
    let mut members: Vec<(std::borrow::Cow<'_, str>, usize)> = Vec::new();
    let mut in_order = true;
    let mut next = cursor.first_key()?;
    while let Some(key) = next {
        write_text(out, key.raw(), key.escaped);
        out.push(':');
        write_value(cursor, out, numbers, depth - 1)?;
        let name = key.name();
        in_order &= members.last().is_none_or(|(last, _)| cmp_utf16(last, &name).is_lt());
        next = cursor.next_key()?;
        if next.is_some() {
            out.push(',');
        }
        members.push((name, out.len()));
    }
    if in_order {
        out.push('}');
        return Ok(());
    }
    // All but the last end in a comma, so each text is taken without one.
    let mut texts = Vec::with_capacity(members.len());
    let mut start = begin;
    let last = members.len() - 1;
    for (place, (name, end)) in members.iter().enumerate() {
        texts.push((name, place, &out[start..*end - usize::from(place < last)]));
        start = *end;
    }
    texts.sort_by(|(a, first, _), (b, second, _)| cmp_utf16(a, b).then(second.cmp(first)));
    if numbers != Numbers::Python && texts.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return cursor.fail("a member that is given twice");
    }
    // The last that was given comes first of its name, and stays.
    texts.dedup_by(|later, kept| later.0 == kept.0);
    let sorted = texts.iter().map(|(_, _, text)| *text).collect::<Vec<_>>().join(",");
    out.truncate(begin);
    out.push_str(&sorted);
    out.push('}');
    Ok(())
}

/// The canonical form of a whole text; `None` if it isn't one JSON value.
pub(super) fn of_text(text: &str, numbers: Numbers, depth: usize) -> Option<String> {
    let mut cursor = Cursor::new(text);
    let mut out = String::with_capacity(text.len());
    write_value(&mut cursor, &mut out, numbers, depth).and_then(|()| cursor.finish()).ok()?;
    Some(out)
}

/// Equal empty results are no agreement.
pub(super) fn is_empty(canonical: &str) -> bool {
    ["null", "\"\"", "[]", "{}"].contains(&canonical)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::MAX_DEPTH;
    use crate::schema::json::Json;

    #[test]
    fn it_is_what_the_tree_writes() {
        for text in [
            r#"{"b":[1.0,{"z":null,"a":"\u0041\n"}],"a":-0,"":{},"\ud83d\ude00":1,"\ufb33":2}"#,
            "[]",
            r#" [ 1e2 , 9007199254740993, {"b":1,"a":2,"c":{"y":1,"x":2}} ] "#,
        ] {
            let mut tree = String::new();
            Json::parse(text).unwrap().write_sorted(&mut tree);
            assert_eq!(of_text(text, Numbers::Canonical, MAX_DEPTH), Some(tree), "{text}");
        }
    }

    #[test]
    fn a_member_twice_is_no_value_except_as_python_reads_it() {
        let text = r#"{"a":1,"b":2,"\u0061":3}"#;
        assert_eq!(of_text(text, Numbers::Canonical, 9), None);
        assert_eq!(of_text(text, Numbers::Written, 9), None);
        assert_eq!(of_text(text, Numbers::Python, 9).as_deref(), Some(r#"{"a":3,"b":2}"#));
        assert_eq!(of_text(r#"{"a":1,"a":1}"#, Numbers::Canonical, 9), None);
    }
}
