use std::fmt;

use super::{Reported, Word};
use crate::schema::JsonPath;

/// The identifier that a provider gave a call. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(Word);

impl CallId {
    /// The identifier as the provider wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: AsRef<str>> From<T> for CallId {
    fn from(id: T) -> Self {
        CallId(id.as_ref().into())
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::schema::text::shown(&self.0, 128))
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl serde::Serialize for CallId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// What a model wants done: a tool's name and raw arguments. Data, on which nothing has been
/// decided; whoever made it up may have written anything at all.
#[derive(Clone, PartialEq, Eq)]
pub struct ToolCall {
    pub(crate) id: CallId,
    pub(crate) name: Word,
    pub(crate) arguments: RawArguments,
    pub(crate) no_result: Vec<JsonPath>,
    pub(crate) truncated: bool,
    pub(crate) reported: Reported,
}

impl ToolCall {
    /// A proposal as a provider delivered it.
    ///
    /// ```
    /// use tool_runtime::ToolCall;
    ///
    /// let call = ToolCall::new("call_1", "get_weather", r#"{"city":"Paris"}"#);
    /// assert_eq!(call.name(), "get_weather");
    /// ```
    pub fn new(id: impl Into<CallId>, name: impl AsRef<str>, arguments: impl Into<RawArguments>) -> Self {
        ToolCall { arguments: arguments.into(), ..ToolCall::of_parts(id.into(), name.as_ref().into()) }
    }

    /// A call of which only this is left.
    pub(crate) fn of_parts(id: CallId, name: Word) -> Self {
        ToolCall {
            id,
            name,
            arguments: RawArguments::absent(),
            no_result: Vec::new(),
            truncated: false,
            reported: Reported::default(),
        }
    }

    /// Adds the paths for which the model reports that it found no value. A required argument at
    /// such a path is a question to answer, not an error.
    #[must_use]
    pub fn with_no_result(mut self, paths: impl IntoIterator<Item = JsonPath>) -> Self {
        self.no_result.extend(paths);
        self
    }

    /// Says that the provider stopped the model before the end of its turn, so that the arguments
    /// may be cut off. If they can't be read, the model is told so.
    #[must_use]
    pub fn truncated(mut self) -> Self {
        self.truncated = true;
        self
    }

    /// The provider stopped the model before the end of its turn, and this call may be cut off.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Adds where the model says that it found what it wrote.
    #[must_use]
    pub fn with_reported(mut self, reported: Reported) -> Self {
        self.reported = reported;
        self
    }

    /// Where something may be absent although it is required: the model has said that it found none, or has pointed at
    /// it instead of writing it.
    pub(crate) fn open(&self) -> Vec<JsonPath> {
        let reported = self.reported.pairs().iter().filter(|(slot, _)| slot.starts_with('/'));
        let reported = reported.filter_map(|(slot, _)| JsonPath::from_pointer(slot));
        self.no_result.iter().cloned().chain(reported).collect()
    }

    /// Where the model says that it found what it wrote; nothing unless it was asked to say so, see
    /// [`Sources`](crate::wire::export::Sources).
    pub fn reported(&self) -> &Reported {
        &self.reported
    }

    /// The provider's identifier of this call.
    pub fn id(&self) -> &CallId {
        &self.id
    }

    /// The name that the model wrote.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments as the model wrote them.
    pub fn arguments(&self) -> &RawArguments {
        &self.arguments
    }
}

impl fmt::Debug for ToolCall {
    /// Without the arguments: which of them are secret is not known before they are accepted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall").field("id", &self.id).field("name", &self.name).finish_non_exhaustive()
    }
}

/// Arguments as a model wrote them: usually JSON text, possibly anything.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct RawArguments(Raw);

#[derive(Clone, PartialEq, Eq, Default)]
enum Raw {
    #[default]
    Absent,
    Text(String),
    /// Bytes that aren't UTF-8.
    Bytes(Vec<u8>),
}

impl RawArguments {
    /// The provider sent none.
    pub fn absent() -> Self {
        RawArguments(Raw::Absent)
    }

    /// Bytes as they came. They need not be UTF-8; then the call is refused like any other that
    /// can't be read.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        RawArguments(match String::from_utf8(bytes.into()) {
            Ok(text) => Raw::Text(text),
            Err(error) => Raw::Bytes(error.into_bytes()),
        })
    }

    /// The text; empty if there is none. `Err` holds the offset of the first byte that isn't UTF-8.
    pub(crate) fn text(&self) -> Result<&str, usize> {
        match &self.0 {
            Raw::Absent => Ok(""),
            Raw::Text(text) => Ok(text),
            Raw::Bytes(bytes) => Err(std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len)),
        }
    }

    /// Moves the text out.
    pub(crate) fn take_text(&mut self) -> String {
        match std::mem::take(&mut self.0) {
            Raw::Text(text) => text,
            Raw::Absent | Raw::Bytes(_) => String::new(),
        }
    }

    /// The arguments as text; what isn't UTF-8 is shown as U+FFFD.
    pub fn to_string_lossy(&self) -> std::borrow::Cow<'_, str> {
        match &self.0 {
            Raw::Absent => "".into(),
            Raw::Text(text) => text.into(),
            Raw::Bytes(bytes) => String::from_utf8_lossy(bytes),
        }
    }
}

impl From<String> for RawArguments {
    fn from(text: String) -> Self {
        RawArguments(Raw::Text(text))
    }
}

impl From<&str> for RawArguments {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Vec<u8>> for RawArguments {
    fn from(bytes: Vec<u8>) -> Self {
        RawArguments::from_bytes(bytes)
    }
}

impl From<&serde_json::Value> for RawArguments {
    /// For providers whose client has parsed the arguments already.
    fn from(value: &serde_json::Value) -> Self {
        value.to_string().into()
    }
}

impl From<serde_json::Value> for RawArguments {
    fn from(value: serde_json::Value) -> Self {
        (&value).into()
    }
}

impl fmt::Debug for RawArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawArguments({} bytes)", self.to_string_lossy().len())
    }
}
