//! Properties that a tool does not have itself.

use super::super::Refusal;
use super::super::dialect::Dialect;
use super::size::Size;
use super::{Normalised, normalise};
use crate::schema::json::Json;

impl Normalised {
    /// Adds a property that the schema doesn't have, and that has to be given.
    ///
    /// # Errors
    /// If the schema is too large then.
    pub(crate) fn require(&mut self, name: &str, schema: Json, dialect: &Dialect) -> Result<(), Refusal> {
        let only = |keyword: &str, value: Json| (keyword.to_owned(), value);
        let property = Json::Object(vec![
            only("type", Json::string("object")),
            only("properties", Json::Object(vec![only(name, schema)])),
            only("required", Json::Array(vec![Json::string(name)])),
            only("additionalProperties", Json::Bool(false)),
        ]);
        let made = normalise(&property, dialect)?.schema;
        let Json::Object(root) = &mut self.schema else { return Ok(()) };
        let has = |keyword: &str, root: &[(String, Json)]| root.iter().any(|(known, _)| known == keyword);
        if !has("required", root) {
            // Where it stands in what is made.
            let at = root.iter().position(|(keyword, _)| keyword == "properties").map_or(root.len(), |at| at + 1);
            root.insert(at, only("required", Json::Array(Vec::new())));
        }
        if dialect.ordering
            && !has("propertyOrdering", root)
            && let Some(at) = root.iter().position(|(keyword, _)| keyword == "properties")
        {
            let known = root[at].1.as_object().unwrap_or_default();
            let order: Vec<Json> = known.iter().map(|(name, _)| Json::string(name)).collect();
            if !order.is_empty() {
                root.insert(at, only("propertyOrdering", Json::Array(order)));
            }
        }
        for (keyword, value) in root {
            match (keyword.as_str(), value) {
                ("properties", Json::Object(properties)) => {
                    let inner = made.pointer("/properties").and_then(|all| all.get(name)).cloned();
                    properties.extend(inner.map(|inner| only(name, inner)));
                }
                ("required" | "propertyOrdering", Json::Array(names)) => names.push(Json::string(name)),
                ("minProperties" | "maxProperties", value @ Json::Number(_)) => {
                    let one_more =
                        value.as_number().and_then(|count| count.parse::<i128>().ok()).map(|count| count + 1);
                    *value = one_more.map_or_else(|| value.clone(), Json::integer);
                }
                _ => {}
            }
        }
        let size = Size::of(&self.schema, dialect)?;
        (self.optional, self.unions) = (size.optional, size.unions);
        Ok(())
    }
}
