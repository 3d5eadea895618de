//! What is said in words, beside what is said in keywords.

use super::super::dialect::Nulls;
use super::super::{Reason, words};
use super::keywords::is_annotation;
use super::{Engine, Made, empty};
use crate::schema::json::Json;

impl Engine<'_> {
    /// Puts a keyword into words, and on the list if it asked for something.
    pub(super) fn say(&mut self, said: &mut Vec<String>, pointer: &str, keyword: &str, value: &Json) {
        let sentence = words::of(keyword, value);
        if !said.contains(&sentence) {
            said.push(sentence);
        }
        if !is_annotation(keyword) {
            self.lose(pointer, keyword);
        }
    }

    /// Any value at all, or one of which nothing can be said here.
    pub(super) fn anything(&mut self, base: Json, said: &[String], pointer: &str) -> Made {
        if self.strict() {
            return self.refuse(pointer, Reason::FreeForm);
        }
        if self.dialect.nulls == Nulls::Nullable {
            self.lose(pointer, "type");
        }
        let mut out = empty();
        let annotations = self.annotations(&base, pointer);
        self.annotate(&mut out, annotations, &base);
        describe(&mut out, said);
        Ok(out)
    }

    /// Description, and what is said of examples and the default.
    pub(super) fn annotations(&mut self, base: &Json, pointer: &str) -> (Option<String>, Vec<String>) {
        let description = base.get("description").and_then(Json::as_str).map(str::to_owned);
        let mut said = Vec::new();
        for keyword in ["default", "examples"] {
            if let Some(value) = base.get(keyword)
                && !self.dialect.keep.contains(&keyword)
            {
                self.say(&mut said, pointer, keyword, value);
            }
        }
        (description, said)
    }

    pub(super) fn annotate(&self, out: &mut Json, (description, said): (Option<String>, Vec<String>), base: &Json) {
        if let Some(description) = description {
            out.set("description", Json::String(description));
        }
        describe(out, &said);
        for keyword in ["default", "examples"] {
            if let Some(value) = base.get(keyword)
                && self.dialect.keep.contains(&keyword)
            {
                out.set(keyword, value.clone());
            }
        }
    }
}

/// Adds sentences to the description.
pub(super) fn describe(schema: &mut Json, said: &[String]) {
    if said.is_empty() {
        return;
    }
    let own = schema.get("description").and_then(Json::as_str).map(str::trim_end).filter(|own| !own.is_empty());
    let sentences: Vec<&str> = said
        .iter()
        .map(String::as_str)
        .filter(|one| own.is_none_or(|own| !own.lines().any(|line| line == *one)))
        .collect();
    let all: Vec<&str> = own.into_iter().chain(sentences).collect();
    schema.set("description", Json::String(all.join("\n")));
}

/// Always in the same place, wherever it was added.
pub(super) fn place_description(schema: &mut Json) {
    if let Some(description) = schema.remove("description")
        && let Json::Object(members) = schema
    {
        let at = members.iter().position(|(keyword, _)| keyword == "type" || keyword == "anyOf").map_or(0, |at| at + 1);
        members.insert(at, ("description".to_owned(), description));
    }
}
