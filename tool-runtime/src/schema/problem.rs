use std::fmt;

use super::json::JsonPath;

/// How many problems of one value are listed; further ones are only counted.
pub(crate) const MAX_PROBLEMS: usize = 16;

/// One thing that is wrong with a value, in the words of its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    path: JsonPath,
    what: What,
    /// Where the place stands in the schema: sorts problems in declared order.
    pub(super) order: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// The text is no JSON.
    Syntax { message: String },
    /// A value that the schema refuses.
    Unexpected { expected: String, got: String, suggestion: Option<String>, hint: Option<&'static str> },
    /// A required member that isn't there.
    Missing { expected: String },
    /// A member that the schema doesn't have.
    Unknown { suggestion: Option<String>, known: String },
    /// A member that is there twice.
    Twice { also: Option<String> },
}

impl What {
    pub(crate) fn unexpected(expected: impl Into<String>, got: impl Into<String>) -> Self {
        What::Unexpected { expected: expected.into(), got: got.into(), suggestion: None, hint: None }
    }
}

impl Problem {
    pub(crate) fn new(path: JsonPath, what: What) -> Self {
        Problem { path, what, order: Vec::new() }
    }

    pub(crate) fn unexpected(path: JsonPath, expected: impl Into<String>, got: impl Into<String>) -> Self {
        Self::new(path, What::unexpected(expected, got))
    }

    pub(crate) fn what(&self) -> &What {
        &self.what
    }

    /// Where it is; the root for the value as a whole.
    pub fn path(&self) -> &JsonPath {
        &self.path
    }

    /// What the schema asks for at this place. `None` where it asks for nothing.
    pub fn expected(&self) -> Option<&str> {
        match &self.what {
            What::Unexpected { expected, .. } | What::Missing { expected } => Some(expected),
            _ => None,
        }
    }

    /// What came: its JSON type, and the value itself if that is short and no secret.
    pub fn got(&self) -> Option<&str> {
        match &self.what {
            What::Unexpected { got, .. } => Some(got),
            _ => None,
        }
    }

    /// What was probably meant: a member's name, or one of the words of a closed set.
    pub fn suggestion(&self) -> Option<&str> {
        match &self.what {
            What::Unexpected { suggestion, .. } | What::Unknown { suggestion, .. } => suggestion.as_deref(),
            _ => None,
        }
    }

    /// The same about a tool's output, where there is nobody to correct it, without its path.
    pub(crate) fn for_output(&self) -> String {
        match &self.what {
            What::Syntax { message } => message.clone(),
            What::Unexpected { expected, got, .. } => format!("expected {expected}, got {got}"),
            What::Missing { expected } => format!("expected {expected}, got nothing"),
            What::Unknown { .. } => "a member that its schema doesn't have".to_owned(),
            What::Twice { .. } => "a member that is there twice".to_owned(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.segments().is_empty() {
            f.write_str("`")?;
            self.path.fmt(f)?;
            f.write_str("`: ")?;
        }
        let mut say = |parts: &[&str]| parts.iter().try_for_each(|part| f.write_str(part));
        match &self.what {
            What::Syntax { message } => say(&[message]),
            What::Unexpected { expected, got, suggestion, hint } => {
                say(&["expected ", expected, ", got ", got])?;
                if let Some(suggestion) = suggestion {
                    say(&["; did you mean ", suggestion, "?"])?;
                }
                hint.map_or(Ok(()), |hint| say(&["; ", hint]))
            }
            What::Missing { expected } => say(&["missing, expected ", expected]),
            What::Unknown { suggestion: Some(name), .. } => say(&["unknown name; did you mean `", name, "`?"]),
            What::Unknown { suggestion: None, known } if known.is_empty() => say(&["unknown name; none is taken here"]),
            What::Unknown { suggestion: None, known } => say(&["unknown name; known: ", known]),
            What::Twice { also: None } => say(&["given twice"]),
            What::Twice { also: Some(other) } => say(&["given twice, also as `", other, "`"]),
        }
    }
}

/// The problems of one value: the first few in declared order, and how many there were.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    listed: Vec<Problem>,
    total: usize,
}

impl Problems {
    pub(crate) fn add(&mut self, problem: impl FnOnce() -> Problem) {
        self.total += 1;
        if self.listed.len() < MAX_PROBLEMS {
            self.listed.push(problem());
        }
    }

    pub(crate) fn one(problem: Problem) -> Self {
        Problems { listed: vec![problem], total: 1 }
    }

    pub(super) fn truncate(&mut self, listed: usize, total: usize) {
        self.listed.truncate(listed);
        self.total = total;
    }

    pub(super) fn sort(&mut self) {
        self.listed.sort_by(|a, b| a.order.cmp(&b.order));
    }

    /// The problems that are listed, in the order that the schema declares their places.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.listed.iter()
    }

    /// How many there were, listed or not.
    pub fn total(&self) -> usize {
        self.total
    }

    pub(super) fn listed(&self) -> usize {
        self.listed.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }
}

impl<'a> IntoIterator for &'a Problems {
    type Item = &'a Problem;
    type IntoIter = std::slice::Iter<'a, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
