//! Unions: branches that are words become one list, the others one form each.

use super::super::dialect::{Nulls, References};
use super::super::merge::names;
use super::super::words;
use super::descriptions::describe;
use super::keywords::{is_annotation, is_silent, values};
use super::nulls::without_null;
use super::{Engine, Made, empty, push_new};
use crate::schema::json::Json;

impl Engine<'_> {
    /// A schema without references and parts, whose unions are still in it.
    pub(super) fn merged(&mut self, mut base: Json, pointer: &str) -> Made {
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Json::Array(branches)) = base.remove(keyword) {
                for other in ["anyOf", "oneOf"] {
                    if let Some(also) = base.remove(other) {
                        let mut said = Vec::new();
                        self.say(&mut said, pointer, other, &also);
                        describe(&mut base, &said);
                    }
                }
                return self.union(base, keyword, &branches, pointer);
            }
        }
        self.plain(base, pointer)
    }

    fn union(&mut self, mut base: Json, keyword: &str, branches: &[Json], pointer: &str) -> Made {
        let constrained = base.as_object().unwrap_or_default().iter().any(|(keyword, _)| !is_annotation(keyword));
        // Words with their meanings are one `enum`.
        let mut left: Vec<(usize, Json)> = Vec::new();
        let mut words = Vec::new();
        let mut meanings = Vec::new();
        let mut words_at = None;
        let mut takes_null = false;
        // One list of words keeps its name, and its description.
        let several = branches.iter().filter(|branch| self.words_of(branch).is_some()).count() > 1;
        for (index, branch) in branches.iter().enumerate() {
            if *branch == Json::Bool(false) {
                continue;
            }
            if branch.get("type").and_then(Json::as_str) == Some("null") {
                takes_null = true;
                continue;
            }
            match self.words_of(branch).filter(|_| several) {
                Some(found) => {
                    words_at.get_or_insert(left.len());
                    let description = branch.get("description").and_then(Json::as_str);
                    if let (Some(description), [word]) = (description, found.as_slice()) {
                        meanings.push(format!(
                            "- {}: {description}",
                            word.as_str().map_or_else(|| words::json(word), str::to_owned)
                        ));
                    }
                    takes_null |= found.contains(&Json::Null);
                    words.extend(found.into_iter().filter(|word| *word != Json::Null));
                }
                None => left.push((index, branch.clone())),
            }
        }
        if let Some(at) = words_at
            && !words.is_empty()
        {
            let mut unique: Vec<Json> = Vec::new();
            words.into_iter().for_each(|word| {
                if !unique.contains(&word) {
                    unique.push(word);
                }
            });
            let mut all = Json::Object(vec![("enum".into(), Json::Array(unique))]);
            describe(&mut all, &meanings);
            left.insert(at, (usize::MAX, all));
        }
        let exact = keyword == "anyOf" || self.are_disjoint(&left);
        let mut said = Vec::new();
        if !exact {
            self.say(&mut said, pointer, "oneOf", &Json::Null);
        }
        describe(&mut base, &said);
        let base_takes_null = base.get("type").is_none_or(|types| names(types).iter().any(|name| name == "null"));
        takes_null &= base_takes_null;
        takes_null |= self.dialect.nulls == Nulls::Nullable && base.get("nullable") == Some(&Json::Bool(true));
        let place = |index: usize| {
            if index == usize::MAX { pointer.to_owned() } else { format!("{pointer}/{keyword}/{index}") }
        };
        if let [(index, only)] = left.as_slice() {
            let reference_stays = self.dialect.references != References::Inlined && only.get("$ref").is_some();
            if !(reference_stays && !constrained && takes_null) {
                // The union was of one form and `null`, or of one.
                let mut one = base.clone();
                let inner = describe_inner(&mut one, only);
                let parts = Json::Array(vec![inner]);
                if let Some(types) = one.remove("type") {
                    one.set("type", without_null(&types));
                }
                one.set("allOf", parts);
                let place = if constrained { pointer.to_owned() } else { place(*index) };
                let made = self.node(&one, &place)?;
                return Ok(if takes_null { self.nullable(made) } else { made });
            }
        }
        let mut made: Vec<Json> = Vec::new();
        for (index, branch) in &left {
            let mut one = branch.clone();
            if constrained {
                let mut beside = base.clone();
                for annotation in ["description", "default", "examples"] {
                    beside.remove(annotation);
                }
                if let Some(types) = beside.remove("type") {
                    beside.set("type", without_null(&types));
                }
                beside.set("allOf", Json::Array(vec![branch.clone()]));
                one = beside;
            }
            let one = self.node(&one, &place(*index))?;
            // A union within a union is one.
            match one.get("anyOf").and_then(Json::as_array) {
                Some(inner) if one.as_object().is_some_and(|members| members.len() == 1) => {
                    for one in inner {
                        if one.get("type").and_then(Json::as_str) == Some("null") {
                            takes_null = true;
                        } else {
                            push_new(&mut made, one.clone());
                        }
                    }
                }
                _ if one.get("type").and_then(Json::as_str) == Some("null") => takes_null = true,
                _ => push_new(&mut made, one),
            }
        }
        let mut out = empty();
        let annotations = self.annotations(&base, pointer);
        let nothing = made.is_empty();
        if nothing {
            if takes_null {
                out.set("type", Json::string("null"));
            } else {
                self.lose(pointer, keyword);
                return self.anything(base, &[], pointer);
            }
        } else if let ([only], false) = (made.as_slice(), takes_null) {
            out = only.clone();
            if let Some(description) = &annotations.0 {
                out.set("description", Json::string(description));
            }
        } else {
            out.set("anyOf", Json::Array(made));
        }
        self.annotate(&mut out, annotations, &base);
        Ok(if takes_null && !nothing { self.nullable(out) } else { out })
    }

    /// The values of a branch that is a closed set of plain values and nothing else.
    fn words_of(&self, branch: &Json) -> Option<Vec<Json>> {
        let resolved;
        let mut branch = branch;
        if let (Some(reference), [_]) = (branch.get("$ref"), branch.as_object()?) {
            resolved = self.resolve(reference)?.1;
            branch = &resolved;
            // Told by its own description, which one list of words has no room for.
            if branch.get("description").is_some() && values(branch).is_some_and(|values| values.len() != 1) {
                return None;
            }
        }
        let words = values(branch)?;
        let plain = branch.as_object()?.iter().all(|(keyword, _)| {
            matches!(keyword.as_str(), "const" | "enum" | "type" | "description") || is_silent(keyword)
        });
        let scalars = words.iter().all(|word| !matches!(word, Json::Array(_) | Json::Object(_)));
        let described = branch.get("description").is_some() && words.len() > 1;
        (plain && scalars && !described).then_some(words)
    }
}

/// The one form of a union beside what describes the union: both descriptions are kept.
fn describe_inner(outer: &mut Json, inner: &Json) -> Json {
    let mut inner = inner.clone();
    if outer.get("description").is_some()
        && let Some(Json::String(description)) = inner.remove("description")
    {
        describe(outer, &[description]);
    }
    inner
}
