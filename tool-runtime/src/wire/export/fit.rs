//! How a tool fits into a provider's form, and why it doesn't.

use std::fmt;

use crate::schema::text;

/// How a tool fits into a provider's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fit<'a> {
    /// Declared, and nothing is lost.
    Exact,
    /// Declared, and this is said in words alone.
    Widened(&'a [Loss]),
    /// Not declared.
    Refused(&'a Refusal),
}

/// Something that a schema asks for and that a provider's form can't say.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Loss {
    /// JSON Pointer of the keyword in the tool's schema. Of what was merged, the place it was merged into.
    pub pointer: String,
    /// The keyword.
    pub keyword: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.pointer)
    }
}

/// Why a tool can't be declared, and where that stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Refusal {
    /// JSON Pointer into the tool's schema.
    pub pointer: String,
    /// What is wrong there.
    pub reason: Reason,
}

/// Why a tool can't be declared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// Arguments are an object, and these can't be one.
    NotAnObject,
    /// An object with members of any name.
    OpenObject,
    /// Any JSON.
    FreeForm,
    /// It holds itself.
    Recursive,
    /// More than the provider takes.
    TooLarge {
        /// Of what.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// More than the provider takes of all strict tools together.
    RequestFull {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        limit: usize,
    },
    /// Another tool has its wire name.
    NameTaken {
        /// The other one.
        by: String,
    },
    /// Another property has the wire name of this one.
    KeyTaken {
        /// The property.
        key: String,
    },
    /// The provider has no strict form.
    NoStrictForm,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at `{}`: ", if self.pointer.is_empty() { "/" } else { &self.pointer })?;
        match &self.reason {
            Reason::NotAnObject => f.write_str("arguments have to be an object"),
            Reason::OpenObject => f.write_str("an object with members of any name has no strict form"),
            Reason::FreeForm => f.write_str("a value of any form has no strict form"),
            Reason::Recursive => f.write_str("a schema that holds itself has no form here"),
            Reason::TooLarge { what, count, limit } => write!(f, "{count} {what}; at most {limit} are taken"),
            Reason::RequestFull { what, limit } => {
                write!(f, "all strict tools together may have at most {limit} {what}")
            }
            Reason::NameTaken { by } => {
                write!(f, "the tool `{}` is declared under the same name", text::shown(by, 128))
            }
            Reason::KeyTaken { key } => {
                write!(f, "another property is declared under the name of `{}`", text::shown(key, 128))
            }
            Reason::NoStrictForm => f.write_str("the provider has no strict form"),
        }
    }
}

impl std::error::Error for Refusal {}
