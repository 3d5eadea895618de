use serde::{Deserialize, Deserializer};

use super::location::Pointer;
use crate::call::Reported;

/// What a model says of a slot: where it found the value, or that there is none. It has no third
/// word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// The value stands at this place.
    Found {
        /// The place.
        at: Pointer,
    },
    /// There is nothing to write.
    NoResult,
}

impl<'de> Deserialize<'de> for Report {
    /// A place, such as `"u3"`, or `"no result"`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        match &*text {
            Reported::NO_RESULT => Ok(Report::NoResult),
            place => place.parse().map(|at| Report::Found { at }).map_err(serde::de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_two_words() {
        let read = |json: &str| serde_json::from_str::<Report>(json).ok();
        assert_eq!(read(r#""no result""#), Some(Report::NoResult));
        assert_eq!(read(r#""u3""#), Some(Report::Found { at: Pointer::Turn(3) }));
        for other in [r#""unknown""#, r#""""#, "null", r#"{"found":{"at":"u3"}}"#, r#"{"found":{"at":"somewhere"}}"#] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
