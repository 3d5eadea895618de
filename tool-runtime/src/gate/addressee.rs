use std::fmt;
use std::sync::Arc;

use serde::ser::{Serialize, Serializer};

/// Who is asked, or has to agree.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Addressee {
    /// The user, who knows what is wanted: blanks, `[confirm]`, notices.
    User,
    /// Whoever decides what may run: what a policy asks. The user too, unless the host says who that is.
    Approver,
    /// Somebody else, by a name that the host knows: extra approvals.
    Person(Arc<str>),
}

impl Addressee {
    /// Somebody by name.
    pub fn person(name: impl Into<Arc<str>>) -> Self {
        Addressee::Person(name.into())
    }

    /// Reads what it shows as: `user`, `approver`, or `@` and a name.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "user" => Some(Addressee::User),
            "approver" => Some(Addressee::Approver),
            word => {
                let name = word.strip_prefix('@').filter(|name| !name.trim().is_empty())?;
                Some(Addressee::person(name))
            }
        }
    }
}

impl fmt::Display for Addressee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Addressee::User => f.write_str("user"),
            Addressee::Approver => f.write_str("approver"),
            Addressee::Person(name) => write!(f, "@{name}"),
        }
    }
}

impl Serialize for Addressee {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
