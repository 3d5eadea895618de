//! What the examples do, as functions that write where they are told, so that tests can read it.
//!
//! The programs beside this crate's manifest (`quickstart.rs`, `replay.rs`, …) only connect these functions to the
//! terminal.

pub mod agent;
pub mod agreement;
pub mod approvals {
    //! Approvals, and what becomes of them.

    pub mod checklist;
    pub mod durable;
}
mod dice;
pub mod gate;
pub mod grounding;
pub mod layers;
pub mod ledger;
#[cfg(feature = "mcp")]
pub mod mcp_client;
#[cfg(feature = "mcp")]
pub mod mcp_gate;
#[cfg(feature = "mcp")]
pub mod mcp_load;
#[cfg(feature = "mcp")]
pub mod mcp_server;
pub mod quickstart;
pub mod replay;
pub mod ruling;

/// What the README shows compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
#[derive(Debug)]
pub struct Readme;
