use std::sync::Arc;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::facing::{ModelFacing, sealed::Sealed};
use super::json::Json;

/// The name of the built-in search tool, whose results are made of schemas.
pub(crate) const SEARCH_TOOL: &str = "search_tools";

/// What a model sees of a tool: name, description, parameters and whether its loading is deferred.
///
/// The only description of a tool that can be serialised, and it has no room for anything else.
/// It is cheap to clone.
///
/// ```
/// use tool_runtime::tool;
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(
///     /// The first.
///     a: i64,
///     /// The second.
///     b: i64,
/// ) -> i64 {
///     a + b
/// }
///
/// let schema = AddTool::schema();
/// assert_eq!(schema.name(), "add");
/// assert!(schema.as_json().starts_with(r#"{"name":"add","description":"Adds two numbers.","parameters":{"type":"object","#));
/// ```
#[derive(Clone)]
pub struct ToolSchema {
    fields: Arc<Fields>,
}

struct Fields {
    name: String,
    description: String,
    parameters: Json,
    defer: bool,
    /// The parameters as text, and the whole schema as text.
    parameters_text: String,
    text: String,
}

impl ToolSchema {
    pub(crate) fn new(name: String, description: String, parameters: Json, defer: bool) -> Self {
        let parameters_text = parameters.to_string();
        let mut text = String::from("{\"name\":");
        super::json::write_string(&mut text, &name);
        text.push_str(",\"description\":");
        super::json::write_string(&mut text, &description);
        text.push_str(",\"parameters\":");
        text.push_str(&parameters_text);
        if defer {
            text.push_str(",\"defer\":true");
        }
        text.push('}');
        ToolSchema { fields: Arc::new(Fields { name, description, parameters, defer, parameters_text, text }) }
    }

    /// The name by which the model calls the tool.
    pub fn name(&self) -> &str {
        &self.fields.name
    }

    /// What the tool does and when to use it.
    pub fn description(&self) -> &str {
        &self.fields.description
    }

    /// The JSON Schema (2020-12) of the arguments, as compact text. Its root is always a plain
    /// object with `properties`, and it refers to nothing outside itself.
    pub fn parameters(&self) -> &str {
        &self.fields.parameters_text
    }

    pub(crate) fn parameters_json(&self) -> &Json {
        &self.fields.parameters
    }

    /// The tool is offered only once the model has searched for it.
    pub fn defer(&self) -> bool {
        self.fields.defer
    }

    /// The four fields as compact JSON, made once: the same bytes in every process.
    pub fn as_json(&self) -> &str {
        &self.fields.text
    }
}

impl Serialize for ToolSchema {
    /// Names its four fields one by one; nothing is ever spread into it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("ToolSchema", if self.fields.defer { 4 } else { 3 })?;
        fields.serialize_field("name", &self.fields.name)?;
        fields.serialize_field("description", &self.fields.description)?;
        fields.serialize_field("parameters", &self.fields.parameters)?;
        if self.fields.defer {
            fields.serialize_field("defer", &true)?;
        } else {
            fields.skip_field("defer")?;
        }
        fields.end()
    }
}

impl std::fmt::Debug for ToolSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_json())
    }
}

impl PartialEq for ToolSchema {
    fn eq(&self, other: &Self) -> bool {
        self.fields.text == other.fields.text
    }
}

impl Eq for ToolSchema {}

impl Sealed for ToolSchema {}
impl ModelFacing for ToolSchema {}
