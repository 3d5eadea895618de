//! Calls that waited for an answer from elsewhere, and calls whose host has stopped.

use std::pin::pin;
use std::sync::Arc;
use std::time::SystemTime;

use tokio_util::sync::CancellationToken;

use super::{Harness, Parts};
use crate::call::CaseId;
use crate::execute::until;
use crate::gate::{AnswerError, FillError};
use crate::ledger::{
    CaseHistory, ClaimError, Claimed, Entry, LedgerError, LedgerKey, Owner, Query, Repaired, Reply, ReplyError,
};
use crate::path::flight::Flight;
use crate::path::limits::{Counting, TurnUses};
use crate::path::resume::{Answering, fits, proposal};
use crate::path::{Asked, Decided, Ending, Settled};

impl Harness {
    /// Goes on with a call that has waited for an answer, once the ledger has the answer: with the text
    /// that was approved, which is accepted, checked and judged anew.
    ///
    /// It runs only if it is the same as then: the same canonical text, the same definition of the tool,
    /// and a yes for just this set of values. An answer is good for one run: of all who try, in
    /// whichever process, one goes on with the call, and the others are told that it isn't waiting.
    ///
    /// # Errors
    /// If it isn't the caller's to go on with: see [`ClaimError`]. Whatever else becomes of the call is
    /// its result, as ever.
    pub async fn resume(&self, case: CaseId, token: Option<CancellationToken>) -> Result<Settled, ClaimError> {
        self.go_on(case, token, false).await
    }

    /// Takes back a yes that nobody has acted on: the call is over, and nobody can go on with it. What
    /// runs already is not stopped; that is what tokens are for.
    ///
    /// # Errors
    /// As [`resume`](Self::resume): it has been gone on with, or nobody has answered yet. Then answer no.
    pub async fn revoke(&self, case: CaseId) -> Result<Settled, ClaimError> {
        self.go_on(case, None, true).await
    }

    async fn go_on(
        &self,
        case: CaseId,
        token: Option<CancellationToken>,
        revoked: bool,
    ) -> Result<Settled, ClaimError> {
        let parts = &self.0;
        let claimed = parts.ledger.claim(case).await?;
        if let Some(contradiction) = claimed.contradiction() {
            return Err(ClaimError::Forged(contradiction.to_owned()));
        }
        let landing = parts.landing();
        let (place, call) = proposal(&claimed);
        let mut flight = Flight::resumed(&landing, place, &call);
        let judged = until(token.as_ref(), pin!(parts.judge_again(&mut flight, call, &claimed, revoked))).await;
        let (asked, asks) = match judged {
            Some(Ok((decided, asks))) => (Some(Asked::Decided(decided)), asks),
            Some(Err(ending)) => {
                flight.ends(ending);
                (None, false)
            }
            None => {
                flight = flight.cut_short();
                (None, false)
            }
        };
        let mut call = (flight, asked);
        if asks {
            // Others have to be heard, or somebody told something, before it runs.
            call = parts.ask_alone(call, token.as_ref()).await;
        }
        let flight = parts.carry_out(call, token.as_ref()).await;
        Ok(flight.settle(parts.review.as_deref()).await)
    }

    /// Answers the question of a call that waits, as [`Ledger::reply`](crate::Ledger::reply) does, once the tool has been
    /// asked whether it takes what is [given](Reply::fill) for the blanks.
    ///
    /// # Errors
    /// As there; and if a value can't be taken, or nobody here has the tool. The question stays open then.
    pub async fn reply(&self, reply: Reply) -> Result<(), ReplyError> {
        let parts = &self.0;
        if !reply.filled().is_empty() {
            let history = parts.ledger.history(Query::all().question(reply.question())).await?;
            let waits =
                |case: &&CaseHistory| case.waits_for().any(|asked| asked.question().as_ref() == Some(reply.question()));
            let waiting = history.waiting().find(waits).and_then(CaseHistory::verdict);
            let verdict = waiting.ok_or(ReplyError::Late(AnswerError::NotPending))?;
            let tool = parts.registry.get(verdict.tool()).filter(|tool| verdict.definition() == Some(*tool.digest()));
            let tool = tool.ok_or_else(|| ReplyError::Unfillable(FillError::no_tool()))?;
            fits(tool, verdict, &reply).map_err(ReplyError::Unfillable)?;
        }
        parts.ledger.reply(reply).await
    }

    /// Settles the calls of hosts that have stopped: those that the ledger knows and that have no end.
    /// What it gives is written down; a call that does end after all is recorded as late.
    ///
    /// Leaves alone what waits for an answer, and calls of hosts that may be alive: see
    /// [`History::repair`](crate::History::repair).
    ///
    /// # Errors
    /// If the ledger can't be read or written.
    pub async fn repair(&self) -> Result<Vec<Arc<Repaired>>, LedgerError> {
        let ledger = &self.0.ledger;
        let history = ledger.history(Query::unfinished()).await?;
        let now = history.now().unwrap_or_else(SystemTime::now);
        let nobody = Owner::new("", "");
        let repaired = history.repair(now, ledger.owner().unwrap_or(&nobody));
        let entries: Vec<Entry> = repaired.iter().map(|repaired| Entry::Repaired(Arc::clone(repaired))).collect();
        if !entries.is_empty() {
            ledger.append_all(entries).await?;
        }
        Ok(repaired)
    }
}

impl Parts {
    /// As [`judge`](Self::judge), with an answer that is there already. And has it to be asked about again?
    async fn judge_again(
        &self,
        flight: &mut Flight<'_>,
        call: crate::call::ToolCall,
        claimed: &Claimed,
        revoked: bool,
    ) -> Result<(Decided, bool), Ending> {
        // It was loaded when it was called.
        let loaded = self.loaded.names().into_iter().chain([call.name().to_owned()]).collect();
        let proposed = self.registry.resolve_at(flight.place().clone(), call, &loaded)?;
        flight.resolved(proposed.tool());
        let accepted = proposed.accept()?;
        self.checklist.refresh();
        let list = self.checklist.snapshot();
        let key = LedgerKey::of(&*self.ledger);
        let (checklist, now) = (&self.checklist, claimed.at().unwrap_or_else(SystemTime::now));
        let by = Answering { claimed, key: &key, checklist, list: &list, now, user_apart: self.user.is_some() };
        let (accepted, kept) = if revoked { (accepted.revoked(claimed), Vec::new()) } else { accepted.answered(&by) };
        checklist.keep(kept).await;
        let turn = TurnUses::default();
        let counting = Counting { ledger: &self.ledger, turn: &turn, place: 0 };
        let decided = accepted.check_by(checklist, &list, Some(counting)).await.decide(&*self.policy, &self.guards);
        Ok(decided.goes_on(&self.grants))
    }
}
