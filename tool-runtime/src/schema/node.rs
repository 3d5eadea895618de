//! A schema compiled into what the walker asks of a value.

use std::collections::{HashMap, HashSet};

use super::json::{JsonPath, Number, Segment};

pub(crate) type NodeId = usize;

/// A compiled schema: nodes refer to each other by index, so recursion is just a number.
#[derive(Debug, Clone)]
pub(crate) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) root: NodeId,
    pub(super) purpose: Purpose,
    /// Some value at some depth is a secret.
    pub(super) has_secrets: bool,
}

/// What texts are walked along a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A model's arguments: defaults are filled in, `null` may mean absence, paths are normalised.
    Arguments,
    /// What a tool returned: taken as it is.
    Output {
        /// Its sets may come in the order of a hash, and are put into order.
        sort_sets: bool,
    },
}

impl Graph {
    pub(crate) fn has_secrets(&self) -> bool {
        self.has_secrets
    }

    /// Is the value at a path a secret, or inside one, or does it hold one?
    pub(crate) fn is_near_secret(&self, path: &JsonPath) -> bool {
        if !self.has_secrets {
            return false;
        }
        let mut here: HashSet<NodeId> = HashSet::from([self.root]);
        for segment in path.segments() {
            if self.with_links(&mut here) {
                return true;
            }
            here = here.iter().flat_map(|&node| self.step(node, segment)).collect();
        }
        // What it holds, at any depth.
        let mut seen = HashSet::new();
        let mut pending: Vec<NodeId> = here.into_iter().collect();
        while let Some(node) = pending.pop() {
            if self.nodes[node].marks.secret {
                return true;
            }
            if seen.insert(node) {
                match &self.nodes[node].shape {
                    Shape::Link(target) => pending.push(*target),
                    Shape::Union(union) => pending.extend(&union.branches),
                    Shape::Plain(plain) => pending.extend(plain.inner()),
                }
            }
        }
        false
    }

    /// What an author said of the value at a path, or of one that it is inside of: is it a secret, or does it hold one, and
    /// is it text that the model is meant to write?
    pub(crate) fn said_of(&self, path: &JsonPath) -> Said {
        // Who shows the whole shows what it holds.
        let mut said = Said { secret: self.is_near_secret(path), authored: false };
        let mut here: HashSet<NodeId> = HashSet::from([self.root]);
        let mut segments = path.segments().iter();
        loop {
            self.with_links(&mut here);
            said.authored |= here.iter().any(|&node| self.nodes[node].marks.authored);
            let Some(segment) = segments.next() else { return said };
            here = here.iter().flat_map(|&node| self.step(node, segment)).collect();
        }
    }

    /// Adds all nodes that judge the same value. Is one of them marked as a secret?
    pub(super) fn with_links(&self, nodes: &mut HashSet<NodeId>) -> bool {
        let mut pending: Vec<NodeId> = nodes.iter().copied().collect();
        while let Some(node) = pending.pop() {
            let more = match &self.nodes[node].shape {
                Shape::Link(target) => vec![*target],
                Shape::Union(union) => union.branches.clone(),
                Shape::Plain(_) => Vec::new(),
            };
            pending.extend(more.into_iter().filter(|&node| nodes.insert(node)));
        }
        nodes.iter().any(|&node| self.nodes[node].marks.secret)
    }

    /// The nodes that judge a part of a value.
    pub(super) fn step(&self, node: NodeId, segment: &Segment) -> Vec<NodeId> {
        let Shape::Plain(plain) = &self.nodes[node].shape else { return Vec::new() };
        match (segment, &plain.array, &plain.object) {
            (Segment::Index(index), Some(array), _) => {
                array.prefix.get(*index).copied().or(array.items).into_iter().collect()
            }
            (Segment::Key(key), _, Some(object)) => match (object.find(key), object.extra) {
                (Some((position, _)), _) => vec![object.properties[position].node],
                (None, Extra::Any(node) | Extra::Integers { node, .. }) => vec![node],
                (None, Extra::Refused) => Vec::new(),
            },
            _ => Vec::new(),
        }
    }
}

/// What an author said of a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) secret: bool,
    pub(crate) authored: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(super) shape: Shape,
    pub(super) marks: Marks,
}

/// What an author said of a value besides its type. Holds for everything inside it too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(super) secret: bool,
    pub(super) path: bool,
    /// Text that the model is meant to write.
    pub(super) authored: bool,
    /// Another form of the value holds a secret, so what came is not quoted.
    pub(super) hidden: bool,
}

impl Marks {
    pub(super) fn and(self, inner: Marks) -> Marks {
        Marks {
            secret: self.secret || inner.secret,
            path: self.path || inner.path,
            authored: self.authored || inner.authored,
            hidden: self.hidden || inner.hidden,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Shape {
    /// One of several, each with all that applies to it.
    Union(Box<Union>),
    /// Another node, under the marks of this one.
    Link(NodeId),
    Plain(Box<Plain>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Types(pub(super) u8);

impl Types {
    pub(super) const NULL: Types = Types(1);
    pub(super) const BOOLEAN: Types = Types(2);
    /// Numbers with a fraction, or too large to be told from one.
    pub(super) const FRACTION: Types = Types(4);
    pub(super) const INTEGER: Types = Types(8);
    pub(super) const STRING: Types = Types(16);
    pub(super) const ARRAY: Types = Types(32);
    pub(super) const OBJECT: Types = Types(64);
    pub(super) const NUMBER: Types = Types(4 | 8);
    pub(super) const ALL: Types = Types(127);
    pub(super) const NONE: Types = Types(0);

    #[inline]
    pub(super) fn has(self, other: Types) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn with(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    pub(super) fn both(self, other: Types) -> Types {
        Types(self.0 & other.0)
    }

    pub(super) fn named(name: &str) -> Option<Types> {
        Some(match name {
            "null" => Types::NULL,
            "boolean" => Types::BOOLEAN,
            "integer" => Types::INTEGER,
            "number" => Types::NUMBER,
            "string" => Types::STRING,
            "array" => Types::ARRAY,
            "object" => Types::OBJECT,
            _ => return None,
        })
    }

    /// What a canonical text is.
    pub(super) fn of_text(canonical: &str) -> Types {
        match canonical.as_bytes().first() {
            Some(b'"') => Types::STRING,
            Some(b'{') => Types::OBJECT,
            Some(b'[') => Types::ARRAY,
            Some(b'n') => Types::NULL,
            Some(b't' | b'f') => Types::BOOLEAN,
            _ => Types::NUMBER,
        }
    }

    pub(super) fn names(self) -> Vec<&'static str> {
        let all = [
            (Types::NUMBER, "number"),
            (Types::INTEGER, "integer"),
            (Types::STRING, "string"),
            (Types::BOOLEAN, "boolean"),
            (Types::ARRAY, "array"),
            (Types::OBJECT, "object"),
            (Types::NULL, "null"),
        ];
        let mut left = self;
        let mut names = Vec::new();
        for (types, name) in all {
            if left.both(types) == types {
                names.push(name);
                left = Types(left.0 & !types.0);
            }
        }
        names
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Plain {
    pub(super) types: Types,
    /// The canonical texts of a closed set (`enum`, `const`).
    pub(super) one_of: Option<Vec<String>>,
    pub(super) number: Option<Box<NumberRules>>,
    pub(super) string: Option<Box<StringRules>>,
    pub(super) array: Option<Box<ArrayRules>>,
    pub(super) object: Option<Box<ObjectRules>>,
}

impl Plain {
    /// The nodes that judge what is inside a value.
    pub(super) fn inner(&self) -> Vec<NodeId> {
        let mut inner = Vec::new();
        if let Some(array) = &self.array {
            inner.extend(array.prefix.iter().copied().chain(array.items));
        }
        if let Some(object) = &self.object {
            inner.extend(object.properties.iter().map(|property| property.node));
            match object.extra {
                Extra::Any(node) | Extra::Integers { node, .. } => inner.push(node),
                Extra::Refused => {}
            }
        }
        inner
    }

    pub(super) fn any() -> Self {
        Plain { types: Types::ALL, one_of: None, number: None, string: None, array: None, object: None }
    }

    pub(super) fn never() -> Self {
        Plain { types: Types::NONE, ..Plain::any() }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct NumberRules {
    pub(super) minimum: Option<Number>,
    pub(super) maximum: Option<Number>,
    pub(super) above: Option<Number>,
    pub(super) below: Option<Number>,
    pub(super) multiple_of: Option<Number>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct StringRules {
    pub(super) min_length: Option<u64>,
    pub(super) max_length: Option<u64>,
    pub(super) format: Option<super::format::Format>,
}

#[derive(Debug, Clone)]
pub(crate) struct ArrayRules {
    pub(super) prefix: Vec<NodeId>,
    /// What the elements after the prefix are; `None`: there are none.
    pub(super) items: Option<NodeId>,
    pub(super) min: Option<u64>,
    pub(super) max: Option<u64>,
    pub(super) unique: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct ObjectRules {
    pub(super) properties: Vec<Property>,
    /// Names and aliases; `None` while a linear search is quicker.
    pub(super) index: Option<HashMap<Box<str>, usize>>,
    pub(super) extra: Extra,
    pub(super) min: Option<u64>,
    pub(super) max: Option<u64>,
}

#[derive(Debug, Clone)]
pub(crate) struct Property {
    pub(super) name: Box<str>,
    pub(super) aliases: Vec<Box<str>>,
    pub(super) node: NodeId,
    pub(super) required: bool,
    /// What is filled in where the member is absent, in canonical form.
    pub(super) default: Option<Box<str>>,
    /// `null` is a value of its own. Otherwise it means that the member is absent: so it does for
    /// every optional member, unless its schema takes `null` and declares a default beside it.
    pub(super) null_is_a_value: bool,
}

/// What members without a declared name may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extra {
    Refused,
    /// Any name; the value is checked against the node.
    Any(NodeId),
    /// Names that are whole numbers, as maps with number keys have.
    Integers {
        node: NodeId,
        signed: bool,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct Union {
    pub(super) branches: Vec<NodeId>,
    /// `oneOf` of branches that can't be told apart: more than one match is an error.
    pub(super) exactly_one: bool,
    /// Per JSON type (in the order of [`TYPE_SLOTS`]): which branches can take it.
    pub(super) by_type: [Vec<usize>; 6],
    /// How an object says which branch it is.
    pub(super) tag: Option<Tag>,
}

/// What `by_type` is indexed by.
pub(super) const TYPE_SLOTS: [Types; 6] =
    [Types::NULL, Types::BOOLEAN, Types::NUMBER, Types::STRING, Types::ARRAY, Types::OBJECT];

#[derive(Debug, Clone)]
pub(crate) enum Tag {
    /// The value of this property, by canonical text (`#[serde(tag = …)]`).
    Value { property: Box<str>, branches: Vec<(String, usize)> },
    /// The name of the only property (serde's externally tagged form).
    Name { branches: Vec<(Box<str>, usize)> },
}

impl ObjectRules {
    /// What the value of a member is that canonical texts call `name`.
    pub(super) fn value_of(&self, name: &str) -> Option<NodeId> {
        match (self.find(name), self.extra) {
            (Some((position, false)), _) => Some(self.properties[position].node),
            // An alias: texts have it by another name.
            (Some((_, true)), _) | (None, Extra::Refused) => None,
            (None, Extra::Any(node) | Extra::Integers { node, .. }) => Some(node),
        }
    }

    /// Which declared property `key` names, and whether it does so by an alias.
    pub(super) fn find(&self, key: &str) -> Option<(usize, bool)> {
        let position = match &self.index {
            Some(index) => *index.get(key)?,
            None => self.properties.iter().position(|property| *property.name == *key)?,
        };
        Some((position, *self.properties[position].name != *key))
    }
}
