//! Which sources failed to answer, and which said different things.

use super::history::{CaseHistory, History};
use super::stored::Stored;
use crate::call::CaseId;
use crate::checklist::{Came, Party, Slot, SlotState, SourceKind};

/// Something that was looked up for a slot, and failed: neither a value nor "no result" came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceFailure {
    /// The slot.
    pub slot: String,
    /// The source. `None`: it was a condition or a state of the host's own that could not be told.
    pub source: Option<SourceKind>,
    /// Why, in the words of the source.
    pub why: String,
}

impl CaseHistory {
    /// Which sources failed when the call was last judged.
    pub fn failed_sources(&self) -> Vec<SourceFailure> {
        self.verdict().map(Stored::slots).unwrap_or_default().iter().filter_map(failure).collect()
    }

    /// The slots about which sources said different things when the call was last judged.
    pub fn conflicts(&self) -> Vec<String> {
        let slots = self.verdict().map(Stored::slots).unwrap_or_default();
        let differs = |slot: &&Slot| matches!(slot.state(), SlotState::Conflict(_));
        slots.iter().filter(differs).map(|slot| slot.name().to_owned()).collect()
    }
}

impl History {
    /// Which sources failed, of all calls.
    pub fn failed_sources(&self) -> impl Iterator<Item = (CaseId, SourceFailure)> {
        self.cases().iter().flat_map(|case| case.failed_sources().into_iter().map(|failure| (case.id(), failure)))
    }
}

fn failure(slot: &Slot) -> Option<SourceFailure> {
    let failed = slot.tried().iter().find(|(_, came)| *came == Came::Failed).map(|(source, _)| *source);
    let of_host = match slot.state() {
        SlotState::Open { party, why } => Some((*party == Party::Host, why)),
        _ => None,
    };
    if failed.is_none() && !of_host.is_some_and(|(of_host, _)| of_host) {
        return None;
    }
    let why = of_host.map(|(_, why)| why.clone()).unwrap_or_default();
    Some(SourceFailure { slot: slot.name().to_owned(), source: failed, why })
}
