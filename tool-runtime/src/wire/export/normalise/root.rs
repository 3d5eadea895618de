//! The root, which is one plain object whatever it is made of.

use super::super::merge::names;
use super::super::{Reason, words};
use super::descriptions::{describe, place_description};
use super::keywords::values;
use super::references::Gathered;
use super::{Engine, Made, empty, push_new};
use crate::schema::json::Json;

impl Engine<'_> {
    /// The root is one plain object, whatever it is made of.
    pub(super) fn root(&mut self, schema: &Json) -> Made {
        let is_object =
            |schema: &Json| schema.get("type").is_none_or(|types| names(types).iter().any(|name| name == "object"));
        let mut base = match schema {
            Json::Object(_) => match self.gather(schema, "", 0)? {
                Gathered::Merged(merged, _) => merged,
                Gathered::Recursive(_) => empty(),
            },
            Json::Bool(true) => empty(),
            _ => return self.refuse("", Reason::NotAnObject),
        };
        let lists_others =
            values(&base).is_some_and(|values| !values.iter().any(|value| matches!(value, Json::Object(_))));
        if !is_object(&base) || lists_others {
            return self.refuse("", Reason::NotAnObject);
        }
        for keyword in ["oneOf", "anyOf"] {
            let Some(Json::Array(branches)) = base.remove(keyword) else { continue };
            let mut said = Vec::new();
            self.say(&mut said, "", keyword, &Json::Array(branches.clone()));
            said.clear();
            let mut forms = Vec::new();
            for (index, branch) in branches.iter().enumerate() {
                match self.gather(branch, &format!("/{keyword}/{index}"), 0)? {
                    Gathered::Merged(form, _) if is_object(&form) && *branch != Json::Bool(false) => forms.push(form),
                    _ => {}
                }
            }
            if forms.is_empty() && !branches.is_empty() {
                return self.refuse("", Reason::NotAnObject);
            }
            said.push(alternatives(&forms));
            base = united(base, &forms);
            describe(&mut base, &said);
        }
        let mut said = Vec::new();
        for keyword in ["enum", "const", "not", "if", "then", "else"] {
            if let Some(value) = base.remove(keyword) {
                self.say(&mut said, "", keyword, &value);
            }
        }
        describe(&mut base, &said);
        base.set("type", Json::string("object"));
        if base.get("properties").is_none() {
            base.set("properties", empty());
        }
        let mut made = self.one_plain(&base, &["object".to_owned()], "")?;
        place_description(&mut made);
        Ok(made)
    }
}

/// All properties of all forms; required is what each of them requires.
fn united(mut base: Json, forms: &[Json]) -> Json {
    let mut properties = base.get("properties").cloned().unwrap_or_else(empty);
    let own: Vec<String> = properties.as_object().unwrap_or_default().iter().map(|(name, _)| name.clone()).collect();
    let mut open = false;
    for form in forms {
        open |= form.get("additionalProperties").or(form.get("unevaluatedProperties")) != Some(&Json::Bool(false));
        for (name, schema) in form.get("properties").and_then(Json::as_object).unwrap_or_default() {
            match properties.get(name).cloned() {
                None => properties.set(name, schema.clone()),
                // What the base says holds in every form; a form may only say more.
                Some(_) if own.contains(name) => {}
                Some(known) if known == *schema => {}
                Some(Json::Object(known)) if known.len() == 1 && known[0].0 == "anyOf" => {
                    let mut branches = known[0].1.as_array().unwrap_or_default().to_vec();
                    push_new(&mut branches, schema.clone());
                    properties.set(name, Json::Object(vec![("anyOf".into(), Json::Array(branches))]));
                }
                Some(known) => {
                    let branches = Json::Array(vec![known, schema.clone()]);
                    properties.set(name, Json::Object(vec![("anyOf".into(), branches)]));
                }
            }
        }
    }
    let names = |schema: &Json| schema.get("required").and_then(Json::as_array).unwrap_or_default().to_vec();
    let mut required = names(&base);
    if let Some((first, rest)) = forms.split_first() {
        for name in names(first) {
            if rest.iter().all(|form| names(form).contains(&name)) && !required.contains(&name) {
                required.push(name);
            }
        }
    }
    base.set("properties", properties);
    if !required.is_empty() {
        base.set("required", Json::Array(required));
    }
    let closed = base.remove("unevaluatedProperties") == Some(Json::Bool(false));
    if (closed || !open) && base.get("additionalProperties").is_none() {
        base.set("additionalProperties", Json::Bool(false));
    }
    base
}

/// The forms of a root that can't have any, by the names of what they have.
fn alternatives(forms: &[Json]) -> String {
    let each: Vec<String> = forms
        .iter()
        .map(|form| {
            let properties = form.get("properties").and_then(Json::as_object).unwrap_or_default();
            let required: Vec<&str> = form
                .get("required")
                .and_then(Json::as_array)
                .unwrap_or_default()
                .iter()
                .filter_map(Json::as_str)
                .collect();
            let mut names: Vec<String> = properties
                .iter()
                .map(|(name, schema)| match values(schema) {
                    Some(values) if values.len() == 1 => format!("`{name}` = {}", words::json(&values[0])),
                    _ if required.contains(&name.as_str()) => format!("`{name}`"),
                    _ => format!("optionally `{name}`"),
                })
                .collect();
            names.extend(
                required
                    .iter()
                    .filter(|name| !properties.iter().any(|(known, _)| known == *name))
                    .map(|name| format!("`{name}`")),
            );
            if names.is_empty() { "nothing more".to_owned() } else { names.join(", ") }
        })
        .collect();
    format!("Give one of these: {}.", each.join("; or "))
}
