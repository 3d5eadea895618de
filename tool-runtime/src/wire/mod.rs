//! Providers' formats: declarations out, calls in, results out.
//!
//! Everything here takes what is model-facing and nothing else.

#[cfg(feature = "openai")]
pub mod openai_chat;
