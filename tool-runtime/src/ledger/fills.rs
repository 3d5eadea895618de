use std::fmt;

use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

use super::stored::Stored;
use crate::checklist::Location;
use crate::gate::FillError;
use crate::schema::REDACTED;
use crate::schema::json::{Json, de};

/// What a person gave for the blanks of a question, together with a yes. A record has it with secrets redacted.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Fills(Vec<Fill>);

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Fill {
    pub(crate) slot: String,
    pub(crate) value: Json,
    pub(crate) secret: bool,
    /// The user agreed that it is kept for later calls.
    pub(crate) keep: bool,
    /// Where the user said it, if that was in a turn of a conversation.
    pub(crate) at: Option<Location>,
}

impl Fills {
    pub(crate) fn add(&mut self, fill: Fill) {
        self.0.retain(|known| known.slot != fill.slot);
        self.0.push(fill);
    }

    /// Of what is given for the blanks of a question that is in a ledger.
    pub(super) fn of(asked: &Stored, given: &[GivenValue]) -> Result<Self, FillError> {
        let blanks = asked.blanks();
        let mut fills = Fills::default();
        for GivenValue { slot, json, keep, at } in given {
            let blank = blanks.iter().find(|blank| blank.slot == *slot).ok_or_else(FillError::unknown)?;
            if *keep && (!blank.keepable || blank.secret) {
                return Err(FillError::not_kept());
            }
            let value = Json::parse(json).map_err(|_| FillError::no_json())?;
            fills.add(Fill { slot: slot.clone(), value, secret: blank.secret, keep: *keep, at: at.clone() });
        }
        Ok(fills)
    }

    /// What no record may say, as one JSON text. `None` if there is nothing.
    pub(super) fn hidden(&self) -> Option<String> {
        let hidden: Vec<_> =
            self.0.iter().filter(|fill| fill.secret).map(|fill| (fill.slot.clone(), fill.value.clone())).collect();
        (!hidden.is_empty()).then(|| Json::Object(hidden).to_string())
    }

    /// Of the record of an answer, and of what it may not say. What isn't there was not given.
    pub(super) fn read(asked: &Stored, answered: &Stored, hidden: Option<&str>) -> Vec<Fill> {
        let hidden = hidden.and_then(|text| Json::parse(text).ok()).unwrap_or(Json::Null);
        let (blanks, kept, at) = (asked.blanks(), answered.kept(), answered.filled_at());
        let fill = |(slot, text): (&str, &str)| {
            let secret = blanks.iter().find(|blank| blank.slot == slot)?.secret;
            let value = if secret { hidden.get(slot).cloned() } else { Json::parse(text).ok() };
            let place = at.iter().find(|(known, _)| *known == slot).map(|(_, at)| at.clone());
            Some(Fill {
                slot: slot.to_owned(),
                value: value?,
                secret,
                keep: kept.contains(&slot) && !secret,
                at: place,
            })
        };
        answered.filled().into_iter().filter_map(fill).collect()
    }

    /// Writes them into the record of an answer: JSON texts by slot, and of some where they were said, or that they are
    /// to be kept.
    pub(super) fn serialize_into<S: SerializeStruct>(&self, fields: &mut S) -> Result<(), S::Error> {
        if self.0.is_empty() {
            fields.skip_field("filled")?;
        } else {
            fields.serialize_field(
                "filled",
                &Each(&self.0, |fill| match fill.secret {
                    true => Some(Json::string(REDACTED).to_string()),
                    false => Some(fill.value.to_string()),
                }),
            )?;
        }
        if self.0.iter().any(|fill| fill.at.is_some()) {
            fields.serialize_field("filled_at", &Each(&self.0, |fill| fill.at.clone()))?;
        } else {
            fields.skip_field("filled_at")?;
        }
        let kept: Vec<&str> = self.0.iter().filter(|fill| fill.keep).map(|fill| fill.slot.as_str()).collect();
        if kept.is_empty() { fields.skip_field("kept") } else { fields.serialize_field("kept", &kept) }
    }
}

/// Something of each, by slot.
struct Each<'a, T>(&'a [Fill], fn(&Fill) -> Option<T>);

impl<T: Serialize> Serialize for Each<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let each: Vec<(&str, T)> =
            self.0.iter().filter_map(|fill| Some((fill.slot.as_str(), (self.1)(fill)?))).collect();
        let mut map = serializer.serialize_map(Some(each.len()))?;
        for (slot, value) in each {
            map.serialize_entry(slot, &value)?;
        }
        map.end()
    }
}

/// What somebody gives for a blank of a call that waits.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct GivenValue {
    pub(crate) slot: String,
    /// JSON text.
    pub(crate) json: String,
    pub(crate) keep: bool,
    pub(crate) at: Option<Location>,
}

/// A place that a record has. `None` for what this crate doesn't write.
pub(super) fn place(json: &Json) -> Option<Location> {
    de::read(&json.to_string(), 0).ok()
}

impl fmt::Debug for Fills {
    /// Without the values: some may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|fill| &fill.slot)).finish()
    }
}
