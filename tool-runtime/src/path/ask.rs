//! One question for all calls of a turn.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::decide::Decided;
use super::record::is_cleared;
use super::state::{Approval, State};
use crate::execute::until;
use crate::gate::{Answer, Approver, Guard, Policy, Question, QuestionSet, judge};
use crate::tool::{Access, CatchPanic};

/// A call that waits for an answer which won't come in this turn. Recorded like any other, and
/// ended for now.
#[derive(Debug)]
#[must_use = "a call that isn't settled leaves the model without a result"]
pub struct Pending(pub(super) Box<State>);

/// What asking comes to for one call.
#[derive(Debug)]
pub enum Asked {
    /// Answered, or nothing was to be asked.
    Decided(Decided),
    /// The answer comes later.
    Pending(Pending),
}

impl Asked {
    /// What a call touches that won't run.
    pub(crate) fn touches_nothing() -> Access {
        Access::Shared(Vec::new())
    }

    /// What running it would touch.
    pub(crate) fn access(&self) -> Access {
        match self {
            Asked::Decided(Decided(state)) if is_cleared(state) => state.access(),
            _ => Asked::touches_nothing(),
        }
    }

    /// A person has to say so first.
    pub fn has_to_ask(&self) -> bool {
        match self {
            Asked::Decided(decided) => decided.has_to_ask(),
            Asked::Pending(_) => false,
        }
    }
}

/// Asks about all calls of a turn that wait for a go-ahead, in one set; the others pass. Whatever
/// was approved is judged again: the world may have changed while a person thought.
///
/// No approver, one that panics, and a missing answer are all no yes. Once `token` is cancelled,
/// nobody waits for an answer, and none counts.
pub async fn ask(
    calls: Vec<Decided>,
    approver: Option<&dyn Approver>,
    policy: &dyn Policy,
    guards: &[Arc<dyn Guard>],
    token: Option<&CancellationToken>,
) -> Vec<Asked> {
    // A call with a slot that nobody has filled can't run, whatever is said about it.
    let asks = |call: &Decided| call.has_to_ask() && !call.0.cancelled && call.0.unknowns.is_empty();
    let questions: Vec<Question> = calls.iter().filter(|call| asks(call)).map(|call| question(&call.0)).collect();
    let mut answers = match approver {
        _ if questions.is_empty() => Vec::new(),
        None => vec![Answer::Unavailable; questions.len()],
        Some(approver) => {
            let asked = crate::tool::caught(|| approver.ask(QuestionSet { questions }));
            let answered = match asked {
                Ok(answering) => until(token, CatchPanic::new(answering)).await.unwrap_or_else(|| Ok(Vec::new())),
                Err(panic) => Err(panic),
            };
            answered.unwrap_or_else(|panic| {
                tracing::error!(target: "tool_runtime", panic, "the approver panicked; nothing was approved");
                Vec::new()
            })
        }
    }
    .into_iter();
    calls
        .into_iter()
        .map(|call| {
            if !asks(&call) {
                return Asked::Decided(call);
            }
            // Whatever was answered before or after: nothing is to begin any more.
            if token.is_some_and(CancellationToken::is_cancelled) {
                return Asked::Decided(call.cancelled());
            }
            let Decided(mut state) = call;
            state.approval = match answers.next().unwrap_or(Answer::Unavailable) {
                Answer::Yes => Approval::Given,
                Answer::No => Approval::Refused,
                Answer::Later => Approval::Pending,
                Answer::Unavailable => Approval::Unavailable,
                Answer::Expired => Approval::Expired,
            };
            if state.approval == Approval::Given {
                state.ruling = judge(policy, guards, &state.facts());
            }
            match state.approval {
                Approval::Pending => Asked::Pending(Pending(state)),
                _ => Asked::Decided(Decided(state)),
            }
        })
        .collect()
}

fn question(state: &State) -> Question {
    let said: Vec<String> = state.ruling.asked.iter().map(ToString::to_string).collect();
    let reasons = if said.is_empty() { vec!["no rule says that it may run".to_owned()] } else { said };
    let card = state
        .args
        .as_ref()
        .zip(state.tool().present_call())
        .and_then(|(args, present)| crate::tool::caught(|| present(args)).ok());
    Question {
        call_id: state.call.id.clone(),
        tool: state.tool().name().to_owned(),
        arguments: state.redacted(),
        card,
        reasons,
    }
}
