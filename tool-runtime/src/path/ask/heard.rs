//! Who has to be heard about a call, and what each has said.

use std::collections::BTreeMap;

use crate::gate::{Addressee, GrantScope, QuestionId};
use crate::ledger::Claimed;
use crate::path::state::{Approval, State};

/// What somebody has said when asked about a call.
#[derive(Debug, Clone)]
pub(in crate::path) struct Said {
    pub(super) by: Addressee,
    pub(super) question: QuestionId,
    pub(super) approval: Approval,
    /// Which revision was asked about.
    pub(super) asked_at: u32,
    /// Which revision it is good for: that one, or what it became by what they gave with their yes.
    pub(super) good_for: u32,
    pub(super) shown: Vec<String>,
}

impl Said {
    pub(super) fn is_yes(&self) -> bool {
        matches!(self.approval, Approval::Given(_))
    }

    /// It ends the call, whatever anybody else says.
    fn is_no(&self) -> bool {
        !self.is_yes() && self.approval != Approval::Pending
    }
}

impl State {
    /// The person to whom it falls: unless the host says who the user is, whoever approves is taken for the user, too.
    pub(in crate::path) fn falls_to(&self, by: &Addressee) -> Addressee {
        match by {
            Addressee::User if !self.user_apart => Addressee::Approver,
            by => by.clone(),
        }
    }

    /// Everybody who has to agree, with the reasons that they are asked for.
    fn needs(&self) -> BTreeMap<Addressee, Vec<String>> {
        let mut needs = BTreeMap::<_, Vec<String>>::new();
        if self.ruling.has_to_ask() && self.grant.is_none() {
            let mut reasons: Vec<String> = self.ruling.asked.iter().map(ToString::to_string).collect();
            if reasons.is_empty() {
                reasons.push("no rule says that it may run".to_owned());
            }
            needs.insert(Addressee::Approver, reasons);
        }
        for agree in self.agree() {
            needs.entry(self.falls_to(&agree.by)).or_default().push(agree.words.clone());
        }
        needs.values_mut().for_each(|reasons| self.without_secrets(reasons));
        needs
    }

    /// Why anybody has to be asked: every reason there is.
    pub(in crate::path) fn reasons(&self) -> Vec<String> {
        self.needs().into_values().flatten().collect()
    }

    /// Who is to be asked about it now, each with the reasons. While there are blanks, that is whoever fills them in: a yes
    /// of anybody else would be for values that aren't there yet.
    pub(super) fn asked_of(&self) -> BTreeMap<Addressee, Vec<String>> {
        if self.said.iter().any(Said::is_no) {
            return BTreeMap::new();
        }
        let mut needs = self.needs();
        if !self.unknowns().is_empty() {
            let fills = self.falls_to(&Addressee::User);
            let reasons = needs.remove(&fills).unwrap_or_default();
            needs = BTreeMap::from([(fills, reasons)]);
        }
        needs.retain(|by, reasons| match self.said.iter().find(|said| said.by == *by) {
            None => true,
            Some(said) if said.approval == Approval::Pending => false,
            // Somebody else has changed what the yes was for; or what they gave brought up a reason that they haven't seen.
            Some(said) => {
                let has_more = || reasons.iter().any(|reason| !said.shown.contains(reason));
                said.good_for < self.revision || (said.asked_at < self.revision && has_more())
            }
        });
        needs
    }

    /// Everybody who has to agree has, to this very revision.
    pub(in crate::path) fn is_heard(&self) -> bool {
        self.needs()
            .keys()
            .all(|by| self.said.iter().any(|said| said.by == *by && said.is_yes() && said.good_for == self.revision))
    }

    /// The question by which it was agreed to, if it was.
    pub(in crate::path) fn agreed_by(&self, by: &Addressee) -> Option<&QuestionId> {
        let by = self.falls_to(by);
        self.said.iter().find(|said| said.by == by && said.is_yes()).map(|said| &said.question)
    }

    /// Who has agreed, in which question.
    pub(in crate::path) fn approvals(&self) -> Vec<(Addressee, QuestionId)> {
        self.said.iter().filter(|said| said.is_yes()).map(|said| (said.by.clone(), said.question.clone())).collect()
    }

    /// For which further calls a yes of whoever decides is good, too.
    pub(super) fn granted(&self) -> Option<(GrantScope, &QuestionId)> {
        self.said.iter().find_map(|said| match said.approval {
            Approval::Given(Some(scope)) if said.by == Addressee::Approver => Some((scope, &said.question)),
            _ => None,
        })
    }

    /// Puts together what was said: one no is a no, and a yes takes all.
    pub(super) fn put_together(&mut self) {
        let no = [Approval::Refused, Approval::Forbidden, Approval::Expired, Approval::Unavailable, Approval::NotAsked];
        let no = no.into_iter().find_map(|no| self.said.iter().find(|said| said.approval == no));
        let pending = self.said.iter().filter(|said| said.approval == Approval::Pending).count();
        let last = self.said.last();
        let (approval, question) = match (no, last) {
            (_, None) => return,
            (Some(no), _) => (no.approval, &no.question),
            // A ledger goes on with a call by its last question. Nobody can wait for two.
            (None, Some(last)) if pending == 1 && last.approval == Approval::Pending => {
                (Approval::Pending, &last.question)
            }
            (None, Some(last)) if pending > 0 => (Approval::Unavailable, &last.question),
            (None, Some(last)) => {
                let by_approver = self.said.iter().find(|said| said.by == Addressee::Approver);
                (Approval::Given(None), &by_approver.unwrap_or(last).question)
            }
        };
        let question = question.clone();
        (self.approval, self.question) = (approval, Some(question));
    }

    /// Of a call that has waited: who had agreed before, and what its own question came to.
    pub(in crate::path) fn hears_again(&mut self, claimed: &Claimed, user_apart: bool) {
        self.user_apart = user_apart;
        let revision = self.revision;
        let said = |by, question, approval| Said {
            by,
            question,
            approval,
            asked_at: revision,
            good_for: revision,
            shown: Vec::new(),
        };
        let earlier = claimed.verdict().approvals().into_iter();
        self.said = earlier.map(|(by, question)| said(by, question, Approval::Given(None))).collect();
        if let Some(question) = claimed.asked().question() {
            self.said.push(said(claimed.asked().addressee(), question, self.approval));
        }
    }
}
