//! Extension keywords by which types tell this crate what JSON Schema has no words for.
//!
//! They travel inside a schema from where a type is described to where it is compiled, and are
//! taken out before a model sees it.

use super::json::Json;

/// The value is a secret: redacted wherever it would be shown.
pub(crate) const SECRET: &str = "x-tool-secret";
/// The value is a file path.
pub(crate) const PATH: &str = "x-tool-path";
/// The value is text that the model is meant to write.
pub(crate) const AUTHORED: &str = "x-tool-authored";
/// Where a field stands in its struct.
pub(crate) const ORDER: &str = "x-tool-order";
/// Other names under which a member is taken.
pub(crate) const ALIAS: &str = "x-tool-alias";

/// Lines of the provider's checklist.
pub(crate) const CHECKLIST: &str = "x-tool-checklist";

const ALL: [&str; 6] = [SECRET, PATH, AUTHORED, ORDER, ALIAS, CHECKLIST];

pub(super) fn aliases(schema: &Json) -> impl Iterator<Item = &str> {
    schema.get(ALIAS).and_then(Json::as_array).unwrap_or_default().iter().filter_map(Json::as_str)
}

/// Takes a hint's keywords out of a schema; its subschemas are the caller's.
pub(super) fn strip(schema: &mut Json) {
    for hint in ALL {
        schema.remove(hint);
    }
}
