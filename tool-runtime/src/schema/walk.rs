//! One pass over a text along its schema: checks it and writes its canonical form.
//!
//! The canonical text is compact JSON with declared members in declared order, further members in
//! the order of RFC 8785, aliases resolved, declared defaults filled in, numbers in one spelling
//! and paths normalised. Walking it again gives the same text.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;

use super::describe;
use super::json::{
    Cursor, Json, JsonPath, MAX_DEPTH, Number, Segment as Step, SyntaxError, Token, canonical_number, cmp_utf16,
    write_string,
};
use super::node::{
    ArrayRules, Extra, Graph, Marks, NodeId, NumberRules, ObjectRules, Plain, Shape, StringRules, Tag, Types, Union,
};
use super::paths::normalise_path;
use super::problem::{Problem, Problems, What};
use super::text;

/// An accepted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Walked {
    /// The canonical text.
    pub(crate) text: String,
    /// Where the values of the root object's declared members stand in it, by member.
    pub(crate) members: Vec<Option<Range<usize>>>,
}

/// What a walk is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Canonical,
    /// As canonical, with every secret replaced.
    Redacted,
}

/// How a secret is shown.
pub(crate) const REDACTED: &str = "[redacted]";

impl Graph {
    /// Checks `text` and brings it into canonical form. Members at the paths of `open` may be
    /// missing although they are required.
    ///
    /// # Errors
    /// With all problems of the text, at all depths.
    pub(crate) fn accept(&self, text: &str, open: &[JsonPath]) -> Result<Walked, Problems> {
        let mut walker = Walker::new(self, text, Mode::Canonical);
        walker.open = open;
        walker.run(self.root)
    }

    /// An accepted text with every secret in it replaced.
    pub(crate) fn redact(&self, canonical: &str) -> String {
        if !self.has_secrets {
            return canonical.to_owned();
        }
        let mut walker = Walker::new(self, canonical, Mode::Redacted);
        match walker.run(self.root) {
            Ok(walked) => walked.text,
            // Not one of this schema's texts, so nobody knows where its secrets are.
            Err(_) => format!("\"{REDACTED}\""),
        }
    }
}

/// The canonical text of a value under one node.
pub(super) fn canonical_at(graph: &Graph, node: NodeId, text: &str) -> Result<String, String> {
    match Walker::new(graph, text, Mode::Canonical).run(node) {
        Ok(walked) => Ok(walked.text),
        Err(problems) => Err(problems.iter().next().map(ToString::to_string).unwrap_or_default()),
    }
}

/// The canonical text of a value about which no schema says anything.
pub(super) fn canonical_any(value: &Json) -> String {
    let mut text = String::new();
    value.write_sorted(&mut text);
    text
}

/// The path to where the walker is, as links on its stack: nothing is allocated until a problem needs it.
#[derive(Clone, Copy)]
struct Place<'p> {
    outer: Option<&'p Place<'p>>,
    step: PlaceStep<'p>,
    /// Where the step stands in the schema.
    order: u32,
    depth: usize,
}

#[derive(Clone, Copy)]
enum PlaceStep<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

impl<'p> Place<'p> {
    const ROOT: Place<'static> = Place {
        outer: None,
        step: PlaceStep::Root,
        order: 0,
        depth: 0,
    };

    fn key(&'p self, key: &'p str, order: usize) -> Place<'p> {
        Place {
            outer: Some(self),
            step: PlaceStep::Key(key),
            order: u32::try_from(order).unwrap_or(u32::MAX),
            depth: self.depth + 1,
        }
    }

    fn index(&'p self, index: usize) -> Place<'p> {
        Place {
            outer: Some(self),
            step: PlaceStep::Index(index),
            order: u32::try_from(index).unwrap_or(u32::MAX),
            depth: self.depth + 1,
        }
    }

    fn path(&self) -> (JsonPath, Vec<u32>) {
        let mut steps = Vec::with_capacity(self.depth);
        let mut order = Vec::with_capacity(self.depth);
        let mut place = Some(self);
        while let Some(here) = place {
            match here.step {
                PlaceStep::Root => break,
                PlaceStep::Key(key) => steps.push(Step::Key(key.to_owned())),
                PlaceStep::Index(index) => steps.push(Step::Index(index)),
            }
            order.push(here.order);
            place = here.outer;
        }
        steps.reverse();
        order.reverse();
        (JsonPath::from_segments(steps), order)
    }

    fn is(&self, path: &JsonPath) -> bool {
        path.segments().len() == self.depth && self.path().0 == *path
    }
}

/// Why a walk stops before its end.
enum Stop {
    Syntax(SyntaxError),
    /// A probe has met its first problem.
    Refused,
}

impl From<SyntaxError> for Stop {
    fn from(error: SyntaxError) -> Self {
        Stop::Syntax(error)
    }
}

type Walk = Result<(), Stop>;

/// A member as it stands in the output: `"key":value`.
struct Member<'t> {
    /// The declared position, or `usize::MAX` for a further member.
    position: usize,
    /// Of a further member.
    key: Cow<'t, str>,
    /// A default, whose offsets are into the text of the defaults.
    filled: bool,
    start: usize,
    value: usize,
    end: usize,
}

struct Walker<'g, 't> {
    graph: &'g Graph,
    cursor: Cursor<'t>,
    text: &'t str,
    mode: Mode,
    out: String,
    problems: Problems,
    members: Vec<Member<'t>>,
    open: &'g [JsonPath],
    /// In a probe the first problem ends the walk.
    probing: bool,
    /// Where the first problem of a probe stood.
    reached: usize,
    /// How many bytes may still be read again; bounds what nested unions can cost.
    fuel: usize,
}

/// A value that the schema refuses, as far as it is known where that is noticed.
struct Refusal {
    expected: String,
    suggestion: Option<String>,
}

impl<'g, 't> Walker<'g, 't> {
    fn new(graph: &'g Graph, text: &'t str, mode: Mode) -> Self {
        Walker {
            graph,
            cursor: Cursor::new(text),
            text,
            mode,
            out: String::with_capacity(text.len() + 16),
            problems: Problems::default(),
            members: Vec::new(),
            open: &[],
            probing: false,
            reached: 0,
            fuel: text.len().saturating_mul(32).saturating_add(4096),
        }
    }

    fn run(&mut self, root: NodeId) -> Result<Walked, Problems> {
        let walked = self
            .value(root, Marks::default(), &Place::ROOT)
            .and_then(|()| Ok(self.cursor.finish()?));
        if let Err(Stop::Syntax(error)) = walked {
            return Err(Problems::one(self.syntax_problem(&error)));
        }
        if !self.problems.is_empty() {
            self.problems.sort();
            return Err(std::mem::take(&mut self.problems));
        }
        let count = self.graph.root_object().map_or(0, |rules| rules.properties.len());
        let mut members = vec![None; count];
        for member in self.members.drain(..) {
            if let Some(slot) = members.get_mut(member.position) {
                *slot = Some(member.value..member.end);
            }
        }
        Ok(Walked {
            text: std::mem::take(&mut self.out),
            members,
        })
    }

    #[cold]
    fn syntax_problem(&self, error: &SyntaxError) -> Problem {
        let (line, column) = error.line_column(self.text);
        let message = format!("not valid JSON: {error} (line {line}, column {column})");
        Problem::new(JsonPath::root(), What::Syntax { message })
    }

    /// Notes a problem; in a probe the first one is the last.
    #[cold]
    fn problem(&mut self, place: &Place<'_>, what: impl FnOnce() -> What) -> Walk {
        if self.probing {
            self.reached = self.cursor.offset();
            return Err(Stop::Refused);
        }
        self.problems.add(|| {
            let (path, order) = place.path();
            let mut problem = Problem::new(path, what());
            problem.order = order;
            problem
        });
        Ok(())
    }

    #[cold]
    fn refuse(&mut self, place: &Place<'_>, refusal: Refusal, start: usize, marks: Marks) -> Walk {
        let raw = self.cursor.slice_from(start);
        self.problem(place, || What::Unexpected {
            expected: refusal.expected,
            got: describe::got(raw, marks.secret),
            suggestion: refusal.suggestion.filter(|_| !marks.secret),
        })
    }

    fn value(&mut self, node: NodeId, outer: Marks, place: &Place<'_>) -> Walk {
        let graph = self.graph;
        let node = &graph.nodes[node];
        let marks = outer.and(node.marks);
        match &node.shape {
            Shape::Plain(plain) => self.plain(plain, marks, place),
            Shape::Link(target) => self.value(*target, marks, place),
            Shape::Union(union) => self.union(union, marks, place),
        }
    }

    /// Reads over the rest of a value that has begun with `token`.
    fn skip_rest(&mut self, token: Token<'t>, start: usize, place: &Place<'_>) -> Walk {
        if matches!(token, Token::ArrayStart | Token::ObjectStart) {
            self.cursor = Cursor::at(self.text, start);
            self.cursor.skip_value(MAX_DEPTH.saturating_sub(place.depth))?;
        }
        Ok(())
    }

    fn plain(&mut self, plain: &'g Plain, marks: Marks, place: &Place<'_>) -> Walk {
        self.cursor.skip_space();
        let start = self.cursor.offset();
        let token = self.cursor.token()?;
        let written = self.out.len();
        let fits = match token {
            Token::Null => plain.types.has(Types::NULL),
            Token::Bool(_) => plain.types.has(Types::BOOLEAN),
            // Which kind of number it is takes a closer look.
            Token::Number(_) => plain.types.has(Types::NUMBER),
            Token::String { .. } => plain.types.has(Types::STRING),
            Token::ArrayStart => plain.types.has(Types::ARRAY),
            Token::ObjectStart => plain.types.has(Types::OBJECT),
        };
        if !fits {
            self.skip_rest(token, start, place)?;
            return self.refuse(
                place,
                Refusal {
                    expected: describe::plain(self.graph, plain),
                    suggestion: None,
                },
                start,
                marks,
            );
        }
        if marks.secret && self.mode == Mode::Redacted {
            self.skip_rest(token, start, place)?;
            write_string(&mut self.out, REDACTED);
            return Ok(());
        }
        match token {
            Token::Null => self.out.push_str("null"),
            Token::Bool(true) => self.out.push_str("true"),
            Token::Bool(false) => self.out.push_str("false"),
            Token::Number(digits) => {
                if let Err(expected) = self.number(digits, plain) {
                    return self.refuse(
                        place,
                        Refusal {
                            expected,
                            suggestion: None,
                        },
                        start,
                        marks,
                    );
                }
            }
            Token::String { raw, escaped } => {
                if let Some(rules) = &plain.string
                    && let Err(expected) = check_string(rules, raw, escaped)
                {
                    return self.refuse(
                        place,
                        Refusal {
                            expected,
                            suggestion: None,
                        },
                        start,
                        marks,
                    );
                }
                if marks.path {
                    match normalise_path(&Token::unescape(raw, escaped)) {
                        Some(path) => write_string(&mut self.out, &path),
                        None => {
                            let expected = "a file path without NUL".to_owned();
                            return self.refuse(
                                place,
                                Refusal {
                                    expected,
                                    suggestion: None,
                                },
                                start,
                                marks,
                            );
                        }
                    }
                } else if escaped {
                    write_string(&mut self.out, &Token::unescape(raw, true));
                } else {
                    self.out.push('"');
                    self.out.push_str(raw);
                    self.out.push('"');
                }
            }
            Token::ArrayStart => self.array(plain.array.as_deref(), marks, place)?,
            Token::ObjectStart => self.object(plain.object.as_deref(), marks, place)?,
        }
        if let Some(words) = &plain.one_of {
            let value = &self.out[written..];
            if !words.iter().any(|word| word == value) {
                let suggestion = describe::nearest_word(value, words);
                return self.refuse(
                    place,
                    Refusal {
                        expected: describe::words(words),
                        suggestion,
                    },
                    start,
                    marks,
                );
            }
        }
        Ok(())
    }

    fn number(&mut self, digits: &str, plain: &Plain) -> Result<(), String> {
        // The common case first: a short run of digits for an integer without bounds to check.
        let (Some(number), Some(spelt)) = (Number::parse(digits), canonical_number(digits)) else {
            return Err("a number that a double can hold".to_owned());
        };
        if !plain.types.has(Types::FRACTION) {
            match number {
                Number::Integer(_) => {}
                // A whole number, in digits alone, of more than 127 bits.
                Number::Float(_) if super::json::is_integer_literal(digits) => {}
                Number::Float(float) if float.fract() == 0.0 => {
                    return Err(format!(
                        "{}, written in digits alone beyond 9007199254740992",
                        describe::number(plain)
                    ));
                }
                Number::Float(_) => return Err(describe::number(plain)),
            }
        }
        if let Some(rules) = &plain.number
            && !in_bounds(number, rules)
        {
            return Err(describe::number(plain));
        }
        self.out.push_str(&spelt);
        Ok(())
    }

    fn nested_too_deeply(&self, place: &Place<'_>) -> Result<(), SyntaxError> {
        if place.depth >= MAX_DEPTH {
            self.cursor.error("nested too deeply")
        } else {
            Ok(())
        }
    }

    fn array(&mut self, rules: Option<&'g ArrayRules>, marks: Marks, place: &Place<'_>) -> Walk {
        self.nested_too_deeply(place)?;
        self.out.push('[');
        let unique = rules.is_some_and(|rules| rules.unique);
        let mut elements: Vec<Range<usize>> = Vec::new();
        let mut count = 0_usize;
        let mut more = self.cursor.first_element()?;
        while more {
            if count > 0 {
                self.out.push(',');
            }
            let begins = self.out.len();
            let inner = place.index(count);
            let node = match rules {
                None => Some(None),
                Some(rules) => rules.prefix.get(count).copied().or(rules.items).map(Some),
            };
            match node {
                Some(Some(node)) => self.value(node, marks, &inner)?,
                Some(None) => self.free(marks, &inner)?,
                // More elements than the tuple has: said once, below.
                None => self.cursor.skip_value(MAX_DEPTH.saturating_sub(inner.depth))?,
            }
            if unique {
                elements.push(begins..self.out.len());
            }
            count += 1;
            more = self.cursor.next_element()?;
        }
        self.out.push(']');
        let Some(rules) = rules else { return Ok(()) };
        let count64 = count as u64;
        let surplus = rules.items.is_none() && count > rules.prefix.len();
        if surplus || rules.min.is_some_and(|min| count64 < min) || rules.max.is_some_and(|max| count64 > max) {
            let expected = describe::array_length(rules);
            let got = format!("array of {count}");
            return self.problem(place, || What::Unexpected {
                expected,
                got,
                suggestion: None,
            });
        }
        if unique {
            let mut seen = HashSet::new();
            let repeated = elements
                .iter()
                .position(|element| !seen.insert(&self.out[element.clone()]));
            if let Some(index) = repeated {
                let inner = place.index(index);
                return self.problem(&inner, || What::Unexpected {
                    expected: "elements that differ from each other".to_owned(),
                    got: "one that is there already".to_owned(),
                    suggestion: None,
                });
            }
        }
        Ok(())
    }

    fn object(&mut self, rules: Option<&'g ObjectRules>, marks: Marks, place: &Place<'_>) -> Walk {
        self.nested_too_deeply(place)?;
        let Some(rules) = rules else {
            return self.free_object(marks, place);
        };
        self.out.push('{');
        let object_start = self.out.len();
        let first_member = self.members.len();
        let mut in_order = true;
        let mut hint = 0;
        // Which declared members have come, even as a `null` that means absence.
        let mut seen = Seen::default();
        let mut next = self.cursor.first_key()?;
        while let Some((raw, escaped)) = next {
            let key = Token::unescape(raw, escaped);
            match rules.find(&key, hint) {
                Some((position, by_alias)) => {
                    let property = &rules.properties[position];
                    let inner = place.key(&property.name, position);
                    if !seen.insert(position) {
                        let also = (by_alias || *key != *property.name).then(|| text::shown(&key, 64));
                        self.problem(&inner, || What::Twice { also })?;
                        self.cursor.skip_value(MAX_DEPTH.saturating_sub(inner.depth))?;
                    } else if self.null_means_absent(rules, position) {
                        self.cursor.token()?;
                        seen.absent(position);
                    } else {
                        in_order &= position >= hint;
                        hint = position + 1;
                        let start = self.begin_member(first_member, &property.name);
                        let value = self.out.len();
                        self.value(property.node, marks, &inner)?;
                        self.members.push(Member {
                            position,
                            key: Cow::Borrowed(""),
                            filled: false,
                            start,
                            value,
                            end: self.out.len(),
                        });
                    }
                }
                None => {
                    in_order = false;
                    let inner = place.key(&key, usize::MAX);
                    let node = match rules.extra {
                        Extra::Any(node) => Some(node),
                        Extra::Integers { node, signed } => is_whole_number(&key, signed).then_some(node),
                        Extra::Refused => None,
                    };
                    match node {
                        Some(node) => {
                            let start = self.begin_member(first_member, &key);
                            let value = self.out.len();
                            self.value(node, marks, &inner)?;
                            self.members.push(Member {
                                position: usize::MAX,
                                key,
                                filled: false,
                                start,
                                value,
                                end: self.out.len(),
                            });
                        }
                        None => {
                            let what = || match rules.extra {
                                Extra::Integers { .. } => What::Unexpected {
                                    expected: "a whole number as the name".to_owned(),
                                    got: "another name".to_owned(),
                                    suggestion: None,
                                },
                                _ => describe::unknown(rules, &key, marks.secret),
                            };
                            self.problem(&inner, what)?;
                            self.cursor.skip_value(MAX_DEPTH.saturating_sub(inner.depth))?;
                        }
                    }
                }
            }
            next = self.cursor.next_key()?;
        }
        let mut filled = String::new();
        for (position, property) in rules.properties.iter().enumerate() {
            if seen.has(position) {
                continue;
            }
            if let Some(default) = &property.default {
                if self.mode == Mode::Canonical {
                    let start = filled.len();
                    write_string(&mut filled, &property.name);
                    filled.push(':');
                    let value = filled.len();
                    filled.push_str(default);
                    self.members.push(Member {
                        position,
                        key: Cow::Borrowed(""),
                        filled: true,
                        start,
                        value,
                        end: filled.len(),
                    });
                }
            } else if property.required {
                let inner = place.key(&property.name, position);
                if !self.open.iter().any(|open| inner.is(open)) {
                    let expected = describe::node(self.graph, property.node);
                    self.problem(&inner, || What::Missing { expected })?;
                }
            }
        }
        if !filled.is_empty() || (!in_order && self.members.len() > first_member) {
            self.reorder(first_member, object_start, &filled, place)?;
        }
        self.out.push('}');
        let count = (self.members.len() - first_member) as u64;
        if rules.min.is_some_and(|min| count < min) || rules.max.is_some_and(|max| count > max) {
            let expected = describe::object_size(rules);
            let got = format!("object of {count}");
            self.problem(place, || What::Unexpected {
                expected,
                got,
                suggestion: None,
            })?;
        }
        if place.depth > 0 {
            self.members.truncate(first_member);
        }
        Ok(())
    }

    /// Writes the comma and the key of a member.
    fn begin_member(&mut self, first_member: usize, key: &str) -> usize {
        if self.members.len() > first_member {
            self.out.push(',');
        }
        let start = self.out.len();
        write_string(&mut self.out, key);
        self.out.push(':');
        start
    }

    /// Is the coming value a `null` by which the model leaves a member out?
    fn null_means_absent(&self, rules: &ObjectRules, position: usize) -> bool {
        !rules.properties[position].null_is_a_value && matches!(self.cursor.clone().token(), Ok(Token::Null))
    }

    /// Brings the members of one object into canonical order, with the defaults among them.
    fn reorder(&mut self, first_member: usize, object_start: usize, filled: &str, place: &Place<'_>) -> Walk {
        let mut members: Vec<Member<'t>> = self.members.drain(first_member..).collect();
        members.sort_by(|a, b| a.position.cmp(&b.position).then_with(|| cmp_utf16(&a.key, &b.key)));
        let twice = members.windows(2).find(|pair| {
            pair[0].position == usize::MAX && pair[0].key == pair[1].key && pair[1].position == usize::MAX
        });
        if let Some(pair) = twice {
            let key = pair[0].key.clone();
            self.problem(&place.key(&key, usize::MAX), || What::Twice { also: None })?;
        }
        let written = self.out.split_off(object_start);
        for (index, member) in members.into_iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            let start = self.out.len();
            let text = if member.filled {
                &filled[member.start..member.end]
            } else {
                &written[member.start - object_start..member.end - object_start]
            };
            self.out.push_str(text);
            let value = start + (member.value - member.start);
            self.members.push(Member {
                filled: false,
                start,
                value,
                end: self.out.len(),
                ..member
            });
        }
        Ok(())
    }

    /// A value about which the schema says nothing.
    fn free(&mut self, marks: Marks, place: &Place<'_>) -> Walk {
        const ANY: &Plain = &Plain {
            types: Types::ALL,
            one_of: None,
            number: None,
            string: None,
            array: None,
            object: None,
        };
        self.plain(ANY, marks, place)
    }

    fn free_object(&mut self, marks: Marks, place: &Place<'_>) -> Walk {
        self.out.push('{');
        let object_start = self.out.len();
        let first_member = self.members.len();
        let mut next = self.cursor.first_key()?;
        while let Some((raw, escaped)) = next {
            let key = Token::unescape(raw, escaped);
            let inner = place.key(&key, usize::MAX);
            let start = self.begin_member(first_member, &key);
            let value = self.out.len();
            self.free(marks, &inner)?;
            self.members.push(Member {
                position: usize::MAX,
                key,
                filled: false,
                start,
                value,
                end: self.out.len(),
            });
            next = self.cursor.next_key()?;
        }
        if self.members.len() > first_member + 1 {
            self.reorder(first_member, object_start, "", place)?;
        }
        self.out.push('}');
        if place.depth > 0 {
            self.members.truncate(first_member);
        }
        Ok(())
    }

    fn union(&mut self, union: &'g Union, marks: Marks, place: &Place<'_>) -> Walk {
        self.cursor.skip_space();
        let start = self.cursor.offset();
        let token = self.cursor.clone().token()?;
        let slot = match token {
            Token::Null => 0,
            Token::Bool(_) => 1,
            Token::Number(_) => 2,
            Token::String { .. } => 3,
            Token::ArrayStart => 4,
            Token::ObjectStart => 5,
        };
        let candidates = union.by_type[slot].as_slice();
        match candidates {
            [] => {
                self.cursor.skip_value(MAX_DEPTH.saturating_sub(place.depth))?;
                let expected = describe::union(self.graph, union);
                return self.refuse(
                    place,
                    Refusal {
                        expected,
                        suggestion: None,
                    },
                    start,
                    marks,
                );
            }
            [only] => return self.value(union.branches[*only], marks, place),
            _ => {}
        }
        if let (5, Some(tag)) = (slot, &union.tag) {
            return self.tagged(union, tag, marks, place, start);
        }
        self.try_each(union, candidates, marks, place, start)
    }

    /// Finds the branch of an object by what it says of itself.
    fn tagged(&mut self, union: &'g Union, tag: &'g Tag, marks: Marks, place: &Place<'_>, start: usize) -> Walk {
        let mut ahead = self.cursor.clone();
        ahead.token()?;
        let depth = MAX_DEPTH.saturating_sub(place.depth + 1);
        let mut next = ahead.first_key()?;
        match tag {
            Tag::Name { branches } => {
                let Some((raw, escaped)) = next else {
                    self.cursor.skip_value(MAX_DEPTH.saturating_sub(place.depth))?;
                    let names: Vec<&str> = branches.iter().map(|(name, _)| &**name).collect();
                    let expected = format!("an object with one of {}", text::listed(names.into_iter(), 32));
                    return self.refuse(
                        place,
                        Refusal {
                            expected,
                            suggestion: None,
                        },
                        start,
                        marks,
                    );
                };
                let key = Token::unescape(raw, escaped);
                if let Some((_, branch)) = branches.iter().find(|(name, _)| **name == *key) {
                    return self.value(union.branches[*branch], marks, place);
                }
                self.cursor.skip_value(MAX_DEPTH.saturating_sub(place.depth))?;
                let names = || branches.iter().map(|(name, _)| &**name);
                let what = What::Unknown {
                    suggestion: text::nearest(&key, names()).map(str::to_owned),
                    known: text::listed(names().collect::<Vec<_>>().into_iter(), 32),
                };
                self.problem(&place.key(&key, usize::MAX), || what)
            }
            Tag::Value { property, branches } => {
                while let Some((raw, escaped)) = next {
                    if Token::unescape(raw, escaped) == **property {
                        ahead.skip_space();
                        let value_start = ahead.offset();
                        ahead.skip_value(depth)?;
                        let value = ahead.slice_from(value_start);
                        let canonical = Json::parse(value)
                            .map(|value| canonical_any(&value))
                            .unwrap_or_default();
                        if let Some((_, branch)) = branches.iter().find(|(word, _)| *word == canonical) {
                            return self.value(union.branches[*branch], marks, place);
                        }
                        self.cursor.skip_value(MAX_DEPTH.saturating_sub(place.depth))?;
                        let words: Vec<String> = branches.iter().map(|(word, _)| word.clone()).collect();
                        let suggestion = describe::nearest_word(&canonical, &words).filter(|_| !marks.secret);
                        return self.problem(&place.key(property, 0), || What::Unexpected {
                            expected: describe::words(&words),
                            got: describe::got(value, marks.secret),
                            suggestion,
                        });
                    }
                    let before = ahead.offset();
                    ahead.skip_value(depth)?;
                    self.burn(ahead.offset() - before)?;
                    next = ahead.next_key()?;
                }
                self.cursor.skip_value(MAX_DEPTH.saturating_sub(place.depth))?;
                let words: Vec<String> = branches.iter().map(|(word, _)| word.clone()).collect();
                self.problem(&place.key(property, 0), || What::Missing {
                    expected: describe::words(&words),
                })
            }
        }
    }

    fn burn(&mut self, bytes: usize) -> Walk {
        match self.fuel.checked_sub(bytes + 1) {
            Some(left) => {
                self.fuel = left;
                Ok(())
            }
            None => {
                self.cursor
                    .error("a value that fits so many forms in so many ways that it can't be checked")?;
                Ok(())
            }
        }
    }

    /// Nothing tells the branches apart: the first that takes the value has it.
    fn try_each(
        &mut self,
        union: &'g Union,
        candidates: &[usize],
        marks: Marks,
        place: &Place<'_>,
        start: usize,
    ) -> Walk {
        let mut taken: Option<usize> = None;
        let mut furthest = (0, candidates[0]);
        for &candidate in candidates {
            if taken.is_some() && !union.exactly_one {
                break;
            }
            match self.probe(union.branches[candidate], marks, place, start)? {
                Ok(()) if taken.is_some() => {
                    self.cursor = Cursor::at(self.text, start);
                    self.cursor.skip_value(MAX_DEPTH.saturating_sub(place.depth))?;
                    let expected = format!(
                        "a value that fits exactly one of {}",
                        describe::union(self.graph, union)
                    );
                    return self.refuse(
                        place,
                        Refusal {
                            expected,
                            suggestion: None,
                        },
                        start,
                        marks,
                    );
                }
                Ok(()) => taken = Some(candidate),
                Err(reached) if reached > furthest.0 => furthest = (reached, candidate),
                Err(_) => {}
            }
        }
        self.cursor = Cursor::at(self.text, start);
        if let Some(candidate) = taken {
            return self.value(union.branches[candidate], marks, place);
        }
        if self.probing {
            self.reached = furthest.0;
            return Err(Stop::Refused);
        }
        // None takes it. If one of them got past the value's beginning, its problems are the ones to mend.
        let (listed, total) = (self.problems.listed(), self.problems.total());
        let written = self.out.len();
        if furthest.0 > start + 1 {
            self.value(union.branches[furthest.1], marks, place)?;
            if self.problems.total() > total {
                return Ok(());
            }
        }
        self.problems.truncate(listed, total);
        self.out.truncate(written);
        self.cursor = Cursor::at(self.text, start);
        self.cursor.skip_value(MAX_DEPTH.saturating_sub(place.depth))?;
        self.refuse(
            place,
            Refusal {
                expected: describe::union(self.graph, union),
                suggestion: None,
            },
            start,
            marks,
        )
    }

    /// Does a branch take the value? Leaves no trace. `Err` tells how far it got.
    fn probe(
        &mut self,
        branch: NodeId,
        marks: Marks,
        place: &Place<'_>,
        start: usize,
    ) -> Result<Result<(), usize>, Stop> {
        let (written, members, probing) = (self.out.len(), self.members.len(), self.probing);
        self.cursor = Cursor::at(self.text, start);
        self.probing = true;
        let walked = self.value(branch, marks, place);
        self.probing = probing;
        self.out.truncate(written);
        self.members.truncate(members);
        let end = self.cursor.offset();
        match walked {
            Err(Stop::Syntax(error)) => Err(Stop::Syntax(error)),
            walked => {
                let reached = if walked.is_ok() { end } else { self.reached };
                self.burn(reached.saturating_sub(start))?;
                Ok(walked.map_err(|_| reached))
            }
        }
    }
}

/// A set of positions that needs no memory for the first 64.
#[derive(Default)]
struct Seen {
    first: u64,
    absent: u64,
    more: HashSet<usize>,
    more_absent: HashSet<usize>,
}

impl Seen {
    fn insert(&mut self, position: usize) -> bool {
        if position < 64 {
            let bit = 1 << position;
            let new = self.first & bit == 0;
            self.first |= bit;
            new
        } else {
            self.more.insert(position)
        }
    }

    /// The member came and means that it is absent.
    fn absent(&mut self, position: usize) {
        if position < 64 {
            self.absent |= 1 << position;
        } else {
            self.more_absent.insert(position);
        }
    }

    fn has(&self, position: usize) -> bool {
        if position < 64 {
            (self.first & !self.absent) & (1 << position) != 0
        } else {
            self.more.contains(&position) && !self.more_absent.contains(&position)
        }
    }
}

fn is_whole_number(key: &str, signed: bool) -> bool {
    let digits = if signed {
        key.strip_prefix('-').unwrap_or(key)
    } else {
        key
    };
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn in_bounds(number: Number, rules: &NumberRules) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let holds = |bound: Option<Number>, refused: &[std::cmp::Ordering]| {
        bound.is_none_or(|bound| !refused.contains(&number.compare(bound)))
    };
    holds(rules.minimum, &[Less])
        && holds(rules.maximum, &[Greater])
        && holds(rules.above, &[Less, Equal])
        && holds(rules.below, &[Greater, Equal])
        && rules
            .multiple_of
            .is_none_or(|step| number.is_multiple_of(step) == Some(true))
}

fn check_string(rules: &StringRules, raw: &str, escaped: bool) -> Result<(), String> {
    let value = Token::unescape(raw, escaped);
    if let Some(format) = rules.format
        && !format.accepts(&value)
    {
        return Err(format.describe().to_owned());
    }
    if rules.min_length.is_some() || rules.max_length.is_some() {
        let length = value.chars().count() as u64;
        if rules.min_length.is_some_and(|min| length < min) || rules.max_length.is_some_and(|max| length > max) {
            let mut expected = describe::string(rules);
            let _ = write!(expected, " (this one has {length})");
            return Err(expected);
        }
    }
    Ok(())
}
