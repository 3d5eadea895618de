//! The value of an expression.
//!
//! The `cel` crate has an evaluator. It isn't used: it compares integers with fractions by rounding them, takes
//! values of different kinds for unequal, has no bound on its steps, and knows timestamps only with `chrono` and its
//! table of the world's time zones.

use std::rc::Rc;

use super::call;
use super::data::Facts;
use super::error::ReasonKind;
use super::node::{Arithmetic, Comparison, Each, Node, Op};
use super::place::{Place, Root};
use super::value::{Budget, Value, Wrong, wrong};
use crate::checklist::number::Fraction;

/// What kept a part of an expression from having a value.
#[derive(Debug)]
pub(super) struct Halt {
    pub(super) at: usize,
    pub(super) kind: ReasonKind,
    pub(super) what: String,
    /// The argument, the state, … that it is about.
    pub(super) about: Option<String>,
}

type Evaluated<'a> = Result<Value<'a>, Halt>;

pub(super) struct Evaluation<'a> {
    facts: &'a Facts,
    budget: Budget,
    element: Option<Value<'a>>,
}

fn halt<T>(at: usize, result: Result<T, Wrong>) -> Result<T, Halt> {
    result.map_err(|(kind, what)| Halt { at, kind, what, about: None })
}

/// What is wrong at a part that may have a name.
fn halt_by_name<T>(node: &Node, result: Result<T, Wrong>) -> Result<T, Halt> {
    result.map_err(|(kind, what)| {
        let about = match &node.op {
            Op::Member { shown, .. } => Some(shown.to_string()),
            Op::State(name) => Some(state_written(name)),
            Op::Caller(name) => Some(format!("caller.{name}")),
            Op::Arguments => Some("args".to_owned()),
            Op::Now => Some("now".to_owned()),
            _ => None,
        };
        let what = match &about {
            Some(about) => format!("`{about}` {what}"),
            None => format!("the value {what}"),
        };
        // What has no place begins with its point.
        Halt { at: node.at, kind, what, about: about.filter(|about| !about.starts_with('.')) }
    })
}

fn state_written(name: &str) -> String {
    Place { root: Root::State(name.into()), steps: Vec::new() }.written()
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(facts: &'a Facts) -> Self {
        Evaluation { facts, budget: Budget::new(), element: None }
    }

    /// The canonical JSON of a value.
    pub(super) fn write(&mut self, at: usize, value: &Value<'a>) -> Result<String, Halt> {
        let mut out = String::new();
        halt(at, value.write(&mut out, &mut self.budget))?;
        Ok(out)
    }

    pub(super) fn value(&mut self, node: &'a Node) -> Evaluated<'a> {
        halt(node.at, self.budget.spend(1))?;
        match &node.op {
            Op::Null => Ok(Value::Null),
            Op::Boolean(boolean) => Ok(Value::Boolean(*boolean)),
            Op::Integer(integer) => Ok(Value::Integer(*integer)),
            Op::Fraction(fraction) => Ok(Value::Fraction(*fraction)),
            Op::Text(text) => Ok(Value::given(text)),
            Op::Arguments | Op::State(_) | Op::Now | Op::Caller(_) | Op::Element | Op::Member { .. } => {
                match self.find(node)? {
                    Some(value) => Ok(value),
                    None => halt_by_name(node, wrong(ReasonKind::Missing, "isn't there")),
                }
            }
            Op::At { of, index } => self.at(of, index),
            Op::Has(of) => Ok(Value::Boolean(self.find(of)?.is_some_and(|value| !matches!(value, Value::Null)))),
            Op::Not(of) => Ok(Value::Boolean(!self.boolean(of)?)),
            Op::Negative(of) => {
                let value = match self.value(of)? {
                    Value::Integer(integer) => integer.checked_neg().map(Value::Integer),
                    Value::Fraction(fraction) => fraction.negated().map(Value::Fraction),
                    Value::Span(span) => Some(Value::Span(span.negated())),
                    other => {
                        let what = format!("{} has no negative", other.kind());
                        return halt(node.at, wrong(ReasonKind::Mismatch, what));
                    }
                };
                halt(node.at, value.map_or_else(|| wrong(ReasonKind::Arithmetic, "the number is too large"), Ok))
            }
            Op::And(a, b) => Ok(Value::Boolean(self.boolean(a)? && self.boolean(b)?)),
            Op::Or(a, b) => Ok(Value::Boolean(self.boolean(a)? || self.boolean(b)?)),
            Op::Choice(parts) => {
                let [condition, yes, no] = &**parts;
                let chosen = if self.boolean(condition)? { yes } else { no };
                self.value(chosen)
            }
            Op::Compare(comparison, a, b) => self.compare(node, *comparison, a, b),
            Op::Arithmetic(arithmetic, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                halt(node.at, compute(*arithmetic, a, b, &mut self.budget))
            }
            Op::In(a, b) => self.is_in(node, a, b),
            Op::List(nodes) => {
                let elements: Result<Vec<_>, Halt> = nodes.iter().map(|node| self.value(node)).collect();
                Ok(Value::List(Rc::new(elements?)))
            }
            Op::Map(entries) => {
                let entry = |(name, node): &'a (String, Node)| Ok((name.as_str(), self.value(node)?));
                Ok(Value::Map(Rc::new(entries.iter().map(entry).collect::<Result<_, Halt>>()?)))
            }
            Op::Call(function, operands) => {
                let operands: Result<Vec<_>, Halt> = operands.iter().map(|node| self.value(node)).collect();
                halt(node.at, call::call(*function, &operands?, &mut self.budget))
            }
            Op::Each { how, list, filter, body } => self.each(node, *how, list, filter.as_deref(), body),
        }
    }

    pub(super) fn boolean(&mut self, node: &'a Node) -> Result<bool, Halt> {
        match self.value(node)? {
            Value::Boolean(boolean) => Ok(boolean),
            other => {
                let what = format!("is {}, and has to be boolean", other.kind());
                halt_by_name(node, wrong(ReasonKind::Mismatch, what))
            }
        }
    }

    /// What stands at a place, or nothing.
    fn find(&mut self, node: &'a Node) -> Result<Option<Value<'a>>, Halt> {
        let facts = self.facts;
        let data = match &node.op {
            Op::Arguments => facts.arguments.as_ref(),
            Op::State(name) => facts.states.get(name),
            Op::Caller(name) => facts.caller.get(name),
            Op::Now => {
                let now = facts.now.map_or_else(|| wrong(ReasonKind::NotGiven, "isn't given"), Ok);
                return halt_by_name(node, now).map(|now| Some(Value::Moment(now)));
            }
            Op::Element => return Ok(self.element.clone()),
            Op::Member { of, names, .. } => {
                let Some(of) = self.find(of)? else { return Ok(None) };
                return match of {
                    Value::Null => Ok(None),
                    Value::Members(_) | Value::Map(_) => {
                        halt_by_name(node, names.iter().find_map(|name| of.member(name)).transpose())
                    }
                    other => {
                        let what = format!("can't be read: what it should be in is {}", other.kind());
                        halt_by_name(node, wrong(ReasonKind::Mismatch, what))
                    }
                };
            }
            _ => return self.value(node).map(Some),
        };
        let Some(data) = data else {
            return halt_by_name(node, wrong(ReasonKind::NotGiven, "isn't given"));
        };
        halt_by_name(node, Value::of(data).map(Some))
    }

    fn at(&mut self, of: &'a Node, index: &'a Node) -> Evaluated<'a> {
        let (value, index) = (self.value(of)?, self.value(index)?);
        if let Value::Text(name) = &index {
            halt(of.at, self.budget.bytes(name.len()))?;
        }
        let found = match (&value, &index) {
            (Value::Elements(_) | Value::List(_), Value::Integer(index)) => {
                usize::try_from(*index).ok().and_then(|index| value.element(index))
            }
            (Value::Members(_) | Value::Map(_), Value::Text(name)) => value.member(name),
            _ => {
                let what = format!("is {}, and can't be asked for {}", value.kind(), index.kind());
                return halt_by_name(of, wrong(ReasonKind::Mismatch, what));
            }
        };
        halt_by_name(of, found.unwrap_or_else(|| wrong(ReasonKind::Missing, "has no such element")))
    }

    fn compare(&mut self, node: &Node, comparison: Comparison, a: &'a Node, b: &'a Node) -> Evaluated<'a> {
        let is_null = |node: &Node| matches!(node.op, Op::Null);
        let (with_null, a_value, b_value) = (is_null(a) || is_null(b), self.value(a)?, self.value(b)?);
        let equal = |budget: &mut Budget| match (&a_value, &b_value) {
            (Value::Null, other) | (other, Value::Null) if with_null => Ok(matches!(other, Value::Null)),
            _ => a_value.equals(&b_value, budget),
        };
        let order = |budget: &mut Budget| a_value.order(&b_value, budget);
        let budget = &mut self.budget;
        let holds = match comparison {
            Comparison::Equal => equal(budget),
            Comparison::Unequal => equal(budget).map(|equal| !equal),
            Comparison::Less => order(budget).map(|order| order.is_lt()),
            Comparison::AtMost => order(budget).map(|order| order.is_le()),
            Comparison::Greater => order(budget).map(|order| order.is_gt()),
            Comparison::AtLeast => order(budget).map(|order| order.is_ge()),
        };
        halt(node.at, holds).map(Value::Boolean)
    }

    fn is_in(&mut self, node: &Node, a: &'a Node, b: &'a Node) -> Evaluated<'a> {
        let (wanted, list) = (self.value(a)?, self.value(b)?);
        if let (Value::Text(name), Value::Members(_) | Value::Map(_)) = (&wanted, &list) {
            halt(node.at, self.budget.bytes(name.len()))?;
            let found = list.member(name).transpose();
            return halt(node.at, found).map(|found| Value::Boolean(found.is_some()));
        }
        let Some(count) = halt(node.at, list.count(&mut self.budget))?.filter(|_| list.names().is_none()) else {
            let what = format!("{} can't be in {}", wanted.kind(), list.kind());
            return halt(node.at, wrong(ReasonKind::Mismatch, what));
        };
        for element in (0..count).filter_map(|index| list.element(index)) {
            let is_it = element.and_then(|element| element.equals(&wanted, &mut self.budget));
            if halt(node.at, is_it)? {
                return Ok(Value::Boolean(true));
            }
        }
        Ok(Value::Boolean(false))
    }

    fn each(
        &mut self,
        node: &Node,
        how: Each,
        list: &'a Node,
        filter: Option<&'a Node>,
        body: &'a Node,
    ) -> Evaluated<'a> {
        let over = self.value(list)?;
        let Some(count) = halt(node.at, over.count(&mut self.budget))? else {
            let what = format!("is {}, and has no elements", over.kind());
            return halt_by_name(list, wrong(ReasonKind::Mismatch, what));
        };
        halt(node.at, self.budget.spend(count))?;
        let names = over.names();
        let mut kept = Vec::new();
        let mut matches = 0_usize;
        for index in 0..count {
            let element = match &names {
                Some(names) => names.get(index).map(|name| Ok(Value::given(name))),
                None => over.element(index),
            };
            let Some(element) = element else { break };
            let element = halt(node.at, element)?;
            self.element = Some(element.clone());
            if let Some(filter) = filter
                && !self.boolean(filter)?
            {
                continue;
            }
            match how {
                Each::Map => kept.push(self.value(body)?),
                Each::Filter => {
                    if self.boolean(body)? {
                        kept.push(element);
                    }
                }
                Each::All | Each::Exists | Each::ExistsOne => {
                    let holds = self.boolean(body)?;
                    matches += usize::from(holds);
                    let decided = match how {
                        Each::All => !holds,
                        Each::Exists => holds,
                        _ => matches > 1,
                    };
                    if decided {
                        self.element = None;
                        return Ok(Value::Boolean(how == Each::Exists));
                    }
                }
            }
        }
        self.element = None;
        Ok(match how {
            Each::Map | Each::Filter => Value::List(Rc::new(kept)),
            Each::All => Value::Boolean(true),
            Each::Exists => Value::Boolean(false),
            Each::ExistsOne => Value::Boolean(matches == 1),
        })
    }
}

/// Sums, differences, products and quotients.
pub(super) fn compute<'a>(
    arithmetic: Arithmetic,
    a: Value<'a>,
    b: Value<'a>,
    budget: &mut Budget,
) -> Result<Value<'a>, Wrong> {
    let exact = |value: Option<Value<'a>>, why: &str| value.map_or_else(|| wrong(ReasonKind::Arithmetic, why), Ok);
    const LARGE: &str = "the result is too large";
    match (arithmetic, a, b) {
        (_, Value::Integer(a), Value::Integer(b)) => integers(arithmetic, a, b).map(Value::Integer),
        (_, Value::Integer(a), Value::Fraction(b)) => {
            fractions(arithmetic, Fraction::of_integer(a), b).map(Value::Fraction)
        }
        (_, Value::Fraction(a), Value::Integer(b)) => {
            fractions(arithmetic, a, Fraction::of_integer(b)).map(Value::Fraction)
        }
        (_, Value::Fraction(a), Value::Fraction(b)) => fractions(arithmetic, a, b).map(Value::Fraction),
        (Arithmetic::Plus, Value::Text(a), Value::Text(b)) => {
            budget.bytes(a.len() + b.len())?;
            Ok(Value::made([&*a, &*b].concat()))
        }
        (Arithmetic::Plus, Value::Moment(a), Value::Span(b)) | (Arithmetic::Plus, Value::Span(b), Value::Moment(a)) => {
            exact(a.plus(b).map(Value::Moment), LARGE)
        }
        (Arithmetic::Plus, Value::Span(a), Value::Span(b)) => exact(a.plus(b).map(Value::Span), LARGE),
        (Arithmetic::Minus, Value::Moment(a), Value::Span(b)) => exact(a.minus(b).map(Value::Moment), LARGE),
        (Arithmetic::Minus, Value::Moment(a), Value::Moment(b)) => Ok(Value::Span(a.since(b))),
        (Arithmetic::Minus, Value::Span(a), Value::Span(b)) => exact(a.minus(b).map(Value::Span), LARGE),
        (Arithmetic::Plus, a @ (Value::Elements(_) | Value::List(_)), b @ (Value::Elements(_) | Value::List(_))) => {
            let mut elements = Vec::new();
            for list in [a, b] {
                let count = list.count(budget)?.unwrap_or(0);
                budget.spend(count)?;
                elements.extend((0..count).filter_map(|index| list.element(index)).collect::<Result<Vec<_>, _>>()?);
            }
            Ok(Value::List(Rc::new(elements)))
        }
        (_, a, b) => wrong(ReasonKind::Mismatch, format!("this can't be done with {} and {}", a.kind(), b.kind())),
    }
}

fn integers(arithmetic: Arithmetic, a: i64, b: i64) -> Result<i64, Wrong> {
    let (result, otherwise) = match arithmetic {
        Arithmetic::Plus => (a.checked_add(b), "the sum is too large"),
        Arithmetic::Minus => (a.checked_sub(b), "the difference is too large"),
        Arithmetic::Times => (a.checked_mul(b), "the product is too large"),
        Arithmetic::Modulo => (a.checked_rem(b), "division by zero"),
        Arithmetic::Over if b == 0 => (None, "division by zero"),
        // CEL cuts off what stands after the point. A sum of money that is cut off isn't what its author meant.
        Arithmetic::Over if a.checked_rem(b).is_some_and(|rest| rest != 0) => {
            (None, "the division leaves a rest: write `double(…)` for a fraction")
        }
        Arithmetic::Over => (a.checked_div(b), "the quotient is too large"),
    };
    result.map_or_else(|| wrong(ReasonKind::Arithmetic, otherwise), Ok)
}

fn fractions(arithmetic: Arithmetic, a: Fraction, b: Fraction) -> Result<Fraction, Wrong> {
    let (result, otherwise) = match arithmetic {
        Arithmetic::Plus => (a.plus(b), "the sum is too large"),
        Arithmetic::Minus => (a.minus(b), "the difference is too large"),
        Arithmetic::Times => (a.times(b), "the product is too large, or has too many digits"),
        Arithmetic::Over => (a.over(b), "the quotient can't be written exactly"),
        Arithmetic::Modulo => return wrong(ReasonKind::Mismatch, "`%` needs integers"),
    };
    result.map_or_else(|| wrong(ReasonKind::Arithmetic, otherwise), Ok)
}
