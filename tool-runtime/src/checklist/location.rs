use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::source::SourceKind;
use crate::call::CallId;
use crate::schema::{Digest, JsonPath};

/// A place where a value may stand, as a model writes it. It points at a place and says nothing else: there is no
/// way to write that something isn't known.
///
/// | written | what it points at |
/// |---|---|
/// | `u3` | the user's third turn |
/// | `r:call_7#/flights/0/date` | a value in the result of a call, by JSON Pointer (RFC 6901) |
/// | `p:key` | a preset |
/// | `s:key` | a kept value of prior state |
/// | `a2` | the user's second answer to a question |
///
/// In the id of a call, `#` is written `%23` and `%` is written `%25`.
///
/// ```
/// use tool_runtime::Pointer;
///
/// let pointer: Pointer = "r:call_7#/flights/0/date".parse()?;
/// assert_eq!(pointer.to_string(), "r:call_7#/flights/0/date");
/// assert!("unknown".parse::<Pointer>().is_err());
/// # Ok::<(), tool_runtime::PointerError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Pointer {
    /// A turn of the user, from 1. The assistant's turns aren't counted: they are no source.
    Turn(usize),
    /// A value in the result of a call.
    CallResult {
        /// Which call.
        call: CallId,
        /// Where in its result; the root if it is no JSON.
        path: JsonPath,
    },
    /// A preset by its key.
    Preset(String),
    /// A kept value by its key.
    Prior(String),
    /// An answer of the user to a question, from 1.
    Answer(usize),
}

impl Pointer {
    /// The source that can follow it.
    pub fn source(&self) -> SourceKind {
        match self {
            Pointer::Turn(_) => SourceKind::Instruction,
            Pointer::CallResult { .. } => SourceKind::Observed,
            Pointer::Preset(_) => SourceKind::Preset,
            Pointer::Prior(_) => SourceKind::Prior,
            Pointer::Answer(_) => SourceKind::Answer,
        }
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pointer::Turn(turn) => write!(f, "u{turn}"),
            Pointer::CallResult { call, path } => {
                let call = call.as_str().replace('%', "%25").replace('#', "%23");
                write!(f, "r:{call}#{}", path.to_pointer())
            }
            Pointer::Preset(key) => write!(f, "p:{key}"),
            Pointer::Prior(key) => write!(f, "s:{key}"),
            Pointer::Answer(number) => write!(f, "a{number}"),
        }
    }
}

impl FromStr for Pointer {
    type Err = PointerError;

    fn from_str(text: &str) -> Result<Self, PointerError> {
        if let Some(rest) = text.strip_prefix("r:") {
            let (call, path) = rest.split_once('#').unwrap_or((rest, ""));
            let call = call.replace("%23", "#").replace("%25", "%");
            let path = JsonPath::from_pointer(path).filter(|_| !call.is_empty()).ok_or(PointerError)?;
            return Ok(Pointer::CallResult { call: call.into(), path });
        }
        let keyed = [("p:", Pointer::Preset as fn(String) -> Pointer), ("s:", Pointer::Prior)];
        for (prefix, of) in keyed {
            if let Some(key) = text.strip_prefix(prefix) {
                return if key.is_empty() { Err(PointerError) } else { Ok(of(key.to_owned())) };
            }
        }
        let numbered = [('u', Pointer::Turn as fn(usize) -> Pointer), ('a', Pointer::Answer)];
        for (prefix, of) in numbered {
            if let Some(number) = text.strip_prefix(prefix) {
                let plain = !number.starts_with('0') && number.bytes().all(|byte| byte.is_ascii_digit());
                return number.parse().ok().filter(|_| plain).map(of).ok_or(PointerError);
            }
        }
        Err(PointerError)
    }
}

impl Serialize for Pointer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Pointer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parsed(deserializer)
    }
}

/// A value that travels as its text.
fn parsed<'de, D: Deserializer<'de>, T: FromStr<Err: fmt::Display>>(deserializer: D) -> Result<T, D::Error> {
    let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
    text.parse().map_err(serde::de::Error::custom)
}

/// A text is no [`Pointer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PointerError;

impl fmt::Display for PointerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no location: it has none of the forms `u3`, `r:call_7#/flights/0/date`, `p:key`, `s:key`")
    }
}

impl std::error::Error for PointerError {}

/// Where a value was found. It can be followed: [`Source::read`](super::Source::read) gives what stands there, and
/// nothing if the text around it isn't what it was.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Location {
    pointer: Pointer,
    /// Bytes of the text that the pointer points at.
    from: usize,
    to: usize,
    /// Of the whole text. Absent for a secret: the digest of a short one would be as good as the secret.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "as_text", deserialize_with = "maybe")]
    digest: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proposed: Option<usize>,
}

fn as_text<S: Serializer>(digest: &Option<Digest>, serializer: S) -> Result<S::Ok, S::Error> {
    match digest {
        Some(digest) => serializer.collect_str(digest),
        None => serializer.serialize_none(),
    }
}

fn maybe<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Digest>, D::Error> {
    parsed(deserializer).map(Some)
}

impl Location {
    /// A part of `text`, which is all that stands where `pointer` points. For implementors of
    /// [`Source`](super::Source).
    pub fn new(pointer: Pointer, span: Range<usize>, text: &str) -> Self {
        let digest = Some(Digest::of_bytes(text.as_bytes()));
        Location { pointer, from: span.start, to: span.end, digest, proposed: None }
    }

    /// The whole of `text`.
    pub fn whole(pointer: Pointer, text: &str) -> Self {
        Self::new(pointer, 0..text.len(), text)
    }

    /// The same place without the digest of its text, as a secret has it: it can't be read back.
    #[must_use]
    pub fn of_secret(mut self) -> Self {
        self.digest = None;
        self
    }

    /// The value stands in what the assistant wrote, its turn `number` from 1, and the turn at the pointer accepts it.
    pub(crate) fn proposed_in(mut self, number: usize) -> Self {
        self.proposed = Some(number);
        self
    }

    /// The source.
    pub fn source(&self) -> SourceKind {
        self.pointer.source()
    }

    /// Which turn, result, preset, kept value or answer.
    pub fn pointer(&self) -> &Pointer {
        &self.pointer
    }

    /// The bytes where the value stands. They count in the text of a turn; in a result, preset, kept value or answer,
    /// of a string in what its quotes hold, unescaped, and of anything else in its JSON text.
    pub fn span(&self) -> Range<usize> {
        self.from..self.to
    }

    /// The digest of the whole text that the span counts in. Absent for a secret.
    pub fn digest(&self) -> Option<&Digest> {
        self.digest.as_ref()
    }

    /// If the assistant proposed the value and the user accepted it: the number of the assistant's turn, from 1. The
    /// span then counts in that turn, and the pointer is the turn by which the user accepted.
    pub fn proposed(&self) -> Option<usize> {
        self.proposed
    }

    /// The part of `text` at this place, unless the text has changed since. For implementors of
    /// [`Source`](super::Source).
    pub fn read_in(&self, text: &str) -> Option<String> {
        let part = text.get(self.span())?;
        (self.digest? == Digest::of_bytes(text.as_bytes())).then(|| part.to_owned())
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.proposed {
            Some(number) => write!(f, "proposed in the assistant's turn {number}, accepted in {}", self.pointer),
            None => write!(f, "{}", self.pointer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_written_as_they_are_read() {
        for text in [
            "u1",
            "u37",
            "a2",
            "r:call_7#/flights/0/date",
            "r:x#",
            "p:currency",
            "s:home address",
            "p:p:q",
            "r:a%23b#/c#d",
        ] {
            assert_eq!(text.parse::<Pointer>().unwrap().to_string(), text);
        }
        assert_eq!("r:call_7".parse::<Pointer>().unwrap().to_string(), "r:call_7#");
        let odd = Pointer::CallResult { call: "%23#%".into(), path: JsonPath::root() };
        assert_eq!(odd.to_string().parse(), Ok(odd));
    }

    #[test]
    fn nothing_else_is_a_pointer() {
        for text in [
            "",
            "unknown",
            "no result",
            "u",
            "u0",
            "u01",
            "u-1",
            "u+1",
            "u1 ",
            " u1",
            "U1",
            "u99999999999999999999999",
            "r:",
            "r:#",
            "r:x#y",
            "p:",
            "s:",
            "x:1",
            "somewhere",
            "a0",
            "u1#/x",
            "１",
            "u１",
        ] {
            assert!(text.parse::<Pointer>().is_err(), "{text:?}");
            assert!(serde_json::from_value::<Pointer>(text.into()).is_err(), "{text:?}");
        }
        for value in ["null", "3", "{\"found\":{\"at\":\"somewhere\"}}", "[]", "{\"unknown\":null}"] {
            assert!(serde_json::from_str::<Pointer>(value).is_err(), "{value}");
        }
    }

    #[test]
    fn a_location_knows_when_its_text_has_changed() {
        let location = Location::new(Pointer::Turn(1), 3..7, "to alice");
        assert_eq!(location.read_in("to alice").as_deref(), Some("alic"));
        assert_eq!(location.read_in("to alicE"), None);
        assert_eq!(location.read_in("to"), None);
        assert_eq!(location.clone().of_secret().read_in("to alice"), None);
        let text = serde_json::to_string(&location).unwrap();
        assert_eq!(serde_json::from_str::<Location>(&text).unwrap(), location);
        let secret = location.of_secret();
        let text = serde_json::to_string(&secret).unwrap();
        assert!(!text.contains("digest"), "{text}");
        assert_eq!(serde_json::from_str::<Location>(&text).unwrap(), secret);
    }
}
