//! Values that were given outside the conversation: answers, presets, and what is kept from earlier.

mod answers;
mod presets;
mod prior;

pub use answers::Answers;
pub use presets::{PresetError, Presets};
pub use prior::{Consent, Kept, KeptError, Memory, Prior, ProcessMemory};

use super::ask::Ask;
use super::location::{Location, Pointer};
use super::source::{Hit, Lookup, Normalisation};
use crate::schema::json::Json;
use crate::schema::text::visible;

/// How many characters of a value are shown.
const SHOWN: usize = 80;

/// The text of a value as locations count in it: of a string what its quotes hold, of anything else its JSON text.
pub(super) fn text_of(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// All of a value that is kept somewhere.
fn whole(ask: &Ask, pointer: Pointer, value: &Json) -> Hit {
    let text = text_of(value);
    let mut hit = Hit::new(Location::whole(pointer, &text), value.canonical(), Normalisation::Exact);
    hit.excerpt = Some(visible(&text, SHOWN));
    hit.answering(ask)
}

/// A value that stands for just this slot: it is there, or says something else than what is proposed.
fn compared(ask: &Ask, proposed: Option<&Json>, pointer: Pointer, value: &Json) -> Lookup {
    let hit = whole(ask, pointer, value);
    match proposed {
        Some(proposed) if proposed != value => Lookup::Conflict(vec![hit]),
        _ => Lookup::Hit(hit),
    }
}
