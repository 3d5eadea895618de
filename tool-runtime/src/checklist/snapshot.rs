//! One state of a list. A turn has one from its beginning to its end, however often the files change meanwhile.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use super::applied::{Applied, of_provider};
use super::argument::ToolLines;
use super::condition::Registered;
use super::file::{Calls, Fixed, Line, Principle, Written};
use crate::document::{At, Fault};
use crate::gate::{Pattern, of_tools};
use crate::registry::Registry;
use crate::schema::{Digest, text};
use crate::tool::HostTool;

/// All lines, with what they are about.
pub(crate) struct Snapshot {
    /// Identifies it: what was written, by whom.
    pub(crate) digest: Digest,
    pub(crate) fixed: Fixed,
    pub(crate) calls: Calls,
    pub(crate) shadow: bool,
    pub(crate) principles: Vec<Principle>,
    off: Vec<Pattern>,
    lines: Vec<Ready>,
    registered: Arc<Registered>,
    /// How many tools can make a change.
    makers: BTreeMap<String, usize>,
    /// What was held against the lines already, by the digests of the definitions.
    tools: RwLock<HashMap<Digest, Arc<ToolLines>>>,
}

/// A line whose patterns were read.
struct Ready {
    line: Line,
    tools: Vec<Pattern>,
    changes: Vec<Pattern>,
}

/// More tools than any process has at a time: then the oldest are somebody's who keeps changing them.
const MOST_TOOLS: usize = 16_384;

impl Snapshot {
    /// A list without lines of its own: what tools themselves ask for.
    pub(crate) fn of_labels() -> Self {
        Snapshot {
            digest: Digest::of_bytes(b""),
            fixed: Fixed::default(),
            calls: Calls::None,
            shadow: false,
            principles: Vec::new(),
            off: Vec::new(),
            lines: Vec::new(),
            registered: Arc::default(),
            makers: BTreeMap::new(),
            tools: RwLock::default(),
        }
    }

    /// Holds what was written against the tools that it is about. `texts` identify it.
    ///
    /// # Errors
    /// With everything that is wrong, for each of the texts.
    pub(crate) fn build(
        texts: Vec<(Written, &str)>,
        registered: &Arc<Registered>,
        registry: &Registry,
    ) -> Result<Self, Vec<(usize, Fault)>> {
        let mut faults = Vec::new();
        let mut snapshot =
            Snapshot { calls: Calls::Writes, registered: Arc::clone(registered), ..Snapshot::of_labels() };
        for change in registry.iter().flat_map(HostTool::changes) {
            *snapshot.makers.entry(change.to_owned()).or_default() += 1;
        }
        let mut identity = String::new();
        // They are counted by that.
        let mut limits = BTreeSet::new();
        for (file, (written, text)) in texts.into_iter().enumerate() {
            identity.push_str(&format!("{}:{text}", text.len()));
            let mut note = |entry, at: At, what| faults.push((file, Fault { entry, at, what }));
            // The last file that says something about all calls is the one that counts.
            let Written { fixed, scope, lines, principles } = written;
            snapshot.fixed.intent |= fixed.intent;
            snapshot.fixed.timing |= fixed.timing;
            snapshot.shadow |= scope.shadow;
            if let Some(calls) = scope.calls {
                snapshot.calls = calls;
            }
            snapshot.principles.extend(principles);
            for pattern in &scope.off {
                let (read, wrong) = of_tools(&pattern.value, registry);
                snapshot.off.extend(read);
                if let Some(wrong) = wrong {
                    note(None, pattern.at, wrong.what);
                }
            }
            for line in lines {
                let entry = Some(line.position);
                let mut tools = Vec::new();
                for pattern in &line.tools {
                    let (read, wrong) = of_tools(&pattern.value, registry);
                    tools.extend(read);
                    if let Some(wrong) = wrong {
                        note(entry, pattern.at, wrong.what);
                    }
                }
                let mut changes = Vec::new();
                for pattern in &line.changes {
                    match Pattern::new(&pattern.value) {
                        Ok(read) => {
                            if !registry.iter().any(|tool| tool.changes().any(|change| read.matches(change))) {
                                let all = registry.iter().flat_map(HostTool::changes);
                                let nearest = text::nearest(&pattern.value, all);
                                let meant = nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
                                let shown = text::shown(&pattern.value, 80);
                                note(
                                    entry,
                                    pattern.at,
                                    format!("changes \"{shown}\": no tool makes such a change{meant}"),
                                );
                            }
                            changes.push(read);
                        }
                        Err(wrong) => {
                            let shown = text::shown(&pattern.value, 80);
                            note(entry, pattern.at, format!("changes \"{shown}\": {wrong}"));
                        }
                    }
                }
                let ready = Ready { line, tools, changes };
                ready.hold_against(registry, registered).into_iter().for_each(|(at, what)| note(entry, at, what));
                if let (Some(limit), Some(name)) = (&ready.line.limit, &ready.line.name) {
                    let sum = limit.sum.as_ref().map(|sum| sum.value.clone());
                    if !limits.insert((ready.line.list, ready.line.origin.clone(), name.value.clone(), sum)) {
                        note(
                            entry,
                            name.at,
                            format!("there is another limit `{}` of the same origin", text::shown(&name.value, 64)),
                        );
                    }
                }
                snapshot.lines.push(ready);
            }
        }
        snapshot.digest = Digest::of_bytes(identity.as_bytes());
        if faults.is_empty() { Ok(snapshot) } else { Err(faults) }
    }

    /// What is asked of a tool. It is worked out once.
    pub(crate) fn for_tool(&self, tool: &HostTool) -> Arc<ToolLines> {
        let known = |tools: &HashMap<Digest, Arc<ToolLines>>| {
            tools.get(tool.digest()).filter(|known| known.is_of(tool)).map(Arc::clone)
        };
        if let Some(known) = known(&self.tools.read().unwrap_or_else(PoisonError::into_inner)) {
            return known;
        }
        let made = Arc::new(ToolLines::new(tool, self.lines_for(tool)));
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        if tools.len() >= MOST_TOOLS {
            tools.clear();
        }
        tools.insert(*tool.digest(), Arc::clone(&made));
        made
    }

    fn lines_for(&self, tool: &HostTool) -> Vec<Applied> {
        let mut lines = of_provider(tool, &self.registered);
        for ready in self.lines.iter().filter(|ready| ready.is_about(tool)) {
            match ready.line.for_tool(tool, &self.registered) {
                Ok(applied) => lines.push(applied),
                // Another tool than those that the list was checked against. What is about an argument that it
                // doesn't have isn't about it; anything else has to be known before it runs.
                Err(_) if ready.line.argument.is_some() && ready.line.tools.is_empty() => {}
                Err((_, why)) => lines.push(Applied::broken(&ready.line, why)),
            }
        }
        lines
    }

    /// It asks for nothing before the tool runs.
    pub(crate) fn asks_nothing_of(&self, tool: &HostTool) -> bool {
        let has_lines = || !of_provider(tool, &self.registered).is_empty();
        self.lines.is_empty() && self.calls == Calls::None && !tool.built().has_lines(has_lines)
    }

    /// How many tools can make a change.
    pub(crate) fn makers(&self, change: &str) -> usize {
        self.makers.get(change).copied().unwrap_or_default()
    }

    /// Are the values of all arguments looked up?
    pub(crate) fn looks_up(&self, tool: &HostTool) -> bool {
        if self.off.iter().any(|pattern| pattern.matches(tool.name())) {
            return false;
        }
        match self.calls {
            Calls::Irreversible => tool.hints().destructive,
            Calls::Writes => !tool.hints().read_only,
            Calls::All => true,
            Calls::None => false,
        }
    }
}

impl Ready {
    fn is_about(&self, tool: &HostTool) -> bool {
        let is_named = self.tools.is_empty() || self.tools.iter().any(|pattern| pattern.matches(tool.name()));
        let makes = |change: &str| self.changes.iter().any(|pattern| pattern.matches(change));
        is_named && (self.changes.is_empty() || tool.changes().any(makes))
    }

    /// What is wrong with the line, whatever tool one looks at. A line for several tools may be about an argument
    /// that only some have.
    fn hold_against(&self, registry: &Registry, registered: &Registered) -> Vec<(At, String)> {
        let tools: Vec<&HostTool> = registry.iter().filter(|tool| self.is_about(tool)).collect();
        let wrong: Vec<(At, String)> =
            tools.iter().filter_map(|tool| self.line.for_tool(tool, registered).err()).collect();
        let may_miss = self.line.argument.is_some() && wrong.len() < tools.len();
        if may_miss { Vec::new() } else { wrong.into_iter().take(1).collect() }
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("digest", &self.digest)
            .field("lines", &self.lines.len())
            .finish_non_exhaustive()
    }
}
