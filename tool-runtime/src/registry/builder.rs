use std::any::{TypeId, type_name};
use std::collections::btree_map::{BTreeMap, Entry as Slot};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::error::{Fault, Given, ToolFault};
use super::order::{Order, Place};
use super::{Base, Entry, Registry, RegistryError};
use crate::schema::Step;
use crate::tool::{HostState, HostTool};

/// Gathers tools and state, and checks them together.
#[derive(Debug)]
pub struct RegistryBuilder {
    /// What the new tools are put on top of, in a scope.
    below: Option<Registry>,
    tools: Vec<HostTool>,
    replacements: Vec<HostTool>,
    /// In a scope, that of below, with the scope's own in it.
    state: HostState,
    /// The types of what is given here, and the names of those that are given more than once.
    given: HashSet<TypeId>,
    given_twice: BTreeSet<&'static str>,
    order: Option<Vec<String>>,
    #[cfg(feature = "search")]
    search: bool,
}

impl RegistryBuilder {
    /// In a list for [`order`](Self::order): all tools that it doesn't name. No tool can have this
    /// name.
    pub const OTHERS: &'static str = Order::OTHERS;

    pub(super) fn new(below: Option<Registry>) -> Self {
        RegistryBuilder {
            state: below.as_ref().map(|below| below.state().clone()).unwrap_or_default(),
            below,
            tools: Vec::new(),
            replacements: Vec::new(),
            given: HashSet::new(),
            given_twice: BTreeSet::new(),
            order: None,
            #[cfg(feature = "search")]
            search: false,
        }
    }

    /// Adds a tool: `GetWeatherTool::host()` of a function `get_weather` with [`#[tool]`](macro@crate::tool), or what
    /// [`DynamicToolBuilder::run`](crate::DynamicToolBuilder::run) gave.
    #[must_use]
    pub fn tool(mut self, tool: HostTool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds several tools, such as those of a [`#[toolset]`](macro@crate::toolset): `Arc::new(files).tools()`.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = HostTool>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Puts a tool in the place of the one of its name that is added here, before or after. Nothing
    /// else overrides a tool, and a tool that there is nothing to replace for is an error.
    ///
    /// In a scope that means the scope's own tools: those below are shadowed by
    /// [`tool`](Self::tool).
    ///
    /// ```
    /// use tool_runtime::{DynamicTool, DynamicToolError, HostTool, Registry};
    ///
    /// fn greet(greeting: &str) -> Result<HostTool, DynamicToolError> {
    ///     DynamicTool::builder("greet", greeting).output("true").run(|_, _| async { Ok("1".to_owned()) })
    /// }
    ///
    /// let defaults = [greet("Says hello.")?];
    /// let registry = Registry::builder().tools(defaults).replace(greet("Says good morning.")?).build()?;
    /// assert_eq!(registry.len(), 1);
    /// assert_eq!(registry.get("greet").unwrap().schema().description(), "Says good morning.");
    ///
    /// assert!(Registry::builder().replace(greet("Says hello.")?).build().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn replace(mut self, tool: HostTool) -> Self {
        self.replacements.push(tool);
        self
    }

    /// Adds a value for the `#[host]` parameters of its type. Two of one type are an error when the registry is built: a
    /// text or an `Arc` of a common type is best wrapped in a type of your own.
    ///
    /// In a scope it is given to the scope's own tools, in the place of one of the same type from
    /// below. The tools below keep the state that they were checked with.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        if !self.given.insert(TypeId::of::<T>()) {
            self.given_twice.insert(type_name::<T>());
        }
        self.state.insert(value);
        self
    }

    /// In which order tools are declared: names, and once [`OTHERS`](Self::OTHERS) for all that
    /// aren't named, which stand there by name. Without an order of its own a scope has that of the
    /// registry below; without any, all stand by name.
    ///
    /// A list without that slot, with it twice, or with a name twice, and names that no tool has,
    /// are errors when the registry is built.
    ///
    /// ```
    /// use tool_runtime::{DynamicTool, DynamicToolError, HostTool, Registry, RegistryBuilder};
    ///
    /// fn named(name: &str) -> Result<HostTool, DynamicToolError> {
    ///     DynamicTool::builder(name, "Does it.").output("true").run(|_, _| async { Ok("1".to_owned()) })
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .tools([named("a")?, named("b")?, named("c")?, named("d")?])
    ///     .order(["c", RegistryBuilder::OTHERS, "a"])
    ///     .build()?;
    /// let names: Vec<&str> = registry.iter().map(HostTool::name).collect();
    /// assert_eq!(names, ["c", "b", "d", "a"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn order<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.order = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// # Errors
    /// With everything that is wrong, of all tools at once: a name that two of them have, a tool
    /// that replaces nothing, state that nobody gave or that was given twice, a schema that can't be
    /// enforced in this build, arguments that are said to name what it reads or writes and that it hasn't, a name
    /// that isn't legal or is [reserved](Registry::SEARCH_TOOL), and a wrong [`order`](Self::order).
    pub fn build(self) -> Result<Registry, RegistryError> {
        let mut faults = Vec::new();
        let own = self.own(&mut faults);
        let mut entries: Vec<Entry> = match &self.below {
            Some(below) => below.entries().filter(|entry| !own.contains_key(entry.tool.name())).cloned().collect(),
            None => Vec::new(),
        };
        entries.extend(own.into_values().map(|tool| Entry { tool, state: self.state.clone() }));
        entries.sort_unstable_by(|a, b| a.tool.name().cmp(b.tool.name()));

        let order = match self.order {
            Some(list) => {
                let names: Vec<&str> = entries.iter().map(|entry| entry.tool.name()).collect();
                Order::read(list, &names)
                    .map(|order| Some(Arc::new(order)))
                    .map_err(|wrong| faults.extend(wrong.into_iter().map(Fault::Order)))
            }
            None => Ok(self.below.as_ref().and_then(|below| below.0.base.order.clone())),
        };
        let Ok(order) = order else { return Err(RegistryError { faults }) };
        if !faults.is_empty() {
            return Err(RegistryError { faults });
        }
        if let Some(order) = &order {
            let places: HashMap<&str, Place> = order.places().collect();
            entries.sort_by_key(|entry| places.get(entry.tool.name()).copied().unwrap_or(Place::Other));
        }
        let by_name =
            entries.iter().enumerate().map(|(position, entry)| (entry.tool.name().into(), position)).collect();
        Ok(Registry::of(Arc::new(Base { entries, by_name, state: self.state, order }), None))
    }

    /// The tools that are added here, each name once, with all that is wrong with them.
    fn own(&self, faults: &mut Vec<Fault>) -> BTreeMap<String, HostTool> {
        let mut fault = |tool: &HostTool, what| faults.push(Fault::Tool { tool: tool.name().to_owned(), what });
        let mut own = BTreeMap::new();
        for tool in &self.tools {
            match own.entry(tool.name().to_owned()) {
                Slot::Occupied(first) => {
                    let first: &HostTool = first.get();
                    fault(tool, ToolFault::Duplicate([first.module(), tool.module()]));
                }
                Slot::Vacant(slot) => {
                    slot.insert(tool.clone());
                }
            }
        }
        for tool in &self.replacements {
            match own.get_mut(tool.name()) {
                Some(replaced) => *replaced = tool.clone(),
                None => fault(tool, ToolFault::NothingToReplace),
            }
        }
        faults.extend(self.given_twice.iter().copied().map(Fault::StateTwice));
        for tool in own.values() {
            check(tool, &self.state, faults);
        }
        #[cfg(feature = "search")]
        if self.search {
            match super::search::tool() {
                Ok(tool) => drop(own.insert(Registry::SEARCH_TOOL.to_owned(), tool)),
                Err(error) => {
                    let what = ToolFault::BuiltIn(error.to_string());
                    faults.push(Fault::Tool { tool: Registry::SEARCH_TOOL.to_owned(), what });
                }
            }
        }
        own
    }
}

#[cfg(feature = "search")]
impl RegistryBuilder {
    /// Adds the built-in tool [`search_tools`](Registry::SEARCH_TOOL), by which a model finds
    /// deferred tools and loads them into its conversation's [`Loaded`](super::Loaded).
    ///
    /// It ranks the deferred tools that are visible where it is called, by the words in their names
    /// and descriptions and in those of their parameters, and answers with what a model has to know
    /// to call the best ones. What a view hides is never found. Saying it twice, or again in a
    /// scope, changes nothing.
    ///
    /// ```
    /// use tool_runtime::{AllowAll, DynamicTool, Harness, Loaded, Registry, ToolCall};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let weather = DynamicTool::builder("get_weather", "The weather in a city.")
    ///     .output("true")
    ///     .deferred()
    ///     .run(|_, _| async { Ok(r#""Rain.""#.to_owned()) })?;
    /// let registry = Registry::builder().tool(weather).search().build()?;
    /// let loaded = Loaded::new();
    /// let names = || registry.declared(&loaded).map(|schema| schema.name()).collect::<Vec<_>>();
    /// assert_eq!(names(), ["search_tools"]);
    ///
    /// let harness = Harness::new(registry.clone(), AllowAll).loaded(loaded.clone());
    /// let results = harness.run([ToolCall::new("1", "get_weather", "{}")]).await;
    /// assert!(results[0].is_error());
    ///
    /// harness.run([ToolCall::new("2", "search_tools", r#"{"query":"weather"}"#)]).await;
    /// assert_eq!(names(), ["get_weather", "search_tools"]);
    /// let results = harness.run([ToolCall::new("3", "get_weather", "{}")]).await;
    /// assert_eq!(results[0].text(), "Rain.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn search(mut self) -> Self {
        self.search = true;
        self
    }
}

/// Is a tool fit to be called?
fn check(tool: &HostTool, state: &HostState, faults: &mut Vec<Fault>) {
    let mut fault = |what| faults.push(Fault::Tool { tool: tool.name().to_owned(), what });
    if !crate::tool::is_legal_name(tool.name()) {
        fault(ToolFault::Name);
    }
    if tool.name() == Registry::SEARCH_TOOL {
        fault(ToolFault::Reserved);
    }
    let mut asked = HashSet::new();
    for need in tool.host_needs() {
        if asked.insert(need.id()) && !state.has(need.id()) {
            let given = if state.has(need.in_arc()) {
                Given::InArc
            } else if state.has_without_arc(need.id()) {
                Given::WithoutArc
            } else {
                Given::Nothing
            };
            fault(ToolFault::MissingState(need.type_name(), given));
        }
    }
    for issue in tool.built().issues() {
        fault(ToolFault::Schema(issue.clone()));
    }
    if tool.built().issues().is_empty() {
        for (name, writes) in tool.resources() {
            if let Err(unreached) = tool.built().reach(&[Step::Member(name.to_owned())]) {
                fault(ToolFault::NoSuchResource { writes, name: name.to_owned(), known: unreached.known });
            }
        }
    }
}
