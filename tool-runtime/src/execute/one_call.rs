use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::abandoned::Abandoned;
use super::body::{Blocking, Ended, Limits, pause, run_body};
use super::layer::{Layer, run_layered};
use super::race;
use crate::call::CallId;
use crate::tool::{Body, CallContext, ErasedArgs, HostState, HostTool, Left, Lineage, Surroundings};

/// A call that may run, and all that its body runs under.
pub(crate) struct OneCall<'a> {
    pub(crate) tool: &'a HostTool,
    pub(crate) call_id: &'a CallId,
    pub(crate) canonical: &'a str,
    pub(crate) host: HostState,
    pub(crate) lineage: Option<Arc<Lineage>>,
    pub(crate) around: Option<Arc<dyn Surroundings>>,
    pub(crate) begun: Instant,
    pub(crate) budget: Option<Duration>,
    pub(crate) grace: Duration,
    pub(crate) abandoned: &'a Abandoned,
    /// What becomes of a blocking body that outlasts its call.
    pub(crate) late: &'a (dyn Fn() -> Box<dyn FnOnce() + Send> + Sync),
    /// A blocking body goes on although nobody waits for it any more.
    pub(crate) outlasted: AtomicBool,
    /// What bodies and layers leave.
    pub(crate) left: Mutex<Left>,
}

impl OneCall<'_> {
    /// Runs it within its layers. Tells whether the body has begun.
    pub(crate) async fn run(
        &self,
        layers: &[Arc<dyn Layer>],
        args: ErasedArgs,
        token: Option<CancellationToken>,
    ) -> (Ended, bool) {
        if layers.is_empty() {
            let ended = self.once(args, token).await;
            let began = ended.began();
            return (ended, began);
        }
        if token.as_ref().is_some_and(CancellationToken::is_cancelled) {
            return (Ended::CancelledBeforeStart, false);
        }
        run_layered(self, layers, args, token).await
    }

    pub(super) fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the body once.
    pub(super) async fn once(&self, args: ErasedArgs, token: Option<CancellationToken>) -> Ended {
        // Said here, since the body takes its arguments with it.
        let blocking = self
            .tool
            .may_block()
            .then(|| Blocking { access: self.tool.access(&args, self.canonical), late: (self.late)() });
        let cx = CallContext::new(
            self.tool.clone(),
            self.call_id.clone(),
            self.budget.and_then(|budget| self.begun.checked_add(budget)),
            self.host.clone(),
            token.clone(),
            self.around.clone(),
            self.lineage.clone(),
        );
        let limits = Limits {
            begun: self.begun,
            budget: self.budget,
            token: token.as_ref(),
            grace: self.grace,
            abandoned: self.abandoned,
            outlasted: &self.outlasted,
        };
        let body = Body { args, cx: cx.clone() };
        // However it is left, by its end or because nobody wants it any more.
        let over = Over(&cx);
        let mut running = pin!(run_body(self.tool.run(), body, limits, blocking, &cx));
        let ended = poll_fn(|task| {
            let polled = running.as_mut().poll(task);
            if polled.is_pending() {
                cx.drive(task);
            }
            polled
        })
        .await;
        if let Some(children) = cx.finish() {
            // They were told to stop. What is left after that is dropped.
            race(children.going().ended(), pause(self.grace.saturating_mul(2))).await;
        }
        drop(over);
        if let Some(Left { asides, card_data }) = cx.take_left() {
            let mut left = self.left();
            left.asides.extend(asides);
            left.card_data = card_data;
        }
        ended
    }
}

/// A call that runs. Dropped, it is over, and so is whatever it has called.
struct Over<'a>(&'a CallContext);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        if let Some(children) = self.0.finish() {
            children.going().give_up();
        }
    }
}
