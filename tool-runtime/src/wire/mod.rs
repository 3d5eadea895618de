//! Providers' formats: declarations out, calls in, results out.
//!
//! Everything here takes what is model-facing and nothing else.
//!
//! A format is a module of its own, behind a feature of its own, and they are all used alike:
//!
//! | | |
//! |---|---|
//! | `calls(response)` | the calls of a turn |
//! | `text(response)` | what the model says to people |
//! | `history(response)` | what of the response goes into the next request, as it came |
//! | `messages(results)` | what answers the calls, to put behind it |
//! | `Stream` | the same three for a response that comes in pieces |
//!
//! Arguments reach a [`ToolCall`](crate::ToolCall) letter by letter as they were sent, and one call that can't be
//! read spoils no other: it is refused when it is accepted, with a result that tells the model.
//!
//! **Identifiers.** Where a provider gives a call none, the call gets one that says so: `call_without_id_` and its
//! position in the turn. No two calls of a turn get the same, but identifiers that a provider gives twice stay as they
//! are. Gemini and Ollama match answers by order and name then, and are not sent what was made up.

#[cfg(any(
    feature = "openai",
    feature = "openai-responses",
    feature = "anthropic",
    feature = "gemini",
    feature = "ollama",
    feature = "mcp"
))]
mod common;

#[cfg(feature = "anthropic")]
pub mod anthropic;
#[cfg(any(
    feature = "openai",
    feature = "openai-responses",
    feature = "anthropic",
    feature = "gemini",
    feature = "ollama"
))]
pub mod export;
#[cfg(feature = "gemini")]
pub mod gemini;
#[cfg(feature = "ollama")]
pub mod ollama;
#[cfg(feature = "openai")]
pub mod openai_chat;
#[cfg(feature = "openai-responses")]
pub mod openai_responses;

#[cfg(any(
    feature = "openai",
    feature = "openai-responses",
    feature = "anthropic",
    feature = "gemini",
    feature = "ollama"
))]
pub use common::MessageError;

#[cfg(feature = "mcp")]
pub(crate) use common::{Fail, Value, names};
