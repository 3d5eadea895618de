use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::checklist::Checklist;
use crate::execute::until;
use crate::gate::{Addressee, Answer, Approver, Grants, Guard, Policy, Question, QuestionSet, Sheet};
use crate::ledger::Ledger;
use crate::tool::CatchPanic;

/// What asking needs: who judges, where questions are recorded, and, if there is somebody, who is
/// asked.
#[derive(Clone)]
pub struct Asking<'a> {
    pub(super) policy: &'a dyn Policy,
    pub(super) guards: &'a [Arc<dyn Guard>],
    pub(super) ledger: Arc<dyn Ledger>,
    approver: Option<&'a dyn Approver>,
    pub(super) user: Option<&'a dyn Approver>,
    people: Vec<(&'a str, &'a dyn Approver)>,
    pub(super) checklist: Option<&'a Checklist>,
    pub(super) grants: Grants,
    pub(super) token: Option<&'a CancellationToken>,
}

impl<'a> Asking<'a> {
    /// Nobody is asked yet, and nothing is granted. What is approved is judged again by `policy` and
    /// `guards`. The ledger is shared, since the end of a question is recorded also if nobody waits for
    /// it any more.
    pub fn new(policy: &'a dyn Policy, guards: &'a [Arc<dyn Guard>], ledger: Arc<dyn Ledger>) -> Self {
        Asking {
            policy,
            guards,
            ledger,
            approver: None,
            user: None,
            people: Vec::new(),
            checklist: None,
            grants: Grants::new(),
            token: None,
        }
    }

    /// Sets who is asked: what policies ask, and what falls to the user, unless there is a [`user`](Self::user).
    #[must_use]
    pub fn approver(mut self, approver: &'a dyn Approver) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Sets by whom the user is asked, where that is somebody else than the approver: blanks, confirmations and notices
    /// are the user's then, and nobody else's yes is one to them.
    #[must_use]
    pub fn user(mut self, user: &'a dyn Approver) -> Self {
        self.user = Some(user);
        self
    }

    /// Sets by whom somebody is asked whom lines of the checklist name: see [`Addressee::Person`].
    #[must_use]
    pub fn person(mut self, name: &'a str, approver: &'a dyn Approver) -> Self {
        self.people.retain(|(known, _)| *known != name);
        self.people.push((name, approver));
        self
    }

    /// Sets the checklist that the calls were checked by: what it asks for is looked up again once there are answers.
    #[must_use]
    pub fn checklist(mut self, checklist: &'a Checklist) -> Self {
        self.checklist = Some(checklist);
        self
    }

    /// Sets what was granted for the session, and where further grants go.
    #[must_use]
    pub fn grants(mut self, grants: &Grants) -> Self {
        self.grants = grants.clone();
        self
    }

    /// Sets what withdraws the questions. Once it is cancelled nobody waits for an answer, and none
    /// counts.
    #[must_use]
    pub fn token(mut self, token: &'a CancellationToken) -> Self {
        self.token = Some(token);
        self
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.token.is_some_and(CancellationToken::is_cancelled)
    }

    /// Who is asked in somebody's place. `None`: nobody is there.
    pub(super) fn whom(&self, to: &Addressee) -> Option<&'a dyn Approver> {
        match to {
            Addressee::User => self.user.or(self.approver),
            Addressee::Approver => self.approver,
            Addressee::Person(name) => {
                self.people.iter().find(|(known, _)| **known == **name).map(|(_, approver)| *approver)
            }
        }
    }

    /// The answers to a set, as far as there are any. Without a question or somebody to ask, and once it is withdrawn,
    /// there are none.
    pub(super) async fn answers(
        &self,
        to: Addressee,
        sheet: Sheet,
        questions: Vec<Question>,
        notices: Vec<String>,
    ) -> Vec<Answer> {
        let Some(approver) = self.whom(&to).filter(|_| !questions.is_empty() && !self.is_cancelled()) else {
            return Vec::new();
        };
        let token = self.token.map_or_else(CancellationToken::new, CancellationToken::child_token);
        // Whoever still shows a question can tell when nobody waits for it.
        let _over = token.clone().drop_guard();
        let set = QuestionSet::with(token, sheet, to, questions, notices);
        let answered = until(self.token, CatchPanic::of(|| approver.ask(set))).await;
        answered.unwrap_or_else(|| Ok(Vec::new())).unwrap_or_else(|panic| {
            tracing::error!(target: "tool_runtime", panic, "the approver panicked; nothing was approved");
            Vec::new()
        })
    }
}

impl fmt::Debug for Asking<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asking").field("grants", &self.grants).finish_non_exhaustive()
    }
}
