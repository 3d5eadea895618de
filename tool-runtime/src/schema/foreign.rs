//! Keywords that the walker doesn't know, by the `jsonschema` crate.

use super::compile::Issue;
use super::json::Json;
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
        let schema: serde_json::Value =
            serde_json::from_str(&schema.to_string()).map_err(|error| refused(error.to_string()))?;
        jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .should_validate_formats(true)
            .build(&schema)
            .map(|validator| Foreign { validator })
            .map_err(|error| refused(error.to_string()))
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
