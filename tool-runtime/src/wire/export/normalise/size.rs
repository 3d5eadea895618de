//! What limits count.

use super::super::dialect::Dialect;
use super::super::{Reason, Refusal};
use crate::schema::json::Json;

/// What limits count.
#[derive(Debug, Default)]
pub(super) struct Size {
    properties: usize,
    depth: usize,
    enum_values: usize,
    characters: usize,
    pub(super) optional: usize,
    pub(super) unions: usize,
}

impl Size {
    /// # Errors
    /// If it is more than the dialect takes.
    pub(super) fn of(schema: &Json, dialect: &Dialect) -> Result<Self, Refusal> {
        let mut size = Size::default();
        size.measure(schema, 0);
        size.check(dialect)?;
        Ok(size)
    }

    fn measure(&mut self, schema: &Json, depth: usize) {
        for (keyword, value) in schema.as_object().unwrap_or_default() {
            match (keyword.as_str(), value) {
                ("properties", Json::Object(properties)) => {
                    self.depth = self.depth.max(depth + 1);
                    let required = schema.get("required").and_then(Json::as_array).unwrap_or_default();
                    for (name, inner) in properties {
                        self.properties += 1;
                        self.characters += name.chars().count();
                        self.optional += usize::from(!required.iter().any(|other| other.as_str() == Some(name)));
                        let union = inner.get("anyOf").is_some() || matches!(inner.get("type"), Some(Json::Array(_)));
                        self.unions += usize::from(union);
                        self.measure(inner, depth + 1);
                    }
                }
                ("$defs", Json::Object(definitions)) => {
                    for (name, inner) in definitions {
                        self.characters += name.chars().count();
                        self.measure(inner, depth);
                    }
                }
                ("enum", Json::Array(values)) => {
                    self.enum_values += values.len();
                    self.characters += values.iter().map(|value| value.to_string().chars().count()).sum::<usize>();
                }
                ("anyOf", Json::Array(branches)) => branches.iter().for_each(|branch| self.measure(branch, depth)),
                ("items" | "additionalProperties", inner) => self.measure(inner, depth + 1),
                _ => {}
            }
        }
    }

    fn check(&self, dialect: &Dialect) -> Result<(), Refusal> {
        let limits = &dialect.limits;
        let counts = [
            ("properties", self.properties, limits.properties),
            ("levels", self.depth, limits.depth),
            ("enum values", self.enum_values, limits.enum_values),
            ("characters in names and enums", self.characters, limits.characters),
        ];
        match counts.into_iter().find(|(_, count, limit)| count > limit) {
            Some((what, count, limit)) => {
                Err(Refusal { pointer: String::new(), reason: Reason::TooLarge { what, count, limit } })
            }
            None => Ok(()),
        }
    }
}
