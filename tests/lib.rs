//! The tests that span the crates.
