//! What a record holds of one call, in the place of sources, states and checks: nothing is looked up again.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ask::Ask;
use super::look_up::{Came, Tried};
use super::origin::{ListKind, Origin};
use super::slot::{Party, Slot, SlotKind, SlotParts, SlotState};
use super::source::{Hit, Lookup, Normalisation, SourceSet};
use crate::schema::json::{Json, de};

/// The slots of a verdict.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recorded {
    slots: Vec<Slot>,
    /// `None`: two slots say two things.
    facts: BTreeMap<Arc<str>, Option<Arc<str>>>,
}

impl Recorded {
    pub(crate) fn of(slots: Vec<Slot>) -> Self {
        let mut facts: BTreeMap<Arc<str>, Option<Arc<str>>> = BTreeMap::new();
        for (name, json) in slots.iter().flat_map(Slot::judged_by) {
            let known = facts.entry(name.into()).or_insert_with(|| Some(json.into()));
            if known.as_deref() != Some(json) {
                *known = None;
            }
        }
        Recorded { slots, facts }
    }

    pub(crate) fn slot(&self, name: &str, kind: SlotKind) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.name() == name && slot.kind() == kind)
    }

    /// What was observed or checked under this name.
    ///
    /// # Errors
    /// If the record doesn't have it.
    pub(super) fn fact(&self, name: &str) -> Result<&str, String> {
        let known = self.facts.get(name).and_then(Option::as_deref);
        known.ok_or_else(|| format!("the record doesn't have `{name}`"))
    }

    /// A value slot that nothing has to be looked up for: whoever gave it then gave it for good.
    pub(super) fn settled(&self, slot: &str, value: Option<&str>) -> Option<SlotState> {
        let found = self.slot(slot, SlotKind::Value).filter(|found| found.value() == value)?;
        matches!(found.state(), SlotState::Answered(_) | SlotState::Defaulted).then(|| found.state().clone())
    }

    /// What the search came to, as far as it went through sources that are asked now. A source that wasn't searched then
    /// has no result.
    pub(super) fn tried(&self, ask: &Ask, from: SourceSet) -> Tried {
        let nothing = Tried { outcome: Lookup::NoResult, tried: Vec::new() };
        let Some(slot) = self.slot(ask.slot(), SlotKind::Value) else { return nothing };
        // Of another value nothing is known. A draft's has none yet.
        if ask.value().is_some() && slot.value() != ask.value() {
            return nothing;
        }
        let tried: Vec<_> = slot.tried().iter().filter(|(kind, _)| from.contains(*kind)).copied().collect();
        let outcome = match slot.state() {
            SlotState::Found { at, normalisation, excerpt } if from.contains(at.source()) => {
                let mut hit = Hit::new(at.clone(), slot.value().unwrap_or_default(), *normalisation);
                hit.excerpt.clone_from(excerpt);
                Lookup::Hit(hit)
            }
            SlotState::Conflict(found) => {
                let hit = |(value, at): &(String, super::Location)| Hit::new(at.clone(), value, Normalisation::Exact);
                let hits: Vec<Hit> = found.iter().filter(|(_, at)| from.contains(at.source())).map(hit).collect();
                if hits.is_empty() { Lookup::NoResult } else { Lookup::Conflict(hits) }
            }
            SlotState::Open { party: Party::Host, why }
                if tried.last().is_some_and(|(_, came)| *came == Came::Failed) =>
            {
                Lookup::Failed(why.clone())
            }
            _ => Lookup::NoResult,
        };
        Tried { outcome, tried }
    }
}

impl Slot {
    /// As a verdict has it. `None` for what this crate doesn't write.
    pub(crate) fn read(json: &Json) -> Option<Self> {
        let word = |name: &str| json.get(name).and_then(Json::as_str);
        let known = [SlotKind::Value, SlotKind::Condition, SlotKind::Intent];
        let kind = known.into_iter().find(|kind| word("kind") == Some(kind.as_str()))?;
        let origins = json.get("origins")?.as_array()?.iter().map(origin).collect::<Option<Vec<_>>>()?;
        let searched = json.get("tried").and_then(Json::as_array).unwrap_or_default().iter().map(|tried| {
            let came = tried.get("came")?.as_str()?;
            let came = Came::ALL.into_iter().find(|known| known.as_str() == came)?;
            Some((tried.get("source")?.as_str()?.parse().ok()?, came))
        });
        let facts = json.get("judged_by").and_then(Json::as_object).unwrap_or_default();
        let fact = |(name, json): &(String, Json)| Some((name.as_str().into(), json.as_str()?.into()));
        Some(Slot::new(SlotParts {
            name: word("slot")?.into(),
            kind,
            origins,
            value: word("value").map(str::to_owned),
            state: state(json)?,
            approved: word("approved").map(Into::into),
            tried: searched.collect::<Option<Vec<_>>>()?,
            facts: facts.iter().map(fact).collect::<Option<Vec<_>>>()?,
        }))
    }
}

fn origin(json: &Json) -> Option<Origin> {
    let list = json.get("list")?.as_str()?;
    let (_, list) = ListKind::ALL.into_iter().find(|(word, _)| *word == list)?;
    Some(Origin::new(list, json.get("by")?.as_str()?))
}

fn state(json: &Json) -> Option<SlotState> {
    let word = |name: &str| json.get(name).and_then(Json::as_str);
    let place = |json: &Json| de::read(&json.get("at")?.to_string(), 0).ok();
    Some(match word("state")? {
        "found" => {
            let read = word("normalisation")?;
            SlotState::Found {
                at: place(json)?,
                normalisation: Normalisation::ALL.into_iter().find(|known| known.as_str() == read)?,
                excerpt: word("excerpt").map(str::to_owned),
            }
        }
        "answered" => SlotState::Answered(word("question")?.into()),
        "authored" => SlotState::Authored,
        "default" => SlotState::Defaulted,
        "derived" => SlotState::Derived(word("formula")?.to_owned()),
        "given" => SlotState::Given,
        "holds" => SlotState::Holds,
        "fails" => SlotState::Fails,
        "unconfirmed" => SlotState::Unconfirmed,
        "told" => SlotState::Told,
        "open" => {
            let party = word("party")?;
            SlotState::Open {
                party: [Party::User, Party::Provider, Party::Host].into_iter().find(|known| known.as_str() == party)?,
                why: word("why")?.to_owned(),
            }
        }
        "conflict" => {
            let found = json.get("found")?.as_array()?.iter();
            let found = found.map(|found| Some((found.get("value")?.as_str()?.to_owned(), place(found)?)));
            SlotState::Conflict(found.collect::<Option<Vec<_>>>()?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checklist::{Location, Pointer, SourceKind};
    use crate::schema::json::ser;

    #[test]
    fn a_slot_is_read_back_as_it_was_written() {
        let at = || Location::whole(Pointer::Turn(2), "to alice");
        let states = [
            SlotState::Found { at: at(), normalisation: Normalisation::Unit, excerpt: Some("to alice".to_owned()) },
            SlotState::Found { at: at().of_secret(), normalisation: Normalisation::Exact, excerpt: None },
            SlotState::Answered("q".into()),
            SlotState::Authored,
            SlotState::Defaulted,
            SlotState::Derived("1 + args.a".to_owned()),
            SlotState::Given,
            SlotState::Holds,
            SlotState::Fails,
            SlotState::Unconfirmed,
            SlotState::Told,
            SlotState::Open { party: Party::Provider, why: "it isn't".to_owned() },
            SlotState::Conflict(vec![("1".to_owned(), at()), ("2".to_owned(), at())]),
        ];
        for state in states {
            let slot = Slot::new(SlotParts {
                name: "/to".into(),
                kind: SlotKind::Value,
                origins: vec![Origin::new(ListKind::Internal, "treasury policy 4")],
                value: Some("\"alice\"".to_owned()),
                state,
                approved: Some("q2".into()),
                tried: vec![(SourceKind::Answer, Came::NoResult), (SourceKind::Instruction, Came::Hit)],
                facts: vec![("state.balance".into(), "[1,\"2\"]".into())],
            });
            let text = ser::write(&slot).unwrap();
            assert_eq!(Slot::read(&Json::parse(&text).unwrap()), Some(slot), "{text}");
        }
        assert_eq!(
            Slot::read(&Json::parse(r#"{"slot":"/to","kind":"value","origins":[],"state":"?"}"#).unwrap()),
            None
        );
    }
}
