//! What was used of limits, in a table that all hosts share.
//!
//! Counting, and writing the verdict that takes more, is one transaction, and of the transactions about one limit there is
//! one at a time: of SQLite there is only ever one that writes, and in PostgreSQL each takes the limit's lock.

use std::collections::HashSet;
use std::sync::{MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::connection::{Column, Connection, Dialect, Value};
use super::writer::{Fault, Job, Op, Writer};
use super::{Shared, SqlLedger};
use crate::call::CaseId;
use crate::ledger::micros::in_micros;
use crate::ledger::{Amount, Clearing, Entry, LedgerError, Tally};

/// How much was used is read from amounts and how often each stands there: of runs, that is one row.
fn used(now: &str) -> String {
    format!("SELECT amount, COUNT(*) FROM tool_uses WHERE limit_id = $1 AND at > ({now}) - $2 GROUP BY amount")
}

impl SqlLedger {
    pub(super) async fn used_of(&self, tallies: &[Tally]) -> Result<Vec<Amount>, LedgerError> {
        let mut connection = self.inner.connections.acquire().await.map_err(LedgerError::new)?;
        let mut amounts = Vec::with_capacity(tallies.len());
        for tally in tallies {
            amounts.push(
                amount(&mut connection, self.inner.shared.statements.now, tally).await.map_err(LedgerError::from)?,
            );
        }
        Ok(amounts)
    }

    pub(super) async fn cleared(&self, clearing: Clearing) -> Result<bool, LedgerError> {
        let entry = clearing.entry();
        let text = entry.to_text()?;
        let (done, cleared) = oneshot::channel();
        let job = Job::Clear { clearing, line: Box::new((entry, text)), done };
        self.inner.jobs.send(job).await.map_err(|_| super::ended())?;
        cleared.await.map_err(|_| super::ended())?
    }

    /// Of calls that have ended, those whose bodies did not begin have used nothing. What can't be taken back counts.
    pub(super) async fn release(&self, ended: Vec<(CaseId, bool)>) {
        let unstarted = self.inner.shared.unstarted(ended);
        if unstarted.is_empty() {
            return;
        }
        let released = match self.inner.connections.acquire().await {
            Ok(mut connection) => {
                let mut released = Ok(0);
                for case in unstarted {
                    released = connection.run("DELETE FROM tool_uses WHERE case_id = $1", vec![case]).await;
                }
                released
            }
            Err(error) => Err(error),
        };
        if let Err(error) = released {
            tracing::error!(target: "tool_runtime", %error, "what a call has taken of a limit could not be given back");
        }
    }
}

impl Shared {
    /// Nothing of ours panics while it holds this lock.
    fn took(&self) -> MutexGuard<'_, HashSet<CaseId>> {
        self.took.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that had taken something and did not begin. That isn't what their verdicts say: a call may have been given up
    /// before it heard that it was cleared.
    fn unstarted(&self, ended: Vec<(CaseId, bool)>) -> Vec<Value> {
        if ended.is_empty() {
            return Vec::new();
        }
        let mut took = self.took();
        let unstarted = ended.into_iter().filter(|(case, started)| took.remove(case) && !started);
        unstarted.map(|(case, _)| Value::text(&case.to_string())).collect()
    }
}

/// The calls that have ended, each with whether its body began.
pub(super) fn ended(entries: &[Entry]) -> Vec<(CaseId, bool)> {
    let ended = entries.iter().filter_map(|entry| match entry {
        Entry::End(record) => Some((record.case(), record.started())),
        _ => None,
    });
    ended.collect()
}

async fn amount(connection: &mut Connection, now: &str, tally: &Tally) -> Result<Amount, Fault> {
    let values = vec![Value::text(&tally.limit().to_string()), micros(tally)];
    let rows = connection.rows(used(now), values, &[Column::Text, Column::Integer]).await?;
    let mut sum = Amount::ZERO;
    for row in rows {
        let [text, times] = <[Value; 2]>::try_from(row).unwrap_or([Value::Text(None), Value::Integer(None)]);
        let amount: Result<Amount, LedgerError> = text.into_text().unwrap_or_default().parse();
        let amount = amount.ok().and_then(|amount| amount.times(times.into_integer()?));
        sum = amount.and_then(|amount| sum.plus(amount)).ok_or(Fault::Uncountable)?;
    }
    Ok(sum)
}

fn micros(tally: &Tally) -> Value {
    Value::Integer(Some(i64::try_from(in_micros(tally.per())).unwrap_or(i64::MAX)))
}

impl Writer {
    /// Writes a verdict that takes something of limits, if there is room.
    pub(super) async fn clear(
        &mut self,
        clearing: &Clearing,
        (entry, text): &(Entry, String),
    ) -> Result<bool, LedgerError> {
        let shared = std::sync::Arc::clone(&self.shared);
        let (begin, dialect) = (self.connections.dialect().begin(), self.connections.dialect());
        let op = self.op(entry, text, None);
        let connection = self.connected().await.map_err(LedgerError::new)?;
        let written = async {
            connection.run(begin, Vec::new()).await?;
            lock(connection, dialect, clearing).await?;
            for used in clearing.uses().iter().filter(|used| used.most().is_some()) {
                if !used.fits(amount(connection, shared.statements.now, used.tally()).await?) {
                    connection.run("ROLLBACK", Vec::new()).await?;
                    return Ok(false);
                }
            }
            for used in clearing.uses() {
                let values = vec![
                    Value::text(&used.tally().limit().to_string()),
                    Value::text(&clearing.case().to_string()),
                    Value::text(&used.takes().to_string()),
                    micros(used.tally()),
                ];
                connection.run(shared.statements.take, values).await?;
            }
            Op::write(&[op], connection, &shared).await?;
            connection.run("COMMIT", Vec::new()).await?;
            Ok(true)
        };
        let written = written.await;
        self.after(&written, false).await;
        if matches!(written, Ok(true)) {
            self.shared.took().insert(clearing.case());
        }
        written.map_err(LedgerError::from)
    }
}

/// Nobody else counts one of these limits until this transaction is over.
async fn lock(connection: &mut Connection, dialect: Dialect, clearing: &Clearing) -> Result<(), Fault> {
    match dialect {
        #[cfg(feature = "sqlite")]
        Dialect::Sqlite => {
            let _ = (connection, clearing);
        }
        #[cfg(feature = "postgres")]
        Dialect::Postgres => {
            let name = |used: &crate::ledger::LimitUse| {
                let digest = used.tally().limit().as_bytes();
                i64::from_be_bytes(std::array::from_fn(|place| digest[place]))
            };
            // In one order, so that no two hosts wait for each other.
            let names: std::collections::BTreeSet<i64> = clearing.uses().iter().map(name).collect();
            for name in names {
                connection.run("SELECT pg_advisory_xact_lock($1)", vec![Value::Integer(Some(name))]).await?;
            }
        }
    }
    Ok(())
}
