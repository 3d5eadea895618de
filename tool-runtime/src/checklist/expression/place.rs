//! Places that an expression reads, and the names that there are.

use std::collections::BTreeMap;

use super::error::ScopeError;
use crate::gate::written_argument as written;
use crate::schema::json::Json;
use crate::schema::{Graph, Origin, Purpose, Reached, Step, Unreached, compile, text};
use crate::tool::HostTool;

/// Where reading begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Root {
    Arguments,
    State(Box<str>),
}

/// A place in the arguments or in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) root: Root,
    pub(super) steps: Vec<Step>,
}

impl Place {
    pub(super) fn to(&self, step: Step) -> Place {
        let mut steps = self.steps.clone();
        steps.push(step);
        Place { root: self.root.clone(), steps }
    }

    /// Is it this place, or one on the way to it?
    pub(super) fn holds(&self, other: &Place) -> bool {
        self.root == other.root && other.steps.starts_with(&self.steps)
    }

    /// As an author writes it: `args.filter.tags[2]`.
    pub(super) fn written(&self) -> String {
        let mut steps = vec![Step::Member(match &self.root {
            Root::Arguments => "args".to_owned(),
            Root::State(_) => "state".to_owned(),
        })];
        if let Root::State(name) = &self.root {
            steps.push(Step::Member(name.to_string()));
        }
        steps.extend(self.steps.iter().cloned());
        written(&steps)
    }
}

/// What an [`Expression`](super::Expression) may name.
///
/// | name | is |
/// |---|---|
/// | `args` | the accepted arguments of one tool, checked against its schema |
/// | `state` | observed state, by the names that are declared here |
/// | `now` | the host's time, a `timestamp` |
/// | `caller` | what the host says of the caller: strings, by the names that are declared here |
#[derive(Debug, Clone, Default)]
pub struct Scope<'a> {
    tool: Option<&'a HostTool>,
    states: BTreeMap<Box<str>, Option<Graph>>,
    caller: Vec<Box<str>>,
}

impl<'a> Scope<'a> {
    /// Nothing but `now`.
    pub fn new() -> Self {
        Scope::default()
    }

    /// `args` are the arguments of this tool.
    #[must_use]
    pub fn tool(mut self, tool: &'a HostTool) -> Self {
        self.tool = Some(tool);
        self
    }

    /// There is an observed state of this name, of which nothing else is known: what isn't in it is found out when
    /// it is read.
    #[must_use]
    pub fn state(mut self, name: impl Into<String>) -> Self {
        self.states.insert(name.into().into(), None);
        self
    }

    /// There is an observed state of this name, and it is as this JSON Schema says: paths into it are checked as
    /// those of arguments are. What is observed isn't.
    ///
    /// # Errors
    /// If the schema isn't one that this build can follow.
    pub fn state_of(mut self, name: impl Into<String>, schema: &str) -> Result<Self, ScopeError> {
        let name = name.into();
        let read = Json::parse(schema).map_err(|wrong| ScopeError::new(&name, &wrong.to_string()))?;
        let compiled = compile(&read, Origin::Written, Purpose::Output { sort_sets: false });
        if let Some(issue) = compiled.issues.first() {
            return Err(ScopeError::new(&name, &issue.to_string()));
        }
        self.states.insert(name.into(), Some(compiled.graph));
        Ok(self)
    }

    /// The host says this of callers, such as `role`.
    #[must_use]
    pub fn caller(mut self, name: impl Into<String>) -> Self {
        self.caller.push(name.into().into());
        self
    }

    pub(super) fn has_arguments(&self) -> bool {
        self.tool.is_some()
    }

    pub(super) fn states(&self) -> impl Iterator<Item = &str> {
        self.states.keys().map(|name| &**name)
    }

    pub(super) fn callers(&self) -> impl Iterator<Item = &str> {
        self.caller.iter().map(|name| &**name)
    }

    /// What stands at a place, if all up to its last step is there. `None` where nothing is known.
    pub(super) fn reach(&self, place: &Place) -> Option<Result<Reached, Unreached>> {
        let there = place.steps.len().saturating_sub(1);
        match &place.root {
            Root::Arguments => self.tool.map(|tool| tool.built().reach_from(&place.steps, there)),
            Root::State(name) => {
                let graph = self.states.get(name)?.as_ref()?;
                Some(graph.reach_from(&place.steps, there))
            }
        }
    }

    /// Which of the names that lead somewhere was meant by one that doesn't?
    pub(super) fn nearest_root(&self, wrong: &str) -> Option<String> {
        let inside = |root: Root, steps: Vec<Step>| Place { root, steps }.written();
        if self.has_arguments() {
            let at = Place { root: Root::Arguments, steps: vec![Step::Member(wrong.to_owned())] };
            if let Some(Ok(_)) = self.reach(&at) {
                return Some(at.written());
            }
        }
        if self.states.contains_key(wrong) {
            return Some(inside(Root::State(wrong.into()), Vec::new()));
        }
        if self.callers().any(|name| name == wrong) {
            return Some(format!("caller.{wrong}"));
        }
        let roots = [
            ("args", self.has_arguments()),
            ("state", !self.states.is_empty()),
            ("caller", !self.caller.is_empty()),
            ("now", true),
        ];
        let known = roots.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name);
        text::nearest(wrong, known).map(str::to_owned)
    }
}
