//! Keywords that the walker doesn't know, by the `jsonschema` crate.

use std::collections::HashMap;

use super::compile::Issue;
use super::json::Json;
use super::node::NodeId;
use super::problem::Problems;

/// A validator for the whole of a schema that has such keywords.
#[derive(Debug)]
pub(crate) struct Foreign {
    #[cfg(feature = "jsonschema")]
    validator: jsonschema::Validator,
    #[cfg(not(feature = "jsonschema"))]
    never: std::convert::Infallible,
}

#[cfg(not(feature = "jsonschema"))]
impl Foreign {
    /// # Errors
    /// Always: a keyword that is shown has to be enforced.
    pub(crate) fn new(_: &Json, keywords: Vec<String>) -> Result<Self, Vec<Issue>> {
        let issue = |pointer| Issue {
            pointer,
            what: "this keyword is enforced only with the feature `jsonschema` of `tool-runtime`".to_owned(),
        };
        Err(keywords.into_iter().map(issue).collect())
    }

    pub(crate) fn check(&self, _: &str, _: bool) -> Result<(), Problems> {
        match self.never {}
    }
}

#[cfg(feature = "jsonschema")]
impl Foreign {
    /// # Errors
    /// If the schema isn't one that the crate takes.
    pub(crate) fn new(schema: &Json, keywords: Vec<String>) -> Result<Self, Vec<Issue>> {
        let refused = |what: String| vec![Issue { pointer: keywords.first().cloned().unwrap_or_default(), what }];
        let schema = value_of(schema).map_err(|error| refused(error.to_string()))?;
        validator(&schema).map(|validator| Foreign { validator }).map_err(|error| refused(error.to_string()))
    }

    /// Checks a canonical text. `secrets`: the schema has some, so no value is quoted.
    pub(crate) fn check(&self, text: &str, secrets: bool) -> Result<(), Problems> {
        use super::json::JsonPath;
        use super::problem::Problem;

        let mut problems = Problems::default();
        match serde_json::from_str::<serde_json::Value>(text) {
            Ok(value) => {
                for error in self.validator.iter_errors(&value) {
                    problems.add(|| {
                        let path = JsonPath::from_pointer(error.instance_path().as_str()).unwrap_or_default();
                        let got = path
                            .find(text)
                            .map_or_else(|| "nothing".to_owned(), |raw| super::describe::got(raw, secrets));
                        Problem::unexpected(path, expected(&error, &self.keyword_value(&error)), got)
                    });
                }
            }
            Err(_) => problems
                .add(|| Problem::unexpected(JsonPath::root(), "numbers of ordinary size", "one that can't be read")),
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    fn keyword_value(&self, error: &jsonschema::ValidationError<'_>) -> String {
        error.schema_path().as_str().rsplit('/').next().unwrap_or_default().to_owned()
    }
}

#[cfg(feature = "jsonschema")]
fn value_of(json: &Json) -> serde_json::Result<serde_json::Value> {
    serde_json::from_str(&json.to_string())
}

#[cfg(feature = "jsonschema")]
fn validator(schema: &serde_json::Value) -> Result<jsonschema::Validator, jsonschema::ValidationError<'static>> {
    jsonschema::options().with_draft(jsonschema::Draft::Draft202012).should_validate_formats(true).build(schema)
}

/// Judges single values by those parts of a schema of which the walker knows only a part: a
/// default, and whether `null` is a value.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// Takes an object whose members are the values, by the numbers of their nodes.
    #[cfg(feature = "jsonschema")]
    validator: Option<jsonschema::Validator>,
}

impl Parts {
    /// Without the feature a schema that has such parts is refused as a whole.
    #[cfg(not(feature = "jsonschema"))]
    pub(super) fn new(_: &Json, _: &HashMap<NodeId, Json>) -> Self {
        Parts {}
    }

    /// `parts`: schemas within `document`, to which their references lead.
    #[cfg(feature = "jsonschema")]
    pub(super) fn new(document: &Json, parts: &HashMap<NodeId, Json>) -> Self {
        use serde_json::{Map, Value, json};

        // The document stays a resource of its own (2020-12, §9.3.1), so that `#` means it.
        const DOCUMENT: &str = "urn:tool-runtime:document";
        const PARTS: &str = "x-tool-runtime-parts";
        if parts.is_empty() {
            return Parts::default();
        }
        let bundle = || {
            let Value::Object(mut document) = value_of(document).ok()? else { return None };
            let (mut schemas, mut properties) = (Map::new(), Map::new());
            for (node, part) in parts {
                let name = node.to_string();
                properties.insert(name.clone(), json!({"$ref": format!("{DOCUMENT}#/{PARTS}/{name}")}));
                schemas.insert(name, value_of(part).ok()?);
            }
            document.insert("$id".to_owned(), DOCUMENT.into());
            document.insert(PARTS.to_owned(), schemas.into());
            validator(&json!({"$defs": {"document": document}, "properties": properties})).ok()
        };
        // What the crate can't read is refused with the whole schema.
        Parts { validator: bundle() }
    }

    /// Is the value right, as far as the walker can't tell?
    #[cfg(not(feature = "jsonschema"))]
    pub(super) fn take(&self, _: NodeId, _: &str) -> bool {
        true
    }

    /// Is the value right, as far as the walker can't tell?
    #[cfg(feature = "jsonschema")]
    pub(super) fn take(&self, node: NodeId, text: &str) -> bool {
        let Some(validator) = &self.validator else { return true };
        serde_json::from_str::<serde_json::Value>(text)
            .is_ok_and(|value| validator.is_valid(&serde_json::json!({ node.to_string(): value })))
    }
}

/// What the failed keyword asks for, without quoting the value.
#[cfg(feature = "jsonschema")]
fn expected(error: &jsonschema::ValidationError<'_>, keyword: &str) -> String {
    use jsonschema::error::ValidationErrorKind as Kind;
    match error.kind() {
        Kind::Pattern { pattern } => format!("a string that matches the pattern {}", super::text::shown(pattern, 120)),
        Kind::Format { format } => format!("a string of the format `{}`", super::text::shown(format, 40)),
        _ => format!("a value for which `{}` of its schema holds", super::text::shown(keyword, 40)),
    }
}
