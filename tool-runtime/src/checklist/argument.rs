//! What is asked of one argument of a tool, whatever its value.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::applied::{Applied, Kind, ValueLine};
use super::ask::{About, Ask};
use super::shape::Shape;
use super::source::SourceSet;
use super::words;
use crate::schema::json::Json;
use crate::schema::{Digest, JsonPath, Said, Segment};
use crate::tool::HostTool;

/// What the lines of a tool and its schema say of an argument.
pub(crate) struct Argument {
    pub(super) said: Said,
    pub(super) about: Arc<About>,
    /// Where all lines about it let its value be found.
    pub(super) from: SourceSet,
    /// The lines about it, by their places among the tool's.
    lines: Vec<usize>,
}

impl Argument {
    fn new(tool: &HostTool, lines: &[Applied], path: &JsonPath) -> Self {
        let is_about = |place: &usize| value_line(lines, *place).is_some_and(|(_, value)| value.place.is_of(path));
        let lines_about: Vec<usize> = (0..lines.len()).filter(is_about).collect();
        let about = || lines_about.iter().filter_map(|&place| value_line(lines, place));
        let slot = path.to_pointer();
        let shape = Shape::of_argument(tool.schema(), &slot);
        let mut ask = Ask::new(tool.name(), slot, shape)
            .saying(about().flat_map(|(_, line)| line.says.iter().cloned()))
            .with_aliases(about().flat_map(|(_, line)| line.aliases.iter().cloned()));
        if let Some(default) = words::default_of(tool.schema(), path) {
            ask = ask.with_default(default.to_string());
        }
        let sets = about().filter_map(|(_, line)| line.from.as_ref());
        Argument {
            said: tool.built().said_of(path),
            about: ask.about(),
            from: sets.fold(SourceSet::ALL, |all, from| all.both(from.iter().copied().collect())),
            lines: lines_about,
        }
    }
}

fn value_line(lines: &[Applied], place: usize) -> Option<(&Applied, &ValueLine)> {
    match lines.get(place) {
        Some(line @ Applied { kind: Kind::Value(value), .. }) => Some((line, value)),
        _ => None,
    }
}

/// All that is asked of a tool, worked out once.
pub(crate) struct ToolLines {
    pub(super) lines: Vec<Applied>,
    /// Of the arguments that the schema names. What is inside of them, and what it doesn't name, is as much as a model
    /// cares to write.
    arguments: BTreeMap<String, Arc<Argument>>,
    /// What it was worked out from, as far as that isn't in the definition's digest.
    unshown: Option<Digest>,
    changes: Vec<String>,
}

impl ToolLines {
    pub(super) fn new(tool: &HostTool, lines: Vec<Applied>) -> Self {
        let named = tool.schema().parameters_json().get("properties").and_then(Json::as_object).unwrap_or_default();
        let argument = |name: &String| {
            let path = JsonPath::from_segments(vec![Segment::Key(name.clone())]);
            (name.clone(), Arc::new(Argument::new(tool, &lines, &path)))
        };
        let arguments = named.iter().map(|(name, _)| argument(name)).collect();
        let (unshown, changes) = (tool.built().unshown().copied(), tool.changes().map(str::to_owned).collect());
        ToolLines { lines, arguments, unshown, changes }
    }

    /// Is it about just this tool, among those of the same definition? What a model doesn't see of a tool may differ: which
    /// arguments are secret, and what it changes.
    pub(super) fn is_of(&self, tool: &HostTool) -> bool {
        self.unshown.as_ref() == tool.built().unshown() && tool.changes().eq(self.changes.iter().map(String::as_str))
    }

    /// What is asked of the argument at a path.
    pub(super) fn argument(&self, tool: &HostTool, path: &JsonPath) -> Arc<Argument> {
        let known = match path.segments() {
            [Segment::Key(name)] => self.arguments.get(name),
            _ => None,
        };
        known.map_or_else(|| Arc::new(Argument::new(tool, &self.lines, path)), Arc::clone)
    }

    /// The lines about an argument.
    pub(super) fn about<'a>(&'a self, argument: &Argument) -> Vec<(&'a Applied, &'a ValueLine)> {
        argument.lines.iter().filter_map(|&place| value_line(&self.lines, place)).collect()
    }
}
