use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::ser::{Serialize, SerializeStruct, Serializer};

/// A pair of numbers that nobody has yet, in this process or another: one for the process, and a
/// counter.
pub(crate) fn unique() -> (u64, u64) {
    static PROCESS: OnceLock<u64> = OnceLock::new();
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let process = PROCESS.get_or_init(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        // The standard library's hashers have keys from the system's random numbers.
        RandomState::new().hash_one((std::process::id(), now))
    });
    (*process, NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Identifies one call on its way through a host: no two are alike, in this process or another.
///
/// Call ids come from providers and may repeat; these don't. All records of a call have it, also if
/// it waited for an answer and another process went on with it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CaseId {
    process: u64,
    number: u64,
}

impl CaseId {
    /// One that nobody has yet.
    pub(crate) fn fresh() -> Self {
        let (process, number) = unique();
        CaseId { process, number }
    }
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{:x}", self.process, self.number)
    }
}

impl fmt::Debug for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for CaseId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for CaseId {
    type Err = CaseIdError;

    /// Takes what [`Display`](fmt::Display) writes and no other spelling.
    fn from_str(text: &str) -> Result<Self, CaseIdError> {
        let (process, number) = text.split_once('-').ok_or(CaseIdError)?;
        let read = |digits: &str| u64::from_str_radix(digits, 16).map_err(|_| CaseIdError);
        let id = CaseId { process: read(process)?, number: read(number)? };
        if id.to_string() == text { Ok(id) } else { Err(CaseIdError) }
    }
}

/// A text is no [`CaseId`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaseIdError;

impl fmt::Display for CaseIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the id of a case is two hexadecimal numbers with a dash between them")
    }
}

impl std::error::Error for CaseIdError {}

/// Where a call belongs: what all of its records say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) case: CaseId,
    pub(crate) conversation: Option<Arc<str>>,
}

impl Place {
    pub(crate) fn new(conversation: Option<Arc<str>>) -> Self {
        Place { case: CaseId::fresh(), conversation }
    }

    /// Writes its parts into a record's object.
    pub(crate) fn serialize_into<S: SerializeStruct>(&self, fields: &mut S) -> Result<(), S::Error> {
        fields.serialize_field("case", &self.case)?;
        match &self.conversation {
            Some(conversation) => fields.serialize_field("conversation", &**conversation),
            None => fields.skip_field("conversation"),
        }
    }
}

/// Gives a record that stands in a [`Place`] what all of them say of it. `$place` is its field.
macro_rules! placed {
    ($($record:ty: $($place:tt).+;)+) => {$(
        impl $record {
            /// The call's way through the host.
            pub fn case(&self) -> crate::call::CaseId {
                self.$($place).+.case
            }

            /// The conversation that the call belongs to, if the harness was told one.
            pub fn conversation(&self) -> Option<&str> {
                self.$($place).+.conversation.as_deref()
            }
        }
    )+};
}
pub(crate) use placed;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back_and_no_other_spelling_of_it() {
        let id = CaseId::fresh();
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_ne!(id, CaseId::fresh());
        for text in ["", "-", "0-1", "000000000000000A-1", "000000000000000a-01", "000000000000000a-+1"] {
            assert!(text.parse::<CaseId>().is_err(), "{text}");
        }
    }
}
