//! Which of several forms does a value have?

use super::super::describe;
use super::super::json::{Cursor, Json, MAX_DEPTH, Token, same_value};
use super::super::node::{Marks, NodeId, Tag, Union};
use super::super::problem::What;
use super::super::text;
use super::{Place, Refusal, Stop, Walk, Walker};

impl<'g, 't> Walker<'g, 't> {
    pub(super) fn union(&mut self, union: &'g Union, marks: Marks, place: &Place<'_>) -> Walk {
        let marks = Marks { hidden: marks.hidden || self.graph.has_secrets, ..marks };
        self.cursor.skip_space();
        let start = self.cursor.offset();
        let Ok(token) = self.cursor.clone().token() else { return self.skip(place) };
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
                self.skip(place)?;
                let expected = describe::union(self.graph, union);
                return self.refuse(place, Refusal { holds_more: true, ..Refusal::new(expected) }, start, marks);
            }
            [only] => return self.value(union.branches[*only], marks, place),
            _ => {}
        }
        if let (5, Some(tag)) = (slot, &union.tag) {
            return self.tagged(union, tag, marks, place, start);
        }
        self.try_each(union, candidates, marks, place, start)
    }

    /// Reads over the value that comes, which also tells what is wrong with it if it can't be read.
    fn skip(&mut self, place: &Place<'_>) -> Walk {
        Ok(self.cursor.skip_value(MAX_DEPTH.saturating_sub(place.depth))?)
    }

    /// Finds the branch of an object by what it says of itself.
    fn tagged(&mut self, union: &'g Union, tag: &'g Tag, marks: Marks, place: &Place<'_>, start: usize) -> Walk {
        match tag {
            Tag::Name { branches } => {
                let mut ahead = self.cursor.clone();
                let first = ahead.token().and_then(|_| ahead.first_key());
                let named = first.ok().flatten().map(|key| key.name());
                let branch = named.as_ref().and_then(|name| branches.iter().find(|(known, _)| **known == **name));
                if let Some((_, branch)) = branch {
                    return self.value(union.branches[*branch], marks, place);
                }
                self.skip(place)?;
                let names: Vec<&str> = branches.iter().map(|(name, _)| &**name).collect();
                let known = text::listed(names.iter().copied(), 32);
                match named {
                    None => self.refuse(
                        place,
                        Refusal { holds_more: true, ..Refusal::new(format!("an object with one of {known}")) },
                        start,
                        marks,
                    ),
                    Some(name) => {
                        let suggestion = text::nearest(&name, names.into_iter()).map(str::to_owned);
                        self.problem(&place.key(&name, usize::MAX), || What::Unknown { suggestion, known })
                    }
                }
            }
            Tag::Value { property, branches } => {
                let found = self.find_tag(property, MAX_DEPTH.saturating_sub(place.depth + 1))?;
                let canonical =
                    found.map(|value| Json::parse(value).map_or_else(|_| String::new(), |value| value.canonical()));
                let branch = canonical.as_ref().and_then(|tag| branches.iter().find(|(word, _)| same_value(word, tag)));
                if let Some((_, branch)) = branch {
                    return self.value(union.branches[*branch], marks, place);
                }
                self.skip(place)?;
                let words: Vec<String> = branches.iter().map(|(word, _)| word.clone()).collect();
                let expected = describe::words(&words);
                let at = place.key(property, 0);
                match found.zip(canonical) {
                    None => self.problem(&at, || What::Missing { expected }),
                    Some((value, canonical)) => {
                        let secret = marks.secret || self.graph.has_secrets;
                        let got = describe::got(value, secret);
                        let suggestion = describe::nearest_word(&canonical, &words).filter(|_| !secret);
                        self.problem(&at, || What::Unexpected { expected, got, suggestion, hint: None })
                    }
                }
            }
        }
    }

    /// The text of a member of the object that comes. `None` if there is none, or the text ends being
    /// JSON before it.
    fn find_tag(&mut self, property: &str, depth: usize) -> Result<Option<&'t str>, Stop> {
        let mut ahead = self.cursor.clone();
        let begins = ahead.offset();
        let mut next = ahead.token().and_then(|_| ahead.first_key()).ok().flatten();
        let mut found = None;
        while let Some(key) = next {
            ahead.skip_space();
            let start = ahead.offset();
            if ahead.skip_value(depth).is_err() {
                break;
            }
            if key.name() == *property {
                found = Some(ahead.slice_from(start));
                break;
            }
            next = ahead.next_key().ok().flatten();
        }
        self.burn(ahead.offset() - begins)?;
        Ok(found)
    }

    /// Pays for bytes that are read once more.
    fn burn(&mut self, bytes: usize) -> Walk {
        self.fuel = self.fuel.checked_sub(bytes + 1).ok_or(Stop::Exhausted)?;
        Ok(())
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
        let mut taken: Option<(usize, usize)> = None;
        // One of the forms takes the value as it was given, and not as it is read.
        let mut literally = false;
        let mut furthest = (0, candidates[0]);
        for &candidate in candidates {
            if taken.is_some() && !union.exactly_one {
                break;
            }
            let branch = union.branches[candidate];
            let probed = self.probe(branch, false, marks, place, start)?;
            if union.exactly_one && probed.reinterprets && probed.end.is_err() {
                // The schema that is shown takes every value for what it is, and this one perhaps for one of this form.
                literally |= self.probe(branch, true, marks, place, start)?.end.is_ok();
            }
            match probed.end {
                Ok(_) if taken.is_some() => return self.fits_several(union, marks, place, start),
                Ok(end) => taken = Some((candidate, end)),
                Err(reached) if reached > furthest.0 => furthest = (reached, candidate),
                Err(_) => {}
            }
        }
        if literally && taken.is_some() {
            return self.fits_several(union, marks, place, start);
        }
        if let (true, 0, Some((_, end))) = (self.probing, self.texts_needed, taken) {
            // Nobody will look at what would be written.
            self.cursor = Cursor::at(self.text, end);
            self.out.copy(start, end);
            return Ok(());
        }
        self.cursor = Cursor::at(self.text, start);
        if let Some((candidate, end)) = taken {
            // Whoever decodes the value tries the forms as well, and each of them all over again inside.
            let outer = self.trials;
            if outer > 1 {
                self.trial_fuel =
                    self.trial_fuel.checked_sub(outer.saturating_mul(end - start)).ok_or(Stop::Exhausted)?;
            }
            self.trials = outer.max(1).saturating_mul(candidates.len());
            let walked = self.value(union.branches[candidate], marks, place);
            self.trials = outer;
            return walked;
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
        self.skip(place)?;
        self.refuse(
            place,
            Refusal { holds_more: true, ..Refusal::new(describe::union(self.graph, union)) },
            start,
            marks,
        )
    }

    fn fits_several(&mut self, union: &Union, marks: Marks, place: &Place<'_>, start: usize) -> Walk {
        self.cursor = Cursor::at(self.text, start);
        self.skip(place)?;
        let expected = format!("a value that fits exactly one of {}", describe::union(self.graph, union));
        self.refuse(place, Refusal { holds_more: true, ..Refusal::new(expected) }, start, marks)
    }

    /// Does a branch take the value, and up to where? Leaves no trace but the answer, so that no
    /// branch is asked twice about one place: nested unions would ask without end. `literally`: as
    /// whoever knows only the schema would take it.
    fn probe(
        &mut self,
        branch: NodeId,
        literally: bool,
        marks: Marks,
        place: &Place<'_>,
        start: usize,
    ) -> Result<Probed, Stop> {
        let literal = self.literal || literally;
        let question = (branch, start, marks.path, literal);
        if let Some(&known) = self.probes.get(&question) {
            self.reinterpreted |= known.reinterprets;
            return Ok(known);
        }
        let literal_around = std::mem::replace(&mut self.literal, literal);
        let reinterpreted_before = std::mem::take(&mut self.reinterpreted);
        let walked = self.without_trace(start, |walker| walker.value(branch, marks, place));
        let reinterprets = self.reinterpreted;
        self.reinterpreted |= reinterpreted_before;
        self.literal = literal_around;
        let end = match walked {
            Ok(()) => Ok(self.cursor.offset()),
            Err(Stop::Refused) => Err(self.reached),
            Err(stop) => return Err(stop),
        };
        let (Ok(reached) | Err(reached)) = end;
        self.burn(reached.saturating_sub(start))?;
        let answer = Probed { end, reinterprets };
        self.probes.insert(question, answer);
        Ok(answer)
    }
}

/// What a branch says to a value.
#[derive(Clone, Copy)]
pub(super) struct Probed {
    /// Where a value that it takes ends, or how far it gets with one that it doesn't take.
    end: Result<usize, usize>,
    /// It took something on the way for other than it is.
    reinterprets: bool,
}
