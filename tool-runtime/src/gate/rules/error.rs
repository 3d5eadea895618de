use std::fmt;

use crate::schema::json::SyntaxError;

/// A place in the text of a rules file, in bytes. Rules that are made in code have none.
pub(super) type At = Option<usize>;

/// Something that stands at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sited<T> {
    pub(super) value: T,
    pub(super) at: At,
}

impl<T> Sited<T> {
    pub(super) fn nowhere(value: T) -> Self {
        Sited { value, at: None }
    }
}

/// What is wrong, before it is known in which line.
#[derive(Debug)]
pub(super) struct Fault {
    /// The rule's position, from 0.
    pub(super) rule: Option<usize>,
    pub(super) at: At,
    pub(super) what: String,
}

/// What keeps [`Rules`](super::Rules) from being built: all of it, in the order of the rules.
///
/// Shows a line for each fault; see [`RulesBuilder::build`](super::RulesBuilder::build).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulesError {
    faults: Vec<RuleFault>,
}

impl RulesError {
    pub(super) fn new(mut faults: Vec<Fault>, file: Option<&str>) -> Self {
        if file.is_some() {
            faults.sort_by_key(|fault| fault.at);
        }
        let place = |at: usize| Some(SyntaxError { what: "", offset: at }.line_column(file?));
        let faults = faults
            .into_iter()
            .map(|Fault { rule, at, what }| RuleFault {
                rule: rule.map(|rule| rule + 1),
                place: at.and_then(place),
                what,
            })
            .collect();
        RulesError { faults }
    }

    /// What is wrong, one by one. There is at least one.
    pub fn faults(&self) -> impl ExactSizeIterator<Item = &RuleFault> {
        self.faults.iter()
    }
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            write!(f, "{}{fault}", if index > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for RulesError {}

/// One thing that is wrong with a set of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFault {
    rule: Option<usize>,
    place: Option<(usize, usize)>,
    what: String,
}

impl RuleFault {
    /// Which rule it is about, from 1. `None` if it is about none of them.
    pub fn rule(&self) -> Option<usize> {
        self.rule
    }

    /// In which line of the file it is, from 1. `None` for rules that are made in code.
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

impl fmt::Display for RuleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.place {
            write!(f, "line {line}, column {column}: ")?;
        }
        if let Some(rule) = self.rule {
            write!(f, "rule {rule}: ")?;
        }
        f.write_str(&self.what)
    }
}
