//! Where in accepted arguments a value can stand, what it can be there, and whether it can be missing.

use std::collections::HashSet;

use super::json::{Json, JsonPath, MAX_DEPTH, Segment};
use super::node::{Extra, Graph, NodeId, Plain, Shape, Types};
use super::walk::canonical_at;

/// One step towards a part of a value, or towards several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// A member of an object, by its name or an alias of it.
    Member(String),
    /// An element of an array, from 0.
    Index(usize),
    /// Every element of an array.
    Each,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Boolean,
    Integer,
    Fraction,
    String,
    #[cfg(feature = "cel")]
    Array,
    #[cfg(feature = "cel")]
    Object,
}

/// What stands at a place, as far as the schema knows.
#[derive(Debug)]
pub(crate) struct Reached {
    /// For each step: the names that the member has in canonical texts. One, unless it is an alias in one form
    /// of a union and something else in another; none for elements of arrays.
    pub(crate) names: Vec<Vec<Box<str>>>,
    /// There may be nothing at the place, or a `null` on the way to it.
    pub(crate) may_be_absent: bool,
    /// The canonical texts of all values that can stand there, if these are listed.
    pub(crate) words: Option<Vec<String>>,
    types: Types,
}

impl Reached {
    /// Can such a value stand there?
    pub(crate) fn takes(&self, kind: Kind) -> bool {
        self.types.has(match kind {
            Kind::Null => Types::NULL,
            Kind::Boolean => Types::BOOLEAN,
            Kind::Integer => Types::NUMBER,
            Kind::Fraction => Types::FRACTION,
            Kind::String => Types::STRING,
            #[cfg(feature = "cel")]
            Kind::Array => Types::ARRAY,
            #[cfg(feature = "cel")]
            Kind::Object => Types::OBJECT,
        })
    }

    /// The JSON types that can stand there.
    pub(crate) fn types(&self) -> String {
        self.types.names().join(" or ")
    }
}

/// A path that leads nowhere.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unreached {
    /// The step that can't be made.
    pub(crate) step: usize,
    /// The names that are known where it can't be made.
    pub(crate) known: Vec<String>,
}

/// All that may judge the value at a place.
struct Here<'g> {
    plains: Vec<&'g Plain>,
    /// It may also be a value that no node says anything about.
    anything: bool,
}

impl Graph {
    /// What stands at the end of these steps?
    ///
    /// # Errors
    /// If no accepted text has a value there.
    pub(crate) fn reach(&self, steps: &[Step]) -> Result<Reached, Unreached> {
        self.reach_from(steps, 0)
    }

    /// As [`reach`](Self::reach), where it is known that there is something after the first `there` steps: at least the whole.
    pub(crate) fn reach_from(&self, steps: &[Step], there: usize) -> Result<Reached, Unreached> {
        let mut here = Here { plains: self.plains(&[self.root]), anything: false };
        let mut names = Vec::with_capacity(steps.len());
        let mut may_be_absent = false;
        for (index, step) in steps.iter().enumerate() {
            let (mut next, mut anything, mut named) = (Vec::new(), here.anything, Vec::<Box<str>>::new());
            // What the step begins at is there, and so is what it leads to.
            let (is_there, leads_there) = (index <= there, index < there);
            may_be_absent |= here.anything && !leads_there;
            if let (true, Step::Member(key)) = (here.anything, step) {
                named.push(key.as_str().into());
            }
            for plain in &here.plains {
                may_be_absent |= plain.types.has(Types::NULL) && !is_there;
                let inside = plain.inside(step);
                may_be_absent |= inside.may_be_absent && !leads_there;
                anything |= inside.anything;
                next.extend(inside.nodes);
                named.extend(inside.name.filter(|name| !named.contains(name)));
            }
            let nowhere = next.is_empty() && !anything;
            here = Here { plains: self.plains(&next), anything };
            // A member that takes no value at all is as good as none.
            if nowhere || (here.plains.is_empty() && !anything) || index >= MAX_DEPTH {
                return Err(Unreached { step: index, known: self.known(&steps[..index]) });
            }
            names.push(named);
        }
        let mut types = if here.anything { Types::ALL } else { Types::NONE };
        let mut words = (!here.anything).then(Vec::new);
        for plain in &here.plains {
            let listed = plain.one_of.as_deref();
            types = types.with(match listed {
                Some(listed) => {
                    listed.iter().fold(Types::NONE, |all, word| all.with(Types::of_text(word))).both(plain.types)
                }
                None => plain.types,
            });
            match (&mut words, listed) {
                (Some(words), Some(listed)) => words.extend(listed.iter().cloned()),
                _ => words = None,
            }
        }
        Ok(Reached { names, may_be_absent, words, types })
    }

    /// May something be given at `path`, by the names that it has, in a form that all else of `value` fits?
    pub(crate) fn may_stand(&self, value: &Json, path: &JsonPath) -> bool {
        let mut nodes = vec![self.root];
        let mut here = Some(value);
        for segment in path.segments() {
            let mut fitting = self.plains(&nodes);
            fitting.retain(|plain| here.is_none_or(|here| self.fits(plain, here, segment)));
            if fitting.iter().any(|plain| plain.says_nothing_of(segment)) {
                return true;
            }
            nodes = fitting.into_iter().filter_map(|plain| plain.part(segment)).collect();
            if nodes.is_empty() {
                return false;
            }
            here = here.and_then(|here| here.part(segment));
        }
        true
    }

    /// Could it be such a value, as far as its parts besides one tell?
    fn fits(&self, plain: &Plain, value: &Json, besides: &Segment) -> bool {
        match value {
            Json::Object(members) => {
                let Some(rules) = plain.object.as_deref() else { return plain.types.has(Types::OBJECT) };
                members.iter().filter(|(key, _)| Segment::Key(key.clone()) != *besides).all(|(key, member)| {
                    rules.value_of(key).is_some_and(|node| canonical_at(self, node, &member.to_string()).is_ok())
                })
            }
            Json::Array(_) => plain.types.has(Types::ARRAY),
            // Nothing is inside of it yet, whatever it is going to be.
            _ => true,
        }
    }

    /// The members that are declared at a place.
    fn known(&self, steps: &[Step]) -> Vec<String> {
        let mut nodes = vec![self.root];
        for step in steps {
            nodes = self.plains(&nodes).into_iter().flat_map(|plain| plain.inside(step).nodes).collect();
        }
        let objects = self.plains(&nodes).into_iter().filter_map(|plain| plain.object.as_deref());
        let mut known: Vec<String> =
            objects.flat_map(|object| &object.properties).map(|property| property.name.to_string()).collect();
        known.sort();
        known.dedup();
        known
    }

    /// All plain nodes that may judge a value, each once.
    fn plains(&self, nodes: &[NodeId]) -> Vec<&Plain> {
        let mut seen = HashSet::new();
        let mut pending: Vec<NodeId> = nodes.iter().rev().copied().collect();
        let mut plains = Vec::new();
        while let Some(node) = pending.pop() {
            if !seen.insert(node) {
                continue;
            }
            match &self.nodes[node].shape {
                Shape::Link(target) => pending.push(*target),
                Shape::Union(union) => pending.extend(union.branches.iter().rev()),
                Shape::Plain(plain) if plain.types == Types::NONE => {}
                Shape::Plain(plain) => plains.push(&**plain),
            }
        }
        plains
    }
}

/// What one plain node says of a part.
#[derive(Default)]
struct Inside {
    nodes: Vec<NodeId>,
    name: Option<Box<str>>,
    anything: bool,
    may_be_absent: bool,
}

impl Plain {
    /// What a part of it is, by the name that canonical texts have for it.
    fn part(&self, segment: &Segment) -> Option<NodeId> {
        match (segment, self.object.as_deref(), self.array.as_deref()) {
            (Segment::Key(key), Some(rules), _) => rules.value_of(key),
            (Segment::Index(index), _, Some(rules)) => rules.prefix.get(*index).copied().or(rules.items),
            _ => None,
        }
    }

    fn says_nothing_of(&self, segment: &Segment) -> bool {
        match segment {
            Segment::Key(_) => self.types.has(Types::OBJECT) && self.object.is_none(),
            Segment::Index(_) => self.types.has(Types::ARRAY) && self.array.is_none(),
        }
    }

    fn inside(&self, step: &Step) -> Inside {
        match step {
            Step::Member(key) if self.types.has(Types::OBJECT) => self.member(key),
            Step::Index(_) | Step::Each if self.types.has(Types::ARRAY) => self.element(step),
            // A value of another kind, which nothing can be inside of.
            _ => Inside::default(),
        }
    }

    fn member(&self, key: &str) -> Inside {
        let Some(object) = self.object.as_deref() else {
            return Inside { name: Some(key.into()), anything: true, may_be_absent: true, ..Inside::default() };
        };
        match (object.find(key), object.extra) {
            (Some((position, _)), _) => {
                let property = &object.properties[position];
                // What has a default is filled in, but `null` is as good as nothing.
                let is_there = match property.default.as_deref() {
                    Some(default) => default != "null",
                    None => property.required,
                };
                Inside {
                    nodes: vec![property.node],
                    name: Some(property.name.clone()),
                    may_be_absent: !is_there,
                    ..Inside::default()
                }
            }
            (None, Extra::Any(node) | Extra::Integers { node, .. }) => {
                Inside { nodes: vec![node], name: Some(key.into()), may_be_absent: true, ..Inside::default() }
            }
            (None, Extra::Refused) => Inside { may_be_absent: true, ..Inside::default() },
        }
    }

    fn element(&self, step: &Step) -> Inside {
        let Some(array) = self.array.as_deref() else {
            return Inside { anything: true, may_be_absent: true, ..Inside::default() };
        };
        let at_least = array.min.unwrap_or(0);
        match step {
            Step::Index(index) => Inside {
                nodes: array.prefix.get(*index).copied().or(array.items).into_iter().collect(),
                may_be_absent: u64::try_from(*index).is_ok_and(|index| index >= at_least),
                ..Inside::default()
            },
            _ => Inside {
                nodes: array.prefix.iter().copied().chain(array.items).collect(),
                may_be_absent: at_least == 0,
                ..Inside::default()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::json::Json;
    use super::super::{Origin, Purpose, compile};
    use super::*;

    fn graph(schema: &str) -> Graph {
        compile(&Json::parse(schema).unwrap(), Origin::Written, Purpose::Arguments).graph
    }

    fn member(name: &str) -> Step {
        Step::Member(name.to_owned())
    }

    #[test]
    fn what_may_be_missing_is_known_from_the_schema() {
        let graph = graph(
            r#"{"type":"object","additionalProperties":false,"required":["a","o","n","l","m","u"],"properties":{
                "a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string","default":"x"},"d":{"default":null},
                "o":{"type":"object","additionalProperties":false,"required":["p"],"properties":{"p":{"type":"integer"}}},
                "n":{"anyOf":[{"type":"null"},{"type":"object","required":["p"],"properties":{"p":{}}}]},
                "l":{"type":"array","items":{"type":"integer"}},
                "m":{"type":"array","items":{"type":"integer"},"minItems":2},
                "u":{"oneOf":[{"type":"object","required":["k","p"],"additionalProperties":false,
                               "properties":{"k":{"const":"one"},"p":{"type":"string"}}},
                              {"type":"object","required":["k"],"additionalProperties":false,
                               "properties":{"k":{"const":"two"}}}]}}}"#,
        );
        let absent = |steps: &[Step]| graph.reach(steps).unwrap().may_be_absent;
        assert!(!absent(&[member("a")]));
        assert!(absent(&[member("b")]));
        assert!(!absent(&[member("c")]));
        assert!(absent(&[member("d")]));
        assert!(!absent(&[member("o"), member("p")]));
        assert!(absent(&[member("n"), member("p")]));
        assert!(absent(&[member("l"), Step::Each]));
        assert!(absent(&[member("l"), Step::Index(0)]));
        assert!(!absent(&[member("m"), Step::Each]));
        assert!(!absent(&[member("m"), Step::Index(1)]));
        assert!(absent(&[member("m"), Step::Index(2)]));
        assert!(absent(&[member("u"), member("p")]));
        let kind = graph.reach(&[member("u"), member("k")]).unwrap();
        assert!(!kind.may_be_absent);
        assert_eq!(kind.words.unwrap(), ["\"one\"", "\"two\""]);
        // Where something is known to be there, only the steps behind it count.
        let absent_from = |steps: &[Step], there| graph.reach_from(steps, there).unwrap().may_be_absent;
        assert!(!absent_from(&[member("b")], 1));
        assert!(!absent_from(&[member("n"), member("p")], 1));
        assert!(!absent_from(&[member("n"), member("p")], 2));
        assert!(absent_from(&[member("u"), member("p")], 1));
        assert!(absent_from(&[member("n"), member("q")], 1));
        assert!(absent_from(&[member("l"), Step::Each], 1));
        let unreached = graph.reach(&[member("o"), member("q")]).unwrap_err();
        assert_eq!(unreached, Unreached { step: 1, known: vec!["p".to_owned()] });
        graph.reach(&[member("a"), member("q")]).unwrap_err();
        graph.reach(&[member("a"), Step::Each]).unwrap_err();
    }

    #[test]
    fn an_alias_is_known_by_the_name_that_texts_have() {
        let graph = graph(r#"{"type":"object","properties":{"file_path":{"type":"string","x-tool-alias":["path"]}}}"#);
        let reached = graph.reach(&[member("path")]).unwrap();
        assert_eq!(reached.names, [[Box::from("file_path")]]);
        assert!(reached.takes(Kind::String) && !reached.takes(Kind::Integer));
        assert_eq!(reached.types(), "string");
        // Any other name is free.
        assert!(graph.reach(&[member("else"), Step::Each, member("x")]).unwrap().takes(Kind::Fraction));
    }

    #[test]
    fn a_schema_that_holds_itself_has_an_end() {
        let graph = graph(
            r##"{"type":"object","properties":{"t":{"$ref":"#/$defs/T"}},
                "$defs":{"T":{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#/$defs/T"}}]}}}"##,
        );
        let mut steps = vec![member("t")];
        steps.extend(vec![Step::Each; 100]);
        assert!(graph.reach(&steps).unwrap().takes(Kind::String));
        steps.extend(vec![Step::Each; 100]);
        graph.reach(&steps).unwrap_err();
    }
}
