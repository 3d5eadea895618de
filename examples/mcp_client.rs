//! Calls every tool of an MCP server once, with the smallest arguments that its schema asks for, and prints the results.
//!
//! ```text
//! cargo run --features examples/mcp --example mcp_client -- http://127.0.0.1:3900/mcp
//! ```
//!
//! The conformance suite may say in its variable which calls to make instead.

use std::error::Error;
use std::process::ExitCode;

use serde_json::{Map, Value, json};
use tool_runtime::mcp::McpClient;
use tool_runtime::{AllowAll, Harness, Registry, ToolCall};

fn main() -> ExitCode {
    let Some(url) = std::env::args().next_back().filter(|url| url.starts_with("http")) else {
        eprintln!("mcp_client URL");
        return ExitCode::from(2);
    };
    match run(&url) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mcp_client: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(url: &str) -> Result<(), Box<dyn Error>> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let client = McpClient::http("server", url).without_prefix().build()?;
        let (mut registry, mut calls) = (Registry::builder(), Vec::new());
        for tool in client.tools().await? {
            match tool.host_tool() {
                Ok(host_tool) => {
                    let arguments = smallest(&serde_json::from_str(host_tool.schema().parameters())?);
                    calls.push(ToolCall::new(calls.len().to_string(), host_tool.name(), arguments));
                    registry = registry.tool(host_tool);
                }
                Err(error) => println!("{error}"),
            }
        }
        if let Some(wanted) = std::env::var_os("MCP_CONFORMANCE_CONTEXT") {
            let wanted: Value = serde_json::from_str(&wanted.to_string_lossy())?;
            if let Some(wanted) = wanted["toolCalls"].as_array() {
                let call = |call: &Value| {
                    ToolCall::new("wanted", call["name"].as_str().unwrap_or_default(), &call["arguments"])
                };
                calls = wanted.iter().map(call).collect();
            }
        }
        let registry = registry.build()?;
        if let Some(seen) = registry.get("json_schema_2020_12_tool") {
            // The suite asks what a client has kept of a schema.
            let seen = format!(r#"{{"schema":{}}}"#, seen.schema().parameters());
            calls.push(ToolCall::new("seen", "json_schema_echo", seen));
        }
        let harness = Harness::new(registry, AllowAll);
        for settled in harness.run_settled(calls, None).await {
            println!("{} {}: {}", settled.result().name(), settled.record().code(), settled.result().text());
        }
        client.close().await;
        Ok(())
    })
}

/// A value of what a schema asks for, as far as its types say.
fn smallest(schema: &Value) -> Value {
    if let Some(value) = schema.get("const").or_else(|| schema.get("default")).or_else(|| schema["enum"].get(0)) {
        return value.clone();
    }
    match schema["type"].as_str() {
        Some("object") => {
            let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
            let names = required.iter().filter_map(Value::as_str);
            Value::Object(
                names.map(|name| (name.to_owned(), smallest(&schema["properties"][name]))).collect::<Map<_, _>>(),
            )
        }
        Some("array") => json!([]),
        Some("number" | "integer") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(false),
        Some("null") => Value::Null,
        _ => json!("text"),
    }
}
