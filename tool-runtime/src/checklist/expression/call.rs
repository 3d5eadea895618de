//! What the functions do.

use std::cmp::Ordering;

use super::error::ReasonKind;
use super::evaluate::compute;
use super::functions::Function;
use super::node::Arithmetic;
use super::time::{Moment, Part, Span, offset};
use super::value::{Budget, Value, Wrong, wrong};
use crate::checklist::number::Fraction;

/// # Errors
/// If the operands are of other kinds than the function takes, or it has no value for them.
pub(super) fn call<'a>(function: Function, operands: &[Value<'a>], budget: &mut Budget) -> Result<Value<'a>, Wrong> {
    for operand in operands {
        if let Value::Text(text) = operand {
            budget.bytes(text.len())?;
        }
    }
    match (function, operands) {
        (Function::Size, [Value::Text(text)]) => integer(text.chars().count()),
        (Function::Size, [of]) => match of.count(budget)? {
            Some(count) => integer(count),
            None => mismatch("size", operands),
        },
        (Function::Contains, [Value::Text(text), Value::Text(part)]) => Ok(Value::Boolean(text.contains(&**part))),
        (Function::StartsWith, [Value::Text(text), Value::Text(part)]) => Ok(Value::Boolean(text.starts_with(&**part))),
        (Function::EndsWith, [Value::Text(text), Value::Text(part)]) => Ok(Value::Boolean(text.ends_with(&**part))),
        (Function::LowerAscii, [Value::Text(text)]) => Ok(Value::made(text.to_ascii_lowercase())),
        (Function::UpperAscii, [Value::Text(text)]) => Ok(Value::made(text.to_ascii_uppercase())),
        (Function::Trim, [Value::Text(text)]) => Ok(Value::made(text.trim().to_owned())),
        (Function::Sum, [list]) => {
            fold("sum", list, budget, Some(Value::Integer(0)), |a, b, budget| compute(Arithmetic::Plus, a, b, budget))
        }
        (Function::Least, [list]) => fold("min", list, budget, None, |a, b, budget| {
            Ok(if a.order(&b, budget)? == Ordering::Greater { b } else { a })
        }),
        (Function::Greatest, [list]) => fold("max", list, budget, None, |a, b, budget| {
            Ok(if a.order(&b, budget)? == Ordering::Less { b } else { a })
        }),
        (Function::Integer, [number @ Value::Integer(_)]) => Ok(number.clone()),
        (Function::Integer, [Value::Fraction(fraction)]) => {
            read(fraction.truncated().map(Value::Integer), "an integer")
        }
        (Function::Integer, [Value::Text(text)]) => read(text.parse().ok().map(Value::Integer), "an integer"),
        (Function::Double, [Value::Integer(integer)]) => Ok(Value::Fraction(Fraction::of_integer(*integer))),
        (Function::Double, [number @ Value::Fraction(_)]) => Ok(number.clone()),
        (Function::Double, [Value::Text(text)]) => read(Fraction::parse(text).map(Value::Fraction), "a number"),
        (Function::Text, [text @ Value::Text(_)]) => Ok(text.clone()),
        (Function::Text, [Value::Moment(moment)]) => Ok(Value::made(moment.text())),
        (Function::Text, [Value::Span(span)]) => Ok(Value::made(span.text())),
        (Function::Text, [value @ (Value::Boolean(_) | Value::Integer(_) | Value::Fraction(_))]) => {
            let mut out = String::new();
            value.write(&mut out, budget)?;
            Ok(Value::made(out))
        }
        (Function::Timestamp, [moment @ Value::Moment(_)]) => Ok(moment.clone()),
        (Function::Timestamp, [Value::Text(text)]) => {
            read(Moment::parse(text).map(Value::Moment), "a date and time such as \"2026-01-31T09:30:00Z\"")
        }
        (Function::Duration, [span @ Value::Span(_)]) => Ok(span.clone()),
        (Function::Duration, [Value::Text(text)]) => {
            read(Span::parse(text).map(Value::Span), "a duration such as \"1h30m\"")
        }
        (Function::Part(part), [Value::Moment(moment)]) => Ok(Value::Integer(moment.part(part, 0))),
        (Function::Part(part), [Value::Moment(moment), Value::Text(zone)]) => match offset(zone) {
            Some(offset) => Ok(Value::Integer(moment.part(part, offset))),
            None => read(None, "an offset such as \"+02:00\""),
        },
        (Function::Part(part @ (Part::Hours | Part::Minutes | Part::Seconds)), [Value::Span(span)]) => {
            read(span.part(part).map(Value::Integer), "a duration")
        }
        _ => mismatch("this function", operands),
    }
}

fn integer<'a>(count: usize) -> Result<Value<'a>, Wrong> {
    i64::try_from(count)
        .map_or_else(|_| wrong(ReasonKind::Arithmetic, "the size is too large"), |size| Ok(Value::Integer(size)))
}

fn read<'a>(value: Option<Value<'a>>, what: &str) -> Result<Value<'a>, Wrong> {
    value.map_or_else(|| wrong(ReasonKind::Unreadable, format!("the value can't be read as {what}")), Ok)
}

fn mismatch<'a>(function: &str, operands: &[Value<'a>]) -> Result<Value<'a>, Wrong> {
    let kinds: Vec<&str> = operands.iter().map(Value::kind).collect();
    wrong(ReasonKind::Mismatch, format!("{function} can't take {}", kinds.join(" and ")))
}

fn fold<'a>(
    function: &str,
    list: &Value<'a>,
    budget: &mut Budget,
    first: Option<Value<'a>>,
    mut step: impl FnMut(Value<'a>, Value<'a>, &mut Budget) -> Result<Value<'a>, Wrong>,
) -> Result<Value<'a>, Wrong> {
    let Some(count) = list.count(budget)?.filter(|_| list.names().is_none()) else {
        return mismatch(function, std::slice::from_ref(list));
    };
    budget.spend(count)?;
    let mut total = first;
    for element in (0..count).filter_map(|index| list.element(index)) {
        let element = element?;
        if !matches!(element, Value::Integer(_) | Value::Fraction(_)) {
            return mismatch(function, &[element]);
        }
        total = Some(match total {
            Some(total) => step(total, element, budget)?,
            None => element,
        });
    }
    total.map_or_else(|| wrong(ReasonKind::Missing, format!("the list is empty, and has no {function}")), Ok)
}
