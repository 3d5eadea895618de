//! What persons write into the blanks of a call.

use std::sync::Arc;

use crate::checklist::examine::Filled;
use crate::checklist::{Checklist, Kept, Shape, Unknown, put};
use crate::gate::{Blank, Takes, Written};
use crate::ledger::{Fill, Fills};
use crate::path::state::State;
use crate::schema::json::{Json, de};
use crate::schema::{JsonPath, Problem, Segment, Step};
use crate::tool::HostTool;

/// Which argument a slot is, if it is one.
pub(in crate::path) fn argument(slot: &str) -> Option<JsonPath> {
    JsonPath::from_pointer(slot).filter(|path| !path.segments().is_empty())
}

impl State {
    /// Writes what persons gave into the call. If that makes a revision, whoever gave something has agreed to it, and
    /// nobody else.
    /// Gives what is to be kept.
    #[must_use]
    pub(in crate::path) fn fill_in(&mut self, checklist: Option<&Checklist>, filled: Vec<Written>) -> Vec<Kept> {
        let mut fills = Vec::new();
        let mut by = Vec::new();
        let mut kept = Vec::new();
        for Written { question, slot, value, keep, .. } in filled {
            by.push(question.clone());
            match argument(&slot) {
                Some(path) => {
                    kept.push(keep);
                    fills.push((Filled::Given(path.clone(), question), path, value));
                }
                None => {
                    let words = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    if let Some(listed) = &mut self.listed {
                        listed.filled.push(Filled::Said(slot.into(), words, question));
                    }
                }
            }
        }
        // What the tool takes was checked when it was written down, one by one; together it may still be refused, and
        // then the call stays without it.
        let given: Vec<(JsonPath, Json)> = fills.iter().map(|(_, path, value)| (path.clone(), value.clone())).collect();
        if fills.is_empty() || self.revise(fills).is_err() {
            return Vec::new();
        }
        let revision = self.revision;
        let gave = self.said.iter_mut().filter(|said| by.contains(&said.question));
        gave.for_each(|said| said.good_for = revision);
        let Some(checklist) = checklist else { return Vec::new() };
        let (tool, call) = (self.tool(), &self.call.id);
        let answered =
            given.iter().zip(kept).map(|((path, value), keep)| checklist.answered(tool, call, (path, value), keep));
        answered.flatten().collect()
    }
}

/// What was written into blanks, as the record of the answer has it.
pub(super) fn recorded_fills(state: &State, written: &[Written]) -> Fills {
    let mut fills = Fills::default();
    for Written { slot, value, keep, at, .. } in written {
        let at = at.as_deref().and_then(|at| de::read(at, 0).ok());
        fills.add(Fill { slot: slot.clone(), value: value.clone(), secret: is_secret(state, slot), keep: *keep, at });
    }
    fills
}

fn is_secret(state: &State, slot: &str) -> bool {
    argument(slot).is_some_and(|path| state.tool().built().said_of(&path).secret)
}

/// Judges what is written into the blanks of a call: the tool has to take it, whatever stands in the other blanks.
pub(super) fn takes_values(state: &State) -> Takes {
    let tool = state.tool().clone();
    let canonical = state.canonical().to_owned();
    let blanks: Vec<JsonPath> = state.unknowns().iter().filter_map(|unknown| unknown.path().cloned()).collect();
    Arc::new(move |slot: &str, value: &Json| takes(&tool, &canonical, &blanks, slot, value))
}

/// May the value stand in the blank? If not, why.
pub(in crate::path) fn takes(
    tool: &HostTool,
    canonical: &str,
    blanks: &[JsonPath],
    slot: &str,
    value: &Json,
) -> Result<(), String> {
    let Some(path) = argument(slot) else {
        return match value.as_str() {
            Some(words) if !words.trim().is_empty() => Ok(()),
            _ => Err("it has to be some words".to_owned()),
        };
    };
    let mut arguments = Json::parse(canonical).unwrap_or(Json::Null);
    if *value == Json::Null || !put(&mut arguments, &path, value.clone()) {
        return Err("it has to be a value".to_owned());
    }
    let others: Vec<JsonPath> = blanks.iter().filter(|blank| **blank != path).cloned().collect();
    let Err(problems) = tool.built().accept(&arguments.to_string(), &others) else { return Ok(()) };
    // What is wrong elsewhere is not this value's fault.
    let is_about = |problem: &&Problem| {
        let (at, path) = (problem.path().segments(), path.segments());
        at.starts_with(path) || path.starts_with(at)
    };
    let said: Vec<String> = problems.iter().filter(is_about).map(ToString::to_string).collect();
    if said.is_empty() { Ok(()) } else { Err(said.join("; ")) }
}

/// What a person is asked to fill in.
pub(super) fn blank(state: &State, unknown: &Unknown) -> Blank {
    let mut blank = Blank::new(unknown.slot(), unknown.asks());
    let Some(path) = unknown.path() else {
        blank.types = "string".to_owned();
        return blank;
    };
    let step = |segment: &Segment| match segment {
        Segment::Key(key) => Step::Member(key.clone()),
        Segment::Index(index) => Step::Index(*index),
    };
    let steps: Vec<Step> = path.segments().iter().map(step).collect();
    if let Ok(reached) = state.tool().built().reach(&steps) {
        blank.types = reached.types();
        blank.choices = reached.words.unwrap_or_default();
    }
    if Shape::of_argument(state.tool().schema(), unknown.slot()) == Shape::Date {
        blank.format = "date".to_owned();
    }
    blank.says = unknown.says().to_vec();
    if let Some(found) = state.conflict_at(unknown.slot()) {
        blank.choices = found;
    }
    blank.secret = is_secret(state, unknown.slot());
    blank
}
