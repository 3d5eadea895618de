//! Tools served to MCP clients, and MCP servers' tools brought through the gate.

mod asking;
mod client;
mod forms;
mod hostile;
mod http;
mod listing;
mod servers;
mod sessions;
mod stdio;
mod support;
