//! A schema by the names of the wire: of properties, and in all that is data.

use std::collections::{HashMap, HashSet};

use super::walk::Walk;
use super::{Inverse, Way};
use crate::schema::json::Json;
use crate::schema::{MAX_DEPTH, percent_decode};

/// Whatever a model is shown of a schema speaks the names by which it writes: its default is one that a model could
/// write, and so are what an `enum` lists and what a condition is about.
pub(super) struct Spelling<'a> {
    pub(super) inverse: &'a Inverse,
    /// The inverse's nodes, by pointers into the schema.
    pub(super) places: &'a HashMap<String, usize>,
    /// Names of properties that are others on the wire.
    pub(super) renamed: HashMap<String, String>,
    pub(super) walked: HashSet<String>,
}

impl Spelling<'_> {
    pub(super) fn document(mut self, document: &Json) -> Json {
        let mut made = self.schema(document, "", &[], 0);
        // What references lead to may stand under keywords that no schema has.
        let mut led: Vec<&String> = self.places.keys().collect();
        led.sort_by_key(|pointer| (pointer.len(), *pointer));
        for pointer in led {
            if !self.walked.contains(pointer)
                && let Some(schema) = document.pointer(pointer)
            {
                let spelt = self.schema(schema, pointer, &[], 0);
                put(&mut made, &respelt(pointer, |name| self.renamed.get(name).cloned()), spelt);
            }
        }
        made
    }

    /// `beside` has the nodes of other schemas that speak of the same value.
    fn schema(&mut self, schema: &Json, pointer: &str, beside: &[usize], depth: usize) -> Json {
        let Json::Object(members) = schema else { return schema.clone() };
        self.walked.insert(pointer.to_owned());
        if depth > MAX_DEPTH {
            return schema.clone();
        }
        let mut roots = beside.to_vec();
        roots.extend(self.places.get(pointer));
        let each = members.iter().map(|(keyword, value)| {
            let value = self.keyword(keyword, value, &format!("{pointer}/{}", escaped(keyword)), &roots, depth + 1);
            (keyword.clone(), value)
        });
        Json::Object(each.collect())
    }

    fn keyword(&mut self, keyword: &str, value: &Json, pointer: &str, roots: &[usize], depth: usize) -> Json {
        match (keyword, value) {
            ("default" | "const", value) => self.data(value, roots),
            ("enum" | "examples", Json::Array(values)) => {
                Json::Array(values.iter().map(|value| self.data(value, roots)).collect())
            }
            ("properties", Json::Object(properties)) => {
                let inverse = self.inverse;
                let here = inverse.closure(roots);
                let each = properties.iter().map(|(name, schema)| {
                    let found = inverse.members(&here, name, Way::Out);
                    let wire = found.first().map_or(name, |member| &member.wire).clone();
                    let nodes: Vec<usize> = found.iter().map(|member| member.node).collect();
                    (wire, self.schema(schema, &format!("{pointer}/{}", escaped(name)), &nodes, depth))
                });
                Json::Object(each.collect())
            }
            ("required", names) => self.names(names, roots),
            ("dependentRequired" | "dependentSchemas" | "dependencies", Json::Object(members)) => {
                let each = members.iter().map(|(name, needed)| {
                    let inner = match needed {
                        Json::Array(_) => self.names(needed, roots),
                        schema => self.schema(schema, &format!("{pointer}/{}", escaped(name)), roots, depth),
                    };
                    (self.name(name, roots), inner)
                });
                Json::Object(each.collect())
            }
            ("propertyNames", Json::Object(members)) => {
                // Its values are names.
                let each = members.iter().map(|(keyword, value)| match (keyword.as_str(), value) {
                    ("const", Json::String(name)) => (keyword.clone(), Json::String(self.name(name, roots))),
                    ("enum", names) => (keyword.clone(), self.names(names, roots)),
                    _ => (keyword.clone(), value.clone()),
                });
                Json::Object(each.collect())
            }
            ("allOf" | "anyOf" | "oneOf", Json::Array(parts)) => self.list(parts, pointer, |_| roots.to_vec(), depth),
            ("not" | "if" | "then" | "else", schema) => self.schema(schema, pointer, roots, depth),
            ("items" | "prefixItems", Json::Array(elements)) => {
                let here = self.inverse.closure(roots);
                let inverse = self.inverse;
                self.list(elements, pointer, |index| inverse.elements(&here, index), depth)
            }
            ("items" | "additionalItems" | "unevaluatedItems" | "contains", schema @ Json::Object(_)) => {
                let beside = self.inverse.elements(&self.inverse.closure(roots), usize::MAX);
                self.schema(schema, pointer, &beside, depth)
            }
            ("additionalProperties" | "unevaluatedProperties", schema) => self.schema(schema, pointer, &[], depth),
            ("patternProperties" | "$defs" | "definitions", Json::Object(members)) => {
                let each = members.iter().map(|(name, schema)| {
                    (name.clone(), self.schema(schema, &format!("{pointer}/{}", escaped(name)), &[], depth))
                });
                Json::Object(each.collect())
            }
            ("$ref", Json::String(reference)) => match reference.strip_prefix('#') {
                Some(target) => Json::String(format!("#{}", respelt(target, |name| self.renamed.get(name).cloned()))),
                None => value.clone(),
            },
            _ => value.clone(),
        }
    }

    fn list(&mut self, schemas: &[Json], pointer: &str, beside: impl Fn(usize) -> Vec<usize>, depth: usize) -> Json {
        let each = schemas.iter().enumerate();
        Json::Array(
            each.map(|(at, schema)| self.schema(schema, &format!("{pointer}/{at}"), &beside(at), depth)).collect(),
        )
    }

    /// A value as a model would write it.
    fn data(&self, value: &Json, roots: &[usize]) -> Json {
        match value {
            Json::Object(_) | Json::Array(_) => {
                let mut walk = Walk { inverse: self.inverse, way: Way::Out, changed: false };
                walk.value(value.clone(), &self.inverse.closure(roots))
            }
            value => value.clone(),
        }
    }

    fn names(&self, names: &Json, roots: &[usize]) -> Json {
        let name = |name: &Json| match name {
            Json::String(name) => Json::String(self.name(name, roots)),
            other => other.clone(),
        };
        Json::Array(names.as_array().unwrap_or_default().iter().map(name).collect())
    }

    /// The name of a property that is known here; what isn't is a key of an open object, and data.
    fn name(&self, name: &str, roots: &[usize]) -> String {
        if !self.renamed.contains_key(name) {
            return name.to_owned();
        }
        let found = self.inverse.closure(roots);
        self.inverse
            .members(&found, name, Way::Out)
            .first()
            .map_or_else(|| name.to_owned(), |member| member.wire.clone())
    }
}

pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A pointer into a schema, whose names of properties are changed where there is another.
pub(super) fn respelt(pointer: &str, other: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(pointer.len());
    let mut next = Next::Keyword;
    for (index, segment) in pointer.split('/').enumerate() {
        if index > 0 {
            out.push('/');
        }
        let name = || percent_decode(segment).replace("~1", "/").replace("~0", "~");
        match (index, next) {
            (0, _) => out.push_str(segment),
            (_, Next::Property) => {
                let spelt = other(&name()).map(|name| escaped(&name));
                out.push_str(spelt.as_deref().unwrap_or(segment));
                next = Next::Keyword;
            }
            (_, Next::Name) => {
                out.push_str(segment);
                next = Next::Keyword;
            }
            (_, Next::Keyword) => {
                out.push_str(segment);
                next = match segment {
                    "properties" => Next::Property,
                    "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => Next::Name,
                    _ => Next::Keyword,
                };
            }
        }
    }
    out
}

/// What a segment of a pointer is.
#[derive(Debug, Clone, Copy)]
enum Next {
    Keyword,
    Property,
    Name,
}

fn put(document: &mut Json, pointer: &str, value: Json) {
    let mut here = document;
    for segment in pointer.split('/').skip(1) {
        let name = segment.replace("~1", "/").replace("~0", "~");
        let inner = match here {
            Json::Array(elements) => name.parse().ok().and_then(|at: usize| elements.get_mut(at)),
            object => object.get_mut(&name),
        };
        match inner {
            Some(inner) => here = inner,
            None => return,
        }
    }
    *here = value;
}
