use std::sync::Arc;
use std::time::Duration;

use tool_runtime::{
    AllowAll, Answer, AnswerError, CallFacts, CaseState, ClaimError, Code, Decision, FileLedger, Harness, Ledger,
    MemoryLedger, Query, QuestionId, Registry, ReplyError, ToolCall, tool,
};

use crate::sql::Store;
use crate::support::{
    Folder, PayTool, Ran, asking, code, fine, key, patient, payment, propose, registry, signed, waiting,
};

/// In another process, as far as a ledger can tell: another harness, which has nothing but the ledger.
#[tokio::test]
async fn a_call_is_answered_and_gone_on_with_after_a_restart() {
    let folder = Folder::new();
    let ran = Ran::default();
    let (case, question) = {
        let ledger = folder.open();
        propose(&patient(&ran, Arc::clone(&ledger)), &ledger, payment(10)).await
    };
    {
        let ledger = folder.open();
        let harness = patient(&ran, Arc::clone(&ledger));
        let early = harness.resume(case, None).await;
        assert!(matches!(early, Err(ClaimError::NotAnswered)), "{early:?}");
        fine(ledger.reply(signed(&question, Answer::Yes)).await);
    }
    let ledger = folder.open();
    let harness = patient(&ran, Arc::clone(&ledger));
    let settled = fine(harness.resume(case, None).await);
    assert_eq!((settled.result().text(), ran.times()), ("10 to alice".to_owned(), 1));
    // Spent: by anybody, also after another restart.
    assert!(matches!(harness.resume(case, None).await, Err(ClaimError::NotWaiting)));
    drop((harness, ledger));
    let ledger = folder.open();
    assert!(matches!(patient(&ran, Arc::clone(&ledger)).resume(case, None).await, Err(ClaimError::NotWaiting)));
    assert_eq!(ran.times(), 1);
    let history = fine(ledger.history(Query::all().conversation("talk")).await);
    let [case] = history.cases() else { panic!("{history:?}") };
    assert_eq!(case.state(), CaseState::Ended(Code::Ok));
    let signer = case.signer().unwrap_or_else(|| panic!("who answered is in the record"));
    assert_eq!((signer.by(), signer.channel()), ("ann", "web"));
    assert_eq!(case.rules(), ["money"]);
    let words: Vec<_> = case.entries().iter().map(|entry| entry.code().map_or("", |code| code.as_str())).collect();
    assert_eq!(words, ["", "", "approval_pending", "approval_pending", "", "", "ok"]);
}

#[tokio::test]
async fn a_no_from_elsewhere_is_a_no_whatever_the_policy_says_by_then() {
    for (ledger, policy_allows) in [(MemoryLedger::default(), false), (MemoryLedger::default(), true)] {
        let (ran, ledger) = (Ran::default(), Arc::new(ledger));
        let harness = patient(&ran, Arc::clone(&ledger));
        let (case, question) = propose(&harness, &ledger, payment(10)).await;
        fine(ledger.reply(signed(&question, Answer::No)).await);
        let harness = match policy_allows {
            true => Harness::new(registry(&ran, [PayTool::host()]), AllowAll).ledger(Arc::clone(&ledger)),
            false => harness,
        };
        let settled = fine(harness.resume(case, None).await);
        assert_eq!((code(&settled), ran.times()), (Code::Rejected, 0));
    }
}

/// What waits has a place of its own beside the entries, however few of these are kept.
#[tokio::test]
async fn a_call_that_waits_outlasts_the_room_of_a_memory() {
    for capacity in [0, 1, 5] {
        let (ran, ledger) = (Ran::default(), Arc::new(MemoryLedger::new(capacity)));
        let harness = patient(&ran, Arc::clone(&ledger));
        let waits = harness.run_settled([payment(10)], None).await;
        let question = waits[0].record().verdict().and_then(|verdict| verdict.question().cloned());
        let others = Harness::new(registry(&ran, [PayTool::host()]), AllowAll).ledger(Arc::clone(&ledger));
        others.run((0..10).map(payment)).await;
        assert_eq!((ledger.entries().len(), ran.times()), (capacity, 10));
        fine(ledger.reply(signed(&question.unwrap_or_else(|| panic!("a question")), Answer::Yes)).await);
        let settled = fine(harness.resume(waits[0].record().case(), None).await);
        assert_eq!((code(&settled), settled.result().text()), (Code::Ok, "10 to alice".to_owned()));
        assert_eq!((ledger.entries().len(), ran.times()), (capacity, 11));
    }
}

/// Policy is asked again; what it forbids by now doesn't run.
#[tokio::test]
async fn what_is_forbidden_meanwhile_does_not_run() {
    let (ran, ledger) = (Ran::default(), Arc::new(MemoryLedger::default()));
    let (case, question) = propose(&patient(&ran, Arc::clone(&ledger)), &ledger, payment(10)).await;
    fine(ledger.reply(signed(&question, Answer::Yes)).await);
    let policy = |_: &CallFacts<'_>| Decision::deny("not any more");
    let harness = Harness::new(registry(&ran, [PayTool::host()]), policy).ledger(Arc::clone(&ledger));
    let settled = fine(harness.resume(case, None).await);
    assert_eq!((code(&settled), ran.times()), (Code::Denied, 0));
    assert!(matches!(harness.resume(case, None).await, Err(ClaimError::NotWaiting)));
}

/// Pays otherwise.
#[tool(name = "pay", host(destructive))]
async fn other_pay(
    /// To whom.
    to: String,
    /// How much.
    amount: u32,
    /// What for.
    #[arg(default = String::from("fun"))]
    purpose: String,
    #[host] ran: &Ran,
) -> String {
    let _ = (to, amount, purpose, ran);
    unreachable!("nobody agreed to this")
}

/// B70, invariant 9: an approval is for one definition of one tool.
#[tokio::test]
async fn b70_a_tool_that_was_replaced_meanwhile_does_not_run() {
    let (ran, ledger) = (Ran::default(), Arc::new(MemoryLedger::default()));
    let (case, question) = propose(&patient(&ran, Arc::clone(&ledger)), &ledger, payment(10)).await;
    fine(ledger.reply(signed(&question, Answer::Yes)).await);
    let harness = asking(registry(&ran, [OtherPayTool::host()]), Arc::clone(&ledger));
    let settled = fine(harness.resume(case, None).await);
    assert_eq!((code(&settled), ran.times()), (Code::ApprovalVoid, 0));
    let reasons = settled.record().verdict().map(|verdict| verdict.reasons().join("; ")).unwrap_or_default();
    assert!(reasons.contains("another definition"), "{reasons}");
    // Or taken away.
    let (case, question) = propose(&patient(&ran, Arc::clone(&ledger)), &ledger, payment(11)).await;
    fine(ledger.reply(signed(&question, Answer::Yes)).await);
    let none = fine(Registry::builder().build());
    let settled = fine(asking(none, Arc::clone(&ledger)).resume(case, None).await);
    assert_eq!((code(&settled), ran.times()), (Code::UnknownTool, 0));
}

/// B71, invariant 9: 64 people answer at once, and 64 hosts go on with it at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn b71_of_many_answers_one_counts_and_of_many_hosts_one_runs_it() {
    let folder = Folder::new();
    let ledgers: [Arc<dyn Ledger>; 2] = [Arc::new(MemoryLedger::default()), folder.open()];
    for ledger in ledgers {
        race(&ledger, &[Arc::clone(&ledger)]).await;
    }
}

/// `hosts`: the same ledger, as several hosts have it open.
pub(crate) async fn race(ledger: &Arc<dyn Ledger>, hosts: &[Arc<dyn Ledger>]) {
    let ran = Ran::default();
    let (case, question) = propose(&patient(&ran, Arc::clone(ledger)), ledger, payment(10)).await;
    let answers = (0..64).map(|place: usize| {
        let (ledger, question) = (Arc::clone(&hosts[place % hosts.len()]), question.clone());
        let answer = if place.is_multiple_of(2) {
            Answer::Yes
        } else {
            Answer::YesForSession(tool_runtime::GrantScope::SameArguments)
        };
        tokio::spawn(async move { ledger.reply(signed(&question, answer)).await })
    });
    let mut taken = 0;
    for answer in answers.collect::<Vec<_>>() {
        match fine(answer.await) {
            Ok(()) => taken += 1,
            Err(ReplyError::Late(AnswerError::AlreadyAnswered)) => {}
            Err(error) => panic!("{error}: {error:?}"),
        }
    }
    assert_eq!(taken, 1);
    let resumes = (0..64).map(|place| {
        let harness = patient(&ran, Arc::clone(&hosts[place % hosts.len()]));
        tokio::spawn(async move { harness.resume(case, None).await })
    });
    let mut run = 0;
    for resumed in resumes.collect::<Vec<_>>() {
        match fine(resumed.await) {
            Ok(settled) => {
                assert_eq!(code(&settled), Code::Ok, "{:?}", settled.record());
                run += 1;
            }
            Err(ClaimError::NotWaiting) => {}
            Err(error) => panic!("{error}: {error:?}"),
        }
    }
    assert_eq!((run, ran.times()), (1, 1));
}

/// B72: after its time an answer does nothing, and the call is over.
#[tokio::test]
async fn b72_an_answer_that_comes_too_late_does_nothing() {
    for store in Store::all().await {
        let (ran, ledger) = (Ran::default(), store.open("a").await);
        let harness = patient(&ran, Arc::clone(&ledger)).answers_within(Some(Duration::ZERO));
        let (case, question) = propose(&harness, &ledger, payment(10)).await;
        let late = ledger.reply(signed(&question, Answer::Yes)).await;
        assert!(matches!(late, Err(ReplyError::Late(AnswerError::Expired))), "{late:?}");
        let settled = fine(harness.resume(case, None).await);
        assert_eq!((code(&settled), ran.times()), (Code::ApprovalExpired, 0));
        let late = ledger.reply(signed(&question, Answer::Yes)).await;
        assert!(matches!(late, Err(ReplyError::Late(AnswerError::NotPending))), "{late:?}");
    }
}

/// B72: a yes that came in time is worth nothing once the time is over.
#[tokio::test]
async fn b72_a_yes_that_nobody_acts_on_in_time_runs_nothing() {
    for store in Store::all().await {
        let (ran, ledger) = (Ran::default(), store.open("a").await);
        let harness = patient(&ran, Arc::clone(&ledger)).answers_within(Some(Duration::from_millis(400)));
        let (case, question) = propose(&harness, &ledger, payment(10)).await;
        let replied = ledger.reply(signed(&question, Answer::Yes)).await;
        tokio::time::sleep(Duration::from_millis(410)).await;
        let settled = fine(harness.resume(case, None).await);
        // On a machine that slept meanwhile the answer was late itself.
        assert!(replied.is_ok() || matches!(replied, Err(ReplyError::Late(AnswerError::Expired))), "{replied:?}");
        assert_eq!((code(&settled), ran.times()), (Code::ApprovalExpired, 0));
    }
}

#[tokio::test]
async fn what_answers_nothing_is_refused_and_the_question_stays_open() {
    let (ran, ledger) = (Ran::default(), Arc::new(MemoryLedger::default()));
    let harness = patient(&ran, Arc::clone(&ledger));
    let (_, question) = propose(&harness, &ledger, payment(10)).await;
    for answer in [Answer::Later, Answer::Unavailable, Answer::Expired, Answer::Forbidden] {
        assert!(matches!(ledger.reply(signed(&question, answer)).await, Err(ReplyError::NoAnswer)));
    }
    let other = ledger.reply(signed(&QuestionId::from("other"), Answer::Yes)).await;
    assert!(matches!(other, Err(ReplyError::Late(AnswerError::NotPending))));
    fine(ledger.reply(signed(&question, Answer::Yes)).await);
}

/// A person's no is remembered: the same call is answered from the record, and nobody is asked again.
#[tokio::test]
async fn a_no_is_remembered_in_its_conversation_also_after_a_restart() {
    let folder = Folder::new();
    let ran = Ran::default();
    {
        let ledger = folder.open();
        let harness = patient(&ran, Arc::clone(&ledger));
        let (case, question) = propose(&harness, &ledger, payment(10)).await;
        fine(ledger.reply(signed(&question, Answer::No)).await);
        assert_eq!(code(&fine(harness.resume(case, None).await)), Code::Rejected);
    }
    let ledger = folder.open();
    let harness = patient(&ran, Arc::clone(&ledger));
    // Another spelling and another id are the same call.
    let again = ToolCall::new("call_9", "pay", r#"{ "amount": 10.0, "to": "alice" }"#);
    let settled = harness.run_settled([again], None).await;
    assert_eq!((code(&settled[0]), ran.times()), (Code::Rejected, 0));
    assert!(settled[0].result().text().contains("nobody was asked again"), "{}", settled[0].result().text());
    let asked = fine(ledger.history(Query::all()).await).cases().iter().filter(|case| case.asked().is_some()).count();
    assert_eq!(asked, 1);
    // Another value is another call, and another conversation is another matter.
    propose(&harness, &ledger, payment(11)).await;
    let elsewhere = patient(&ran, Arc::clone(&ledger)).conversation("elsewhere");
    propose(&elsewhere, &ledger, payment(10)).await;
}

/// B70: of two calls that wait, each answer is for its own.
#[tokio::test]
async fn b70_an_answer_is_for_its_own_call_alone() {
    let folder = Folder::new();
    let (ran, ledger) = (Ran::default(), folder.open());
    let harness = patient(&ran, Arc::clone(&ledger));
    let (cheap, question) = propose(&harness, &ledger, payment(1)).await;
    let (dear, _) = propose(&harness, &ledger, payment(1000)).await;
    fine(ledger.reply(signed(&question, Answer::Yes)).await);
    assert!(matches!(harness.resume(dear, None).await, Err(ClaimError::NotAnswered)));
    assert_eq!(fine(harness.resume(cheap, None).await).result().text(), "1 to alice");
    assert_eq!(waiting(&ledger, dear).await.0, dear);
    assert_eq!(fine(FileLedger::read(folder.file(), &key())).waiting().count(), 1);
}

/// A yes can be taken back until somebody acts on it.
#[tokio::test]
async fn a_yes_that_was_taken_back_runs_nothing() {
    for store in Store::all().await {
        let (ran, ledger) = (Ran::default(), store.open("a").await);
        let harness = patient(&ran, Arc::clone(&ledger));
        let (case, question) = propose(&harness, &ledger, payment(10)).await;
        assert!(matches!(harness.revoke(case).await, Err(ClaimError::NotAnswered)));
        fine(ledger.reply(signed(&question, Answer::Yes)).await);
        let settled = fine(harness.revoke(case).await);
        assert_eq!((code(&settled), ran.times()), (Code::ApprovalVoid, 0));
        assert!(matches!(harness.resume(case, None).await, Err(ClaimError::NotWaiting)));
        // Nor does another yes after it.
        let late = ledger.reply(signed(&question, Answer::Yes)).await;
        assert!(matches!(late, Err(ReplyError::Late(_))), "{late:?}");
        assert!(matches!(harness.resume(case, None).await, Err(ClaimError::NotWaiting)));
        let (case, question) = propose(&harness, &ledger, payment(11)).await;
        fine(ledger.reply(signed(&question, Answer::Yes)).await);
        assert_eq!(code(&fine(harness.resume(case, None).await)), Code::Ok);
        assert!(matches!(harness.revoke(case).await, Err(ClaimError::NotWaiting)));
        assert_eq!(ran.times(), 1);
    }
}
