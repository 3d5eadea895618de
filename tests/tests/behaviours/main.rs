//! What a host and a model see of the whole, by the ids of the behaviours.

#![allow(missing_docs, reason = "the types here say what they are by their fields")]

mod registry;
mod search;
