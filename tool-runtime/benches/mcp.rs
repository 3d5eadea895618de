//! What a call over MCP costs, as a multiple of what it costs with a hand-written `rmcp` handler that checks the same schema
//! with `jsonschema`.
//!
//! `cargo bench -p tool-runtime --features mcp --bench mcp` prints `ratio mcp = X.XX`: `add` with two integers over an
//! in-process duplex, on a current-thread runtime, with a memory ledger and a rule that allows it. The two servers take
//! turns, and the best of seven rounds of each counts.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{Peer, RequestContext, RunningService};
use rmcp::{ErrorData, RoleClient, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use tool_runtime::mcp::McpServer;
use tool_runtime::{Harness, MemoryLedger, Registry, Rule, Rules, tool, tool_type};

/// How many calls a round has.
const CALLS: i64 = 2_000;

/// How many rounds there are. The first is not the warm-up: that is one more.
const ROUNDS: usize = 7;

/// How many bytes may be on the way.
const ROOM: usize = 1 << 16;

/// A sum.
#[tool_type]
struct Sum {
    /// What comes out.
    sum: i64,
}

/// Adds two integers.
#[tool(host(inline, read_only))]
fn add(
    /// The first.
    a: i64,
    /// The second.
    b: i64,
) -> Sum {
    Sum { sum: a + b }
}

/// The same, as somebody writes it who has `rmcp` alone.
#[derive(Clone)]
struct ByHand {
    tool: Tool,
    checks: Arc<jsonschema::Validator>,
}

impl ByHand {
    fn new() -> Result<Self, Box<dyn Error>> {
        let parameters: Map<String, Value> = serde_json::from_str(AddTool::host().schema().parameters())?;
        let checks = Arc::new(jsonschema::validator_for(&Value::Object(parameters.clone()))?);
        let mut tool = Tool::new("add", "Adds two integers.", parameters);
        tool.output_schema = Some(Arc::new(serde_json::from_str(AddTool::host().output_schema())?));
        Ok(ByHand { tool, checks })
    }
}

impl ServerHandler for ByHand {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![self.tool.clone()]))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == "add").then(|| self.tool.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != "add" {
            return Err(ErrorData::invalid_params("there is no such tool", None));
        }
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        if let Err(error) = self.checks.validate(&arguments) {
            return Ok(CallToolResult::error(vec![ContentBlock::text(error.to_string())]).into());
        }
        let number = |name: &str| arguments.get(name).and_then(Value::as_i64);
        let (Some(a), Some(b)) = (number("a"), number("b")) else {
            return Ok(CallToolResult::error(vec![ContentBlock::text("numbers")]).into());
        };
        let sum = json!({"sum": a + b});
        let mut result = CallToolResult::success(vec![ContentBlock::text(sum.to_string())]);
        result.structured_content = Some(sum);
        Ok(result.into())
    }
}

fn ours() -> Result<McpServer, Box<dyn Error>> {
    let rules = Rules::builder().rule(Rule::allow("add"));
    let registry = Registry::builder().tool(AddTool::host()).build()?;
    let harness = Harness::new(registry.clone(), rules.build(&registry)?).ledger(MemoryLedger::default());
    Ok(McpServer::builder(harness).build()?)
}

/// One round of calls, one after the other.
async fn round(peer: &Peer<RoleClient>) -> Result<Duration, Box<dyn Error>> {
    let begun = Instant::now();
    for n in 0..CALLS {
        let Value::Object(arguments) = json!({"a": n, "b": 1}) else { continue };
        let result = peer.call_tool(CallToolRequestParams::new("add").with_arguments(arguments)).await?;
        if result.structured_content.as_ref().and_then(|value| value["sum"].as_i64()) != Some(n + 1) {
            return Err(format!("{n} + 1 came to {result:?}").into());
        }
    }
    Ok(begun.elapsed())
}

async fn measure() -> Result<(), Box<dyn Error>> {
    let (here, there) = tokio::io::duplex(ROOM);
    let by_hand = ByHand::new()?;
    tokio::spawn(async move {
        match by_hand.serve(there).await {
            Ok(running) => drop(running.waiting().await),
            Err(error) => eprintln!("{error}"),
        }
    });
    let theirs: RunningService<RoleClient, ()> = ().serve(here).await?;

    let (here, there) = tokio::io::duplex(ROOM);
    let server = ours()?;
    tokio::spawn(async move {
        let (reader, writer) = tokio::io::split(there);
        if let Err(error) = server.serve_stream(reader, writer, CancellationToken::new()).await {
            eprintln!("{error}");
        }
    });
    let ours: RunningService<RoleClient, ()> = ().serve(here).await?;

    let mut best = [Duration::MAX; 2];
    for turn in 0..=ROUNDS {
        for (place, peer) in [theirs.peer(), ours.peer()].into_iter().enumerate() {
            let took = round(peer).await?;
            if turn > 0 {
                best[place] = best[place].min(took);
            }
        }
    }
    let [theirs, ours] = best.map(|best| best.as_secs_f64() / CALLS as f64);
    println!("by hand {:.2} µs a call, here {:.2} µs", theirs * 1e6, ours * 1e6);
    println!("ratio mcp = {:.2}", ours / theirs);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(measure())
}
