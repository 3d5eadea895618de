//! The checklist: what has to be known before a call runs, and where it may be looked up.

mod asking;
mod bench;
mod calls;
mod conversation;
mod given;
mod replay;
mod sources;
