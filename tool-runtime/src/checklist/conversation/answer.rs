//! Turns of the user, read into the blanks of a question that was put to them in words.
//!
//! Nothing is guessed. A value counts if the turn says of which blank it is, or if it says hardly anything else and there
//! is only one blank that it can be for.

use std::collections::BTreeSet;

use super::candidates::{Candidate, candidates, is_brief, parts};
use super::{Conversation, Lexicon, Said};
use crate::checklist::ask::Ask;
use crate::checklist::location::{Location, Pointer};
use crate::checklist::search::{Anchors, Budget};
use crate::checklist::shape::Shape;
use crate::checklist::source::Normalisation;
use crate::gate::{Blank, Question, QuestionId, QuestionSet};
use crate::schema::Day;
use crate::schema::json::Json;

/// What turns of the user say about the blanks of one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnAnswer {
    question: QuestionId,
    values: Vec<TurnValue>,
    open: Vec<String>,
    asks_for_a_yes: bool,
}

/// A value that a turn gives for a blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnValue {
    slot: String,
    value: String,
    at: Location,
    normalisation: Normalisation,
}

impl TurnAnswer {
    /// The question.
    pub fn question(&self) -> &QuestionId {
        &self.question
    }

    /// What was said.
    pub fn values(&self) -> &[TurnValue] {
        &self.values
    }

    /// The slots of the blanks of which nothing was said that could be told: they have to be asked for again.
    pub fn open(&self) -> &[String] {
        &self.open
    }

    /// The question has reasons, to which a person has to say yes. No turn is one.
    pub fn asks_for_a_yes(&self) -> bool {
        self.asks_for_a_yes
    }

    /// It was asked for values alone, and all are there.
    pub fn is_whole(&self) -> bool {
        self.open.is_empty() && !self.asks_for_a_yes
    }
}

impl TurnValue {
    /// What records call the slot.
    pub fn slot(&self) -> &str {
        &self.slot
    }

    /// As JSON text.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Where it stands: a place in a turn of the user.
    pub fn at(&self) -> &Location {
        &self.at
    }

    /// How what stands there was read.
    pub fn normalisation(&self) -> Normalisation {
        self.normalisation
    }
}

/// Would a blank, by its slot, take a value?
pub(crate) type Takes<'a> = Box<dyn Fn(&str, &Json) -> bool + Send + Sync + 'a>;

/// A question, with who judges values for its blanks.
pub(crate) struct Asked<'a> {
    pub(crate) question: QuestionId,
    pub(crate) tool: &'a str,
    pub(crate) blanks: Vec<Blank>,
    pub(crate) asks_for_a_yes: bool,
    pub(crate) takes: Takes<'a>,
}

impl Conversation {
    /// Reads what the user has written from a turn on (from 1) into the blanks of questions that were put to them in
    /// words ([`QuestionSet::in_words`]), and fills these in. `now` is the host's date, for days that leave something
    /// out.
    ///
    /// A value is taken where a turn says of which blank it is: by words of its name or its [other
    /// names](Blank::says) in the same part of a sentence ("the amount is 5, the memo: rent"), or by the number of
    /// the item under which the assistant asked for it. Otherwise only where the turn says hardly anything else (up
    /// to four words beside), and just one of the open blanks can be it. It has to be written as values are
    /// [found](Conversation::instruction), and the tool has to take it. Of what fits two blanks, is said in two ways,
    /// stands in a question, beside a no, or beside a [reservation](Lexicon::reservations) ("50 if it is cheap"),
    /// nothing is taken: it stays open, and is asked for again. So do secrets, which belong into a form, and whatever
    /// isn't an argument.
    ///
    /// What is said later replaces what was said before; who begins a turn by refusing takes all back. A yes to a
    /// call is never read from a turn: where a question has reasons, its [`TurnAnswer::asks_for_a_yes`].
    ///
    /// ```
    /// use tool_runtime::{Blank, Conversation, Question, QuestionSet};
    ///
    /// let mut question = Question::new("call_1", "pay", "{}");
    /// let mut amount = Blank::new("/amount", "How much?");
    /// amount.types = "integer".to_owned();
    /// question.blanks.extend([amount, Blank::new("/memo", "What for?")]);
    /// let set = QuestionSet::new([question]);
    ///
    /// let conversation = Conversation::new();
    /// conversation.assistant("How much shall I send, and what for?");
    /// let turn = conversation.user("5 euros, please.");
    /// let read = conversation.answer(&set, turn, None);
    /// assert_eq!((read[0].values()[0].slot(), read[0].values()[0].value()), ("/amount", "5"));
    /// assert_eq!(read[0].open(), ["/memo"]);
    /// ```
    pub fn answer(&self, set: &QuestionSet, from: usize, now: Option<Day>) -> Vec<TurnAnswer> {
        let asked = |question: &'_ Question| {
            let id = question.id.clone();
            Asked {
                question: id.clone(),
                tool: "",
                blanks: question.blanks.clone(),
                asks_for_a_yes: !question.reasons.is_empty(),
                takes: Box::new(move |slot: &str, value: &Json| set.takes(&id, slot, value)),
            }
        };
        let asked: Vec<Asked<'_>> = set.questions.iter().map(asked).collect();
        let read = self.read_answers(&asked, from, now);
        for answer in &read {
            for value in &answer.values {
                let at = crate::schema::json::ser::write(&value.at);
                if let (Ok(read), Ok(at)) = (Json::parse(&value.value), at) {
                    set.fill_found(&answer.question, &value.slot, read, at);
                }
            }
        }
        read
    }

    /// The same of questions wherever they are kept.
    pub(crate) fn read_answers(&self, asked: &[Asked<'_>], from: usize, now: Option<Day>) -> Vec<TurnAnswer> {
        let (said, lexicon) = (self.said(), &self.0.lexicon);
        let blanks = || asked.iter().flat_map(|asked| asked.blanks.iter().map(move |blank| (asked, blank)));
        let may_say_yes = asked.iter().all(|asked| !asked.asks_for_a_yes);
        let open: Vec<OpenBlank<'_>> = blanks().map(|(asked, blank)| OpenBlank::new(asked, blank, now)).collect();
        let mut reader = Reader { said: &said, lexicon, open: &open, may_say_yes, filled: vec![None; open.len()] };
        for at in from.max(1) - 1..said.turns.len() {
            reader.turn(at);
        }
        let mut filled = reader.filled.into_iter();
        let answer = |asked: &Asked<'_>| {
            let mut answer = TurnAnswer {
                question: asked.question.clone(),
                values: Vec::new(),
                open: Vec::new(),
                asks_for_a_yes: asked.asks_for_a_yes,
            };
            for blank in &asked.blanks {
                match filled.next().flatten() {
                    Some((turn, Candidate { value, start, end, normalisation, .. })) => {
                        let text = &said.turns[turn].piece.words.text;
                        let at = Location::new(Pointer::Turn(turn + 1), start..end, text);
                        answer.values.push(TurnValue { slot: blank.slot.clone(), value, at, normalisation });
                    }
                    None => answer.open.push(blank.slot.clone()),
                }
            }
            answer
        };
        asked.iter().map(answer).collect()
    }
}

/// A blank with all that is needed to read it.
pub(super) struct OpenBlank<'a> {
    asked: &'a Asked<'a>,
    slot: &'a str,
    pub(super) ask: Ask,
    pub(super) anchors: Anchors,
}

impl<'a> OpenBlank<'a> {
    fn new(asked: &'a Asked<'a>, blank: &'a Blank, now: Option<Day>) -> Self {
        let ask = Ask::new(asked.tool, blank.slot.as_str(), shape(blank)).saying(blank.says.iter().cloned());
        let ask = now.map_or(ask.clone(), |now| ask.on(now));
        OpenBlank { asked, slot: &blank.slot, anchors: Anchors::of(&ask), ask }
    }

    fn takes(&self, value: &str) -> bool {
        Json::parse(value).is_ok_and(|value| (self.asked.takes)(self.slot, &value))
    }
}

/// What is read into a blank. What isn't an argument, or is a secret, is nothing that a turn says.
fn shape(blank: &Blank) -> Shape {
    let types: Vec<&str> = blank.types.split(" or ").filter(|name| *name != "null").collect();
    match types[..] {
        _ if blank.secret || !blank.slot.starts_with('/') => Shape::Any,
        ["boolean"] => Shape::Boolean,
        _ if !blank.choices.is_empty() => Shape::Choice(blank.choices.clone()),
        ["integer"] => Shape::Integer,
        ["number"] | ["integer", "number"] => Shape::Number,
        ["string"] | [""] if blank.format == "date" => Shape::Date,
        // What is said of it isn't known, or it is text.
        ["string"] | [""] => Shape::Text,
        _ => Shape::Any,
    }
}

struct Reader<'a> {
    said: &'a Said,
    lexicon: &'a Lexicon,
    open: &'a [OpenBlank<'a>],
    /// No yes is waited for, so that one can be a value.
    may_say_yes: bool,
    /// For each blank, the turn and the value.
    filled: Vec<Option<(usize, Candidate)>>,
}

impl Reader<'_> {
    fn turn(&mut self, at: usize) {
        let turn = &self.said.turns[at];
        let words = &turn.piece.words;
        if self.lexicon.is_no(words, 0) && self.filled.iter().any(Option::is_some) {
            self.filled.iter_mut().for_each(|filled| *filled = None);
        }
        let parts = parts(&turn.piece, self.lexicon);
        let items = self.items(at);
        let found: Vec<Vec<Candidate>> = self
            .open
            .iter()
            .zip(&items)
            .map(|(blank, items)| {
                let mut found = candidates(blank, &turn.piece, &parts, items, self.lexicon, self.may_say_yes);
                found.retain(|candidate| blank.takes(&candidate.value));
                found
            })
            .collect();
        let is_brief = is_brief(&turn.piece, &found) && !turn.piece.reserves(self.lexicon);
        let mut new: Vec<Option<Candidate>> = vec![None; found.len()];
        let mut contradicted = BTreeSet::new();
        for (place, candidates) in found.iter().enumerate() {
            // Could a candidate as well be for another blank: one that says so, or one that is still open?
            let is_anothers = |mine: &Candidate, loose: bool| {
                found.iter().enumerate().any(|(other, theirs)| {
                    let counts = |their: &Candidate| their.anchored || (loose && self.filled[other].is_none());
                    other != place && theirs.iter().any(|their| counts(their) && their.overlaps(mine))
                })
            };
            let anchored: Vec<&Candidate> = candidates.iter().filter(|candidate| candidate.anchored).collect();
            if let Some(first) = anchored.first() {
                // What stands beside it and is no other blank's may be what was meant: "the amount for 3 people is 50".
                let is_free = |candidate: &Candidate| !is_anothers(candidate, false);
                let beside = |candidate: &&Candidate| {
                    anchored.iter().any(|anchored| anchored.part == candidate.part) && is_free(candidate)
                };
                let rivals = candidates.iter().filter(|candidate| candidate.anchored || beside(candidate));
                let is_one = rivals.into_iter().all(|candidate| candidate.value == first.value);
                if is_one && !is_anothers(first, false) {
                    new[place] = Some(Candidate::clone(first));
                } else {
                    contradicted.insert(place);
                }
                continue;
            }
            let Some(first) = candidates.first().filter(|_| is_brief) else { continue };
            let is_one = candidates.iter().all(|candidate| candidate.value == first.value);
            match (is_one && !is_anothers(first, true), &self.filled[place]) {
                (true, None) => new[place] = Some(first.clone()),
                // It may be meant for what was read before.
                (_, Some((_, before))) if before.value != first.value => {
                    contradicted.insert(place);
                }
                _ => {}
            }
        }
        // What was read into another blank isn't said against this one.
        let taken: Vec<Candidate> = new.iter().flatten().cloned().collect();
        for place in contradicted {
            let is_taken = |candidate: &Candidate| taken.iter().any(|taken| taken.overlaps(candidate));
            if found[place].iter().any(|candidate| !is_taken(candidate)) {
                self.filled[place] = None;
            }
        }
        for (place, new) in new.into_iter().enumerate() {
            if let Some(new) = new {
                self.filled[place] = Some((at, new));
            }
        }
    }

    /// For each blank, the items of a list under which the assistant has asked for it.
    fn items(&self, at: usize) -> Vec<BTreeSet<u32>> {
        let Some((_, question)) = &self.said.turns[at].question else { return vec![BTreeSet::new(); self.open.len()] };
        let words = &question.words;
        let of = |blank: &OpenBlank<'_>| -> BTreeSet<u32> {
            let spoken = blank.anchors.spoken(words, &mut Budget::new());
            spoken.keys().filter_map(|sentence| words.sentences[*sentence].item).collect()
        };
        self.open.iter().map(of).collect()
    }
}
