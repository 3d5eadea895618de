//! Values of which there are so few that one stands in nearly every text: yes and no, the members of an enum, small
//! numbers. That one is mentioned says nothing unless what it is said of is mentioned too.

use std::collections::BTreeMap;

use super::find::Budget;
use super::lexicon::{Lexicon, Meaning};
use super::readings::{Read, Reading};
use super::text::{Key, Sentence, Words};
use crate::checklist::ask::{Ask, words_of_name};
use crate::checklist::shape::Shape;
use crate::checklist::source::Normalisation;
use crate::schema::json::{Json, Number};

/// The words by which people speak of a slot.
#[derive(Debug)]
pub(crate) struct Anchors {
    /// Those of its name: all of them in one sentence, in any order.
    name: Phrase,
    /// Phrases, each of which is enough.
    says: Vec<Phrase>,
}

#[derive(Debug)]
struct Phrase {
    words: Vec<String>,
    /// Of the first word: as it is, in the plural, and out of it.
    first: Vec<Key>,
}

impl Phrase {
    fn new(words: Vec<String>) -> Self {
        let spellings = |word: &String| {
            let singular = word.strip_suffix('s').filter(|singular| same_word(singular, word));
            [Some(word.clone()), Some(format!("{word}s")), singular.map(str::to_owned)]
        };
        let first = words.first().map(spellings).into_iter().flatten().flatten();
        Phrase { first: first.filter(|spelling| same_word(spelling, &words[0])).map(Key::new).collect(), words }
    }

    /// The positions of its first word.
    fn positions(&self, words: &Words) -> impl Iterator<Item = usize> {
        self.first.iter().flat_map(|key| words.positions(key))
    }
}

/// A word and the same word in the plural, as far as an `s` makes it.
fn same_word(one: &str, other: &str) -> bool {
    let is_plural = |long: &str, short: &str| short.len() > 2 && long.strip_suffix('s') == Some(short);
    one == other || is_plural(one, other) || is_plural(other, one)
}

/// Where a slot is spoken of: the sentence, and the words.
pub(crate) type Spoken = BTreeMap<usize, Vec<(usize, usize)>>;

impl Anchors {
    pub(crate) fn of(ask: &Ask) -> Self {
        let says = ask.says().map(|phrase| Words::new(phrase).to_smalls()).filter(|phrase| !phrase.is_empty());
        Anchors { name: Phrase::new(ask.name().map(str::to_owned).collect()), says: says.map(Phrase::new).collect() }
    }

    /// The sentences that speak of the slot.
    pub(crate) fn spoken(&self, words: &Words, budget: &mut Budget) -> Spoken {
        let mut found = Spoken::new();
        for phrase in &self.says {
            for at in phrase.positions(words) {
                if budget.spend(phrase.words.len()).is_none() {
                    return found;
                }
                let to = at + phrase.words.len();
                let matches = to <= words.words.len()
                    && words.smalls(at, to).zip(&phrase.words).skip(1).all(|(one, other)| same_word(one, other));
                if matches {
                    found.entry(words.words[at].sentence).or_default().push((at, to));
                }
            }
        }
        let rest = self.name.words.get(1..).unwrap_or_default();
        'places: for at in self.name.positions(words) {
            let sentence = words.words[at].sentence;
            let range = words.sentences[sentence];
            let mut places = vec![(at, at + 1)];
            for word in rest {
                if budget.spend(range.to - range.from).is_none() {
                    return found;
                }
                match (range.from..range.to).find(|&at| same_word(words.small(at), word)) {
                    Some(at) => places.push((at, at + 1)),
                    None => continue 'places,
                }
            }
            found.entry(sentence).or_default().extend(places);
        }
        found
    }

    /// The words of the slot's name and of other names for it, each with spaces between.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        std::iter::once(&self.name).chain(&self.says).map(|phrase| phrase.words.join(" "))
    }
}

/// How a sentence is about a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum About {
    /// It speaks of it, with these words.
    Speaks(Vec<(usize, usize)>),
    /// It answers the question about it, or that item of a list.
    Answers,
    /// It answers several questions, of which one is about it: a yes or a number may be said of any of them.
    AnswersSeveral,
    /// Somebody points at it.
    Pointed,
}

/// What a text says of a slot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mention {
    /// Canonical JSON text.
    pub(crate) value: String,
    /// Bytes.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) normalisation: Normalisation,
    /// It says that this isn't the value: "not round trip".
    pub(crate) is_denied: bool,
}

/// The values that a slot can have, as far as they are few.
#[derive(Debug)]
pub(crate) enum Closed {
    /// Each with its words, those with most words first.
    Members(Vec<Member>),
    /// One of two that mean yes and no.
    Polarity { yes: String, no: String },
    /// Numbers below [`SMALL`].
    SmallNumber,
}

#[derive(Debug)]
pub(crate) struct Member {
    value: String,
    /// As it is written; none for another word for it.
    text: Option<String>,
    words: Vec<String>,
}

/// From here on numbers are rare enough to be found by themselves.
const SMALL: i128 = 13;

impl Closed {
    /// `None` for a slot whose values are many.
    pub(crate) fn of(ask: &Ask, value: Option<&Json>, lexicon: &Lexicon) -> Option<Self> {
        match (ask.shape(), value) {
            (Shape::Boolean, _) | (Shape::Any, Some(Json::Bool(_))) => {
                Some(Closed::Polarity { yes: "true".into(), no: "false".into() })
            }
            (Shape::Choice(values), _) => Some(Self::of_members(ask, values, lexicon)),
            (Shape::Integer | Shape::Number | Shape::Any, Some(Json::Number(number))) => match Number::parse(number)? {
                Number::Integer(number) if (-SMALL + 1..SMALL).contains(&number) => Some(Closed::SmallNumber),
                _ => None,
            },
            _ => None,
        }
    }

    fn of_members(ask: &Ask, values: &[String], lexicon: &Lexicon) -> Self {
        let members = values.iter().map(|value| {
            let text = match Json::parse(value) {
                Ok(Json::String(text)) => text,
                _ => value.clone(),
            };
            Member { value: value.clone(), words: words_of_name(&text), text: Some(text) }
        });
        let mut members: Vec<Member> = members.collect();
        if let [one, other] = &members[..] {
            let means = |member: &Member, word: &str, is: fn(Meaning) -> bool| matches!(&member.words[..], [only] if only == word || is(lexicon.meaning(only)));
            for (yes, no) in [(one, other), (other, one)] {
                if means(yes, "true", |meaning| meaning.yes) && means(no, "false", |meaning| meaning.no) {
                    return Closed::Polarity { yes: yes.value.clone(), no: no.value.clone() };
                }
            }
        }
        let aliases = ask.aliases().map(|(value, phrase)| (value.to_owned(), Words::new(phrase).to_smalls()));
        members.extend(aliases.map(|(value, words)| Member { value, words, text: None }));
        members.sort_by_key(|member| std::cmp::Reverse(member.words.len()));
        Closed::Members(members)
    }

    /// What some sentences say, each about the slot in its way.
    pub(crate) fn mentions(
        &self,
        words: &Words,
        readings: &[Reading],
        lexicon: &Lexicon,
        sentences: &[(usize, About)],
        budget: &mut Budget,
    ) -> Vec<Mention> {
        let mut found = Vec::new();
        for (sentence, about) in sentences {
            let range = words.sentences[*sentence];
            if budget.spend(range.to - range.from).is_none() {
                break;
            }
            let said = || polarity(words, range, lexicon, about);
            let by = |at: usize, value: String| Mention {
                value,
                start: words.words[at].start,
                end: words.words[at].end,
                normalisation: Normalisation::Polarity,
                is_denied: false,
            };
            match self {
                Closed::Members(members) => of_members(members, words, lexicon, range, &mut found, budget),
                Closed::Polarity { yes, no } => {
                    found.extend(said().map(|(is, at)| by(at, if is { yes.clone() } else { no.clone() })));
                }
                Closed::SmallNumber => {
                    let before = found.len();
                    found.extend(numbers(readings, range, about, budget));
                    // "No bags" are none of them.
                    if found.len() == before
                        && let Some((false, at)) = said()
                    {
                        found.push(by(at, "0".to_owned()));
                    }
                }
            }
        }
        found
    }
}

/// How far a number may stand from what it counts, in words.
const NEAR: usize = 3;

fn numbers(readings: &[Reading], range: Sentence, about: &About, budget: &mut Budget) -> Vec<Mention> {
    let first = readings.partition_point(|reading| reading.from < range.from);
    let here = readings[first..].iter().take_while(|reading| reading.from < range.to);
    let mut is_near = |reading: &Reading| match about {
        About::Speaks(places) => {
            budget.spend(places.len()).is_some()
                && places.iter().any(|(from, to)| {
                    let gap = from.checked_sub(reading.to).or(reading.from.checked_sub(*to));
                    gap.is_some_and(|gap| gap <= NEAR)
                })
        }
        About::Answers | About::Pointed => true,
        About::AnswersSeveral => false,
    };
    here.filter(|reading| is_near(reading))
        .filter_map(|reading| match &reading.value {
            Read::Number(number) => Some(Mention {
                value: number.clone(),
                start: reading.start,
                end: reading.end,
                normalisation: reading.normalisation,
                is_denied: false,
            }),
            _ => None,
        })
        .collect()
}

fn of_members(
    members: &[Member],
    words: &Words,
    lexicon: &Lexicon,
    Sentence { from, to, .. }: Sentence,
    found: &mut Vec<Mention>,
    budget: &mut Budget,
) {
    let mut at = from;
    while at < to {
        if budget.spend(members.len()).is_none() {
            return;
        }
        // The longest first: "basic economy" isn't "economy".
        let member = members.iter().find(|member| {
            let end = at + member.words.len();
            !member.words.is_empty()
                && end <= to
                && words.smalls(at, end).eq(member.words.iter().map(String::as_str))
                && words.is_whole(at, end)
        });
        let Some(member) = member else {
            at += 1;
            continue;
        };
        let end = at + member.words.len();
        let (start, stop) = (words.words[at].start, words.words[end - 1].end);
        let written = &words.text[start..stop];
        let normalisation = match &member.text {
            None => Normalisation::Alias,
            Some(text) if text == written => Normalisation::Exact,
            Some(text) if text.to_lowercase() == written.to_lowercase() => Normalisation::Case,
            Some(_) => Normalisation::EnumSpelling,
        };
        let is_denied = is_denied(words, lexicon, from, at);
        found.push(Mention { value: member.value.clone(), start, end: stop, normalisation, is_denied });
        at = end;
    }
}

/// Does a word deny what stands behind it, as in "not a round trip"? At most a word and white space are between the two:
/// with a comma, "no, economy" says the opposite.
fn is_denied(words: &Words, lexicon: &Lexicon, from: usize, at: usize) -> bool {
    let mut steps = 0;
    for before in (from..at).rev() {
        match words.gap(before) {
            // `don't` is one word to whoever says it.
            "'" | "\u{2019}" => {}
            gap if gap.chars().all(char::is_whitespace) => steps += 1,
            _ => return false,
        }
        if steps > 2 {
            return false;
        }
        if lexicon.is_no(words, before) {
            return true;
        }
    }
    false
}

/// How far before a thing a word may stand that denies it, and how far behind it.
const BEFORE: usize = 5;
const BEHIND: usize = 3;

/// Does a sentence say yes or no of a slot, and by which word?
fn polarity(words: &Words, range: Sentence, lexicon: &Lexicon, about: &About) -> Option<(bool, usize)> {
    let agrees = |at: usize| lexicon.is_yes(words, at) || words.small(at) == "true";
    // Who is "not sure" says neither.
    if (range.from..range.to).any(|at| agrees(at) && is_denied(words, lexicon, range.from, at)) {
        return None;
    }
    let says = |at: usize| match words.small(at) {
        _ if lexicon.is_no(words, at) => Some((false, at)),
        _ if agrees(at) => Some((true, at)),
        "false" => Some((false, at)),
        _ => None,
    };
    match about {
        About::Answers | About::Pointed => (range.from..range.to).find_map(says),
        About::AnswersSeveral => None,
        About::Speaks(places) => {
            let &(from, to) = places.last()?;
            let before = (from.saturating_sub(BEFORE).max(range.from)..from).rev().find_map(says);
            let behind = || (to..range.to.min(to + BEHIND)).find_map(says);
            // To speak of a thing is to want it, if nothing denies it and it isn't asked about.
            let wants = || (!range.asks).then_some((true, from));
            before.or_else(behind).or_else(wants)
        }
    }
}
