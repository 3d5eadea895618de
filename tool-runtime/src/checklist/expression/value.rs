//! Values while an expression is evaluated.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::rc::Rc;

use super::data::Data;
use super::error::ReasonKind;
use super::time::{Moment, Span};
use crate::checklist::number::Fraction;
use crate::schema::json::{cmp_utf16, write_string};

/// A text of the facts or of the expression, or one that was made. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) enum Text<'a> {
    Given(&'a str),
    Made(Rc<str>),
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Text::Given(text) => text,
            Text::Made(text) => text,
        }
    }
}

/// Cheap to clone.
#[derive(Debug, Clone)]
pub(super) enum Value<'a> {
    Null,
    Boolean(bool),
    Integer(i64),
    Fraction(Fraction),
    Text(Text<'a>),
    Moment(Moment),
    Span(Span),
    /// A list of the facts.
    Elements(&'a [Data]),
    /// A map of the facts.
    Members(&'a BTreeMap<String, Data>),
    List(Rc<Vec<Value<'a>>>),
    Map(Rc<BTreeMap<&'a str, Value<'a>>>),
}

/// Why there is no value, before it is known where.
pub(super) type Wrong = (ReasonKind, String);

pub(super) fn wrong<T>(kind: ReasonKind, what: impl Into<String>) -> Result<T, Wrong> {
    Err((kind, what.into()))
}

/// The steps that an evaluation may still take.
#[derive(Debug)]
pub(super) struct Budget(u64);

/// A step is a part of the expression that is evaluated once, or 64 bytes that are read or written.
const STEPS: u64 = 200_000;

impl Budget {
    pub(super) fn new() -> Self {
        Budget(STEPS)
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), Wrong> {
        match self.0.checked_sub(u64::try_from(steps).unwrap_or(u64::MAX)) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => wrong(ReasonKind::TooMuch, format!("takes more than {STEPS} steps")),
        }
    }

    pub(super) fn bytes(&mut self, bytes: usize) -> Result<(), Wrong> {
        self.spend(bytes / 64)
    }
}

impl<'a> Value<'a> {
    pub(super) fn of(data: &'a Data) -> Result<Self, Wrong> {
        Ok(match data {
            Data::Null => Value::Null,
            Data::Boolean(boolean) => Value::Boolean(*boolean),
            Data::Integer(integer) => Value::Integer(*integer),
            Data::Fraction(fraction) => Value::Fraction(*fraction),
            Data::Text(text) => Value::given(text),
            Data::List(elements) => Value::Elements(elements),
            Data::Map(members) => Value::Members(members),
            Data::Unreadable(why) => return wrong(ReasonKind::Unreadable, *why),
            Data::Open => return wrong(ReasonKind::Open, "isn't known yet"),
        })
    }

    pub(super) fn given(text: &'a str) -> Self {
        Value::Text(Text::Given(text))
    }

    pub(super) fn made(text: String) -> Self {
        Value::Text(Text::Made(text.into()))
    }

    /// In one word.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Boolean(_) => "boolean",
            Value::Integer(_) => "integer",
            Value::Fraction(_) => "fraction",
            Value::Text(_) => "string",
            Value::Moment(_) => "timestamp",
            Value::Span(_) => "duration",
            Value::Elements(_) | Value::List(_) => "list",
            Value::Members(_) | Value::Map(_) => "map",
        }
    }

    /// How many elements or members there are. `None` if it isn't a list or a map.
    pub(super) fn count(&self, budget: &mut Budget) -> Result<Option<usize>, Wrong> {
        if let Value::Members(members) = self {
            budget.spend(members.len() / 16)?;
        }
        Ok(Some(match self {
            Value::Elements(elements) => elements.len(),
            Value::List(elements) => elements.len(),
            Value::Members(members) if members.values().any(|member| *member == Data::Open) => {
                return wrong(ReasonKind::Open, "has a member that isn't known yet");
            }
            Value::Members(members) => members.len(),
            Value::Map(members) => members.len(),
            _ => return Ok(None),
        }))
    }

    pub(super) fn element(&self, index: usize) -> Option<Result<Value<'a>, Wrong>> {
        match self {
            Value::Elements(elements) => elements.get(index).map(Value::of),
            Value::List(elements) => elements.get(index).cloned().map(Ok),
            _ => None,
        }
    }

    pub(super) fn member(&self, name: &str) -> Option<Result<Value<'a>, Wrong>> {
        match self {
            Value::Members(members) => members.get(name).map(Value::of),
            Value::Map(members) => members.get(name).cloned().map(Ok),
            _ => None,
        }
    }

    /// The names of a map's members, in the order of their code points.
    pub(super) fn names(&self) -> Option<Vec<&'a str>> {
        match self {
            Value::Members(members) => Some(members.keys().map(String::as_str).collect()),
            Value::Map(members) => Some(members.keys().copied().collect()),
            _ => None,
        }
    }

    /// How two values stand to each other.
    pub(super) fn order(&self, other: &Value<'a>, budget: &mut Budget) -> Result<Ordering, Wrong> {
        const BLURRED: &str = "an integer of 2^53 or more can't be compared with a fraction";
        let exact = |order: Option<Ordering>| order.map_or_else(|| wrong(ReasonKind::Unreadable, BLURRED), Ok);
        match (self, other) {
            (Value::Integer(a), Value::Integer(b)) => Ok(a.cmp(b)),
            (Value::Fraction(a), Value::Fraction(b)) => Ok(a.cmp(b)),
            (Value::Integer(a), Value::Fraction(b)) => exact(b.compare_integer(*a)),
            (Value::Fraction(a), Value::Integer(b)) => exact(a.compare_integer(*b).map(Ordering::reverse)),
            (Value::Text(a), Value::Text(b)) => {
                budget.bytes(a.len().min(b.len()))?;
                Ok(str::cmp(a, b))
            }
            (Value::Moment(a), Value::Moment(b)) => Ok(a.cmp(b)),
            (Value::Span(a), Value::Span(b)) => Ok(a.cmp(b)),
            _ => wrong(ReasonKind::Mismatch, format!("{} and {} have no order", self.kind(), other.kind())),
        }
    }

    /// Values of different kinds are neither equal nor unequal: that can't be read.
    pub(super) fn equals(&self, other: &Value<'a>, budget: &mut Budget) -> Result<bool, Wrong> {
        budget.spend(1)?;
        match (self, other) {
            (Value::Null, Value::Null) => Ok(true),
            (Value::Boolean(a), Value::Boolean(b)) => Ok(a == b),
            (Value::Elements(_) | Value::List(_), Value::Elements(_) | Value::List(_)) => {
                let (Some(count), Some(others)) = (self.count(budget)?, other.count(budget)?) else { return Ok(false) };
                if count != others {
                    return Ok(false);
                }
                for index in 0..count {
                    let (Some(a), Some(b)) = (self.element(index), other.element(index)) else { return Ok(false) };
                    if !a?.equals(&b?, budget)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Value::Members(_) | Value::Map(_), Value::Members(_) | Value::Map(_)) => {
                let (count, others) = (self.count(budget)?, other.count(budget)?);
                let Some(names) = self.names().filter(|_| count == others) else { return Ok(false) };
                for name in names {
                    let (Some(a), Some(b)) = (self.member(name), other.member(name)) else { return Ok(false) };
                    if !a?.equals(&b?, budget)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => match self.order(other, budget) {
                Err((ReasonKind::Mismatch, _)) => {
                    let what = format!("{} and {} can't be compared", self.kind(), other.kind());
                    wrong(ReasonKind::Mismatch, what)
                }
                order => Ok(order? == Ordering::Equal),
            },
        }
    }

    /// As canonical JSON. Times and durations are texts.
    pub(super) fn write(&self, out: &mut String, budget: &mut Budget) -> Result<(), Wrong> {
        budget.spend(1)?;
        match self {
            Value::Null => out.push_str("null"),
            Value::Boolean(boolean) => out.push_str(if *boolean { "true" } else { "false" }),
            Value::Integer(integer) => out.push_str(&integer.to_string()),
            Value::Fraction(fraction) => match fraction.text() {
                Some(text) => out.push_str(&text),
                None => return wrong(ReasonKind::Arithmetic, "the number has more digits than JSON's readers keep"),
            },
            Value::Text(text) => {
                budget.bytes(text.len())?;
                write_string(out, text);
            }
            Value::Moment(moment) => write_string(out, &moment.text()),
            Value::Span(span) => write_string(out, &span.text()),
            Value::Elements(_) | Value::List(_) => {
                out.push('[');
                let mut index = 0;
                while let Some(element) = self.element(index) {
                    if index > 0 {
                        out.push(',');
                    }
                    element?.write(out, budget)?;
                    index += 1;
                }
                out.push(']');
            }
            Value::Members(_) | Value::Map(_) => {
                self.count(budget)?;
                out.push('{');
                let mut names = self.names().unwrap_or_default();
                names.sort_by(|a, b| cmp_utf16(a, b));
                for (index, name) in names.into_iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_string(out, name);
                    out.push(':');
                    if let Some(member) = self.member(name) {
                        member?.write(out, budget)?;
                    }
                }
                out.push('}');
            }
        }
        Ok(())
    }
}
