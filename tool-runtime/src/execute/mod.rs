//! Running bodies: budgets, cancellation, panics.

mod body;

pub(crate) use body::{Ended, run_body};
