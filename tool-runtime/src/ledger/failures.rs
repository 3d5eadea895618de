//! Which sources failed to answer, and which said different things.

use super::history::{CaseHistory, History};
use super::stored::Stored;
use crate::call::CaseId;
use crate::checklist::SourceKind;
use crate::schema::json::Json;

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
    pub fn conflicts(&self) -> Vec<&str> {
        let slots = self.verdict().map(Stored::slots).unwrap_or_default().iter();
        slots.filter(|slot| word(slot, "state") == Some("conflict")).filter_map(|slot| word(slot, "slot")).collect()
    }
}

impl History {
    /// Which sources failed, of all calls.
    pub fn failed_sources(&self) -> impl Iterator<Item = (CaseId, SourceFailure)> {
        self.cases().iter().flat_map(|case| case.failed_sources().into_iter().map(|failure| (case.id(), failure)))
    }
}

fn word<'j>(json: &'j Json, name: &str) -> Option<&'j str> {
    json.get(name)?.as_str()
}

fn failure(slot: &Json) -> Option<SourceFailure> {
    let tried = slot.get("tried").and_then(Json::as_array).unwrap_or_default();
    let failed = tried.iter().find(|tried| word(tried, "came") == Some("failed"));
    let of_host = word(slot, "state") == Some("open") && word(slot, "party") == Some("host");
    if failed.is_none() && !of_host {
        return None;
    }
    Some(SourceFailure {
        slot: word(slot, "slot")?.to_owned(),
        source: failed.and_then(|failed| word(failed, "source")?.parse().ok()),
        why: word(slot, "why").unwrap_or_default().to_owned(),
    })
}
