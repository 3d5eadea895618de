//! The one task that writes to a database for a host. What comes while it writes is written together,
//! in one transaction.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::connection::{Connection, Connections, Value};
use super::statements::{ERASE_SECRET, KEEP_SECRET, Statements};
use super::{Shared, about_case};
use crate::call::{CaseId, Code};
use crate::gate::{Answer, AnswerError};
use crate::ledger::record::to_micros;
use crate::ledger::{Entry, LedgerError, Reply, ReplyError, Stored, VerdictKind};

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
}

pub(super) struct Append {
    pub(super) lines: Vec<(Entry, String)>,
    /// The sealed arguments of a call that is going to wait.
    pub(super) sealed: Option<Vec<u8>>,
    pub(super) done: oneshot::Sender<Result<(), String>>,
}

/// How many jobs may wait for being written.
pub(super) const ROOM: usize = 1024;

/// How many are written together.
const TOGETHER: usize = 256;

/// Why something wasn't written.
enum Fault {
    /// The database failed; nothing of it is there.
    Database(sqlx::Error),
    /// It is another host's to say by now.
    NotOurs,
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Fault::Database(error)
    }
}

impl Fault {
    fn text(&self) -> String {
        match self {
            Fault::Database(error) => error.to_string(),
            Fault::NotOurs => "another host goes on with this call, or it is over".to_owned(),
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

    async fn connected(&mut self) -> Result<&mut Connection, sqlx::Error> {
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
            let _ = job.done.send(written.map_err(|fault| fault.text()));
        }
    }

    /// All or nothing.
    async fn together(&mut self, jobs: &[Append]) -> Result<(), Fault> {
        let Shared { statements, owner, .. } = &*Arc::clone(&self.shared);
        let begin = self.connections.dialect().begin();
        let mut ops = Vec::new();
        for job in jobs {
            for (entry, text) in &job.lines {
                ops.push(self.op(entry, text, job.sealed.as_deref()));
            }
        }
        let is_one_statement = matches!(&ops[..], [op] if op.is_one_statement());
        let connection = self.connected().await?;
        let written = async {
            if !is_one_statement {
                connection.run(begin, Vec::new()).await?;
            }
            for op in &ops {
                op.write(connection, statements, owner).await?;
            }
            if !is_one_statement {
                connection.run("COMMIT", Vec::new()).await?;
            }
            Ok(())
        };
        let written = written.await;
        self.after(&written, is_one_statement).await;
        if written.is_ok() {
            for (entry, _) in jobs.iter().flat_map(|job| &job.lines) {
                match entry {
                    Entry::Asked(_) => drop(self.asked.insert(entry.case())),
                    Entry::End(_) | Entry::Repaired(_) => drop(self.asked.remove(&entry.case())),
                    _ => {}
                }
            }
        }
        written
    }

    /// A connection that is in the middle of something is not used again.
    async fn after<T>(&mut self, written: &Result<T, Fault>, alone: bool) {
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

    fn op(&self, entry: &Entry, text: &str, sealed: Option<&[u8]>) -> Op {
        let mac = self.shared.mac(text);
        let erases = self.asked.contains(&entry.case()) || self.shared.has_claimed(entry.case());
        Op {
            entry: entry.clone(),
            text: text.to_owned(),
            mac: mac.to_vec(),
            sealed: sealed.map(<[u8]>::to_vec),
            erases,
        }
    }

    async fn reply(&mut self, reply: &Reply, asked: &Stored) -> Result<(), ReplyError> {
        let failed = |error: sqlx::Error| ReplyError::from(LedgerError::new(error));
        let shared = Arc::clone(&self.shared);
        let begin = self.connections.dialect().begin();
        let entry = reply.entry(asked, std::time::SystemTime::now())?;
        let text = entry.to_text()?;
        let op = self.op(&entry, &text, None);
        let connection = self.connected().await.map_err(failed)?;
        let case = Value::text(&asked.case().to_string());
        let answered = async {
            connection.run(begin, Vec::new()).await?;
            if connection.run(shared.statements.reply, vec![case]).await? == 0 {
                return Err(Fault::NotOurs);
            }
            op.write(connection, shared.statements, &shared.owner).await?;
            connection.run("COMMIT", Vec::new()).await?;
            Ok(())
        };
        let answered = answered.await;
        self.after(&answered, false).await;
        match answered {
            Ok(()) => Ok(()),
            Err(Fault::Database(error)) => Err(failed(error)),
            Err(Fault::NotOurs) => Err(ReplyError::Late(self.why_late(asked).await?)),
        }
    }

    async fn why_late(&mut self, asked: &Stored) -> Result<AnswerError, LedgerError> {
        let connection = self.connected().await.map_err(LedgerError::new)?;
        let state = about_case(connection, asked.case()).await?;
        Ok(match state.as_deref() {
            Some("waiting") => AnswerError::Expired,
            Some("answered" | "claimed" | "running") => AnswerError::AlreadyAnswered,
            _ => AnswerError::NotPending,
        })
    }
}

/// An entry that is to be written.
struct Op {
    entry: Entry,
    text: String,
    mac: Vec<u8>,
    sealed: Option<Vec<u8>>,
    /// Its call may have secrets, which are to go when it is over.
    erases: bool,
}

impl Op {
    /// What most calls are made of: nothing else has to be there with it.
    fn is_one_statement(&self) -> bool {
        !self.erases
            && match &self.entry {
                Entry::Verdict(verdict) => verdict.kind() != VerdictKind::Blocked(Code::ApprovalPending),
                Entry::Answered(_) | Entry::LateEnd(_) | Entry::Declaration(_) => true,
                // Only its update is nearly always all. What follows, if it isn't, stands on its own.
                Entry::End(_) | Entry::Repaired(_) => true,
                Entry::Asked(_) => false,
            }
    }

    async fn write(&self, connection: &mut Connection, say: &Statements, owner: &str) -> Result<(), Fault> {
        let case = || Value::text(&self.entry.case().to_string());
        let owner = || Value::text(owner);
        let body = || Value::Text(Some(self.text.clone()));
        let mac = || Value::Bytes(Some(self.mac.clone()));
        match &self.entry {
            Entry::Asked(asked) => {
                let question = Value::text(asked.question().id.as_str());
                let tool = Value::text(&asked.question().tool);
                let values = vec![case(), conversation(asked.conversation()), tool, owner(), question];
                changed(connection.run(say.asked, values).await?)?;
                self.write_entry(connection, say, owner(), "asked", asked.conversation(), None).await
            }
            Entry::Answered(answered) => {
                let what = match answered.answer() {
                    Some(answer) if answer == Answer::No || answer.is_yes() => Some(answered.what().to_string()),
                    _ => None,
                };
                self.write_entry(connection, say, owner(), "answered", answered.conversation(), what).await
            }
            Entry::Verdict(verdict) if verdict.kind() == VerdictKind::Blocked(Code::ApprovalPending) => {
                let expires = Value::Integer(verdict.expires().map(to_micros));
                changed(connection.run(say.parked, vec![case(), expires, body(), mac(), owner()]).await?)?;
                if let Some(sealed) = &self.sealed {
                    connection.run(KEEP_SECRET, vec![case(), Value::Bytes(Some(sealed.clone()))]).await?;
                }
                self.write_entry(connection, say, owner(), "verdict", verdict.conversation(), None).await
            }
            Entry::Verdict(verdict) => {
                let state = if verdict.kind() == VerdictKind::Cleared { "running" } else { "refused" };
                let (conversation, tool) = (conversation(verdict.conversation()), Value::text(verdict.tool()));
                let values = vec![case(), conversation, tool, Value::text(state), owner(), body(), mac()];
                changed(connection.run(say.verdict, values).await?)?;
                self.erase(connection).await
            }
            Entry::End(record) if record.code() == Code::ApprovalPending => {
                self.write_entry(connection, say, owner(), "end", record.conversation(), None).await
            }
            Entry::End(record) => {
                let mut written = connection.run(say.end, vec![case(), body(), mac(), owner()]).await?;
                if written == 0 {
                    let (conversation, tool) = (conversation(record.conversation()), Value::text(record.tool()));
                    let values = vec![case(), conversation, tool, owner(), body(), mac()];
                    written = connection.run(say.end_alone, values).await?;
                }
                if written == 0 {
                    // Somebody took the call for lost, and said so.
                    self.write_entry(connection, say, owner(), "end", record.conversation(), None).await?;
                }
                self.erase(connection).await
            }
            Entry::Repaired(repaired) => {
                if connection.run(say.repaired, vec![case(), body(), mac()]).await? == 0 {
                    // It has ended after all.
                    self.write_entry(connection, say, owner(), "repaired", repaired.conversation(), None).await?;
                }
                Ok(())
            }
            Entry::LateEnd(late) => {
                self.write_entry(connection, say, owner(), "late_end", late.conversation(), None).await
            }
            Entry::Declaration(_) => self.write_entry(connection, say, owner(), "declaration", None, None).await,
        }
    }

    async fn write_entry(
        &self,
        connection: &mut Connection,
        say: &Statements,
        owner: Value,
        kind: &str,
        of: Option<&str>,
        what: Option<String>,
    ) -> Result<(), Fault> {
        let (case, kind, body) =
            (Value::text(&self.entry.case().to_string()), Value::text(kind), Value::Text(Some(self.text.clone())));
        let mac = Value::Bytes(Some(self.mac.clone()));
        let values = vec![case, kind, conversation(of), Value::Text(what), owner, body, mac];
        changed(connection.run(say.entry, values).await?)
    }

    async fn erase(&self, connection: &mut Connection) -> Result<(), Fault> {
        if self.erases {
            connection.run(ERASE_SECRET, vec![Value::text(&self.entry.case().to_string())]).await?;
        }
        Ok(())
    }
}

fn conversation(conversation: Option<&str>) -> Value {
    conversation.map_or(Value::Text(None), Value::text)
}

fn changed(rows: u64) -> Result<(), Fault> {
    if rows == 0 { Err(Fault::NotOurs) } else { Ok(()) }
}
