//! A question from its first record to its second.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use super::record::{Appending, append, detach};
use super::state::{Approval, State};
use crate::gate::{Answer, Signer, what_runs};
use crate::ledger::{AnsweredRecord, AskedRecord, Entry, Fills, Ledger, LedgerKey, Refusal};
use crate::tool::CatchPanic;

/// One question. Dropped before it is answered, it is withdrawn, and the ledger has that.
pub(super) struct Inquiry {
    ledger: Arc<dyn Ledger>,
    asked: Arc<AskedRecord>,
    since: Instant,
    /// What is being written. Kept here, so that whoever stops waiting for it doesn't stop it.
    writing: Option<Appending>,
    answered: bool,
}

impl Inquiry {
    /// Begins to write down what is asked.
    pub(super) fn new(ledger: Arc<dyn Ledger>, asked: AskedRecord) -> Self {
        let asked = Arc::new(asked);
        let mut inquiry = Inquiry { ledger, asked, since: Instant::now(), writing: None, answered: false };
        inquiry.write(Entry::Asked(Arc::clone(&inquiry.asked)));
        inquiry
    }

    /// Waits until it is written.
    ///
    /// # Errors
    /// If it isn't; then there is no question.
    pub(super) async fn recorded(&mut self) -> Result<(), String> {
        let written = self.written().await;
        self.answered |= written.is_err();
        written
    }

    /// Writes down the answer, and waits until it is written.
    ///
    /// # Errors
    /// If it isn't.
    pub(super) async fn answered(
        &mut self,
        answer: Answer,
        filled: Fills,
        signer: Option<Signer>,
    ) -> Result<(), String> {
        self.answered = true;
        self.write(Entry::Answered(self.end(Some(answer), filled, signer)));
        self.written().await
    }

    fn end(&self, answer: Option<Answer>, filled: Fills, signer: Option<Signer>) -> Arc<AnsweredRecord> {
        Arc::new(AnsweredRecord::new(&self.asked, answer, filled, signer, self.since.elapsed()))
    }

    fn write(&mut self, entry: Entry) {
        let ledger = Arc::clone(&self.ledger);
        self.writing = Some(Box::pin(async move { append(&*ledger, entry).await }));
    }

    async fn written(&mut self) -> Result<(), String> {
        poll_fn(|task| {
            let written = match &mut self.writing {
                Some(writing) => writing.as_mut().poll(task),
                None => Poll::Ready(Ok(())),
            };
            if written.is_ready() {
                self.writing = None;
            }
            written
        })
        .await
    }
}

impl Drop for Inquiry {
    fn drop(&mut self) {
        let (writing, answered) = (self.writing.take(), self.answered);
        if writing.is_none() && answered {
            return;
        }
        let end = Entry::Answered(self.end(None, Fills::default(), None));
        let ledger = Arc::clone(&self.ledger);
        let rest = async move {
            let written = match writing {
                Some(writing) => writing.await,
                None => Ok(()),
            };
            // A question that isn't in the ledger has no end there.
            if !answered && written.is_ok() { append(&*ledger, end).await } else { written }
        };
        detach(Box::pin(rest), tokio::runtime::Handle::try_current().ok().as_ref(), |_| {});
    }
}

/// Has a person said no to the same before, in the same conversation? Then nobody is asked again.
pub(super) async fn refused_before(state: &mut State, ledger: &dyn Ledger, key: &LedgerKey) {
    let Some(conversation) = state.place.conversation.clone() else { return };
    let runs = what_runs(state.tool(), state.canonical());
    let what = key.all().map(|key| key.of_what_runs(runs)).collect();
    match CatchPanic::of(|| ledger.refused(Refusal::new(Some(conversation), what))).await {
        Ok(Ok(None)) => {}
        Ok(Ok(Some(question))) => {
            state.approval = Approval::Refused;
            state.refused_before = Some(question);
        }
        // A person can still be asked, and nothing runs without one.
        Ok(Err(error)) => tracing::error!(target: "tool_runtime", %error, "what was refused before can't be read"),
        Err(panic) => tracing::error!(target: "tool_runtime", panic, "what was refused before can't be read"),
    }
}
