//! What an answer comes to, and what none comes to.

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tool_runtime::{
    AllowAll, Answer, AnswerError, Approver, BoxFuture, CallFacts, ChannelApprover, Code, Decision, DenyAll, Entry,
    FirstOf, GrantScope, Grants, MemoryLedger, NeverAsk, Policies, Question, QuestionId, QuestionSet, Signed, Signer,
    ToolCall, VerdictKind,
};

use super::{Person, asks, code, harness, harness_of, one, pays};
use crate::support::{lock, millis};

#[tokio::test]
async fn d25_no_approver() {
    let (harness, log, _) = harness();
    let settled = one(&harness, pays("1", r#"{"amount":1}"#)).await;
    assert_eq!(settled.record().code(), Code::ApprovalUnavailable);
    let text = settled.result().text();
    assert!(text.contains("`pay`") && text.contains("nobody could be asked") && text.contains("it costs money"));
    let (harness, more, _) = harness_of(Policies::new());
    let settled = one(&harness, pays("1", r#"{"amount":1}"#)).await;
    assert_eq!(settled.record().code(), Code::ApprovalUnavailable);
    assert_eq!((log.take().len(), more.take().len()), (0, 0));
}

#[tokio::test]
async fn d26_each_kind_of_no_has_its_own_words() {
    let mut texts = BTreeSet::new();
    let approvers: [(Option<Box<dyn Approver>>, Code); 5] = [
        (Some(Box::new(Person::who_says(Answer::No))), Code::Rejected),
        (Some(Box::new(Person::who_says(Answer::Unavailable))), Code::ApprovalUnavailable),
        (Some(Box::new(Person::who_says(Answer::Expired))), Code::ApprovalExpired),
        (Some(Box::new(NeverAsk)), Code::Denied),
        (None, Code::ApprovalUnavailable),
    ];
    for (approver, code) in approvers {
        let (mut harness, log, ledger) = harness();
        if let Some(approver) = approver {
            harness = harness.approver(Arc::<dyn Approver>::from(approver));
        }
        let settled = one(&harness, pays("1", r#"{"amount":1}"#)).await;
        assert_eq!(settled.record().code(), code);
        assert_eq!(settled.record().verdict().map(|verdict| verdict.kind()), Some(VerdictKind::Blocked(code)));
        assert_eq!(log.take(), [""; 0]);
        let (asked, answered) = asks(&ledger);
        assert_eq!((asked.len(), answered.len()), (1, 1));
        texts.insert(settled.result().text());
    }
    // Withdrawn.
    let (harness, _, ledger) = harness();
    let token = CancellationToken::new();
    let (window, mut sets) = ChannelApprover::new();
    let harness = harness.approver(window);
    let cancel = token.clone();
    let (settled, ()) = tokio::join!(harness.run_settled([pays("1", r#"{"amount":1}"#)], Some(token)), async move {
        let set = sets.recv().await;
        cancel.cancel();
        drop(set);
    });
    assert_eq!(settled[0].record().code(), Code::CancelledBeforeStart);
    assert_eq!(asks(&ledger).1[0].1, None);
    texts.insert(settled[0].result().text());
    assert_eq!(texts.len(), 6, "{texts:#?}");
    assert!(texts.iter().any(|text| text.contains("a rule forbids asking") && !text.contains("said no")));
}

/// Nobody is called where nobody may be asked.
#[tokio::test]
async fn d26_a_rule_that_forbids_asking_calls_nobody() {
    let person = Person::who_says(Answer::Yes);
    let (harness, _, ledger) = harness();
    let harness = harness.approver(FirstOf::new().or(NeverAsk).or(person.clone()));
    let settled = one(&harness, pays("1", r#"{"amount":1}"#)).await;
    assert_eq!((settled.record().code(), person.asked().len()), (Code::Denied, 0));
    let reasons = settled.record().verdict().map(|verdict| verdict.reasons().to_vec());
    assert_eq!(reasons, Some(vec!["it costs money".to_owned(), "a rule forbids asking".to_owned()]));
    assert_eq!(asks(&ledger).1[0].1, Some(Answer::Forbidden));
}

#[tokio::test]
async fn d37_d70_a_late_grant_is_spent_on_nothing() {
    let (harness, log, ledger) = harness();
    let grants = Grants::new();
    let (window, mut sets) = ChannelApprover::new();
    let harness = harness.approver(window.clone()).grants(grants.clone());
    let token = CancellationToken::new();
    let cancel = token.clone();
    let (settled, late) = tokio::join!(harness.run_settled([pays("1", r#"{"amount":1}"#)], Some(token)), async move {
        let set = sets.recv().await.unwrap_or_else(|| panic!("a set"));
        cancel.cancel();
        set.questions().token().cancelled().await;
        tokio::task::yield_now().await;
        set.answer(&set.questions().questions[0].id, Answer::YesForSession(GrantScope::AnyArguments))
    });
    assert_eq!(late, Err(AnswerError::NotPending));
    assert_eq!((settled[0].record().code(), settled[0].record().started()), (Code::CancelledBeforeStart, false));
    assert!(log.take().is_empty() && grants.is_empty());
    let (asked, answered) = asks(&ledger);
    assert_eq!(answered, [(asked[0].clone(), None)]);
}

#[tokio::test]
async fn d69_the_first_answer_decides() {
    let (first, second, third) =
        (Person::who_says(Answer::No), Person::who_says(Answer::Yes), Person::who_says(Answer::Yes));
    let passes = Person::who_says(Answer::Unavailable);
    let panics = |_: QuestionSet| -> BoxFuture<'static, Vec<Answer>> { panic!("boom") };
    let silent = |_: QuestionSet| -> BoxFuture<'static, Vec<Answer>> { Box::pin(async { Vec::new() }) };
    let approver = FirstOf::new()
        .or(passes.clone())
        .or(panics)
        .or(silent)
        .or_for(|_: &Question| panic!("boom"), third.clone())
        .or_for(|question: &Question| question.tool == "wire", first.clone())
        .or(second.clone())
        .or(third.clone());
    let (harness, log, ledger) = harness();
    let harness = harness.approver(approver);
    let calls = || [pays("1", r#"{"amount":1}"#), ToolCall::new("2", "wire", r#"{"amount":2}"#)];
    let settled = harness.run_settled(calls(), None).await;
    let codes: Vec<Code> = settled.iter().map(|one| one.record().code()).collect();
    assert_eq!(codes, [Code::Ok, Code::Rejected]);
    assert_eq!(log.take(), ["pay 1 me"]);
    let asked = [&passes, &first, &second, &third].map(|person| person.asked().len());
    assert_eq!(asked, [2, 1, 1, 0]);
    assert_eq!(asks(&ledger).0.len(), 2);
    // None takes it.
    let (harness, _, _) = self::harness();
    assert_eq!(code(&harness.approver(FirstOf::new().or(passes)), calls()[0].clone()).await, Code::ApprovalUnavailable);
}

/// Of several approvers the record of each answer names the one that gave it.
#[tokio::test]
async fn an_answer_is_signed_by_whoever_of_several_gave_it() {
    let signer = |by: &str| Signer::new(by, "desk");
    let of = |answer: Answer, by: &str| Signed::new(Person::who_says(answer), signer(by));
    // Signs before it knows, and then passes.
    let eager = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        set.questions.iter().for_each(|question| set.sign(&question.id, Signer::new("eve", "desk")));
        Box::pin(async { vec![Answer::Unavailable] })
    };
    let of_several = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        set.sign(&QuestionId::from("another"), Signer::new("eve", "desk"));
        set.sign(&set.questions[0].id, Signer::new("cid", "phone"));
        Box::pin(async { vec![Answer::Yes] })
    };
    let several = || {
        let later = FirstOf::new()
            .or_for(|question: &Question| question.tool == "pay", of_several)
            .or(Person::who_says(Answer::No));
        FirstOf::new()
            .or(of(Answer::Unavailable, "ann"))
            .or(eager)
            .or_for(|question: &Question| question.tool == "wire", of(Answer::Yes, "bob"))
            .or(later)
    };
    let signed = |ledger: &MemoryLedger| -> Vec<Option<Signer>> {
        let entries = ledger.entries();
        let answered = entries.iter().filter_map(|entry| match entry {
            Entry::Answered(answered) => Some(answered.signer().cloned()),
            _ => None,
        });
        answered.collect()
    };
    let calls = || {
        let wire = |id, amount: u32| ToolCall::new(id, "wire", format!(r#"{{"amount":{amount}}}"#));
        [pays("1", r#"{"amount":1}"#), wire("2", 2), pays("3", r#"{"amount":3}"#)]
    };
    let (harness, _, ledger) = harness();
    let settled = harness.approver(several()).run_settled(calls(), None).await;
    let codes: Vec<Code> = settled.iter().map(|one| one.record().code()).collect();
    assert_eq!(codes, [Code::Ok, Code::Ok, Code::Rejected]);
    assert_eq!(signed(&ledger), [Some(Signer::new("cid", "phone")), Some(signer("bob")), None]);
    // Whoever signs for all of them has the last word.
    let (harness, _, ledger) = self::harness();
    harness.approver(Signed::new(several(), signer("zoe"))).run_settled(calls(), None).await;
    assert_eq!(signed(&ledger), vec![Some(signer("zoe")); 3]);
}

#[tokio::test]
async fn d71_answers_from_outside_are_checked() {
    let (harness, log, _) = harness();
    let (window, mut sets) = ChannelApprover::new();
    let harness = harness.approver(window.clone());
    let (settled, ()) =
        tokio::join!(harness.run_settled([pays("1", r#"{"amount":1}"#), pays("2", r#"{"amount":2}"#)], None), async {
            let set = sets.recv().await.unwrap_or_else(|| panic!("a set"));
            let [one, two] = &set.questions().questions[..] else { panic!("two questions") };
            for unknown in ["", "1", &format!("{}0", one.id)] {
                assert_eq!(window.answer(&unknown.into(), Answer::Yes), Err(AnswerError::NotPending));
            }
            assert!("YES".parse::<Answer>().is_err() && "yes\n".parse::<Answer>().is_err());
            assert_eq!(window.answer(&one.id.as_str().into(), "no".parse().unwrap_or(Answer::Yes)), Ok(()));
            for again in [Answer::Yes, Answer::No] {
                assert_eq!(window.answer(&one.id, again), Err(AnswerError::AlreadyAnswered));
            }
            assert_eq!(set.answer(&two.id, Answer::Yes), Ok(()));
        });
    let codes: Vec<Code> = settled.iter().map(|one| one.record().code()).collect();
    assert_eq!(codes, [Code::Rejected, Code::Ok]);
    assert_eq!(log.take(), ["pay 2 me"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b71_one_of_64_wins() {
    for round in 0..20 {
        let (harness, log, ledger) = harness();
        let (window, mut sets) = ChannelApprover::new();
        let harness = Arc::new(harness.approver(window.clone()));
        let running = Arc::clone(&harness);
        let turn = tokio::spawn(async move { running.run_settled([pays("1", r#"{"amount":1}"#)], None).await });
        let set = sets.recv().await.unwrap_or_else(|| panic!("a set"));
        let id = set.questions().questions[0].id.clone();
        let barrier = Arc::new(Barrier::new(64));
        let threads: Vec<_> = (0..64)
            .map(|thread| {
                let (window, id, barrier) = (window.clone(), id.clone(), Arc::clone(&barrier));
                let answer = if (thread + round) % 2 == 0 { Answer::Yes } else { Answer::No };
                std::thread::spawn(move || {
                    barrier.wait();
                    (answer, window.answer(&id, answer))
                })
            })
            .collect();
        let given: Vec<_> =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| panic!("a thread"))).collect();
        let won: Vec<Answer> = given.iter().filter(|(_, told)| told.is_ok()).map(|(answer, _)| *answer).collect();
        let lost = given.iter().filter(|(_, told)| *told == Err(AnswerError::AlreadyAnswered)).count();
        assert_eq!((won.len(), lost), (1, 63));
        let settled = turn.await.unwrap_or_else(|error| panic!("{error}"));
        let code = if won[0] == Answer::Yes { Code::Ok } else { Code::Rejected };
        assert_eq!(settled[0].record().code(), code);
        assert_eq!(log.take().len(), usize::from(won[0] == Answer::Yes));
        assert_eq!(asks(&ledger).1, [(id, Some(won[0]))]);
    }
}

#[tokio::test]
async fn b72_waiting_too_long_is_no_yes() {
    let (harness, log, ledger) = harness();
    let (window, mut sets) = ChannelApprover::new();
    let harness = harness.approver(window.clone().expires_after(Duration::from_millis(20)));
    let (settled, set) =
        tokio::join!(harness.run_settled([pays("1", r#"{"amount":1}"#), pays("2", r#"{"amount":2}"#)], None), async {
            let set = sets.recv().await.unwrap_or_else(|| panic!("a set"));
            assert_eq!(set.answer(&set.questions().questions[1].id, Answer::Yes), Ok(()));
            set
        });
    // What was answered in time counts.
    let codes: Vec<Code> = settled.iter().map(|one| one.record().code()).collect();
    assert_eq!(codes, [Code::ApprovalExpired, Code::Ok]);
    assert!(settled[0].result().text().contains("may be asked for again"));
    let late = &set.questions().questions[0].id;
    assert_eq!(window.answer(late, Answer::Yes), Err(AnswerError::Expired));
    millis(5).await;
    assert_eq!(log.take(), ["pay 2 me"]);
    assert_eq!(asks(&ledger).1.first(), Some(&(late.clone(), Some(Answer::Expired))));
}

#[tokio::test]
async fn b72_whoever_goes_away_has_not_answered() {
    // The receiver, before and while it is asked, and the set.
    let (harness, _, _) = harness();
    let (window, sets) = ChannelApprover::new();
    drop(sets);
    let harness = harness.approver(window);
    assert_eq!(code(&harness, pays("1", r#"{"amount":1}"#)).await, Code::ApprovalUnavailable);
    for take in [true, false] {
        let (harness, log, _) = self::harness();
        let (window, mut sets) = ChannelApprover::new();
        let harness = harness.approver(window);
        let (code, ()) = tokio::join!(code(&harness, pays("1", r#"{"amount":1}"#)), async move {
            tokio::task::yield_now().await;
            if take {
                drop(sets.recv().await);
            }
            drop(sets);
        });
        assert_eq!((code, log.take().len()), (Code::ApprovalUnavailable, 0), "{take}");
    }
}

/// Its tool has 50 ms.
#[tokio::test]
async fn b72_waiting_is_not_the_tools_time() {
    let (harness, log, _) = harness();
    let harness = harness.approver(|set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(async move {
            millis(100).await;
            vec![Answer::Yes; set.questions.len()]
        })
    });
    assert_eq!(code(&harness, pays("1", r#"{"amount":1}"#)).await, Code::Ok);
    assert_eq!(log.take(), ["pay 1 me"]);
}

#[test]
fn b72_without_timers_nobody_is_asked() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap_or_else(|error| panic!("{error}"));
    let (window, sets) = ChannelApprover::new();
    let set = QuestionSet::new([Question::new("1", "pay", "{}")]);
    let answers = runtime.block_on(window.expires_after(Duration::from_secs(1)).ask(set));
    assert_eq!(answers, [Answer::Unavailable]);
    drop(sets);
}

/// Approvals and grants are the same inside a call.
#[tokio::test]
async fn d67_b64_calls_of_tools_are_asked_about() {
    let only_pay: fn(&CallFacts<'_>) -> Decision =
        |call| if call.tool() == "pay" { Decision::ask("it costs money") } else { Decision::Allow };
    let grants = Grants::new();
    for (answer, code, asked) in [
        (Answer::No, Code::ToolError, 1),
        (Answer::YesForSession(GrantScope::SameArguments), Code::Ok, 1),
        (Answer::No, Code::Ok, 0),
    ] {
        let (harness, log, ledger) = harness_of(only_pay);
        let person = Person::who_says(answer);
        let harness = harness.approver(person.clone()).grants(grants.clone());
        assert_eq!(self::code(&harness, ToolCall::new("1", "outer", "")).await, code, "{answer:?}");
        assert_eq!(person.asked().len(), asked);
        assert!(person.asked().iter().all(|question| question.call_id.as_str() == "1/1"));
        assert_eq!((asks(&ledger).1.len(), log.take().len()), (asked, usize::from(code == Code::Ok)));
    }
}

/// Allowed calls are nobody's question, whatever is granted.
#[tokio::test]
async fn d67_nothing_to_ask_asks_nobody() {
    let person = Person::who_says(Answer::Yes);
    for harness in [harness_of(AllowAll).0, harness_of(DenyAll).0] {
        harness.approver(person.clone()).run([pays("1", r#"{"amount":1}"#)]).await;
    }
    assert_eq!(lock(&person.1).len(), 0);
}
