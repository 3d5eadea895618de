//! Numbers with a fraction, exactly.

#[cfg(feature = "cel")]
use std::cmp::Ordering;
use std::fmt;

#[cfg(feature = "cel")]
use crate::schema::json::canonical_number;

/// How many digits after the point there can be.
const PLACES: u32 = 18;

const ONE: i128 = 10_i128.pow(PLACES);

/// What has no integer part beyond `i64`: so large that sums of such numbers fit `i128`.
const BOUND: i128 = (1 << 63) * ONE;

/// From here on a double doesn't tell whole numbers apart, and what is written as a fraction was read by one.
#[cfg(feature = "cel")]
const BLURRED: u64 = 1 << 53;

/// A number in units of 10⁻¹⁸, with an integer part that `i64` can hold.
///
/// Sums, differences and products are exact or none; so are quotients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fraction(i128);

impl Fraction {
    pub(crate) const ZERO: Fraction = Fraction(0);

    fn bounded(units: i128) -> Option<Self> {
        (-BOUND..BOUND).contains(&units).then_some(Fraction(units))
    }

    /// `digits` × 10^-`places`.
    fn of_parts(digits: i128, places: i64) -> Option<Self> {
        if digits == 0 {
            return Some(Fraction(0));
        }
        let shift = i64::from(PLACES) - places;
        let power = |exponent: i64| 10_i128.checked_pow(u32::try_from(exponent).ok()?);
        if shift >= 0 {
            return Self::bounded(digits.checked_mul(power(shift)?)?);
        }
        let power = power(-shift)?;
        if digits % power == 0 { Self::bounded(digits / power) } else { None }
    }

    /// The same number with as few digits as it has.
    fn parts(self) -> (i128, i64) {
        let (mut digits, mut places) = (self.0, i64::from(PLACES));
        while places > 0 && digits % 10 == 0 {
            (digits, places) = (digits / 10, places - 1);
        }
        (digits, places)
    }

    /// The number of a JSON text, in digits: exactly, or not at all.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        let exponent: i64 = exponent.parse().ok().filter(|exponent: &i64| exponent.abs() < 10_000)?;
        let places = i64::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        Self::of_parts(format!("{whole}{fraction}").parse().ok()?, places)
    }

    /// The decimal that is the shortest name of a double, which is how it was written.
    #[cfg(feature = "cel")]
    pub(crate) fn of_double(double: f64) -> Option<Self> {
        double.is_finite().then(|| Self::parse(&format!("{double:e}")))?
    }

    pub(crate) fn of_integer(integer: i64) -> Self {
        Fraction(i128::from(integer) * ONE)
    }

    /// Without what stands after the point.
    #[cfg(feature = "cel")]
    pub(crate) fn truncated(self) -> Option<i64> {
        i64::try_from(self.0 / ONE).ok()
    }

    /// The canonical text. `None` if a double, as which others will read it, isn't this number.
    #[cfg(feature = "cel")]
    pub(crate) fn text(self) -> Option<String> {
        let (whole, rest) = (self.0.unsigned_abs() / ONE.unsigned_abs(), self.0.unsigned_abs() % ONE.unsigned_abs());
        let sign = if self.0 < 0 { "-" } else { "" };
        let text = canonical_number(&format!("{sign}{whole}.{rest:018}"))?.into_owned();
        (Self::parse(&text) == Some(self)).then_some(text)
    }

    #[cfg(feature = "cel")]
    pub(crate) fn negated(self) -> Option<Self> {
        Self::bounded(-self.0)
    }

    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        Self::bounded(self.0 + other.0)
    }

    /// So many times.
    pub(crate) fn repeated(self, times: i64) -> Option<Self> {
        Self::bounded(self.0.checked_mul(i128::from(times))?)
    }

    #[cfg(feature = "cel")]
    pub(crate) fn minus(self, other: Self) -> Option<Self> {
        Self::bounded(self.0 - other.0)
    }

    #[cfg(feature = "cel")]
    pub(crate) fn times(self, other: Self) -> Option<Self> {
        let ((a, a_places), (b, b_places)) = (self.parts(), other.parts());
        Self::of_parts(a.checked_mul(b)?, a_places + b_places)
    }

    /// `None` also where the digits of the quotient have no end.
    #[cfg(feature = "cel")]
    pub(crate) fn over(self, other: Self) -> Option<Self> {
        let ((a, a_places), (b, b_places)) = (self.parts(), other.parts());
        if b == 0 {
            return None;
        }
        let divisor = i128::try_from(greatest_common_divisor(a.unsigned_abs(), b.unsigned_abs())).ok()?;
        let (a, b) = (a / divisor * b.signum(), b.abs() / divisor);
        // A quotient ends if it is one by a product of twos and fives.
        let (mut left, mut twos, mut fives) = (b, 0, 0);
        while left % 2 == 0 {
            (left, twos) = (left / 2, twos + 1);
        }
        while left % 5 == 0 {
            (left, fives) = (left / 5, fives + 1);
        }
        let places = std::cmp::max(twos, fives);
        let factor = if left == 1 { 10_i128.checked_pow(places)? / b } else { return None };
        Self::of_parts(a.checked_mul(factor)?, i64::from(places) + a_places - b_places)
    }

    /// How an integer stands to this number. `None` if the integer is so large that a fraction of its size
    /// wasn't read exactly.
    #[cfg(feature = "cel")]
    pub(crate) fn compare_integer(self, integer: i64) -> Option<Ordering> {
        (integer.unsigned_abs() < BLURRED).then(|| Self::of_integer(integer).cmp(&self))
    }
}

impl fmt::Display for Fraction {
    /// All its digits, which [`parse`](Self::parse) reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (digits, places) = self.parts();
        let (sign, digits) = (if digits < 0 { "-" } else { "" }, digits.unsigned_abs());
        let one = 10_u128.pow(u32::try_from(places).unwrap_or(PLACES));
        let (whole, rest) = (digits / one, digits % one);
        match usize::try_from(places) {
            Ok(places @ 1..) => write!(f, "{sign}{whole}.{rest:0places$}"),
            _ => write!(f, "{sign}{whole}"),
        }
    }
}

#[cfg(feature = "cel")]
fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Fraction {
        Fraction::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["0", "5", "-5", "0.5", "-0.05", "12.340", "1e18", "0.000000000000000001", "9223372036854775807.5"]
        {
            let read = number(text);
            assert_eq!(Fraction::parse(&read.to_string()), Some(read), "{read}");
        }
        assert_eq!(number("12.340").to_string(), "12.34");
        assert_eq!(number("-0.05").repeated(3), Some(number("-0.15")));
        assert_eq!(number("9e18").repeated(2), None);
        assert_eq!(number("0.1").plus(number("0.2")), Some(number("0.3")));
    }

    #[cfg(feature = "cel")]
    #[test]
    fn decimals_are_exact() {
        assert_eq!(number("0.1").plus(number("0.2")), Some(number("0.3")));
        assert_eq!(number("19.99").times(number("3")), Some(number("59.97")));
        assert_eq!(number("-0.07").minus(number("0.01")), Some(number("-0.08")));
        assert_eq!(number("59.97").over(number("3")), Some(number("19.99")));
        assert_eq!(number("1").over(number("-8")), Some(number("-0.125")));
        assert_eq!(number("0.000000000000000001").times(number("1e18")), Some(number("1")));
        assert_eq!(number("9223372036854775807").plus(number("0.5")).unwrap().truncated(), Some(i64::MAX));
    }

    #[cfg(feature = "cel")]
    #[test]
    fn what_is_not_exact_is_none() {
        assert_eq!(number("1").over(number("3")), None);
        assert_eq!(number("1").over(number("0")), None);
        assert_eq!(number("1e-10").times(number("1e-9")), None);
        assert_eq!(number("9e18").plus(number("9e18")), None);
        assert_eq!(number("9e18").times(number("9e18")), None);
        for text in ["1e-19", "1e19", "9223372036854775808", "1e400", "1e-400", "x", "", "1e99999999999999999999"] {
            assert_eq!(Fraction::parse(text), None, "{text}");
        }
        assert_eq!(Fraction::of_double(f64::NAN), None);
        assert_eq!(Fraction::of_double(f64::INFINITY), None);
    }

    #[cfg(feature = "cel")]
    #[test]
    fn texts_are_canonical_and_mean_the_same() {
        for text in ["0", "0.5", "-0.5", "123456.789", "0.000001", "1e-7", "-1.5e-10", "4503599627370495.5"] {
            assert_eq!(number(text).text().as_deref(), Some(text));
        }
        assert_eq!(Fraction::of_double(0.1).unwrap().text().unwrap(), "0.1");
        assert_eq!(number("2.50").text().unwrap(), "2.5");
        // No double is this number.
        assert_eq!(number("0.123456789012345678").text(), None);
    }

    #[cfg(feature = "cel")]
    #[test]
    fn integers_are_compared_where_doubles_tell_them_apart() {
        assert_eq!(number("0.5").compare_integer(1), Some(Ordering::Greater));
        assert_eq!(number("2.0").compare_integer(2), Some(Ordering::Equal));
        assert_eq!(number("0.5").compare_integer((1 << 53) - 1), Some(Ordering::Greater));
        assert_eq!(number("9007199254740992.0").compare_integer(1 << 53), None);
        assert_eq!(number("9007199254740992.0").compare_integer((1 << 53) + 1), None);
        assert_eq!(number("0.5").compare_integer(i64::MIN), None);
    }
}
