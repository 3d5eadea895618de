//! Servers that speak OpenAI's Chat Completions and make a grammar of schemas, as llama.cpp and vLLM do.
//!
//! They skip silently what they don't know, and llama.cpp reads an absent `additionalProperties` as
//! `false`; so references are inlined, and what is open says so.

use super::dialect::{Dialect, Enums, Further, Limits, Nulls, References};
use super::{Target, openai};

pub(crate) const TARGET: Target =
    Target { shown: "OpenAI-compatible servers", plain: &[&PLAIN], strict: None, ..openai::CHAT };

pub(crate) const PLAIN: Dialect = Dialect {
    strict: false,
    all_required: false,
    references: References::Inlined,
    nulls: Nulls::Typed,
    one_type: true,
    further: Further::Spelt,
    enums: Enums::Any,
    keep: &["minimum", "maximum", "minLength", "maxLength", "format", "minItems", "maxItems", "default"],
    formats: Some(&["date-time", "time", "date", "uuid"]),
    min_items: Some(u64::MAX),
    ordering: false,
    keys: None,
    limits: Limits::NONE,
};
