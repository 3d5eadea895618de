//! `null`, by its type or by a word of its own.

use super::super::dialect::{Enums, Nulls};
use super::super::merge::names;
use super::{Engine, Made, empty};
use crate::schema::json::Json;

impl Engine<'_> {
    /// `null` and nothing else.
    pub(super) fn null_alone(&mut self, base: &Json, pointer: &str) -> Made {
        let annotations = self.annotations(base, pointer);
        let mut out = empty();
        if self.dialect.nulls == Nulls::Nullable {
            // No type of its own: a text that may be `null`.
            out.set("type", Json::string("string"));
            out.set("nullable", Json::Bool(true));
            self.lose(pointer, "type");
        } else {
            out.set("type", Json::string("null"));
        }
        self.annotate(&mut out, annotations, base);
        Ok(out)
    }

    /// The same, or `null`.
    pub(super) fn nullable(&self, mut schema: Json) -> Json {
        if self.dialect.nulls == Nulls::Nullable {
            if schema != empty() {
                schema.set("nullable", Json::Bool(true));
            }
            return schema;
        }
        if schema.get("$ref").is_some() {
            let null = Json::Object(vec![("type".into(), Json::string("null"))]);
            return Json::Object(vec![("anyOf".into(), Json::Array(vec![schema, null]))]);
        }
        if let Some(Json::Array(branches)) = schema.get("anyOf") {
            let takes_null =
                |branch: &Json| branch.get("type").is_some_and(|types| names(types).iter().any(|name| name == "null"));
            if !branches.iter().any(takes_null) {
                let mut branches = branches.clone();
                branches.push(Json::Object(vec![("type".into(), Json::string("null"))]));
                schema.set("anyOf", Json::Array(branches));
            }
            return schema;
        }
        let Some(types) = schema.get("type").map(names) else { return schema };
        if !types.iter().any(|name| name == "null") {
            schema
                .set("type", Json::Array(types.iter().map(String::as_str).chain(["null"]).map(Json::string).collect()));
            if let Some(Json::Array(values)) = schema.get("enum")
                && !values.contains(&Json::Null)
                && self.dialect.enums != Enums::StringsAndNumbers
            {
                let mut values = values.clone();
                values.push(Json::Null);
                schema.set("enum", Json::Array(values));
            } else if schema.get("enum").is_some() && self.dialect.enums == Enums::StringsAndNumbers {
                // `null` can't be listed there.
                let kept = Json::Object(match schema {
                    Json::Object(members) => members
                        .into_iter()
                        .map(
                            |(keyword, value)| {
                                if keyword == "type" { (keyword, without_null(&value)) } else { (keyword, value) }
                            },
                        )
                        .collect(),
                    _ => Vec::new(),
                });
                let mut kept = kept;
                let description = kept.remove("description");
                let null = Json::Object(vec![("type".into(), Json::string("null"))]);
                let mut union = Json::Object(vec![("anyOf".into(), Json::Array(vec![kept, null]))]);
                if let Some(description) = description {
                    union.set("description", description);
                }
                return union;
            }
        }
        schema
    }
}

pub(super) fn without_null(types: &Json) -> Json {
    let left: Vec<String> = names(types).into_iter().filter(|name| name != "null").collect();
    match left.as_slice() {
        [only] => Json::string(only),
        _ => Json::Array(left.into_iter().map(Json::String).collect()),
    }
}
