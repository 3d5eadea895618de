//! `range = 1..=100` and `length = 1..=80`.

use std::cmp::Ordering;
use syn::{Expr, ExprLit, ExprRange, ExprUnary, Lit, RangeLimits, UnOp};

/// The bounds of a number. The texts are JSON numbers.
#[derive(Clone)]
pub(crate) struct Range {
    pub(crate) minimum: Option<String>,
    pub(crate) maximum: Option<String>,
    /// `..100`: the maximum itself is out.
    pub(crate) exclusive: bool,
}

/// The bounds of a length, both included.
#[derive(Clone, Copy)]
pub(crate) struct Length {
    pub(crate) minimum: Option<u64>,
    pub(crate) maximum: Option<u64>,
}

struct Number {
    /// As JSON writes it.
    text: String,
    value: f64,
    /// Exact, where `value` is not.
    integer: Option<i128>,
}

/// Reads the bounds of a number.
pub(crate) fn range(expr: &Expr) -> syn::Result<Range> {
    let range = as_range(expr)
        .ok_or_else(|| syn::Error::new_spanned(expr, "expected a range of numbers such as `1..=100` or `0..`"))?;
    let minimum = range.start.as_deref().map(number).transpose()?;
    let maximum = range.end.as_deref().map(number).transpose()?;
    let exclusive = matches!(range.limits, RangeLimits::HalfOpen(_)) && maximum.is_some();
    if minimum.is_none() && maximum.is_none() {
        return Err(syn::Error::new_spanned(expr, "the range has no bound: remove it, or write one such as `1..=100`"));
    }
    if let (Some(minimum), Some(maximum)) = (&minimum, &maximum) {
        let order = minimum.cmp(maximum);
        if order == Some(Ordering::Greater) || (exclusive && order != Some(Ordering::Less)) {
            return Err(syn::Error::new_spanned(expr, "no number is in this range"));
        }
    }
    Ok(Range { minimum: minimum.map(|number| number.text), maximum: maximum.map(|number| number.text), exclusive })
}

/// Reads the bounds of a length: a range, or one number for exactly that length.
pub(crate) fn length(expr: &Expr) -> syn::Result<Length> {
    let Some(range) = as_range(expr) else {
        let exact = count(expr)?;
        return Ok(Length { minimum: Some(exact), maximum: Some(exact) });
    };
    let minimum = range.start.as_deref().map(count).transpose()?;
    let end = range.end.as_deref().map(count).transpose()?;
    let empty = || syn::Error::new_spanned(expr, "no length is in this range");
    let maximum = match (end, &range.limits) {
        (Some(end), RangeLimits::HalfOpen(_)) => Some(end.checked_sub(1).ok_or_else(empty)?),
        (end, _) => end,
    };
    match (minimum, maximum) {
        (None, None) => {
            Err(syn::Error::new_spanned(expr, "the length has no bound: remove it, or write one such as `1..=80`"))
        }
        (Some(minimum), Some(maximum)) if minimum > maximum => Err(empty()),
        (minimum, maximum) => Ok(Length { minimum, maximum }),
    }
}

fn as_range(expr: &Expr) -> Option<&ExprRange> {
    match expr {
        Expr::Range(range) => Some(range),
        Expr::Paren(paren) => as_range(&paren.expr),
        Expr::Group(group) => as_range(&group.expr),
        _ => None,
    }
}

fn count(expr: &Expr) -> syn::Result<u64> {
    if let Some((lit, false)) = signed_literal(expr)
        && let Lit::Int(int) = lit
        && let Ok(count) = int.base10_parse()
    {
        return Ok(count);
    }
    Err(syn::Error::new_spanned(expr, "a length is a whole number, 0 or more, written as a literal"))
}

fn number(expr: &Expr) -> syn::Result<Number> {
    signed_literal(expr)
        .and_then(|(lit, negative)| Number::new(lit, negative))
        .ok_or_else(|| syn::Error::new_spanned(expr, "a bound is a number, written as a literal"))
}

/// A literal and whether a `-` stands before it.
fn signed_literal(expr: &Expr) -> Option<(&Lit, bool)> {
    match expr {
        Expr::Lit(ExprLit { lit, .. }) => Some((lit, false)),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => {
            signed_literal(expr).map(|(lit, negative)| (lit, !negative))
        }
        Expr::Paren(paren) => signed_literal(&paren.expr),
        Expr::Group(group) => signed_literal(&group.expr),
        _ => None,
    }
}

impl Number {
    fn new(lit: &Lit, negative: bool) -> Option<Self> {
        let digits = match lit {
            Lit::Int(int) => int.base10_digits().to_owned(),
            Lit::Float(float) => json_float(float.base10_digits()),
            _ => return None,
        };
        let text = if negative && digits != "0" { format!("-{digits}") } else { digits };
        let value: f64 = text.parse().ok()?;
        value.is_finite().then_some(Number { integer: text.parse().ok(), value, text })
    }

    fn cmp(&self, other: &Self) -> Option<Ordering> {
        match (self.integer, other.integer) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            _ => self.value.partial_cmp(&other.value),
        }
    }
}

/// Rust takes `1.` and `01.5`, JSON does not.
fn json_float(digits: &str) -> String {
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        trimmed => trimmed,
    };
    let decimals = if decimals.is_empty() { "0" } else { decimals };
    match exponent {
        Some(exponent) => format!("{whole}.{decimals}e{exponent}"),
        None => format!("{whole}.{decimals}"),
    }
}
