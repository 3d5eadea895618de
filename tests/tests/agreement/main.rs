//! The agreement gate: conditions and boundaries, canonical form, what never matters, and what is proof.

mod boundaries;
mod lines;
mod plans;
mod properties;
mod rulings;
