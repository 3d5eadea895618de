use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::SystemTime;

use super::desk::Desk;
use super::waiting::ReplyEntry;
use super::{
    Amount, ClaimError, Claimed, Clearing, Entry, History, Ledger, LedgerError, Parking, Query, Refusal, Reply,
    ReplyError, Stored, Tally,
};
use crate::BoxFuture;
use crate::call::CaseId;
use crate::gate::QuestionId;

/// Keeps the newest entries in memory, for tests and for hosts that need no history. Calls may wait
/// here for answers, as long as the process lasts, and what is used of limits counts, also when their entries are gone.
pub struct MemoryLedger {
    kept: Mutex<Kept>,
    capacity: usize,
}

struct Kept {
    entries: VecDeque<Entry>,
    desk: Desk,
}

impl MemoryLedger {
    /// Keeps at most `capacity` entries; a call makes two, and four if a person is asked about it. With none, only what
    /// waits is kept, and what counts.
    pub fn new(capacity: usize) -> Self {
        let entries = VecDeque::with_capacity(capacity.min(1024));
        MemoryLedger { kept: Mutex::new(Kept { entries, desk: Desk::default() }), capacity }
    }

    /// The entries, oldest first.
    pub fn entries(&self) -> Vec<Entry> {
        self.lock().entries.iter().cloned().collect()
    }

    /// Nothing of ours panics while it holds this lock, and what is kept is whole after every step.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, entry: Entry, whole: Option<Arc<str>>) -> Result<(), LedgerError> {
        let mut kept = self.lock();
        kept.desk.note(&entry, whole, || stored(&entry))?;
        let oldest = kept.add(entry, self.capacity);
        // Dropped after the lock is: freeing an old entry is nobody else's wait.
        drop(kept);
        drop(oldest);
        Ok(())
    }
}

impl Kept {
    fn add(&mut self, entry: Entry, capacity: usize) -> Option<Entry> {
        if capacity == 0 {
            return Some(entry);
        }
        let oldest = if self.entries.len() >= capacity { self.entries.pop_front() } else { None };
        self.entries.push_back(entry);
        oldest
    }
}

fn stored(entry: &Entry) -> Result<Stored, LedgerError> {
    let stored = Stored::read(entry.to_text()?).map_err(LedgerError::new)?;
    Ok(stored.written(Some(SystemTime::now()), None, None))
}

impl Default for MemoryLedger {
    /// Keeps 10,000 entries.
    fn default() -> Self {
        MemoryLedger::new(10_000)
    }
}

impl fmt::Debug for MemoryLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLedger").field("entries", &self.lock().entries.len()).finish_non_exhaustive()
    }
}

impl Ledger for MemoryLedger {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        match self.keep(entry, None) {
            Ok(()) => Box::pin(AtOnce),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn history(&self, query: Query) -> BoxFuture<'_, Result<History, LedgerError>> {
        Box::pin(async move {
            let entries = self.entries();
            let stored = entries.iter().map(|entry| Stored::read(entry.to_text()?).map_err(LedgerError::new));
            Ok(query.of(History::of(stored.collect::<Result<Vec<_>, _>>()?)))
        })
    }

    fn park(&self, parking: Parking) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(std::future::ready(self.keep(parking.entry(), parking.whole)))
    }

    fn reply(&self, reply: Reply) -> BoxFuture<'_, Result<(), ReplyError>> {
        Box::pin(async move {
            let now = SystemTime::now();
            // One lock from the look to the entry: nobody answers in between.
            let mut kept = self.lock();
            let ReplyEntry { entry, hidden } = kept.desk.reply(&reply, now)?;
            kept.desk.see(&stored(&entry)?);
            kept.desk.hide(entry.case(), hidden);
            let oldest = kept.add(entry, self.capacity);
            drop(kept);
            drop(oldest);
            Ok(())
        })
    }

    fn claim(&self, case: CaseId) -> BoxFuture<'_, Result<Claimed, ClaimError>> {
        Box::pin(async move { self.lock().desk.claim(case, SystemTime::now()) })
    }

    fn refused(&self, refusal: Refusal) -> BoxFuture<'_, Result<Option<QuestionId>, LedgerError>> {
        Box::pin(async move { Ok(self.lock().desk.refused(&refusal)) })
    }

    fn used(&self, tallies: Vec<Tally>) -> BoxFuture<'_, Result<Vec<Amount>, LedgerError>> {
        Box::pin(async move { self.lock().desk.used(&tallies, SystemTime::now()) })
    }

    fn clear(&self, clearing: Clearing) -> BoxFuture<'_, Result<bool, LedgerError>> {
        Box::pin(async move {
            let entry = clearing.entry();
            let mut kept = self.lock();
            if !kept.desk.clear(&clearing, SystemTime::now())? {
                return Ok(false);
            }
            if let Err(error) = kept.desk.note(&entry, None, || stored(&entry)) {
                kept.desk.release(clearing.case());
                return Err(error);
            }
            let oldest = kept.add(entry, self.capacity);
            drop(kept);
            drop(oldest);
            Ok(true)
        })
    }
}

/// Kept at once. Has no size, so that boxing it allocates nothing.
struct AtOnce;

impl Future for AtOnce {
    type Output = Result<(), LedgerError>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(Ok(()))
    }
}
