//! JSON Schema (2020-12) → the graph that the walker reads.
//!
//! What composes schemas (`$ref` with siblings, `allOf`, properties beside `oneOf`) is merged here,
//! once, so that the walker meets only plain nodes and unions. What can't be merged, and every
//! keyword the walker doesn't know, is left to the `jsonschema` crate.

mod defaults;
mod merge;
mod sound;
mod union;

use std::collections::{HashMap, HashSet};

use super::format::{FOREIGN_FORMATS, Format};
use super::hints;
use super::json::{Json, Number, same_value};
use super::node::{
    ArrayRules, Extra, Graph, Marks, Node, NodeId, NumberRules, ObjectRules, Plain, Property, Purpose, Shape,
    StringRules, Types,
};
use super::normalise::{SIGNED_KEY, UNSIGNED_KEY};
use defaults::settle_defaults;
use merge::merge;

/// A compiled schema, and what kept it from being enforced by the walker alone.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) graph: Graph,
    /// Keywords that need the `jsonschema` crate, by JSON pointer.
    pub(crate) foreign: Vec<String>,
    /// What makes the schema unusable, by JSON pointer.
    pub(crate) issues: Vec<Issue>,
}

/// Something in a schema that can't be enforced, or can't be true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// JSON pointer into the schema.
    pub pointer: String,
    /// What is wrong there.
    pub what: String,
}

impl std::fmt::Display for Issue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at `{}`: {}", if self.pointer.is_empty() { "/" } else { &self.pointer }, self.what)
    }
}

/// Keywords that describe and don't constrain.
const ANNOTATIONS: [&str; 15] = [
    "$schema",
    "$id",
    "$anchor",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "contentEncoding",
    "contentMediaType",
];

/// Keywords that the walker enforces.
const NATIVE: [&str; 21] = [
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "format",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "required",
    "additionalProperties",
    "minProperties",
    "maxProperties",
];

/// Keywords of the standard that only the `jsonschema` crate enforces.
const FOREIGN: [&str; 17] = [
    "pattern",
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "contains",
    "minContains",
    "maxContains",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
    "$dynamicRef",
    "$recursiveRef",
];

fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword) || keyword.starts_with("x-")
}

/// How many forms a union may have, after its parts were multiplied out.
const MAX_BRANCHES: usize = 256;

/// How many nodes a schema may have once references with siblings were merged.
const MAX_NODES: usize = 100_000;

/// How many schemas one schema may be merged of: parts that hold each other several times double at each level.
const MAX_PARTS: usize = 4_096;

/// How many bytes of schemas may be merged: a union that is multiplied out repeats what stands beside it.
const MAX_MERGED: usize = 16 << 20;

/// Where a schema comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A Rust type: `unevaluatedProperties: false` stands only where the whole object is described.
    RustType,
    /// Somebody wrote it, and it means what the standard says.
    Written,
}

pub(crate) fn compile(schema: &Json, origin: Origin, purpose: Purpose) -> Compiled {
    let mut compiler = Compiler {
        document: schema,
        origin,
        nodes: Vec::new(),
        links: HashMap::new(),
        foreign: Vec::new(),
        foreign_nodes: HashSet::new(),
        defaulted: HashMap::new(),
        issues: Vec::new(),
        depth: 0,
        merged: 0,
    };
    let root = compiler.node(schema, "");
    compiler.refuse_endless_references();
    compiler.settle_unions();
    compiler.refuse_foreign_trials();
    let parts = compiler.foreign_parts();
    let Compiler { nodes, mut foreign, mut issues, .. } = compiler;
    foreign.sort();
    foreign.dedup();
    let has_secrets = nodes.iter().any(|node| node.marks.secret);
    let mut graph = Graph { nodes, root, purpose, has_secrets };
    settle_defaults(&mut graph, &parts, &mut issues);
    issues.sort_by(|a, b| a.pointer.cmp(&b.pointer).then_with(|| a.what.cmp(&b.what)));
    issues.dedup();
    Compiled { graph, foreign, issues }
}

struct Compiler<'a> {
    document: &'a Json,
    origin: Origin,
    nodes: Vec<Node>,
    /// Nodes by the pointer they were reached by, or by the text of what was merged into them.
    links: HashMap<String, NodeId>,
    foreign: Vec<String>,
    /// Nodes of which the walker knows only a part.
    foreign_nodes: HashSet<NodeId>,
    /// The schemas of members that have defaults, which only the `jsonschema` crate has a use for.
    defaulted: HashMap<NodeId, Json>,
    issues: Vec<Issue>,
    depth: usize,
    /// Bytes of schemas that were merged.
    merged: usize,
}

impl Compiler<'_> {
    fn issue(&mut self, pointer: &str, what: impl Into<String>) {
        self.issues.push(Issue { pointer: super::text::head(pointer, 256).to_owned(), what: what.into() });
    }

    /// Leaves a keyword to the `jsonschema` crate.
    fn leave(&mut self, pointer: String) {
        self.foreign.push(pointer);
    }

    fn push(&mut self, shape: Shape, marks: Marks) -> NodeId {
        self.nodes.push(Node { shape, marks });
        self.nodes.len() - 1
    }

    fn any(&mut self) -> NodeId {
        self.push(Shape::Plain(Box::new(Plain::any())), Marks::default())
    }

    fn node(&mut self, schema: &Json, pointer: &str) -> NodeId {
        match schema {
            Json::Bool(true) => return self.any(),
            Json::Bool(false) => return self.push(Shape::Plain(Box::new(Plain::never())), Marks::default()),
            Json::Object(_) => {}
            _ => {
                self.issue(pointer, "a schema has to be an object or a boolean");
                return self.any();
            }
        }
        if self.depth > 256 || self.nodes.len() > MAX_NODES || self.merged > MAX_MERGED {
            self.issue(pointer, "the schema is too large or nests too deeply");
            return self.any();
        }
        self.depth += 1;
        let node = self.object_schema(schema, pointer);
        self.depth -= 1;
        node
    }

    fn object_schema(&mut self, schema: &Json, pointer: &str) -> NodeId {
        let marks = marks_of(schema);
        if let Some(reference) = schema.get("$ref") {
            let alone = schema
                .as_object()
                .is_some_and(|members| members.iter().all(|(keyword, _)| keyword == "$ref" || is_annotation(keyword)));
            if alone {
                let target = self.reference(reference, pointer);
                return if marks == Marks::default() { target } else { self.push(Shape::Link(target), marks) };
            }
        }
        if schema.get("$ref").is_none() && schema.get("allOf").is_none() {
            return self.composed(schema, marks, pointer);
        }
        // What is merged may hold itself: it is known by its text, and reserved before it is merged.
        let text = schema.to_string();
        if let Some(&node) = self.links.get(&text) {
            return node;
        }
        let node = self.any();
        self.merged += text.len();
        self.links.insert(text, node);
        let content = self.composed(schema, marks, pointer);
        self.nodes[node] = Node { shape: Shape::Link(content), marks: Marks::default() };
        node
    }

    fn composed(&mut self, schema: &Json, marks: Marks, pointer: &str) -> NodeId {
        let before = self.foreign.len();
        let Some((base, unions)) = self.gather(schema, pointer) else {
            // What the parts allow together can't be said in one node.
            self.leave(format!("{pointer}/allOf"));
            let node = self.push(Shape::Plain(Box::new(Plain::any())), marks);
            self.foreign_nodes.insert(node);
            return node;
        };
        match unions.split_first() {
            None => {
                let plain = self.plain(&base, pointer);
                let node = self.push(Shape::Plain(Box::new(plain)), marks);
                if self.foreign.len() > before {
                    self.foreign_nodes.insert(node);
                }
                node
            }
            Some((first, rest)) => self.union(&base, first, rest, marks, pointer),
        }
    }

    /// The node of a local reference, compiled once.
    fn reference(&mut self, reference: &Json, pointer: &str) -> NodeId {
        let Some((target, schema)) = self.resolve(reference, pointer) else {
            return self.any();
        };
        if let Some(&node) = self.links.get(&target) {
            return node;
        }
        // Reserved before its content is compiled, so that recursion finds it.
        let node = self.push(Shape::Plain(Box::new(Plain::any())), Marks::default());
        self.links.insert(target.clone(), node);
        let content = self.node(&schema, &target);
        self.nodes[node] = Node { shape: Shape::Link(content), marks: Marks::default() };
        node
    }

    fn resolve(&mut self, reference: &Json, pointer: &str) -> Option<(String, Json)> {
        let target = reference.as_str().and_then(|text| text.strip_prefix('#'));
        let found = target.and_then(|target| {
            if target.is_empty() || target.starts_with('/') {
                let decoded = percent_decode(target);
                self.document.pointer(&decoded).map(|schema| (decoded, schema.clone()))
            } else {
                None
            }
        });
        if found.is_none() {
            self.issue(
                &format!("{pointer}/$ref"),
                format!("`{reference}` refers to nothing in this schema; only local references can be followed"),
            );
        }
        found
    }

    /// Merges a schema with all it refers to, apart from its unions, which are given beside.
    fn gather(&mut self, schema: &Json, pointer: &str) -> Option<(Json, Vec<UnionOf>)> {
        let mut base = Json::Object(Vec::new());
        let mut unions = Vec::new();
        let mut pending = vec![(schema.clone(), pointer.to_owned(), 0_usize)];
        let mut parts = 0;
        while let Some((part, place, depth)) = pending.pop() {
            if depth > 32 {
                self.issue(pointer, "references and `allOf` lead to each other without end");
                return Some((base, unions));
            }
            parts += 1;
            if parts > MAX_PARTS {
                self.issue(pointer, format!("more than {MAX_PARTS} parts that hold at once"));
                return Some((base, unions));
            }
            let mut rest = match part {
                Json::Bool(true) => continue,
                Json::Object(_) => part,
                Json::Bool(false) => {
                    base = Json::Object(vec![("enum".into(), Json::Array(Vec::new()))]);
                    continue;
                }
                _ => {
                    self.issue(&place, "a schema has to be an object or a boolean");
                    continue;
                }
            };
            if let Some(reference) = rest.remove("$ref")
                && let Some((target, schema)) = self.resolve(&reference, &place)
            {
                pending.push((schema, target, depth + 1));
            }
            match rest.remove("allOf") {
                None => {}
                Some(Json::Array(parts)) if !parts.is_empty() => {
                    for (index, part) in parts.into_iter().enumerate().rev() {
                        pending.push((part, format!("{place}/allOf/{index}"), depth + 1));
                    }
                }
                Some(_) => self.issue(&format!("{place}/allOf"), "has to be a non-empty array"),
            }
            for (keyword, exactly_one) in [("oneOf", true), ("anyOf", false)] {
                match rest.remove(keyword) {
                    None => {}
                    Some(Json::Array(branches)) if !branches.is_empty() => {
                        unions.push(UnionOf { branches, exactly_one, place: format!("{place}/{keyword}") });
                    }
                    Some(_) => self.issue(&format!("{place}/{keyword}"), "has to be a non-empty array"),
                }
            }
            base = merge(base, rest)?;
        }
        Some((base, unions))
    }

    fn plain(&mut self, schema: &Json, pointer: &str) -> Plain {
        for (keyword, _) in schema.as_object().unwrap_or_default() {
            match keyword.as_str() {
                "$id" if !pointer.is_empty() => {
                    self.issue(&format!("{pointer}/$id"), "below the root, `$id` changes what every reference means");
                }
                keyword if NATIVE.contains(&keyword) || is_annotation(keyword) => {}
                "unevaluatedProperties" if self.origin == Origin::RustType => {}
                "patternProperties" if number_keys(schema).is_some() => {}
                keyword if FOREIGN.contains(&keyword) => self.leave(format!("{pointer}/{keyword}")),
                keyword => self.issue(&format!("{pointer}/{keyword}"), "a keyword that nothing here enforces"),
            }
        }
        let types = self.types(schema, pointer);
        if self.origin == Origin::RustType {
            self.refuse_limits_of_others(schema, types, pointer);
        }
        let one_of = self.one_of(schema, pointer);
        Plain {
            types,
            one_of,
            number: self.number(schema, pointer).map(Box::new),
            string: self.string(schema, pointer).map(Box::new),
            array: types.has(Types::ARRAY).then(|| self.array(schema, pointer)).flatten().map(Box::new),
            object: types.has(Types::OBJECT).then(|| self.object(schema, pointer)).flatten().map(Box::new),
        }
    }

    /// A limit of values of another kind limits nothing, and whoever wrote it above an argument meant something.
    fn refuse_limits_of_others(&mut self, schema: &Json, types: Types, pointer: &str) {
        const LIMITS: [(&str, Types, &str); 7] = [
            ("minimum", Types::NUMBER, "numbers"),
            ("maximum", Types::NUMBER, "numbers"),
            ("exclusiveMaximum", Types::NUMBER, "numbers"),
            ("minLength", Types::STRING, "strings"),
            ("maxLength", Types::STRING, "strings"),
            ("pattern", Types::STRING, "strings"),
            ("format", Types::STRING, "strings"),
        ];
        for (keyword, of, kind) in LIMITS {
            if schema.get(keyword).is_some() && !types.has(of) {
                let names = types.names().join(" or ");
                self.issue(
                    &format!("{pointer}/{keyword}"),
                    format!("a limit of {kind} stands at a value of type {names}"),
                );
            }
        }
    }

    fn types(&mut self, schema: &Json, pointer: &str) -> Types {
        let Some(value) = schema.get("type") else {
            return Types::ALL;
        };
        let names = match value {
            Json::String(_) => std::slice::from_ref(value),
            Json::Array(names) => names,
            _ => &[],
        };
        let types = names.iter().map(|name| name.as_str().and_then(Types::named)).collect::<Option<Vec<_>>>();
        match types {
            Some(types) if !types.is_empty() => types.into_iter().fold(Types::NONE, Types::with),
            _ => {
                self.issue(&format!("{pointer}/type"), "has to be one or several of JSON Schema's type names");
                Types::ALL
            }
        }
    }

    fn one_of(&mut self, schema: &Json, pointer: &str) -> Option<Vec<String>> {
        let listed = match schema.get("enum") {
            None => None,
            Some(Json::Array(values)) => Some(values.iter().map(Json::canonical).collect::<Vec<_>>()),
            Some(_) => {
                self.issue(&format!("{pointer}/enum"), "has to be an array");
                None
            }
        };
        let constant = schema.get("const").map(Json::canonical);
        match (listed, constant) {
            (Some(listed), Some(constant)) => {
                Some(listed.into_iter().filter(|text| same_value(text, &constant)).collect())
            }
            (None, Some(constant)) => Some(vec![constant]),
            (listed, None) => listed,
        }
    }

    fn bound(&mut self, schema: &Json, keyword: &str, pointer: &str) -> Option<Number> {
        let value = schema.get(keyword)?;
        let number = value.as_number().and_then(Number::parse);
        if number.is_none() {
            self.issue(&format!("{pointer}/{keyword}"), "has to be a number");
        }
        number
    }

    fn count(&mut self, schema: &Json, keyword: &str, pointer: &str) -> Option<u64> {
        let value = schema.get(keyword)?;
        let count = value.as_number().and_then(|text| text.parse().ok());
        if count.is_none() {
            self.issue(&format!("{pointer}/{keyword}"), "has to be a whole number that isn't negative");
        }
        count
    }

    fn number(&mut self, schema: &Json, pointer: &str) -> Option<NumberRules> {
        let mut rules = NumberRules {
            minimum: self.bound(schema, "minimum", pointer),
            maximum: self.bound(schema, "maximum", pointer),
            above: self.bound(schema, "exclusiveMinimum", pointer),
            below: self.bound(schema, "exclusiveMaximum", pointer),
            multiple_of: self.bound(schema, "multipleOf", pointer),
        };
        match rules.multiple_of {
            Some(Number::Integer(step)) if step > 0 => {}
            Some(Number::Float(step)) if step > 0.0 => {
                // A fraction of a fraction needs decimal arithmetic.
                self.leave(format!("{pointer}/multipleOf"));
                rules.multiple_of = None;
            }
            Some(_) => self.issue(&format!("{pointer}/multipleOf"), "has to be larger than 0"),
            None => {}
        }
        let NumberRules { minimum, maximum, above, below, multiple_of } = &rules;
        let any = [minimum, maximum, above, below, multiple_of].into_iter().any(Option::is_some);
        any.then_some(rules)
    }

    fn string(&mut self, schema: &Json, pointer: &str) -> Option<StringRules> {
        let format = schema.get("format").and_then(|format| {
            let name = format.as_str().unwrap_or_default();
            let known = Format::named(name);
            if known.is_none() && FOREIGN_FORMATS.contains(&name) {
                self.leave(format!("{pointer}/format"));
            } else if known.is_none() {
                self.issue(&format!("{pointer}/format"), "a format that nothing here enforces");
            }
            known
        });
        let rules = StringRules {
            min_length: self.count(schema, "minLength", pointer),
            max_length: self.count(schema, "maxLength", pointer),
            format,
        };
        (rules.min_length.is_some() || rules.max_length.is_some() || rules.format.is_some()).then_some(rules)
    }

    fn array(&mut self, schema: &Json, pointer: &str) -> Option<ArrayRules> {
        let mut prefix = Vec::new();
        match schema.get("prefixItems") {
            None => {}
            Some(Json::Array(parts)) => {
                for (index, part) in parts.iter().enumerate() {
                    prefix.push(self.node(part, &format!("{pointer}/prefixItems/{index}")));
                }
            }
            Some(_) => self.issue(&format!("{pointer}/prefixItems"), "has to be an array"),
        }
        let items = match schema.get("items") {
            None => Some(self.any()),
            Some(Json::Bool(false)) => None,
            Some(items) => Some(self.node(items, &format!("{pointer}/items"))),
        };
        let unique = match schema.get("uniqueItems") {
            None => false,
            Some(Json::Bool(unique)) => *unique,
            Some(_) => {
                self.issue(&format!("{pointer}/uniqueItems"), "has to be a boolean");
                false
            }
        };
        let rules = ArrayRules {
            prefix,
            items,
            min: self.count(schema, "minItems", pointer),
            max: self.count(schema, "maxItems", pointer),
            unique,
        };
        let said = ["prefixItems", "items", "minItems", "maxItems", "uniqueItems"]
            .iter()
            .any(|keyword| schema.get(keyword).is_some());
        said.then_some(rules)
    }

    fn object(&mut self, schema: &Json, pointer: &str) -> Option<ObjectRules> {
        let said = [
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "minProperties",
            "maxProperties",
            "unevaluatedProperties",
        ]
        .iter()
        .any(|keyword| schema.get(keyword).is_some());
        if !said {
            return None;
        }
        let required = self.required(schema, pointer);
        let mut properties = Vec::new();
        let mut extra_required = required.clone();
        match schema.get("properties") {
            None => {}
            Some(Json::Object(members)) => {
                for (name, value) in members {
                    let place = format!("{pointer}/properties/{}", name.replace('~', "~0").replace('/', "~1"));
                    let node = self.node(value, &place);
                    extra_required.retain(|other| other != name);
                    if cfg!(feature = "jsonschema") && value.get("default").is_some() {
                        self.defaulted.insert(node, value.clone());
                    }
                    properties.push(Property {
                        name: name.as_str().into(),
                        aliases: hints::aliases(value).map(Into::into).collect(),
                        node,
                        required: required.contains(name),
                        default: value.get("default").map(|default| default.to_string().into()),
                        null_is_a_value: false,
                    });
                }
            }
            Some(_) => self.issue(&format!("{pointer}/properties"), "has to be an object"),
        }
        let extra = self.extra(schema, pointer);
        for name in extra_required {
            // Required, and described by what holds for any further member.
            let node = match extra {
                Extra::Any(node) | Extra::Integers { node, .. } => node,
                Extra::Refused => {
                    self.issue(&format!("{pointer}/required"), format!("`{name}` is required and can't be given"));
                    continue;
                }
            };
            properties.push(Property {
                name: name.into(),
                aliases: Vec::new(),
                node,
                required: true,
                default: None,
                null_is_a_value: true,
            });
        }
        self.refuse_clashing_aliases(&properties, pointer);
        let index =
            (properties.len() > 12 || properties.iter().any(|property| !property.aliases.is_empty())).then(|| {
                properties
                    .iter()
                    .enumerate()
                    .flat_map(|(position, property)| {
                        std::iter::once(&property.name)
                            .chain(&property.aliases)
                            .map(move |name| (name.clone(), position))
                    })
                    .collect()
            });
        Some(ObjectRules {
            properties,
            index,
            extra,
            min: self.count(schema, "minProperties", pointer),
            max: self.count(schema, "maxProperties", pointer),
        })
    }

    fn refuse_clashing_aliases(&mut self, properties: &[Property], pointer: &str) {
        let mut names: Vec<&str> = properties
            .iter()
            .flat_map(|property| std::iter::once(&property.name).chain(&property.aliases))
            .map(|name| &**name)
            .collect();
        names.sort_unstable();
        let twice: Vec<String> =
            names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0].to_owned()).collect();
        for name in twice {
            self.issue(&format!("{pointer}/properties"), format!("`{name}` names two members"));
        }
    }

    fn required(&mut self, schema: &Json, pointer: &str) -> Vec<String> {
        let names = match schema.get("required") {
            None => Some(Vec::new()),
            Some(Json::Array(names)) => names.iter().map(|name| name.as_str().map(str::to_owned)).collect(),
            Some(_) => None,
        };
        names.unwrap_or_else(|| {
            self.issue(&format!("{pointer}/required"), "has to be an array of names");
            Vec::new()
        })
    }

    fn extra(&mut self, schema: &Json, pointer: &str) -> Extra {
        let closed = |keyword| schema.get(keyword) == Some(&Json::Bool(false));
        let additional = schema.get("additionalProperties");
        let refused =
            closed("additionalProperties") || (closed("unevaluatedProperties") && self.origin == Origin::RustType);
        if let Some(patterns) = schema.get("patternProperties") {
            if let (Some(signed), Some([(_, value)])) = (number_keys(schema), patterns.as_object()) {
                let node = self.node(value, &format!("{pointer}/patternProperties"));
                return Extra::Integers { node, signed };
            }
            return Extra::Any(self.any());
        }
        if refused {
            return Extra::Refused;
        }
        match additional {
            None | Some(Json::Bool(_)) => Extra::Any(self.any()),
            Some(value) => Extra::Any(self.node(value, &format!("{pointer}/additionalProperties"))),
        }
    }
}

/// Are the members of an object named by whole numbers, and may these be negative? `schemars`
/// describes maps with number keys so, and these need no regular expression.
fn number_keys(schema: &Json) -> Option<bool> {
    let patterns = schema.get("patternProperties").and_then(Json::as_object)?;
    match (patterns, schema.get("additionalProperties")) {
        ([(pattern, _)], Some(Json::Bool(false))) if pattern == UNSIGNED_KEY => Some(false),
        ([(pattern, _)], Some(Json::Bool(false))) if pattern == SIGNED_KEY => Some(true),
        _ => None,
    }
}

struct UnionOf {
    branches: Vec<Json>,
    exactly_one: bool,
    place: String,
}

fn marks_of(schema: &Json) -> Marks {
    let set = |hint| schema.get(hint) == Some(&Json::Bool(true));
    Marks { secret: set(hints::SECRET), path: set(hints::PATH), authored: set(hints::AUTHORED), hidden: false }
}

/// `%25` and the like in the fragment of a reference.
pub(crate) fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let decoded = (first == b'%')
            .then(|| std::str::from_utf8(after.get(..2)?).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok()))
            .flatten();
        match decoded {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
