//! Gemini: `parameters`, a schema language of its own, and `parametersJsonSchema` for what that
//! can't say. Both may stand in one request.

use super::dialect::{Dialect, Enums, Further, Limits, Nulls, References};
use super::names::Rule;
use super::{Fragment, RequestLimits, Target, write_member};
use crate::schema::json::{Json, write_string};

pub(crate) const TARGET: Target = Target {
    shown: "Gemini",
    names: NAMES,
    plain: &[&SCHEMA, &JSON_SCHEMA],
    strict: None,
    write,
    open: r#"[{"functionDeclarations":["#,
    close: "]}]",
    request: RequestLimits::NONE,
    search: None,
    namespaces: false,
};

/// Names of tools.
pub(in crate::wire) const NAMES: Rule = Rule { longest: 128, signs: ".:-", letter_first: true };

const KEYS: Option<Rule> = Some(Rule { longest: 64, signs: "", letter_first: true });

/// `parameters`, a `Schema`: an unknown key is refused together with the whole request.
pub(crate) const SCHEMA: Dialect = Dialect {
    strict: false,
    all_required: false,
    references: References::Inlined,
    nulls: Nulls::Nullable,
    one_type: true,
    further: Further::Unsaid,
    enums: Enums::Strings,
    keep: &[
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "default",
    ],
    formats: Some(&["date-time"]),
    min_items: Some(u64::MAX),
    ordering: true,
    keys: KEYS,
    limits: Limits::NONE,
};

/// `parametersJsonSchema`: the documented part of JSON Schema.
pub(crate) const JSON_SCHEMA: Dialect = Dialect {
    strict: false,
    all_required: false,
    references: References::Kept,
    nulls: Nulls::Typed,
    one_type: false,
    further: Further::Kept,
    enums: Enums::StringsAndNumbers,
    keep: &["minimum", "maximum", "format", "minItems", "maxItems"],
    formats: None,
    min_items: Some(u64::MAX),
    ordering: false,
    keys: KEYS,
    limits: Limits::NONE,
};

/// A function declaration. One without arguments has no `parameters`: an object without properties
/// has been refused.
fn write(out: &mut String, tool: &Fragment<'_>) {
    out.push_str(r#"{"name":"#);
    write_string(out, tool.name);
    write_member(out, "description", tool.description);
    let described = tool.parameters.get("properties").and_then(Json::as_object).is_some_and(|all| !all.is_empty());
    if described || tool.json_schema {
        out.push_str(if tool.json_schema { r#","parametersJsonSchema":"# } else { r#","parameters":"# });
        tool.parameters.write(out);
    }
    out.push('}');
}
