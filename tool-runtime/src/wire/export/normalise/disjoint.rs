//! Whether the forms of a union can be told apart, so that any of them is exactly one of them.

use super::super::merge::names;
use super::Engine;
use super::keywords::{type_of, values};
use crate::schema::json::Json;

/// What a form of a union says that tells it from others.
#[derive(Debug, Default)]
struct Form {
    types: Vec<String>,
    values: Option<Vec<Json>>,
    known: Vec<String>,
    required: Vec<String>,
    tags: Vec<(String, Vec<Json>)>,
    closed: bool,
}

impl Form {
    fn is_apart_from(&self, other: &Form) -> bool {
        let number = |name: &str| name == "integer" || name == "number";
        let meets = |a: &String, b: &String| a == b || (number(a) && number(b));
        let typed = !self.types.is_empty() && !other.types.is_empty();
        if typed && !self.types.iter().any(|a| other.types.iter().any(|b| meets(a, b))) {
            return true;
        }
        if let (Some(a), Some(b)) = (&self.values, &other.values)
            && !a.iter().any(|value| b.contains(value))
        {
            return true;
        }
        let objects = [self, other].iter().all(|form| form.types == ["object"]);
        let tagged = self.tags.iter().any(|(name, values)| {
            let both = self.required.contains(name) && other.required.contains(name);
            let others = other.tags.iter().find(|(other, _)| other == name);
            both && others.is_some_and(|(_, others)| !others.iter().any(|value| values.contains(value)))
        });
        let shut_out = |a: &Form, b: &Form| b.closed && a.required.iter().any(|name| !b.known.contains(name));
        objects && (tagged || shut_out(self, other) || shut_out(other, self))
    }
}

impl Engine<'_> {
    /// Can no value have two of these forms? Only what is plain to see counts.
    pub(super) fn are_disjoint(&self, branches: &[(usize, Json)]) -> bool {
        let forms: Vec<Form> = branches.iter().map(|(_, branch)| self.form(branch)).collect();
        forms.iter().enumerate().all(|(index, a)| forms[index + 1..].iter().all(|b| a.is_apart_from(b)))
    }

    fn form(&self, branch: &Json) -> Form {
        let mut form = Form::default();
        let mut parts = vec![branch.clone()];
        let mut steps = 0;
        while let Some(part) = parts.pop() {
            steps += 1;
            if steps > 32 {
                break;
            }
            if let Some((_, target)) = part.get("$ref").and_then(|reference| self.resolve(reference)) {
                parts.push(target);
            }
            parts.extend(part.get("allOf").and_then(Json::as_array).unwrap_or_default().iter().cloned());
            if let Some(types) = part.get("type") {
                form.types = names(types);
            } else if let Some(values) = values(&part) {
                form.types = values.iter().map(|value| type_of(value).to_owned()).collect();
            }
            if let Some(values) = values(&part) {
                form.values = Some(values);
            }
            let properties = part.get("properties").and_then(Json::as_object).unwrap_or_default();
            for (name, schema) in properties {
                form.known.push(name.clone());
                if let Some(values) = values(schema) {
                    form.tags.push((name.clone(), values));
                }
            }
            let required = part.get("required").and_then(Json::as_array).unwrap_or_default();
            form.required.extend(required.iter().filter_map(Json::as_str).map(str::to_owned));
            form.closed |=
                part.get("additionalProperties") == Some(&Json::Bool(false)) && part.get("patternProperties").is_none();
        }
        form
    }
}
