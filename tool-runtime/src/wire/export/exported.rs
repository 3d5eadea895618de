//! One tool in a provider's form.

use super::inverse::Inverse;
use super::{Fit, Loss, Refusal};

/// A tool in a provider's form.
#[derive(Debug, Clone)]
pub struct ExportedTool {
    pub(super) name: String,
    pub(super) wire_name: String,
    /// Which of the options' namespaces it is in.
    pub(super) namespace: Option<usize>,
    pub(super) made: Result<Made, Refusal>,
    pub(super) fell_back: Option<Refusal>,
}

#[derive(Debug, Clone)]
pub(super) struct Made {
    pub(super) fragment: String,
    pub(super) parameters: String,
    pub(super) losses: Vec<Loss>,
    pub(super) closed: Vec<String>,
    pub(super) strict: bool,
    pub(super) deferred: bool,
    pub(super) inverse: Inverse,
}

impl ExportedTool {
    /// The name by which the host knows the tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name by which the provider's model calls it; of a tool in a [namespace](super::Namespace), behind its name
    /// and a dot.
    pub fn wire_name(&self) -> &str {
        &self.wire_name
    }

    /// How it fits.
    pub fn fit(&self) -> Fit<'_> {
        match &self.made {
            Ok(made) if made.losses.is_empty() => Fit::Exact,
            Ok(made) => Fit::Widened(&made.losses),
            Err(refusal) => Fit::Refused(refusal),
        }
    }

    /// It is declared in the strict form.
    pub fn strict(&self) -> bool {
        self.made.as_ref().is_ok_and(|made| made.strict)
    }

    /// Why it isn't declared in the strict form, though that was [preferred](super::Strict::Prefer).
    pub fn fell_back(&self) -> Option<&Refusal> {
        self.fell_back.as_ref()
    }

    /// JSON Pointers of objects that the strict form closed, though nothing said that they are: a model
    /// can't write further members there.
    pub fn closed(&self) -> &[String] {
        self.made.as_ref().map_or(&[], |made| &made.closed)
    }

    /// Its declaration as compact JSON; `None` if it was refused.
    pub fn as_json(&self) -> Option<&str> {
        self.made.as_ref().ok().map(|made| made.fragment.as_str())
    }

    /// The properties that have other names.
    pub(super) fn renamed(&self) -> Vec<(String, String)> {
        self.made.as_ref().map_or_else(|_| Vec::new(), |made| made.inverse.renamed())
    }

    /// The schema of its arguments in the provider's form, as compact JSON.
    pub fn parameters(&self) -> Option<&str> {
        self.made.as_ref().ok().map(|made| made.parameters.as_str())
    }
}
