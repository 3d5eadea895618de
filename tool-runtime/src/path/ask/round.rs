//! One round of questions: a set for everybody who has to be heard, all at once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use super::filling::{argument, recorded_fills, takes_values};
use super::{Asking, bound, question};
use crate::BoxFuture;
use crate::checklist::Checklist;
use crate::execute::until;
use crate::gate::{Addressee, Answer, Question, QuestionId, Sheet, Takes, Written};
use crate::ledger::{AskedRecord, Binding, LedgerKey};
use crate::path::decide::Decided;
use crate::path::inquiry::Inquiry;
use crate::path::state::Approval;
use crate::tool::caught;

/// What somebody is asked about one call.
pub(super) struct Wanted {
    /// Which call.
    pub(super) place: usize,
    pub(super) to: Addressee,
    pub(super) reasons: Vec<String>,
}

/// All that one person is asked.
#[derive(Default)]
struct Set {
    questions: Vec<Question>,
    notices: Vec<String>,
    takes: Vec<(QuestionId, Takes)>,
    open: Vec<Open>,
}

/// A question that is in the ledger.
struct Open {
    place: usize,
    question: QuestionId,
    reasons: Vec<String>,
    /// What is shown.
    binding: Binding,
    inquiry: Inquiry,
}

/// Asks everybody, and writes down what was said of each call. Gives those about which something was, with what was
/// filled in along with a yes.
pub(super) async fn round(
    calls: &mut [Decided],
    wanted: Vec<Wanted>,
    asking: &Asking<'_>,
    key: &LedgerKey,
    unrecorded: &mut HashMap<usize, String>,
    tell: &mut (dyn FnMut(usize, &Question) + Send),
) -> BTreeMap<usize, Vec<Written>> {
    let mut sets = BTreeMap::<Addressee, Set>::new();
    for Wanted { place, to, reasons } in wanted {
        if unrecorded.contains_key(&place) {
            continue;
        }
        let (question, told, takes, binding, mut inquiry) = {
            let state = &calls[place].0;
            let binding = bound(state, key);
            let (mut question, told) = question(state, &binding, key, &to, reasons);
            let keeps = asking.checklist.is_some_and(Checklist::keeps_values);
            for blank in question.blanks.iter_mut().filter(|blank| keeps && !blank.secret) {
                blank.keepable = argument(&blank.slot).is_some();
            }
            let asked = AskedRecord::new(question.clone(), told.clone(), state.place.clone(), binding.clone());
            (question, told, takes_values(state), binding, Inquiry::new(Arc::clone(&asking.ledger), asked))
        };
        calls[place].0.question = Some(question.id.clone());
        let recorded = until(asking.token, inquiry.recorded()).await;
        if let Some(Err(detail)) = recorded {
            unrecorded.insert(place, detail);
            continue;
        }
        let set = sets.entry(to).or_default();
        let id = question.id.clone();
        // Cancelled, it is as all the others are: the ledger has both ends of it.
        if recorded.is_some() && !asking.is_cancelled() {
            tell(place, &question);
            set.takes.push((id.clone(), takes));
            set.notices.extend(told.into_iter().filter(|notice| !set.notices.contains(notice)).collect::<Vec<_>>());
            set.open.push(Open { place, question: id, reasons: question.reasons.clone(), binding, inquiry });
            set.questions.push(question);
        }
    }
    // Nobody is asked about a call of which another question could not be written down. Dropped, its own are withdrawn.
    for set in sets.values_mut() {
        set.open.retain(|open| !unrecorded.contains_key(&open.place));
        set.questions.retain(|question| set.open.iter().any(|open| open.question == question.id));
    }
    let mut asked = Vec::new();
    for (to, set) in sets {
        let sheet = Sheet::new(set.takes);
        let places: BTreeSet<usize> = set.open.iter().map(|open| open.place).collect();
        let answers = asking.answers(to.clone(), sheet.clone(), set.questions, set.notices);
        asked.push((to, sheet, set.open, places, Some(Box::pin(answers) as BoxFuture<'_, Vec<Answer>>)));
    }
    let running = asked.iter_mut().map(|(_, _, _, places, answers)| (places.clone(), answers.take()));
    let answers = together(running.collect()).await;
    let mut heard = BTreeMap::<usize, Vec<Written>>::new();
    for ((to, sheet, open, ..), answers) in asked.into_iter().zip(answers) {
        // Withdrawn, since others have said no to all of it.
        let Some(answers) = answers else { continue };
        let mut answers = answers.into_iter();
        for Open { place, question, reasons, binding, mut inquiry } in open {
            // Whatever was answered before or after: nothing is to begin any more. Dropped, the question is withdrawn.
            if asking.is_cancelled() {
                continue;
            }
            let answer = answers.next().unwrap_or(Answer::Unavailable);
            let approver = asking.whom(&to);
            // Only what somebody said is signed.
            let said = approver.filter(|_| answer.is_yes() || answer == Answer::No);
            let signer = said
                .and_then(|approver| sheet.signer(&question).or_else(|| caught(|| approver.signer()).ok().flatten()));
            let written = if answer.is_yes() { sheet.of(&question) } else { Vec::new() };
            let fills = recorded_fills(&calls[place].0, &written);
            match until(asking.token, inquiry.answered(answer, fills, signer)).await {
                Some(Ok(())) => {
                    let state = &mut calls[place].0;
                    if (answer.is_yes() || answer == Answer::No) && state.falls_to(&Addressee::User) == to {
                        // Whoever has answered has seen the set.
                        state.is_told();
                    }
                    let approval = comes_to(answer, approver.is_some());
                    state.hears(to.clone(), question, approval, binding, reasons);
                    heard.entry(place).or_default().extend(written);
                }
                Some(Err(detail)) => {
                    unrecorded.insert(place, detail);
                }
                None => {}
            }
        }
    }
    heard
}

fn comes_to(answer: Answer, has_approver: bool) -> Approval {
    match answer {
        Answer::Yes => Approval::Given(None),
        Answer::YesForSession(scope) => Approval::Given(Some(scope)),
        Answer::No => Approval::Refused,
        Answer::Later => Approval::Pending,
        Answer::Unavailable if !has_approver => Approval::NotAsked,
        Answer::Unavailable => Approval::Unavailable,
        Answer::Expired => Approval::Expired,
        Answer::Forbidden => Approval::Forbidden,
    }
}

/// One person's answers on their way, with the places of the calls that they are about.
type Answering<'a> = (BTreeSet<usize>, Option<BoxFuture<'a, Vec<Answer>>>);

/// Waits for all of them. Nobody is left waiting for an answer that doesn't matter any more: a set is withdrawn (`None`)
/// once somebody else has said no to each of its calls.
async fn together(mut running: Vec<Answering<'_>>) -> Vec<Option<Vec<Answer>>> {
    let mut done: Vec<Option<Vec<Answer>>> = running.iter().map(|_| None).collect();
    let mut lost = BTreeSet::new();
    poll_fn(|task| {
        loop {
            let mut has_moved = false;
            for ((places, answering), done) in running.iter_mut().zip(&mut done) {
                let Some(future) = answering else { continue };
                if places.is_subset(&lost) && !places.is_empty() {
                    *answering = None;
                    continue;
                }
                if let Poll::Ready(answers) = future.as_mut().poll(task) {
                    *answering = None;
                    has_moved = true;
                    let said = answers.iter().copied().chain(std::iter::repeat(Answer::Unavailable));
                    let no = places.iter().zip(said).filter(|(_, said)| !said.is_yes() && *said != Answer::Later);
                    lost.extend(no.map(|(place, _)| *place));
                    *done = Some(answers);
                }
            }
            if !has_moved {
                break;
            }
        }
        if running.iter().all(|(_, answering)| answering.is_none()) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    done
}
