//! The user answers questions in ordinary turns.

use tokio_util::sync::CancellationToken;

use super::Harness;
use crate::call::CaseId;
use crate::checklist::{AskedInWords, Conversation, TurnAnswer};
use crate::gate::{Addressee, Answer, Signer};
use crate::ledger::{CaseHistory, CaseState, ClaimError, Query, Reply, ReplyError};
use crate::path::Settled;
use crate::path::resume::takes_for;

/// A call that waited for values, and what became of it by turns of the user.
#[derive(Debug)]
#[non_exhaustive]
pub enum TurnOutcome {
    /// All values were there, and it has gone on with them, in its next revision. No model was called.
    WentOn(Box<Settled>),
    /// It waits on: a value has to be asked for again, or a person has to say yes. What was read can be given with that
    /// ([`Reply::of_turns`]).
    StillWaits(CaseId, TurnAnswer),
    /// Somebody else has answered meanwhile, or goes on with it.
    TakenUp(CaseId),
    /// Its answer could not be written, or what the ledger has of it is forged. It may have been answered all the same.
    Hindered(CaseId, ReplyError),
}

impl Harness {
    /// Reads what the user wrote from a turn on (from 1) into the open blanks of this conversation's calls that wait, and
    /// goes on with each that has all it needs. For hosts whose model puts questions into words
    /// ([`QuestionSet::in_words`](crate::QuestionSet::in_words)): the answers come in as ordinary turns, and what is read
    /// in them goes into the calls before any model sees them.
    ///
    /// What counts is said at [`Conversation::answer`]: nothing is guessed, and no turn is a yes. `from` is the first turn
    /// after the questions were put. Who is taken to have answered is the `signer`; where values stand is in the record of
    /// the answer ([`Stored::filled_at`](crate::Stored::filled_at)). Looks at the calls of
    /// [`conversation`](Harness::conversation), and of those at what was asked of the user. Values are taken by the tools as
    /// they were when they were asked for.
    ///
    /// # Errors
    /// If the ledger can't be read. What goes wrong with one call is that call's outcome
    /// ([`Hindered`](TurnOutcome::Hindered)): others may have run.
    pub async fn answer_in_turns(
        &self,
        conversation: &Conversation,
        from: usize,
        signer: &Signer,
        token: Option<CancellationToken>,
    ) -> Result<Vec<TurnOutcome>, ReplyError> {
        let parts = &self.0;
        let query = Query::unfinished();
        let query = parts.conversation.iter().fold(query, |query, id| query.conversation(id.to_string()));
        let history = parts.ledger.history(query).await?;
        let user = if parts.user.is_some() { Addressee::User } else { Addressee::Approver };
        let mut cases = Vec::new();
        let mut asked = Vec::new();
        let waits = |case: &&CaseHistory| {
            case.state() == CaseState::Waiting && case.conversation() == parts.conversation.as_deref()
        };
        for case in history.cases().iter().filter(waits) {
            let (Some(question), Some(verdict)) = (case.asked(), case.verdict()) else { continue };
            let tool = parts.registry.get(verdict.tool()).filter(|tool| verdict.definition() == Some(*tool.digest()));
            let (Some(id), Some(tool), blanks) = (question.question(), tool, question.blanks()) else { continue };
            if blanks.is_empty() || question.addressee() != user {
                continue;
            }
            cases.push(case.id());
            asked.push(AskedInWords {
                question: id,
                tool: verdict.tool(),
                blanks,
                asks_for_a_yes: !question.reasons().is_empty(),
                takes: takes_for(tool, verdict),
            });
        }
        let now = parts.checklist.today();
        let read = conversation.read_answers(&asked, from, now);
        let mut outcomes = Vec::with_capacity(read.len());
        for (case, answer) in cases.into_iter().zip(read) {
            outcomes.push(if answer.is_whole() {
                let taken_up = self.takes_up(case, &answer, signer, token.clone()).await;
                taken_up.unwrap_or_else(|error| TurnOutcome::Hindered(case, error))
            } else {
                TurnOutcome::StillWaits(case, answer)
            });
        }
        Ok(outcomes)
    }

    async fn takes_up(
        &self,
        case: CaseId,
        answer: &TurnAnswer,
        signer: &Signer,
        token: Option<CancellationToken>,
    ) -> Result<TurnOutcome, ReplyError> {
        match self.reply(Reply::of_turns(answer, Answer::Yes, signer.clone())).await {
            Ok(()) => {}
            Err(ReplyError::Late(_)) => return Ok(TurnOutcome::TakenUp(case)),
            Err(error) => return Err(error),
        }
        match self.resume(case, token).await {
            Ok(settled) => Ok(TurnOutcome::WentOn(Box::new(settled))),
            Err(ClaimError::NotWaiting | ClaimError::NotAnswered) => Ok(TurnOutcome::TakenUp(case)),
            Err(ClaimError::Forged(what)) => Err(ReplyError::Forged(what)),
            Err(ClaimError::Failed(error)) => Err(error.into()),
        }
    }
}
