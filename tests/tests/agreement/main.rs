//! The agreement gate: conditions and boundaries, canonical form, what never matters, and what is proof; probes, quarantine,
//! and plans that go on through the path.

mod boundaries;
mod deliberation;
mod harness;
mod lines;
mod plans;
mod probing;
mod properties;
mod quarantine;
mod rulings;
mod support;
