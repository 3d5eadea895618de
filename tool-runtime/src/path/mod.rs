//! The path of one call, a stage a file, in this order:
//!
//! | stage | takes | gives |
//! |---|---|---|
//! | [`resolve`](mod@resolve) | [`ToolCall`](crate::ToolCall) | [`Proposed`] |
//! | [`accept`](mod@accept) | [`Proposed`] | [`Accepted`] or [`Draft`] |
//! | [`check`](mod@check) | [`Accepted`] or [`Draft`] | [`Checked`] |
//! | [`decide`](mod@decide) | [`Checked`] | [`Decided`] |
//! | [`ask`](mod@ask) | all [`Decided`] of a turn | [`Decided`] or [`Pending`] |
//! | [`record`](mod@record) | [`Decided`] | [`Recorded`] |
//! | [`permit`](mod@permit) | [`Recorded`] | [`Permit`] |
//! | [`execute`](mod@execute) | [`Permit`] | [`Outcome`] |
//! | [`review`](mod@review) | [`Outcome`] | [`Outcome`] |
//! | [`settle`](mod@settle) | any [`Ending`] | [`Settled`]: what the model reads, and the record |
//!
//! A stage takes the type of the one before it by value, so none can be skipped, repeated, or given
//! other arguments than the ones that were accepted. Any stage may end a call instead, in an
//! [`Ending`], and every ending settles the same way.

pub mod accept;
pub mod ask;
pub mod check;
mod confirmed;
pub mod decide;
mod ending;
pub mod execute;
pub(crate) mod flight;
mod inquiry;
pub(crate) mod limits;
pub mod permit;
pub mod record;
mod replay;
pub mod resolve;
pub(crate) mod resume;
pub mod review;
pub mod settle;
mod state;

pub use accept::{Acceptance, Accepted, Draft};
pub use ask::{Asked, Asking, Pending};
pub use check::Checked;
pub use decide::Decided;
pub use ending::Ending;
pub use execute::{Execution, Outcome};
pub use permit::Permit;
pub use record::Recorded;
pub use replay::{Replay, Replayed, WouldBe};
pub use resolve::Proposed;
pub use review::{NewValue, Review, Reviewed};
pub use settle::Settled;

pub use crate::registry::Loaded;
