//! Operators, comprehensions and functions.

use cel::IdedExpr;
use cel::common::ast::{CallExpr, Expr, LiteralValue, operators};

use super::super::compare;
use super::super::functions::{Function, SIGNATURES, Signature, instead_of};
use super::super::kinds::{Kinds, Known};
use super::super::node::{Arithmetic, Comparison, Each, Op};
use super::super::place::Place;
use super::super::time::{Moment, Span, offset};
use super::{Checker, Part};
use crate::schema::text;

impl<'a> Checker<'a> {
    pub(super) fn call(&mut self, expression: &'a IdedExpr, call: &'a CallExpr) -> Part {
        let at = self.at(expression);
        let comparison = |name: &str| {
            Some(match name {
                operators::EQUALS => Comparison::Equal,
                operators::NOT_EQUALS => Comparison::Unequal,
                operators::LESS => Comparison::Less,
                operators::LESS_EQUALS => Comparison::AtMost,
                operators::GREATER => Comparison::Greater,
                operators::GREATER_EQUALS => Comparison::AtLeast,
                _ => return None,
            })
        };
        let arithmetic = |name: &str| {
            Some(match name {
                operators::ADD => Arithmetic::Plus,
                operators::SUBSTRACT => Arithmetic::Minus,
                operators::MULTIPLY => Arithmetic::Times,
                operators::DIVIDE => Arithmetic::Over,
                operators::MODULO => Arithmetic::Modulo,
                _ => return None,
            })
        };
        match (call.func_name.as_str(), call.target.as_deref(), call.args.as_slice()) {
            (operators::LOGICAL_AND, None, [a, b]) => {
                let a = self.boolean(a);
                let b = self.within(&a.if_true, |checker| checker.boolean(b));
                let (if_true, if_false) = (either(&a.if_true, &b.if_true), common(&a.if_false, &b.if_false));
                Part { if_true, if_false, ..Part::of(at, Op::And(a.boxed(), b.boxed()), Kinds::BOOLEAN) }
            }
            (operators::LOGICAL_OR, None, [a, b]) => {
                let a = self.boolean(a);
                let b = self.within(&a.if_false, |checker| checker.boolean(b));
                let (if_true, if_false) = (common(&a.if_true, &b.if_true), either(&a.if_false, &b.if_false));
                Part { if_true, if_false, ..Part::of(at, Op::Or(a.boxed(), b.boxed()), Kinds::BOOLEAN) }
            }
            (operators::LOGICAL_NOT, None, [of]) => {
                let mut of = self.boolean(of);
                let (if_true, if_false) = (std::mem::take(&mut of.if_false), std::mem::take(&mut of.if_true));
                Part { if_true, if_false, ..Part::of(at, Op::Not(of.boxed()), Kinds::BOOLEAN) }
            }
            (operators::CONDITIONAL, None, [condition, yes, no]) => {
                let condition = self.boolean(condition);
                let yes = self.within(&condition.if_true, |checker| checker.value(yes));
                let no = self.within(&condition.if_false, |checker| checker.value(no));
                let kinds = yes.known.kinds.or(no.known.kinds);
                let parts = Box::new([condition.node, yes.node, no.node]);
                Part::of(at, Op::Choice(parts), kinds)
            }
            (operators::NEGATE, None, [of]) => {
                let part = self.value(of);
                let negative = Kinds::NUMBER.or(Kinds::SPAN);
                self.needs(self.begin(of), &part.known, negative, "is negated");
                let kinds = part.known.kinds.and(negative);
                Part::of(at, Op::Negative(part.boxed()), kinds)
            }
            (operators::INDEX, None, [of, index]) => self.index(at, of, index),
            (operators::IN, None, [a, b]) => {
                let (a_part, b_part) = (self.value(a), self.value(b));
                self.needs(self.begin(b), &b_part.known, Kinds::LIST.or(Kinds::MAP), "is looked into");
                if !b_part.known.kinds.meets(Kinds::MAP) {
                    let element = self.element_of(&b_part.known);
                    self.compare(self.begin(a), Comparison::Equal, &a_part.known, &element, true);
                }
                Part::of(at, Op::In(a_part.boxed(), b_part.boxed()), Kinds::BOOLEAN)
            }
            (name, None, [a, b]) if comparison(name).is_some() => {
                let comparison = comparison(name).unwrap_or(Comparison::Equal);
                let is_null = |part: &IdedExpr| matches!(part.expr, Expr::Literal(LiteralValue::Null));
                let (a_part, b_part) = if is_null(a) || is_null(b) {
                    (self.nullable(a), self.nullable(b))
                } else {
                    (self.value(a), self.value(b))
                };
                self.compare(self.begin(a), comparison, &a_part.known, &b_part.known, false);
                let not_null: Vec<Place> = match (&a_part.node.op, &b_part.node.op) {
                    (Op::Null, _) => b_part.known.place.iter().cloned().collect(),
                    (_, Op::Null) => a_part.known.place.iter().cloned().collect(),
                    _ => Vec::new(),
                };
                let mut part = Part::of(at, Op::Compare(comparison, a_part.boxed(), b_part.boxed()), Kinds::BOOLEAN);
                match comparison {
                    Comparison::Equal => part.if_false = not_null,
                    Comparison::Unequal => part.if_true = not_null,
                    _ => {}
                }
                part
            }
            (name, None, [a, b]) if arithmetic(name).is_some() => {
                let arithmetic = arithmetic(name).unwrap_or(Arithmetic::Plus);
                let (a_part, b_part) = (self.value(a), self.value(b));
                let kinds = self.arithmetic(self.begin(a), arithmetic, &a_part.known, &b_part.known);
                Part::of(at, Op::Arithmetic(arithmetic, a_part.boxed(), b_part.boxed()), kinds)
            }
            (operators::HAS, None, [of]) => self.has(at, of),
            (name, Some(target), args) => match (name, args) {
                (operators::ALL, [name, body]) => self.each(at, Each::All, target, name, None, body),
                (operators::EXISTS, [name, body]) => self.each(at, Each::Exists, target, name, None, body),
                (operators::EXISTS_ONE | "existsOne", [name, body]) => {
                    self.each(at, Each::ExistsOne, target, name, None, body)
                }
                (operators::MAP, [name, body]) => self.each(at, Each::Map, target, name, None, body),
                (operators::MAP, [name, filter, body]) => self.each(at, Each::Map, target, name, Some(filter), body),
                (operators::FILTER, [name, body]) => self.each(at, Each::Filter, target, name, None, body),
                _ => self.function(at, name, Some(target), args),
            },
            (name, None, args) => self.function(at, name, None, args),
        }
    }

    pub(super) fn each(
        &mut self,
        at: usize,
        how: Each,
        list: &'a IdedExpr,
        name: &'a IdedExpr,
        filter: Option<&'a IdedExpr>,
        body: &'a IdedExpr,
    ) -> Part {
        if self.element.is_some() {
            self.fault(at, "a comprehension can't stand inside of another one");
            return Part::wrong(at);
        }
        let over = self.value(list);
        self.needs(self.begin(list), &over.known, Kinds::LIST.or(Kinds::MAP), "is gone through");
        let Expr::Ident(element_name) = &name.expr else {
            self.fault(self.at(name), "here has to be a name for the elements");
            return Part::wrong(at);
        };
        if matches!(element_name.as_str(), "args" | "state" | "now" | "caller") {
            self.fault(self.at(name), format!("`{element_name}` has a meaning: take another name for the elements"));
        }
        let mut element = match (over.known.kinds.meets(Kinds::MAP), over.known.kinds.meets(Kinds::LIST)) {
            (false, _) => self.element_of(&over.known),
            (true, false) => Known::of(Kinds::STRING),
            (true, true) => Known::anything(),
        };
        element.listed = element.listed.filter(|_| element.place.is_some());
        self.element = Some((element_name, element.clone()));
        let filter = filter.map(|filter| self.boolean(filter));
        let if_true = filter.as_ref().map(|filter| filter.if_true.clone()).unwrap_or_default();
        let body = self.within(&if_true, |checker| match how {
            Each::Map => checker.value(body),
            _ => checker.boolean(body),
        });
        self.element = None;
        let known = match how {
            Each::All | Each::Exists | Each::ExistsOne => Known::of(Kinds::BOOLEAN),
            Each::Map => Known { element: Some(Box::new(Known::of(body.known.kinds))), ..Known::of(Kinds::LIST) },
            Each::Filter => Known { element: Some(Box::new(element)), ..Known::of(Kinds::LIST) },
        };
        let (list, filter, body) = (over.boxed(), filter.map(Part::boxed), body.boxed());
        Part::new(at, Op::Each { how, list, filter, body }, known)
    }

    pub(super) fn function(
        &mut self,
        at: usize,
        name: &str,
        target: Option<&'a IdedExpr>,
        args: &'a [IdedExpr],
    ) -> Part {
        let at = self.name_of_call(at, name);
        let operands: Vec<(usize, Part)> =
            target.into_iter().chain(args).map(|operand| (self.begin(operand), self.value(operand))).collect();
        let named: Vec<&Signature> = SIGNATURES.iter().filter(|signature| signature.name == name).collect();
        let shown = text::shown(name, 64);
        let is_method = target.is_some();
        let Some(signature) =
            named.iter().find(|signature| signature.is_method == is_method && signature.takes.len() == operands.len())
        else {
            let what = match (instead_of(name), named.first()) {
                (Some(instead), _) => instead.to_owned(),
                (None, Some(signature)) if signature.is_method != is_method && named.len() == 1 => {
                    let how = if is_method { format!("`{shown}(x)`") } else { format!("`x.{shown}(…)`") };
                    format!("`{shown}` is called as {how}")
                }
                (None, Some(first)) => {
                    let alike = named.iter().find(|signature| signature.is_method == is_method);
                    let signature = alike.unwrap_or(first);
                    let wanted = signature.takes.len() - usize::from(signature.is_method);
                    format!("`{shown}` takes {wanted} values in its brackets, and here are {}", args.len())
                }
                (None, None) => {
                    let known = SIGNATURES.iter().map(|signature| signature.name);
                    let known = known.chain(["has", "all", "exists", "exists_one", "map", "filter"]);
                    let meant = text::nearest(name, known).map(|name| format!("; did you mean `{name}`?"));
                    format!("there is no function `{shown}`{}", meant.unwrap_or_default())
                }
            };
            self.fault(at, what);
            return Part::wrong(at);
        };
        for ((begin, operand), takes) in operands.iter().zip(signature.takes) {
            self.needs(*begin, &operand.known, *takes, &format!("is given to `{name}`"));
        }
        let text = |index: usize| match operands.get(index).map(|(begin, part)| (*begin, &part.node.op)) {
            Some((begin, Op::Text(text))) => Some((begin, text.clone())),
            _ => None,
        };
        let wrong = match signature.function {
            Function::Timestamp => text(0)
                .filter(|(_, text)| Moment::parse(text).is_none())
                .map(|(at, _)| (at, "this is no date and time such as \"2026-01-31T09:30:00Z\"")),
            Function::Duration => text(0)
                .filter(|(_, text)| Span::parse(text).is_none())
                .map(|(at, _)| (at, "this is no duration such as \"1h30m\"")),
            Function::Part(_) => text(1)
                .filter(|(_, text)| offset(text).is_none())
                .map(|(at, _)| (at, "this is no offset such as \"+02:00\": names of time zones aren't known here")),
            _ => None,
        };
        if let Some((at, what)) = wrong {
            self.fault(at, what);
        }
        let (function, gives) = (signature.function, signature.gives);
        Part::of(at, Op::Call(function, operands.into_iter().map(|(_, part)| part.node).collect()), gives)
    }

    pub(super) fn arithmetic(&mut self, at: usize, arithmetic: Arithmetic, a: &Known, b: &Known) -> Kinds {
        match compare::arithmetic(arithmetic, a.kinds, b.kinds) {
            Some(kinds) => kinds,
            None => {
                let what = format!("this can't be done with {} and {}", a.kinds.words(), b.kinds.words());
                self.fault(at, what);
                Known::anything().kinds
            }
        }
    }

    pub(super) fn compare(&mut self, at: usize, comparison: Comparison, a: &Known, b: &Known, is_in: bool) {
        if let Some(what) = compare::never(comparison, a, b, is_in) {
            self.fault(at, what);
        }
    }
}

/// The places of either.
fn either(a: &[Place], b: &[Place]) -> Vec<Place> {
    a.iter().chain(b).cloned().collect()
}

/// The places of both. A place on the way to one counts as one of it.
fn common(a: &[Place], b: &[Place]) -> Vec<Place> {
    let held = |place: &Place, by: &[Place]| by.iter().any(|other| place.holds(other));
    let of_a = a.iter().filter(|place| held(place, b));
    let of_b = b.iter().filter(|place| held(place, a));
    of_a.chain(of_b).cloned().collect()
}
