//! The one task that writes to a database for a host. What comes while it writes is written together,
//! in one transaction.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::Shared;
use super::connection::{Connection, Connections, Value};
use super::read::Unread;
use super::statements::{ERASE_SECRET, KEEP_SECRET, Rows};
use crate::call::{CaseId, Code};
use crate::gate::Answer;
use crate::ledger::micros::to_micros;
use crate::ledger::{Clearing, Entry, LedgerError, Reply, ReplyError, Stored, VerdictKind};

/// What is to be written, and who waits for it.
pub(super) enum Job {
    Append(Append),
    /// Gives the connection back, and writes nothing after it.
    Close(oneshot::Sender<()>),
    Reply {
        reply: Reply,
        asked: Box<Stored>,
        done: oneshot::Sender<Result<(), ReplyError>>,
    },
    /// A verdict that takes something of limits.
    Clear {
        clearing: Clearing,
        line: Box<(Entry, String)>,
        done: oneshot::Sender<Result<bool, LedgerError>>,
    },
}

pub(super) struct Append {
    pub(super) lines: Vec<(Entry, String)>,
    /// The sealed arguments of a call that is going to wait.
    pub(super) sealed: Option<Vec<u8>>,
    pub(super) done: oneshot::Sender<Result<(), LedgerError>>,
}

/// How many jobs may wait for being written.
pub(super) const ROOM: usize = 1024;

/// How many are written together.
const TOGETHER: usize = 256;

/// Why something wasn't written.
pub(super) enum Fault {
    /// The database failed; nothing of it is there.
    Database(sqlx::Error),
    /// It is another host's to say by now.
    NotOurs,
    /// What was used of a limit can't be read.
    Uncountable,
    /// Something that it depends on was changed by somebody else.
    Forged(String),
}

impl From<Unread> for Fault {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Failed(error) => Fault::Database(error),
            Unread::Forged(what) => Fault::Forged(what),
        }
    }
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Fault::Database(error)
    }
}

impl From<Fault> for LedgerError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Database(error) => LedgerError::new(error),
            Fault::NotOurs => LedgerError::not_ours(),
            Fault::Uncountable => LedgerError::new("what was used of a limit can't be counted"),
            Fault::Forged(what) => LedgerError::new(what),
        }
    }
}

pub(super) struct Writer {
    pub(super) connections: Connections,
    pub(super) shared: Arc<Shared>,
    /// Kept from one write to the next. `None` after one that failed.
    pub(super) connection: Option<Connection>,
    /// Calls that this host asked about or claimed: of these there may be secrets.
    pub(super) asked: HashSet<CaseId>,
}

impl Writer {
    pub(super) async fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        let mut waiting = Vec::new();
        while jobs.recv_many(&mut waiting, TOGETHER).await > 0 {
            let mut appends = Vec::new();
            for job in waiting.drain(..) {
                match job {
                    Job::Append(append) => appends.push(append),
                    Job::Close(done) => {
                        self.append(std::mem::take(&mut appends)).await;
                        self.connection = None;
                        let _ = done.send(());
                        return;
                    }
                    Job::Clear { clearing, line, done } => {
                        self.append(std::mem::take(&mut appends)).await;
                        let cleared = self.clear(&clearing, &line).await;
                        let _ = done.send(cleared);
                    }
                    Job::Reply { reply, asked, done } => {
                        self.append(std::mem::take(&mut appends)).await;
                        let replied = self.reply(&reply, &asked).await;
                        let _ = done.send(replied);
                    }
                }
            }
            self.append(appends).await;
        }
    }

    pub(super) async fn connected(&mut self) -> Result<&mut Connection, sqlx::Error> {
        if self.connection.is_none() {
            self.connection = Some(self.connections.acquire().await?);
        }
        self.connection.as_mut().ok_or(sqlx::Error::PoolClosed)
    }

    async fn append(&mut self, jobs: Vec<Append>) {
        if jobs.len() > 1 && self.together(&jobs).await.is_ok() {
            for job in jobs {
                let _ = job.done.send(Ok(()));
            }
            return;
        }
        // One by one: what can't be written is nobody else's trouble.
        for job in jobs {
            let written = self.together(std::slice::from_ref(&job)).await;
            let _ = job.done.send(written.map_err(LedgerError::from));
        }
    }

    /// All or nothing.
    async fn together(&mut self, jobs: &[Append]) -> Result<(), Fault> {
        let lines = jobs.iter().flat_map(|job| job.lines.iter().map(|line| (line, job.sealed.as_deref())));
        let ops: Vec<Op<'_>> = lines.map(|((entry, text), sealed)| self.op(entry, text, sealed)).collect();
        let runs = Op::runs(&ops, Rows::MOST);
        let written = match self.written(&runs).await {
            // Which of several rows it was, the database doesn't say.
            Err(Fault::NotOurs) if runs.len() < ops.len() => self.written(&Op::runs(&ops, 1)).await,
            written => written,
        };
        if written.is_ok() {
            for op in &ops {
                match op.entry {
                    Entry::Asked(_) => drop(self.asked.insert(op.entry.case())),
                    Entry::End(_) | Entry::Repaired(_) => drop(self.asked.remove(&op.entry.case())),
                    _ => {}
                }
            }
        }
        written
    }

    /// All or nothing.
    async fn written(&mut self, runs: &[&[Op<'_>]]) -> Result<(), Fault> {
        let shared = Arc::clone(&self.shared);
        let begin = self.connections.dialect().begin();
        let is_one_statement = matches!(runs, [[op]] if op.is_one_statement());
        let connection = self.connected().await?;
        let writing = async {
            if !is_one_statement {
                connection.run(begin, Vec::new()).await?;
            }
            for run in runs {
                Op::write(run, connection, &shared).await?;
            }
            if !is_one_statement {
                connection.run("COMMIT", Vec::new()).await?;
            }
            Ok(())
        };
        let written = writing.await;
        self.after(&written, is_one_statement).await;
        written
    }

    /// A connection that is in the middle of something is not used again.
    pub(super) async fn after<T>(&mut self, written: &Result<T, Fault>, alone: bool) {
        if written.is_ok() || (alone && matches!(written, Err(Fault::NotOurs))) {
            return;
        }
        if let Some(mut connection) = self.connection.take() {
            if connection.run("ROLLBACK", Vec::new()).await.is_ok() {
                self.connection = Some(connection);
            } else if let Err(error) = connection.discard().await {
                tracing::debug!(target: "tool_runtime", %error, "a connection could not be closed");
            }
        }
    }

    pub(super) fn op<'a>(&self, entry: &'a Entry, text: &'a str, sealed: Option<&'a [u8]>) -> Op<'a> {
        let erases = self.asked.contains(&entry.case()) || self.shared.has_claimed(entry.case());
        Op { entry, text, mac: self.shared.mac(text).to_vec(), sealed, erases }
    }
}

/// An entry that is to be written.
pub(super) struct Op<'a> {
    entry: &'a Entry,
    text: &'a str,
    mac: Vec<u8>,
    sealed: Option<&'a [u8]>,
    /// Its call may have secrets, which are to go when it is over.
    erases: bool,
}

/// What can be said of several rows in one statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Together {
    Verdicts,
    Ends,
}

impl Op<'_> {
    /// What most calls are made of: nothing else has to be there with it.
    fn is_one_statement(&self) -> bool {
        !self.erases
            && match self.entry {
                Entry::Verdict(verdict) => verdict.kind() != VerdictKind::Blocked(Code::ApprovalPending),
                Entry::Answered(_) | Entry::LateEnd(_) | Entry::Form(_) | Entry::Declaration(_) => true,
                // Only its update is nearly always all. What follows, if it isn't, stands on its own.
                Entry::End(_) | Entry::Repaired(_) => true,
                Entry::Asked(_) => false,
            }
    }

    fn together(&self) -> Option<Together> {
        match self.entry {
            _ if self.erases => None,
            Entry::Verdict(verdict) if verdict.kind() != VerdictKind::Blocked(Code::ApprovalPending) => {
                Some(Together::Verdicts)
            }
            // One without a verdict has no row yet.
            Entry::End(record) if record.code() != Code::ApprovalPending && record.verdict().is_some() => {
                Some(Together::Ends)
            }
            _ => None,
        }
    }

    /// Cuts entries into what is said in one statement each, or is written on its own.
    fn runs<'o, 'a>(ops: &'o [Op<'a>], most: usize) -> Vec<&'o [Op<'a>]> {
        let same = |one: &Op<'_>, other: &Op<'_>| one.together().is_some() && one.together() == other.together();
        ops.chunk_by(same).flat_map(|run| run.chunks(most)).collect()
    }

    /// Writes a run of entries.
    pub(super) async fn write(run: &[Op<'_>], connection: &mut Connection, shared: &Shared) -> Result<(), Fault> {
        let together = run.first().and_then(Op::together);
        match (run, together) {
            ([op], None) => op.write_one(connection, shared).await,
            (_, Some(Together::Verdicts)) => verdicts(run, connection, shared).await,
            (_, Some(Together::Ends)) => match (ends(run, connection, shared).await?, run) {
                (0, [op]) => op.end_alone(connection, shared).await,
                (rows, _) => changed(rows, run.len()),
            },
            // Only what is together is cut into longer runs.
            (_, None) => Ok(()),
        }
    }

    fn case(&self) -> Value {
        Value::text(&self.entry.case().to_string())
    }

    fn body(&self) -> Value {
        Value::Text(Some(self.text.to_owned()))
    }

    fn mac(&self) -> Value {
        Value::Bytes(Some(self.mac.clone()))
    }

    async fn write_one(&self, connection: &mut Connection, shared: &Shared) -> Result<(), Fault> {
        let (say, owner) = (shared.statements, || Value::text(&shared.owner));
        let key = || Value::text(shared.key.id());
        match self.entry {
            Entry::Asked(asked) => {
                let question = Value::text(asked.question().id.as_str());
                let tool = Value::text(&asked.question().tool);
                let values = vec![self.case(), conversation(asked.conversation()), tool, owner(), question];
                changed(connection.run(say.asked, values).await?, 1)?;
                let id = asked.question().id.as_str().to_owned();
                self.write_entry(connection, shared, "asked", asked.conversation(), Some(id)).await
            }
            Entry::Answered(answered) => {
                let what = match answered.answer() {
                    Some(answer) if answer == Answer::No || answer.is_yes() => Some(answered.what().to_string()),
                    _ => None,
                };
                self.write_entry(connection, shared, "answered", answered.conversation(), what).await
            }
            Entry::Verdict(verdict) if verdict.kind() == VerdictKind::Blocked(Code::ApprovalPending) => {
                let expires = Value::Integer(verdict.expires().map(to_micros));
                let values = vec![self.case(), expires, self.body(), self.mac(), owner(), key()];
                changed(connection.run(say.parked, values).await?, 1)?;
                if let Some(sealed) = self.sealed {
                    connection.run(KEEP_SECRET, vec![self.case(), Value::Bytes(Some(sealed.to_vec()))]).await?;
                }
                self.write_entry(connection, shared, "verdict", verdict.conversation(), None).await
            }
            Entry::Verdict(_) => {
                verdicts(std::slice::from_ref(self), connection, shared).await?;
                self.erase(connection).await
            }
            Entry::End(record) if record.code() == Code::ApprovalPending => {
                self.write_entry(connection, shared, "end", record.conversation(), None).await
            }
            Entry::End(_) => {
                if ends(std::slice::from_ref(self), connection, shared).await? == 0 {
                    self.end_alone(connection, shared).await?;
                }
                self.erase(connection).await
            }
            Entry::Repaired(repaired) => {
                let values = vec![self.case(), self.body(), self.mac(), key(), stopped(repaired.code())];
                if connection.run(say.repaired, values).await? == 0 {
                    // It has ended after all.
                    self.write_entry(connection, shared, "repaired", repaired.conversation(), None).await?;
                }
                Ok(())
            }
            Entry::LateEnd(late) => self.write_entry(connection, shared, "late_end", late.conversation(), None).await,
            Entry::Form(form) => self.write_entry(connection, shared, "form", form.conversation(), None).await,
            Entry::Declaration(_) => self.write_entry(connection, shared, "declaration", None, None).await,
        }
    }

    /// The end of a call that has no row that waits for it.
    async fn end_alone(&self, connection: &mut Connection, shared: &Shared) -> Result<(), Fault> {
        let Entry::End(record) = self.entry else { return Ok(()) };
        let (conversation, tool) = (conversation(record.conversation()), Value::text(record.tool()));
        let (owner, key) = (Value::text(&shared.owner), Value::text(shared.key.id()));
        let values = vec![self.case(), conversation, tool, owner, self.body(), self.mac(), key, stopped(record.code())];
        if connection.run(shared.statements.end_alone, values).await? == 0 {
            // Somebody took the call for lost, and said so.
            self.write_entry(connection, shared, "end", record.conversation(), None).await?;
        }
        Ok(())
    }

    async fn write_entry(
        &self,
        connection: &mut Connection,
        shared: &Shared,
        kind: &str,
        of: Option<&str>,
        what: Option<String>,
    ) -> Result<(), Fault> {
        let (owner, key) = (Value::text(&shared.owner), Value::text(shared.key.id()));
        let (kind, what) = (Value::text(kind), Value::Text(what));
        let values = vec![self.case(), kind, conversation(of), what, owner, self.body(), self.mac(), key];
        changed(connection.run(shared.statements.entry, values).await?, 1)
    }

    async fn erase(&self, connection: &mut Connection) -> Result<(), Fault> {
        if self.erases {
            connection.run(ERASE_SECRET, vec![self.case()]).await?;
        }
        Ok(())
    }
}

/// Verdicts of calls that don't wait, in one statement.
async fn verdicts(run: &[Op<'_>], connection: &mut Connection, shared: &Shared) -> Result<(), Fault> {
    let mut values = vec![Value::text(&shared.owner), Value::text(shared.key.id())];
    for op in run {
        let Entry::Verdict(verdict) = op.entry else { continue };
        let state = if verdict.kind() == VerdictKind::Cleared { "running" } else { "refused" };
        let (conversation, tool) = (conversation(verdict.conversation()), Value::text(verdict.tool()));
        let stopped = match verdict.kind() {
            VerdictKind::Cleared => Value::Text(None),
            VerdictKind::Blocked(code) => stopped(code),
        };
        values.extend([op.case(), conversation, tool, Value::text(state), op.body(), op.mac(), stopped]);
    }
    let rows = connection.run_made(shared.statements.verdicts.of(run.len()), values).await?;
    changed(rows, run.len())
}

/// Ends of calls that have rows, in one statement. How many had one that waits for it?
async fn ends(run: &[Op<'_>], connection: &mut Connection, shared: &Shared) -> Result<u64, Fault> {
    let mut values = vec![Value::text(&shared.owner), Value::text(shared.key.id())];
    for op in run {
        let Entry::End(record) = op.entry else { continue };
        values.extend([op.case(), op.body(), op.mac(), stopped(record.code())]);
    }
    Ok(match run.len() {
        1 => connection.run(shared.statements.end, values).await?,
        rows => connection.run_made(shared.statements.ends.of(rows), values).await?,
    })
}

/// Where a call stopped, if it did.
fn stopped(code: Code) -> Value {
    if code == Code::Ok { Value::Text(None) } else { Value::text(&code.to_string()) }
}

fn conversation(conversation: Option<&str>) -> Value {
    conversation.map_or(Value::Text(None), Value::text)
}

pub(super) fn changed(rows: u64, wanted: usize) -> Result<(), Fault> {
    if usize::try_from(rows) == Ok(wanted) { Ok(()) } else { Err(Fault::NotOurs) }
}
