//! One pass over a text along its schema: checks it and writes its canonical form.
//!
//! The canonical text is compact JSON with declared members in declared order, further members in
//! the order of RFC 8785, aliases resolved, declared defaults filled in, numbers in one spelling
//! and paths normalised. Walking it again gives the same text.

mod object;
mod out;
mod place;
mod seen;
mod union;

use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::ops::Range;

use super::describe;
use super::json::{
    Cursor, Fault, Json, JsonPath, MAX_DEPTH, Number, SyntaxError, Token, by_value, canonical_number, is_among,
};
use super::node::{ArrayRules, Graph, Marks, NodeId, NumberRules, Plain, Purpose, Shape, StringRules, Types};
use super::paths::normalise_path;
use super::problem::{Problem, Problems, What};
use out::Out;
use place::Place;
use union::Probed;

/// An accepted text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Walked {
    /// The canonical text, where it isn't the given text itself.
    pub(crate) text: Option<String>,
    members: Vec<Member>,
    /// The required members that are missing, as the call reports.
    pub(crate) open: Vec<JsonPath>,
}

impl Walked {
    /// Where the value of a declared member of the root object begins in the canonical text.
    #[inline]
    pub(crate) fn value_of(&self, position: usize) -> Option<usize> {
        let wanted = u32::try_from(position).ok()?;
        let found = match self.members.get(position) {
            // They are in declared order, so if none before it is missing it stands there.
            Some(member) if member.position == wanted => member,
            _ => &self.members[self.members.binary_search_by_key(&wanted, |member| member.position).ok()?],
        };
        Some(found.value as usize)
    }

    /// Gives back what it was made in, to be used again.
    pub(crate) fn recycle(self) -> Option<String> {
        SCRATCH.set(self.members);
        self.text
    }
}

thread_local! {
    /// One list of members a thread: a walk needs one, and a walk is what happens most.
    static SCRATCH: Cell<Vec<Member>> = const { Cell::new(Vec::new()) };
}

/// Longer texts are refused: offsets have 32 bits, and no call is that long.
pub(crate) const MAX_TEXT: usize = 256 << 20;

/// How many unions a value may stand in, inside of each other: each takes its part of the stack, and how many stand
/// between two levels of a value is for whoever wrote the schema.
const MAX_UNIONS: usize = 4 * MAX_DEPTH;

/// What a walk is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Canonical,
    /// As canonical, without the defaults of members that needn't be there.
    Given,
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
        self.accept_as(text, open, false)
    }

    /// The same, with the elements of arrays that take no repeats in order, as those of sets have none of their own.
    pub(crate) fn accept_sets(&self, text: &str, open: &[JsonPath]) -> Result<Walked, Problems> {
        self.accept_as(text, open, true)
    }

    fn accept_as(&self, text: &str, open: &[JsonPath], sort_sets: bool) -> Result<Walked, Problems> {
        let mut walker = self.walker(text, open, sort_sets);
        let walked = walker.run(self.root)?;
        if let (true, Some(canonical)) = (walker.unsettled, &walked.text) {
            // The canonical text has to be what it is however often it is read.
            let again = self.walker(canonical, open, sort_sets).run(self.root);
            if !again.is_ok_and(|again| again.text.is_none_or(|text| text == *canonical)) {
                let expected = "a value that fits one form only, in its canonical form, too";
                return Err(Problems::one(Problem::unexpected(JsonPath::root(), expected, "one that fits several")));
            }
        }
        Ok(walked)
    }

    fn walker<'g, 't>(&'g self, text: &'t str, open: &'g [JsonPath], sort_sets: bool) -> Walker<'g, 't> {
        let mut walker = Walker::new(self, text, Mode::Canonical);
        walker.open = open;
        walker.sort_sets |= sort_sets;
        walker
    }

    /// An accepted text as it was given: what may be left out and was is not filled in. `open`: as it was accepted with.
    pub(crate) fn as_given(&self, text: &str, open: &[JsonPath]) -> Result<Walked, Problems> {
        let mut walker = Walker::new(self, text, Mode::Given);
        walker.open = open;
        walker.run(self.root)
    }

    /// Does a text of one node hold a secret?
    pub(super) fn holds_secret(&self, node: NodeId, text: &str) -> bool {
        self.has_secrets && {
            let mut walker = Walker::new(self, text, Mode::Redacted);
            walker.run(node).is_ok() && !walker.secrets.is_empty()
        }
    }

    /// The secrets of an accepted text, as they would be quoted. `open`: as it was accepted with.
    pub(crate) fn secrets(&self, canonical: &str, open: &[JsonPath]) -> Vec<String> {
        if !self.has_secrets {
            return Vec::new();
        }
        let mut walker = Walker::new(self, canonical, Mode::Redacted);
        walker.open = open;
        let _ = walker.run(self.root);
        walker.secrets
    }

    /// An accepted text with every secret in it replaced. `open`: as it was accepted with.
    pub(crate) fn redact(&self, canonical: &str, open: &[JsonPath]) -> String {
        if !self.has_secrets {
            return canonical.to_owned();
        }
        let mut walker = Walker::new(self, canonical, Mode::Redacted);
        walker.open = open;
        match walker.run(self.root) {
            Ok(walked) => walked.text.unwrap_or_else(|| canonical.to_owned()),
            // Not one of this schema's texts, so nobody knows where its secrets are.
            Err(_) => format!("\"{REDACTED}\""),
        }
    }
}

/// The canonical text of a value under one node.
pub(super) fn canonical_at(graph: &Graph, node: NodeId, text: &str) -> Result<String, String> {
    match Walker::new(graph, text, Mode::Canonical).run(node) {
        Ok(walked) => Ok(walked.text.unwrap_or_else(|| text.to_owned())),
        Err(problems) => Err(problems.iter().next().map(ToString::to_string).unwrap_or_default()),
    }
}

/// Why a walk stops before its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// The text isn't JSON; the cursor knows why.
    Syntax,
    /// A probe has met its first problem.
    Refused,
    /// So many forms are possible that trying them all would take too long.
    Exhausted,
}

impl From<Fault> for Stop {
    fn from(Fault: Fault) -> Self {
        Stop::Syntax
    }
}

type Walk = Result<(), Stop>;

/// A member as it stands in the output: `"key":value`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Member {
    /// The declared position, or `EXTRA` for a further member.
    position: u32,
    /// A default, whose offsets are into the text of the defaults.
    filled: bool,
    start: u32,
    value: u32,
    end: u32,
}

impl Member {
    const EXTRA: u32 = u32::MAX;

    /// No text is longer than `MAX_TEXT`, and no schema has that many members.
    fn new(position: usize, start: usize, value: usize, end: usize) -> Self {
        let short = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
        Member { position: short(position), filled: false, start: short(start), value: short(value), end: short(end) }
    }

    fn text(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The key as it stands in the output, between its quotes.
    fn key(self) -> Range<usize> {
        self.start as usize + 1..(self.value as usize).saturating_sub(2)
    }
}

struct Walker<'g, 't> {
    graph: &'g Graph,
    cursor: Cursor<'t>,
    text: &'t str,
    mode: Mode,
    out: Out<'t>,
    problems: Problems,
    members: Vec<Member>,
    open: &'g [JsonPath],
    /// Arrays that take no repeats are written in order.
    sort_sets: bool,
    /// The secrets that were replaced.
    secrets: Vec<String>,
    /// The required members that are missing and may be.
    excused: Vec<JsonPath>,
    /// In a probe the first problem ends the walk, and a value is judged as it was given: nothing is
    /// filled in.
    probing: bool,
    /// Where the first problem of a probe stood.
    reached: usize,
    /// In a probe: a `null` is a value wherever it stands, and no path is normalised.
    literal: bool,
    /// Something was taken for other than it is: a `null` for absence, or a path for a shorter one.
    reinterpreted: bool,
    /// What probes have answered, by branch, place, whether paths are normalised and whether values are taken literally.
    probes: BTreeMap<(NodeId, usize, bool, bool), Probed>,
    /// How many unions are around.
    unions: usize,
    /// How many of the values around compare what is written.
    texts_needed: usize,
    /// In how many ways the unions around, which only trial can resolve, may be tried; 0 outside.
    trials: usize,
    /// Inside such a union something was left out or filled in, which may change the form it fits.
    unsettled: bool,
    /// How many bytes may still stand inside such unions, in all the ways they may be tried.
    trial_fuel: usize,
    /// How many bytes may still be read again; bounds what nested unions can cost.
    fuel: usize,
}

/// A value that the schema refuses, as far as it is known where that is noticed.
struct Refusal {
    expected: String,
    suggestion: Option<String>,
    hint: Option<&'static str>,
    /// Other values were expected inside this one.
    holds_more: bool,
}

impl Refusal {
    fn new(expected: String) -> Self {
        Refusal { expected, suggestion: None, hint: None, holds_more: false }
    }
}

impl<'g, 't> Walker<'g, 't> {
    fn new(graph: &'g Graph, text: &'t str, mode: Mode) -> Self {
        Walker {
            graph,
            cursor: Cursor::new(text),
            text,
            mode,
            out: Out::new(text),
            problems: Problems::default(),
            members: {
                let mut members = SCRATCH.take();
                members.clear();
                members
            },
            open: &[],
            sort_sets: graph.purpose == Purpose::Output { sort_sets: true },
            secrets: Vec::new(),
            excused: Vec::new(),
            probing: false,
            literal: false,
            reinterpreted: false,
            probes: BTreeMap::new(),
            unions: 0,
            texts_needed: 0,
            trials: 0,
            trial_fuel: 1 << 24,
            unsettled: false,
            reached: 0,
            fuel: text.len().saturating_mul(32).saturating_add(4096),
        }
    }

    fn run(&mut self, root: NodeId) -> Result<Walked, Problems> {
        if self.text.len() > MAX_TEXT {
            let message = format!("longer than {MAX_TEXT} bytes");
            return Err(Problems::one(Problem::new(JsonPath::root(), What::Syntax { message })));
        }
        let walked = self.value(root, Marks::default(), &Place::ROOT).and_then(|()| Ok(self.cursor.finish()?));
        match walked {
            Err(Stop::Syntax) => return Err(Problems::one(self.syntax_problem(&self.cursor.error()))),
            Err(Stop::Exhausted) => {
                let got = "one that fits too many forms in too many ways";
                return Err(Problems::one(Problem::unexpected(JsonPath::root(), "a value that can be checked", got)));
            }
            Ok(()) | Err(Stop::Refused) => {}
        }
        if !self.problems.is_empty() {
            self.problems.sort();
            return Err(std::mem::take(&mut self.problems));
        }
        let text = self.out.finish();
        Ok(Walked { text, members: std::mem::take(&mut self.members), open: std::mem::take(&mut self.excused) })
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
        if !self.probing {
            self.out.pass(self.cursor.offset());
        }
        // A secret may stand a level too high.
        let secret = marks.secret || marks.hidden || (refusal.holds_more && self.graph.has_secrets);
        self.problem(place, || What::Unexpected {
            expected: refusal.expected,
            got: describe::got(raw, secret),
            suggestion: refusal.suggestion.filter(|_| !secret),
            hint: refusal.hint,
        })
    }

    fn value(&mut self, mut node: NodeId, mut marks: Marks, place: &Place<'_>) -> Walk {
        let graph = self.graph;
        // Links not by calls: how many there are is for whoever wrote the schema.
        loop {
            let here = &graph.nodes[node];
            marks = marks.and(here.marks);
            match &here.shape {
                Shape::Plain(plain) => {
                    let unmarked = plain.one_of.is_none() && marks == Marks::default();
                    return match unmarked.then(|| self.simple(plain)).flatten() {
                        Some(walked) => walked,
                        None => self.plain(plain, marks, place),
                    };
                }
                Shape::Link(target) => node = *target,
                Shape::Union(union) => {
                    self.unions += 1;
                    let all = self.unions <= MAX_UNIONS;
                    let walked = if all { self.union(union, marks, place) } else { Err(Stop::Exhausted) };
                    self.unions -= 1;
                    return walked;
                }
            }
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

    /// A string, a run of digits, or nothing: what most values are, and what needs no second look.
    /// `None` leaves everything as it was.
    #[inline]
    fn simple(&mut self, plain: &Plain) -> Option<Walk> {
        self.cursor.skip_space();
        let start = self.cursor.offset();
        match self.cursor.byte() {
            Some(b'"') if plain.string.is_none() && plain.types.has(Types::STRING) => match self.cursor.skip_string() {
                Ok(false) => {}
                Ok(true) => {
                    self.cursor.go_back(start);
                    return None;
                }
                Err(Fault) => return Some(Err(Stop::Syntax)),
            },
            Some(b'1'..=b'9') if plain.types.has(Types::INTEGER) => {
                let integer = self.cursor.short_integer()?;
                let fits =
                    plain.number.as_deref().is_none_or(|rules| in_bounds(Number::Integer(integer.into()), rules));
                if !fits {
                    self.cursor.go_back(start);
                    return None;
                }
            }
            _ => return None,
        }
        self.out.copy(start, self.cursor.offset());
        Some(Ok(()))
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
                    hint: quoted_json(token, plain.types),
                    holds_more: plain.types.has(Types::ARRAY.with(Types::OBJECT)),
                    ..Refusal::new(describe::plain(self.graph, plain))
                },
                start,
                marks,
            );
        }
        if marks.secret && self.mode == Mode::Redacted {
            self.skip_rest(token, start, place)?;
            if !self.probing && token != Token::Null {
                self.secrets.push(match token {
                    Token::String { raw, escaped } => Token::unescape(raw, escaped).into_owned(),
                    _ => self.cursor.slice_from(start).to_owned(),
                });
            }
            self.out.string(REDACTED);
            return Ok(());
        }
        match token {
            Token::Null | Token::Bool(_) => self.out.copy(start, self.cursor.offset()),
            Token::Number(digits) => {
                if let Err(expected) = self.number(digits, plain, start) {
                    return self.refuse(place, Refusal::new(expected), start, marks);
                }
            }
            Token::String { raw, escaped } => {
                if let Err(expected) = self.string(plain, raw, escaped, marks, start) {
                    return self.refuse(place, Refusal::new(expected), start, marks);
                }
            }
            Token::ArrayStart | Token::ObjectStart => {
                self.texts_needed += usize::from(plain.one_of.is_some());
                let walked = match token {
                    Token::ArrayStart => self.array(plain.array.as_deref(), marks, place),
                    _ => self.object(plain.object.as_deref(), marks, place),
                };
                self.texts_needed -= usize::from(plain.one_of.is_some());
                walked?;
            }
        }
        let Some(words) = &plain.one_of else { return Ok(()) };
        let compound = matches!(token, Token::ArrayStart | Token::ObjectStart);
        let value = self.out.slice(written..self.out.len());
        let is_listed = |value: &str| is_among(value, words);
        let fits = if compound {
            // What is written has its members in another order.
            Json::parse(value).is_ok_and(|value| is_listed(&value.canonical()))
        } else {
            is_listed(value)
        };
        if !fits {
            let suggestion = describe::nearest_word(value, words);
            let refusal = Refusal { suggestion, ..Refusal::new(describe::words(words)) };
            return self.refuse(place, refusal, start, marks);
        }
        if compound && !self.probing {
            // It has to be in the set as it was given, too, before anything was filled in.
            let end = self.cursor.offset();
            let given = self.without_trace(start, |walker| walker.plain(plain, marks, place));
            self.cursor = Cursor::at(self.text, end);
            if given == Err(Stop::Refused) {
                return self.refuse(place, Refusal::new(describe::words(words)), start, marks);
            }
            given?;
        }
        Ok(())
    }

    /// Notes whether the canonical text will say something else than what was given.
    fn reinterprets(&mut self, otherwise: bool) {
        self.reinterpreted |= otherwise;
        self.unsettled |= otherwise && self.trials > 0;
    }

    /// Walks what begins at `start`, and writes nothing. The cursor stays where the walk ended.
    fn without_trace(&mut self, start: usize, walk: impl FnOnce(&mut Self) -> Walk) -> Walk {
        let (written, members, probing) = (self.out.len(), self.members.len(), self.probing);
        let texts_needed = self.texts_needed;
        self.cursor = Cursor::at(self.text, start);
        self.probing = true;
        let walked = walk(self);
        self.probing = probing;
        self.texts_needed = texts_needed;
        self.out.truncate(written);
        self.members.truncate(members);
        walked
    }

    fn string(&mut self, plain: &Plain, raw: &str, escaped: bool, marks: Marks, start: usize) -> Result<(), String> {
        let check = |text: &str| plain.string.as_deref().map_or(Ok(()), |rules| check_string(rules, text));
        let text = Token::unescape(raw, escaped);
        check(&text)?;
        if marks.path && !self.literal && self.graph.purpose == Purpose::Arguments {
            let path = normalise_path(&text).ok_or("a file path without NUL")?;
            self.reinterprets(path != text);
            check(&path)?;
            if path != raw {
                self.out.string(&path);
                return Ok(());
            }
        }
        if escaped {
            self.out.string(&text);
        } else {
            self.out.copy(start, self.cursor.offset());
        }
        Ok(())
    }

    fn number(&mut self, digits: &str, plain: &Plain, start: usize) -> Result<(), String> {
        let Some(number) = Number::parse(digits) else {
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
        match canonical_number(digits) {
            Some(spelt) if spelt != digits => self.out.push_str(&spelt),
            _ => self.out.copy(start, self.cursor.offset()),
        }
        Ok(())
    }

    fn nested_too_deeply(&mut self, place: &Place<'_>) -> Result<(), Fault> {
        if place.depth >= MAX_DEPTH { self.cursor.fail("nested too deeply") } else { Ok(()) }
    }

    fn array(&mut self, rules: Option<&'g ArrayRules>, marks: Marks, place: &Place<'_>) -> Walk {
        self.nested_too_deeply(place)?;
        self.out.copy(self.cursor.offset() - 1, self.cursor.offset());
        let unique = rules.is_some_and(|rules| rules.unique);
        let mut elements: Vec<Range<usize>> = Vec::new();
        let mut count = 0_usize;
        let mut separator = 0;
        let mut more = self.cursor.first_element()?;
        while more {
            if count > 0 {
                self.out.copy(separator, separator + 1);
            }
            let begins = self.out.len();
            let inner = place.index(count);
            let node = match rules {
                None => Some(None),
                Some(rules) => rules.prefix.get(count).copied().or(rules.items).map(Some),
            };
            self.texts_needed += usize::from(unique);
            match node {
                Some(Some(node)) => self.value(node, marks, &inner)?,
                Some(None) => self.free(marks, &inner)?,
                // More elements than the tuple has: said once, below.
                None => self.cursor.skip_value(MAX_DEPTH.saturating_sub(inner.depth))?,
            }
            self.texts_needed -= usize::from(unique);
            if unique {
                elements.push(begins..self.out.len());
            }
            count += 1;
            self.cursor.skip_space();
            separator = self.cursor.offset();
            more = self.cursor.next_element()?;
        }
        self.out.copy(self.cursor.offset() - 1, self.cursor.offset());
        let Some(rules) = rules else { return Ok(()) };
        let count64 = count as u64;
        let surplus = rules.items.is_none() && count > rules.prefix.len();
        if surplus || rules.min.is_some_and(|min| count64 < min) || rules.max.is_some_and(|max| count64 > max) {
            let expected = describe::array_length(rules);
            let got = format!("array of {count}");
            return self.problem(place, || What::unexpected(expected, got));
        }
        if unique {
            let mut seen = HashSet::new();
            let repeated = elements.iter().position(|element| !seen.insert(by_value(self.out.slice(element.clone()))));
            if let Some(index) = repeated {
                let inner = place.index(index);
                return self.problem(&inner, || {
                    What::unexpected("elements that differ from each other", "one that is there already")
                });
            }
            if self.sort_sets {
                self.sort_elements(elements);
            }
        }
        Ok(())
    }

    /// Puts the elements of the array that was just written into order: numbers by size, all else by
    /// text.
    fn sort_elements(&mut self, elements: Vec<Range<usize>>) {
        let mut texts: Vec<String> =
            elements.iter().map(|element| self.out.slice(element.clone()).to_owned()).collect();
        texts.sort_by(|a, b| match (Number::parse(a), Number::parse(b)) {
            (Some(a), Some(b)) => a.compare(b),
            _ => a.cmp(b),
        });
        if let Some(first) = elements.first() {
            self.out.truncate(first.start);
            self.out.push_str(&texts.join(","));
            self.out.push(']');
        }
    }

    /// A value about which the schema says nothing.
    fn free(&mut self, marks: Marks, place: &Place<'_>) -> Walk {
        const ANY: &Plain =
            &Plain { types: Types::ALL, one_of: None, number: None, string: None, array: None, object: None };
        self.plain(ANY, marks, place)
    }
}

/// What to say of an array or an object that came as text.
fn quoted_json(token: Token<'_>, types: Types) -> Option<&'static str> {
    let Token::String { raw, escaped } = token else { return None };
    let text = Token::unescape(raw, escaped);
    match Json::parse(&text) {
        Ok(Json::Array(_)) if types.has(Types::ARRAY) => Some("send the JSON array itself, not as text"),
        Ok(Json::Object(_)) if types.has(Types::OBJECT) => Some("send the JSON object itself, not as text"),
        _ => None,
    }
}

pub(super) fn in_bounds(number: Number, rules: &NumberRules) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let holds = |bound: Option<Number>, refused: &[std::cmp::Ordering]| {
        bound.is_none_or(|bound| !refused.contains(&number.compare(bound)))
    };
    holds(rules.minimum, &[Less])
        && holds(rules.maximum, &[Greater])
        && holds(rules.above, &[Less, Equal])
        && holds(rules.below, &[Greater, Equal])
        && rules.multiple_of.is_none_or(|step| number.is_multiple_of(step))
}

fn check_string(rules: &StringRules, value: &str) -> Result<(), String> {
    if let Some(format) = rules.format
        && !format.accepts(value)
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
