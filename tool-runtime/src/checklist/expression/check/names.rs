//! Names, members and elements: what stands where.

use cel::IdedExpr;
use cel::common::ast::{Expr, LiteralValue, SelectExpr, operators};

use super::super::kinds::{Kinds, Known};
use super::super::node::{Node, Op};
use super::super::place::{Place, Root};
use super::{Checker, LISTED, MAX_DEPTH, Part};
use crate::schema::{Step, text};

impl<'a> Checker<'a> {
    pub(super) fn name(&mut self, at: usize, name: &str) -> Part {
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
    pub(super) fn select(&mut self, expression: &'a IdedExpr, select: &'a SelectExpr, lenient: bool) -> Part {
        self.member(self.at(expression), &select.operand, &select.field, lenient)
    }

    pub(super) fn member(&mut self, at: usize, operand: &'a IdedExpr, name: &'a str, lenient: bool) -> Part {
        // The name stands behind its point.
        let name_at = self.text.get(at..).and_then(|rest| rest.find(name)).map_or(at, |behind| at + behind);
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
            Expr::Select(select) if lenient && self.depth < MAX_DEPTH => {
                self.depth += 1;
                let part = self.select(operand, select, true);
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

    pub(super) fn state(&mut self, at: usize, name: &str) -> Part {
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

    pub(super) fn caller(&mut self, at: usize, name: &str) -> Part {
        if !self.scope.callers().any(|known| known == name) {
            let meant = self.meant(name, self.scope.callers().collect(), "caller.");
            self.fault(at, format!("nothing is said of `caller.{}`{meant}", text::shown(name, 64)));
            return Part::wrong(at);
        }
        self.reads.caller.insert(name.to_owned());
        Part::of(at, Op::Caller(name.into()), Kinds::STRING)
    }

    /// What a near miss was meant to be, or what there is.
    pub(super) fn meant(&self, wrong: &str, known: Vec<&str>, before: &str) -> String {
        match text::nearest(wrong, known.iter().copied()) {
            Some(name) => format!("; did you mean `{before}{}`?", text::shown(name, 64)),
            None if known.is_empty() => String::new(),
            None => format!("; known: {}", text::listed(known.into_iter(), LISTED)),
        }
    }

    /// What the scope knows of a place that is there.
    pub(super) fn known(&self, place: &Place) -> Known {
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
    pub(super) fn placed(&mut self, begin: usize, name_at: usize, of: Node, place: Place, lenient: bool) -> Part {
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

    pub(super) fn has(&mut self, at: usize, of: &'a IdedExpr) -> Part {
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

    pub(super) fn index(&mut self, at: usize, of: &'a IdedExpr, index: &'a IdedExpr) -> Part {
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
    pub(super) fn element_of(&self, list: &Known) -> Known {
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
}
