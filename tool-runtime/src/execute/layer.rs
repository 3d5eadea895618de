//! Host code around execution: it may run the body again, or not at all, and can touch nothing else.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::body::{Ended, Stop, pause, timers};
use super::one_call::OneCall;
use super::race;
use crate::BoxFuture;
use crate::call::{CallId, Code, Content};
use crate::gate::Arguments;
use crate::schema::Digest;
use crate::tool::{BodyResult, CatchPanic, ErasedArgs, HostTool};

/// Host code around the execution of permitted calls: retries, caches, metrics.
///
/// A layer gets an [`Attempt`] and gives back what running it came to. It can run the body, run it
/// again, have it run under another token, or answer in its place; it can't touch the call or what
/// was decided of it. An answer is checked as an output of the tool is. The tool's time budget holds
/// for all of it together.
///
/// ```
/// use tool_runtime::{Attempt, BoxFuture, Layer, Ran};
///
/// /// Tries twice.
/// struct Retry;
///
/// impl Layer for Retry {
///     fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
///         Box::pin(async move {
///             let ran = attempt.run().await;
///             if ran.is_error() && attempt.tool().hints().idempotent { attempt.run().await } else { ran }
///         })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layer",
    label = "can't be put around execution",
    note = "implement `Layer` for it: `fn around<'a>(&'a self, attempt: Attempt<'a>) -> BoxFuture<'a, Ran>`"
)]
pub trait Layer: Send + Sync {
    /// Runs the attempt, or answers in its place. A panic ends the call as one of its body would.
    fn around<'a>(&'a self, attempt: Attempt<'a>) -> BoxFuture<'a, Ran>;
}

#[diagnostic::do_not_recommend]
impl<L: Layer + ?Sized> Layer for Arc<L> {
    fn around<'a>(&'a self, attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
        (**self).around(attempt)
    }
}

/// A permitted call that is about to run, as a layer sees it.
pub struct Attempt<'a> {
    within: &'a Within<'a>,
    rest: &'a [Arc<dyn Layer>],
    token: Option<CancellationToken>,
}

impl Attempt<'_> {
    /// The tool.
    pub fn tool(&self) -> &HostTool {
        self.within.call.tool
    }

    /// The call.
    pub fn call_id(&self) -> &CallId {
        self.within.call.call_id
    }

    /// The accepted arguments. May hold secrets.
    pub fn arguments(&self) -> Arguments<'_> {
        Arguments::of(self.within.call.canonical)
    }

    /// What the tool was when the call was judged.
    pub fn definition(&self) -> &Digest {
        self.within.call.tool.digest()
    }

    /// Cancelled when the call should stop, if anybody can stop it.
    pub fn token(&self) -> Option<&CancellationToken> {
        self.token.as_ref()
    }

    /// Runs what is inside: the next layer, and in the end the body.
    pub async fn run(&mut self) -> Ran {
        self.within.run(self.rest, self.token.clone()).await
    }

    /// As [`run`](Self::run), and stops it when `token` is cancelled, too. The caller can still stop
    /// it, and `token` isn't cancelled by that.
    pub async fn run_under(&mut self, token: &CancellationToken) -> Ran {
        let fused = self.token.as_ref().map_or_else(CancellationToken::new, CancellationToken::child_token);
        let mut running = std::pin::pin!(self.within.run(self.rest, Some(fused.clone())));
        let mut cancelled = std::pin::pin!(token.cancelled());
        let mut told = false;
        std::future::poll_fn(|task| {
            if !told && cancelled.as_mut().poll(task).is_ready() {
                told = true;
                fused.cancel();
            }
            running.as_mut().poll(task)
        })
        .await
    }

    /// Leaves a message for the model, which reads it after the results of its turn, behind those of
    /// the body.
    pub fn aside(&self, content: impl Into<Content>) {
        self.within.call.left().asides.push(content.into());
    }

    /// Answers in the tool's place with a value as JSON text, which is checked as an output of the
    /// tool is.
    pub fn answer(&self, json: &str) -> Ran {
        self.within.ran(match self.within.call.tool.answer(json) {
            Ok(success) => Ended::Body(BodyResult::Success(success)),
            Err((error, host)) => Ended::Body(BodyResult::InvalidOutput { error, host }),
        })
    }
}

impl std::fmt::Debug for Attempt<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attempt").field("tool", self.tool()).field("call_id", self.call_id()).finish_non_exhaustive()
    }
}

/// What running a call came to, as a layer sees it. Only an [`Attempt`] gives one. Cheap to clone, so
/// that it can be kept and given again: then it is checked anew.
#[derive(Debug, Clone)]
pub struct Ran {
    ended: Ended,
    /// Of which call it is.
    of: u64,
}

impl Ran {
    /// How it ended.
    pub fn code(&self) -> Code {
        self.ended.code()
    }

    /// The code that the tool's own error has: see [`CodedError`](crate::CodedError).
    pub fn error_code(&self) -> Option<&str> {
        match &self.ended {
            Ended::Body(BodyResult::Failed(error)) => error.code.as_deref(),
            _ => None,
        }
    }

    /// It failed, or did not run.
    pub fn is_error(&self) -> bool {
        self.code() != Code::Ok
    }

    /// Of a success: what the tool returned, as JSON text.
    pub fn value(&self) -> Option<&str> {
        self.ended.success().map(|success| &*success.value)
    }

    /// Of a success: what the model will read.
    pub fn content(&self) -> Option<&Content> {
        self.ended.success().map(|success| &success.content)
    }
}

/// A call with layers around it.
struct Within<'a> {
    call: &'a OneCall<'a>,
    /// `None` once a body has them.
    args: Mutex<Option<ErasedArgs>>,
    began: AtomicBool,
    number: u64,
}

impl<'a> Within<'a> {
    fn ran(&self, ended: Ended) -> Ran {
        Ran { ended, of: self.number }
    }

    fn run<'s>(&'s self, layers: &'s [Arc<dyn Layer>], token: Option<CancellationToken>) -> BoxFuture<'s, Ran> {
        Box::pin(async move {
            let Some((layer, rest)) = layers.split_first() else { return self.run_body(token).await };
            let attempt = Attempt { within: self, rest, token };
            let ran = CatchPanic::of(|| layer.around(attempt)).await;
            ran.unwrap_or_else(|panic| self.ran(Ended::Panicked(panic)))
        })
    }

    async fn run_body(&self, token: Option<CancellationToken>) -> Ran {
        let first = self.args.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The first body has used its arguments up; what they were stands in the text.
        let args = first.or_else(|| self.call.tool.read_again(self.call.canonical));
        let Some(args) = args else {
            return self.ran(Ended::NotRun("the arguments could not be read again".to_owned()));
        };
        // A layer may give it up: before its body begins, nothing of it waits.
        let mut begins = Begins { began: &self.began, holds: true };
        let ended = self.call.once(args, token).await;
        begins.holds = ended.began();
        drop(begins);
        self.ran(ended)
    }
}

/// Says that a body has begun, also if whoever runs it is dropped.
struct Begins<'a> {
    began: &'a AtomicBool,
    holds: bool,
}

impl Drop for Begins<'_> {
    fn drop(&mut self) {
        if self.holds {
            self.began.store(true, Ordering::Relaxed);
        }
    }
}

/// Runs a call with layers around it. Tells whether the body has begun.
pub(super) async fn run_layered(
    call: &OneCall<'_>,
    layers: &[Arc<dyn Layer>],
    args: ErasedArgs,
    token: Option<CancellationToken>,
) -> (Ended, bool) {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let within = Within { call, args: Mutex::new(Some(args)), began: AtomicBool::new(false), number };
    let ran = bounded(call, within.run(layers, token.clone()), token.as_ref()).await;
    let began = within.began.load(Ordering::Relaxed);
    let ended = match ran {
        Ok(ran) if ran.of == number => ran.ended,
        // It was kept from another call: is it still what this tool says?
        Ok(ran) => match ran.ended {
            Ended::Body(BodyResult::Success(success)) => match call.tool.recheck(success) {
                Ok(success) => Ended::Body(BodyResult::Success(success)),
                Err((error, host)) => Ended::Body(BodyResult::InvalidOutput { error, host }),
            },
            other => other,
        },
        Err(Stop::Token) => Ended::CancelledBeforeStart,
        Err(Stop::Budget(budget)) => Ended::TimedOut { budget },
    };
    match ended {
        // A time before it had, or had been given up.
        Ended::CancelledBeforeStart if began => (Ended::Cancelled, began),
        ended => (ended, began),
    }
}

/// A body keeps to its limits by itself; a layer that sleeps is held to them here.
async fn bounded(
    call: &OneCall<'_>,
    running: BoxFuture<'_, Ran>,
    token: Option<&CancellationToken>,
) -> Result<Ran, Stop> {
    /// Time for a body to come to its own end first.
    const SLACK: Duration = Duration::from_millis(20);
    let mut stop = Stop::Token;
    let stopped = async {
        let cancelled = async {
            match token {
                Some(token) => token.cancelled().await,
                None => std::future::pending().await,
            }
        };
        let over = async {
            match call.budget {
                Some(budget) => pause(budget.saturating_sub(call.begun.elapsed())).await,
                None => std::future::pending().await,
            }
        };
        // Whichever comes first is what it ends by.
        let was_cancelled = race(cancelled, over).await.is_some();
        if let Some(budget) = call.budget.filter(|_| !was_cancelled) {
            stop = Stop::Budget(budget);
        }
        if timers().is_ok() {
            pause(call.grace.saturating_add(SLACK)).await;
        }
    };
    race(running, stopped).await.ok_or(stop)
}
