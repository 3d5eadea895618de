//! A plan that was chosen goes on through the path like any other proposal.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;
use tool_runtime::agreement::{DeliberationError, JudgementKind, SampledPlan, Sampler};
use tool_runtime::{
    Addressee, AllowAll, Answer, BoxFuture, CheckedCall, Checklist, Code, DenyAll, Entry, GrantScope, Grants, Harness,
    Ledger, MemoryLedger, PlansRun, Policy, QuestionSet, Reply, Signer, ToolCall, VerdictKind,
};

use super::support::{Copies, World, by, now, payments, plan, registry};

struct Desk {
    world: World,
    ledger: Arc<MemoryLedger>,
    asked: Arc<Mutex<Vec<QuestionSet>>>,
    harness: Harness,
}

fn desk(policy: impl Policy + 'static, answer: Answer) -> Desk {
    let (world, ledger) = (World::default(), Arc::new(MemoryLedger::default()));
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let approver = move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        let answers = vec![answer; set.questions.len()];
        seen.lock().unwrap().push(set);
        Box::pin(async { answers })
    };
    let harness = Harness::new(registry(world.clone()), policy).approver(approver).ledger(Arc::clone(&ledger));
    Desk { world, ledger, asked, harness }
}

impl Desk {
    fn run(&self, plans: impl Sampler) -> PlansRun {
        now(self.harness.run_plans(&by(Copies::default()).samples(5), plans, None)).unwrap()
    }

    fn paid(&self) -> usize {
        self.world.paid.load(Ordering::SeqCst)
    }

    fn reasons(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().flat_map(|set| set.questions.iter().flat_map(|question| question.reasons.clone())).collect()
    }
}

#[test]
fn an_accepted_plan_runs_once_and_its_verdict_has_the_ruling() {
    let desk = desk(AllowAll, Answer::No);
    let run = desk.run(payments([7, 7, 7, 7, 9]));
    assert_eq!((run.results().len(), run.results()[0].text().as_str()), (1, "7 to Ann"));
    assert_eq!((desk.paid(), desk.asked.lock().unwrap().len()), (1, 0));
    let verdict = run.settled()[0].record().verdict().unwrap();
    let plan = verdict.plan().unwrap();
    assert_eq!((plan.kind(), plan.reason(), plan.samples(), plan.rounds()), (JudgementKind::Accept, "agreed", 5, 1));
    assert_eq!((plan.argument_agreement(), plan.result_agreement()), (0.8, Some(0.8)));
    // Read back, it is the same.
    let entry = desk.ledger.entries().into_iter().find(|entry| matches!(entry, Entry::Verdict(_))).unwrap();
    let stored = tool_runtime::Stored::read(entry.to_text().unwrap()).unwrap();
    assert_eq!(stored.plan().as_ref(), Some(plan));
    // A call that was proposed alone has none.
    let alone = now(desk.harness.run_settled([ToolCall::new("a", "count", "{}")], None));
    assert!(alone[0].record().verdict().unwrap().plan().is_none());
}

#[test]
fn agreement_is_never_permission() {
    let desk = desk(DenyAll, Answer::Yes);
    let run = desk.run(payments([7; 5]));
    assert_eq!(run.deliberated().ruling().kind(), JudgementKind::Accept);
    assert_eq!(run.settled()[0].record().code(), Code::Denied);
    assert_eq!(desk.paid(), 0);
}

#[test]
fn what_is_deferred_is_asked_about_with_the_drafts_side_by_side() {
    for (answer, code, paid) in [(Answer::Yes, Code::Ok, 1), (Answer::No, Code::Rejected, 0)] {
        let desk = desk(AllowAll, answer);
        let run = desk.run(payments([7, 7, 7, 9, 11]));
        assert_eq!(run.settled()[0].record().code(), code);
        assert_eq!(desk.paid(), paid);
        let words = "5 drafts of this were compared, and they settle nothing (arguments_split): \
                     `amount` is 7 (3 of 5), 11 (1 of 5), 9 (1 of 5)";
        assert_eq!(desk.reasons(), [words]);
        let verdict = run.settled()[0].record().verdict().unwrap();
        assert!(verdict.reasons().contains(&words.to_owned()), "{:?}", verdict.reasons());
        assert_eq!(verdict.plan().unwrap().apart()[0].argument, "amount");
    }
}

#[test]
fn policy_and_drafts_ask_one_question() {
    let asks = |_: &tool_runtime::CallFacts<'_>| tool_runtime::Decision::ask("it pays");
    let desk = desk(asks, Answer::Yes);
    desk.run(payments([7, 7, 7, 9, 11]));
    assert_eq!(desk.asked.lock().unwrap().len(), 1);
    assert_eq!(desk.reasons().len(), 2);
}

#[test]
fn no_grant_spares_the_question_about_drafts() {
    let world = World::default();
    let grants = Grants::new();
    let asked = Arc::new(Mutex::new(0));
    let seen = Arc::clone(&asked);
    let approver = move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        *seen.lock().unwrap() += 1;
        Box::pin(async move { vec![Answer::YesForSession(GrantScope::AnyArguments); set.questions.len()] })
    };
    let asks = |_: &tool_runtime::CallFacts<'_>| tool_runtime::Decision::ask("it pays");
    let harness = Harness::new(registry(world.clone()), asks).approver(approver).grants(grants);
    let deliberation = by(Copies::default());
    now(async {
        harness.run_plans(&deliberation, payments([7; 5]), None).await.unwrap();
        // Granted for the session: an accepted plan needs no other yes.
        harness.run_plans(&deliberation, payments([8; 5]), None).await.unwrap();
        assert_eq!(*asked.lock().unwrap(), 1);
        harness.run_plans(&deliberation, payments([7, 7, 7, 9, 11]), None).await.unwrap();
    });
    assert_eq!(*asked.lock().unwrap(), 2);
    assert_eq!(world.paid.load(Ordering::SeqCst), 3);
}

#[test]
fn nobody_to_ask_means_that_a_deferred_plan_does_not_run() {
    let world = World::default();
    let harness = Harness::new(registry(world.clone()), AllowAll);
    let run = now(harness.run_plans(&by(Copies::default()), payments([7, 7, 7, 9, 11]), None)).unwrap();
    assert_eq!(run.settled()[0].record().code(), Code::ApprovalUnavailable);
    assert!(run.results()[0].text().contains("drafts of this were compared"), "{}", run.results()[0].text());
    assert_eq!(world.paid.load(Ordering::SeqCst), 0);
}

#[test]
fn a_rejected_plan_is_recorded_and_the_model_reads_what_its_drafts_differ_in() {
    let desk = desk(AllowAll, Answer::Yes);
    let run = desk.run(payments([1, 2, 3, 4, 5, 6].map(|amount| amount * 100)));
    let record = run.settled()[0].record();
    assert_eq!(record.code(), Code::PlanRejected);
    assert_eq!(record.verdict().unwrap().kind(), VerdictKind::Blocked(Code::PlanRejected));
    let text = run.results()[0].text();
    assert!(
        text.contains("6 drafts of this call were compared") && text.contains("`amount` is 100 (1 of 6)"),
        "{text}"
    );
    assert!(text.contains("don't guess") && run.results()[0].is_error());
    assert_eq!((desk.paid(), desk.asked.lock().unwrap().len()), (0, 0));
}

#[test]
fn secrets_are_in_no_question_and_no_record_of_a_ruling() {
    let desk = desk(AllowAll, Answer::Yes);
    let drafts = ["1111", "1111", "1111", "2222", "3333"];
    let plans: Vec<SampledPlan> =
        drafts.map(|pin| plan("sign_in", &format!(r#"{{"name":"Ann","pin":"{pin}"}}"#))).into_iter().collect();
    let run = desk.run(plans);
    assert_eq!(run.settled()[0].record().code(), Code::Ok);
    let mut texts = desk.reasons();
    texts.extend(desk.ledger.entries().iter().map(|entry| entry.to_text().unwrap()));
    for text in texts {
        assert!(!drafts.iter().any(|pin| text.contains(pin)), "{text}");
    }
    let verdict = run.settled()[0].record().verdict().unwrap();
    assert_eq!(
        verdict.plan().unwrap().apart()[0].to_string(),
        "`pin` is \"[redacted]\" (3 of 5), \"[redacted]\" (1 of 5), \"[redacted]\" (1 of 5)"
    );
}

#[test]
fn several_calls_of_a_plan_have_one_result_each_in_order() {
    let both = || {
        SampledPlan::calls([
            ToolCall::new("a", "find_user", r#"{"name":"Ann"}"#),
            ToolCall::new("b", "pay", r#"{"to":"Ann","amount":7}"#),
        ])
    };
    let desk = desk(AllowAll, Answer::No);
    let run = desk.run(vec![both(); 5]);
    let results: Vec<(String, String)> =
        run.results().iter().map(|result| (result.call_id().to_string(), result.text())).collect();
    assert_eq!(results, [("a".to_owned(), "3".to_owned()), ("b".to_owned(), "7 to Ann".to_owned())]);
    assert_eq!(run.plan().len(), 2);
}

#[test]
fn an_answer_that_comes_later_keeps_the_ruling() {
    let world = World::default();
    let ledger = Arc::new(MemoryLedger::default());
    let later = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(async move { vec![Answer::Later; set.questions.len()] })
    };
    let harness = Harness::new(registry(world.clone()), AllowAll).approver(later).ledger(Arc::clone(&ledger));
    now(async {
        let run = harness.run_plans(&by(Copies::default()), payments([7, 7, 7, 9, 11]), None).await.unwrap();
        let record = run.settled()[0].record();
        assert_eq!(record.code(), Code::ApprovalPending);
        let question = record.verdict().unwrap().question().unwrap().clone();
        let case = record.case();
        ledger.reply(Reply::new(question, Answer::Yes, Signer::new("ann", "page"))).await.unwrap();
        let settled = harness.resume(case, None).await.unwrap();
        assert_eq!(settled.record().code(), Code::Ok);
        assert_eq!(settled.record().verdict().unwrap().plan().unwrap().reason(), "arguments_split");
    });
    assert_eq!(world.paid.load(Ordering::SeqCst), 1);
}

/// Whoever approves has agreed to the drafts; the call then waits for somebody else, and goes on with both.
#[test]
fn a_deferred_plan_that_waits_for_somebody_else_keeps_its_ruling() {
    let (world, ledger) = (World::default(), Arc::new(MemoryLedger::default()));
    let registry = registry(world.clone());
    let line = r#"{"origin":"treasury policy 4","line":[{"tool":"pay","name":"recipient","check":"known","then":"approve_if","approver":"@treasurer","text":"the recipient is known"}],"scope":{"calls":"none"}}"#;
    let known = |_: CheckedCall| -> BoxFuture<'static, Result<bool, String>> { Box::pin(async { Ok(true) }) };
    let list = Checklist::builder().condition("known", known).json("ours", line).build(&registry).unwrap();
    let always = |answer: Answer| {
        move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            Box::pin(async move { vec![answer; set.questions.len()] })
        }
    };
    let harness = Harness::new(registry, AllowAll)
        .checklist(list)
        .approver(always(Answer::Yes))
        .person("treasurer", always(Answer::Later))
        .ledger(Arc::clone(&ledger));
    now(async {
        let run = harness.run_plans(&by(Copies::default()), payments([7, 7, 7, 9, 11]), None).await.unwrap();
        let record = run.settled()[0].record();
        assert_eq!(record.code(), Code::ApprovalPending);
        let parked = record.verdict().unwrap();
        let agreed: Vec<_> = parked.approvals().map(|(by, question)| (by.clone(), question.clone())).collect();
        assert!(matches!(&agreed[..], [(Addressee::Approver, _)]), "{agreed:?}");
        let question = parked.question().unwrap().clone();
        ledger.reply(Reply::new(question.clone(), Answer::Yes, Signer::new("tess", "page"))).await.unwrap();
        let settled = harness.resume(record.case(), None).await.unwrap();
        assert_eq!(settled.record().code(), Code::Ok, "{}", settled.result().text());
        let verdict = settled.record().verdict().unwrap();
        let plan = verdict.plan().unwrap();
        assert_eq!((plan.kind(), plan.reason()), (JudgementKind::Defer, "arguments_split"));
        let approvals: Vec<_> = verdict.approvals().map(|(by, question)| (by.clone(), question.clone())).collect();
        assert_eq!(approvals, [agreed[0].clone(), (Addressee::person("treasurer"), question)]);
    });
    assert_eq!(world.paid.load(Ordering::SeqCst), 1);
}

#[test]
fn a_cancelled_deliberation_proposes_nothing() {
    let desk = desk(AllowAll, Answer::Yes);
    let token = CancellationToken::new();
    token.cancel();
    let found = now(desk.harness.run_plans(&by(Copies::default()), payments([7; 5]), Some(token)));
    assert!(matches!(found, Err(DeliberationError::Cancelled)));
    assert_eq!(desk.paid(), 0);
}
