//! Running bodies: when, for how long, and what is around them.

use tokio_util::sync::CancellationToken;

mod abandoned;
mod body;
mod schedule;

pub(crate) use abandoned::Abandoned;
pub(crate) use body::{Blocking, Ended, Limits, run_body, timers};
pub(crate) use schedule::schedule;

/// Waits for a future, but no longer than until the token is cancelled. `None`: it was.
pub(crate) async fn until<F: Future>(token: Option<&CancellationToken>, future: F) -> Option<F::Output> {
    match token {
        Some(token) => token.run_until_cancelled(future).await,
        None => Some(future.await),
    }
}
