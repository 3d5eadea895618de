//! A provider's arguments → those of the schema, and back.
//!
//! Follows the *full* schema, not what was exported: there each member's own name is known, whether
//! it may be absent, and which objects are open, whose keys are data and never renamed.

mod build;
mod spelling;
mod walk;

use std::collections::{BTreeSet, HashMap, HashSet};

use super::dialect::Dialect;
use super::sources;
use crate::call::Reported;
use crate::schema::json::{Json, plain_object, unwrapped};
use crate::schema::{JsonPath, MAX_DEPTH, Segment};
use build::Builder;
use spelling::{Spelling, respelt};
use walk::Walk;

/// How arguments of one tool are brought back.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inverse {
    nodes: Vec<Node>,
    /// A property has another name, or stands for its absence by `null`.
    renames: bool,
    nulls: bool,
    /// The property by which the model says where it found things.
    sources: Option<String>,
}

/// Arguments by the names of the schema.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Restored {
    /// `None`: they are as they were.
    pub(crate) arguments: Option<String>,
    pub(crate) reported: Reported,
}

/// What is known of the values at one place of the schema.
#[derive(Debug, Clone, Default)]
struct Node {
    members: Vec<Member>,
    /// Of members that aren't declared.
    further: Vec<usize>,
    prefix: Vec<usize>,
    items: Option<usize>,
    /// Schemas that apply too.
    parts: Vec<usize>,
    /// Schemas of which one applies.
    forms: Vec<usize>,
    required: Vec<String>,
    closed: bool,
}

#[derive(Debug, Clone)]
struct Member {
    name: String,
    wire: String,
    node: usize,
    /// `null` is no value of its own, and the member may be left out.
    null_is_absence: bool,
    optional: bool,
    constant: Option<Json>,
}

impl Member {
    /// Its name after a change.
    fn known(&self, way: Way) -> &String {
        match way {
            Way::In => &self.name,
            Way::Out => &self.wire,
        }
    }
}

/// Which way names are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    In,
    Out,
}

/// A property whose wire name another one has.
#[derive(Debug)]
pub(crate) struct Taken(pub(crate) String);

const ROOT: usize = 0;

impl Inverse {
    /// The way back, and the schema by the names that a model writes: what is exported.
    ///
    /// # Errors
    /// If two properties would have one name.
    pub(crate) fn of(schema: &Json, dialect: &Dialect) -> Result<(Self, Json), Taken> {
        let mut builder = Builder {
            document: schema,
            keys: dialect.keys,
            known: HashMap::new(),
            nodes: Vec::new(),
            nulls: HashMap::new(),
        };
        builder.node(schema, "", 0);
        let Builder { known: places, nodes, .. } = builder;
        let members = || nodes.iter().flat_map(|node| &node.members);
        let renamed: HashMap<&str, &str> = members()
            .filter(|member| member.name != member.wire)
            .map(|member| (member.wire.as_str(), member.name.as_str()))
            .collect();
        let clash = members().find(|member| renamed.get(member.wire.as_str()).is_some_and(|name| *name != member.name));
        if let Some(member) = clash {
            return Err(Taken(member.name.clone()));
        }
        let renames = !renamed.is_empty();
        let inverse = Inverse { renames, nulls: dialect.all_required, nodes, sources: None };
        if !(inverse.renames || inverse.nulls) {
            return Ok((inverse, schema.clone()));
        }
        let renamed = inverse.renamed().into_iter().collect();
        let spelling = Spelling { inverse: &inverse, places: &places, renamed, walked: HashSet::new() };
        let spelt = spelling.document(schema);
        Ok((inverse, spelt))
    }

    /// A pointer into the schema by the names that a model writes → one into the host's.
    pub(crate) fn restore_pointer(&self, pointer: &str) -> String {
        if !self.renames {
            return pointer.to_owned();
        }
        let renamed: HashMap<String, String> = self.renamed().into_iter().map(|(name, wire)| (wire, name)).collect();
        respelt(pointer, |wire| renamed.get(wire).cloned())
    }

    /// The properties that have other names, each with its wire name.
    pub(crate) fn renamed(&self) -> Vec<(String, String)> {
        let all = self.nodes.iter().flat_map(|node| &node.members).filter(|member| member.name != member.wire);
        let mut all: Vec<_> = all.map(|member| (member.name.clone(), member.wire.clone())).collect();
        all.sort();
        all.dedup();
        all
    }

    /// Adds the property for sources, under a name that no property has.
    pub(crate) fn ask_for_sources(&mut self) -> String {
        let root = self.closure(&[ROOT]);
        let taken = |name: &str| {
            let mut members = root.iter().flat_map(|node| &self.nodes[*node].members);
            members.any(|member| member.name == name || member.wire == name)
        };
        let mut name = "sources".to_owned();
        while taken(&name) {
            name.push('_');
        }
        self.sources = Some(name.clone());
        name
    }

    /// Nothing changes where the text can't be read, which is said when it is accepted.
    pub(crate) fn restore(&self, text: &str) -> Restored {
        let Some(mut value) = self.read(text) else { return Restored::default() };
        let said = self.sources.as_ref().and_then(|name| value.remove(name));
        let (value, changed) = self.change(value, Way::In);
        let reported = said.as_ref().map(sources::read).unwrap_or_default().into_iter();
        let reported = reported.map(|(slot, location)| (self.slot(&slot, Way::In), location));
        Restored {
            arguments: (changed || said.is_some()).then(|| value.to_string()),
            reported: Reported::new(reported),
        }
    }

    /// The other way: arguments as a model would have written them for this provider. `None` if nothing changes.
    pub(crate) fn spell(&self, text: &str, reported: &Reported) -> Option<String> {
        let value = self.read(text)?;
        let (mut value, changed) = self.change(value, Way::Out);
        if let Some(name) = &self.sources {
            let slots = reported.pairs().iter();
            let slots = slots.map(|(slot, location)| (self.slot(slot, Way::Out), location.as_str()));
            value.set(name, sources::written(&Reported::new(slots)));
        }
        (changed || self.sources.is_some()).then(|| value.to_string())
    }

    /// What something may have to be changed in.
    fn read(&self, text: &str) -> Option<Json> {
        if !(self.renames || self.nulls || self.sources.is_some()) || text.trim().is_empty() {
            return None;
        }
        match plain_object(text) {
            Some(text) => Json::parse(text),
            None => Json::parse(&unwrapped(text)),
        }
        .ok()
    }

    fn change(&self, value: Json, way: Way) -> (Json, bool) {
        if !(self.renames || self.nulls) {
            return (value, false);
        }
        let mut walk = Walk { inverse: self, way, changed: false };
        let value = walk.value(value, &self.closure(&[ROOT]));
        (value, walk.changed)
    }

    /// A slot that is a place in the arguments, by other names.
    fn slot(&self, slot: &str, way: Way) -> String {
        let place = slot.starts_with('/').then(|| JsonPath::from_pointer(slot)).flatten();
        place.map_or_else(|| slot.to_owned(), |place| self.path(&place, way).to_pointer())
    }

    /// A place in a provider's arguments, by the names of the schema.
    pub(crate) fn restore_path(&self, path: &JsonPath) -> JsonPath {
        self.path(path, Way::In)
    }

    fn path(&self, path: &JsonPath, way: Way) -> JsonPath {
        let mut here = self.closure(&[ROOT]);
        let mut segments = Vec::new();
        for segment in path.segments() {
            let next = match segment {
                Segment::Key(key) => {
                    let found = self.members(&here, key, way);
                    let name = found.first().map_or(key, |member| member.known(way));
                    segments.push(Segment::Key(name.clone()));
                    self.below(&here, &found)
                }
                Segment::Index(index) => {
                    segments.push(segment.clone());
                    self.elements(&here, *index)
                }
            };
            here = self.closure(&next);
        }
        JsonPath::from_segments(segments)
    }

    /// All nodes that may speak of a value.
    fn closure(&self, from: &[usize]) -> Vec<usize> {
        let mut all = BTreeSet::new();
        let mut pending = from.to_vec();
        while let Some(node) = pending.pop() {
            if all.insert(node) {
                pending.extend(self.nodes[node].parts.iter().chain(&self.nodes[node].forms));
            }
        }
        all.into_iter().collect()
    }

    fn members(&self, here: &[usize], key: &str, way: Way) -> Vec<&Member> {
        let all = || here.iter().flat_map(|node| &self.nodes[*node].members);
        let wire = |member: &&Member| if way == Way::In { member.wire == key } else { member.name == key };
        all().filter(wire).collect()
    }

    fn below(&self, here: &[usize], found: &[&Member]) -> Vec<usize> {
        if found.is_empty() {
            here.iter().flat_map(|node| &self.nodes[*node].further).copied().collect()
        } else {
            found.iter().map(|member| member.node).collect()
        }
    }

    fn elements(&self, here: &[usize], index: usize) -> Vec<usize> {
        here.iter()
            .filter_map(|node| {
                let node = &self.nodes[*node];
                node.prefix.get(index).copied().or(node.items)
            })
            .collect()
    }

    /// The nodes that speak of this object, with one form of each union: the first that it can have.
    fn fitting(&self, tops: &[usize], members: &[(String, Json)]) -> Vec<usize> {
        let mut found = HashMap::new();
        let chosen = match tops.iter().find(|top| self.may_have(**top, members, 0, &mut found)) {
            Some(top) => vec![*top],
            None => tops.to_vec(),
        };
        let (mut fitting, mut seen, mut pending) = (Vec::new(), HashSet::new(), chosen);
        pending.reverse();
        while let Some(node) = pending.pop() {
            if !seen.insert(node) {
                continue;
            }
            fitting.push(node);
            let of = &self.nodes[node];
            let form = of.forms.iter().find(|form| self.may_have(**form, members, 0, &mut found));
            pending.extend(form.or(of.forms.first()));
            pending.extend(of.parts.iter().rev());
        }
        fitting
    }

    /// Each node is looked at once, since schemas of strangers lead to one another along very many ways.
    fn may_have(
        &self,
        form: usize,
        members: &[(String, Json)],
        depth: usize,
        found: &mut HashMap<usize, bool>,
    ) -> bool {
        if depth > MAX_DEPTH {
            return true;
        }
        if let Some(found) = found.get(&form) {
            return *found;
        }
        // What comes round to itself asks for nothing more.
        found.insert(form, true);
        let node = &self.nodes[form];
        let given = |name: &str| members.iter().find(|(key, _)| key == name);
        let constants = node.members.iter().all(|member| match (&member.constant, given(&member.name)) {
            (Some(constant), Some((_, value))) => constant == value,
            _ => true,
        });
        let known = |key: &str| node.members.iter().any(|member| member.name == key);
        let may = constants
            && node.required.iter().all(|name| given(name).is_some())
            && (!node.closed || members.iter().all(|(key, _)| known(key)))
            && node.parts.iter().all(|part| self.may_have(*part, members, depth + 1, found))
            && (node.forms.is_empty() || node.forms.iter().any(|form| self.may_have(*form, members, depth + 1, found)));
        found.insert(form, may);
        may
    }
}
