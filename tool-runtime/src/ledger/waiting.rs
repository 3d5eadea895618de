//! Calls that wait for an answer from elsewhere: parked, answered, claimed.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::LedgerError;
use super::asked::AnsweredRecord;
use super::binding::Binding;
use super::entry::Entry;
use super::fills::{Fill, Fills, GivenValue};
use super::stored::{Stored, StoredKind};
use super::verdict::Verdict;
use crate::call::{CaseId, Place};
use crate::checklist::{TurnAnswer, TurnValue};
use crate::gate::{Answer, AnswerError, FillError, QuestionId, Signer};
use crate::schema::Digest;

/// A call that is going to wait: its verdict, and what must not stand in a record but is needed to
/// go on.
#[derive(Clone)]
pub struct Parking {
    pub(super) verdict: Arc<Verdict>,
    pub(super) whole: Option<Arc<str>>,
}

impl Parking {
    pub(crate) fn new(verdict: Arc<Verdict>, whole: Option<Arc<str>>) -> Self {
        Parking { verdict, whole }
    }

    /// The entry that says that it waits.
    pub fn entry(&self) -> Entry {
        Entry::Verdict(Arc::clone(&self.verdict))
    }

    /// Has the call arguments that are secret? Then a ledger has to keep these too, sealed, until the
    /// call is over.
    pub fn has_secrets(&self) -> bool {
        self.whole.is_some()
    }
}

impl fmt::Debug for Parking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parking").field("case", &self.verdict.case()).finish_non_exhaustive()
    }
}

/// An answer to the question of a call that waits.
#[derive(Clone, PartialEq, Eq)]
pub struct Reply {
    pub(super) question: QuestionId,
    pub(super) answer: Answer,
    pub(super) signer: Signer,
    filled: Vec<GivenValue>,
}

/// The entry of a reply, and what has to be kept with it that no record may say.
pub(super) struct ReplyEntry {
    pub(super) entry: Entry,
    pub(super) hidden: Option<String>,
}

impl Reply {
    /// What is answered, by whom, and on which way it came. All of it goes into the record.
    pub fn new(question: QuestionId, answer: Answer, signer: Signer) -> Self {
        Reply { question, answer, signer, filled: Vec::new() }
    }

    /// Gives JSON text for a [blank](crate::Question::blanks) of the question. It counts if the answer is a yes; the
    /// call that is gone on with then has it, in its next revision.
    ///
    /// A ledger knows which blanks there are, and not what their tools take: that, a harness tells before
    /// ([`Harness::reply`](crate::Harness::reply)).
    #[must_use]
    pub fn fill(mut self, slot: impl Into<String>, json: impl Into<String>) -> Self {
        let slot = slot.into();
        self.filled.retain(|given| given.slot != slot);
        self.filled.push(GivenValue { slot, json: json.into(), keep: false, at: None });
        self
    }

    /// Says that the user agrees to what is given for this blank being kept for later calls, as
    /// [`QuestionSet::keep`](crate::QuestionSet::keep) does: it is, by whoever goes on with the call, if that host's list
    /// has [answers](crate::ChecklistBuilder::answers) and a [memory](crate::ChecklistBuilder::memory). The record of the
    /// answer has the consent. Comes after [`fill`](Self::fill); without it, and for a blank that isn't
    /// [keepable](crate::Blank::keepable), the reply isn't taken.
    #[must_use]
    pub fn keep(mut self, slot: impl AsRef<str>) -> Self {
        let slot = slot.as_ref();
        match self.filled.iter_mut().find(|given| given.slot == slot) {
            Some(given) => given.keep = true,
            // No JSON text: nothing that could be kept.
            None => {
                let (slot, json) = (slot.to_owned(), String::new());
                self.filled.push(GivenValue { slot, json, keep: true, at: None });
            }
        }
        self
    }

    /// Gives what turns of the user say about the blanks of its question, each with its place.
    #[must_use]
    pub fn of_turns(answer: &TurnAnswer, said: Answer, signer: Signer) -> Self {
        let given = |value: &TurnValue| GivenValue {
            slot: value.slot().to_owned(),
            json: value.value().to_owned(),
            keep: false,
            at: Some(value.at().clone()),
        };
        let filled = answer.values().iter().map(given).collect();
        Reply { question: answer.question().clone(), answer: said, signer, filled }
    }

    /// What is given.
    pub(crate) fn filled(&self) -> &[GivenValue] {
        &self.filled
    }

    /// The question.
    pub fn question(&self) -> &QuestionId {
        &self.question
    }

    /// The entry of the answer to a question that is in the ledger.
    pub(super) fn entry(&self, asked: &Stored, now: SystemTime) -> Result<ReplyEntry, ReplyError> {
        let fills = Fills::of(asked, &self.filled).map_err(ReplyError::Unfillable)?;
        let fills = if self.answer.is_yes() { fills } else { Fills::default() };
        let hidden = fills.hidden();
        let forged = || ReplyError::Forged("the question has no binding".to_owned());
        let waited = asked.at().and_then(|at| now.duration_since(at).ok()).unwrap_or(Duration::ZERO);
        let binding: Binding = asked.binding().ok_or_else(forged)?;
        let entry = Entry::Answered(Arc::new(AnsweredRecord::to_stored(
            asked,
            &self.question,
            Place { case: asked.case(), conversation: asked.conversation().map(Into::into) },
            *binding.digest(),
            asked.what().ok_or_else(forged)?,
            (self.answer, fills),
            self.signer.clone(),
            waited,
        )));
        Ok(ReplyEntry { entry, hidden })
    }

    /// It agrees.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(super) fn is_yes(&self) -> bool {
        self.answer.is_yes()
    }

    /// Only what settles a question is an answer to one that waits.
    pub(super) fn is_final(&self) -> bool {
        matches!(self.answer, Answer::Yes | Answer::No | Answer::YesForSession(_))
    }
}

impl fmt::Debug for Reply {
    /// Without what is given: it may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Reply { question, answer, signer, filled } = self;
        let slots: Vec<&str> = filled.iter().map(|given| given.slot.as_str()).collect();
        f.debug_struct("Reply")
            .field("question", question)
            .field("answer", answer)
            .field("signer", signer)
            .field("filled", &slots)
            .finish()
    }
}

/// The answer that settles a question, if somebody gave one.
pub(super) fn final_answer<'a>(answered: &'a [Stored], question: Option<&QuestionId>) -> Option<&'a Stored> {
    let is_final = |answered: &&Stored| {
        answered.kind() == StoredKind::Answered
            && answered.question().as_ref() == question
            && answered.answer().is_some_and(|answer| answer == Answer::No || answer.is_yes())
    };
    answered.iter().find(is_final)
}

/// For what a call's secrets are sealed: its arguments, and what was given for its blanks.
pub(super) fn sealed_names(case: CaseId) -> [String; 2] {
    [case.to_string(), format!("{case}.filled")]
}

/// An answer came to nothing.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReplyError {
    /// Nobody waits for it any more, somebody was first, or it is too late.
    Late(AnswerError),
    /// It is neither a yes nor a no.
    NoAnswer,
    /// It gives something that isn't asked for, or that can't be taken. The question stays open.
    Unfillable(FillError),
    /// What the ledger has of the question was not written under its key.
    Forged(String),
    /// The ledger could not read or write.
    Failed(LedgerError),
}

impl fmt::Display for ReplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplyError::Late(error) => error.fmt(f),
            ReplyError::Unfillable(error) => error.fmt(f),
            ReplyError::NoAnswer => f.write_str("only a yes or a no answers a question that waits"),
            ReplyError::Forged(what) => write!(f, "the ledger was changed by somebody else: {what}"),
            ReplyError::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReplyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReplyError::Failed(error) => std::error::Error::source(error),
            _ => None,
        }
    }
}

impl From<LedgerError> for ReplyError {
    fn from(error: LedgerError) -> Self {
        ReplyError::Failed(error)
    }
}

/// A call that waited, which now is the claimant's alone to go on with.
#[derive(Clone)]
pub struct Claimed {
    /// The question by whose answer it is gone on with.
    pub(super) asked: Stored,
    pub(super) verdict: Stored,
    pub(super) answered: Option<Stored>,
    /// The other questions that it waited for and that were answered, with the answers.
    pub(super) besides: Vec<(Stored, Stored)>,
    /// The canonical text, where the verdict's has its secrets redacted.
    pub(super) whole: Option<String>,
    /// What was given with the answer and is secret.
    pub(super) hidden: Option<String>,
    /// When it was claimed.
    pub(super) at: Option<SystemTime>,
}

impl Claimed {
    /// Of a call that waits: the questions that were asked about it, and their answers. `None`: it waits for none of them.
    pub(super) fn of(verdict: Stored, asked: &[Stored], answered: &[Stored]) -> Option<Self> {
        let waits_for = verdict.waits_for();
        let asked_as = |question: &QuestionId| asked.iter().find(|asked| asked.question().as_ref() == Some(question));
        let mut pairs: Vec<(&Stored, Option<&Stored>)> = waits_for
            .iter()
            .filter_map(asked_as)
            .map(|asked| (asked, final_answer(answered, asked.question().as_ref())))
            .collect();
        // A no decides; then, that somebody has said nothing.
        let is_no = |(_, answered): &(&Stored, Option<&Stored>)| {
            answered.is_some_and(|answered| answered.answer() == Some(Answer::No))
        };
        let place = pairs.iter().position(is_no).or_else(|| pairs.iter().position(|(_, answered)| answered.is_none()));
        if pairs.is_empty() {
            return None;
        }
        let (asked, answered) = pairs.remove(place.unwrap_or(0));
        let besides = pairs.into_iter().filter_map(|(asked, answered)| Some((asked.clone(), answered?.clone())));
        Some(Claimed {
            asked: asked.clone(),
            answered: answered.cloned(),
            besides: besides.collect(),
            verdict,
            whole: None,
            hidden: None,
            at: None,
        })
    }

    /// The question. Of several: one whose answer was no, or that nobody has answered, if there is one.
    pub fn asked(&self) -> &Stored {
        &self.asked
    }

    /// The verdict that says that the call waits.
    pub fn verdict(&self) -> &Stored {
        &self.verdict
    }

    /// The answer. `None`: nobody gave one in time.
    pub fn answered(&self) -> Option<&Stored> {
        self.answered.as_ref()
    }

    /// The other questions that the call waited for and that were answered, each with its answer.
    pub fn besides(&self) -> &[(Stored, Stored)] {
        &self.besides
    }

    /// The canonical text that was approved.
    pub(crate) fn canonical(&self) -> Option<&str> {
        self.whole.as_deref().or_else(|| self.verdict.arguments())
    }

    /// When it was claimed, by the ledger's clock. Whether an answer came in time, and is still good, goes by that.
    pub fn at(&self) -> Option<SystemTime> {
        self.at
    }

    /// What was given with a yes.
    pub(crate) fn fills(&self) -> Vec<Fill> {
        match &self.answered {
            Some(answered) => Fills::read(&self.asked, answered, self.hidden.as_deref()),
            None => Vec::new(),
        }
    }

    /// What doesn't fit together of it.
    pub(crate) fn contradiction(&self) -> Option<&'static str> {
        let Claimed { asked, verdict, answered, besides, .. } = self;
        let waits_for = verdict.waits_for();
        let binds = asked.binding().map(|binding| *binding.digest());
        let given = answered.iter().map(|answered| (asked, Some(answered)));
        let pairs = std::iter::once((asked, None)).chain(given);
        for (asked, answered) in pairs.chain(besides.iter().map(|(asked, answered)| (asked, Some(answered)))) {
            if asked.case() != verdict.case() || !asked.question().is_some_and(|asked| waits_for.contains(&asked)) {
                return Some("the verdict is not that of the question");
            }
            let Some(answered) = answered else { continue };
            if answered.case() != asked.case() || answered.question() != asked.question() {
                return Some("the answer is not one to the question");
            }
            // All were shown the same.
            let shown = asked.binding().map(|binding| *binding.digest());
            if shown.is_none() || shown != binds || answered.binds() != binds {
                return Some("the answer was given for something else");
            }
        }
        None
    }
}

impl fmt::Debug for Claimed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claimed").field("verdict", &self.verdict).finish_non_exhaustive()
    }
}

/// A call that waits can't be gone on with.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClaimError {
    /// No such call waits: there is none, it is over, or somebody else has claimed it.
    NotWaiting,
    /// Nobody has answered yet.
    NotAnswered,
    /// What the ledger has of it was not written under its key, or doesn't fit together.
    Forged(String),
    /// The ledger could not read or write, or can't do this at all.
    Failed(LedgerError),
}

impl fmt::Display for ClaimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClaimError::NotWaiting => f.write_str("no such call waits: it is over, or somebody else goes on with it"),
            ClaimError::NotAnswered => f.write_str("nobody has answered yet"),
            ClaimError::Forged(what) => write!(f, "the ledger was changed by somebody else: {what}"),
            ClaimError::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ClaimError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ClaimError::Failed(error) => std::error::Error::source(error),
            _ => None,
        }
    }
}

impl From<LedgerError> for ClaimError {
    fn from(error: LedgerError) -> Self {
        ClaimError::Failed(error)
    }
}

/// Has a person said no to this before?
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub(super) conversation: Option<Arc<str>>,
    pub(super) what: Vec<Digest>,
}

impl Refusal {
    pub(crate) fn new(conversation: Option<Arc<str>>, what: Vec<Digest>) -> Self {
        Refusal { conversation, what }
    }

    /// In which conversation.
    pub fn conversation(&self) -> Option<&str> {
        self.conversation.as_deref()
    }

    /// To what: the [digest](crate::Question::digest) of the question, under each key that is read. What was said last
    /// under any of them is what counts.
    pub fn what(&self) -> &[Digest] {
        &self.what
    }
}
