//! Anthropic's Messages.

use super::dialect::{Dialect, Enums, Further, Limits, MOST, Nulls, References};
use super::names::Rule;
use super::provider::Search;
use super::{Fragment, RequestLimits, Target, write_member};
use crate::schema::json::write_string;

pub(crate) const TARGET: Target = Target {
    shown: "Anthropic",
    names: NAMES,
    plain: &[&PLAIN],
    strict: Some(&STRICT),
    write,
    open: "[",
    close: "]",
    request: REQUEST,
    search: Some(Search {
        fragment: r#"{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}"#,
        name: Some("tool_search_tool_bm25"),
    }),
    namespaces: false,
};

/// Names of tools.
pub(in crate::wire) const NAMES: Rule = Rule { longest: 128, signs: "-", letter_first: false };

const KEYS: Option<Rule> = Some(Rule { longest: 64, signs: ".-", letter_first: false });

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
    keys: KEYS,
    limits: Limits::NONE,
};

pub(crate) const STRICT: Dialect = Dialect {
    strict: true,
    all_required: false,
    references: References::Finite,
    nulls: Nulls::Typed,
    one_type: true,
    further: Further::Closed,
    enums: Enums::Scalars,
    keep: &["format", "minItems", "default"],
    formats: Some(&["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"]),
    min_items: Some(1),
    ordering: false,
    keys: KEYS,
    limits: Limits::NONE,
};

/// What all strict tools of a request may have together.
const REQUEST: RequestLimits = RequestLimits { tools: 20, optional: 24, unions: 16 };

/// A tool: `{"name":…,"description":…,"input_schema":…}`.
fn write(out: &mut String, tool: &Fragment<'_>) {
    out.push_str(r#"{"name":"#);
    write_string(out, tool.name);
    write_member(out, "description", tool.description);
    out.push_str(r#","input_schema":"#);
    tool.parameters.write(out);
    out.push_str(if tool.strict { r#","strict":true"# } else { "" });
    out.push_str(if tool.deferred { r#","defer_loading":true}"# } else { "}" });
}
