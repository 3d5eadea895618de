//! Who is asked what: a set for everybody who can answer, all at once, and nobody's yes in another's place.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Barrier;
use tool_runtime::{
    Addressee, Answer, Approver, BoxFuture, CallFacts, Checklist, ChecklistBuilder, Code, Decision, Entry, GrantScope,
    Ledger, LedgerError, Question, QuestionSet, Reply, Reported, Signer, SlotState, ToolCall,
};

use crate::bench::{Bench, PAY, check, code_of, pay, presets, says, seen};

const CALL: &str = r#"{"iban":"DE1","amount":5}"#;

/// Sets that somebody was asked.
type Sets = Arc<Mutex<Vec<QuestionSet>>>;

fn sets(sets: &Sets) -> Vec<QuestionSet> {
    sets.lock().unwrap().clone()
}

/// Answers all questions alike, and keeps them.
fn always(answer: Answer, sets: &Sets) -> impl Approver + use<> {
    filling(answer, None, sets)
}

/// The same, with a value for each blank.
fn filling(answer: Answer, value: Option<&'static str>, sets: &Sets) -> impl Approver + use<> {
    let sets = sets.clone();
    move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        for question in &set.questions {
            for blank in &question.blanks {
                value.into_iter().for_each(|value| set.fill_text(&question.id, &blank.slot, value).unwrap());
            }
        }
        let answers = vec![answer; set.questions.len()];
        sets.lock().unwrap().push(set);
        Box::pin(std::future::ready(answers))
    }
}

fn asks(_: &CallFacts<'_>) -> Decision {
    Decision::ask("payments are looked at")
}

fn sourced() -> ChecklistBuilder {
    Checklist::builder().source(presets(&[("/iban", "\"DE1\""), ("/amount", "5")]))
}

fn confirmed() -> Bench {
    Bench::with("Pays.\n[confirm] Money leaves the account.\n[notice] For good.", PAY)
}

/// "The axis for dividing the slots is who can answer them."
#[tokio::test]
async fn two_who_can_answer_get_two_sets_each_with_what_is_theirs() {
    let bench = confirmed();
    let (of_user, of_approver) = (Sets::default(), Sets::default());
    let harness =
        bench.harness(asks, sourced()).user(always(Answer::Yes, &of_user)).approver(always(Answer::Yes, &of_approver));
    let calls = [pay(CALL), ToolCall::new("call_2", "pay", CALL)];
    let results = harness.run(calls).await;
    assert!(results.iter().all(|result| !result.is_error()), "{results:?}");
    let (user, approver) = (sets(&of_user), sets(&of_approver));
    // One set each, whatever the number of calls.
    assert_eq!((user.len(), approver.len()), (1, 1));
    assert_eq!((&user[0].to, &approver[0].to), (&Addressee::User, &Addressee::Approver));
    let reasons = |set: &QuestionSet| -> Vec<Vec<String>> {
        set.questions.iter().map(|question| question.reasons.clone()).collect()
    };
    assert_eq!(reasons(&user[0]), [["Money leaves the account."], ["Money leaves the account."]]);
    assert_eq!(reasons(&approver[0]), [["payments are looked at"], ["payments are looked at"]]);
    assert_eq!((user[0].notices.len(), approver[0].notices.len()), (1, 0));
    // Both are shown all that will run.
    assert_eq!(user[0].questions[0].arguments, approver[0].questions[0].arguments);
    let verdict = &bench.verdicts()[0];
    let approvals: Vec<_> = verdict.approvals().map(|(by, question)| (by.clone(), question.clone())).collect();
    assert_eq!(
        approvals,
        [
            (Addressee::User, user[0].questions[0].id.clone()),
            (Addressee::Approver, approver[0].questions[0].id.clone())
        ]
    );
    let confirm = verdict.slots().iter().find(|slot| slot.name() == "confirm").unwrap();
    assert_eq!(*confirm.state(), SlotState::Answered(user[0].questions[0].id.clone()));
    // The ledger has both questions and both answers.
    let questions = bench.ledger.entries().iter().filter(|entry| matches!(entry, Entry::Asked(_))).count();
    let answers = bench.ledger.entries().iter().filter(|entry| matches!(entry, Entry::Answered(_))).count();
    assert_eq!((questions, answers), (4, 4));
}

/// Both are asked at the same time: neither waits for the other.
#[tokio::test]
async fn all_are_asked_at_the_same_time() {
    let bench = confirmed();
    let both = Arc::new(Barrier::new(2));
    let waits = |barrier: Arc<Barrier>| {
        move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            let barrier = barrier.clone();
            Box::pin(async move {
                // Only if the other is asked too, this goes on.
                barrier.wait().await;
                vec![Answer::Yes; set.questions.len()]
            })
        }
    };
    let harness = bench.harness(asks, sourced()).user(waits(both.clone())).approver(waits(both));
    assert_eq!(code_of(&harness, pay(CALL)).await.0, Code::Ok);
}

/// A no is a no, whoever says it, and nobody waits for the other: what they are asked is taken back.
#[tokio::test]
async fn one_no_takes_back_what_the_other_is_asked() {
    for user_refuses in [true, false] {
        let bench = confirmed();
        let withdrawn = Arc::new(AtomicUsize::new(0));
        let counted = withdrawn.clone();
        // Never answers, and notices when nobody waits any more.
        let silent = move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            let (token, counted) = (set.token(), counted.clone());
            tokio::spawn(async move {
                token.cancelled().await;
                counted.fetch_add(1, Ordering::Relaxed);
            });
            Box::pin(std::future::pending())
        };
        let refuses = always(Answer::No, &Sets::default());
        let harness = bench.harness(asks, sourced());
        let harness = match user_refuses {
            true => harness.user(refuses).approver(silent),
            false => harness.user(silent).approver(refuses),
        };
        assert_eq!(code_of(&harness, pay(CALL)).await.0, Code::Rejected);
        tokio::task::yield_now().await;
        // Asked first, the user says no at once: then nobody else has to be asked at all.
        assert_eq!((withdrawn.load(Ordering::Relaxed), seen(&bench.ran).len()), (usize::from(!user_refuses), 0));
        let answers: Vec<Option<Answer>> = bench
            .ledger
            .entries()
            .iter()
            .filter_map(|entry| match entry {
                Entry::Answered(answered) => Some(answered.answer()),
                _ => None,
            })
            .collect();
        assert!(answers.len() == 2 && answers.contains(&None) && answers.contains(&Some(Answer::No)), "{answers:?}");
    }
}

/// A no to one call takes nothing from the other calls of the turn.
#[tokio::test]
async fn a_no_to_one_call_leaves_the_others_theirs() {
    let bench = confirmed();
    let first_only = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        let say = |question: &Question| if question.call_id.as_str() == "call_1" { Answer::No } else { Answer::Yes };
        Box::pin(std::future::ready(set.questions.iter().map(say).collect()))
    };
    let of_approver = Sets::default();
    let harness = bench.harness(asks, sourced()).user(first_only).approver(always(Answer::Yes, &of_approver));
    let settled = harness.run_settled([pay(CALL), ToolCall::new("call_2", "pay", CALL)], None).await;
    let codes: Vec<Code> = settled.iter().map(|settled| settled.record().code()).collect();
    assert_eq!(codes, [Code::Rejected, Code::Ok]);
    assert_eq!(sets(&of_approver).len(), 1);
}

/// "`[confirm]` — a slot that cannot be filled without user approval": nobody else's yes is one.
#[tokio::test]
async fn nobody_agrees_in_anothers_place() {
    for (user, approver, code) in [
        (Answer::Yes, Answer::Yes, Code::Ok),
        (Answer::Unavailable, Answer::Yes, Code::ApprovalUnavailable),
        (Answer::Yes, Answer::Unavailable, Code::ApprovalUnavailable),
        (Answer::Expired, Answer::Yes, Code::ApprovalExpired),
        (Answer::Yes, Answer::Expired, Code::ApprovalExpired),
        (Answer::Forbidden, Answer::Yes, Code::Denied),
        (Answer::Later, Answer::No, Code::Rejected),
        (Answer::No, Answer::Later, Code::Rejected),
        (Answer::Later, Answer::Later, Code::ApprovalPending),
        (Answer::Yes, Answer::Later, Code::ApprovalPending),
        (Answer::Later, Answer::Yes, Code::ApprovalPending),
    ] {
        let bench = confirmed();
        let (of_user, of_approver) = (Sets::default(), Sets::default());
        let harness =
            bench.harness(asks, sourced()).user(always(user, &of_user)).approver(always(approver, &of_approver));
        let (came, said) = code_of(&harness, pay(CALL)).await;
        assert_eq!(came, code, "{user:?} {approver:?}: {said}");
        assert_eq!(seen(&bench.ran).len(), usize::from(code == Code::Ok));
    }
    // A missing answer and a panic are none.
    let bench = confirmed();
    let none = |_: QuestionSet| -> BoxFuture<'static, Vec<Answer>> { Box::pin(std::future::ready(Vec::new())) };
    let panics = |_: QuestionSet| -> BoxFuture<'static, Vec<Answer>> { panic!("boom") };
    let yes = || always(Answer::Yes, &Sets::default());
    for harness in [
        bench.harness(asks, sourced()).user(none).approver(yes()),
        bench.harness(asks, sourced()).user(yes()).approver(none),
        bench.harness(asks, sourced()).user(panics).approver(yes()),
        bench.harness(asks, sourced()).user(yes()).approver(panics),
        // Who is asked for a policy isn't the user.
        bench.harness(asks, sourced()).user(yes()),
    ] {
        let (code, said) = code_of(&harness, pay(CALL)).await;
        assert_eq!((code, seen(&bench.ran).len()), (Code::ApprovalUnavailable, 0), "{said}");
    }
}

/// Where the host doesn't say who the user is, it is the approver, and one yes settles both.
#[tokio::test]
async fn one_who_is_both_is_asked_once() {
    let bench = confirmed();
    let asked = Sets::default();
    let harness = bench.harness(asks, sourced()).approver(always(Answer::Yes, &asked));
    assert_eq!(code_of(&harness, pay(CALL)).await.0, Code::Ok);
    let asked = sets(&asked);
    assert_eq!((asked.len(), &asked[0].to), (1, &Addressee::Approver));
    assert_eq!(asked[0].questions[0].reasons, ["payments are looked at", "Money leaves the account."]);
}

/// Blanks are the user's. Who approves is asked once all values are there, and about just these.
#[tokio::test]
async fn who_approves_sees_what_was_filled_in() {
    let bench = confirmed();
    let (of_user, of_approver) = (Sets::default(), Sets::default());
    let list = Checklist::builder().source(presets(&[("/amount", "5")]));
    let harness = bench
        .harness(asks, list)
        .user(filling(Answer::Yes, Some("DE7"), &of_user))
        .approver(always(Answer::Yes, &of_approver));
    let draft = pay(r#"{"amount":5}"#).with_reported(Reported::new([("/iban", Reported::NO_RESULT)]));
    let results = harness.run([draft, ToolCall::new("call_2", "pay", r#"{"iban":"DE7","amount":5}"#)]).await;
    assert!(results.iter().all(|result| !result.is_error()), "{results:?}");
    let (user, approver) = (sets(&of_user), sets(&of_approver));
    assert_eq!((user.len(), approver.len()), (1, 1), "one batch each");
    assert!(approver[0].questions.iter().all(|question| question.blanks.is_empty()));
    let shown: Vec<&str> = approver[0].questions.iter().map(|question| &*question.arguments).collect();
    assert_eq!(shown, [r#"{"iban":"DE7","amount":5}"#; 2]);
    // A user who leaves it empty, or says no: nobody else is asked about it.
    for (answer, value) in [(Answer::Yes, None), (Answer::No, Some("DE7"))] {
        let of_approver = Sets::default();
        let list = Checklist::builder().source(presets(&[("/amount", "5")]));
        let harness = bench
            .harness(asks, list)
            .user(filling(answer, value, &Sets::default()))
            .approver(always(Answer::Yes, &of_approver));
        let draft = pay(r#"{"amount":5}"#).with_reported(Reported::new([("/iban", Reported::NO_RESULT)]));
        let code = code_of(&harness, draft).await.0;
        assert!(matches!(code, Code::Unanswered | Code::Rejected), "{code}");
        assert_eq!(sets(&of_approver).len(), 0);
    }
}

fn by_treasurer() -> String {
    check("approve_if").replace(r#""then":"#, r#""approver":"@treasurer","then":"#)
}

/// An extra approval is somebody's, by name.
#[tokio::test]
async fn an_extra_approval_is_asked_of_who_is_named() {
    let bench = confirmed();
    let list = || sourced().condition("known", says(Ok(true))).json("ours", by_treasurer());
    let (of_approver, of_treasurer) = (Sets::default(), Sets::default());
    let harness = || bench.harness(asks, list()).approver(always(Answer::Yes, &of_approver));
    // Nobody of that name is there, and whoever approves isn't her.
    assert_eq!(code_of(&harness(), pay(CALL)).await.0, Code::ApprovalUnavailable);
    let other = harness().person("treasury", always(Answer::Yes, &of_treasurer));
    assert_eq!(code_of(&other, pay(CALL)).await.0, Code::ApprovalUnavailable);
    assert_eq!(sets(&of_treasurer).len(), 0);
    let named = harness().person("treasurer", always(Answer::Yes, &of_treasurer));
    assert_eq!(code_of(&named, pay(CALL)).await.0, Code::Ok);
    let asked = sets(&of_treasurer);
    assert_eq!((asked.len(), &asked[0].to), (1, &Addressee::person("treasurer")));
    assert_eq!(asked[0].questions[0].reasons, ["the recipient is known (internal: treasury policy 4)"]);
    let refuses = harness().person("treasurer", always(Answer::No, &of_treasurer));
    assert_eq!(code_of(&refuses, pay(CALL)).await.0, Code::Rejected);
    // A word that is neither of the two, and no name.
    let wrong = by_treasurer().replace("@treasurer", "aprover");
    let error = sourced().condition("known", says(Ok(true))).json("ours", wrong).build(&bench.registry).unwrap_err();
    assert!(error.to_string().contains("unknown approver \"aprover\"; did you mean \"approver\"?"), "{error}");
}

/// A yes for the session is the approver's to give, and spares nobody else's question.
#[tokio::test]
async fn a_grant_is_the_approvers_and_spares_only_theirs() {
    let bench = confirmed();
    let session = Answer::YesForSession(GrantScope::AnyArguments);
    let (of_user, of_approver) = (Sets::default(), Sets::default());
    let harness =
        bench.harness(asks, sourced()).user(always(session, &of_user)).approver(always(session, &of_approver));
    for _ in 0..2 {
        assert_eq!(code_of(&harness, pay(CALL)).await.0, Code::Ok);
    }
    assert_eq!((sets(&of_user).len(), sets(&of_approver).len()), (2, 1));
    // Not by the user alone.
    let bench = confirmed();
    let (of_user, of_approver) = (Sets::default(), Sets::default());
    let harness =
        bench.harness(asks, sourced()).user(always(session, &of_user)).approver(always(Answer::Yes, &of_approver));
    for _ in 0..2 {
        assert_eq!(code_of(&harness, pay(CALL)).await.0, Code::Ok);
    }
    assert_eq!(sets(&of_approver).len(), 2);
}

/// Waiting for one, the others' yes stands; going on, nothing runs to which somebody has not agreed.
#[tokio::test]
async fn a_call_that_waits_for_one_has_the_others_yes() {
    let nobody = || always(Answer::No, &Sets::default());
    // Whether the user was asked apart when it began to wait, and whether the host that goes on would.
    for (apart, apart_later, code) in [
        (true, true, Code::Ok),
        (true, false, Code::Ok),
        (false, false, Code::Ok),
        // The user, who is somebody else now, is asked, and says no.
        (false, true, Code::Rejected),
    ] {
        let bench = confirmed();
        let of_approver = Sets::default();
        let waiting = bench.harness(asks, sourced()).approver(always(Answer::Later, &of_approver));
        let waiting = if apart { waiting.user(always(Answer::Yes, &Sets::default())) } else { waiting };
        let settled = waiting.run_settled([pay(CALL)], None).await.remove(0);
        assert_eq!(settled.record().code(), Code::ApprovalPending);
        let question = sets(&of_approver)[0].questions[0].id.clone();
        bench.ledger.reply(Reply::new(question, Answer::Yes, Signer::new("ann", "desk"))).await.unwrap();
        let later = bench.harness(asks, sourced()).approver(nobody());
        let later = if apart_later { later.user(nobody()) } else { later };
        let resumed = later.resume(settled.record().case(), None).await.unwrap();
        assert_eq!(resumed.record().code(), code, "{apart} {apart_later}");
        assert_eq!(seen(&bench.ran).len(), usize::from(code == Code::Ok));
    }
}

/// A question that can't be written down is asked of nobody, and neither is another one about the same call.
#[tokio::test]
async fn what_cant_be_written_down_is_asked_of_nobody() {
    struct Second(AtomicUsize);
    impl Ledger for Second {
        fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
            let fails = matches!(entry, Entry::Asked(_)) && self.0.fetch_add(1, Ordering::Relaxed) == 1;
            let done = if fails { Err(LedgerError::new("full")) } else { Ok(()) };
            Box::pin(std::future::ready(done))
        }
    }

    let bench = confirmed();
    let (of_user, of_approver) = (Sets::default(), Sets::default());
    let harness = bench
        .harness(asks, sourced())
        .ledger(Second(AtomicUsize::new(0)))
        .user(always(Answer::Yes, &of_user))
        .approver(always(Answer::Yes, &of_approver));
    assert_eq!(code_of(&harness, pay(CALL)).await.0, Code::NotRecorded);
    assert_eq!((sets(&of_user).len(), sets(&of_approver).len(), seen(&bench.ran).len()), (0, 0, 0));
}

/// Nobody has to agree: nobody is asked, and the user is still told.
#[tokio::test]
async fn a_notice_is_the_users() {
    struct Tells(Arc<Mutex<Vec<String>>>);
    impl Approver for Tells {
        fn ask(&self, set: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
            Box::pin(std::future::ready(vec![Answer::Yes; set.questions.len()]))
        }

        fn tell(&self, notices: Vec<String>) -> BoxFuture<'static, bool> {
            self.0.lock().unwrap().extend(notices);
            Box::pin(std::future::ready(true))
        }
    }

    let bench = Bench::with("Pays.\n[notice] For good.", PAY);
    for policy in [Decision::Allow, Decision::ask("looked at")] {
        let told = Arc::new(Mutex::new(Vec::new()));
        let harness = bench
            .harness(move |_: &CallFacts<'_>| policy.clone(), sourced())
            .user(Tells(told.clone()))
            .approver(always(Answer::Yes, &Sets::default()));
        assert_eq!(code_of(&harness, pay(CALL)).await.0, Code::Ok);
        assert_eq!(*told.lock().unwrap(), ["For good."]);
        assert_eq!(bench.slot("notice").1, SlotState::Told);
    }
}
