//! Properties of accepting arguments and of checking outputs, on generated schemas and values.
//!
//! `PROPTEST_CASES` sets how many cases each property has.

#![allow(missing_docs, reason = "the types of the zoo say what they are by their fields")]

mod accept;
mod agreement;
#[cfg(feature = "cel")]
mod expressions;
mod handler;
mod hostile;
mod instance;
mod json;
mod lookup;
mod oracle;
mod quick;
mod regressions;
mod rules;
mod schema;
mod spelling;
mod tape;
mod turns;
mod zoo;
