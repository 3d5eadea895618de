//! What a turn of the user says that a blank could be.

use std::collections::BTreeSet;

use super::answer::OpenBlank;
use super::instruction::{days, numbers, quoted};
use super::{Lexicon, Piece};
use crate::checklist::search::{About, Budget, Closed, Mention, Words};
use crate::checklist::shape::Shape;
use crate::checklist::source::Normalisation;
use crate::schema::json::Json;

/// A value that may be meant.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub(super) value: String,
    /// Bytes of the turn.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) normalisation: Normalisation,
    /// The turn says of which blank it is.
    pub(super) anchored: bool,
    /// Where the part of the sentence begins that holds it.
    pub(super) part: usize,
}

impl Candidate {
    pub(super) fn overlaps(&self, other: &Candidate) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// A part of a sentence that says something.
pub(super) struct Part {
    /// Where it begins in its turn.
    start: usize,
    piece: Piece,
    item: Option<u32>,
    /// It denies something, and so does its sentence.
    denies: bool,
    sentence_denies: bool,
    /// It holds something back. With its first word it may join what was said before: "…, but the amount is 5".
    reserves: bool,
    reserves_first: bool,
    /// It says both yes and no.
    is_torn: bool,
}

/// What the user says without asking: sentences, cut at commas and semicolons.
pub(super) fn parts(piece: &Piece, lexicon: &Lexicon) -> Vec<Part> {
    let (words, text) = (&piece.words, &piece.words.text);
    let mut parts = Vec::new();
    for sentence in words.sentences.iter().filter(|sentence| !sentence.asks && sentence.from < sentence.to) {
        let sentence_denies = lexicon.denies(words, sentence.from..sentence.to);
        let from = sentence.from + usize::from(words.words[sentence.from].numbering);
        let mut begin = from;
        for at in from..sentence.to {
            let inside = || piece.readings.iter().any(|reading| reading.from <= at && at + 1 < reading.to);
            let gap = words.gap(at);
            let cuts = gap.contains(';') || gap.contains('\n') || (gap.contains(',') && gap != ",");
            if at + 1 == sentence.to || (cuts && !inside()) {
                let (start, end) = (words.words[begin].start, words.words[at].end);
                // With a sign that belongs to a number, and the quote around a text.
                let start =
                    text[..start].rfind(char::is_whitespace).map_or(0, |space| space + 1).max(start.saturating_sub(4));
                let start = (start..=words.words[begin].start).find(|at| text.is_char_boundary(*at)).unwrap_or(start);
                let end = text[end..].find(char::is_whitespace).map_or(text.len(), |space| end + space);
                let piece = Piece::new(&text[start..end], lexicon);
                let denies = lexicon.denies(words, begin..at + 1);
                let reserves = lexicon.reserves(words, begin + 1..at + 1);
                let reserves_first = lexicon.is_reservation(words, begin);
                let is_torn = denies && (begin..=at).any(|at| lexicon.is_yes(words, at));
                let item = sentence.item;
                parts.push(Part { start, piece, item, denies, sentence_denies, reserves, reserves_first, is_torn });
                begin = at + 1;
            }
        }
    }
    parts
}

/// Everything in a turn that a blank could be.
pub(super) fn candidates(
    blank: &OpenBlank<'_>,
    whole: &Piece,
    parts: &[Part],
    items: &BTreeSet<u32>,
    lexicon: &Lexicon,
    may_say_yes: bool,
) -> Vec<Candidate> {
    let shape = blank.ask.shape();
    if *shape == Shape::Any {
        return Vec::new();
    }
    let closed = Closed::of(&blank.ask, None, lexicon);
    let is_polar = matches!(&closed, Some(Closed::Polarity { .. }));
    let mut found = Vec::new();
    let counts = |part: &&Part| match is_polar {
        true => !part.is_torn && !part.reserves && !part.reserves_first,
        false => !part.denies && !part.reserves,
    };
    for part in parts.iter().filter(counts) {
        let words = &part.piece.words;
        let spoken = blank.anchors.spoken(words, &mut Budget::new());
        let places: Vec<(usize, usize)> = spoken.into_values().flatten().collect();
        let is_item = part.item.is_some_and(|item| items.contains(&item));
        let mentions = match (shape, &closed) {
            (_, Some(closed)) => {
                let about = match places.is_empty() {
                    true => About::Pointed,
                    false => About::Speaks(places.clone()),
                };
                let each: Vec<_> = (0..words.sentences.len()).map(|sentence| (sentence, about.clone())).collect();
                let mut said = closed.mentions(words, &part.piece.readings, lexicon, &each, &mut Budget::new());
                // To speak of a thing isn't yet to want it.
                let polar = |mention: &Mention| {
                    let word = words.text[mention.start..mention.end].to_lowercase();
                    let meaning = lexicon.meaning(&word);
                    meaning.yes || meaning.no || matches!(&*word, "true" | "false")
                };
                said.retain(|mention| !mention.is_denied);
                said.retain(|mention| !is_polar || (polar(mention) && (may_say_yes || !places.is_empty())));
                said
            }
            (Shape::Integer | Shape::Number, None) => numbers(&part.piece, shape),
            (Shape::Date, None) => days(&part.piece, blank.ask.now()),
            _ => Vec::new(),
        };
        let nearest = nearest(&mentions, &places, &part.piece);
        let each = mentions.iter().enumerate().map(|(at, mention)| {
            let anchored = is_item || nearest.contains(&at);
            Candidate { anchored, part: part.start, ..shifted(of_mention(mention), part.start) }
        });
        found.extend(each.filter(|candidate| candidate.anchored || is_polar || !part.sentence_denies));
    }
    if *shape == Shape::Text {
        found.extend(quoted_text(blank, whole, parts));
        found.extend(labelled(blank, whole, lexicon));
        found.extend(items_text(parts, items));
        if found.is_empty()
            && let [part] = parts
        {
            // A yes is an answer to something else.
            let says = part.sentence_denies || lexicon.is_yes(&whole.words, 0);
            found.extend(single_in(&whole.words.text).filter(|_| !says));
        }
    }
    found
}

/// The mentions that stand next to words that speak of the blank: one, or several that say the same, if it is plain which.
fn nearest(mentions: &[Mention], places: &[(usize, usize)], piece: &Piece) -> Vec<usize> {
    let words = &piece.words.words;
    let gap = |mention: &Mention| {
        let from = words.partition_point(|word| word.end <= mention.start);
        let to = words.partition_point(|word| word.start < mention.end);
        let gap = |(begin, end): &(usize, usize)| begin.checked_sub(to).or(from.checked_sub(*end)).unwrap_or(0);
        places.iter().map(gap).min()
    };
    let gaps: Vec<Option<usize>> = mentions.iter().map(gap).collect();
    let Some(least) = gaps.iter().flatten().min().copied() else { return Vec::new() };
    (0..mentions.len()).filter(|at| gaps[*at] == Some(least)).collect()
}

/// What stands behind the blank's name and a colon, up to the end of the line, if it neither asks nor denies.
fn labelled(blank: &OpenBlank<'_>, whole: &Piece, lexicon: &Lexicon) -> Vec<Candidate> {
    let (words, text) = (&whole.words, &whole.words.text);
    let names: Vec<String> = blank.anchors.names().filter(|name| !name.is_empty()).collect();
    let mut found = Vec::new();
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let start = line_start;
        line_start += line.len();
        let Some((label, rest)) = line.split_once([':', '=']) else { continue };
        let small = words_between(words, start, start + label.len());
        let value = rest.trim();
        let value_start = start + label.len() + 1 + (rest.len() - rest.trim_start().len());
        let says = |at: usize| words.sentences[words.words[at].sentence].asks || lexicon.is_no(words, at);
        let until = words.words.partition_point(|word| word.start < line_start);
        let from = words.words.partition_point(|word| word.start < value_start);
        // What is in quotes is read as such.
        let is_quoted = value.starts_with(['"', '\u{201c}', '\u{201e}', '`', '\u{ab}']);
        if is_quoted || (from..until).any(says) {
            continue;
        }
        if !value.is_empty() && names.iter().any(|name| small == *name || small.strip_prefix("the ") == Some(name)) {
            found.push(text_at(text, value_start, value_start + value.len(), true));
        }
    }
    found
}

/// The words of a range of bytes in small letters, without the numbering of a list.
fn words_between(words: &Words, start: usize, end: usize) -> String {
    let within = words.words.iter().enumerate().filter(|(_, word)| start <= word.start && word.end <= end);
    let within = within.filter(|(_, word)| !word.numbering);
    within.map(|(at, _)| words.small(at)).collect::<Vec<_>>().join(" ")
}

/// A text under the number of the item that asked for it, if it is all that stands there.
fn items_text(parts: &[Part], items: &BTreeSet<u32>) -> Vec<Candidate> {
    let of = |item: &u32| -> Option<Candidate> {
        let mut of_item = parts.iter().filter(|part| part.item == Some(*item));
        let (part, None) = (of_item.next()?, of_item.next()) else { return None };
        let text = &part.piece.words.text;
        Some(Candidate { anchored: true, ..shifted(single_in(text)?, part.start) }).filter(|_| !part.denies)
    };
    items.iter().filter_map(of).collect()
}

/// Texts in quotes, of which the part of the sentence around them may say what they are.
fn quoted_text(blank: &OpenBlank<'_>, whole: &Piece, parts: &[Part]) -> Vec<Candidate> {
    let of = |mention: &Mention| {
        let part = parts.iter().rev().find(|part| part.start <= mention.start)?;
        let part = Some(part)
            .filter(|part| mention.start < part.start + part.piece.words.text.len())
            .filter(|part| !part.sentence_denies)?;
        let anchored = !blank.anchors.spoken(&part.piece.words, &mut Budget::new()).is_empty();
        Some(Candidate { anchored, ..of_mention(mention) })
    };
    quoted(&whole.words).iter().filter_map(of).collect()
}

/// A text that is one word.
fn single_in(text: &str) -> Option<Candidate> {
    let start = text.len() - text.trim_start().len();
    // The sign that ends a sentence is none of the value.
    let value = text.trim().trim_end_matches(['.', ',', '!', ';']);
    let is_single = !value.is_empty() && !value.contains(char::is_whitespace);
    is_single.then(|| text_at(text, start, start + value.len(), false))
}

fn of_mention(mention: &Mention) -> Candidate {
    let Mention { value, start, end, normalisation, .. } = mention.clone();
    Candidate { value, start, end, normalisation, anchored: false, part: start }
}

fn shifted(candidate: Candidate, by: usize) -> Candidate {
    Candidate { start: candidate.start + by, end: candidate.end + by, ..candidate }
}

fn text_at(text: &str, start: usize, end: usize, anchored: bool) -> Candidate {
    let value = Json::string(&text[start..end]).to_string();
    Candidate { value, start, end, normalisation: Normalisation::Exact, anchored, part: start }
}

/// How many words a turn may have beside a value that it doesn't say the blank of.
const BESIDE: usize = 4;

/// Does a turn say hardly anything but values?
pub(super) fn is_brief(piece: &Piece, found: &[Vec<Candidate>]) -> bool {
    let covered = |start: usize, end: usize| {
        found.iter().flatten().any(|candidate| candidate.start < end && start < candidate.end)
    };
    let beside = piece.words.words.iter().filter(|word| !word.numbering && !covered(word.start, word.end)).count();
    beside <= BESIDE && piece.words.sentences.iter().all(|sentence| !sentence.asks)
}
