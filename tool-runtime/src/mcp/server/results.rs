//! What a client is told of a call that has ended.

use rmcp::model::{CallToolResult, ContentBlock, Tool};

use crate::call::{Block, Code};
use crate::path::Settled;

/// Built anew for each call: the era of the peer decides what `rmcp` leaves of it.
pub(super) fn result(settled: &Settled, tool: Option<&Tool>, is_modern: bool) -> CallToolResult {
    let result = settled.result();
    let asides = result.asides().iter().flat_map(|aside| aside.iter());
    let content: Vec<ContentBlock> = result.content().iter().chain(asides).map(block).collect();
    if settled.record().code() != Code::Ok {
        return CallToolResult::error(content);
    }
    let mut success = CallToolResult::success(content);
    if tool.is_some_and(|tool| tool.output_schema.is_some()) {
        let value = settled.value().and_then(|value| serde_json::from_str::<serde_json::Value>(value).ok());
        // Before 2026-07-28 it had to be an object. The content says the same.
        success.structured_content = value.filter(|value| is_modern || value.is_object());
    }
    success
}

/// A call that waits for an answer from elsewhere.
pub(super) fn pending(tool: &str) -> CallToolResult {
    not_run(
        tool,
        "has not run yet: a person has been asked about this call, and the answer comes later. To go on with it then, make the same call again, with the same arguments.",
    )
}

/// A call whose question was closed without an answer.
pub(super) fn unanswered(tool: &str) -> CallToolResult {
    not_run(tool, "did not run: a person has to agree to this call, and nobody answered.")
}

fn not_run(tool: &str, why: &str) -> CallToolResult {
    let tool = crate::schema::text::shown(tool, 80);
    CallToolResult::error(vec![ContentBlock::text(format!("`{tool}` {why}"))])
}

fn block(block: &Block) -> ContentBlock {
    match block {
        Block::Text(text) => ContentBlock::text(text.to_string()),
        Block::Image { media_type, base64 } => ContentBlock::image(base64.to_string(), media_type.to_string()),
        Block::Embedded { text, json } => {
            serde_json::from_str(json).unwrap_or_else(|_| ContentBlock::text(text.to_string()))
        }
    }
}
