//! Answers to calls that wait: one a question, whoever answers.

use std::sync::Arc;

use super::about_case;
use super::connection::Value;
use super::statements::KEEP_FILLED;
use super::writer::{Fault, Op, Writer, changed};
use crate::gate::{AnswerError, QuestionId};
use crate::ledger::waiting::{ReplyEntry, final_answer, sealed_names};
use crate::ledger::{LedgerError, Reply, ReplyError, Stored, StoredKind};

/// The questions that a call waits for, or was waiting for last. Earlier ones are over.
pub(super) fn waits_for(entries: &[Stored]) -> Vec<QuestionId> {
    let verdict = entries.iter().rev().find(|entry| entry.kind() == StoredKind::Verdict);
    verdict.map(Stored::waits_for).unwrap_or_default()
}

impl Writer {
    pub(super) async fn reply(&mut self, reply: &Reply, asked: &Stored) -> Result<(), ReplyError> {
        let failed = |error: sqlx::Error| ReplyError::from(LedgerError::new(error));
        let shared = Arc::clone(&self.shared);
        let begin = self.connections.dialect().begin();
        let ReplyEntry { entry, hidden } = reply.entry(asked, std::time::SystemTime::now())?;
        let (text, is_yes) = (entry.to_text()?, reply.is_yes());
        let op = self.op(&entry, &text, None);
        let [_, name] = sealed_names(asked.case());
        let sealed = hidden.map(|hidden| shared.key.seal(&name, &hidden)).transpose().map_err(LedgerError::new)?;
        let connection = self.connected().await.map_err(failed)?;
        let case = || Value::text(&asked.case().to_string());
        let answered = async {
            connection.run(begin, Vec::new()).await?;
            changed(connection.run(shared.statements.replying, vec![case()]).await?, 1)?;
            // With it, everybody has answered; or it is a no.
            let before = shared.entries(connection, &asked.case().to_string()).await?;
            let mut others = waits_for(&before);
            if !others.contains(reply.question()) || final_answer(&before, Some(reply.question())).is_some() {
                return Err(Fault::NotOurs);
            }
            others.retain(|other| other != reply.question() && final_answer(&before, Some(other)).is_none());
            if others.is_empty() || !is_yes {
                changed(connection.run(shared.statements.reply, vec![case()]).await?, 1)?;
            }
            if let Some(sealed) = sealed {
                changed(connection.run(KEEP_FILLED, vec![case(), Value::Bytes(Some(sealed))]).await?, 1)?;
            }
            Op::write(&[op], connection, &shared).await?;
            connection.run("COMMIT", Vec::new()).await?;
            Ok(())
        };
        let answered = answered.await;
        self.after(&answered, false).await;
        match answered {
            Ok(()) => Ok(()),
            Err(Fault::Forged(what)) => Err(ReplyError::Forged(what)),
            Err(Fault::NotOurs) => Err(ReplyError::Late(self.why_late(asked).await?)),
            Err(fault) => Err(LedgerError::from(fault).into()),
        }
    }

    async fn why_late(&mut self, asked: &Stored) -> Result<AnswerError, ReplyError> {
        let shared = Arc::clone(&self.shared);
        let connection = self.connected().await.map_err(LedgerError::new)?;
        let state = about_case(connection, asked.case()).await?;
        let entries = shared.entries(connection, &asked.case().to_string()).await?;
        let is_answered = final_answer(&entries, asked.question().as_ref()).is_some();
        Ok(match state.as_deref() {
            _ if !waits_for(&entries).into_iter().any(|open| asked.question() == Some(open)) => AnswerError::NotPending,
            Some("waiting") if is_answered => AnswerError::AlreadyAnswered,
            Some("waiting") => AnswerError::Expired,
            Some("answered" | "claimed" | "running") => AnswerError::AlreadyAnswered,
            _ => AnswerError::NotPending,
        })
    }
}
