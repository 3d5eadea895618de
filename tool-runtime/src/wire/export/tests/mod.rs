//! A row of what is known of providers, a test.

mod containers;
mod keywords;
mod naming;
mod references;
mod requests;
mod sources;
mod strict;
mod unions;

use super::dialect::Dialect;
use super::merge::names;
use super::normalise::{Normalised, normalise};
use super::{
    Deferral, Export, ExportOptions, Fit, Namespace, Provider, Reason, Refusal, Sources, Strict, anthropic, gemini,
    ollama, openai, openai_compatible,
};
use crate::call::{Reported, ToolCall, ToolResult};
use crate::schema::json::Json;
use crate::schema::{JsonPath, Segment, ToolSchema};

fn tool(name: &str, parameters: &str) -> ToolSchema {
    ToolSchema::new(name.to_owned(), "Does it.".to_owned(), Json::parse(parameters).unwrap(), false)
}

/// The form of one property, and what is lost.
fn property(dialect: &Dialect, schema: &str) -> Result<(String, Vec<String>), Refusal> {
    let root =
        format!(r#"{{"type":"object","properties":{{"p":{schema}}},"required":["p"],"additionalProperties":false}}"#);
    let made = normalise(&Json::parse(&root).unwrap(), dialect)?;
    let schema = made.schema.pointer("/properties/p").unwrap().to_string();
    Ok((schema, made.losses.into_iter().map(|loss| loss.pointer).collect()))
}

fn shown(dialect: &Dialect, schema: &str) -> String {
    property(dialect, schema).unwrap().0
}

fn root(dialect: &Dialect, schema: &str) -> Normalised {
    normalise(&Json::parse(schema).unwrap(), dialect).unwrap()
}

fn reason(dialect: &Dialect, schema: &str) -> (String, Reason) {
    let refusal = property(dialect, schema).unwrap_err();
    (refusal.pointer, refusal.reason)
}
