//! Views: some of a registry's tools, and the others as if they weren't there.

use std::collections::HashSet;
use std::sync::Arc;

use super::error::{FilterFault, UnknownNames};
use super::{FilterError, Registry};
use crate::tool::HostTool;

/// Which tools of a registry's are visible.
pub(super) struct Shown {
    /// Their positions, in the order in which they are declared.
    pub(super) positions: Vec<usize>,
    /// The same, by position.
    pub(super) is_shown: Vec<bool>,
}

impl Registry {
    /// A view of the tools with these names and no others, which is a registry of its own.
    ///
    /// What it hides is neither listed, declared, found nor suggested, and a call of it ends in the
    /// same way as a call of a name that nobody has. Views of views intersect. `self` stays as it
    /// is; to lift a filter, make the view anew without it. A [`scope`](Self::scope) of the view
    /// adds to it.
    ///
    /// The built-in search tool stays visible: it finds only what the view shows.
    ///
    /// # Errors
    /// If the list is empty, or has a name that no visible tool has, or the search tool's.
    ///
    /// ```
    /// use tool_runtime::{DynamicTool, DynamicToolError, HostTool, Registry};
    ///
    /// fn named(name: &str) -> Result<HostTool, DynamicToolError> {
    ///     DynamicTool::builder(name, "Does it.").output("true").run(|_, _| async { Ok("1".to_owned()) })
    /// }
    ///
    /// let all = Registry::builder().tool(named("ls")?).tool(named("cat")?).tool(named("rm")?).build()?;
    /// let reading = all.only(["ls", "cat"])?;
    /// assert_eq!(reading.len(), 2);
    /// assert!(reading.get("rm").is_none());
    ///
    /// let error = reading.only(["rm", "ls"]).unwrap_err();
    /// assert_eq!(error.to_string(), "the filter was refused: no tool is named `rm`; there are: `cat`, `ls`");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn only<N: AsRef<str>>(&self, names: impl IntoIterator<Item = N>) -> Result<Registry, FilterError> {
        let named = self.named(names)?;
        let search = self.position(Registry::SEARCH_TOOL);
        Ok(self.narrowed(|position| named.contains(&position) || search == Some(position)))
    }

    /// A view of all tools but those with these names. See [`only`](Self::only).
    ///
    /// # Errors
    /// As [`only`](Self::only).
    ///
    /// ```
    /// use tool_runtime::{DynamicTool, DynamicToolError, HostTool, Registry};
    ///
    /// fn named(name: &str) -> Result<HostTool, DynamicToolError> {
    ///     DynamicTool::builder(name, "Does it.").output("true").run(|_, _| async { Ok("1".to_owned()) })
    /// }
    ///
    /// let all = Registry::builder().tool(named("ls")?).tool(named("cat")?).tool(named("rm")?).build()?;
    /// let safe = all.without(["rm"])?;
    /// let listing = safe.only(["ls"])?;
    /// assert_eq!((all.len(), safe.len(), listing.len()), (3, 2, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn without<N: AsRef<str>>(&self, names: impl IntoIterator<Item = N>) -> Result<Registry, FilterError> {
        let named = self.named(names)?;
        Ok(self.narrowed(|position| !named.contains(&position)))
    }

    /// The positions of the tools that a filter names.
    fn named<N: AsRef<str>>(&self, names: impl IntoIterator<Item = N>) -> Result<HashSet<usize>, FilterError> {
        let mut found = HashSet::new();
        let mut unknown: Vec<String> = Vec::new();
        let (mut is_empty, mut reserved) = (true, false);
        for name in names {
            let name = name.as_ref();
            is_empty = false;
            if name == Registry::SEARCH_TOOL {
                reserved = true;
            } else if let Some(position) = self.position(name) {
                found.insert(position);
            } else if unknown.iter().all(|other| other != name) {
                unknown.push(name.to_owned());
            }
        }
        let mut faults = Vec::new();
        if is_empty {
            faults.push(FilterFault::Empty);
        }
        if reserved {
            faults.push(FilterFault::Reserved);
        }
        if !unknown.is_empty() {
            let mut known: Vec<String> = self.iter().map(HostTool::name).map(str::to_owned).collect();
            known.retain(|name| name != Registry::SEARCH_TOOL);
            known.sort_unstable();
            faults.push(FilterFault::Unknown(UnknownNames { unknown, known }));
        }
        if faults.is_empty() { Ok(found) } else { Err(FilterError { faults }) }
    }

    /// Of what is visible, what `keep` says.
    fn narrowed(&self, keep: impl Fn(usize) -> bool) -> Registry {
        let base = &self.0.base;
        let mut is_shown = vec![false; base.entries.len()];
        let positions: Vec<usize> = self.positions().filter(|&position| keep(position)).collect();
        for &position in &positions {
            is_shown[position] = true;
        }
        Registry::of(Arc::clone(base), Some(Shown { positions, is_shown }))
    }
}
