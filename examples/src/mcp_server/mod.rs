//! A server of a few tools, one of each kind.

use std::error::Error;
use std::time::Duration;

use serde_json::json;
use tokio::net::TcpListener;
use tool_runtime::mcp::{HttpOptions, McpForm, McpFormAnswer, McpFormError, McpServer, ask_client};
use tool_runtime::{
    Block, CallContext, CallFacts, Content, Decision, DynamicOutput, DynamicTool, DynamicToolError, Harness, HostTool,
    Registry, tool, tool_type,
};

/// The smallest PNG, and the smallest WAV.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// A sum.
#[tool_type]
#[derive(Debug)]
pub struct Sum {
    /// What comes out.
    pub sum: i64,
}

/// Adds two integers.
#[tool(host(inline, read_only, idempotent))]
fn add(
    /// The first.
    a: i64,
    /// The second.
    b: i64,
) -> Sum {
    Sum { sum: a.saturating_add(b) }
}

/// Adds two integers, and takes its time over it: what many calls at a time are tried with.
#[tool(host(concurrency_safe, read_only, idempotent))]
async fn add_later(
    /// The first.
    a: i64,
    /// The second.
    b: i64,
    /// How long, in milliseconds.
    #[arg(range = 0..=60_000)]
    ms: u32,
) -> Sum {
    tokio::time::sleep(Duration::from_millis(ms.into())).await;
    Sum { sum: a.saturating_add(b) }
}

/// Says the text again.
#[tool(host(inline, read_only))]
fn echo(
    /// What to say.
    text: String,
) -> String {
    text
}

/// Says how long it slept, or that it was woken.
#[tool(host(concurrency_safe, read_only))]
async fn sleep(
    /// How long, in milliseconds.
    #[arg(range = 0..=600_000)]
    ms: u32,
    #[host] cx: &CallContext,
) -> String {
    tokio::select! {
        () = cx.token().cancelled() => "woken".to_owned(),
        () = tokio::time::sleep(Duration::from_millis(ms.into())) => format!("slept {ms} ms"),
    }
}

/// Ends the whole server, as a crash does.
#[tool(host(destructive))]
async fn crash() {
    std::process::exit(70);
}

/// Returns a text.
#[tool(host(inline, read_only))]
fn test_simple_text() -> String {
    "This is a simple text response for testing.".to_owned()
}

/// Fails.
#[tool(host(inline, read_only))]
fn test_error_handling() -> Result<String, String> {
    Err("This tool intentionally returns an error for testing".to_owned())
}

/// Reports how far it is, three times.
#[tool(host(concurrency_safe, read_only))]
async fn test_tool_with_progress(#[host] cx: &CallContext) -> String {
    for (step, done) in [0.0, 0.5, 1.0].into_iter().enumerate() {
        cx.progress(&format!("Step {} of 3", step + 1), done);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    "done".to_owned()
}

/// Runs only after a person has said so.
#[tool(host(inline))]
fn test_elicitation(
    /// What the person is shown.
    message: String,
) -> String {
    format!("User response: accepted {message}")
}

/// What a person fills in.
async fn fill_in(key: &str, message: &str, schema: &str) -> Result<String, McpFormError> {
    let form = McpForm::new(message, schema)?.key(key);
    Ok(match ask_client(form).await {
        McpFormAnswer::Filled(fields) => format!("Elicitation completed: action=accept, content={fields}"),
        McpFormAnswer::Declined => "Elicitation completed: action=decline".to_owned(),
        _ => "Elicitation completed: action=cancel".to_owned(),
    })
}

/// A form with one field for a text.
fn one_field(name: &str) -> String {
    json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}).to_string()
}

/// Asks the person for a name.
#[tool(host(concurrency_safe, read_only))]
async fn test_input_required_result_elicitation() -> Result<String, McpFormError> {
    fill_in("user_name", "What is your name?", &one_field("name")).await
}

/// Asks the person for a name, and for a colour after it.
#[tool(host(concurrency_safe, read_only))]
async fn test_input_required_result_multi_round() -> Result<String, McpFormError> {
    let name = fill_in("step1", "Step 1: What is your name?", &one_field("name")).await?;
    let color = fill_in("step2", "Step 2: What is your favorite color?", &one_field("color")).await?;
    Ok(format!("{name}; {color}"))
}

/// Asks the person with a form whose fields have defaults.
#[tool(host(concurrency_safe, read_only))]
async fn test_elicitation_sep1034_defaults() -> Result<String, McpFormError> {
    let schema = json!({"type": "object", "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    }});
    fill_in("form", "Please look at these.", &schema.to_string()).await
}

/// Asks the person with a form that has choices of all kinds.
#[tool(host(concurrency_safe, read_only))]
async fn test_elicitation_sep1330_enums() -> Result<String, McpFormError> {
    let titled = |choice: &str| {
        json!([
            {"const": "value1", "title": format!("First {choice}")},
            {"const": "value2", "title": format!("Second {choice}")},
            {"const": "value3", "title": format!("Third {choice}")},
        ])
    };
    let schema = json!({"type": "object", "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": titled("Option")},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}},
    }});
    fill_in("form", "Please choose.", &schema.to_string()).await
}

/// Runs only after a person has said so.
#[tool(host(inline))]
fn test_input_required_result_request_state() -> String {
    "state-ok: it was approved.".to_owned()
}

/// Runs only after a person has said so.
#[tool(host(inline))]
fn test_input_required_result_tampered_state() -> String {
    "It was approved.".to_owned()
}

/// Runs only after a person has said so.
#[tool(host(inline))]
fn test_input_required_result_capabilities() -> String {
    "It was approved.".to_owned()
}

/// A tool whose result has these blocks.
fn showing(name: &str, description: &str, blocks: Vec<Block>) -> Result<HostTool, DynamicToolError> {
    let content = Content::blocks(blocks);
    DynamicTool::builder(name, description).output("true").run_shown(move |_, _| {
        let output = DynamicOutput::new("null").shown_as(content.clone());
        async move { Ok(output) }
    })
}

/// All tools.
///
/// # Errors
/// If one can't be made.
pub fn tools() -> Result<Vec<HostTool>, DynamicToolError> {
    let embedded =
        |text: &str, json: serde_json::Value| Block::Embedded { text: text.into(), json: json.to_string().into() };
    let image = || Block::Image { media_type: "image/png".into(), base64: PNG.into() };
    let sound = embedded("[a sound]", json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"}));
    let resource = |uri: &str, media_type: &str, text: &str| {
        let resource = json!({"uri": uri, "mimeType": media_type, "text": text});
        embedded(text, json!({"type": "resource", "resource": resource}))
    };
    let full = r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}"##;
    Ok(vec![
        AddTool::host(),
        AddLaterTool::host(),
        EchoTool::host(),
        SleepTool::host(),
        CrashTool::host(),
        TestSimpleTextTool::host(),
        TestErrorHandlingTool::host(),
        TestToolWithProgressTool::host(),
        TestElicitationTool::host(),
        TestInputRequiredResultElicitationTool::host(),
        TestInputRequiredResultMultiRoundTool::host(),
        TestElicitationSep1034DefaultsTool::host(),
        TestElicitationSep1330EnumsTool::host(),
        TestInputRequiredResultRequestStateTool::host(),
        TestInputRequiredResultTamperedStateTool::host(),
        TestInputRequiredResultCapabilitiesTool::host(),
        showing("test_image_content", "Returns an image.", vec![image()])?,
        showing("test_audio_content", "Returns a sound.", vec![sound])?,
        showing(
            "test_embedded_resource",
            "Returns a resource.",
            vec![resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
        )?,
        showing(
            "test_multiple_content_types",
            "Returns a text, an image and a resource.",
            vec![
                Block::Text("Multiple content types test:".into()),
                image(),
                resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
            ],
        )?,
        DynamicTool::builder("test_custom_headers", "Takes an argument that clients repeat in a header.")
            .parameters(r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}},"required":["region"]}"#)
            .output("true")
            .run(|arguments, _| async move { Ok(arguments) })?,
        DynamicTool::builder("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features.")
            .parameters(full)
            .composed_root()
            .output("true")
            .run(|arguments, _| async move { Ok(arguments) })?,
    ])
}

/// A server of all tools. Those that run only after a person has said so are asked about.
///
/// # Errors
/// If one can't be made.
pub fn server() -> Result<McpServer, Box<dyn Error>> {
    let asks = |call: &CallFacts<'_>| match call.tool() {
        "test_elicitation"
        | "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state"
        | "test_input_required_result_capabilities" => Decision::ask("it says so"),
        _ => Decision::Allow,
    };
    let harness =
        Harness::new(Registry::builder().tools(tools()?).build()?, asks).ledger(tool_runtime::MemoryLedger::new(1_000));
    Ok(McpServer::builder(harness).name("mcp_server").version(env!("CARGO_PKG_VERSION")).build()?)
}

/// Serves them.
///
/// # Errors
/// If nothing can be served.
pub fn run(address: Option<&str>) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let server = server()?;
        match address {
            None => server.serve_stdio().await?,
            Some(address) => server.serve_http(TcpListener::bind(address).await?, HttpOptions::new()).await?,
        }
        Ok(())
    });
    // A read of the standard input can't be stopped, and nobody waits for it.
    runtime.shutdown_timeout(Duration::from_millis(100));
    served
}
