use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use super::{Entry, Ledger, LedgerError};
use crate::BoxFuture;

/// Keeps the newest entries in memory, for tests and for hosts that need no history.
pub struct MemoryLedger {
    entries: Mutex<VecDeque<Entry>>,
    capacity: usize,
}

impl MemoryLedger {
    /// Keeps at most `capacity` entries; a call makes two, and four if a person is asked about it.
    pub fn new(capacity: usize) -> Self {
        MemoryLedger { entries: Mutex::new(VecDeque::with_capacity(capacity.min(1024))), capacity }
    }

    /// The entries, oldest first.
    pub fn entries(&self) -> Vec<Entry> {
        self.lock().iter().cloned().collect()
    }

    /// Nothing of ours panics while it holds this lock, and the queue is whole after every step.
    fn lock(&self) -> MutexGuard<'_, VecDeque<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryLedger {
    /// Keeps 10,000 entries.
    fn default() -> Self {
        MemoryLedger::new(10_000)
    }
}

impl fmt::Debug for MemoryLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLedger").field("entries", &self.lock().len()).finish_non_exhaustive()
    }
}

impl Ledger for MemoryLedger {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        let mut entries = self.lock();
        // Dropped after the lock is: freeing an old entry is nobody else's wait.
        let oldest = if entries.len() >= self.capacity { entries.pop_front() } else { None };
        entries.push_back(entry);
        drop(entries);
        drop(oldest);
        Box::pin(Kept)
    }
}

/// Kept at once. Has no size, so that boxing it allocates nothing.
struct Kept;

impl Future for Kept {
    type Output = Result<(), LedgerError>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(Ok(()))
    }
}
