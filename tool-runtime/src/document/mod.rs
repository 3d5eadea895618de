//! Files that people write: TOML and JSON read into one tree, with a place for everything in it.

mod fault;
mod json;
mod reader;
#[cfg(feature = "rules")]
mod toml;

pub use fault::FileFault;
pub(crate) use fault::{At, Fault, Faults, Sited};
pub(crate) use reader::{Entry, Reader, meant};

/// Something that stands in a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// Where, in bytes from the beginning.
    pub(crate) at: usize,
    pub(crate) value: Value,
}

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(not(feature = "rules"), expect(dead_code, reason = "JSON has neither dates nor other radices"))]
pub(crate) enum Value {
    Text(String),
    /// As it is written.
    Number(String),
    /// An integer that JSON has no spelling for.
    Radix(String, u32),
    Boolean(bool),
    Date,
    Null,
    List(Vec<Node>),
    Table(Table),
}

/// Members in the order of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Table(pub(crate) Vec<(Sited<String>, Node)>);

impl Value {
    /// What it is, in words.
    pub(crate) fn a(&self) -> &'static str {
        match self {
            Value::Text(_) => "text",
            Value::Number(number) if number.contains(['.', 'e', 'E', 'n']) => "a number",
            Value::Number(_) | Value::Radix(..) => "an integer",
            Value::Boolean(_) => "a boolean",
            Value::Date => "a date",
            Value::Null => "null",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    #[cfg(feature = "rules")]
    Toml,
    Json,
}

/// The table that a file holds.
///
/// # Errors
/// With everything that keeps it from being read.
pub(crate) fn parse(text: &str, syntax: Syntax) -> Result<Table, Vec<Fault>> {
    match syntax {
        #[cfg(feature = "rules")]
        Syntax::Toml => toml::parse(text),
        Syntax::Json => json::parse(text),
    }
}
