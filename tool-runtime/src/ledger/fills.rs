use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::stored::Stored;
use crate::gate::FillError;
use crate::schema::REDACTED;
use crate::schema::json::Json;

/// What a person gave for the blanks of a question, together with a yes. A record has it with secrets redacted.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Fills(Vec<Fill>);

#[derive(Clone, PartialEq, Eq)]
struct Fill {
    slot: String,
    value: Json,
    secret: bool,
}

impl Fills {
    pub(crate) fn add(&mut self, slot: impl Into<String>, value: Json, secret: bool) {
        let slot = slot.into();
        self.0.retain(|known| known.slot != slot);
        self.0.push(Fill { slot, value, secret });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Of JSON texts by slot, for the blanks of a question that is in a ledger.
    pub(super) fn of(asked: &Stored, given: &[(String, String)]) -> Result<Self, FillError> {
        let blanks = asked.blanks();
        let mut fills = Fills::default();
        for (slot, text) in given {
            let (_, secret) = blanks.iter().find(|(blank, _)| blank == slot).ok_or_else(FillError::unknown)?;
            fills.add(slot, Json::parse(text).map_err(|_| FillError::no_json())?, *secret);
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
    pub(super) fn read(asked: &Stored, answered: &Stored, hidden: Option<&str>) -> Vec<(String, Json)> {
        let hidden = hidden.and_then(|text| Json::parse(text).ok()).unwrap_or(Json::Null);
        let blanks = asked.blanks();
        let value = |slot: &str, text: &str| match blanks.iter().find(|(blank, _)| *blank == slot)? {
            (_, true) => hidden.get(slot).cloned(),
            (_, false) => Json::parse(text).ok(),
        };
        let filled = answered.filled();
        filled.into_iter().filter_map(|(slot, text)| Some((slot.to_owned(), value(slot, text)?))).collect()
    }
}

impl Serialize for Fills {
    /// JSON texts by slot.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for Fill { slot, value, secret } in &self.0 {
            let text = if *secret { Json::string(REDACTED).to_string() } else { value.to_string() };
            map.serialize_entry(slot, &text)?;
        }
        map.end()
    }
}

impl fmt::Debug for Fills {
    /// Without the values: some may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|fill| &fill.slot)).finish()
    }
}
