//! References and parts: what applies at once becomes one schema, or stays a reference.

use super::super::dialect::{Further, References};
use super::super::merge::{Lost, merge};
use super::super::{Reason, Refusal};
use super::descriptions::describe;
use super::keywords::is_annotation;
use super::{Engine, LEVELS, MAX_NESTED, MAX_NODES, Made, empty};
use crate::schema::json::Json;
use crate::schema::percent_decode;

/// What a reference that is kept refers to.
pub(super) struct Definition {
    pub(super) target: String,
    pub(super) name: String,
    pub(super) schema: Json,
}

/// A schema with all that applies to it besides.
pub(super) enum Gathered {
    /// Without `$ref` and `allOf`, and what was referred to.
    Merged(Json, Vec<String>),
    /// It leads into what is being made already.
    Recursive(String),
}

impl Engine<'_> {
    pub(super) fn resolve(&self, reference: &Json) -> Option<(String, Json)> {
        let target = percent_decode(reference.as_str()?.strip_prefix('#')?);
        (target.is_empty() || target.starts_with('/')).then_some(())?;
        self.document.pointer(&target).map(|schema| (target.clone(), schema.clone()))
    }

    /// All that applies at once, in one schema.
    pub(super) fn gather(&mut self, schema: &Json, pointer: &str, depth: usize) -> Result<Gathered, Refusal> {
        let mut base = schema.clone();
        let mut parts = Vec::new();
        let mut targets = Vec::new();
        let reference = base.remove("$ref");
        if let Some(reference) = reference {
            match self.resolve(&reference) {
                Some((target, content)) => {
                    let times = self.open.iter().filter(|open| **open == target).count();
                    let limit = if self.dialect.references == References::Inlined { LEVELS } else { 1 };
                    let endless = self.nodes > MAX_NODES || depth > MAX_NESTED;
                    if times > 0 && self.dialect.references == References::Finite {
                        return self.refuse(pointer, Reason::Recursive);
                    }
                    if times >= limit || endless {
                        self.lose_all_but_ref(&base, pointer);
                        return Ok(Gathered::Recursive(target));
                    }
                    parts.push((content, target.clone()));
                    targets.push(target);
                }
                None => self.lose(pointer, "$ref"),
            }
        }
        let all = match base.remove("allOf") {
            Some(Json::Array(all)) => all,
            _ => Vec::new(),
        };
        let several = !all.is_empty();
        parts.extend(all.into_iter().enumerate().map(|(index, part)| (part, format!("{pointer}/allOf/{index}"))));
        let mut lost: Vec<Lost> = Vec::new();
        for (part, place) in parts {
            self.nodes += 1;
            let inner = if targets.contains(&place) { vec![place.clone()] } else { Vec::new() };
            self.open.extend(inner.iter().cloned());
            let gathered = self.gather(&part, &place, depth + 1);
            self.open.truncate(self.open.len() - inner.len());
            match gathered? {
                Gathered::Merged(part, more) => {
                    merge(&mut base, &part, &mut lost);
                    targets.extend(more);
                }
                Gathered::Recursive(target) if several || !base.as_object().unwrap_or_default().is_empty() => {
                    // A part leads back: the rest still holds.
                    let _ = target;
                    self.lose(pointer, if several { "allOf" } else { "$ref" });
                }
                recursive @ Gathered::Recursive(_) => return Ok(recursive),
            }
        }
        let mut said = Vec::new();
        for (keyword, value) in lost {
            self.say(&mut said, pointer, &keyword, &value);
        }
        describe(&mut base, &said);
        Ok(Gathered::Merged(base, targets))
    }

    fn lose_all_but_ref(&mut self, beside: &Json, pointer: &str) {
        for (keyword, _) in beside.as_object().unwrap_or_default() {
            if !is_annotation(keyword) {
                self.lose(pointer, keyword);
            }
        }
    }

    /// A reference that stays one.
    pub(super) fn kept(&mut self, target: &str) -> Made {
        let known = self.definitions.iter().position(|definition| definition.target == target);
        let position = match known {
            Some(position) => position,
            None => {
                let base = match target.rsplit('/').next().unwrap_or_default() {
                    "" => "Root".to_owned(),
                    last => last.replace(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.' | '-'), "_"),
                };
                let mut name = base.clone();
                let mut number = 2;
                while self.definitions.iter().any(|definition| definition.name == name) {
                    name = format!("{base}{number}");
                    number += 1;
                }
                let position = self.definitions.len();
                self.definitions.push(Definition { target: target.to_owned(), name, schema: Json::Null });
                let content = self.document.pointer(target).cloned().unwrap_or_else(empty);
                self.open.push(target.to_owned());
                let made = self.node(&content, target);
                self.open.pop();
                self.definitions[position].schema = made?;
                position
            }
        };
        let reference = format!("#/$defs/{}", self.definitions[position].name);
        Ok(Json::Object(vec![("$ref".into(), Json::String(reference))]))
    }

    /// Stands for what is nested too deeply to be shown.
    pub(super) fn cut(&mut self, target: &str, pointer: &str) -> Made {
        if self.strict() {
            return self.refuse(pointer, Reason::Recursive);
        }
        self.lose(pointer, "$ref");
        let content = self.document.pointer(target).cloned().unwrap_or_else(empty);
        let is_object = content.get("type").and_then(Json::as_str) == Some("object");
        let mut open = empty();
        if is_object {
            open.set("type", Json::string("object"));
        }
        let description = content.get("description").and_then(Json::as_str).map(str::to_owned);
        let words = "Nested further in the same way.".to_owned();
        open.set("description", Json::String(description.into_iter().chain([words]).collect::<Vec<_>>().join("\n")));
        if is_object && self.dialect.further == Further::Spelt {
            open.set("additionalProperties", Json::Bool(true));
        }
        Ok(open)
    }
}

/// Which definitions a schema refers to: some are only in words.
pub(super) fn references(schema: &Json, definitions: &[Definition], used: &mut Vec<usize>) {
    match schema {
        Json::Object(members) => {
            for (keyword, value) in members {
                let name = value.as_str().filter(|_| keyword == "$ref").and_then(|text| text.strip_prefix("#/$defs/"));
                let found = name.and_then(|name| definitions.iter().position(|definition| definition.name == name));
                if let Some(index) = found.filter(|index| !used.contains(index)) {
                    used.push(index);
                    references(&definitions[index].schema, definitions, used);
                }
                references(value, definitions, used);
            }
        }
        Json::Array(elements) => elements.iter().for_each(|element| references(element, definitions, used)),
        _ => {}
    }
}
