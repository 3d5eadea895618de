//! Running bodies: when, for how long, and what is around them.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use tokio_util::sync::CancellationToken;

mod abandoned;
mod body;
mod layer;
mod one_call;
mod schedule;

pub(crate) use abandoned::Abandoned;
pub(crate) use body::{Ended, timers};
pub use layer::{Attempt, Layer, Ran};
pub(crate) use one_call::OneCall;
pub(crate) use schedule::schedule;

/// Waits for a future, but no longer than until the token is cancelled. `None`: it was.
pub(crate) async fn until<F: Future>(token: Option<&CancellationToken>, future: F) -> Option<F::Output> {
    let Some(token) = token else { return Some(future.await) };
    race(future, token.cancelled()).await
}

/// Waits for a future, but no longer than for another one. `None`: the other one ended first. What
/// is done already is not undone: the first is asked first.
async fn race<F: Future>(future: F, other: impl Future<Output = ()>) -> Option<F::Output> {
    let (mut future, mut other) = (pin!(future), pin!(other));
    poll_fn(|task| match future.as_mut().poll(task) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => other.as_mut().poll(task).map(|()| None),
    })
    .await
}
