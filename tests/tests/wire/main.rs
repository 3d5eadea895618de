//! Providers' messages: calls out of a response, results into the next request, and streams.
//!
//! A module a format has what is particular to it; `all` has what holds for each, `accepted` what providers take back, and `properties` tries it on
//! generated turns and on anything at all.

mod accepted;
mod all;
mod anthropic;
mod gemini;
mod gemini_pieces;
mod ollama;
mod openai_chat;
mod openai_responses;
mod properties;
mod support;
