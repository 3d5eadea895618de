//! Tools that stand together under a name, where a provider has such.

use super::names::Rule;

/// Tools that a model is shown together: see [`ExportOptions::namespace`](super::ExportOptions::namespace).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    name: String,
    description: String,
    tools: Vec<String>,
}

impl Namespace {
    /// Without tools yet. The description is what the model reads as long as none of them is loaded.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Namespace { name: name.into(), description: description.into(), tools: Vec::new() }
    }

    /// The tools in it, by the host's names. Names of tools that aren't exported mean nothing.
    #[must_use]
    pub fn tools<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.tools.extend(names.into_iter().map(Into::into));
        self
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn description(&self) -> &str {
        &self.description
    }

    pub(super) fn add(&mut self, other: Namespace) {
        self.tools.extend(other.tools);
    }

    /// What a tool is called in it and with it, if it is in it. Where both would be one name, the tool stands beside
    /// it: this is how OpenAI writes the call of a tool that is in none.
    pub(super) fn names(&self, tool: &str, rule: Rule) -> Option<(String, String)> {
        if !self.tools.iter().any(|known| known == tool) {
            return None;
        }
        let namespace = rule.spell(&self.name);
        let own = tool.strip_prefix(&*self.name).and_then(|rest| rest.strip_prefix('.')).filter(|own| !own.is_empty());
        let own = rule.spell(own.unwrap_or(tool)).into_owned();
        (own != namespace).then(|| {
            let whole = format!("{namespace}.{own}");
            (own, whole)
        })
    }
}
