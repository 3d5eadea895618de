//! What is read back of a database; nothing of it counts before its code was checked.

use std::collections::HashMap;
use std::sync::PoisonError;

use super::connection::{Column, Connection, Value};
use super::{SqlLedger, about_case};
use crate::call::CaseId;
use crate::gate::{Answer, AnswerError, QuestionId};
use crate::ledger::history::is_pause;
use crate::ledger::record::from_micros;
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

const CALL: &str =
    "SELECT case_id, state, owner, began, ended_at, verdict, verdict_mac, ended, ended_mac FROM tool_calls";
const CALL_COLUMNS: [Column; 9] = [
    Column::Text,
    Column::Text,
    Column::Text,
    Column::Integer,
    Column::Integer,
    Column::Text,
    Column::Bytes,
    Column::Text,
    Column::Bytes,
];
const ENTRY: &str = "SELECT case_id, owner, at, body, mac FROM tool_entries";
const ENTRY_COLUMNS: [Column; 5] = [Column::Text, Column::Text, Column::Integer, Column::Text, Column::Bytes];

impl SqlLedger {
    /// A text, if it is what was written about this call.
    fn stored(&self, case: &str, text: Value, mac: Value, at: Value, owner: &str) -> Result<Stored, Forged> {
        let text = text.into_text().ok_or_else(|| Forged(format!("an entry of {case} is missing")))?;
        if !self.inner.shared.is_ours(&text, &mac.into_bytes().unwrap_or_default()) {
            return Err(Forged(format!("an entry of {case} has not the code that it should")));
        }
        let stored = Stored::read(text).map_err(|error| Forged(format!("{case}: {error}")))?;
        if stored.case().to_string() != case {
            return Err(Forged(format!("an entry of {} stands with {case}", stored.case())));
        }
        Ok(stored.written(at.into_integer().and_then(from_micros), Owner::read(owner)))
    }

    pub(super) async fn read_history(&self, query: &Query) -> Result<History, LedgerError> {
        let failed = LedgerError::new;
        let mut connection = self.inner.connections.acquire().await.map_err(failed)?;
        let say = self.inner.shared.statements;
        let now = connection.rows(say.now.to_owned(), Vec::new(), &[Column::Integer]).await.map_err(failed)?;
        let now = now.into_iter().flatten().next().and_then(Value::into_integer).and_then(from_micros);
        let hosts = "SELECT owner, expires FROM tool_hosts".to_owned();
        let hosts = connection.rows(hosts, Vec::new(), &[Column::Text, Column::Integer]).await.map_err(failed)?;
        let leases: Vec<_> = hosts.into_iter().filter_map(host).collect();
        if query.declarations {
            let sql = format!("{ENTRY} WHERE kind = 'declaration' ORDER BY seq");
            let rows = connection.rows(sql, Vec::new(), &ENTRY_COLUMNS).await.map_err(failed)?;
            let mut all = Vec::with_capacity(rows.len());
            for row in rows {
                if let Ok([case, owner, at, body, mac]) = <[Value; 5]>::try_from(row) {
                    let (case, owner) = (case.into_text().unwrap_or_default(), owner.into_text().unwrap_or_default());
                    all.push(self.stored(&case, body, mac, at, &owner)?);
                }
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
            if let Ok([case, owner, at, body, mac]) = <[Value; 5]>::try_from(row) {
                let case = case.into_text().unwrap_or_default();
                let stored = self.stored(&case, body, mac, at, &owner.into_text().unwrap_or_default())?;
                entries.entry(case).or_default().push(stored);
            }
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
        let Ok([case, state, owner, began, ended_at, verdict, verdict_mac, ended, ended_mac]) =
            <[Value; 9]>::try_from(row)
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
            all.push(self.stored(&case, verdict, verdict_mac, began, &owner)?);
        }
        if matches!(ended, Value::Text(Some(_))) {
            all.push(self.stored(&case, ended, ended_mac, ended_at, &owner)?);
        }
        all.extend(late);
        Ok(())
    }

    /// The entries beside a call's row.
    async fn entries(&self, connection: &mut Connection, case: &str) -> Result<Vec<Stored>, ClaimError> {
        let sql = format!("{ENTRY} WHERE case_id = $1 ORDER BY seq");
        let rows = connection.rows(sql, vec![Value::text(case)], &ENTRY_COLUMNS).await.map_err(LedgerError::new)?;
        let read = |row: Vec<Value>| match <[Value; 5]>::try_from(row) {
            Ok([_, owner, at, body, mac]) => self.stored(case, body, mac, at, &owner.into_text().unwrap_or_default()),
            Err(_) => Err(Forged(format!("an entry of {case} is missing"))),
        };
        rows.into_iter().map(read).collect::<Result<_, _>>().map_err(|Forged(what)| ClaimError::Forged(what))
    }

    /// The question that a reply answers.
    pub(super) async fn asked(&self, reply: &Reply) -> Result<Stored, ReplyError> {
        let mut connection = self.inner.connections.acquire().await.map_err(LedgerError::new)?;
        let sql = "SELECT case_id FROM tool_calls WHERE question = $1".to_owned();
        let rows = connection.rows(sql, vec![Value::text(reply.question().as_str())], &[Column::Text]).await;
        let case = rows.map_err(LedgerError::new)?.into_iter().flatten().next().and_then(Value::into_text);
        let case = case.ok_or(ReplyError::Late(AnswerError::NotPending))?;
        let entries = match self.entries(&mut connection, &case).await {
            Ok(entries) => entries,
            Err(ClaimError::Forged(what)) => return Err(ReplyError::Forged(what)),
            Err(ClaimError::Failed(error)) => return Err(error.into()),
            Err(_) => Vec::new(),
        };
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
        let entries = self.entries(&mut connection, &id).await?;
        let last = |kind: StoredKind| entries.iter().rev().find(|entry| entry.kind() == kind);
        let verdict = last(StoredKind::Verdict).ok_or(ClaimError::NotWaiting)?.clone();
        let asked = last(StoredKind::Asked).ok_or(ClaimError::NotWaiting)?.clone();
        let is_final = |entry: &&Stored| {
            entry.kind() == StoredKind::Answered
                && entry.question() == asked.question()
                && entry.answer().is_some_and(|answer| answer == Answer::No || answer.is_yes())
        };
        let answered = entries.iter().find(is_final).cloned();
        let claimed = Claimed { asked, verdict, answered, whole: None };
        if let Some(contradiction) = claimed.contradiction() {
            return Err(ClaimError::Forged(contradiction.to_owned()));
        }
        let sql = "SELECT sealed FROM tool_secrets WHERE case_id = $1".to_owned();
        let sealed = connection.rows(sql, vec![Value::text(&id)], &[Column::Bytes]).await.map_err(failed)?;
        let whole = match sealed.into_iter().flatten().next().and_then(Value::into_bytes) {
            Some(sealed) => {
                Some(shared.key.unseal(&id, &sealed).map_err(|error| ClaimError::Forged(error.to_string()))?)
            }
            None => None,
        };
        let text = Value::Text(Some(claimed.verdict.text().to_owned()));
        let values = vec![Value::text(&id), Value::text(&shared.owner), text];
        if connection.run(shared.statements.claim, values).await.map_err(failed)? == 0 {
            return Err(match about_case(&mut connection, case).await?.as_deref() {
                Some("waiting") => ClaimError::NotAnswered,
                Some("answered") => ClaimError::Forged(format!("the verdict of {case} is not the one that waits")),
                _ => ClaimError::NotWaiting,
            });
        }
        shared.claimed.lock().unwrap_or_else(PoisonError::into_inner).insert(case);
        Ok(Claimed { whole, ..claimed })
    }

    pub(super) async fn refused_before(&self, refusal: &Refusal) -> Result<Option<QuestionId>, LedgerError> {
        let mut connection = self.inner.connections.acquire().await.map_err(LedgerError::new)?;
        let sql = format!("{ENTRY} WHERE what = $1 AND conversation = $2 ORDER BY seq DESC LIMIT 1");
        let conversation = Value::text(refusal.conversation().unwrap_or_default());
        let values = vec![Value::text(&refusal.what().to_string()), conversation];
        let rows = connection.rows(sql, values, &ENTRY_COLUMNS).await.map_err(LedgerError::new)?;
        let Some(Ok([case, owner, at, body, mac])) = rows.into_iter().next().map(<[Value; 5]>::try_from) else {
            return Ok(None);
        };
        let case = case.into_text().unwrap_or_default();
        let stored = self.stored(&case, body, mac, at, &owner.into_text().unwrap_or_default())?;
        Ok(stored.question().filter(|_| stored.answer() == Some(Answer::No)))
    }
}

fn host(row: Vec<Value>) -> Option<(Owner, std::time::SystemTime)> {
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
    is("question", query.question.as_ref().map(|question| question.as_str().to_owned()));
    is("tool", query.tool.clone());
    if query.unfinished {
        terms.push("state <> 'ended'".to_owned());
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
