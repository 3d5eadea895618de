//! Calls that waited for an answer from elsewhere, and calls whose host has stopped.

use std::sync::Arc;
use std::time::SystemTime;

use tokio_util::sync::CancellationToken;

use super::{Harness, Parts};
use crate::call::CaseId;
use crate::ledger::{ClaimError, Claimed, Entry, LedgerError, LedgerKey, Owner, Query, Repaired};
use crate::path::flight::Flight;
use crate::path::resume::proposal;
use crate::path::{Asked, Ending, Settled};

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
        let asked = match parts.judge_again(&mut flight, call, &claimed, revoked).await {
            Ok(asked) => Some(asked),
            Err(ending) => {
                flight.ends(ending);
                None
            }
        };
        let flight = parts.carry_out((flight, asked), token.as_ref()).await;
        Ok(flight.settle(parts.review.as_deref()).await)
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
    /// As [`judge`](Self::judge), with an answer that is there already.
    async fn judge_again(
        &self,
        flight: &mut Flight<'_>,
        call: crate::call::ToolCall,
        claimed: &Claimed,
        revoked: bool,
    ) -> Result<Asked, Ending> {
        // It was loaded when it was called.
        let loaded = self.loaded.names().into_iter().chain([call.name().to_owned()]).collect();
        let mut proposed = self.registry.resolve(call, &loaded)?;
        if let Some(place) = flight.place() {
            proposed = proposed.placed(place);
        }
        flight.resolved(proposed.tool());
        let checked = proposed.accept()?.check(&self.checklist).await;
        let decided = checked.decide(&*self.policy, &self.guards);
        let key = LedgerKey::of(&*self.ledger);
        if revoked {
            return Ok(Asked::Decided(decided.revoked(claimed)));
        }
        Ok(Asked::Decided(decided.answered(claimed, &key, &self.grants, SystemTime::now(), self.user.is_some())))
    }
}
