//! What a host sees of a call, stage by stage: the behaviours of the reference harness (D01 to D85), in our words.

#![allow(missing_docs, reason = "the types here say what they are by their fields")]

mod arguments;
mod cancellation;
mod cards;
mod concurrency;
mod events;
mod finalise;
mod gate;
mod layers;
mod outputs;
mod records;
mod registry;
mod review;
mod rules;
mod schema;
mod search;
mod size;
mod sub_calls;
mod support;
