//! The extra property by which a model says where it found what it writes.
//!
//! A list of closed objects, since a map of slots is an open object, which no strict form has.

use crate::call::Reported;
use crate::schema::json::Json;

/// Asks models to say where they found each value: [`ExportOptions::sources`](super::ExportOptions::sources).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    changes: Vec<String>,
}

/// What a location is, for the model.
const LOCATION: &str = "The label of the message in which it was found, such as `u3`; or `no result`.";

impl Sources {
    /// Asks for them.
    pub fn new() -> Self {
        Self::default()
    }

    /// The changes of which the model names one under `@change`, such as all that a registry's tools can make.
    /// Each once, in the order of their letters.
    #[must_use]
    pub fn changes<S: Into<String>>(mut self, changes: impl IntoIterator<Item = S>) -> Self {
        self.changes.extend(changes.into_iter().map(Into::into));
        self.changes.sort();
        self.changes.dedup();
        self
    }

    /// The schema of the property.
    pub(super) fn schema(&self) -> Json {
        let mut slots = "`@action`: who asked for this action. `@when`: who said when. Otherwise the JSON Pointer of \
                         an argument, such as `/name`."
            .to_owned();
        let plain =
            |slots: &str| closed([("slot", described("string", slots)), ("location", described("string", LOCATION))]);
        let element = if self.changes.is_empty() {
            slots.insert_str(0, "`@change`: who asked for this change. ");
            plain(&slots)
        } else {
            let listed = |values: Vec<Json>| object([("type", Json::string("string")), ("enum", Json::Array(values))]);
            let mut change = listed(self.changes.iter().map(Json::string).collect());
            change.set("description", Json::string("The change that was asked for."));
            let changes = closed([("slot", listed(vec![Json::string("@change")])), ("location", change)]);
            object([("anyOf", Json::Array(vec![changes, plain(&slots)]))])
        };
        object([
            ("type", Json::string("array")),
            ("description", Json::string("Where each value of this call was found: one entry a slot.")),
            ("items", element),
        ])
    }
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn described(kind: &str, description: &str) -> Json {
    object([("type", Json::string(kind)), ("description", Json::string(description))])
}

fn closed<const N: usize>(properties: [(&str, Json); N]) -> Json {
    let required = properties.iter().map(|(name, _)| Json::string(*name)).collect();
    object([
        ("type", Json::string("object")),
        ("properties", object(properties)),
        ("required", Json::Array(required)),
        ("additionalProperties", Json::Bool(false)),
    ])
}

/// What a model wrote there. What can't be read is not there: a missing report is none.
pub(super) fn read(value: &Json) -> Vec<(String, String)> {
    match value {
        Json::Array(entries) => entries
            .iter()
            .filter_map(|entry| Some((entry.get("slot")?.as_str()?, entry.get("location")?.as_str()?)))
            .map(|(slot, location)| (slot.to_owned(), location.to_owned()))
            .collect(),
        // As a map, which models write as well.
        Json::Object(members) => {
            members.iter().filter_map(|(slot, location)| Some((slot.clone(), location.as_str()?.to_owned()))).collect()
        }
        Json::String(text) => match Json::parse(text) {
            Ok(inner @ (Json::Array(_) | Json::Object(_))) => read(&inner),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// As a model would have written it.
pub(super) fn written(reported: &Reported) -> Json {
    let entry = |(slot, location): &(String, String)| {
        object([("slot", Json::string(slot)), ("location", Json::string(location))])
    };
    Json::Array(reported.pairs().iter().map(entry).collect())
}
