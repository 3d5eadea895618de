//! `"5s"`, `"250ms"`, `"1m30s"`, `"1.5s"` → milliseconds.

const UNITS: &[(&str, u64)] = &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

/// The form, for messages.
pub(crate) const FORM: &str = "a number and a unit, such as \"250ms\", \"5s\", \"1.5s\", \"1m30s\" or \"1h\"";

/// Whole milliseconds, or `None` for anything that is not exactly that.
pub(crate) fn millis(text: &str) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let mut rest = text;
    let mut total = 0_u64;
    let mut finest = u64::MAX;
    while !rest.is_empty() {
        let number = take(&mut rest, |c| c.is_ascii_digit() || c == '.');
        let unit = take(&mut rest, |c| c.is_ascii_alphabetic());
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
        // "1m1m" and "1s1m" are slips of the pen, not durations.
        if *factor >= finest {
            return None;
        }
        finest = *factor;
        total = total.checked_add(scaled(number, *factor)?)?;
    }
    Some(total)
}

fn take<'a>(rest: &mut &'a str, accept: impl Fn(char) -> bool) -> &'a str {
    let end = rest.find(|c| !accept(c)).unwrap_or(rest.len());
    let (taken, left) = rest.split_at(end);
    *rest = left;
    taken
}

/// `number × factor`, where the number may have decimals as long as whole milliseconds come out.
fn scaled(number: &str, factor: u64) -> Option<u64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let whole: u64 = whole.parse().ok()?;
    let parts: u64 = decimals.parse().ok()?;
    let scale = 10_u64.checked_pow(u32::try_from(decimals.len()).ok()?)?;
    let fraction = parts.checked_mul(factor)?;
    if !fraction.is_multiple_of(scale) {
        return None;
    }
    whole.checked_mul(factor)?.checked_add(fraction / scale)
}
