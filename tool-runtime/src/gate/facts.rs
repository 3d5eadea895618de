use std::fmt;

use serde::de::DeserializeOwned;

use crate::call::CallId;
use crate::schema::json::de;
use crate::schema::{Digest, JsonPath};
use crate::tool::{Hints, HostTool};

/// All that a policy judges by: the tool, what its author says of it, and the accepted arguments.
#[derive(Clone, Copy)]
pub struct CallFacts<'a> {
    tool: &'a HostTool,
    call_id: &'a CallId,
    arguments: Arguments<'a>,
}

impl<'a> CallFacts<'a> {
    pub(crate) fn new(tool: &'a HostTool, call_id: &'a CallId, arguments: &'a str) -> Self {
        CallFacts { tool, call_id, arguments: Arguments(arguments) }
    }

    /// The name of the tool.
    pub fn tool(&self) -> &'a str {
        self.tool.name()
    }

    /// What its author says of its effects.
    pub fn hints(&self) -> Hints {
        self.tool.hints()
    }

    /// Which definition of the tool it is.
    pub(super) fn digest(&self) -> &'a Digest {
        self.tool.digest()
    }

    /// The state changes that it can make.
    pub fn changes(&self) -> impl Iterator<Item = &'a str> {
        self.tool.changes()
    }

    /// The provider's identifier of the call.
    pub fn call_id(&self) -> &'a CallId {
        self.call_id
    }

    /// Takes the secrets among the arguments out of a text.
    pub(super) fn without_secrets(&self, text: &mut String) {
        self.tool.built().without_secrets(self.arguments.0, &[], [text]);
    }

    /// The accepted arguments: the very text that the handler's values are read from.
    pub fn arguments(&self) -> Arguments<'a> {
        self.arguments
    }
}

impl fmt::Debug for CallFacts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallFacts").field("tool", &self.tool()).field("call_id", &self.call_id).finish_non_exhaustive()
    }
}

/// The canonical text of accepted arguments: names resolved, defaults filled in, numbers in one
/// spelling.
///
/// May hold secrets: what is stored or shown is the redacted text of the record.
#[derive(Clone, Copy)]
pub struct Arguments<'a>(&'a str);

impl<'a> Arguments<'a> {
    pub(crate) fn of(canonical: &'a str) -> Self {
        Arguments(canonical)
    }

    /// The whole text.
    pub fn as_str(&self) -> &'a str {
        self.0
    }

    /// The text of the value at a JSON Pointer (RFC 6901), such as `/filter/limit`. `None` where
    /// there is none.
    ///
    /// A number is its canonical digits, exactly; a string stands in its quotes.
    pub fn get(&self, pointer: &str) -> Option<&'a str> {
        JsonPath::from_pointer(pointer)?.find(self.0)
    }

    /// The value at a JSON Pointer, read as a `T`. `None` where there is none, or no `T`.
    pub fn read<T: DeserializeOwned>(&self, pointer: &str) -> Option<T> {
        de::read(self.get(pointer)?, 0).ok()
    }
}

impl fmt::Debug for Arguments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arguments({} bytes)", self.0.len())
    }
}
