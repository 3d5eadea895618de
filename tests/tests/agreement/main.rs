//! The agreement gate: conditions and boundaries, canonical form, what never matters, and what is proof.

mod lines;
mod properties;
mod rulings;
