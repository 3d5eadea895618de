//! JSON as this crate reads and writes it: exact numbers, strict syntax, bounded depth.
//!
//! `serde_json` can't be the reader here. Which numbers it keeps exactly depends on features
//! that somebody else's `Cargo.toml` turns on (`arbitrary_precision`, `float_roundtrip`), and what
//! a policy decides must not.

mod cursor;
pub(crate) mod de;
mod number;
mod path;
pub(crate) mod ser;
mod string;
mod tree;
mod wrapped;

pub(crate) use cursor::{Cursor, Fault, Key, SyntaxError, Token};
pub(crate) use number::{Number, canonical_number, is_integer_literal, write_f64};
pub use path::{JsonPath, Segment};
pub(crate) use string::{cmp_utf16, write_string};
pub(crate) use tree::{Json, by_value, is_among, same_value};
pub(crate) use wrapped::{object_of, plain_object, unwrapped};

/// How deeply arrays and objects may nest, in what a model sends and in what a tool returns.
///
/// The same bound as `serde_json`'s, so that nothing which is accepted here overflows a stack there.
pub const MAX_DEPTH: usize = 128;
