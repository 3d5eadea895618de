//! A schema without references, parts and unions: its types, and one keyword after the other.

use super::super::dialect::{Enums, Nulls};
use super::super::merge::names;
use super::super::{Reason, words};
use super::descriptions::describe;
use super::keywords::{about, is_annotation, is_silent, is_width, type_of, values};
use super::{Engine, Made, empty, push_new};
use crate::schema::json::Json;

impl Engine<'_> {
    /// A schema without references, parts and unions.
    pub(super) fn plain(&mut self, mut base: Json, pointer: &str) -> Made {
        let mut types = base.get("type").map(names).unwrap_or_default();
        let mut listed = values(&base);
        if types.is_empty()
            && let Some(values) = &listed
        {
            for value in values {
                let name = type_of(value).to_owned();
                if !types.contains(&name) {
                    types.push(name);
                }
            }
        }
        if types.iter().any(|name| name == "number") {
            types.retain(|name| name != "integer");
        }
        let nullable = self.dialect.nulls == Nulls::Nullable && base.get("nullable") == Some(&Json::Bool(true));
        let takes_null = nullable
            || (types.iter().any(|name| name == "null")
                && listed.as_ref().is_none_or(|values| values.contains(&Json::Null)));
        let typed = !types.is_empty();
        types.retain(|name| name != "null");
        if typed && types.is_empty() {
            return self.null_alone(&base, pointer);
        }
        if !typed && self.strict() && base.get("properties").is_some() {
            // Nobody means the values that are no objects.
            types.push("object".to_owned());
            self.closed.push(pointer.to_owned());
        }
        if let Some(values) = &mut listed {
            values.retain(|value| *value != Json::Null);
            if types.len() > 1 && values.iter().all(|value| type_of(value) == type_of(&values[0])) {
                let only = values.first().map(type_of);
                types.retain(|name| only.is_none_or(|only| name == only || (only == "integer" && name == "number")));
            }
        }
        if types.len() > 1 && self.dialect.one_type {
            return self.split(&base, &types, takes_null, listed.as_deref(), pointer);
        }
        if let Some(values) = &listed {
            base.set("enum", Json::Array(values.clone()));
        }
        let made = self.one_plain(&base, &types, pointer)?;
        Ok(if takes_null { self.nullable(made) } else { made })
    }

    /// One form for each type.
    fn split(
        &mut self,
        base: &Json,
        types: &[String],
        takes_null: bool,
        listed: Option<&[Json]>,
        pointer: &str,
    ) -> Made {
        let mut made = Vec::new();
        for name in types {
            let mut one = empty();
            one.set("type", Json::string(name));
            for (keyword, value) in base.as_object().unwrap_or_default() {
                let known = about(keyword).is_none_or(|types| types.contains(&name.as_str()));
                if known
                    && !matches!(keyword.as_str(), "type" | "const" | "enum" | "nullable")
                    && !is_annotation(keyword)
                {
                    one.set(keyword, value.clone());
                }
            }
            if let Some(values) = listed {
                let fits = |value: &&Json| type_of(value) == name || (name == "number" && type_of(value) == "integer");
                let values: Vec<Json> = values.iter().filter(fits).cloned().collect();
                if values.is_empty() {
                    continue;
                }
                match base.get("const") {
                    Some(value) => one.set("const", value.clone()),
                    None => one.set("enum", Json::Array(values)),
                }
            }
            push_new(&mut made, self.node(&one, pointer)?);
        }
        let annotations = self.annotations(base, pointer);
        let mut out = match made.as_slice() {
            [only] => only.clone(),
            _ => Json::Object(vec![("anyOf".into(), Json::Array(made))]),
        };
        self.annotate(&mut out, annotations, base);
        Ok(if takes_null { self.nullable(out) } else { out })
    }

    /// A schema of one type, or of several where that can be said; `null` is added by the caller.
    pub(super) fn one_plain(&mut self, base: &Json, types: &[String], pointer: &str) -> Made {
        let is = |name: &str| types.iter().any(|other| other == name);
        let mut out = empty();
        match types {
            [] => {
                let says_nothing =
                    base.as_object().unwrap_or_default().iter().all(|(keyword, _)| is_annotation(keyword));
                if says_nothing {
                    return self.anything(base.clone(), &[], pointer);
                }
                if self.strict() {
                    return self.refuse(pointer, Reason::FreeForm);
                }
                if self.dialect.nulls == Nulls::Nullable {
                    self.lose(pointer, "type");
                }
            }
            [only] => out.set("type", Json::string(only)),
            several => out.set("type", Json::Array(several.iter().map(Json::string).collect())),
        }
        let (description, mut said) = self.annotations(base, pointer);
        if let Some(description) = description {
            out.set("description", Json::String(description));
        }
        let applies =
            |keyword: &str| types.is_empty() || about(keyword).is_none_or(|about| about.iter().any(|name| is(name)));
        let mut object_done = false;
        let mut array_done = false;
        for (keyword, value) in base.as_object().unwrap_or_default() {
            let keyword = keyword.as_str();
            match keyword {
                "type" | "description" => {}
                _ if is_silent(keyword) => {}
                _ if !applies(keyword) => {}
                "default" | "examples" => {
                    if self.dialect.keep.contains(&keyword) {
                        out.set(keyword, value.clone());
                    }
                }
                "enum" => {
                    let keyword = if base.get("const").is_some() { "const" } else { "enum" };
                    self.closed_set(&mut out, &mut said, value, (pointer, keyword));
                }
                // In the list.
                "const" => {}
                "properties"
                | "required"
                | "additionalProperties"
                | "patternProperties"
                | "unevaluatedProperties"
                | "dependentRequired" => {
                    if !std::mem::replace(&mut object_done, true) {
                        self.object(&mut out, &mut said, base, pointer)?;
                    }
                }
                "items" | "prefixItems" | "additionalItems" | "minItems" | "maxItems" | "unevaluatedItems" => {
                    if !std::mem::replace(&mut array_done, true) {
                        self.array(&mut out, &mut said, base, pointer)?;
                    }
                }
                "format" => {
                    let taken =
                        self.dialect.formats.is_none_or(|known| known.iter().any(|one| value.as_str() == Some(one)));
                    if self.dialect.keep.contains(&"format") && taken {
                        out.set(keyword, value.clone());
                    } else {
                        self.say(&mut said, pointer, keyword, value);
                    }
                }
                "uniqueItems" if *value == Json::Bool(false) => {}
                "minContains" | "maxContains" if base.get("contains").is_none() => {}
                "then" | "else" if base.get("if").is_none() => {}
                _ if is_width(keyword, value) => {}
                "exclusiveMinimum" | "exclusiveMaximum"
                    if self.as_inclusive(&mut out, base, types, (keyword, value)) => {}
                _ if self.dialect.keep.contains(&keyword) => out.set(keyword, value.clone()),
                "contentEncoding" | "contentMediaType" => {}
                _ => self.say(&mut said, pointer, keyword, value),
            }
        }
        if is("object") && !object_done {
            self.object(&mut out, &mut said, base, pointer)?;
        }
        if is("array") && !array_done {
            self.array(&mut out, &mut said, base, pointer)?;
        }
        describe(&mut out, &said);
        Ok(out)
    }

    /// Of integers, "more than 0" is "at least 1", which more forms can say.
    fn as_inclusive(&self, out: &mut Json, base: &Json, types: &[String], (keyword, value): (&str, &Json)) -> bool {
        let (inclusive, by) = if keyword == "exclusiveMinimum" { ("minimum", 1) } else { ("maximum", -1) };
        let whole = value.as_number().and_then(|text| text.parse::<i64>().ok()).and_then(|bound| bound.checked_add(by));
        let known = self.dialect.keep.contains(&inclusive) && !self.dialect.keep.contains(&keyword);
        match whole {
            Some(bound) if known && types == ["integer"] && base.get(inclusive).is_none() => {
                out.set(inclusive, Json::integer(bound));
                true
            }
            _ => false,
        }
    }

    fn closed_set(&mut self, out: &mut Json, said: &mut Vec<String>, value: &Json, (pointer, keyword): (&str, &str)) {
        let values = value.as_array().unwrap_or_default();
        let taken = |value: &Json| match self.dialect.enums {
            Enums::Any => true,
            Enums::Scalars => !matches!(value, Json::Array(_) | Json::Object(_)),
            Enums::StringsAndNumbers => matches!(value, Json::String(_) | Json::Number(_)),
            Enums::Strings => matches!(value, Json::String(_)),
        };
        if !values.is_empty() && values.iter().all(taken) {
            out.set("enum", value.clone());
        } else {
            said.push(words::of("enum", value));
            self.lose(pointer, keyword);
        }
    }
}
