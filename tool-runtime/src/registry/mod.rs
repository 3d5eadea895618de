//! Which tools there are, which of them are seen, and in which order.

mod builder;
mod drift;
mod error;
mod loaded;
mod order;
#[cfg(feature = "search")]
mod search;
mod view;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

pub use builder::RegistryBuilder;
pub use drift::{Drift, DriftKind};
pub use error::{FilterError, RegistryError};
pub use loaded::Loaded;

use self::order::Order;
use self::view::Shown;
use crate::schema::ToolSchema;
use crate::schema::text;
use crate::tool::{HostState, HostTool};

/// The tools of a host, by name, with the state that they ask for.
///
/// A value that never changes, and is cheap to clone: a [view](Self::only) of it, or a
/// [scope](Self::scope) on top of it, is another one, and whoever has the first sees no difference.
#[derive(Clone)]
pub struct Registry(Arc<View>);

/// Tools, and which of them are visible.
struct View {
    base: Arc<Base>,
    /// `None`: all of them.
    shown: Option<Shown>,
    /// Made by the first search.
    #[cfg(feature = "search")]
    index: std::sync::OnceLock<search::Index>,
}

/// What a registry and all views of it share.
struct Base {
    /// In the order in which they are declared.
    entries: Vec<Entry>,
    by_name: HashMap<Box<str>, usize>,
    /// That of the topmost scope.
    state: HostState,
    order: Option<Arc<Order>>,
}

/// A tool with the state of the scope that it is from.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) tool: HostTool,
    state: HostState,
}

impl Registry {
    /// The name of the built-in search tool, which no other tool can have and no filter can name,
    /// whether it is in use or not. The feature `search` adds it: `RegistryBuilder::search`.
    pub const SEARCH_TOOL: &'static str = crate::schema::SEARCH_TOOL;

    /// Begins an empty registry.
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder::new(None)
    }

    /// Begins a registry on top of this one, say for one conversation: with all tools that are
    /// visible here, and tools of its own, which stand in for those of the same name. `self` stays
    /// as it is, and so do other scopes of it.
    ///
    /// The scope's own tools are there whatever filter was put on `self` before; a filter that is
    /// put on the scope afterwards applies to all that it shows.
    ///
    /// ```
    /// use tool_runtime::{DynamicTool, DynamicToolError, HostTool, Registry};
    ///
    /// fn named(name: &str, description: &str) -> Result<HostTool, DynamicToolError> {
    ///     DynamicTool::builder(name, description).output("true").run(|_, _| async { Ok("1".to_owned()) })
    /// }
    ///
    /// let all = Registry::builder().tool(named("ls", "Everywhere.")?).tool(named("rm", "Everywhere.")?).build()?;
    /// let here = all.without(["rm"])?.scope().tool(named("ls", "Here.")?).tool(named("cd", "Here.")?).build()?;
    ///
    /// let tools: Vec<_> = here.iter().map(|tool| (tool.name(), tool.schema().description())).collect();
    /// assert_eq!(tools, [("cd", "Here."), ("ls", "Here.")]);
    /// assert_eq!(all.get("ls").unwrap().schema().description(), "Everywhere.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scope(&self) -> RegistryBuilder {
        RegistryBuilder::new(Some(self.clone()))
    }

    /// What a model sees of the tools, in the order in which they are declared. Tools whose loading
    /// is deferred are left out; [`declared`](Self::declared) has those that were loaded.
    pub fn schemas(&self) -> impl Iterator<Item = &ToolSchema> {
        self.iter().map(HostTool::schema).filter(|schema| !schema.defer())
    }

    /// What a request should declare now: the tools that aren't deferred, the search tool among
    /// them, and those that the conversation has loaded. All others would be refused.
    ///
    /// ```
    /// use tool_runtime::{DynamicTool, Loaded, Registry, ToolSchema};
    ///
    /// let rare = DynamicTool::builder("rare", "Is hardly ever needed.")
    ///     .output("true")
    ///     .deferred()
    ///     .run(|_, _| async { Ok("1".to_owned()) })?;
    /// let registry = Registry::builder().tool(rare).build()?;
    /// let loaded = Loaded::new();
    /// assert_eq!(registry.declared(&loaded).count(), 0);
    /// loaded.load("rare");
    /// assert_eq!(registry.declared(&loaded).map(ToolSchema::name).collect::<Vec<_>>(), ["rare"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn declared<'a>(&'a self, loaded: &Loaded) -> impl Iterator<Item = &'a ToolSchema> + use<'a> {
        // As it is now: one declaration is of one moment.
        let loaded = loaded.names();
        self.iter().map(HostTool::schema).filter(move |schema| !schema.defer() || loaded.contains(schema.name()))
    }

    /// The tool of this name, which is compared byte for byte.
    pub fn get(&self, name: &str) -> Option<&HostTool> {
        self.entry(name).map(|entry| &entry.tool)
    }

    /// All tools, in the order in which they are declared: by name, unless
    /// [`order`](RegistryBuilder::order) says otherwise.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &HostTool> {
        self.entries().map(|entry| &entry.tool)
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.positions().len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The state of the scope's own tools.
    pub(crate) fn state(&self) -> &HostState {
        &self.0.base.state
    }

    /// What a call of this tool may ask for.
    pub(crate) fn state_of(&self, entry: &Entry, loaded: &Loaded) -> HostState {
        if !entry.tool.sees_host() {
            return HostState::default();
        }
        #[cfg(feature = "search")]
        if entry.tool.name() == Self::SEARCH_TOOL {
            return search::within(self, loaded, entry.state.clone());
        }
        let _ = loaded;
        entry.state.clone()
    }

    pub(crate) fn entry(&self, name: &str) -> Option<&Entry> {
        self.position(name).map(|position| &self.0.base.entries[position])
    }

    /// Which tool was meant by a name that nobody has? One that could be called.
    pub(crate) fn nearest(&self, name: &str, loaded: &Loaded) -> Option<&str> {
        text::nearest(name, self.declared(loaded).map(ToolSchema::name))
    }

    fn of(base: Arc<Base>, shown: Option<Shown>) -> Self {
        Registry(Arc::new(View {
            base,
            shown,
            #[cfg(feature = "search")]
            index: std::sync::OnceLock::new(),
        }))
    }

    /// Where the visible tool of this name stands.
    fn position(&self, name: &str) -> Option<usize> {
        let View { base, shown, .. } = &*self.0;
        let &position = base.by_name.get(name)?;
        shown.as_ref().is_none_or(|shown| shown.is_shown[position]).then_some(position)
    }

    /// Where the visible tools stand, in the order in which they are declared.
    fn positions(&self) -> impl ExactSizeIterator<Item = usize> {
        let View { base, shown, .. } = &*self.0;
        let count = shown.as_ref().map_or(base.entries.len(), |shown| shown.positions.len());
        (0..count).map(move |index| shown.as_ref().map_or(index, |shown| shown.positions[index]))
    }

    fn entries(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.positions().map(|position| &self.0.base.entries[position])
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(HostTool::name)).finish()
    }
}
