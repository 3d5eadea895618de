//! Tools served to MCP clients, and MCP servers' tools brought through the gate.

mod asking;
mod http;
mod listing;
mod stdio;
mod support;
