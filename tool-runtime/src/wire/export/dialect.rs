//! What a provider takes of JSON Schema, as a table.

#![allow(dead_code, reason = "a build may have one provider")]

use super::names::Rule;

/// What one form of declarations takes. All differences between providers that the engine knows.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// Every object is closed, and what can't be said so is refused instead of widened.
    pub(crate) strict: bool,
    /// Every property is required; `null` stands for what was left out.
    pub(crate) all_required: bool,
    pub(crate) references: References,
    pub(crate) nulls: Nulls,
    /// A list of types becomes a union, `null` apart.
    pub(crate) one_type: bool,
    pub(crate) further: Further,
    pub(crate) enums: Enums,
    /// Keywords that are taken as they are, besides those that every form has.
    pub(crate) keep: &'static [&'static str],
    /// The values of `format`, if not all of them.
    pub(crate) formats: Option<&'static [&'static str]>,
    /// The largest `minItems`, if `minItems` is taken.
    pub(crate) min_items: Option<u64>,
    /// Whether the order of properties has to be said.
    pub(crate) ordering: bool,
    pub(crate) keys: Option<Rule>,
    pub(crate) limits: Limits,
}

/// What becomes of `$ref`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum References {
    /// Kept, without siblings, into `$defs` of the root.
    Kept,
    /// The same, but not if it leads to itself.
    Finite,
    /// Replaced by what it refers to; recursion is cut.
    Inlined,
}

/// How `null` is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// By the type `null`.
    Typed,
    /// By `nullable`.
    Nullable,
}

/// What becomes of `additionalProperties`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Further {
    Kept,
    /// Written where it was left out, since its absence is read as `false`.
    Spelt,
    /// Always `false`.
    Closed,
    /// There is no word for it.
    Unsaid,
}

/// Which values an `enum` may list, apart from `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Enums {
    Any,
    Scalars,
    StringsAndNumbers,
    Strings,
}

/// How large one schema may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) properties: usize,
    pub(crate) depth: usize,
    pub(crate) enum_values: usize,
    /// Characters of names and of values of enums.
    pub(crate) characters: usize,
}

impl Limits {
    pub(crate) const NONE: Limits =
        Limits { properties: usize::MAX, depth: usize::MAX, enum_values: usize::MAX, characters: usize::MAX };
}

/// The keywords of those providers that read JSON Schema and hand most of it to their model.
pub(crate) const MOST: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "default",
    "examples",
    "contentEncoding",
    "contentMediaType",
];
