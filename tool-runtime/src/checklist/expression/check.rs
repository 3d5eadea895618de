//! From the parser's tree to what is evaluated, checked against what the scope knows.

use std::collections::BTreeSet;

use cel::IdedExpr;
use cel::common::ast::{CallExpr, EntryExpr, Expr, LiteralValue, SelectExpr, SourceInfo, operators};

use super::error::{ExpressionError, ExpressionFault};
use super::functions::{Function, SIGNATURES, Signature, instead_of};
use super::kinds::{Kinds, Known};
use super::node::{Arithmetic, Comparison, Each, Node, Op};
use super::number::Fraction;
use super::place::{Place, Root, Scope};
use super::time::{Moment, Span, offset};
use super::{Reads, compare};
use crate::schema::json::write_string;
use crate::schema::{Step, text};

/// How deeply parts of an expression may nest: evaluation is recursive.
const MAX_DEPTH: usize = 64;

/// How many faults are looked for.
const MAX_FAULTS: usize = 20;

/// How many names a fault lists.
const LISTED: usize = 8;

/// A checked part of an expression.
pub(super) struct Part {
    pub(super) node: Node,
    pub(super) known: Known,
    /// What is there, where this part is true; and where it is false.
    pub(super) if_true: Vec<Place>,
    pub(super) if_false: Vec<Place>,
}

impl Part {
    fn new(at: usize, op: Op, known: Known) -> Self {
        Part { node: Node { at, op }, known, if_true: Vec::new(), if_false: Vec::new() }
    }

    fn of(at: usize, op: Op, kinds: Kinds) -> Self {
        Part::new(at, op, Known::of(kinds))
    }

    /// Of what is wrong: so that nothing else is blamed for it.
    fn wrong(at: usize) -> Self {
        Part::new(at, Op::Null, Known::anything())
    }

    fn boxed(self) -> Box<Node> {
        Box::new(self.node)
    }
}

pub(super) struct Checker<'a> {
    scope: &'a Scope<'a>,
    source: &'a SourceInfo,
    text: &'a str,
    faults: Vec<(usize, String)>,
    reads: Reads,
    /// The places that are there, whatever the schema says.
    present: Vec<Place>,
    /// The name of the element that a comprehension is at.
    element: Option<(&'a str, Known)>,
    depth: usize,
}

/// Checks a tree. If it is a condition, it has to be a boolean.
///
/// # Errors
/// With everything that is wrong.
pub(super) fn check<'a>(
    tree: &'a IdedExpr,
    source: &'a SourceInfo,
    text: &'a str,
    scope: &'a Scope<'a>,
    is_condition: bool,
) -> Result<(Node, Reads), ExpressionError> {
    let mut checker = Checker {
        scope,
        source,
        text,
        faults: Vec::new(),
        reads: Reads::default(),
        present: Vec::new(),
        element: None,
        depth: 0,
    };
    let part = checker.value(tree);
    if is_condition && !part.known.kinds.meets(Kinds::BOOLEAN) {
        let what = format!("a condition has to be true or false, and this is {}", part.known.kinds.words());
        checker.fault(checker.begin(tree), what);
    }
    if checker.faults.is_empty() {
        return Ok((part.node, checker.reads));
    }
    let mut seen = BTreeSet::new();
    checker.faults.retain(|fault| seen.insert(fault.clone()));
    checker.faults.sort();
    let faults = checker.faults.into_iter().take(MAX_FAULTS);
    Err(ExpressionError::new(faults.map(|(at, what)| ExpressionFault::new(text, at, what)).collect()))
}

impl<'a> Checker<'a> {
    pub(super) fn fault(&mut self, at: usize, what: impl Into<String>) {
        self.faults.push((at, what.into()));
    }

    fn at(&self, expression: &IdedExpr) -> usize {
        self.source.offset_for(expression.id).and_then(|(start, _)| usize::try_from(start).ok()).unwrap_or(0)
    }

    /// Where a part begins; operators and selections stand behind their first operand.
    fn begin(&self, mut expression: &IdedExpr) -> usize {
        loop {
            let inner = match &expression.expr {
                Expr::Select(select) => Some(&*select.operand),
                Expr::Call(call) => match &call.target {
                    Some(target) => Some(&**target),
                    None if call.func_name.starts_with('_') || call.func_name == operators::IN => call.args.first(),
                    None => None,
                },
                _ => None,
            };
            match inner {
                Some(inner) => expression = inner,
                // Of a call: at its bracket. Of its name nothing is known, but that it stands before.
                None => return self.at(expression),
            }
        }
    }

    /// A part whose value is used.
    fn value(&mut self, expression: &'a IdedExpr) -> Part {
        let part = self.nullable(expression);
        if let Some(place) = part.known.place.clone() {
            self.not_null(self.begin(expression), &place, part.known.kinds);
        }
        part
    }

    /// A part whose value is used, and may be null.
    fn nullable(&mut self, expression: &'a IdedExpr) -> Part {
        let part = self.part(expression);
        if let Some(place) = &part.known.place {
            self.reads.add(place);
        }
        part
    }

    /// Is it known that there is something at a place?
    fn is_there(&self, place: &Place) -> bool {
        self.present.iter().any(|present| place.holds(present))
    }

    /// Notes that a value may be null where that is as good as none.
    fn not_null(&mut self, at: usize, place: &Place, kinds: Kinds) {
        if kinds.meets(Kinds::NULL) && matches!(self.scope.reach(place), Some(Ok(_))) && !self.is_there(place) {
            let shown = place.written();
            self.fault(
                at,
                match place.steps.last() {
                    Some(Step::Each | Step::Index(_)) => {
                        format!("`{shown}` may be null: ask whether it is, with `!= null`, first")
                    }
                    _ => format!("`{shown}` may be null: ask `has({shown})` first, as in `has({shown}) && …`"),
                },
            );
        }
    }

    /// A part, of which more may be read than its own value.
    fn part(&mut self, expression: &'a IdedExpr) -> Part {
        let at = self.at(expression);
        if self.depth >= MAX_DEPTH {
            self.fault(at, format!("the expression nests more than {MAX_DEPTH} parts"));
            return Part::wrong(at);
        }
        self.depth += 1;
        let part = match &expression.expr {
            Expr::Literal(literal) => self.literal(at, literal),
            Expr::Ident(name) => self.name(at, name),
            Expr::Select(select) => self.select(expression, select, false),
            Expr::Call(call) => self.call(expression, call),
            Expr::List(list) => self.list(at, &list.elements),
            Expr::Map(map) => {
                let mut entries: Vec<(String, Node)> = Vec::new();
                for entry in &map.entries {
                    let EntryExpr::MapEntry(entry) = &entry.expr else { continue };
                    let value = self.value(&entry.value);
                    match &entry.key.expr {
                        Expr::Literal(LiteralValue::String(name)) => {
                            let name = name.inner().to_owned();
                            if entries.iter().any(|(other, _)| *other == name) {
                                self.fault(self.at(&entry.key), "a map has each name once");
                            }
                            entries.push((name, value.node));
                        }
                        _ => self.fault(self.at(&entry.key), "a map's names have to be written out, in quotes"),
                    }
                }
                Part::of(at, Op::Map(entries), Kinds::MAP)
            }
            Expr::Struct(_) => {
                self.fault(at, "messages can't be made here");
                Part::wrong(at)
            }
            Expr::Comprehension(_) | Expr::Unspecified => {
                self.fault(at, "this isn't supported here");
                Part::wrong(at)
            }
        };
        self.depth -= 1;
        part
    }

    fn literal(&mut self, at: usize, literal: &LiteralValue) -> Part {
        let (op, kinds, text) = match literal {
            LiteralValue::Null => (Op::Null, Kinds::NULL, "null".to_owned()),
            LiteralValue::Boolean(boolean) => {
                (Op::Boolean(*boolean.inner()), Kinds::BOOLEAN, boolean.inner().to_string())
            }
            LiteralValue::Int(integer) => (Op::Integer(*integer.inner()), Kinds::INTEGER, integer.inner().to_string()),
            LiteralValue::Double(double) => match Fraction::of_double(*double.inner()) {
                Some(fraction) => (Op::Fraction(fraction), Kinds::FRACTION, fraction.text().unwrap_or_default()),
                None => {
                    self.fault(at, "this number can't be held exactly: at most 18 digits after the point");
                    return Part::wrong(at);
                }
            },
            LiteralValue::String(string) => {
                let mut quoted = String::new();
                write_string(&mut quoted, string.inner());
                (Op::Text(string.inner().to_owned()), Kinds::STRING, quoted)
            }
            LiteralValue::UInt(unsigned) => {
                self.fault(at, format!("integers have a sign here: write {} without `u`", unsigned.inner()));
                return Part::wrong(at);
            }
            LiteralValue::Bytes(_) => {
                self.fault(at, "JSON has no bytes: write a text");
                return Part::wrong(at);
            }
        };
        let mut known = Known::of(kinds);
        known.literal = Some(text);
        Part::new(at, op, known)
    }

    fn name(&mut self, at: usize, name: &str) -> Part {
        if let Some((element, known)) = &self.element
            && *element == name
        {
            let mut known = known.clone();
            if known.place.as_ref().is_some_and(|place| self.is_there(place)) {
                known.kinds = known.kinds.without(Kinds::NULL);
            }
            return Part::new(at, Op::Element, known);
        }
        let what = match name {
            "now" => {
                self.reads.now = true;
                return Part::of(at, Op::Now, Kinds::MOMENT);
            }
            "args" if self.scope.has_arguments() => "`args` has to be read by name: `args.amount`".to_owned(),
            "state" => "`state` has to be read by name: `state.balance`".to_owned(),
            "caller" => "`caller` has to be read by name: `caller.id`".to_owned(),
            _ => {
                let meant = self.scope.nearest_root(name).map(|name| format!("; did you mean `{name}`?"));
                format!("there is no `{}`{}", text::shown(name, 64), meant.unwrap_or_default())
            }
        };
        self.fault(at, what);
        Part::wrong(at)
    }

    /// `of.name`, or `has(of.name)`, which asks for nothing on the way to be there.
    fn select(&mut self, expression: &'a IdedExpr, select: &'a SelectExpr, lenient: bool) -> Part {
        self.member(self.at(expression), &select.operand, &select.field, lenient)
    }

    fn member(&mut self, at: usize, operand: &'a IdedExpr, name: &'a str, lenient: bool) -> Part {
        // The name stands behind its point.
        let name_at = self.text[at..].find(name).map_or(at, |behind| at + behind);
        if let Expr::Ident(root) = &operand.expr
            && self.element.as_ref().is_none_or(|(element, _)| element != root)
        {
            match root.as_str() {
                "args" if self.scope.has_arguments() => {
                    let place = Place { root: Root::Arguments, steps: vec![Step::Member(name.to_owned())] };
                    let of = Node { at: self.at(operand), op: Op::Arguments };
                    return self.placed(self.begin(operand), name_at, of, place, lenient);
                }
                "state" => return self.state(name_at, name),
                "caller" => return self.caller(name_at, name),
                _ => {}
            }
        }
        let of = match &operand.expr {
            Expr::Select(select) if lenient => {
                self.depth += 1;
                let part = self.select(operand, select, self.depth < MAX_DEPTH);
                self.depth -= 1;
                part
            }
            _ => self.part(operand),
        };
        if let Some(place) = of.known.place.clone() {
            if !lenient {
                self.not_null(self.begin(operand), &place, of.known.kinds);
            }
            let place = place.to(Step::Member(name.to_owned()));
            return self.placed(self.begin(operand), name_at, of.node, place, lenient);
        }
        self.needs(self.begin(operand), &of.known, Kinds::MAP, "is read by name");
        let shown = format!(".{name}").into();
        let op = Op::Member { of: of.boxed(), names: Box::new([name.into()]), shown };
        Part::new(name_at, op, Known::anything())
    }

    fn state(&mut self, at: usize, name: &str) -> Part {
        if !self.scope.states().any(|known| known == name) {
            let meant = self.meant(name, self.scope.states().collect(), "state.");
            self.fault(at, format!("no state `{}` is declared{meant}", text::shown(name, 64)));
            return Part::wrong(at);
        }
        let place = Place { root: Root::State(name.into()), steps: Vec::new() };
        let mut known = self.known(&place);
        if self.is_there(&place) {
            known.kinds = known.kinds.without(Kinds::NULL);
        }
        known.place = Some(place);
        Part::new(at, Op::State(name.into()), known)
    }

    fn caller(&mut self, at: usize, name: &str) -> Part {
        if !self.scope.callers().any(|known| known == name) {
            let meant = self.meant(name, self.scope.callers().collect(), "caller.");
            self.fault(at, format!("nothing is said of `caller.{}`{meant}", text::shown(name, 64)));
            return Part::wrong(at);
        }
        self.reads.caller.insert(name.to_owned());
        Part::of(at, Op::Caller(name.into()), Kinds::STRING)
    }

    /// What a near miss was meant to be, or what there is.
    fn meant(&self, wrong: &str, known: Vec<&str>, before: &str) -> String {
        match text::nearest(wrong, known.iter().copied()) {
            Some(name) => format!("; did you mean `{before}{}`?", text::shown(name, 64)),
            None if known.is_empty() => String::new(),
            None => format!("; known: {}", text::listed(known.into_iter(), LISTED)),
        }
    }

    /// What the scope knows of a place that is there.
    fn known(&self, place: &Place) -> Known {
        match self.scope.reach(place) {
            Some(Ok(reached)) => {
                let mut known = Known::of(Kinds::of(&reached));
                known.listed = reached.words;
                known
            }
            _ => Known::of(Kinds::JSON),
        }
    }

    /// A member at a place.
    fn placed(&mut self, begin: usize, name_at: usize, of: Node, place: Place, lenient: bool) -> Part {
        let name = match place.steps.last() {
            Some(Step::Member(name)) => name.clone(),
            _ => String::new(),
        };
        let shown = place.written();
        let mut known = self.known(&place);
        let mut names: Vec<Box<str>> = vec![name.as_str().into()];
        match self.scope.reach(&place) {
            Some(Ok(reached)) => {
                names = reached.names.last().filter(|names| !names.is_empty()).cloned().unwrap_or(names);
                if lenient || self.is_there(&place) {
                    known.kinds = known.kinds.without(Kinds::NULL);
                } else if reached.may_be_absent {
                    known.kinds = known.kinds.without(Kinds::NULL);
                    let what = format!("`{shown}` may be absent: ask `has({shown})` first, as in `has({shown}) && …`");
                    self.fault(begin, what);
                }
            }
            Some(Err(unreached)) => {
                let parent = Place { root: place.root.clone(), steps: place.steps[..place.steps.len() - 1].to_vec() };
                let meant = text::nearest(&name, unreached.known.iter().map(String::as_str));
                let meant = match meant {
                    Some(meant) => format!("; did you mean `{}`?", parent.to(Step::Member(meant.to_owned())).written()),
                    None if unreached.known.is_empty() => String::new(),
                    None => format!("; known: {}", text::listed(unreached.known.iter().map(String::as_str), LISTED)),
                };
                self.fault(name_at, format!("there is no `{shown}`{meant}"));
                return Part::wrong(begin);
            }
            None => {}
        }
        known.place = Some(place);
        Part::new(begin, Op::Member { of: Box::new(of), names: names.into(), shown: shown.into() }, known)
    }

    /// Notes that a part is of another kind than it has to be.
    fn needs(&mut self, at: usize, known: &Known, kinds: Kinds, how: &str) {
        if !known.kinds.meets(kinds) {
            let who = known.place.as_ref().map_or_else(|| "this".to_owned(), |place| format!("`{}`", place.written()));
            let what = format!("{who} is {}, and {how}: it has to be {}", known.kinds.words(), kinds.words());
            self.fault(at, what);
        }
    }

    fn boolean(&mut self, expression: &'a IdedExpr) -> Part {
        let part = self.value(expression);
        self.needs(self.begin(expression), &part.known, Kinds::BOOLEAN, "is used as a condition");
        part
    }

    /// A part, where these places are there.
    fn within<T>(&mut self, places: &[Place], check: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.present.len();
        self.present.extend_from_slice(places);
        let checked = check(self);
        self.present.truncate(before);
        checked
    }

    fn list(&mut self, at: usize, elements: &'a [IdedExpr]) -> Part {
        let parts: Vec<Part> = elements.iter().map(|element| self.value(element)).collect();
        let mut known = Known::of(Kinds::LIST);
        if !parts.is_empty() {
            let kinds = parts.iter().fold(Kinds::NONE, |kinds, part| kinds.or(part.known.kinds));
            let mut element = Known::of(kinds);
            element.listed = parts.iter().map(|part| part.known.literal.clone()).collect();
            known.element = Some(Box::new(element));
        }
        Part::new(at, Op::List(parts.into_iter().map(|part| part.node).collect()), known)
    }

    fn call(&mut self, expression: &'a IdedExpr, call: &'a CallExpr) -> Part {
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

    fn has(&mut self, at: usize, of: &'a IdedExpr) -> Part {
        let member = match &of.expr {
            Expr::Select(select) => self.select(of, select, true),
            Expr::Call(call) if call.func_name == operators::INDEX && call.target.is_none() => {
                match (call.args.as_slice(), call.args.get(1).map(|index| &index.expr)) {
                    ([operand, _], Some(Expr::Literal(LiteralValue::String(name)))) => {
                        self.member(self.at(of), operand, name.inner(), true)
                    }
                    _ => {
                        self.fault(at, "`has` needs a member, such as `has(args.note)`");
                        Part::wrong(at)
                    }
                }
            }
            _ => {
                self.fault(at, "`has` needs a member, such as `has(args.note)`");
                Part::wrong(at)
            }
        };
        let place = member.known.place.clone();
        if let Some(place) = &place {
            self.reads.add(place);
        }
        let mut part = Part::of(at, Op::Has(member.boxed()), Kinds::BOOLEAN);
        part.if_true = place.into_iter().collect();
        part
    }

    fn index(&mut self, at: usize, of: &'a IdedExpr, index: &'a IdedExpr) -> Part {
        if let Expr::Literal(LiteralValue::String(name)) = &index.expr {
            return self.member(at, of, name.inner(), false);
        }
        let of_part = self.part(of);
        let index_part = self.value(index);
        self.needs(self.begin(of), &of_part.known, Kinds::LIST.or(Kinds::MAP), "is asked for a part");
        self.needs(self.begin(index), &index_part.known, Kinds::INTEGER.or(Kinds::STRING), "is an index");
        let step = match index_part.node.op {
            Op::Integer(number) => match usize::try_from(number) {
                Ok(index) => Step::Index(index),
                Err(_) => {
                    self.fault(self.begin(index), "an index counts from 0");
                    return Part::wrong(at);
                }
            },
            _ => Step::Each,
        };
        let known = match &of_part.known.place {
            Some(place) if !of_part.known.kinds.meets(Kinds::MAP) => {
                let place = place.to(step);
                if let Some(Err(_)) = self.scope.reach(&place) {
                    self.fault(at, format!("there is no `{}`", place.written()));
                }
                let mut known = self.known(&place);
                known.place = Some(place);
                known
            }
            // A map's member by a name that isn't known: all of it is read.
            Some(place) => {
                self.reads.add(place);
                Known::of(Kinds::JSON)
            }
            None => self.element_of(&of_part.known),
        };
        Part::new(at, Op::At { of: of_part.boxed(), index: index_part.boxed() }, known)
    }

    /// What is known of the elements of a list.
    fn element_of(&self, list: &Known) -> Known {
        if let Some(element) = &list.element {
            return (**element).clone();
        }
        match &list.place {
            Some(place) => {
                let place = place.to(Step::Each);
                let mut known = self.known(&place);
                known.place = Some(place);
                known
            }
            None => Known::anything(),
        }
    }

    fn each(
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

    fn function(&mut self, at: usize, name: &str, target: Option<&'a IdedExpr>, args: &'a [IdedExpr]) -> Part {
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
                (None, Some(signature)) => {
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

    fn arithmetic(&mut self, at: usize, arithmetic: Arithmetic, a: &Known, b: &Known) -> Kinds {
        match compare::arithmetic(arithmetic, a.kinds, b.kinds) {
            Some(kinds) => kinds,
            None => {
                let what = format!("this can't be done with {} and {}", a.kinds.words(), b.kinds.words());
                self.fault(at, what);
                Known::anything().kinds
            }
        }
    }

    fn compare(&mut self, at: usize, comparison: Comparison, a: &Known, b: &Known, is_in: bool) {
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
