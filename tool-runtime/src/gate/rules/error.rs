use std::fmt;

use crate::document::{Fault, Faults, FileFault};

/// What keeps [`Rules`](super::Rules) from being built: all of it, in the order of the rules.
///
/// Shows a line for each fault; see [`RulesBuilder::build`](super::RulesBuilder::build).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulesError(Faults);

impl RulesError {
    pub(super) fn new(faults: Vec<Fault>, file: Option<&str>) -> Self {
        RulesError(Faults::new(faults, file, "rule"))
    }

    /// What is wrong, one by one. There is at least one.
    pub fn faults(&self) -> impl ExactSizeIterator<Item = &FileFault> {
        self.0.iter()
    }
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for RulesError {}
