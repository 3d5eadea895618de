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
//! position in the turn. So does a call with the identifier of another before it: no two calls of a turn have the same.
//! Gemini and Ollama match answers by order and name then, and are not sent what was made up.
//!
//! **What is sent back is taken.** The history is what came, but for what providers refuse: in a conversation that holds
//! it every later request would fail. Calls have the identifiers by which they are answered; names that a provider doesn't
//! take, which a model may make up, are spelt so that it does; arguments that are no object, such as those that were cut
//! off, are an empty one; a turn without any content says that there is none.

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
