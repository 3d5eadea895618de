//! Who has to be heard about a call, and what each has said.

use std::collections::BTreeMap;

use super::bound;
use crate::checklist::examine::Agree;
use crate::gate::{Addressee, Answer, Grants, QuestionId};
use crate::ledger::{Binding, Claimed, LedgerKey, Stored};
use crate::path::state::{Approval, State};

/// What somebody has said when asked about a call.
#[derive(Debug, Clone)]
pub(in crate::path) struct Said {
    pub(in crate::path) by: Addressee,
    pub(in crate::path) question: QuestionId,
    approval: Approval,
    /// What they were shown.
    pub(in crate::path) binding: Binding,
    /// Which revision was asked about.
    asked_at: u32,
    /// Which revision it is good for: that one, or what it became by what they gave with their yes.
    pub(super) good_for: u32,
    /// The reasons that they were shown, each with the question.
    shown: Vec<(String, QuestionId)>,
}

impl Said {
    pub(in crate::path) fn is_yes(&self) -> bool {
        matches!(self.approval, Approval::Given(_))
    }

    /// It ends the call, whatever anybody else says.
    fn is_no(&self) -> bool {
        !self.is_yes() && self.approval != Approval::Pending
    }

    fn shown_in(&self, reason: &str) -> Option<&QuestionId> {
        self.shown.iter().find(|(shown, _)| shown == reason).map(|(_, question)| question)
    }

    /// Were they shown that it goes beyond this limit, whatever was used of it by then?
    fn knows_limit(&self, begins: &str) -> bool {
        self.shown.iter().any(|(shown, _)| shown.starts_with(begins))
    }
}

impl State {
    /// Somebody has said no, now or before, or nothing.
    pub(in crate::path) fn is_refused(&self) -> bool {
        self.refused_before.is_some() || self.said.iter().any(Said::is_no)
    }

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
        if let Some(words) = self.unsettled_plan() {
            needs.entry(Addressee::Approver).or_default().push(words);
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
    pub(in crate::path) fn asked_of(&self) -> BTreeMap<Addressee, Vec<String>> {
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
            // Somebody else has changed what the yes was for.
            Some(said) if said.good_for < self.revision => true,
            // What they gave may have brought up reasons that they haven't seen, and others may have used up a limit. To
            // the others they have agreed.
            Some(said) => {
                let beyond = self.beyond_unknown_to(said);
                reasons.retain(|reason| {
                    beyond.contains(reason) || (said.asked_at < self.revision && said.shown_in(reason).is_none())
                });
                !reasons.is_empty()
            }
        });
        needs
    }

    /// Everybody who has to agree has, to this very revision.
    pub(in crate::path) fn is_heard(&self) -> bool {
        let is_yes =
            |said: &Said| said.is_yes() && said.good_for == self.revision && self.beyond_unknown_to(said).is_empty();
        self.needs().keys().all(|by| self.said.iter().any(|said| said.by == *by && is_yes(said)))
    }

    /// The reasons of limits that the call goes beyond and that whoever has to agree to that was not shown: they were within
    /// when they were asked.
    fn beyond_unknown_to(&self, said: &Said) -> Vec<String> {
        let of_them = self.agree().iter().filter(|agree| self.falls_to(&agree.by) == said.by);
        let mut unknown: Vec<String> =
            of_them.filter(|agree| !self.is_known(agree, said)).map(|agree| agree.words.clone()).collect();
        self.without_secrets(&mut unknown);
        unknown
    }

    fn is_known(&self, agree: &Agree, said: &Said) -> bool {
        let Some(mut begins) = agree.limit.clone() else { return true };
        self.without_secrets([&mut begins]);
        said.knows_limit(&begins)
    }

    /// The question by which a reason was agreed to, if it was: the first that showed it.
    pub(in crate::path) fn agreed_by(&self, agree: &Agree) -> Option<&QuestionId> {
        let mut reason = agree.words.clone();
        self.without_secrets([&mut reason]);
        let by = self.falls_to(&agree.by);
        let said = self.said.iter().find(|said| said.by == by && said.is_yes() && self.is_known(agree, said))?;
        Some(said.shown_in(&reason).unwrap_or(&said.question))
    }

    /// Who has agreed to this very revision, in which question.
    pub(in crate::path) fn approvals(&self) -> Vec<(Addressee, QuestionId)> {
        let agreed = self.said.iter().filter(|said| said.is_yes() && said.good_for == self.revision);
        agreed.map(|said| (said.by.clone(), said.question.clone())).collect()
    }

    /// What whoever decides has agreed to for the session is granted. What is denied by now is not, nor what somebody
    /// else has changed since.
    pub(in crate::path) fn grants(&self, grants: &Grants) {
        let agreed = self.said.iter().find_map(|said| match said.approval {
            Approval::Given(Some(scope)) if said.by == Addressee::Approver && said.good_for == self.revision => {
                Some((scope, &said.question))
            }
            _ => None,
        });
        if let (Approval::Given(_), Some((scope, question)), true) =
            (self.approval, agreed, self.ruling.denied.is_empty())
        {
            let told = if self.is_untold() { Vec::new() } else { self.notices().to_vec() };
            grants.add(self.tool(), self.canonical(), scope, question.clone(), told);
        }
    }

    /// Writes down what somebody has said, in the place of what they said before.
    pub(super) fn hears(
        &mut self,
        by: Addressee,
        question: QuestionId,
        approval: Approval,
        binding: Binding,
        reasons: impl IntoIterator<Item = String>,
    ) {
        let revision = self.revision;
        let before = self.said.iter().position(|said| said.by == by).map(|place| self.said.remove(place));
        // They are asked about the rest only as long as their yes stands.
        let stands = before.filter(|said| said.is_yes() && said.good_for == revision);
        let mut shown = stands.map(|said| said.shown).unwrap_or_default();
        shown.extend(reasons.into_iter().map(|reason| (reason, question.clone())));
        self.said.push(Said { by, question, approval, binding, asked_at: revision, good_for: revision, shown });
    }

    /// Puts together what was said: one no is a no, and a yes takes all.
    pub(super) fn put_together(&mut self) {
        let no = [Approval::Refused, Approval::Forbidden, Approval::Expired, Approval::Unavailable, Approval::NotAsked];
        let no = no.into_iter().find_map(|no| self.said.iter().find(|said| said.approval == no));
        let pending = self.said.iter().rev().find(|said| said.approval == Approval::Pending);
        let last = self.said.last();
        let (approval, question) = match (no.or(pending), last) {
            (_, None) => return,
            (Some(said), _) => (said.approval, &said.question),
            (None, Some(last)) => {
                let by_approver = self.said.iter().find(|said| said.by == Addressee::Approver);
                (Approval::Given(None), &by_approver.unwrap_or(last).question)
            }
        };
        let question = question.clone();
        (self.approval, self.question) = (approval, Some(question));
    }

    /// The questions that it waits for, beside the one that is its own.
    pub(in crate::path) fn waits_besides(&self) -> Vec<QuestionId> {
        let pending = self.said.iter().filter(|said| said.approval == Approval::Pending);
        pending
            .map(|said| &said.question)
            .filter(|question| self.question.as_ref() != Some(question))
            .cloned()
            .collect()
    }

    /// Of a call that has waited: who had agreed before, and what its own questions came to.
    pub(in crate::path) fn hears_again(&mut self, claimed: &Claimed, key: &LedgerKey) {
        let binding = bound(self, key);
        self.said.clear();
        // If the one answer is none, since the call isn't the same any more, then the others are none either.
        if !matches!(self.approval, Approval::Void(_)) {
            let reasons: Vec<String> = claimed.verdict().reasons().into_iter().map(str::to_owned).collect();
            for (by, question) in claimed.verdict().approvals() {
                // They were asked all of these that are theirs.
                self.hears(by, question, Approval::Given(None), binding.clone(), reasons.clone());
            }
        }
        let reasons = |asked: &Stored| asked.reasons().into_iter().map(str::to_owned).collect::<Vec<_>>();
        for (asked, answered) in claimed.besides() {
            let approval = match answered.answer() {
                _ if matches!(self.approval, Approval::Void(_)) => continue,
                Some(Answer::Yes) => Approval::Given(None),
                Some(Answer::YesForSession(scope)) => Approval::Given(Some(scope)),
                _ => continue,
            };
            if let Some(question) = asked.question() {
                self.hears(asked.addressee(), question, approval, binding.clone(), reasons(asked));
            }
        }
        if let Some(question) = claimed.asked().question() {
            self.hears(claimed.asked().addressee(), question, self.approval, binding, reasons(claimed.asked()));
        }
    }
}
