//! The Model Context Protocol, both ways: a harness served to MCP clients, and MCP servers' tools brought through the
//! same gate.
//!
//! Spoken are the revisions 2025-11-25 (with its forerunners) and 2026-07-28. The protocol itself is `rmcp`'s; what
//! can't be left to it is done here: arguments are taken from the peer's own bytes, so that what was sent is what is
//! judged, and every request gets one answer, also one that can't be read.

mod client;
mod envelope;
mod form;
mod server;
mod unanswered;

pub use client::{McpClient, McpClientBuilder, McpClientError, PinState, Pins, PinsError, RemoteTool, RemoteToolError};
pub use form::{McpForm, McpFormAnswer, McpFormError, ask_client};
pub use server::{HttpOptions, McpApprover, McpCaller, McpServer, McpServerBuilder, McpServerError};
