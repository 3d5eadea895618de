//! The checklist: what has to be known before a call runs, and where it may be looked up.

mod calls;
mod conversation;
mod given;
mod sources;
