//! Values that look like others.

use serde_json::Value;
use tool_runtime::{Day, Shape};

use crate::dice::Dice;

/// Another value of the same shape: another member, the opposite, a number of as many digits, a day of the same
/// year, a text with other letters and digits in the same places. `None` if there is none.
pub(super) fn sibling(value: &Value, shape: &Shape, dice: &mut Dice) -> Option<Value> {
    // Draws may give the value itself.
    (0..64).find_map(|_| drawn(value, shape, dice).filter(|other| other != value))
}

fn drawn(value: &Value, shape: &Shape, dice: &mut Dice) -> Option<Value> {
    match (shape, value) {
        (Shape::Choice(members), _) => {
            let at = dice.below(u64::try_from(members.len()).ok()?.max(1));
            serde_json::from_str(members.get(usize::try_from(at).ok()?)?).ok()
        }
        (_, Value::Bool(is)) => Some(Value::Bool(!is)),
        (_, Value::Number(number)) => {
            let number = number.as_u64()?;
            let digits = number.checked_ilog10().unwrap_or(0);
            let from = if digits == 0 { 0 } else { 10_u64.pow(digits) };
            Some(Value::from(from + dice.below(10_u64.pow(digits + 1) - from)))
        }
        (Shape::Date, Value::String(text)) => {
            let year = text.parse::<Day>().ok()?.year();
            let (month, day) = (dice.below(12) + 1, dice.below(31) + 1);
            let day = Day::new(year, u8::try_from(month).ok()?, u8::try_from(day).ok()?)?;
            Some(Value::from(day.to_string()))
        }
        (_, Value::String(text)) => Some(Value::from(redrawn(text, dice))),
        _ => None,
    }
}

/// Of an identifier the digits, since its words are the same in all (`credit_card_`); of a word its letters.
fn redrawn(text: &str, dice: &mut Dice) -> String {
    let identifies = text.contains('_');
    let other = |c: char| match c {
        '0'..='9' => dice.letter(b'0', 10),
        'a'..='z' if !identifies => dice.letter(b'a', 26),
        'A'..='Z' if !identifies => dice.letter(b'A', 26),
        c => c,
    };
    text.chars().map(other).collect()
}

/// A value of the same shape that stands nowhere in `everything`, however it is read. `None` if there is none: one of
/// a few members always may.
pub(super) fn invented(value: &Value, shape: &Shape, everything: &str, dice: &mut Dice) -> Option<Value> {
    let squeezed = squeeze(everything);
    let mut draws = 0..256;
    draws.find_map(|draw| {
        let other = match (shape, value) {
            (Shape::Choice(_), _) | (_, Value::Bool(_)) => return None,
            // Of few digits all may be somewhere, if only within others.
            (_, Value::Number(_)) if draw >= 128 => Value::from(10_000 + dice.below(9_990_000)),
            _ => sibling(value, shape, dice)?,
        };
        let nowhere = match &other {
            Value::String(text) => match text.parse::<Day>() {
                Ok(day) => {
                    let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
                    let month = months[usize::from(day.month() - 1)];
                    let spelt = [
                        format!("{month}{}", day.day()),
                        format!("{}{month}", day.day()),
                        format!("{:02}{:02}", day.month(), day.day()),
                    ];
                    // `may20` of "May 20", whatever letters are left out of the month's name.
                    let short = squeeze(&shortened(everything));
                    spelt.iter().all(|spelt| !squeezed.contains(spelt) && !short.contains(spelt))
                }
                Err(_) => !squeezed.contains(&squeeze(text)),
            },
            other => !squeezed.contains(&other.to_string()),
        };
        nowhere.then_some(other)
    })
}

/// Letters and digits alone, small.
fn squeeze(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Each word cut to three letters, if it has no digits.
fn shortened(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words
        .map(|word| {
            if word.is_ascii() && !word.contains(|c: char| c.is_ascii_digit()) {
                word.get(..3).unwrap_or(word)
            } else {
                word
            }
        })
        .collect()
}
