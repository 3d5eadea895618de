//! Ollama: the shape of Chat Completions, but its clients and templates know only `type`, `items`,
//! `properties`, `description` and `enum`. Everything else is said in words.

use super::dialect::{Dialect, Enums, Further, Limits, Nulls, References};
use super::{Target, openai};

pub(crate) const TARGET: Target = Target { shown: "Ollama", plain: &[&PLAIN], strict: None, ..openai::CHAT };

pub(crate) const PLAIN: Dialect = Dialect {
    strict: false,
    all_required: false,
    references: References::Inlined,
    nulls: Nulls::Typed,
    one_type: false,
    further: Further::Kept,
    enums: Enums::Any,
    keep: &[],
    formats: Some(&[]),
    min_items: None,
    ordering: false,
    keys: None,
    limits: Limits::NONE,
};
