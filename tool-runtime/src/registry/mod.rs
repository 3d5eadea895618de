//! Which tools there are.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::schema::text;
use crate::schema::{Issue, ToolSchema};
use crate::tool::{HostState, HostTool};

/// The tools of a host, by name, with the state that they ask for.
///
/// Built once; cheap to clone.
#[derive(Clone)]
pub struct Registry(Arc<Inner>);

struct Inner {
    /// In the order of their names, which is the order in which they are declared.
    tools: Vec<HostTool>,
    by_name: HashMap<Box<str>, usize>,
    state: HostState,
}

impl Registry {
    /// Begins an empty registry.
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder { tools: Vec::new(), state: HostState::default() }
    }

    /// What a model sees of the tools, ordered by name. Tools whose loading is deferred are left out.
    pub fn schemas(&self) -> impl Iterator<Item = &ToolSchema> {
        self.0.tools.iter().map(HostTool::schema).filter(|schema| !schema.defer())
    }

    /// The tool of this name, which is compared byte for byte.
    pub fn get(&self, name: &str) -> Option<&HostTool> {
        self.0.by_name.get(name).map(|&position| &self.0.tools[position])
    }

    /// All tools, ordered by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &HostTool> {
        self.0.tools.iter()
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.0.tools.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.0.tools.is_empty()
    }

    pub(crate) fn state(&self) -> &HostState {
        &self.0.state
    }

    /// Which tool was meant by a name that nobody has?
    pub(crate) fn nearest(&self, name: &str) -> Option<&str> {
        text::nearest(name, self.schemas().map(ToolSchema::name))
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(HostTool::name)).finish()
    }
}

/// Gathers tools and state, and checks them together.
#[derive(Debug)]
pub struct RegistryBuilder {
    tools: Vec<HostTool>,
    state: HostState,
}

impl RegistryBuilder {
    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: HostTool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds several tools.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = HostTool>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Adds a value for the `#[host]` parameters of its type.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.state.insert(value);
        self
    }

    /// # Errors
    /// With everything that is wrong, of all tools at once: a name that two of them have, state
    /// that nobody gave, a schema that can't be enforced in this build, a name that isn't legal.
    pub fn build(self) -> Result<Registry, RegistryError> {
        let mut faults = Vec::new();
        let mut by_name: BTreeMap<String, HostTool> = BTreeMap::new();
        for tool in self.tools {
            let name = tool.name().to_owned();
            if !crate::tool::is_legal_name(&name) {
                faults.push(Fault { tool: name.clone(), kind: FaultKind::Name });
            }
            for (index, need) in tool.host_needs().iter().enumerate() {
                let again = tool.host_needs()[..index].iter().any(|earlier| earlier.id() == need.id());
                if !again && !self.state.has(need.id()) {
                    faults.push(Fault { tool: name.clone(), kind: FaultKind::MissingState(need.type_name()) });
                }
            }
            for issue in tool.built().issues() {
                faults.push(Fault { tool: name.clone(), kind: FaultKind::Schema(issue.clone()) });
            }
            match by_name.entry(name.clone()) {
                std::collections::btree_map::Entry::Occupied(first) => {
                    let modules = [first.get().module(), tool.module()];
                    faults.push(Fault { tool: name, kind: FaultKind::Duplicate(modules) });
                }
                std::collections::btree_map::Entry::Vacant(entry) => {
                    entry.insert(tool);
                }
            }
        }
        if !faults.is_empty() {
            return Err(RegistryError { faults });
        }
        let tools: Vec<HostTool> = by_name.into_values().collect();
        let by_name = tools.iter().enumerate().map(|(position, tool)| (tool.name().into(), position)).collect();
        Ok(Registry(Arc::new(Inner { tools, by_name, state: self.state })))
    }
}

/// What keeps a registry from being built: all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryError {
    faults: Vec<Fault>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    tool: String,
    kind: FaultKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum FaultKind {
    Name,
    Duplicate([&'static str; 2]),
    MissingState(&'static str),
    Schema(Issue),
}

impl RegistryError {
    /// The tools that something is wrong with, each once.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<&str> = self.faults.iter().map(|fault| fault.tool.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter()
    }
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "tool `{}`: ", text::shown(&fault.tool, 80))?;
            match &fault.kind {
                FaultKind::Name => f.write_str("a name has to begin with a letter or `_`, go on with letters, digits, `_` or `-` (ASCII), and have at most 64 of them")?,
                FaultKind::Duplicate([first, second]) => {
                    f.write_str("two tools have this name")?;
                    match (first.is_empty(), second.is_empty()) {
                        (false, false) => write!(f, ", one in `{first}` and one in `{second}`")?,
                        (false, true) | (true, false) => write!(f, ", one of them in `{first}{second}`")?,
                        (true, true) => {}
                    }
                }
                FaultKind::MissingState(type_name) => {
                    write!(f, "a `#[host]` parameter asks for a `{type_name}`, which nobody gave; add `.state(…)` with one")?;
                }
                FaultKind::Schema(issue) => write!(f, "{issue}")?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for RegistryError {}
