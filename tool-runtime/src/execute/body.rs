use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::tool::{Body, BodyResult, CallContext, CatchPanic, Reply, Run, caught};

/// How a body ended.
pub(crate) enum Ended {
    /// By itself.
    Body(BodyResult),
    /// With the words of its panic.
    Panicked(String),
    /// Its budget was used up. A blocking body can't be stopped.
    TimedOut { budget: Duration, still_running: bool },
    /// Somebody cancelled it.
    Cancelled { still_running: bool },
    /// Somebody cancelled it before it had begun.
    CancelledBeforeStart,
    /// The host can't run it.
    NotRun(String),
}

/// Runs a body within its budget. The first cause ends it.
pub(crate) async fn run_body(
    run: Run,
    body: Body,
    begun: std::time::Instant,
    budget: Option<Duration>,
    token: Option<&CancellationToken>,
    cx: &CallContext,
) -> Ended {
    if token.is_some_and(CancellationToken::is_cancelled) {
        return Ended::CancelledBeforeStart;
    }
    // A budget that ends after all time is no bound.
    let budget = budget.filter(|budget| begun.checked_add(*budget).is_some());
    if let (Some(_), Run::Async(_) | Run::Dynamic(_) | Run::Blocking(_)) = (budget, &run) {
        // Before the body begins: without a timer it must not.
        if let Err(why) = timers() {
            return Ended::NotRun(why);
        }
    }
    let (running, blocking) = match run {
        Run::Async(start) => (caught(|| start(body)).map(CatchPanic::new), false),
        Run::Dynamic(start) => (caught(|| start(body)).map(CatchPanic::new), false),
        // Neither a budget nor a cancellation can interrupt what never yields.
        Run::Inline(call) => return finished(caught(|| call(body))),
        Run::Blocking(call) => match tokio::runtime::Handle::try_current() {
            Ok(runtime) => {
                let task = runtime.spawn_blocking(move || caught(|| call(body)));
                let joined: std::pin::Pin<Box<dyn Future<Output = Reply> + Send>> = Box::pin(async move {
                    match task.await {
                        Ok(Ok(reply)) => reply,
                        // Said again, so that it is caught like any other.
                        Ok(Err(panic)) => std::panic::resume_unwind(Box::new(panic)),
                        Err(error) => std::panic::resume_unwind(Box::new(error.to_string())),
                    }
                });
                (Ok(CatchPanic::new(joined)), true)
            }
            Err(error) => return Ended::NotRun(format!("a blocking tool needs a tokio runtime: {error}")),
        },
    };
    let running = match running {
        Ok(running) => running,
        Err(panic) => return Ended::Panicked(panic),
    };
    let ended = within(running, begun.into(), budget, token).await;
    match ended {
        Ok(reply) => finished(reply),
        Err(stopped) => {
            cx.cancel();
            match stopped {
                Stopped::Budget(budget) => Ended::TimedOut { budget, still_running: blocking },
                Stopped::Token => Ended::Cancelled { still_running: blocking },
            }
        }
    }
}

fn finished(reply: Result<Reply, String>) -> Ended {
    match reply {
        Ok(Reply(result)) => Ended::Body(result),
        Err(panic) => Ended::Panicked(panic),
    }
}

enum Stopped {
    Budget(Duration),
    Token,
}

async fn within(
    running: CatchPanic<'_, Reply>,
    begun: Instant,
    budget: Option<Duration>,
    token: Option<&CancellationToken>,
) -> Result<Result<Reply, String>, Stopped> {
    if budget.is_none() && token.is_none() {
        return Ok(running.await);
    }
    let mut running = pin!(running);
    // The timer itself is made once the body has to wait: many never do.
    let mut sleep = pin!(None);
    let mut cancelled = pin!(async {
        match token {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    });
    std::future::poll_fn(|cx| {
        if let Poll::Ready(reply) = running.as_mut().poll(cx) {
            return Poll::Ready(Ok(reply));
        }
        if cancelled.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(Stopped::Token));
        }
        let Some(budget) = budget else { return Poll::Pending };
        if sleep.is_none() {
            sleep.set(Some(tokio::time::sleep_until(begun + budget)));
        }
        match sleep.as_mut().as_pin_mut() {
            Some(sleep) => sleep.poll(cx).map(|()| Err(Stopped::Budget(budget))),
            None => Poll::Pending,
        }
    })
    .await
}

/// Can timers be made here? tokio has no way to ask but to make one, and panics where it can't; so
/// each runtime is asked once.
fn timers() -> Result<(), String> {
    thread_local! {
        static SOUND: Cell<Option<tokio::runtime::Id>> = const { Cell::new(None) };
    }
    let runtime = tokio::runtime::Handle::try_current()
        .map_err(|error| format!("a time budget needs a tokio runtime: {error}"))?
        .id();
    if SOUND.get() != Some(runtime) {
        caught(|| drop(tokio::time::sleep(Duration::ZERO)))
            .map_err(|panic| format!("a time budget needs a runtime with its timer enabled: {panic}"))?;
        SOUND.set(Some(runtime));
    }
    Ok(())
}
