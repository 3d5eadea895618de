use std::cmp::Ordering;

use crate::schema::json::{Cursor, Token};

/// A number exactly as it is written: nothing is rounded, and no size is too large for it.
///
/// Its value is `0.HEADTAIL` times ten to the power of `point`, where the first digit isn't 0 and neither is
/// the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal<S> {
    negative: bool,
    head: S,
    tail: S,
    point: i64,
}

impl<'a> Decimal<&'a str> {
    /// The number of a JSON text. `None` if it isn't one, or if its exponent has more than 18 digits.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let mut cursor = Cursor::new(text);
        match cursor.token() {
            Ok(Token::Number(digits)) if digits == text => Self::of_digits(digits),
            _ => None,
        }
    }

    /// The number of a token.
    pub(super) fn of_digits(digits: &'a str) -> Option<Self> {
        let (negative, digits) = match digits.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, digits),
        };
        let (mantissa, exponent) = match digits.bytes().position(|byte| matches!(byte, b'e' | b'E')) {
            Some(at) => (&digits[..at], &digits[at + 1..]),
            None => (digits, "0"),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let whole = whole.trim_start_matches('0');
        // Where the point stands: after the digits before it, or before the zeros after it.
        let (before, whole, fraction) = if whole.is_empty() {
            let significant = fraction.trim_start_matches('0');
            let zeros = i64::try_from(fraction.len() - significant.len()).ok()?;
            (-zeros, "", significant)
        } else {
            (i64::try_from(whole.len()).ok()?, whole, fraction)
        };
        let tail = fraction.trim_end_matches('0');
        let head = if tail.is_empty() { whole.trim_end_matches('0') } else { whole };
        if head.is_empty() && tail.is_empty() {
            return Some(Decimal { negative: false, head, tail, point: 0 });
        }
        let (minus, exponent) = match exponent.as_bytes() {
            [b'-', ..] => (true, &exponent[1..]),
            [b'+', ..] => (false, &exponent[1..]),
            _ => (false, exponent),
        };
        let exponent = exponent.trim_start_matches('0');
        if exponent.len() > 18 {
            return None;
        }
        let exponent: i64 = if exponent.is_empty() { 0 } else { exponent.parse().ok()? };
        let point = before.checked_add(if minus { -exponent } else { exponent })?;
        Some(Decimal { negative, head, tail, point })
    }
}

impl<S: AsRef<str>> Decimal<S> {
    fn is_zero(&self) -> bool {
        self.head.as_ref().is_empty() && self.tail.as_ref().is_empty()
    }

    /// There is nothing after the point.
    pub(super) fn is_whole(&self) -> bool {
        let digits = self.head.as_ref().len() + self.tail.as_ref().len();
        i64::try_from(digits).is_ok_and(|digits| digits <= self.point) || self.is_zero()
    }

    pub(super) fn compare<T: AsRef<str>>(&self, other: &Decimal<T>) -> Ordering {
        self.sign().cmp(&other.sign()).then_with(|| {
            let larger = self.point.cmp(&other.point).then_with(|| self.digits().cmp(other.digits()));
            if self.negative { larger.reverse() } else { larger }
        })
    }

    fn sign(&self) -> i8 {
        match (self.is_zero(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.head.as_ref().bytes().chain(self.tail.as_ref().bytes())
    }
}

/// A number that a rule compares with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Number {
    literal: Box<str>,
    exact: Decimal<Box<str>>,
}

impl Number {
    pub(super) fn new(literal: &str) -> Option<Self> {
        let Decimal { negative, head, tail, point } = Decimal::parse(literal)?;
        let exact = Decimal { negative, head: head.into(), tail: tail.into(), point };
        Some(Number { literal: literal.into(), exact })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.literal
    }

    pub(super) fn is_whole(&self) -> bool {
        self.exact.is_whole()
    }

    /// How a number of an argument stands to this one.
    pub(super) fn compared(&self, number: &Decimal<&str>) -> Ordering {
        number.compare(&self.exact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inv15_numbers_are_compared_as_they_are_written() {
        // In order; those of one line are equal.
        let ascending: &[&[&str]] = &[
            &["-1e400", "-10e399"],
            &["-18446744073709551616"],
            &["-1000.5", "-1.0005e3"],
            &["-1000", "-1e3"],
            &["-0.1", "-1e-1"],
            &["-1e-400"],
            &["0", "-0", "0.0", "0e999999999999999999999999", "-0.000e-5"],
            &["1e-999999999999999999"],
            &["1e-400", "0.1e-399"],
            &["0.0009999999999999999999999999"],
            &["0.001", "1e-3", "0.00100", "10E-4"],
            &["0.1", "1e-1"],
            &["0.1000000000000000055511151231257827"],
            &["9"],
            &["10", "1e1", "10.0", "1E+01", "0.1e2", "100e-1"],
            &["10.5"],
            &["99"],
            &["100"],
            &["999999", "999999.0"],
            &["999999.5", "9.999995e5"],
            &["1000000", "1e6"],
            &["9007199254740992"],
            &["9007199254740992.5"],
            &["9007199254740993"],
            &["123456789012345678901234567890"],
            &["123456789012345678901234567891", "1.23456789012345678901234567891e29"],
            &["1e308"],
            &["1e400", "0.01e402"],
            &["1e999999999999999999"],
        ];
        let all = ascending.iter().enumerate().flat_map(|(rank, texts)| texts.iter().map(move |text| (rank, *text)));
        for (rank, text) in all.clone() {
            let number = Decimal::parse(text).unwrap();
            for (other_rank, other) in all.clone() {
                let expected = rank.cmp(&other_rank);
                assert_eq!(number.compare(&Decimal::parse(other).unwrap()), expected, "{text} and {other}");
                assert_eq!(Number::new(other).unwrap().compared(&number), expected);
            }
        }
    }

    /// Against integers of a common scale.
    #[test]
    fn it_agrees_with_integers() {
        let mut numbers: Vec<(i64, String)> = Vec::new();
        for mantissa in (-1200..=1200).step_by(37).chain([-100, -10, -1, 0, 1, 10, 100, 1000]) {
            for exponent in -3..=2_i32 {
                let value = mantissa * 10_i64.pow((exponent + 3).unsigned_abs());
                numbers.push((value, format!("{mantissa}e{exponent}")));
                let (sign, digits) = (if value < 0 { "-" } else { "" }, value.unsigned_abs());
                numbers.push((value, format!("{sign}{}.{:03}", digits / 1000, digits % 1000)));
            }
        }
        for (value, text) in &numbers {
            let number = Decimal::parse(text).unwrap();
            assert_eq!(number.is_whole(), value % 1000 == 0, "{text}");
            for (other, other_text) in &numbers {
                let ordering = number.compare(&Decimal::parse(other_text).unwrap());
                assert_eq!(ordering, value.cmp(other), "{text} and {other_text}");
            }
        }
    }

    #[test]
    fn whole_numbers_are_known_in_any_spelling() {
        for text in ["0", "-0.0", "10", "1e1", "1.50e1", "100e-2", "1e400"] {
            assert!(Decimal::parse(text).unwrap().is_whole(), "{text}");
        }
        for text in ["0.5", "1e-1", "1.55e1", "101e-2", "1e-400"] {
            assert!(!Decimal::parse(text).unwrap().is_whole(), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "x", "1 ", " 1", "+1", "01", "1.", ".5", "NaN", "inf", "\"1\"", "1e1000000000000000000", "0x1"]
        {
            assert!(Decimal::parse(text).is_none(), "{text}");
        }
    }
}
