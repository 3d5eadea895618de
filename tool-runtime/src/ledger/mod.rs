//! The record that execution starts from.

mod asked;
mod binding;
mod declaration;
mod desk;
mod entry;
mod failures;
mod file;
mod fills;
mod form;
mod history;
mod key;
mod limits;
mod memory;
mod micros;
mod provider;
mod record;
mod repair;
mod ruled;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod sql;
mod stored;
mod timed;
mod verdict;
mod waiting;

use std::fmt;

pub use asked::{AnsweredRecord, AskedRecord};
pub use binding::Binding;
pub(crate) use binding::Bound;
pub use declaration::{DeclarationRecord, Standing};
pub use entry::{Entry, LateEnd};
pub use failures::SourceFailure;
pub use file::{FileHead, FileLedger, FileLedgerError, FileTail, Verified};
pub(crate) use fills::{Fill, Fills, GivenValue};
pub use form::{FormEnd, FormRecord};
pub use history::{CaseHistory, CaseState, History, Query};
pub use key::{LedgerKey, LedgerKeyError};
pub use limits::{Amount, Clearing, LimitUse, Tally};
pub use memory::MemoryLedger;
pub use provider::ProviderReport;
pub use record::Record;
pub(crate) use record::RecordParts;
pub use repair::Repaired;
pub use ruled::{ApartRecord, JudgementKind, RulingRecord};
pub(crate) use ruled::{RulingParts, Share};
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub use sql::{SqlLedger, SqlOptions, Survives};
pub use stored::{Owner, Stored, StoredError, StoredKind};
pub use timed::TimedLedger;
pub(crate) use verdict::VerdictParts;
pub use verdict::{Verdict, VerdictKind};
pub use waiting::{ClaimError, Claimed, Parking, Refusal, Reply, ReplyError};

use crate::BoxFuture;
use crate::call::CaseId;
use crate::gate::QuestionId;

/// Keeps what was decided and what came of it.
///
/// Calls that wait for an answer from elsewhere are taken up again only from this crate's ledgers: nobody else can make what
/// [`claim`](Self::claim) gives and what [`reply`](Self::reply) records. A ledger of your own that has to do that stands
/// before one of them and hands both on.
///
/// ```
/// use std::sync::Mutex;
/// use tool_runtime::{BoxFuture, Entry, Ledger, LedgerError};
///
/// /// Keeps lines.
/// struct Lines(Mutex<Vec<String>>);
///
/// impl Ledger for Lines {
///     fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
///         Box::pin(async move {
///             let line = entry.to_text()?;
///             self.0.lock().map_err(|_| LedgerError::new("a writer panicked"))?.push(line);
///             Ok(())
///         })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a ledger",
    label = "can't keep a record",
    note = "implement `Ledger` for it, or use `MemoryLedger`; to have it elsewhere too, put it into an `Arc` and give a clone"
)]
pub trait Ledger: Send + Sync {
    /// Adds an entry. When the future ends well, the entry is as safe as this ledger can make it:
    /// nothing runs on a verdict before that.
    ///
    /// Whoever drops a turn drops the future as well. A ledger that has been handed an entry by then, as those of this
    /// crate have once the future was made or first asked, should keep it all the same: otherwise a call that has ended looks
    /// like one whose outcome nobody knows.
    ///
    /// # Errors
    /// If the entry could not be kept. What went wrong is given as the [cause](LedgerError::new).
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// Adds entries that belong together, all or none where the ledger can do that. Otherwise one by
    /// one, until one fails.
    ///
    /// # Errors
    /// If they could not be kept.
    fn append_all(&self, entries: Vec<Entry>) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(async move {
            for entry in entries {
                self.append(entry).await?;
            }
            Ok(())
        })
    }

    /// The key under which values are digested in its records. `None`: one that ends with the process.
    fn key(&self) -> Option<&LedgerKey> {
        None
    }

    /// Which host writes here, and which of its starts.
    fn owner(&self) -> Option<&Owner> {
        None
    }

    /// Reads entries back.
    ///
    /// # Errors
    /// If they can't be read, were changed by somebody without the key, or the ledger only writes.
    fn history(&self, query: Query) -> BoxFuture<'_, Result<History, LedgerError>> {
        drop(query);
        Box::pin(async { Err(LedgerError::unsupported("read entries back")) })
    }

    /// Adds the verdict of a call that waits for an answer from elsewhere. A ledger that gives such calls
    /// out again keeps with it what the record must not say.
    ///
    /// # Errors
    /// If it could not be kept; [`unsupported`](LedgerError::unsupported) if this ledger gives calls out
    /// again and can't keep the secrets of one that has some. That call doesn't wait then.
    fn park(&self, parking: Parking) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.append(parking.entry())
    }

    /// Answers the question of a call that waits, if nobody else has.
    ///
    /// # Errors
    /// If it is answered, nobody waits, or the ledger can't.
    fn reply(&self, reply: Reply) -> BoxFuture<'_, Result<(), ReplyError>> {
        drop(reply);
        Box::pin(async { Err(LedgerError::unsupported("take answers to calls that wait").into()) })
    }

    /// Takes a call that has waited, and whose answer is there or overdue, for the caller alone: of any
    /// number who try, in whichever process, one gets it.
    ///
    /// # Errors
    /// If it isn't there to be taken, or the ledger can't.
    fn claim(&self, case: CaseId) -> BoxFuture<'_, Result<Claimed, ClaimError>> {
        let _ = case;
        Box::pin(async { Err(LedgerError::unsupported("go on with calls that wait").into()) })
    }

    /// Has a person said no to this before, in this conversation? Gives the question. A yes to the same
    /// after it takes that back.
    ///
    /// # Errors
    /// If that can't be read. A ledger that only writes remembers nothing.
    fn refused(&self, refusal: Refusal) -> BoxFuture<'_, Result<Option<QuestionId>, LedgerError>> {
        drop(refusal);
        Box::pin(async { Ok(None) })
    }

    /// How much of limits was used, each in its period up to now by the ledger's clock, in the order in which they are
    /// asked about. Runs count from when they were [cleared](Self::clear), also those whose outcome nobody knows, and not
    /// those of which it is known that their bodies didn't begin.
    ///
    /// # Errors
    /// If that can't be read, or the ledger doesn't count. Then nothing runs that has a limit.
    fn used(&self, tallies: Vec<Tally>) -> BoxFuture<'_, Result<Vec<Amount>, LedgerError>> {
        drop(tallies);
        Box::pin(async { Err(LedgerError::unsupported("count what was used of a limit")) })
    }

    /// Adds the cleared verdict of a call that takes something of limits, if there is room for all that it takes: in
    /// one step, so that of any number who try at once, in whichever process, no more get in than fit. `false`, and
    /// nothing is kept, if there isn't.
    ///
    /// # Errors
    /// If it could not be kept, or the ledger doesn't count.
    fn clear(&self, clearing: Clearing) -> BoxFuture<'_, Result<bool, LedgerError>> {
        drop(clearing);
        Box::pin(async { Err(LedgerError::unsupported("count what was used of a limit")) })
    }
}

impl<L: Ledger + ?Sized> Ledger for std::sync::Arc<L> {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        (**self).append(entry)
    }

    fn append_all(&self, entries: Vec<Entry>) -> BoxFuture<'_, Result<(), LedgerError>> {
        (**self).append_all(entries)
    }

    fn key(&self) -> Option<&LedgerKey> {
        (**self).key()
    }

    fn owner(&self) -> Option<&Owner> {
        (**self).owner()
    }

    fn history(&self, query: Query) -> BoxFuture<'_, Result<History, LedgerError>> {
        (**self).history(query)
    }

    fn park(&self, parking: Parking) -> BoxFuture<'_, Result<(), LedgerError>> {
        (**self).park(parking)
    }

    fn reply(&self, reply: Reply) -> BoxFuture<'_, Result<(), ReplyError>> {
        (**self).reply(reply)
    }

    fn claim(&self, case: CaseId) -> BoxFuture<'_, Result<Claimed, ClaimError>> {
        (**self).claim(case)
    }

    fn refused(&self, refusal: Refusal) -> BoxFuture<'_, Result<Option<QuestionId>, LedgerError>> {
        (**self).refused(refusal)
    }

    fn used(&self, tallies: Vec<Tally>) -> BoxFuture<'_, Result<Vec<Amount>, LedgerError>> {
        (**self).used(tallies)
    }

    fn clear(&self, clearing: Clearing) -> BoxFuture<'_, Result<bool, LedgerError>> {
        (**self).clear(clearing)
    }
}

/// A ledger could not do what it was asked to.
#[derive(Debug)]
pub struct LedgerError {
    cause: Box<dyn std::error::Error + Send + Sync>,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Failed,
    Unsupported,
    NotOurs,
}

impl LedgerError {
    /// With its cause.
    pub fn new(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        LedgerError { cause: cause.into(), kind: Kind::Failed }
    }

    /// This ledger can't do it at all.
    pub fn unsupported(what: &'static str) -> Self {
        LedgerError { cause: format!("this ledger can't {what}").into(), kind: Kind::Unsupported }
    }

    /// It works, and refuses: another host goes on with the call by now, or it is over. The call doesn't run then, not
    /// even where the host lets calls [run unrecorded](crate::Harness::run_unrecorded).
    pub fn not_ours() -> Self {
        let cause = "another host goes on with this call, or it is over".into();
        LedgerError { cause, kind: Kind::NotOurs }
    }

    /// Why.
    #[cfg(feature = "sqlite")]
    pub(crate) fn into_cause(self) -> Box<dyn std::error::Error + Send + Sync> {
        self.cause
    }

    /// Can this ledger not do it at all?
    pub fn is_unsupported(&self) -> bool {
        self.kind == Kind::Unsupported
    }

    /// Is the call another host's to go on with?
    pub fn is_not_ours(&self) -> bool {
        self.kind == Kind::NotOurs
    }
}

impl fmt::Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Kind::Failed => "the ledger failed",
            Kind::Unsupported => "not supported",
            Kind::NotOurs => "refused by the ledger",
        })
    }
}

impl std::error::Error for LedgerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.cause)
    }
}
