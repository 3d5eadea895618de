use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::Parts;
use crate::call::{CallId, ToolCall, ToolResult, Word};
use crate::path::Settled;
use crate::path::flight::{Flight, Landing};

/// The calls of one turn, on their way to one result each.
///
/// ```
/// # use tool_runtime::{AllowAll, Harness, Registry, ToolCall};
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let harness = Harness::new(Registry::builder().build().unwrap(), AllowAll);
/// let mut turn = harness.turn([ToolCall::new("call_1", "add", r#"{"a": 1}"#)]);
/// let stop = turn.token();
/// // `stop.cancel()`, from anywhere, ends the turn; so does dropping the future of `run`.
/// turn.run().await;
/// assert_eq!(turn.results().len(), 1);
/// # });
/// ```
pub struct Turn<'h> {
    parts: &'h Arc<Parts>,
    calls: Vec<ToolCall>,
    heads: Vec<(CallId, Word)>,
    settled: Vec<Option<Settled>>,
    landing: Landing<'h>,
    token: CancellationToken,
    /// What else cancels it. Waited for as long as the turn is there.
    sources: Vec<Pin<Box<WaitForCancellationFutureOwned>>>,
}

/// Cancels a token in the very moment in which another one is cancelled: a token has one parent, and no task is needed.
struct Passes(CancellationToken);

impl Wake for Passes {
    fn wake(self: Arc<Self>) {
        self.0.cancel();
    }
}

impl<'h> Turn<'h> {
    pub(super) fn new(parts: &'h Arc<Parts>, calls: Vec<ToolCall>) -> Self {
        Turn {
            parts,
            heads: calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect(),
            settled: calls.iter().map(|_| None).collect(),
            calls,
            landing: parts.landing(),
            token: CancellationToken::new(),
            sources: Vec::new(),
        }
    }

    /// Has the turn cancelled when `token` is, too. There may be several; `token` isn't cancelled by the turn.
    #[must_use]
    pub fn cancelled_by(mut self, token: &CancellationToken) -> Self {
        let mut source = Box::pin(token.clone().cancelled_owned());
        let passes = Waker::from(Arc::new(Passes(self.token.clone())));
        if source.as_mut().poll(&mut Context::from_waker(&passes)).is_ready() {
            self.token.cancel();
        } else {
            self.sources.push(source);
        }
        self
    }

    /// Cancels the turn: what hasn't begun won't, and what runs is told to stop. What became of the calls is still written
    /// down, and waited for: a ledger that may hang is put into a [`TimedLedger`](crate::TimedLedger).
    pub fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    /// Runs the calls. Once they have run, it does nothing.
    pub async fn run(&mut self) {
        let calls = std::mem::take(&mut self.calls);
        if calls.is_empty() {
            return;
        }
        let token = Some(self.token.clone());
        // Kept one by one, so that what is settled stays so if this is dropped.
        let landing = &self.landing;
        self.parts.fly(landing, calls, token, |position, settled| landing.keep(position, settled)).await;
    }

    /// What the model reads: one result a call, in their order, however far the calls came.
    pub fn results(&mut self) -> Vec<ToolResult> {
        self.settled().into_iter().map(Settled::into_result).collect()
    }

    /// As [`results`](Self::results), with the records.
    pub fn settled(&mut self) -> Vec<Settled> {
        self.calls.clear();
        self.collect();
        for (position, (id, name)) in self.heads.iter().enumerate() {
            if self.settled[position].is_none() {
                // It was never begun. Dropped here, it ends.
                drop(Flight::new(&self.landing, position, &ToolCall::of_parts(id.clone(), name.clone())));
            }
        }
        self.collect();
        self.settled.iter().flatten().cloned().collect()
    }

    fn collect(&mut self) {
        for (position, settled) in self.landing.take() {
            if let Some(slot) = self.settled.get_mut(position) {
                slot.get_or_insert(settled);
            }
        }
    }
}

impl fmt::Debug for Turn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").field("calls", &self.heads).finish_non_exhaustive()
    }
}
