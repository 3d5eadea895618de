//! Tools served to MCP clients, and MCP servers' tools brought through the gate.

mod asking;
mod client;
mod far;
mod forms;
mod given_up;
mod hostile;
mod http;
mod listing;
mod servers;
mod sessions;
mod stdio;
mod support;
mod unread;
