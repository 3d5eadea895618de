//! A client of an MCP server: all its tools at once, or calls that somebody writes line by line.

use std::error::Error;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tool_runtime::mcp::McpClient;
use tool_runtime::{AllowAll, Harness, Registry, Rule, Rules, ToolCall};

/// A server as a program, and what bounds its calls.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// How long a call may take.
    pub timeout: Option<Duration>,
    /// What may not be called.
    pub denied: Vec<String>,
}

impl Program {
    /// Of a command line: `[--timeout SECONDS] [--deny TOOL]… -- PROGRAM ARGUMENT…`.
    pub fn of(arguments: &[String]) -> Option<Self> {
        let mut program = Program::default();
        let mut rest = arguments;
        loop {
            rest = match rest {
                [option, value, rest @ ..] if option == "--timeout" => {
                    program.timeout = Some(Duration::try_from_secs_f64(value.parse().ok()?).ok()?);
                    rest
                }
                [option, value, rest @ ..] if option == "--deny" => {
                    program.denied.push(value.clone());
                    rest
                }
                [option, command @ ..] if option == "--" && !command.is_empty() => {
                    program.command = command.to_vec();
                    return Some(program);
                }
                _ => return None,
            };
        }
    }
}

/// Makes the calls of the standard input, one a line as `TOOL ARGUMENTS`, one after the other. Writes a line of JSON for
/// each: its tool, its code, and what a model reads.
///
/// # Errors
/// If the server can't be started or the rules can't be made.
pub fn run_lines(program: &Program) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ran = runtime.block_on(async {
        let (name, arguments) = program.command.split_first().ok_or("no program")?;
        let mut client = McpClient::command("server", name, arguments).without_prefix();
        if let Some(limit) = program.timeout {
            client = client.call_timeout(limit);
        }
        let client = client.build()?;
        let mut registry = Registry::builder();
        for tool in client.tools().await? {
            registry = registry.tool(tool.host_tool()?);
        }
        let registry = registry.build()?;
        let mut rules = Rules::builder();
        for tool in &program.denied {
            rules = rules.rule(Rule::deny(tool.as_str()).because("not that"));
        }
        let harness = Harness::new(registry.clone(), rules.rule(Rule::allow("*")).build(&registry)?);
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        while let Some(line) = lines.next_line().await? {
            let (tool, arguments) = line.split_once(' ').unwrap_or((&line, "{}"));
            for settled in harness.run_settled([ToolCall::new("line", tool, arguments)], None).await {
                let (code, text) = (settled.record().code().as_str(), settled.result().text());
                println!("{}", json!({"tool": tool, "code": code, "text": text}));
            }
        }
        client.close().await;
        Ok(())
    });
    // A read of the standard input can't be stopped, and nobody waits for it.
    runtime.shutdown_timeout(Duration::from_millis(100));
    ran
}

/// Calls every tool of the server at `url`, or those that the conformance suite wants called.
///
/// # Errors
/// If the server can't be connected to.
pub fn run(url: &str) -> Result<(), Box<dyn Error>> {
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
