//! What the user wrote.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};

use super::wanted::{Place, Wanted, of_now};
use super::{Piece, Reading, Said, UserTurn};
use crate::checklist::ask::Ask;
use crate::checklist::location::{Location, Pointer};
use crate::checklist::search::{About, Anchors, Budget, Closed, Lexicon, Mention, Read, Spoken, Words};
use crate::checklist::shape::Shape;
use crate::checklist::source::{Hit, Lookup, Normalisation};
use crate::schema::Day;
use crate::schema::json::{Json, write_string};
use crate::schema::text::visible;

/// How many characters of what is written are shown.
pub(super) const SHOWN: usize = 80;

pub(super) fn look(said: &Said, lexicon: &Lexicon, ask: &Ask, value: Option<&Json>) -> Lookup {
    let pointed = match ask.hint() {
        Some(Pointer::Turn(number)) => number.checked_sub(1).filter(|at| *at < said.turns.len()),
        _ => None,
    };
    let search = Search { said, lexicon, ask, anchors: OnceCell::new() };
    let Some(value) = value else {
        return match (pointed, ask.shape()) {
            (Some(at), Shape::Words) => search.whole_turn(at),
            (Some(at), _) => search.read_turn(at),
            (None, _) => Lookup::NoResult,
        };
    };
    let mut budget = Budget::new();
    match Closed::of(ask, Some(value), lexicon) {
        Some(closed) => search.closed(&closed, value, pointed, &mut budget),
        None => search.open(value, pointed, &mut budget),
    }
}

pub(super) fn read(said: &Said, location: &Location) -> Option<String> {
    let Pointer::Turn(number) = location.pointer() else { return None };
    let turn = said.turns.get(number.checked_sub(1)?)?;
    match location.proposed() {
        Some(proposed) => {
            let (number, question) = turn.question.as_ref()?;
            (*number == proposed).then(|| location.read_in(&question.words.text)).flatten()
        }
        None => location.read_in(&turn.piece.words.text),
    }
}

struct Search<'a> {
    said: &'a Said,
    lexicon: &'a Lexicon,
    ask: &'a Ask,
    anchors: OnceCell<Anchors>,
}

impl Search<'_> {
    /// All that was said in a turn.
    fn whole_turn(&self, at: usize) -> Lookup {
        let text = &self.said.turns[at].piece.words.text;
        if text.trim().is_empty() {
            return Lookup::NoResult;
        }
        let location = Location::whole(Pointer::Turn(at + 1), text);
        let excerpt = Some(visible(text, SHOWN));
        Lookup::Hit(Hit { excerpt, ..Hit::new(location, Json::string(text).to_string(), Normalisation::Exact) })
    }

    /// Made when they are needed first: most values are found without.
    fn anchors(&self) -> &Anchors {
        self.anchors.get_or_init(|| Anchors::of(self.ask))
    }

    /// A value that can be told by itself.
    fn open(&self, value: &Json, pointed: Option<usize>, budget: &mut Budget) -> Lookup {
        let wanted = Wanted::new(self.ask, value);
        let newest_first = (0..self.said.turns.len()).rev();
        for at in pointed.into_iter().chain(newest_first) {
            if let Some(place) = wanted.last_in(&self.said.turns[at].piece, budget) {
                return Lookup::Hit(self.hit(at, &place, value.to_string()));
            }
        }
        for (at, turn) in self.said.turns.iter().enumerate().rev() {
            let Some((number, question)) = turn.question.as_ref().filter(|_| turn.accepts) else { continue };
            if wanted.is_replaced_in(&turn.piece) {
                continue;
            }
            let Some(place) = wanted.last_in(question, budget) else { continue };
            let sentence = |sentence: &usize| {
                let range = question.words.sentences[*sentence];
                let from = question.words.words[range.from].start;
                let to = question.words.words[range.to - 1].end;
                range.asks && from <= place.start && place.end <= to
            };
            if self.anchors().spoken(&question.words, budget).keys().any(sentence) {
                return Lookup::Hit(self.proposed(at, *number, question, &place, value.to_string()));
            }
        }
        Lookup::NoResult
    }

    /// A value of which there are few: what the latest turn says that speaks of the slot.
    fn closed(&self, closed: &Closed, value: &Json, pointed: Option<usize>, budget: &mut Budget) -> Lookup {
        let canonical = value.to_string();
        for (at, turn) in self.said.turns.iter().enumerate().rev() {
            let piece = &turn.piece;
            let sentences = if pointed == Some(at) { all_of(&piece.words) } else { self.sentences(turn, budget) };
            let mentions = closed.mentions(&piece.words, &piece.readings, self.lexicon, &sentences, budget);
            if budget.is_spent() {
                // What wasn't read may say something else.
                return Lookup::NoResult;
            }
            let (denied, mentions): (Vec<_>, Vec<_>) = mentions.into_iter().partition(|mention| mention.is_denied);
            if let Some(mention) = mentions.iter().rev().find(|mention| mention.value == canonical) {
                return Lookup::Hit(self.hit(at, &place(mention), canonical));
            }
            if !mentions.is_empty() && pointed != Some(at) {
                return Lookup::Conflict(self.hits(at, &mentions));
            }
            // Not this one, says the user, and not which. What was said before that counts no more.
            if denied.iter().any(|mention| mention.value == canonical) {
                return Lookup::NoResult;
            }
            let Some((number, question)) = turn.question.as_ref().filter(|_| turn.accepts) else { continue };
            let asked = self.anchors().spoken(&question.words, budget).into_iter();
            let asked = asked.filter(|(at, _)| question.words.sentences[*at].asks);
            let asked: Vec<_> = asked.map(|(at, places)| (at, About::Speaks(places))).collect();
            let mentions = closed.mentions(&question.words, &question.readings, self.lexicon, &asked, budget);
            if let [mention, rest @ ..] = &mentions[..]
                && [mention].into_iter().chain(rest).all(|other| other.value == canonical && !other.is_denied)
            {
                return Lookup::Hit(self.proposed(at, *number, question, &place(mention), canonical));
            }
        }
        Lookup::NoResult
    }

    /// The sentences of a turn that are about the slot.
    fn sentences(&self, turn: &UserTurn, budget: &mut Budget) -> Vec<(usize, About)> {
        let mut own = self.anchors().spoken(&turn.piece.words, budget);
        let question = turn.question.as_ref().map(|(_, question)| &question.words);
        let asked = question.map(|question| Asked::new(question, &self.anchors().spoken(question, budget)));
        (0..turn.piece.words.sentences.len())
            .filter_map(|sentence| {
                let about = match own.remove(&sentence) {
                    Some(places) => Some(About::Speaks(places)),
                    None => asked.as_ref().and_then(|asked| asked.answered_by(&turn.piece.words, sentence)),
                };
                about.map(|about| (sentence, about))
            })
            .collect()
    }

    /// Each value that is mentioned once, the last first; of many, some.
    fn hits(&self, at: usize, mentions: &[Mention]) -> Vec<Hit> {
        const MOST: usize = 16;
        let mut seen = HashSet::new();
        let each = mentions.iter().rev().filter(|mention| seen.insert(mention.value.as_str())).take(MOST);
        each.map(|mention| self.hit(at, &place(mention), mention.value.clone())).collect()
    }

    fn hit(&self, at: usize, place: &Place, value: String) -> Hit {
        self.hit_in(at, &self.said.turns[at].piece, place, value, |location| location)
    }

    fn proposed(&self, at: usize, number: usize, question: &Piece, place: &Place, value: String) -> Hit {
        self.hit_in(at, question, place, value, |location| location.proposed_in(number))
    }

    fn hit_in(
        &self,
        at: usize,
        piece: &Piece,
        place: &Place,
        value: String,
        located: impl FnOnce(Location) -> Location,
    ) -> Hit {
        let text = &piece.words.text;
        let location = located(Location::new(Pointer::Turn(at + 1), place.start..place.end, text));
        let mut hit = Hit::new(location, value, place.normalisation);
        hit.excerpt = Some(visible(&text[place.start..place.end], SHOWN));
        hit.answering(self.ask)
    }

    /// The value at a turn that is pointed at, if the turn holds just one that can be it.
    fn read_turn(&self, at: usize) -> Lookup {
        let mut budget = Budget::new();
        let (turn, piece) = (&self.said.turns[at], &self.said.turns[at].piece);
        let mentions = match self.ask.shape() {
            Shape::Text => spoken(&piece.words),
            Shape::Date => days(piece, self.ask.now()),
            Shape::Integer | Shape::Number => numbers(piece, self.ask.shape()),
            Shape::Any | Shape::Words => Vec::new(),
            Shape::Boolean | Shape::Choice(_) => match Closed::of(self.ask, None, self.lexicon) {
                Some(closed) => {
                    // What is said of the slot first; if nothing is, whatever the turn says.
                    let about = self.sentences(turn, &mut budget);
                    let mut mentions = Vec::new();
                    for sentences in [about, all_of(&piece.words)] {
                        if mentions.is_empty() {
                            mentions =
                                closed.mentions(&piece.words, &piece.readings, self.lexicon, &sentences, &mut budget);
                        }
                    }
                    mentions.retain(|mention| !mention.is_denied);
                    mentions
                }
                None => Vec::new(),
            },
        };
        if budget.is_spent() {
            return Lookup::NoResult;
        }
        let mut hits = self.hits(at, &mentions);
        match hits.len() {
            0 => Lookup::NoResult,
            1 => Lookup::Hit(hits.remove(0)),
            _ => Lookup::Conflict(hits),
        }
    }
}

/// What a turn of the assistant asks about a slot.
struct Asked {
    /// It has a list.
    has_items: bool,
    /// The items that are about the slot.
    items: BTreeSet<u32>,
    /// What it asks that is about the slot: nothing, what it asks last, or something before that.
    about: Option<About>,
}

impl Asked {
    fn new(question: &Words, spoken: &Spoken) -> Self {
        let item = |at: usize| question.sentences[at].item;
        let asks = |at: usize| question.sentences[at].asks || item(at).is_some();
        let last = (0..question.sentences.len()).rev().find(|at| asks(*at));
        let most = question.sentences.iter().filter_map(|sentence| sentence.item).max().unwrap_or(0);
        // What is asked in a list isn't what was asked last, unless it is the only item.
        let is_last = |at: usize| Some(at) == last && (item(at).is_none() || most < 2);
        let about = spoken.keys().filter(|at| asks(**at)).map(|at| match is_last(*at) {
            true => About::Answers,
            false => About::AnswersSeveral,
        });
        Asked {
            has_items: most > 0,
            items: spoken.keys().filter_map(|at| item(*at)).collect(),
            about: about.max_by_key(|about| *about == About::Answers),
        }
    }

    /// How a sentence answers it. An item of a list answers the item of its number; any other sentence answers what
    /// was asked last, and perhaps what was asked before.
    fn answered_by(&self, words: &Words, sentence: usize) -> Option<About> {
        match words.sentences[sentence].item {
            Some(item) if self.has_items => self.items.contains(&item).then_some(About::Answers),
            _ => self.about.clone(),
        }
    }
}

/// Every sentence, as somebody points at them.
fn all_of(words: &Words) -> Vec<(usize, About)> {
    (0..words.sentences.len()).map(|sentence| (sentence, About::Pointed)).collect()
}

fn place(mention: &Mention) -> Place {
    Place { start: mention.start, end: mention.end, normalisation: mention.normalisation }
}

fn string_at(text: &str, start: usize, end: usize) -> Mention {
    let mut value = String::new();
    write_string(&mut value, &text[start..end]);
    Mention { value, start, end, normalisation: Normalisation::Exact, is_denied: false }
}

/// What a text puts into quotes.
pub(super) fn quoted(words: &Words) -> Vec<Mention> {
    let text = words.text.as_str();
    let mut quoted = Vec::new();
    for (open, close) in
        [('"', '"'), ('\u{201c}', '\u{201d}'), ('\u{201e}', '\u{201c}'), ('`', '`'), ('\u{ab}', '\u{bb}')]
    {
        let mut from = 0;
        while let Some(start) = text[from..].find(open).map(|at| from + at + open.len_utf8())
            && let Some(end) = text[start..].find(close).map(|at| start + at)
        {
            if start < end {
                quoted.push(string_at(text, start, end));
            }
            from = end + close.len_utf8();
        }
    }
    quoted
}

/// A string that a turn consists of, or that it puts into quotes.
fn spoken(words: &Words) -> Vec<Mention> {
    let text = words.text.as_str();
    let quoted = quoted(words);
    if !quoted.is_empty() {
        return quoted;
    }
    let whole = text.trim();
    let start = text.len() - text.trim_start().len();
    let single = !whole.is_empty() && !whole.contains(char::is_whitespace);
    single.then(|| string_at(text, start, start + whole.len())).into_iter().collect()
}

pub(super) fn days(piece: &Piece, now: Option<Day>) -> Vec<Mention> {
    let mut found = Vec::new();
    for reading in &piece.readings {
        let days = match (&reading.value, now) {
            (Read::Day(day), _) => [Some(*day), None],
            (Read::DayOfYear(month, day), Some(now)) => of_now(*month, *day, now),
            (Read::FromNow(0), now) => [now, None],
            (Read::FromNow(1), Some(now)) => [now.next(), None],
            (Read::FromNow(-1), Some(now)) => [now.previous(), None],
            _ => [None, None],
        };
        found.extend(days.into_iter().flatten().map(|day| Mention {
            value: format!("\"{day}\""),
            start: reading.start,
            end: reading.end,
            normalisation: reading.normalisation,
            is_denied: false,
        }));
    }
    found
}

pub(super) fn numbers(piece: &Piece, shape: &Shape) -> Vec<Mention> {
    let number = |read: &Read| match read {
        Read::Number(number) => {
            Some(number.clone()).filter(|number| *shape == Shape::Number || !number.contains(['.', 'e']))
        }
        _ => None,
    };
    let mention = |reading: &Reading| {
        let value = number(&reading.value)?;
        let Reading { start, end, normalisation, .. } = *reading;
        Some(Mention { value, start, end, normalisation, is_denied: false })
    };
    piece.readings.iter().filter_map(mention).collect()
}
