//! What a person has said yes to before, of the same call: shown again, and not asked again.

use super::ask::reasons;
use super::decide::Decided;
use super::state::{Approval, State};
use crate::checklist::examine::Filled;
use crate::gate::{Confirmed, QuestionId};
use crate::ledger::Binding;
use crate::schema::JsonPath;

/// A yes to an earlier revision.
#[derive(Debug)]
pub(super) struct Agreed {
    /// The set that was shown.
    pub(super) binding: Binding,
    pub(super) question: QuestionId,
}

impl State {
    /// Which values of this revision a person has confirmed before: those of the revision that was agreed to, unless they
    /// changed, and those that the person gave.
    pub(super) fn confirmed(&self, binding: &Binding) -> Vec<Confirmed> {
        let Some(agreed) = &self.agreed else { return Vec::new() };
        let filled = self.listed.iter().flat_map(|listed| &listed.filled);
        let given: Vec<(&JsonPath, &QuestionId)> = filled
            .filter_map(|filled| match filled {
                Filled::Given(path, question) => Some((path, question)),
                Filled::Read(_) | Filled::Said(..) => None,
            })
            .collect();
        let unchanged: Vec<&str> = binding.unchanged_since(&agreed.binding).collect();
        let question = |slot: &str| {
            let path = JsonPath::from_pointer(slot)?;
            // Whoever gave the value last has confirmed it.
            let by_giving = given.iter().rev().find(|(given, _)| path.segments().starts_with(given.segments()));
            by_giving.map(|(_, question)| *question).or_else(|| unchanged.contains(&slot).then_some(&agreed.question))
        };
        binding.pairs().filter_map(|(slot, _)| Some(Confirmed::new(slot, question(slot)?.clone()))).collect()
    }

    /// Why a person has to be asked: what has not been agreed to, where some of it has.
    pub(super) fn asks_because(&self) -> Vec<String> {
        let mut reasons = reasons(self);
        if self.agreed.is_some() {
            reasons.retain(|reason| !self.was_shown(reason));
        }
        reasons
    }
}

impl Decided {
    /// What was filled in has brought up a reason to ask that nobody has seen: then the yes is none to this revision.
    pub(super) fn brings_up_more(&mut self) -> bool {
        let more = matches!(self.0.approval, Approval::Given(_))
            && self.waits()
            && reasons(&self.0).iter().any(|reason| !self.0.was_shown(reason));
        if more {
            self.0.approval = Approval::NotAsked;
        }
        more
    }
}
