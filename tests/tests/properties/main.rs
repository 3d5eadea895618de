//! Properties of accepting arguments and of checking outputs, on generated schemas and values.
//!
//! `PROPTEST_CASES` sets how many cases each property has.

#![allow(missing_docs, reason = "the types of the zoo say what they are by their fields")]

mod accept;
mod agreement;
mod handler;
mod hostile;
mod instance;
mod json;
mod oracle;
mod regressions;
mod schema;
mod spelling;
mod tape;
mod zoo;

use proptest::test_runner::Config;

/// `cases`, unless the environment says how many.
fn config(cases: u32) -> Config {
    let default = Config::default();
    Config {
        cases: if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { cases },
        // What failed once becomes a test of its own.
        failure_persistence: None,
        ..default
    }
}
