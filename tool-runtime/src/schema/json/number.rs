use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Write as _;

/// A number exactly as far as a schema can ask: integers of up to 127 bits as they are, others as
/// the nearest double.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    /// `None` for a number that is larger than a double can be.
    #[inline]
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // Nearly every number is a short run of digits.
        match short_integer(text) {
            Some(integer) => Some(Number::Integer(integer.into())),
            None => Self::parse_any(text),
        }
    }

    fn parse_any(text: &str) -> Option<Self> {
        if is_integer_literal(text)
            && let Ok(integer) = text.parse()
        {
            return Some(Number::Integer(integer));
        }
        let float: f64 = text.parse().ok()?;
        if !float.is_finite() {
            return None;
        }
        if float.fract() == 0.0 && float.abs() <= MAX_SAFE && is_whole(text, float) {
            return Some(Number::Integer(float as i128));
        }
        Some(Number::Float(float))
    }

    /// Exact between integers, and between an integer and a double.
    pub(crate) fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Number::Integer(a), Number::Integer(b)) => a.cmp(&b),
            (Number::Integer(a), Number::Float(b)) => compare_mixed(a, b),
            (Number::Float(a), Number::Integer(b)) => compare_mixed(b, a).reverse(),
            (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        }
    }

    /// Is this a whole multiple of `step`, which is a positive integer?
    pub(crate) fn is_multiple_of(self, step: Self) -> bool {
        match (self, step) {
            (Number::Integer(a), Number::Integer(b)) if b != 0 => a % b == 0,
            // The remainder of doubles is exact.
            (Number::Float(a), Number::Integer(b)) => a % b as f64 == 0.0,
            _ => false,
        }
    }
}

/// 2^53: up to here every integer is a double.
const MAX_SAFE: f64 = 9_007_199_254_740_992.0;

fn compare_mixed(integer: i128, float: f64) -> Ordering {
    // The whole part of a double below 2^127 is an i128 exactly; the rest decides ties.
    if float >= 1.7e38 {
        return Ordering::Less;
    }
    if float <= -1.7e38 {
        return Ordering::Greater;
    }
    integer.cmp(&(float.trunc() as i128)).then_with(|| 0.0_f64.partial_cmp(&float.fract()).unwrap_or(Ordering::Equal))
}

/// Is a literal with a point or an exponent exactly the whole number that its double is? All its
/// digits have to be those of the number: `9007199254740993.0` reads as the double before it.
fn is_whole(text: &str, float: f64) -> bool {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{}{fraction}", whole.trim_start_matches('-'));
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return true;
    }
    let trailing = digits.len() - digits.trim_end_matches('0').len();
    // How many zeros stand after the significant digits; negative for a fraction.
    let zeros = exponent
        .parse::<i64>()
        .map_or(i64::MIN, |exponent| exponent.saturating_sub(fraction.len() as i64).saturating_add(trailing as i64));
    let expected = format!("{}", float.abs() as u64);
    zeros >= 0 && expected.trim_end_matches('0') == significant
}

/// The value of a literal of at most 18 digits and nothing else.
#[inline]
fn short_integer(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let (negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut value = 0_i64;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(digit - b'0');
    }
    Some(if negative { -value } else { value })
}

pub(crate) fn is_integer_literal(text: &str) -> bool {
    !text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
}

/// The one spelling of a number: integers by their digits, others as RFC 8785 (which is
/// ECMAScript's) spells a double.
///
/// An integer literal keeps its digits however long it is, and a whole number beyond 2^53 that was
/// written as a fraction or with an exponent keeps an exponent. `None` for a number that is larger than
/// a double can be.
pub(crate) fn canonical_number(text: &str) -> Option<Cow<'_, str>> {
    if text == "-0" {
        return Some(Cow::Borrowed("0"));
    }
    if is_integer_literal(text) {
        return Some(Cow::Borrowed(text));
    }
    let float: f64 = text.parse().ok()?;
    if !float.is_finite() {
        return None;
    }
    if float.fract() == 0.0 && float.abs() > MAX_SAFE {
        // In digits alone it would be an integer the next time, and one that nobody wrote.
        return Some(Cow::Owned(format!("{float:e}").replacen('e', "e+", 1)));
    }
    let mut out = String::new();
    write_f64(&mut out, float);
    Some(Cow::Owned(out))
}

/// A canonical number in digits alone, if it is whole: the one spelling by which two that mean the same are known, as
/// `1e+20` and `100000000000000000000` do.
///
/// Only doubles are spelt with an exponent, so there are at most 309 digits.
pub(crate) fn in_digits(canonical: &str) -> Cow<'_, str> {
    let expanded = || {
        let (mantissa, exponent) = canonical.split_once("e+")?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let zeros = exponent.parse::<usize>().ok().filter(|exponent| *exponent <= 308)?.checked_sub(fraction.len())?;
        Some(format!("{whole}{fraction}{}", "0".repeat(zeros)))
    };
    expanded().map_or(Cow::Borrowed(canonical), Cow::Owned)
}

/// Writes a finite double as ECMAScript's `Number::toString` does: the shortest digits that read
/// back as the same double.
pub(crate) fn write_f64(out: &mut String, float: f64) {
    if float == 0.0 {
        out.push('0');
        return;
    }
    if float.fract() == 0.0 && float.abs() <= MAX_SAFE {
        let _ = write!(out, "{}", float as i64);
        return;
    }
    // Where two shortest forms are equally near, ECMAScript takes the even one, as `zmij` does and `{:e}` doesn't.
    let mut buffer = zmij::Buffer::new();
    let shortest = buffer.format_finite(float.abs());
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((shortest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let leading = all.len() - all.trim_start_matches('0').len();
    let digits = all.trim_matches('0');
    let count = digits.len() as i32;
    // `point` digits stand before the decimal point.
    let point = whole.len() as i32 - leading as i32 + exponent.parse::<i32>().unwrap_or(0);
    if float < 0.0 {
        out.push('-');
    }
    if count <= point && point <= 21 {
        out.push_str(digits);
        out.extend(std::iter::repeat_n('0', (point - count) as usize));
    } else if 0 < point && point <= 21 {
        let (whole, rest) = digits.split_at(point as usize);
        out.push_str(whole);
        out.push('.');
        out.push_str(rest);
    } else if -6 < point && point <= 0 {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', -point as usize));
        out.push_str(digits);
    } else {
        let (first, rest) = digits.split_at(1);
        out.push_str(first);
        if !rest.is_empty() {
            out.push('.');
            out.push_str(rest);
        }
        let _ = write!(out, "e{:+}", point - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelt_as_rfc_8785_says() {
        // From the RFC's appendix B.
        for (float, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (5e-324, "5e-324"),
            (-5e-324, "-5e-324"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (295_147_905_179_352_830_000.0, "295147905179352830000"),
            (9.999_999_999_999_997e22, "9.999999999999997e+22"),
            (1e23, "1e+23"),
            (1.000_000_000_000_000_1e23, "1.0000000000000001e+23"),
            (999_999_999_999_999_700_000.0, "999999999999999700000"),
            (1e21, "1e+21"),
            (0.000_001, "0.000001"),
            (9.999_999_999_999_997e-7, "9.999999999999997e-7"),
            (333_333_333.333_333_3, "333333333.3333333"),
            (-0.000_003_333_333_333_333_333_3, "-0.0000033333333333333333"),
            (1_424_953_923_781_206.2, "1424953923781206.2"),
        ] {
            let mut out = String::new();
            write_f64(&mut out, float);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn b43_a_whole_number_has_one_spelling() {
        for text in ["30", "30.0", "3e1", "300e-1", "3.0E+1"] {
            assert_eq!(canonical_number(text).unwrap(), "30", "{text}");
        }
        for text in ["-0", "-0.0", "0e5", "0.0"] {
            assert_eq!(canonical_number(text).unwrap(), "0", "{text}");
        }
        assert_eq!(canonical_number("1e400"), None);
        assert_eq!(canonical_number("18446744073709551616").unwrap(), "18446744073709551616");
    }

    #[test]
    fn whole_numbers_are_known_by_their_digits() {
        let digits = |text: &str| in_digits(&canonical_number(text).unwrap()).into_owned();
        for (text, expected) in [
            ("1e20", "100000000000000000000"),
            ("100000000000000000000", "100000000000000000000"),
            ("-1.25e+20", "-125000000000000000000"),
            ("1.5", "1.5"),
            ("1e-7", "1e-7"),
            ("-0.0", "0"),
        ] {
            assert_eq!(digits(text), expected, "{text}");
        }
        assert_eq!(digits("1.7976931348623157e308").len(), 309);
        // No canonical text, so nothing is made of it.
        for text in ["1e+400", "1e+99999999999999999999", "1.25e+1"] {
            assert_eq!(in_digits(text), text);
        }
    }

    #[test]
    fn comparisons_are_exact_across_the_two_kinds() {
        let float = Number::parse("9007199254740994.5e0").unwrap();
        assert_eq!(Number::parse("9007199254740993").unwrap().compare(float), Ordering::Less);
        assert_eq!(Number::Integer(10).compare(Number::Float(10.5)), Ordering::Less);
        assert_eq!(Number::Integer(-10).compare(Number::Float(-10.5)), Ordering::Greater);
        assert_eq!(Number::Integer(i128::MAX).compare(Number::Float(1e300)), Ordering::Less);
        assert_eq!(Number::Float(-1e300).compare(Number::Integer(i128::MIN)), Ordering::Less);
    }
}
