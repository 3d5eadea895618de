//! Objects.

use super::super::dialect::Further;
use super::super::{Reason, Refusal};
use super::{Engine, empty, push_new, step};
use crate::schema::json::Json;

impl Engine<'_> {
    pub(super) fn object(
        &mut self,
        out: &mut Json,
        said: &mut Vec<String>,
        base: &Json,
        pointer: &str,
    ) -> Result<(), Refusal> {
        let declared = base.get("properties").and_then(Json::as_object).unwrap_or_default();
        let required = base.get("required").and_then(Json::as_array).unwrap_or_default();
        let required: Vec<&str> = required.iter().filter_map(Json::as_str).collect();
        let mut properties = Vec::new();
        let mut needed = Vec::new();
        for (name, schema) in declared {
            let mut made = self.node(schema, &step(&format!("{pointer}/properties"), name))?;
            let is_required = required.contains(&name.as_str());
            if self.dialect.all_required && !is_required {
                made = self.nullable(made);
            }
            if is_required || self.dialect.all_required {
                needed.push(Json::string(name));
            }
            properties.push((name.clone(), made));
        }
        let further = self.further(said, base, declared.is_empty(), pointer)?;
        for name in required {
            if declared.iter().any(|(known, _)| known == name) {
                continue;
            }
            // Required, but described by nothing of its own.
            if self.strict() || self.dialect.further == Further::Unsaid {
                self.lose(pointer, "required");
                said.push(format!("Needs `{name}`."));
            } else {
                needed.push(Json::string(name));
            }
        }
        if self.dialect.ordering && properties.len() > 1 {
            let order = properties.iter().map(|(name, _)| Json::string(name)).collect();
            out.set("propertyOrdering", Json::Array(order));
        }
        // Where there is no word for closed objects, one that is empty has been refused.
        let empty_too = self.dialect.further != Further::Unsaid || pointer.is_empty();
        if !properties.is_empty() || (base.get("properties").is_some() && empty_too) || self.strict() {
            out.set("properties", Json::Object(properties));
        }
        if !needed.is_empty() || self.dialect.all_required {
            out.set("required", Json::Array(needed));
        }
        if let Some(further) = further {
            out.set("additionalProperties", further);
        }
        if let Some(value) = base.get("dependentRequired") {
            if self.dialect.keep.contains(&"dependentRequired") {
                out.set("dependentRequired", value.clone());
            } else {
                self.say(said, pointer, "dependentRequired", value);
            }
        }
        Ok(())
    }

    /// What is said of members that aren't declared.
    fn further(
        &mut self,
        said: &mut Vec<String>,
        base: &Json,
        bare: bool,
        pointer: &str,
    ) -> Result<Option<Json>, Refusal> {
        let conditional = ["if", "dependentSchemas", "dependencies"].iter().any(|keyword| base.get(keyword).is_some());
        let mut keyword = "additionalProperties";
        let mut value = base.get("additionalProperties").cloned();
        if let Some(unevaluated) = base.get("unevaluatedProperties")
            && value.is_none()
        {
            if conditional && *unevaluated != Json::Bool(true) {
                self.say(said, pointer, "unevaluatedProperties", unevaluated);
            } else {
                keyword = "unevaluatedProperties";
                value = Some(unevaluated.clone());
            }
        }
        let patterns = base.get("patternProperties").and_then(Json::as_object).unwrap_or_default();
        if self.strict() {
            return match value {
                Some(Json::Bool(false)) if patterns.is_empty() => Ok(Some(Json::Bool(false))),
                None if patterns.is_empty() && !bare => {
                    self.closed.push(pointer.to_owned());
                    Ok(Some(Json::Bool(false)))
                }
                None if patterns.is_empty() && base.get("properties").is_some() => {
                    self.closed.push(pointer.to_owned());
                    Ok(Some(Json::Bool(false)))
                }
                Some(_) => self.refuse(&step(pointer, keyword), Reason::OpenObject),
                None => self.refuse(pointer, Reason::OpenObject),
            };
        }
        if !patterns.is_empty() {
            // Names that match have values of their own; all that is said here is a form of values.
            let value_of_all = base.get("patternProperties").cloned().unwrap_or(Json::Null);
            self.say(said, pointer, "patternProperties", &value_of_all);
            let closed = value == Some(Json::Bool(false));
            let mut forms = Vec::new();
            for (pattern, schema) in patterns {
                push_new(&mut forms, self.node(schema, &step(&format!("{pointer}/patternProperties"), pattern))?);
            }
            let any = forms.iter().any(|form| *form == empty());
            value = match (closed && !any, forms.as_slice()) {
                (true, [only]) => return Ok(self.said_further(said, only.clone(), pointer)),
                (true, _) => {
                    let all = patterns.iter().map(|(_, schema)| schema.clone()).collect();
                    let union = self.one_of_these(all, pointer)?;
                    return Ok(self.said_further(said, union, pointer));
                }
                (false, _) => Some(Json::Bool(true)),
            };
        }
        Ok(match (value, self.dialect.further) {
            (None, Further::Spelt) => Some(Json::Bool(true)),
            (None | Some(Json::Bool(_)), Further::Unsaid) => {
                // A form that has no word for it means what is declared; but then something has to be.
                if bare && !matches!(base.get("additionalProperties"), Some(Json::Bool(false))) && !pointer.is_empty() {
                    self.lose(pointer, "additionalProperties");
                }
                None
            }
            (None, _) => None,
            (Some(Json::Bool(flag)), _) => Some(Json::Bool(flag)),
            (Some(schema), _) => {
                let made = self.node(&schema, &step(pointer, keyword))?;
                self.said_further(said, made, pointer)
            }
        })
    }

    fn said_further(&mut self, said: &mut Vec<String>, made: Json, pointer: &str) -> Option<Json> {
        if self.dialect.further == Further::Unsaid {
            self.say(said, pointer, "additionalProperties", &made);
            return None;
        }
        // Some readers know no empty schema here.
        Some(if made == empty() { Json::Bool(true) } else { made })
    }
}
