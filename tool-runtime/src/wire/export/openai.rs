//! OpenAI: Chat Completions and Responses. Both read schemas alike.
//!
//! Not strict, `oneOf` and `allOf` are refused at any depth, and so is an array without `items`;
//! most other keywords reach the model. Strict output is constrained by a grammar, which knows less.

use super::dialect::{Dialect, Enums, Further, Limits, MOST, Nulls, References};
use super::names::Rule;
#[cfg(feature = "openai-responses")]
use super::provider::Search;
use super::{Fragment, RequestLimits, Target, write_member};
use crate::schema::json::write_string;

/// Chat Completions.
pub(crate) const CHAT: Target = Target {
    shown: "OpenAI Chat Completions",
    names: NAMES,
    plain: &[&PLAIN],
    strict: Some(&STRICT),
    write: write_chat,
    open: "[",
    close: "]",
    request: RequestLimits::NONE,
    search: None,
    namespaces: false,
};

#[cfg(feature = "openai-responses")]
pub(crate) const RESPONSES: Target = Target {
    shown: "OpenAI Responses",
    write: write_responses,
    search: Some(Search { fragment: r#"{"type":"tool_search"}"#, name: None }),
    namespaces: true,
    ..CHAT
};

/// Names of tools.
pub(in crate::wire) const NAMES: Rule = Rule { longest: 64, signs: "-", letter_first: false };

pub(crate) const PLAIN: Dialect = Dialect {
    strict: false,
    all_required: false,
    references: References::Kept,
    nulls: Nulls::Typed,
    one_type: false,
    further: Further::Kept,
    enums: Enums::Any,
    keep: MOST,
    formats: None,
    min_items: Some(u64::MAX),
    ordering: false,
    keys: None,
    limits: Limits::NONE,
};

pub(crate) const STRICT: Dialect = Dialect {
    strict: true,
    all_required: true,
    references: References::Kept,
    nulls: Nulls::Typed,
    one_type: true,
    further: Further::Closed,
    enums: Enums::Any,
    keep: &[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "pattern",
        "format",
        "minItems",
        "maxItems",
    ],
    formats: Some(&["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]),
    min_items: Some(u64::MAX),
    ordering: false,
    keys: None,
    limits: Limits { properties: 5_000, depth: 10, enum_values: 1_000, characters: 120_000 },
};

/// A tool of Chat Completions: `{"type":"function","function":{…}}`.
fn write_chat(out: &mut String, tool: &Fragment<'_>) {
    out.push_str(r#"{"type":"function","function":{"name":"#);
    write_string(out, tool.name);
    write_member(out, "description", tool.description);
    out.push_str(r#","parameters":"#);
    tool.parameters.write(out);
    out.push_str(if tool.strict { r#","strict":true}}"# } else { "}}" });
}

/// A tool of Responses: flat, and `strict` always said, since its absence is not a no everywhere.
#[cfg(feature = "openai-responses")]
fn write_responses(out: &mut String, tool: &Fragment<'_>) {
    out.push_str(r#"{"type":"function","name":"#);
    write_string(out, tool.name);
    write_member(out, "description", tool.description);
    out.push_str(r#","parameters":"#);
    tool.parameters.write(out);
    out.push_str(if tool.strict { r#","strict":true"# } else { r#","strict":false"# });
    out.push_str(if tool.deferred { r#","defer_loading":true}"# } else { "}" });
}
