use std::fmt;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeStruct, Serializer};

/// Which of the lists a line stands on. All are handled alike; who can answer for a line differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ListKind {
    /// Attached to every call: which tool, when, and what the user calls it.
    Fixed,
    /// What the provider of a tool asks for, and what companies, policy bodies and regulators add.
    Provider,
    /// What this user asks for: limits, confirmations, preferences.
    User,
    /// What the host's own organisation asks for.
    Internal,
}

impl ListKind {
    pub(crate) const ALL: [(&'static str, ListKind); 4] = [
        ("fixed", ListKind::Fixed),
        ("provider", ListKind::Provider),
        ("user", ListKind::User),
        ("internal", ListKind::Internal),
    ];

    /// The stable word, such as `provider`.
    pub fn as_str(self) -> &'static str {
        match self {
            ListKind::Fixed => "fixed",
            ListKind::Provider => "provider",
            ListKind::User => "user",
            ListKind::Internal => "internal",
        }
    }
}

/// Who asked for a line: which list it stands on, and who put it there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    list: ListKind,
    by: Arc<str>,
}

impl Origin {
    pub(crate) fn new(list: ListKind, by: impl Into<Arc<str>>) -> Self {
        Origin { list, by: by.into() }
    }

    /// The list.
    pub fn list(&self) -> ListKind {
        self.list
    }

    /// Who put it there, in the words of the list: `schema`, `description`, `treasury policy 4.2`.
    pub fn by(&self) -> &str {
        &self.by
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.list.as_str(), self.by)
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Origin", 2)?;
        fields.serialize_field("list", self.list.as_str())?;
        fields.serialize_field("by", &*self.by)?;
        fields.end()
    }
}
