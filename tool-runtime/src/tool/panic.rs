use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::BoxFuture;

/// Runs host code that may panic. `Err` holds what it said, for the host.
///
/// With `panic = "abort"` nothing can be caught: the process ends.
pub(crate) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    // What the code was about to change is its own; nothing here is left half-done by its panic.
    catch_unwind(AssertUnwindSafe(call)).map_err(message)
}

/// The words of a panic, as far as it has any.
fn message(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => match payload.downcast::<&'static str>() {
            Ok(text) => (*text).to_owned(),
            Err(payload) => {
                // Dropping somebody's payload may panic too.
                let _ = catch_unwind(AssertUnwindSafe(move || drop(payload)));
                "a payload that is no text".to_owned()
            }
        },
    }
}

/// A future that ends with the words of its panic instead of unwinding.
pub(crate) struct CatchPanic<'a, T>(Caught<'a, T>);

enum Caught<'a, T> {
    Running(BoxFuture<'a, T>),
    /// It could not even be made.
    Panicked(String),
    Over,
}

impl<'a, T> CatchPanic<'a, T> {
    pub(crate) fn new(future: BoxFuture<'a, T>) -> Self {
        CatchPanic(Caught::Running(future))
    }

    /// A future that host code makes, which may panic as well.
    pub(crate) fn of(make: impl FnOnce() -> BoxFuture<'a, T>) -> Self {
        CatchPanic(caught(make).map_or_else(Caught::Panicked, Caught::Running))
    }
}

impl<T> Future for CatchPanic<'_, T> {
    type Output = Result<T, String>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Caught::Running(future) = &mut self.0 else {
            return match std::mem::replace(&mut self.0, Caught::Over) {
                Caught::Panicked(words) => Poll::Ready(Err(words)),
                Caught::Running(_) | Caught::Over => Poll::Pending,
            };
        };
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)));
        let outcome = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(value)) => Ok(value),
            Err(payload) => Err(message(payload)),
        };
        // What the body leaves behind is dropped here, since that may panic as well.
        let left = std::mem::replace(&mut self.0, Caught::Over);
        let dropped = caught(move || drop(left));
        Poll::Ready(outcome.and_then(|value| dropped.map(|()| value)))
    }
}

impl<T> Drop for CatchPanic<'_, T> {
    fn drop(&mut self) {
        if let Caught::Running(future) = std::mem::replace(&mut self.0, Caught::Over) {
            let _ = caught(move || drop(future));
        }
    }
}
