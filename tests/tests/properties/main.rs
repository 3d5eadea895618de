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

use proptest::test_runner::{Config, RngSeed};

/// `cases` that are the same each time, so that a change is judged by its own faults. With
/// `PROPTEST_CASES` in the environment: so many new ones.
fn config(cases: u32) -> Config {
    let default = Config::default();
    let search = std::env::var_os("PROPTEST_CASES").is_some();
    Config {
        cases: if search { default.cases } else { cases },
        rng_seed: if search { default.rng_seed } else { RngSeed::Fixed(6) },
        // What failed once becomes a test of its own.
        failure_persistence: None,
        ..default
    }
}
