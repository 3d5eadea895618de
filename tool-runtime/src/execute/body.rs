use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::abandoned::{Abandoned, GaveUp, Thread};
use crate::call::Code;
use crate::tool::{Access, Body, BodyResult, CallContext, CatchPanic, Reply, Run, Success, caught};

/// How a body ended.
#[derive(Debug, Clone)]
pub(crate) enum Ended {
    /// By itself.
    Body(BodyResult),
    /// With the words of its panic.
    Panicked(String),
    /// Its budget was used up.
    TimedOut { budget: Duration },
    /// Somebody cancelled it.
    Cancelled,
    /// Somebody cancelled it before it had begun.
    CancelledBeforeStart,
    /// There was no thread for it: too many that were given up still run, or others have them all.
    Busy,
    /// The host can't run it.
    NotRun(String),
}

impl Ended {
    /// The body had begun, so its effects may have happened.
    pub(crate) fn began(&self) -> bool {
        !matches!(self, Ended::CancelledBeforeStart | Ended::Busy | Ended::NotRun(_))
    }

    pub(crate) fn success(&self) -> Option<&Success> {
        match self {
            Ended::Body(BodyResult::Success(success)) => Some(success),
            _ => None,
        }
    }

    pub(crate) fn code(&self) -> Code {
        match self {
            Ended::Body(BodyResult::Success(_)) => Code::Ok,
            Ended::Body(BodyResult::Failed(_)) => Code::ToolError,
            Ended::Body(BodyResult::InvalidOutput { .. }) => Code::InvalidOutput,
            Ended::Panicked(_) => Code::Panicked,
            Ended::TimedOut { .. } => Code::Timeout,
            Ended::Cancelled => Code::Cancelled,
            Ended::CancelledBeforeStart => Code::CancelledBeforeStart,
            Ended::Busy => Code::Busy,
            Ended::NotRun(_) => Code::HostError,
        }
    }
}

/// What a body has to keep to.
pub(crate) struct Limits<'a> {
    pub(crate) begun: std::time::Instant,
    pub(crate) budget: Option<Duration>,
    pub(crate) token: Option<&'a CancellationToken>,
    /// How long a body that watches its token may go on after it was told to stop.
    pub(crate) grace: Duration,
    pub(crate) abandoned: &'a Abandoned,
    /// Told that a body goes on although nobody waits for it any more.
    pub(crate) outlasted: &'a AtomicBool,
}

/// Of a body that may block its thread.
pub(crate) struct Blocking {
    pub(crate) access: Access,
    /// What is done if it ends after its call has.
    pub(crate) late: Box<dyn FnOnce() + Send>,
}

/// What stopped a body: the first cause, and no other.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stop {
    Budget(Duration),
    Token,
}

/// Runs a body within its limits. The first cause ends it.
pub(crate) async fn run_body(
    run: Run,
    body: Body,
    limits: Limits<'_>,
    blocking: Option<Blocking>,
    cx: &CallContext,
) -> Ended {
    if limits.token.is_some_and(CancellationToken::is_cancelled) {
        return Ended::CancelledBeforeStart;
    }
    // A budget that ends after all time is no bound.
    let budget = limits.budget.filter(|budget| limits.begun.checked_add(*budget).is_some());
    let limits = Limits { budget, ..limits };
    if budget.is_some() && !matches!(run, Run::Inline(_)) {
        // Before the body begins: without a timer it must not.
        if let Err(why) = timers() {
            return Ended::NotRun(why);
        }
    }
    let begun = match run {
        Run::Async(start) => caught(|| start(body)),
        Run::Dynamic(start) => caught(|| start(body)),
        // Neither a budget nor a cancellation can interrupt what never yields.
        Run::Inline(call) => {
            let reply = caught(|| call(body));
            let stop = limits.token.filter(|token| token.is_cancelled()).map(|_| Stop::Token);
            return ended(stop, Some(reply));
        }
        Run::Blocking(call) => return run_blocking(call, body, limits, blocking, cx).await,
    };
    match begun {
        Ok(running) => {
            let (stop, reply) = within(CatchPanic::new(running), &limits, cx).await;
            ended(stop, reply)
        }
        Err(panic) => Ended::Panicked(panic),
    }
}

async fn run_blocking(
    call: fn(Body) -> Reply,
    body: Body,
    limits: Limits<'_>,
    blocking: Option<Blocking>,
    cx: &CallContext,
) -> Ended {
    let runtime = match tokio::runtime::Handle::try_current() {
        Ok(runtime) => runtime,
        Err(error) => return Ended::NotRun(format!("a blocking tool needs a tokio runtime: {error}")),
    };
    if limits.abandoned.is_full() {
        return Ended::Busy;
    }
    let (access, late) = blocking.map_or((Access::Exclusive, None), |Blocking { access, late }| (access, Some(late)));
    let (thread, end) = Thread::pair(late);
    let task = runtime.spawn_blocking(move || {
        let reply = if end.begins() { caught(|| call(body)) } else { Err("its call has ended".to_owned()) };
        drop(end);
        reply
    });
    let joined: Pin<Box<dyn Future<Output = Reply> + Send>> = Box::pin(async move {
        match task.await {
            Ok(Ok(reply)) => reply,
            // Said again, so that it is caught like any other.
            Ok(Err(panic)) => std::panic::resume_unwind(Box::new(panic)),
            Err(error) => std::panic::resume_unwind(Box::new(error.to_string())),
        }
    });
    // If the call itself is dropped, its thread is given up like any other.
    let mut left = GivenUp { thread: Some(thread), limits: &limits, access: Some(access), cx };
    let (stop, reply) = within(CatchPanic::new(joined), &limits, cx).await;
    match reply {
        Some(reply) => {
            left.forget();
            ended(stop, Some(reply))
        }
        None if left.give_up() => ended(stop, None),
        // It was still waiting for its thread, and won't begin any more.
        None => match stop {
            Some(Stop::Budget(_)) => Ended::Busy,
            _ => Ended::CancelledBeforeStart,
        },
    }
}

/// Gives a blocking body up unless it is told not to.
struct GivenUp<'a> {
    thread: Option<Thread>,
    limits: &'a Limits<'a>,
    access: Option<Access>,
    cx: &'a CallContext,
}

impl GivenUp<'_> {
    fn forget(mut self) {
        self.thread = None;
    }

    /// Had it begun?
    fn give_up(&mut self) -> bool {
        match (self.thread.take(), self.access.take()) {
            (Some(thread), Some(access)) => {
                self.cx.cancel();
                let was = thread.give_up(self.limits.abandoned, access);
                if was == GaveUp::Running {
                    self.limits.outlasted.store(true, Ordering::Relaxed);
                }
                was != GaveUp::NotBegun
            }
            _ => false,
        }
    }
}

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        self.give_up();
    }
}

/// What the first cause and the body's own words come to.
fn ended(stop: Option<Stop>, reply: Option<Result<Reply, String>>) -> Ended {
    match (stop, reply) {
        (None, Some(Ok(Reply(result)))) => Ended::Body(result),
        // What it says after its time is not waited for.
        (Some(Stop::Budget(budget)), _) => Ended::TimedOut { budget },
        // Its own error is more specific than that it was cancelled.
        (Some(Stop::Token), Some(Ok(Reply(error @ BodyResult::Failed(_))))) => Ended::Body(error),
        (_, Some(Err(panic))) => Ended::Panicked(panic),
        (Some(Stop::Token) | None, _) => Ended::Cancelled,
    }
}

/// Waits for a body, and for what may stop it. No reply: it was dropped, or given up.
async fn within(
    running: CatchPanic<'_, Reply>,
    limits: &Limits<'_>,
    cx: &CallContext,
) -> (Option<Stop>, Option<Result<Reply, String>>) {
    if limits.budget.is_none() && limits.token.is_none() {
        return (None, Some(running.await));
    }
    let mut running = pin!(running);
    // Timers are made once the body has to wait: many never do.
    let mut sleep = pin!(None);
    let mut cancelled = pin!(async {
        match limits.token {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    });
    let mut stop = None;
    poll_fn(|task| {
        if let Poll::Ready(reply) = running.as_mut().poll(task) {
            if stop.is_none() && limits.token.is_some_and(CancellationToken::is_cancelled) {
                stop = Some(Stop::Token);
            }
            return Poll::Ready((stop, Some(reply)));
        }
        if stop.is_none() {
            if cancelled.as_mut().poll(task).is_ready() {
                stop = Some(Stop::Token);
            } else if let Some(budget) = limits.budget {
                if sleep.is_none() {
                    sleep.set(Some(tokio::time::sleep_until(Instant::from(limits.begun) + budget)));
                }
                if sleep.as_mut().as_pin_mut().is_some_and(|sleep| sleep.poll(task).is_ready()) {
                    stop = Some(Stop::Budget(budget));
                }
            }
            if stop.is_none() {
                return Poll::Pending;
            }
            // Whoever doesn't watch the token can't know that it should stop.
            let waits = cx.is_watched() && !limits.grace.is_zero() && timers().is_ok();
            cx.cancel();
            if !waits {
                return Poll::Ready((stop, None));
            }
            sleep.set(Some(tokio::time::sleep(limits.grace)));
            // It may have been told just now: it is asked once more before anybody waits.
            task.waker().wake_by_ref();
        }
        match sleep.as_mut().as_pin_mut() {
            Some(sleep) => sleep.poll(task).map(|()| (stop, None)),
            None => Poll::Ready((stop, None)),
        }
    })
    .await
}

/// Can timers be made here? tokio has no way to ask but to make one, and panics where it can't; so
/// each runtime is asked once.
pub(crate) fn timers() -> Result<(), String> {
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

/// Waits so long, or for ever where nobody can make a timer.
pub(super) async fn pause(span: Duration) {
    match timers() {
        Ok(()) => tokio::time::sleep(span).await,
        Err(_) => std::future::pending().await,
    }
}
