//! From the parser's tree to what is evaluated, checked against what the scope knows.

mod calls;
mod names;

use std::collections::BTreeSet;

use cel::IdedExpr;
use cel::common::ast::{EntryExpr, Expr, LiteralValue, SourceInfo, operators};

use super::Reads;
use super::error::{ExpressionError, ExpressionFault};
use super::kinds::{Kinds, Known};
use super::node::{Node, Op};
use super::place::{Place, Scope};
use crate::checklist::number::Fraction;
use crate::schema::Step;
use crate::schema::json::write_string;

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

    /// Where the name of a called function stands: the parser only knows its bracket.
    fn name_of_call(&self, bracket: usize, name: &str) -> usize {
        let before = self.text.get(..bracket).unwrap_or_default().trim_end();
        before.strip_suffix(name).map_or(bracket, str::len)
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
                None => {
                    let at = self.at(expression);
                    return match &expression.expr {
                        Expr::Call(call) => self.name_of_call(at, &call.func_name),
                        _ => at,
                    };
                }
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
}
