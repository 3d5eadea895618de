//! What tools answered.

use std::collections::HashMap;

use super::instruction::SHOWN;
use super::wanted::{Place, Wanted};
use super::{Observation, Piece, Said};
use crate::call::CallId;
use crate::checklist::ask::{Ask, words_of_name};
use crate::checklist::given::text_of;
use crate::checklist::location::{Location, Pointer};
use crate::checklist::search::{About, Anchors, Budget, Closed, Lexicon, Words};
use crate::checklist::shape::Shape;
use crate::checklist::source::{Hit, Lookup, Normalisation};
use crate::schema::json::Json;
use crate::schema::text::visible;
use crate::schema::{JsonPath, Segment};

/// A result, as it is searched.
#[derive(Debug, Default)]
pub(super) struct Observed {
    call: Option<CallId>,
    vouches: Vouches,
    /// Values that it doesn't vouch for, in small letters.
    unsourced: Vec<String>,
    /// The texts of all leaves, one after the other.
    piece: Piece,
    leaves: Vec<Leaf>,
    /// Positions of leaves by the words of the names that they have.
    by_name: HashMap<Box<str>, Vec<usize>>,
}

/// What a result vouches for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Vouches {
    /// Nothing: it is an error, or a pure tool's.
    #[default]
    Nothing,
    /// Values that may be derived: it was computed from values that have sources.
    Derived,
    /// What it holds.
    All,
}

/// A string, number or boolean in a result.
#[derive(Debug)]
struct Leaf {
    path: JsonPath,
    kind: Kind,
    /// Bytes of the piece.
    start: usize,
    end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    String,
    Number,
    Boolean,
}

/// Between two leaves. Nothing that is searched goes across it.
const BETWEEN: &str = "\n\u{1}\n\u{1}\n";

impl Observed {
    pub(super) fn new(result: Observation, lexicon: &Lexicon) -> Self {
        let vouches = match (result.error, result.pure, result.derived) {
            (true, ..) | (_, true, false) => Vouches::Nothing,
            (_, _, true) => Vouches::Derived,
            _ => Vouches::All,
        };
        let folded =
            |text: &String| Json::parse(text).map_or_else(|_| text.clone(), |value| text_of(&value)).to_lowercase();
        let unsourced = result.unsourced.iter().map(folded).collect();
        let call = Some(result.call);
        if vouches == Vouches::Nothing {
            return Observed { call, vouches, ..Observed::default() };
        }
        let value = match Json::parse(&result.content) {
            Ok(value) => value,
            // A text that is no JSON is one string.
            Err(_) => Json::String(result.content),
        };
        let (mut text, mut leaves) = (String::new(), Vec::new());
        gather(&value, &JsonPath::root(), &mut text, &mut leaves);
        let piece = Piece::new(&text, lexicon);
        let mut by_name = HashMap::<Box<str>, Vec<usize>>::new();
        for (at, leaf) in leaves.iter().enumerate() {
            if let Some(Segment::Key(key)) = leaf.path.segments().last() {
                by_name.entry(words_of_name(key).join(" ").into()).or_default().push(at);
            }
        }
        Observed { call, vouches, unsourced, piece, leaves, by_name }
    }

    /// Bytes that it keeps.
    pub(super) fn len(&self) -> usize {
        self.piece.words.text.len()
    }

    fn is_call(&self, call: &CallId) -> bool {
        self.call.as_ref() == Some(call)
    }

    /// May it vouch for this value of a slot?
    fn vouches_for(&self, ask: &Ask, value: &Json) -> bool {
        let vouches = match self.vouches {
            Vouches::Nothing => false,
            Vouches::Derived => ask.may_be_derived(),
            Vouches::All => true,
        };
        vouches && (self.unsourced.is_empty() || !self.unsourced.contains(&text_of(value).to_lowercase()))
    }

    fn leaf_at(&self, place: &Place) -> Option<&Leaf> {
        let at = self.leaves.partition_point(|leaf| leaf.start <= place.start).checked_sub(1)?;
        self.leaves.get(at).filter(|leaf| place.end <= leaf.end)
    }

    fn leaf(&self, path: &JsonPath) -> Option<&Leaf> {
        self.leaves.iter().find(|leaf| leaf.path == *path)
    }

    fn value(&self, leaf: &Leaf) -> Json {
        let text = self.text(leaf);
        match leaf.kind {
            Kind::String => Json::string(text),
            Kind::Number => Json::Number(text.to_owned()),
            Kind::Boolean => Json::Bool(text == "true"),
        }
    }

    fn text(&self, leaf: &Leaf) -> &str {
        &self.piece.words.text[leaf.start..leaf.end]
    }

    fn hit(&self, ask: &Ask, leaf: &Leaf, place: &Place, value: String) -> Option<Hit> {
        let text = self.text(leaf);
        let span = place.start - leaf.start..place.end - leaf.start;
        let pointer = Pointer::CallResult { call: self.call.clone()?, path: leaf.path.clone() };
        let excerpt = visible(text.get(span.clone())?, SHOWN);
        let normalisation = match self.vouches {
            Vouches::Derived => Normalisation::Derived,
            _ => place.normalisation,
        };
        let mut hit = Hit::new(Location::new(pointer, span, text), value, normalisation);
        hit.excerpt = Some(excerpt);
        Some(hit.answering(ask))
    }
}

/// All leaves, in order, as far as there is room.
fn gather(value: &Json, path: &JsonPath, text: &mut String, leaves: &mut Vec<Leaf>) {
    let room = super::Conversation::MOST_OF_ONE.saturating_sub(text.len());
    if room == 0 {
        return;
    }
    let mut inside = |segment: Segment, inner: &Json| {
        let mut path = path.clone();
        path.push(segment);
        gather(inner, &path, text, leaves);
    };
    match value {
        Json::Array(elements) => {
            elements.iter().enumerate().for_each(|(index, inner)| inside(Segment::Index(index), inner));
        }
        Json::Object(members) => members.iter().for_each(|(key, inner)| inside(Segment::Key(key.clone()), inner)),
        Json::Null => {}
        leaf => {
            let written = text_of(leaf);
            // A part of a value is another value.
            if written.len() > room {
                return;
            }
            let kind = match leaf {
                Json::String(_) => Kind::String,
                Json::Number(_) => Kind::Number,
                _ => Kind::Boolean,
            };
            let start = text.len();
            text.push_str(&written);
            leaves.push(Leaf { path: path.clone(), kind, start, end: text.len() });
            text.push_str(BETWEEN);
        }
    }
}

pub(super) fn look(said: &Said, lexicon: &Lexicon, ask: &Ask, value: Option<&Json>) -> Lookup {
    let newest_first = || said.results.iter().rev();
    let pointed = match ask.hint() {
        Some(Pointer::CallResult { call, path }) => {
            newest_first().find(|result| result.is_call(call)).map(|result| (result, path))
        }
        _ => None,
    };
    let Some(value) = value else {
        let read = pointed.and_then(|(result, path)| read_at(result, path, lexicon, ask));
        return read.map_or(Lookup::NoResult, Lookup::Hit);
    };
    if let Some((result, path)) = pointed
        && let Some(hit) = read_at(result, path, lexicon, ask).filter(|hit| hit.value == value.to_string())
    {
        return Lookup::Hit(hit);
    }
    let mut budget = Budget::new();
    let vouching = newest_first().filter(|result| result.vouches_for(ask, value));
    let found = match Closed::of(ask, Some(value), lexicon) {
        Some(_) => {
            let anchors = Anchors::of(ask);
            vouching.into_iter().find_map(|result| under_its_name(result, lexicon, ask, value, &anchors, &mut budget))
        }
        None => {
            let wanted = Wanted::new(ask, value);
            vouching.into_iter().find_map(|result| {
                let place = wanted.last_in(&result.piece, &mut budget)?;
                result.hit(ask, result.leaf_at(&place)?, &place, value.to_string())
            })
        }
    };
    found.map_or(Lookup::NoResult, Lookup::Hit)
}

/// A value of which there are few, in a member that is named as the slot is.
fn under_its_name(
    result: &Observed,
    lexicon: &Lexicon,
    ask: &Ask,
    value: &Json,
    anchors: &Anchors,
    budget: &mut Budget,
) -> Option<Hit> {
    for name in anchors.names() {
        for at in result.by_name.get(name.as_str()).into_iter().flatten().rev() {
            budget.spend(1)?;
            let hit = result.leaves.get(*at).and_then(|leaf| read_leaf(result, leaf, lexicon, ask));
            if let Some(hit) = hit.filter(|hit| hit.value == value.to_string()) {
                return Some(hit);
            }
        }
    }
    None
}

/// The value at a place, read as the slot's shape says.
fn read_at(result: &Observed, path: &JsonPath, lexicon: &Lexicon, ask: &Ask) -> Option<Hit> {
    read_leaf(result, result.leaf(path)?, lexicon, ask)
}

fn read_leaf(result: &Observed, leaf: &Leaf, lexicon: &Lexicon, ask: &Ask) -> Option<Hit> {
    let (read, place) = as_shape(&result.value(leaf), lexicon, ask)?;
    if !result.vouches_for(ask, &read) {
        return None;
    }
    let place = Place { start: leaf.start + place.start, end: leaf.start + place.end, ..place };
    result.hit(ask, leaf, &place, read.to_string())
}

/// What the text of a value says, and where in it.
fn as_shape(value: &Json, lexicon: &Lexicon, ask: &Ask) -> Option<(Json, Place)> {
    let whole = |normalisation: Normalisation| Place { start: 0, end: text_of(value).len(), normalisation };
    let exact = Some((value.clone(), whole(Normalisation::Exact)));
    match (ask.shape(), value) {
        (Shape::Any, _) | (Shape::Text, Json::String(_)) | (Shape::Boolean, Json::Bool(_)) => exact,
        (Shape::Number, Json::Number(_)) => exact,
        (Shape::Integer, Json::Number(number)) => exact.filter(|_| !number.contains(['.', 'e'])),
        (Shape::Text, Json::Number(number)) => Some((Json::String(number.clone()), whole(Normalisation::Number))),
        (Shape::Choice(members), _) => {
            let canonical = value.to_string();
            if members.contains(&canonical) {
                return exact;
            }
            let words = Words::new(text_of(value));
            let sentences: Vec<_> = (0..words.sentences.len()).map(|at| (at, About::Pointed)).collect();
            let closed = Closed::of(ask, None, lexicon)?;
            let mut mentions = closed.mentions(&words, &[], lexicon, &sentences, &mut Budget::new());
            mentions.retain(|mention| !mention.is_denied);
            let first = mentions.first()?;
            let only = mentions.iter().all(|mention| mention.value == first.value);
            let place = Place { start: first.start, end: first.end, normalisation: first.normalisation };
            Json::parse(&first.value).ok().filter(|_| only).map(|value| (value, place))
        }
        (shape @ (Shape::Integer | Shape::Number | Shape::Date), Json::String(text)) => {
            let piece = Piece::new(text, lexicon);
            let [reading] = &piece.readings[..] else { return None };
            let value = match (&reading.value, shape) {
                (super::Read::Number(number), Shape::Number) => Json::Number(number.clone()),
                (super::Read::Number(number), Shape::Integer) if !number.contains(['.', 'e']) => {
                    Json::Number(number.clone())
                }
                (super::Read::Day(day), Shape::Date) => Json::String(day.to_string()),
                _ => return None,
            };
            let normalisation = match (shape, reading.normalisation) {
                (Shape::Date, normalisation) => normalisation,
                (_, Normalisation::Exact) => Normalisation::Number,
                (_, other) => other,
            };
            Some((value, Place { start: reading.start, end: reading.end, normalisation }))
        }
        _ => None,
    }
}

pub(super) fn read(said: &Said, location: &Location) -> Option<String> {
    let Pointer::CallResult { call, path } = location.pointer() else { return None };
    let of_call = said.results.iter().rev().filter(|result| result.is_call(call));
    of_call.filter_map(|result| result.leaf(path).map(|leaf| result.text(leaf))).find_map(|text| location.read_in(text))
}
