//! What is read back of a database; nothing of it counts before its code was checked.

use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::SystemTime;

use super::connection::{Column, Connection, Value};
use super::replying::waits_for;
use super::{Shared, SqlLedger, about_case};
use crate::call::CaseId;
use crate::gate::{Answer, AnswerError, QuestionId};
use crate::ledger::history::is_pause;
use crate::ledger::micros::from_micros;
use crate::ledger::waiting::sealed_names;
use crate::ledger::{
    ClaimError, Claimed, History, LedgerError, Owner, Query, Refusal, Reply, ReplyError, Stored, StoredKind,
};

/// Something in the database isn't what this crate wrote there.
struct Forged(String);

impl From<Forged> for LedgerError {
    fn from(Forged(what): Forged) -> Self {
        LedgerError::new(format!("the ledger was changed by somebody else: {what}"))
    }
}

/// A text, its code, and the name of its key.
type Text = [Value; 3];

const CALL: &str = "SELECT case_id, state, owner, began, ended_at, verdict, verdict_mac, verdict_key, ended, ended_mac, ended_key FROM tool_calls";
const CALL_COLUMNS: [Column; 11] = [
    Column::Text,
    Column::Text,
    Column::Text,
    Column::Integer,
    Column::Integer,
    Column::Text,
    Column::Bytes,
    Column::Text,
    Column::Text,
    Column::Bytes,
    Column::Text,
];
const ENTRY: &str = "SELECT case_id, owner, at, body, mac, key_id FROM tool_entries";
const ENTRY_COLUMNS: [Column; 6] =
    [Column::Text, Column::Text, Column::Integer, Column::Text, Column::Bytes, Column::Text];

/// The call that a question is about. What was asked before several could be asked at a time has its question in the row.
const OF_QUESTION: &str = "SELECT case_id FROM tool_entries WHERE what = {} AND kind = 'asked' UNION SELECT case_id FROM tool_calls WHERE question = {}";

impl Shared {
    /// A text, if it is what was written about this call.
    fn stored(&self, case: &str, cells: Text, at: Value, owner: &str) -> Result<Stored, Forged> {
        let [text, mac, key] = cells;
        let text = text.into_text().ok_or_else(|| Forged(format!("an entry of {case} is missing")))?;
        let key = key.into_text().unwrap_or_else(|| self.first.clone());
        if self.key_of(&key, &text, &mac.into_bytes().unwrap_or_default()).is_none() {
            let why = match self.key.named(&key) {
                Some(_) => "has not the code that it should".to_owned(),
                None => format!("names the key `{}`, which isn't there", crate::schema::text::shown(&key, 64)),
            };
            return Err(Forged(format!("an entry of {case} {why}")));
        }
        let stored = Stored::read(text).map_err(|error| Forged(format!("{case}: {error}")))?;
        if stored.case().to_string() != case {
            return Err(Forged(format!("an entry of {} stands with {case}", stored.case())));
        }
        Ok(stored.written(at.into_integer().and_then(from_micros), Owner::read(owner), Some(&key)))
    }

    /// A row of entries, with its case.
    fn entry(&self, row: Vec<Value>) -> Result<(String, Stored), Forged> {
        let Ok([case, owner, at, body, mac, key]) = <[Value; 6]>::try_from(row) else {
            return Err(Forged("an entry is missing".to_owned()));
        };
        let case = case.into_text().unwrap_or_default();
        let stored = self.stored(&case, [body, mac, key], at, &owner.into_text().unwrap_or_default())?;
        Ok((case, stored))
    }

    /// The entries beside a call's row.
    pub(super) async fn entries(&self, connection: &mut Connection, case: &str) -> Result<Vec<Stored>, Unread> {
        let sql = format!("{ENTRY} WHERE case_id = $1 ORDER BY seq");
        let rows = connection.rows(sql, vec![Value::text(case)], &ENTRY_COLUMNS).await.map_err(Unread::Failed)?;
        let read = |row| self.entry(row).map(|(_, stored)| stored);
        rows.into_iter().map(read).collect::<Result<_, _>>().map_err(|Forged(what)| Unread::Forged(what))
    }
}

/// Entries that can't be had.
pub(super) enum Unread {
    Failed(sqlx::Error),
    Forged(String),
}

impl From<Unread> for ClaimError {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Failed(error) => LedgerError::new(error).into(),
            Unread::Forged(what) => ClaimError::Forged(what),
        }
    }
}

impl From<Unread> for ReplyError {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Failed(error) => LedgerError::new(error).into(),
            Unread::Forged(what) => ReplyError::Forged(what),
        }
    }
}

impl SqlLedger {
    /// The time, by the database's clock.
    async fn now(&self, connection: &mut Connection) -> Result<Option<SystemTime>, sqlx::Error> {
        let sql = self.inner.shared.statements.now.to_owned();
        let rows = connection.rows(sql, Vec::new(), &[Column::Integer]).await?;
        Ok(rows.into_iter().flatten().next().and_then(Value::into_integer).and_then(from_micros))
    }

    pub(super) async fn read_history(&self, query: &Query) -> Result<History, LedgerError> {
        let failed = LedgerError::new;
        let mut connection = self.inner.connections.acquire().await.map_err(failed)?;
        let now = self.now(&mut connection).await.map_err(failed)?;
        let hosts = "SELECT owner, expires FROM tool_hosts".to_owned();
        let hosts = connection.rows(hosts, Vec::new(), &[Column::Text, Column::Integer]).await.map_err(failed)?;
        let leases: Vec<_> = hosts.into_iter().filter_map(host).collect();
        if query.declarations {
            let sql = format!("{ENTRY} WHERE kind = 'declaration' ORDER BY seq");
            let rows = connection.rows(sql, Vec::new(), &ENTRY_COLUMNS).await.map_err(failed)?;
            let mut all = Vec::with_capacity(rows.len());
            for row in rows {
                all.push(self.inner.shared.entry(row)?.1);
            }
            return Ok(query.of(History::of(all)));
        }
        let (filter, values) = filter(query);
        let calls = format!("{CALL} {filter}");
        let calls = connection.rows(calls, values.clone(), &CALL_COLUMNS).await.map_err(failed)?;
        let cases = format!("{ENTRY} WHERE case_id IN (SELECT case_id FROM tool_calls {filter}) ORDER BY seq");
        let rows = connection.rows(cases, values, &ENTRY_COLUMNS).await.map_err(failed)?;
        let mut entries = HashMap::<String, Vec<Stored>>::new();
        for row in rows {
            let (case, stored) = self.inner.shared.entry(row)?;
            entries.entry(case).or_default().push(stored);
        }
        let mut all = Vec::new();
        for row in calls.into_iter().rev() {
            self.put(&mut all, &mut entries, row)?;
        }
        let history = query.of(History::of(all));
        Ok(match now {
            Some(now) => history.shared(now, leases),
            None => history,
        })
    }

    /// The entries of one call, in the order in which they were written.
    fn put(
        &self,
        all: &mut Vec<Stored>,
        entries: &mut HashMap<String, Vec<Stored>>,
        row: Vec<Value>,
    ) -> Result<(), Forged> {
        let Ok([case, state, owner, began, ended_at, verdict, verdict_mac, verdict_key, ended, ended_mac, ended_key]) =
            <[Value; 11]>::try_from(row)
        else {
            return Ok(());
        };
        let (case, owner) = (case.into_text().unwrap_or_default(), owner.into_text().unwrap_or_default());
        let is_late = |entry: &Stored| {
            matches!(entry.kind(), StoredKind::End | StoredKind::LateEnd | StoredKind::Repaired) && !is_pause(entry)
        };
        let (late, before): (Vec<_>, Vec<_>) = entries.remove(&case).unwrap_or_default().into_iter().partition(is_late);
        all.extend(before);
        let waits = matches!(state.into_text().as_deref(), Some("waiting" | "answered" | "claimed"));
        if !waits && matches!(verdict, Value::Text(Some(_))) {
            all.push(self.inner.shared.stored(&case, [verdict, verdict_mac, verdict_key], began, &owner)?);
        }
        if matches!(ended, Value::Text(Some(_))) {
            all.push(self.inner.shared.stored(&case, [ended, ended_mac, ended_key], ended_at, &owner)?);
        }
        all.extend(late);
        Ok(())
    }

    /// The question that a reply answers.
    pub(super) async fn asked(&self, reply: &Reply) -> Result<Stored, ReplyError> {
        let mut connection = self.inner.connections.acquire().await.map_err(LedgerError::new)?;
        let sql = OF_QUESTION.replace("{}", "$1");
        let rows = connection.rows(sql, vec![Value::text(reply.question().as_str())], &[Column::Text]).await;
        let case = rows.map_err(LedgerError::new)?.into_iter().flatten().next().and_then(Value::into_text);
        let case = case.ok_or(ReplyError::Late(AnswerError::NotPending))?;
        let entries = self.inner.shared.entries(&mut connection, &case).await?;
        if !waits_for(&entries).contains(reply.question()) {
            return Err(ReplyError::Late(AnswerError::NotPending));
        }
        let asks =
            |entry: &Stored| entry.kind() == StoredKind::Asked && entry.question().as_ref() == Some(reply.question());
        entries.into_iter().find(asks).ok_or_else(|| ReplyError::Forged(format!("the question of {case} is missing")))
    }

    pub(super) async fn claimed(&self, case: CaseId) -> Result<Claimed, ClaimError> {
        let failed = |error: sqlx::Error| ClaimError::from(LedgerError::new(error));
        let shared = &self.inner.shared;
        let mut connection = self.inner.connections.acquire().await.map_err(failed)?;
        let id = case.to_string();
        // Whatever is forged is found before it is taken: it stays where it is, and nobody gets it.
        let entries = shared.entries(&mut connection, &id).await?;
        let verdict = entries.iter().rev().find(|entry| entry.kind() == StoredKind::Verdict).cloned();
        let of = |kind: StoredKind| entries.iter().filter(|entry| entry.kind() == kind).cloned().collect::<Vec<_>>();
        let claimed =
            Claimed::of(verdict.ok_or(ClaimError::NotWaiting)?, &of(StoredKind::Asked), &of(StoredKind::Answered));
        let claimed = claimed.ok_or(ClaimError::NotWaiting)?;
        if let Some(contradiction) = claimed.contradiction() {
            return Err(ClaimError::Forged(contradiction.to_owned()));
        }
        let sql = "SELECT sealed, filled FROM tool_secrets WHERE case_id = $1".to_owned();
        let columns = [Column::Bytes, Column::Bytes];
        let sealed = connection.rows(sql, vec![Value::text(&id)], &columns).await.map_err(failed)?;
        let mut sealed = sealed.into_iter().flatten().map(Value::into_bytes);
        let mut unsealed = |name: String| {
            let text = sealed.next().flatten().map(|sealed| shared.key.unseal(&name, &sealed)).transpose();
            text.map_err(|error| ClaimError::Forged(error.to_string()))
        };
        let [whole, hidden] = sealed_names(case);
        let (whole, hidden) = (unsealed(whole)?, unsealed(hidden)?);
        let text = Value::Text(Some(claimed.verdict.text().to_owned()));
        let values = vec![Value::text(&id), Value::text(&shared.owner), text];
        if connection.run(shared.statements.claim, values).await.map_err(failed)? == 0 {
            return Err(match about_case(&mut connection, case).await?.as_deref() {
                Some("waiting") => ClaimError::NotAnswered,
                Some("answered") => ClaimError::Forged(format!("the verdict of {case} is not the one that waits")),
                _ => ClaimError::NotWaiting,
            });
        }
        let at = self.now(&mut connection).await.map_err(failed)?;
        shared.claimed.lock().unwrap_or_else(PoisonError::into_inner).insert(case);
        Ok(Claimed { whole, hidden, at, ..claimed })
    }

    pub(super) async fn refused_before(&self, refusal: &Refusal) -> Result<Option<QuestionId>, LedgerError> {
        let mut connection = self.inner.connections.acquire().await.map_err(LedgerError::new)?;
        let mut values = vec![Value::text(refusal.conversation().unwrap_or_default())];
        values.extend(refusal.what().iter().map(|what| Value::text(&what.to_string())));
        let places: Vec<String> = (2..=values.len()).map(|place| format!("${place}")).collect();
        let of = places.join(", ");
        let sql = format!("{ENTRY} WHERE what IN ({of}) AND conversation = $1 ORDER BY seq DESC LIMIT 1");
        let rows = connection.rows(sql, values, &ENTRY_COLUMNS).await.map_err(LedgerError::new)?;
        let Some(row) = rows.into_iter().next() else { return Ok(None) };
        let (_, stored) = self.inner.shared.entry(row)?;
        Ok(stored.question().filter(|_| stored.answer() == Some(Answer::No)))
    }
}

fn host(row: Vec<Value>) -> Option<(Owner, SystemTime)> {
    let [owner, expires] = <[Value; 2]>::try_from(row).ok()?;
    Some((Owner::read(&owner.into_text()?)?, from_micros(expires.into_integer()?)?))
}

/// Which rows are asked for, the newest first.
fn filter(query: &Query) -> (String, Vec<Value>) {
    let mut terms = Vec::new();
    let mut values = Vec::new();
    let mut is = |column: &str, value: Option<String>| {
        if let Some(value) = value {
            values.push(Value::text(&value));
            terms.push(format!("{column} = ${}", values.len()));
        }
    };
    is("conversation", query.conversation.clone());
    is("case_id", query.case.map(|case| case.to_string()));
    is("tool", query.tool.clone());
    if let Some(question) = &query.question {
        values.push(Value::text(question.as_str()));
        terms.push(format!("case_id IN ({})", OF_QUESTION.replace("{}", &format!("${}", values.len()))));
    }
    if query.unfinished {
        terms.push("state <> 'ended'".to_owned());
    }
    if query.stopped {
        terms.push("stopped IS NOT NULL".to_owned());
    }
    let mut filter = String::new();
    if !terms.is_empty() {
        filter.push_str("WHERE ");
        filter.push_str(&terms.join(" AND "));
    }
    filter.push_str(" ORDER BY seq DESC");
    if let Some(newest) = query.newest {
        filter.push_str(&format!(" LIMIT {newest}"));
    }
    (filter, values)
}
