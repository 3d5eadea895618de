//! Reads the prompts of a public function-calling benchmark, each with its tools and with answers of many models.
//!
//! Its files aren't JSON Schema, nor are its answers calls as a provider sends them:
//!
//! - types are words of several languages (`dict`, `float`, `tuple`, `String`, `any`, …);
//! - `optional` stands beside `default` and says the same as `required`, which stays; other words that aren't of JSON Schema
//!   are left out as well;
//! - some defaults aren't of their own type, such as `"False"` of a boolean. Such a default is left out: nobody can tell
//!   what a tool would make of it;
//! - providers take no dots in names, so answers call `get_area` what is declared as `get.area`. That is undone here, as the
//!   wire's way back does for this library's own exports;
//! - an answer is a list of `{name: arguments}`, where arguments are an object or the text of one; or a plain string, where
//!   the model called nothing.
//!
//! Nothing here makes two answers alike: that is the library's.

use std::error::Error;

use serde::Deserialize;
use serde_json::{Map, Value};
use tool_runtime::agreement::{PlannedCall, Sample};
use tool_runtime::{DynamicTool, HostTool, Registry};

/// A prompt with what was answered to it.
#[derive(Deserialize)]
pub(super) struct Prompt {
    pub(super) id: String,
    tools: Vec<Declared>,
    pub(super) samples: Vec<Answered>,
}

#[derive(Deserialize)]
struct Declared {
    name: String,
    description: String,
    parameters: Value,
}

/// One model's answer.
#[derive(Deserialize)]
pub(super) struct Answered {
    /// What the benchmark says of it.
    pub(super) correct: bool,
    calls: Calls,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Calls {
    Text(#[allow(dead_code, reason = "a text is a plan without calls, whatever it says")] String),
    Made(Vec<Map<String, Value>>),
}

impl Prompt {
    /// Its tools, under the names that they are declared by.
    pub(super) fn tools(&self) -> Result<Vec<HostTool>, Box<dyn Error>> {
        let tool = |declared: &Declared| -> Result<HostTool, Box<dyn Error>> {
            let parameters = json_schema(&declared.parameters);
            let tool = DynamicTool::builder(&declared.name, &declared.description)
                .parameters(parameters.to_string())
                .output("true")
                .run(|_, _| async { Err("it is only known by its schema".into()) })?;
            // Whether the schema can be enforced is the registry's to say.
            Registry::builder().tool(tool.clone()).build()?;
            Ok(tool)
        };
        self.tools
            .iter()
            .map(|declared| tool(declared).map_err(|error| format!("{}: {error}", self.id).into()))
            .collect()
    }

    /// An answer as a plan, with its calls under declared names.
    pub(super) fn sample(&self, answered: &Answered) -> Sample {
        let Calls::Made(calls) = &answered.calls else { return Sample::no_call() };
        Sample::of(calls.iter().flatten().map(|(name, arguments)| {
            let arguments = match arguments {
                Value::String(text) => text.clone(),
                object => object.to_string(),
            };
            PlannedCall::new(self.declared(name), arguments)
        }))
    }

    fn declared<'a>(&'a self, called: &'a str) -> &'a str {
        let names = || self.tools.iter().map(|tool| tool.name.as_str());
        let mut meant = names().filter(|name| name.replace('.', "_") == called);
        match (meant.next(), meant.next()) {
            (Some(name), None) if !names().any(|name| name == called) => name,
            _ => called,
        }
    }
}

/// The same schema in words of JSON Schema.
fn json_schema(dialect: &Value) -> Value {
    let Some(given) = dialect.as_object() else { return Value::Bool(true) };
    let mut schema = Map::new();
    let kind = given.get("type").and_then(Value::as_str).and_then(json_type);
    if let Some(kind) = kind {
        schema.insert("type".to_owned(), kind.into());
    }
    for key in ["description", "enum", "required"] {
        if let Some(value) = given.get(key) {
            schema.insert(key.to_owned(), value.clone());
        }
    }
    if let Some(properties) = given.get("properties").and_then(Value::as_object) {
        let properties: Map<_, _> = properties.iter().map(|(name, inner)| (name.clone(), json_schema(inner))).collect();
        schema.insert("properties".to_owned(), properties.into());
    }
    if let Some(items) = given.get("items") {
        schema.insert("items".to_owned(), json_schema(items));
    }
    let is_of_type = |value: &Value| match kind {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("string") => value.is_string(),
        _ => true,
    };
    if let Some(default) = given.get("default").filter(|default| is_of_type(default)) {
        schema.insert("default".to_owned(), default.clone());
    }
    schema.into()
}

/// The JSON type that a word of the dialect means; `None` for any.
fn json_type(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "dict" | "object" | "hashmap" | "map" => "object",
        "array" | "list" | "tuple" | "arraylist" => "array",
        "integer" | "int" | "long" | "short" | "byte" | "bigint" => "integer",
        "float" | "number" | "double" => "number",
        "boolean" | "bool" => "boolean",
        "string" | "str" | "char" => "string",
        _ => return None,
    })
}
