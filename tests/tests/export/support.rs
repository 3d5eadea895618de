//! Exporting, judging and accepting.

use serde_json::{Map, Value, json};
use tool_runtime::path::{Acceptance, Loaded, Proposed};
use tool_runtime::wire::export::{Export, ExportedTool, Fit, Provider, Strict};
use tool_runtime::{HostTool, Registry, ToolCall};

pub(crate) use crate::schemas::dynamic;

/// Every form that a tool can be asked for in.
pub(crate) fn forms() -> Vec<(Provider, Strict)> {
    let all = Provider::all().iter();
    all.flat_map(|&provider| {
        let strict = provider.has_strict().then_some((provider, Strict::Require));
        std::iter::once((provider, Strict::No)).chain(strict)
    })
    .collect()
}

pub(crate) fn export((provider, strict): (Provider, Strict), tool: &HostTool) -> Export {
    Export::with(provider).strict(strict).tools([tool.schema()])
}

pub(crate) fn is_refused(tool: &ExportedTool) -> bool {
    matches!(tool.fit(), Fit::Refused(_))
}

/// The canonical text, if the call is accepted.
pub(crate) fn accept(registry: &Registry, call: ToolCall) -> Option<String> {
    match registry.resolve(call, &Loaded::new()).and_then(Proposed::accept) {
        Ok(Acceptance::Accepted(accepted)) => Some(accepted.arguments().as_str().to_owned()),
        _ => None,
    }
}

/// Gemini's `nullable` as JSON Schema says it.
pub(crate) fn in_json_schema(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let mut plain: Map<String, Value> =
                members.iter().map(|(keyword, value)| (keyword.clone(), in_json_schema(value))).collect();
            if plain.remove("nullable") == Some(json!(true)) {
                return json!({"anyOf": [plain, {"type": "null"}]});
            }
            plain.into()
        }
        Value::Array(elements) => elements.iter().map(in_json_schema).collect(),
        value => value.clone(),
    }
}

pub(crate) fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}
