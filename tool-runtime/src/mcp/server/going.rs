//! One call of a client, on the harness's path or on with what has waited.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ErrorData;
use tokio_util::sync::CancellationToken;

use super::McpServer;
use super::asking::Asking;
use super::waiting::Parked;
use crate::call::{Code, ToolCall};
use crate::gate::{Answer, Signer};
use crate::harness::Harness;
use crate::ledger::{ClaimError, Reply, ReplyError};
use crate::path::Settled;

/// How often it is looked whether an answer has come.
const LOOK: Duration = Duration::from_millis(200);

/// What a call of a client comes to.
pub(super) enum Went {
    /// It is over.
    Settled(Settled),
    /// The client has to be asked, by the end of its call.
    Asks(Arc<Parked>),
    /// Somebody else is asked, and has not answered yet.
    Waits,
}

impl McpServer {
    /// Runs a call, or goes on with the one that waits and is the same.
    pub(super) async fn go(
        &self,
        call: ToolCall,
        parked: Option<Arc<Parked>>,
        asking: Arc<Asking>,
        token: CancellationToken,
    ) -> Result<Went, ErrorData> {
        let asking = &*asking;
        let harness = &asking.served.harness;
        if let Some(parked) = parked
            && let Some(went) = self.go_on(harness, parked, asking, &token, true).await?
        {
            return Ok(went);
        }
        let settled = harness.run_settled([call], Some(token.clone())).await;
        let settled = settled.into_iter().next().ok_or_else(|| ErrorData::internal_error("the call was lost", None))?;
        let Some(parked) = self.parked(&settled, asking, None) else { return Ok(Went::Settled(settled)) };
        Ok(self.go_on(harness, parked, asking, &token, false).await?.unwrap_or(Went::Settled(settled)))
    }

    /// The call waits now; `before`, if it has waited until now for another answer.
    fn parked(&self, settled: &Settled, asking: &Asking, before: Option<&Parked>) -> Option<Arc<Parked>> {
        let later = asking.take_later().filter(|_| settled.record().code() == Code::ApprovalPending)?;
        let parked = Parked::new(settled.record().case(), later, asking.caller.clone(), before);
        Some(self.0.waiting.keep(parked))
    }

    /// Goes on with a call that waits. `None`: it waits no more, and is nobody's to go on with. `asks`: if nobody has
    /// answered yet, a client that can be asked is.
    async fn go_on(
        &self,
        harness: &Harness,
        mut parked: Arc<Parked>,
        asking: &Asking,
        token: &CancellationToken,
        asks: bool,
    ) -> Result<Option<Went>, ErrorData> {
        // A time that never comes is no end.
        let until = tokio::time::Instant::now().checked_add(self.0.wait);
        let mut asks = asks && parked.of_client;
        loop {
            match harness.resume(parked.case, Some(token.clone())).await {
                Ok(settled) => {
                    self.0.waiting.remove(parked.case);
                    // Somebody else may have to be heard now.
                    match self.parked(&settled, asking, Some(&parked)) {
                        Some(next) => parked = next,
                        None => return Ok(Some(Went::Settled(settled))),
                    }
                }
                Err(ClaimError::NotAnswered) => {}
                Err(ClaimError::NotWaiting) => {
                    self.0.waiting.remove(parked.case);
                    return Ok(None);
                }
                // A ledger that only writes: what is asked there can't be gone on with by anybody.
                Err(ClaimError::Failed(error)) if error.is_unsupported() => {
                    tracing::error!(target: "tool_runtime", %error, "a call that waits is lost: this ledger gives none out");
                    self.0.waiting.remove(parked.case);
                    return Ok(None);
                }
                Err(error) => {
                    tracing::error!(target: "tool_runtime", %error, case = %parked.case, "a call can't be gone on with");
                    return Err(ErrorData::internal_error("what was answered can't be gone on with", None));
                }
            }
            if std::mem::take(&mut asks) {
                let answer = asking.ask(parked.set.clone()).await.into_iter().next();
                if let Some(answer) = answer.filter(|answer| matches!(answer, Answer::Yes | Answer::No)) {
                    self.reply(harness, &parked, answer).await;
                    continue;
                }
            }
            if asking.has_to_end() {
                return Ok(Some(Went::Asks(parked)));
            }
            if until.is_some_and(|until| tokio::time::Instant::now() >= until) {
                return Ok(Some(Went::Waits));
            }
            asking.begin_to_wait();
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                // It waits on, in the ledger.
                () = token.cancelled() => return Ok(Some(Went::Waits)),
            }
        }
    }

    /// Puts the client's answer into the ledger, where it is found by whoever goes on with the call.
    pub(super) async fn reply(&self, harness: &Harness, parked: &Parked, answer: Answer) {
        let Some(question) = parked.question().filter(|_| matches!(answer, Answer::Yes | Answer::No)) else { return };
        let reply = Reply::new(question.id.clone(), answer, Signer::new("client", "mcp"));
        match harness.records().reply(reply).await {
            // Somebody was first, whose answer counts.
            Ok(()) | Err(ReplyError::Late(_)) => {}
            Err(error) => {
                tracing::error!(target: "tool_runtime", %error, case = %parked.case, "an answer could not be kept");
            }
        }
    }
}
