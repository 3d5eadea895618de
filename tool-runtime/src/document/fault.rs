use std::fmt;

use crate::schema::json::SyntaxError;

/// A place in the text of a file, in bytes. What is made in code has none.
pub(crate) type At = Option<usize>;

/// Something that stands at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sited<T> {
    pub(crate) value: T,
    pub(crate) at: At,
}

impl<T> Sited<T> {
    pub(crate) fn nowhere(value: T) -> Self {
        Sited { value, at: None }
    }
}

/// What is wrong, before it is known in which line.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The entry's position, from 0.
    pub(crate) entry: Option<usize>,
    pub(crate) at: At,
    pub(crate) what: String,
}

/// All that is wrong with a file, or with what was made in its place in code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Faults(Vec<FileFault>);

impl Faults {
    /// `noun` is what an entry is called.
    pub(crate) fn new(mut faults: Vec<Fault>, file: Option<&str>, noun: &'static str) -> Self {
        if file.is_some() {
            faults.sort_by_key(|fault| fault.at);
        }
        let place = |at: usize| Some(SyntaxError { what: "", offset: at }.line_column(file?));
        let faults = faults.into_iter().map(|Fault { entry, at, what }| FileFault {
            entry: entry.map(|entry| entry + 1),
            noun,
            place: at.and_then(place),
            what,
        });
        Faults(faults.collect())
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, FileFault> {
        self.0.iter()
    }
}

impl fmt::Display for Faults {
    /// A line each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            write!(f, "{}{fault}", if index > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

/// One thing that is wrong with a file of rules or of a checklist, or with what was made in its place in code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFault {
    entry: Option<usize>,
    noun: &'static str,
    place: Option<(usize, usize)>,
    what: String,
}

impl FileFault {
    /// Which rule or line of the list it is about, from 1. `None` if it is about none of them.
    pub fn entry(&self) -> Option<usize> {
        self.entry
    }

    /// In which line of the file it is, from 1. `None` for what is made in code.
    pub fn line(&self) -> Option<usize> {
        self.place.map(|(line, _)| line)
    }

    /// At which character of the line it is, from 1.
    pub fn column(&self) -> Option<usize> {
        self.place.map(|(_, column)| column)
    }

    /// What is wrong there.
    pub fn what(&self) -> &str {
        &self.what
    }
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.place {
            write!(f, "line {line}, column {column}: ")?;
        }
        if let Some(entry) = self.entry {
            write!(f, "{} {entry}: ", self.noun)?;
        }
        f.write_str(&self.what)
    }
}
