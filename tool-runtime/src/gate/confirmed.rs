use serde::ser::{Serialize, SerializeMap, Serializer};

use super::QuestionId;

/// A value that a person has confirmed before, in an earlier revision of the same call, and that is the same now: to be
/// shown, and not to be asked about again.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Confirmed {
    /// The JSON Pointer of the argument.
    pub slot: String,
    /// The question to which the person said yes, or for which the person gave the value.
    pub question: QuestionId,
}

impl Confirmed {
    /// As an approver gets it, for tests of approvers.
    pub fn new(slot: impl Into<String>, question: QuestionId) -> Self {
        Confirmed { slot: slot.into(), question }
    }
}

/// As records have them: questions by slots.
pub(crate) struct BySlot<'a>(pub(crate) &'a [Confirmed]);

impl Serialize for BySlot<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for Confirmed { slot, question } in self.0 {
            map.serialize_entry(slot, question)?;
        }
        map.end()
    }
}
