use std::fmt;
use std::time::Duration;

use super::{
    Amount, ClaimError, Claimed, Clearing, Entry, History, Ledger, LedgerError, LedgerKey, Owner, Parking, Query,
    Refusal, Reply, ReplyError, Tally,
};
use crate::BoxFuture;
use crate::call::CaseId;
use crate::gate::QuestionId;

/// A ledger that has failed once it takes longer than a limit, so that nobody waits for ever.
///
/// An entry that is late may still be written: then the ledger has a verdict on which nothing ran, and
/// the end of the call, which says so, after it. A ledger that blocks its thread can't be limited.
/// Needs a runtime that can make timers.
///
/// ```
/// use std::time::Duration;
/// use tool_runtime::{AllowAll, Harness, MemoryLedger, Registry, TimedLedger};
///
/// let ledger = TimedLedger::new(MemoryLedger::default(), Duration::from_secs(5));
/// let harness = Harness::new(Registry::builder().build()?, AllowAll).ledger(ledger);
/// # Ok::<(), tool_runtime::RegistryError>(())
/// ```
pub struct TimedLedger<L> {
    inner: L,
    limit: Duration,
}

impl<L: Ledger> TimedLedger<L> {
    /// With a limit for each thing that is asked of it.
    pub fn new(ledger: L, limit: Duration) -> Self {
        TimedLedger { inner: ledger, limit }
    }

    fn limited<'a, T: Send + 'a, E: From<LedgerError> + Send + 'a>(
        &self,
        does: BoxFuture<'a, Result<T, E>>,
    ) -> BoxFuture<'a, Result<T, E>> {
        let limit = self.limit;
        Box::pin(async move {
            match tokio::time::timeout(limit, does).await {
                Ok(done) => done,
                Err(_) => Err(LedgerError::new(format!("it took longer than {limit:?}")).into()),
            }
        })
    }
}

impl<L: Ledger> Ledger for TimedLedger<L> {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.limited(self.inner.append(entry))
    }

    fn append_all(&self, entries: Vec<Entry>) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.limited(self.inner.append_all(entries))
    }

    fn key(&self) -> Option<&LedgerKey> {
        self.inner.key()
    }

    fn owner(&self) -> Option<&Owner> {
        self.inner.owner()
    }

    fn history(&self, query: Query) -> BoxFuture<'_, Result<History, LedgerError>> {
        self.limited(self.inner.history(query))
    }

    fn park(&self, parking: Parking) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.limited(self.inner.park(parking))
    }

    fn reply(&self, reply: Reply) -> BoxFuture<'_, Result<(), ReplyError>> {
        self.limited(self.inner.reply(reply))
    }

    fn claim(&self, case: CaseId) -> BoxFuture<'_, Result<Claimed, ClaimError>> {
        self.limited(self.inner.claim(case))
    }

    fn refused(&self, refusal: Refusal) -> BoxFuture<'_, Result<Option<QuestionId>, LedgerError>> {
        self.limited(self.inner.refused(refusal))
    }

    fn used(&self, tallies: Vec<Tally>) -> BoxFuture<'_, Result<Vec<Amount>, LedgerError>> {
        self.limited(self.inner.used(tallies))
    }

    fn clear(&self, clearing: Clearing) -> BoxFuture<'_, Result<bool, LedgerError>> {
        self.limited(self.inner.clear(clearing))
    }
}

impl<L> fmt::Debug for TimedLedger<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimedLedger").field("limit", &self.limit).finish_non_exhaustive()
    }
}
