//! The graph of a schema along which arguments are brought back.

use std::collections::HashMap;

use super::super::merge::names;
use super::super::names::Rule;
use super::{Member, Node};
use crate::schema::json::Json;
use crate::schema::percent_decode;

pub(super) struct Builder<'a> {
    pub(super) document: &'a Json,
    pub(super) keys: Option<Rule>,
    /// Nodes by pointer.
    pub(super) known: HashMap<String, usize>,
    pub(super) nodes: Vec<Node>,
    /// Whether `null` is among the values of what references lead to, by pointer.
    pub(super) nulls: HashMap<String, bool>,
}

impl Builder<'_> {
    pub(super) fn node(&mut self, schema: &Json, pointer: &str, depth: usize) -> usize {
        if let Some(&node) = self.known.get(pointer) {
            return node;
        }
        let at = self.nodes.len();
        self.known.insert(pointer.to_owned(), at);
        self.nodes.push(Node::default());
        if depth > crate::schema::MAX_DEPTH {
            return at;
        }
        let mut node = Node::default();
        if let Some((target, content)) = self.resolve(schema) {
            node.parts.push(self.node(&content, &target, depth + 1));
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for (index, part) in schema.get(keyword).and_then(Json::as_array).unwrap_or_default().iter().enumerate() {
                let inner = self.node(part, &format!("{pointer}/{keyword}/{index}"), depth + 1);
                if keyword == "allOf" { &mut node.parts } else { &mut node.forms }.push(inner);
            }
        }
        let required = schema.get("required").and_then(Json::as_array).unwrap_or_default();
        node.required = required.iter().filter_map(Json::as_str).map(str::to_owned).collect();
        for (name, inner) in schema.get("properties").and_then(Json::as_object).unwrap_or_default() {
            let place = format!("{pointer}/properties/{}", name.replace('~', "~0").replace('/', "~1"));
            let optional = !node.required.contains(name);
            let constant = match (inner.get("const"), inner.get("enum").and_then(Json::as_array)) {
                (Some(constant), _) => Some(constant.clone()),
                (None, Some([constant])) => Some(constant.clone()),
                _ => None,
            };
            node.members.push(Member {
                name: name.clone(),
                wire: self.keys.map_or_else(|| name.clone(), |rule| rule.spell(name).into_owned()),
                node: self.node(inner, &place, depth + 1),
                null_is_absence: optional && !self.takes_null(inner, 0),
                optional,
                constant,
            });
        }
        for name in node.required.clone() {
            // Required, and of the kind of further members; its name is the schema's all the same.
            if !node.members.iter().any(|member| member.name == name)
                && let Some(rule) = self.keys
                && !rule.is_legal(&name)
            {
                let further = self.further(schema, pointer, depth);
                let inner = further.first().copied();
                let inner =
                    inner.unwrap_or_else(|| self.node(&Json::Bool(true), &format!("{pointer}/required/{name}"), depth));
                let wire = rule.spell(&name).into_owned();
                node.members.push(Member {
                    name,
                    wire,
                    node: inner,
                    null_is_absence: false,
                    optional: false,
                    constant: None,
                });
            }
        }
        node.further = self.further(schema, pointer, depth);
        node.closed =
            schema.get("additionalProperties") == Some(&Json::Bool(false)) && schema.get("patternProperties").is_none();
        for keyword in ["prefixItems", "items"] {
            for (index, inner) in schema.get(keyword).and_then(Json::as_array).unwrap_or_default().iter().enumerate() {
                node.prefix.push(self.node(inner, &format!("{pointer}/{keyword}/{index}"), depth + 1));
            }
        }
        for keyword in ["additionalItems", "items"] {
            if let Some(inner @ Json::Object(_)) = schema.get(keyword) {
                node.items = Some(self.node(inner, &format!("{pointer}/{keyword}"), depth + 1));
            }
        }
        self.nodes[at] = node;
        at
    }

    fn further(&mut self, schema: &Json, pointer: &str, depth: usize) -> Vec<usize> {
        let mut further = Vec::new();
        for keyword in ["additionalProperties", "unevaluatedProperties"] {
            if let Some(inner @ Json::Object(_)) = schema.get(keyword) {
                further.push(self.node(inner, &format!("{pointer}/{keyword}"), depth + 1));
            }
        }
        for (pattern, inner) in schema.get("patternProperties").and_then(Json::as_object).unwrap_or_default() {
            let place = format!("{pointer}/patternProperties/{}", pattern.replace('~', "~0").replace('/', "~1"));
            further.push(self.node(inner, &place, depth + 1));
        }
        further
    }

    fn resolve(&self, schema: &Json) -> Option<(String, Json)> {
        let target = percent_decode(schema.get("$ref")?.as_str()?.strip_prefix('#')?);
        let content = self.document.pointer(&target)?.clone();
        Some((target, content))
    }

    /// Is `null` among the values of this schema? Where that isn't plain, it is.
    fn takes_null(&mut self, schema: &Json, depth: usize) -> bool {
        let Json::Object(_) = schema else { return *schema == Json::Bool(true) };
        if depth > 16 {
            return true;
        }
        let typed = schema.get("type").is_none_or(|types| names(types).iter().any(|name| name == "null"));
        let listed = schema.get("const").is_none_or(|value| *value == Json::Null)
            && schema.get("enum").and_then(Json::as_array).is_none_or(|values| values.contains(&Json::Null));
        let all = |keyword: &str| schema.get(keyword).and_then(Json::as_array).unwrap_or_default();
        let mut some = |keyword: &str| {
            schema.get(keyword).is_none() || all(keyword).iter().any(|form| self.takes_null(form, depth + 1))
        };
        typed
            && listed
            && some("anyOf")
            && some("oneOf")
            && all("allOf").iter().all(|part| self.takes_null(part, depth + 1))
            && self.resolve(schema).is_none_or(|(target, content)| self.target_takes_null(target, &content, depth + 1))
    }

    /// Each is asked once, since references lead to one another along very many ways.
    fn target_takes_null(&mut self, target: String, content: &Json, depth: usize) -> bool {
        if let Some(&known) = self.nulls.get(&target) {
            return known;
        }
        // What comes round to itself isn't plain.
        self.nulls.insert(target.clone(), true);
        let takes_null = self.takes_null(content, depth);
        self.nulls.insert(target, takes_null);
        takes_null
    }
}
