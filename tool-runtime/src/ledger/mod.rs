//! The record that execution starts from.

mod asked;
mod memory;
mod record;

use std::fmt;

pub use asked::{AnsweredRecord, AskedRecord};
pub use memory::MemoryLedger;
pub use record::{Entry, LateEnd, Record, Verdict, VerdictKind};
pub(crate) use record::{RecordParts, VerdictParts};

use crate::BoxFuture;

/// Keeps what was decided and what came of it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a ledger",
    label = "can't keep a record",
    note = "implement `Ledger` for it, or use `MemoryLedger`"
)]
pub trait Ledger: Send + Sync {
    /// Adds an entry. When the future ends well, the entry is as safe as this ledger can make it:
    /// nothing runs on a verdict before that.
    ///
    /// # Errors
    /// If the entry could not be kept.
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>>;
}

impl<L: Ledger + ?Sized> Ledger for std::sync::Arc<L> {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        (**self).append(entry)
    }
}

/// A ledger could not keep an entry.
#[derive(Debug)]
pub struct LedgerError(Box<dyn std::error::Error + Send + Sync>);

impl LedgerError {
    /// With its cause.
    pub fn new(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        LedgerError(cause.into())
    }
}

impl fmt::Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the ledger could not keep an entry")
    }
}

impl std::error::Error for LedgerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}
