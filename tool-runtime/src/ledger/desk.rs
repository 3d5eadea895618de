//! The calls that wait, for ledgers with one writer.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use super::LedgerError;
use super::entry::Entry;
use super::limits::{Amount, Clearing, Tally, Uses};
use super::stored::{Stored, StoredKind};
use super::verdict::VerdictKind;
use super::waiting::{ClaimError, Claimed, Refusal, Reply, ReplyEntry, ReplyError, final_answer};
use crate::call::{CaseId, Code};
use crate::gate::{Answer, AnswerError, QuestionId};
use crate::schema::Digest;

/// What is known of them.
#[derive(Debug, Default)]
pub(super) struct Desk {
    /// Questions about calls that were not decided yet.
    asked: HashMap<CaseId, Vec<Stored>>,
    waiting: HashMap<CaseId, Waiting>,
    /// What people said no to, by conversation and by what would have run; `None` is a yes after it. Each with how many
    /// were said before, since one thing has a digest for each key.
    refused: HashMap<(Option<String>, Digest), (usize, Option<QuestionId>)>,
    said: usize,
    /// What was used of limits.
    uses: Uses,
    /// The latest time that was ever seen: a clock that is put back makes nothing valid again.
    latest: Option<SystemTime>,
}

#[derive(Debug)]
struct Waiting {
    asked: Vec<Stored>,
    verdict: Stored,
    answered: Vec<Stored>,
    whole: Option<Arc<str>>,
    hidden: Option<Arc<str>>,
    claimed: bool,
}

impl Waiting {
    /// What it comes to, as far as that is known.
    fn claimed(&self) -> Option<Claimed> {
        Claimed::of(self.verdict.clone(), &self.asked, &self.answered)
    }

    /// A no, or all have answered.
    fn is_answered(&self) -> bool {
        self.claimed().is_some_and(|claimed| claimed.answered().is_some())
    }

    fn asks(&self, question: &QuestionId) -> Option<&Stored> {
        self.asked.iter().find(|asked| asked.question().as_ref() == Some(question))
    }

    fn is_over(&self, now: SystemTime) -> bool {
        self.verdict.expires().is_some_and(|expires| expires <= now)
    }
}

impl Desk {
    /// Is this call asked about, or does it wait?
    fn knows(&self, case: CaseId) -> bool {
        self.asked.contains_key(&case) || self.waiting.contains_key(&case)
    }

    /// An entry was written. Most are about calls that never wait; of these no text is read.
    pub(super) fn note<E>(
        &mut self,
        entry: &Entry,
        whole: Option<Arc<str>>,
        stored: impl FnOnce() -> Result<Stored, E>,
    ) -> Result<(), E> {
        self.uses.note(entry);
        let is_about_waiting = match entry {
            Entry::Asked(_) | Entry::Answered(_) => true,
            Entry::Verdict(verdict) => verdict.kind() == VerdictKind::Blocked(Code::ApprovalPending),
            _ => false,
        };
        if is_about_waiting || self.knows(entry.case()) {
            self.see(&stored()?);
            if let Some(waiting) = self.waiting.get_mut(&entry.case()).filter(|_| whole.is_some()) {
                waiting.whole = whole;
            }
        }
        Ok(())
    }

    /// Does it wait?
    pub(super) fn is_waiting(&self, case: CaseId) -> bool {
        self.waiting.contains_key(&case)
    }

    /// The calls that wait.
    pub(super) fn waiting(&self) -> impl Iterator<Item = CaseId> {
        self.waiting.keys().copied()
    }

    /// The time, which never goes back.
    fn time(&mut self, now: SystemTime) -> SystemTime {
        let now = self.latest.map_or(now, |latest| latest.max(now));
        self.latest = Some(now);
        now
    }

    /// An entry was written.
    pub(super) fn see(&mut self, entry: &Stored) {
        let case = entry.case();
        // By the time of then, as it was counted then: that did not go back either.
        let at = entry.at().map(|at| self.time(at));
        self.uses.see(entry, at);
        match entry.kind() {
            StoredKind::Asked => {
                self.asked.entry(case).or_default().push(entry.clone());
            }
            StoredKind::Answered => {
                if let (Some(what), Some(question)) = (entry.what(), entry.question()) {
                    let key = (entry.conversation().map(str::to_owned), what);
                    self.said += 1;
                    match entry.answer() {
                        Some(Answer::No) => {
                            self.refused.insert(key, (self.said, Some(question)));
                        }
                        // Nothing is kept of what nobody has ever refused.
                        Some(answer) if answer.is_yes() && !self.refused.is_empty() => {
                            self.refused.insert(key, (self.said, None));
                        }
                        _ => {}
                    }
                }
                if let Some(waiting) = self.waiting.get_mut(&case) {
                    waiting.answered.push(entry.clone());
                }
            }
            StoredKind::Verdict if entry.code() == Some(Code::ApprovalPending) => {
                if let Some(mut asked) = self.asked.remove(&case) {
                    let (verdict, waits_for) = (entry.clone(), entry.waits_for());
                    asked.retain(|asked| asked.question().is_some_and(|asked| waits_for.contains(&asked)));
                    let answered = Vec::new();
                    let waiting = Waiting { asked, verdict, answered, whole: None, hidden: None, claimed: false };
                    self.waiting.insert(case, waiting);
                }
            }
            StoredKind::End if entry.code() == Some(Code::ApprovalPending) => {}
            StoredKind::Verdict | StoredKind::End | StoredKind::Repaired => {
                self.asked.remove(&case);
                self.waiting.remove(&case);
            }
            StoredKind::LateEnd | StoredKind::Form | StoredKind::Declaration => {}
        }
    }

    /// Which call waits for the answer to a question.
    pub(super) fn reply(&mut self, reply: &Reply, now: SystemTime) -> Result<ReplyEntry, ReplyError> {
        let now = self.time(now);
        if !reply.is_final() {
            return Err(ReplyError::NoAnswer);
        }
        let waits = |waiting: &Waiting| waiting.asks(&reply.question).is_some();
        let waiting = self.waiting.values().find(|waiting| waits(waiting));
        let waiting = waiting.ok_or(ReplyError::Late(AnswerError::NotPending))?;
        if waiting.is_answered() || final_answer(&waiting.answered, Some(&reply.question)).is_some() {
            return Err(ReplyError::Late(AnswerError::AlreadyAnswered));
        }
        if waiting.is_over(now) || waiting.claimed {
            return Err(ReplyError::Late(AnswerError::Expired));
        }
        let asked = waiting.asks(&reply.question).ok_or(ReplyError::Late(AnswerError::NotPending))?;
        reply.entry(asked, now)
    }

    /// What was given with the answer to a call that waits, and is secret.
    pub(super) fn hide(&mut self, case: CaseId, hidden: Option<String>) {
        if let Some((waiting, hidden)) = self.waiting.get_mut(&case).zip(hidden) {
            waiting.hidden = Some(Arc::from(hidden));
        }
    }

    /// Takes a call that was answered, or whose time is over. Nobody else gets it.
    pub(super) fn claim(&mut self, case: CaseId, now: SystemTime) -> Result<Claimed, ClaimError> {
        let now = self.time(now);
        let waiting = self.waiting.get_mut(&case).filter(|waiting| !waiting.claimed).ok_or(ClaimError::NotWaiting)?;
        let claimed = waiting.claimed().ok_or(ClaimError::NotWaiting)?;
        if claimed.answered().is_none() && !waiting.is_over(now) {
            return Err(ClaimError::NotAnswered);
        }
        waiting.claimed = true;
        let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
        let (whole, hidden) = (text(&waiting.whole), text(&waiting.hidden));
        Ok(Claimed { whole, hidden, at: Some(now), ..claimed })
    }

    /// How much of limits was used.
    pub(super) fn used(&mut self, tallies: &[Tally], now: SystemTime) -> Result<Vec<Amount>, LedgerError> {
        let now = self.time(now);
        tallies.iter().map(|tally| self.uses.used(tally, now)).collect()
    }

    /// Takes what a call needs of limits, if there is room.
    pub(super) fn clear(&mut self, clearing: &Clearing, now: SystemTime) -> Result<bool, LedgerError> {
        let now = self.time(now);
        self.uses.take(clearing.case(), clearing.uses(), now)
    }

    /// Its verdict could not be written.
    pub(super) fn release(&mut self, case: CaseId) {
        self.uses.release(case);
    }

    /// The question whose answer was no, about the same in the same conversation.
    pub(super) fn refused(&self, asks: &Refusal) -> Option<QuestionId> {
        let said = |what: &Digest| self.refused.get(&(asks.conversation.as_deref().map(str::to_owned), *what));
        asks.what.iter().filter_map(said).max_by_key(|(said, _)| *said)?.1.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::gate::Signer;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    /// A call that waits until second 50, seen at second `seen`.
    fn desk(seen: u64) -> (Desk, CaseId) {
        let case: CaseId = "0000000000000001-1".parse().unwrap_or_else(|error| panic!("{error}"));
        let binding = format!(r#"{{"digest":"{}","pairs":{{}}}}"#, "0".repeat(64));
        let entries = [
            format!(
                r#"{{"entry":"asked","question":"q","case":"{case}","call_id":"c","tool":"t","digest":"{}","binding":{binding}}}"#,
                "1".repeat(64)
            ),
            format!(
                r#"{{"entry":"verdict","case":"{case}","call_id":"c","tool":"t","verdict":"approval_pending","question":"q","expires_us":50000000}}"#
            ),
        ];
        let mut desk = Desk::default();
        for entry in entries {
            let stored = Stored::read(entry).unwrap_or_else(|error| panic!("{error}"));
            desk.see(&stored.written(Some(at(seen)), None, None));
        }
        (desk, case)
    }

    #[test]
    fn a_clock_that_is_put_back_makes_nothing_valid_again() {
        let yes = || Reply::new("q".into(), Answer::Yes, Signer::new("ann", "web"));
        let (mut desk, _) = desk(10);
        assert!(desk.reply(&yes(), at(49)).is_ok());
        for (seen, now) in [(10, 50), (60, 20)] {
            let (mut desk, case) = self::desk(seen);
            let late = desk.reply(&yes(), at(now)).err();
            assert!(matches!(late, Some(ReplyError::Late(AnswerError::Expired))), "{late:?}");
            // And nothing seen at one time is forgotten at the next.
            assert!(matches!(desk.reply(&yes(), at(1)), Err(ReplyError::Late(AnswerError::Expired))));
            let claimed = desk.claim(case, at(1)).unwrap_or_else(|error| panic!("{error}"));
            assert!(claimed.answered().is_none() && claimed.at() >= Some(at(50)));
        }
    }

    /// What a limit counted stays counted over a restart, also if the clock was put back in between.
    #[test]
    fn what_is_read_back_is_as_old_as_it_was() {
        let digest = Digest::of_bytes(b"limit");
        let verdict = format!(
            r#"{{"entry":"verdict","case":"0000000000000001-2","call_id":"c","tool":"t","verdict":"cleared","limits":[{{"limit":"{digest}","per_us":10000000,"takes":"1"}}]}}"#
        );
        let cleared = Stored::read(verdict).unwrap_or_else(|error| panic!("{error}"));
        // Seen at 100, by a clock that was wrong, and cleared at 50, by one that was right.
        let (mut desk, _) = desk(100);
        desk.see(&cleared.written(Some(at(50)), None, None));
        let tally = Tally::new(digest, Duration::from_secs(10));
        for (now, used) in [(51, "1"), (109, "1"), (110, "0")] {
            let counted = desk.used(&[tally], at(now)).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(counted.first().map(ToString::to_string).as_deref(), Some(used), "{now}");
        }
    }
}
