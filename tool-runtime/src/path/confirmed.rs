//! What persons have said yes to before, of the same call: shown again, and not asked again.

use super::state::State;
use crate::checklist::examine::Filled;
use crate::gate::{Addressee, Confirmed, QuestionId};
use crate::ledger::Binding;
use crate::schema::JsonPath;

impl State {
    /// Which values of this revision persons have confirmed before: those of a revision that was agreed to, unless they
    /// changed, and those that somebody gave. Whoever is asked sees their own yes rather than another's.
    pub(super) fn confirmed(&self, binding: &Binding, to: &Addressee) -> Vec<Confirmed> {
        let mut agreed: Vec<_> = self.said.iter().filter(|said| said.is_yes()).collect();
        if agreed.is_empty() {
            return Vec::new();
        }
        // Then the latest.
        agreed.reverse();
        agreed.sort_by_key(|said| said.by != *to);
        let filled = self.listed.iter().flat_map(|listed| &listed.filled);
        let given: Vec<(&JsonPath, &QuestionId)> = filled
            .filter_map(|filled| match filled {
                Filled::Given(path, question) => Some((path, question)),
                Filled::Read(_) | Filled::Said(..) => None,
            })
            .collect();
        let unchanged: Vec<(&str, &QuestionId)> = agreed
            .into_iter()
            .flat_map(|said| binding.unchanged_since(&said.binding).map(|slot| (slot, &said.question)))
            .collect();
        let question = |slot: &str| {
            let path = JsonPath::from_pointer(slot)?;
            // Whoever gave the value last has confirmed it.
            let by_giving = given.iter().rev().find(|(given, _)| path.segments().starts_with(given.segments()));
            let by_yes = || unchanged.iter().find(|(known, _)| *known == slot);
            by_giving.map(|(_, question)| *question).or_else(|| by_yes().map(|(_, question)| *question))
        };
        binding.pairs().filter_map(|(slot, _)| Some(Confirmed::new(slot, question(slot)?.clone()))).collect()
    }
}
