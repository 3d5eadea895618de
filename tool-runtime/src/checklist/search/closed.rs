//! Values of which there are so few that one stands in nearly every text: yes and no, the members of an enum, small
//! numbers. That one is mentioned says nothing unless what it is said of is mentioned too.

use std::collections::BTreeSet;

use super::find::Budget;
use super::lexicon::Lexicon;
use super::readings::{Read, Reading};
use super::text::Words;
use crate::checklist::ask::{Ask, words_of_name};
use crate::checklist::shape::Shape;
use crate::checklist::source::Normalisation;
use crate::schema::json::{Json, Number};

/// The words by which people speak of a slot, as phrases.
#[derive(Debug)]
pub(crate) struct Anchors(Vec<Vec<String>>);

/// A word and the same word in the plural, as far as an `s` makes it.
fn same_word(one: &str, other: &str) -> bool {
    let is_plural = |long: &str, short: &str| short.len() > 2 && long.strip_suffix('s') == Some(short);
    one == other || is_plural(one, other) || is_plural(other, one)
}

impl Anchors {
    pub(crate) fn of(ask: &Ask) -> Self {
        let phrases = ask.anchors().map(|phrase| Words::new(phrase).to_smalls());
        Anchors(phrases.filter(|phrase| !phrase.is_empty()).collect())
    }

    /// The sentences that speak of the slot.
    pub(crate) fn sentences(&self, words: &Words, budget: &mut Budget) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for phrase in &self.0 {
            let first = phrase[0].as_str();
            let plural = format!("{first}s");
            let spellings = [Some(first), Some(plural.as_str()), first.strip_suffix('s')];
            for at in spellings.into_iter().flatten().flat_map(|word| words.positions(word)) {
                if budget.spend(phrase.len()).is_none() {
                    return found;
                }
                let to = at + phrase.len();
                let matches = same_word(words.small(at), first)
                    && words.smalls(at, to).count() == phrase.len()
                    && words.smalls(at, to).zip(phrase).skip(1).all(|(one, other)| same_word(one, other));
                if matches {
                    found.insert(words.words[at].sentence);
                }
            }
        }
        found
    }

    /// Is this the name of the slot, or another name for it?
    pub(crate) fn name(&self, ask: &Ask, key: &str) -> bool {
        let named = words_of_name(key);
        let own = ask.slot().rsplit('/').find(|step| step.parse::<usize>().is_err()).unwrap_or_default();
        named == words_of_name(own) || self.0.iter().skip(words_of_name(own).len()).any(|phrase| *phrase == named)
    }
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
    text: String,
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
            (Shape::Choice(values), _) => Some(Self::of_members(values, lexicon)),
            (Shape::Integer | Shape::Number | Shape::Any, Some(Json::Number(number))) => match Number::parse(number)? {
                Number::Integer(number) if (-SMALL + 1..SMALL).contains(&number) => Some(Closed::SmallNumber),
                _ => None,
            },
            _ => None,
        }
    }

    fn of_members(values: &[String], lexicon: &Lexicon) -> Self {
        let members = values.iter().map(|value| {
            let text = match Json::parse(value) {
                Ok(Json::String(text)) => text,
                _ => value.clone(),
            };
            Member { value: value.clone(), words: words_of_name(&text), text }
        });
        let mut members: Vec<Member> = members.collect();
        if let [one, other] = &members[..] {
            let means = |member: &Member, word: &str, is: fn(&Lexicon, &str) -> bool| matches!(&member.words[..], [only] if only == word || is(lexicon, only));
            for (yes, no) in [(one, other), (other, one)] {
                if means(yes, "true", Lexicon::is_yes) && means(no, "false", Lexicon::is_no) {
                    return Closed::Polarity { yes: yes.value.clone(), no: no.value.clone() };
                }
            }
        }
        members.sort_by_key(|member| std::cmp::Reverse(member.words.len()));
        Closed::Members(members)
    }

    /// What some sentences say. `own`: which of them speak of the slot themselves; the others answer a question that
    /// does.
    pub(crate) fn mentions(
        &self,
        words: &Words,
        readings: &[Reading],
        lexicon: &Lexicon,
        sentences: &[(usize, bool)],
        budget: &mut Budget,
    ) -> Vec<Mention> {
        let mut found = Vec::new();
        for &(sentence, own) in sentences {
            let range = words.sentences[sentence];
            if budget.spend(range.to - range.from).is_none() {
                break;
            }
            match self {
                Closed::Members(members) => of_members(members, words, range.from, range.to, &mut found, budget),
                Closed::Polarity { yes, no } => {
                    found.extend(polarity(words, range.from, range.to, lexicon, own).map(|(is, at)| Mention {
                        value: if is { yes.clone() } else { no.clone() },
                        start: words.words[at].start,
                        end: words.words[at].end,
                        normalisation: Normalisation::Polarity,
                    }));
                }
                Closed::SmallNumber => {
                    let first = readings.partition_point(|reading| reading.from < range.from);
                    let before = found.len();
                    let here = readings[first..].iter().take_while(|reading| reading.from < range.to);
                    found.extend(here.filter_map(|reading| match &reading.value {
                        Read::Number(number) => Some(Mention {
                            value: number.clone(),
                            start: reading.start,
                            end: reading.end,
                            normalisation: reading.normalisation,
                        }),
                        _ => None,
                    }));
                    let none = (found.len() == before).then(|| polarity(words, range.from, range.to, lexicon, own));
                    // "No bags" are none of them.
                    if let Some((false, at)) = none.flatten() {
                        found.push(Mention {
                            value: "0".to_owned(),
                            start: words.words[at].start,
                            end: words.words[at].end,
                            normalisation: Normalisation::Polarity,
                        });
                    }
                }
            }
        }
        found
    }
}

fn of_members(
    members: &[Member],
    words: &Words,
    from: usize,
    to: usize,
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
        let normalisation = if written == member.text {
            Normalisation::Exact
        } else if written.to_lowercase() == member.text.to_lowercase() {
            Normalisation::Case
        } else {
            Normalisation::EnumSpelling
        };
        found.push(Mention { value: member.value.clone(), start, end: stop, normalisation });
        at = end;
    }
}

/// Does a sentence say yes or no, and by which word?
fn polarity(words: &Words, from: usize, to: usize, lexicon: &Lexicon, own: bool) -> Option<(bool, usize)> {
    let says = |is: fn(&Lexicon, &str) -> bool| (from..to).find(|&at| is(lexicon, words.small(at)));
    if let Some(at) = says(Lexicon::is_no) {
        return Some((false, at));
    }
    let yes = says(Lexicon::is_yes).or_else(|| (from..to).find(|&at| words.small(at) == "true"));
    // To speak of a thing is to want it, if nothing denies it.
    yes.or((own && !words.sentences[words.words[from].sentence].asks).then_some(from)).map(|at| (true, at))
}
