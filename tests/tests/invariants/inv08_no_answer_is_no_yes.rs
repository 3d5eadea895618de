//! No approver, a silent, crashed, or late one: the tool does not run, and the model reads which of them it was.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use tool_runtime::path::Settled;
use tool_runtime::{
    Answer, Approver, BoxFuture, CallFacts, Code, Decision, Harness, Policies, QuestionSet, ToolCall, Verdict,
    VerdictKind,
};

use crate::support::{ActTool, Ran, one, poll_once, watched};

/// A harness that asks about everything, and who may be asked.
fn asking(approver: Option<Answers>) -> (Harness, Ran) {
    let (registry, ran) = watched([ActTool::host()]);
    let harness = Harness::new(registry, |_: &CallFacts<'_>| Decision::ask("it matters"));
    match approver {
        Some(approver) => (harness.approver(approver), ran),
        None => (harness, ran),
    }
}

type Answers = Box<dyn Fn(QuestionSet) -> BoxFuture<'static, Vec<Answer>> + Send + Sync>;

fn answers(answers: &'static [Answer]) -> Answers {
    Box::new(move |_| Box::pin(async move { answers.to_vec() }))
}

/// It didn't run, and all who look at it can tell.
fn did_not_run(settled: &Settled, code: Code) -> String {
    let text = settled.result().text();
    assert_eq!(settled.record().code(), code, "{text}");
    assert!(settled.result().is_error(), "{text}");
    assert!(!settled.record().started(), "{text}");
    assert_eq!(settled.record().verdict().map(Verdict::kind), Some(VerdictKind::Blocked(code)), "{text}");
    assert_eq!(settled.value(), None);
    text
}

#[tokio::test]
async fn inv08_whoever_does_not_say_yes_does_not_run_it() {
    let panics: Answers = Box::new(|_| panic!("boom"));
    let panics_later: Answers = Box::new(|_| {
        Box::pin(async {
            tokio::task::yield_now().await;
            panic!("boom")
        })
    });
    let cases: Vec<(&str, Option<Answers>, Code)> = vec![
        ("nobody", None, Code::ApprovalUnavailable),
        ("silent", Some(answers(&[])), Code::ApprovalUnavailable),
        ("panics", Some(panics), Code::ApprovalUnavailable),
        ("panics later", Some(panics_later), Code::ApprovalUnavailable),
        ("unavailable", Some(answers(&[Answer::Unavailable])), Code::ApprovalUnavailable),
        ("expired", Some(answers(&[Answer::Expired])), Code::ApprovalExpired),
        ("later", Some(answers(&[Answer::Later])), Code::ApprovalPending),
        ("no", Some(answers(&[Answer::No])), Code::Rejected),
        ("no, and then yes", Some(answers(&[Answer::No, Answer::Yes])), Code::Rejected),
    ];
    for (who, approver, code) in cases {
        let (harness, ran) = asking(approver);
        let settled = one(&harness, ToolCall::new("1", "act", "")).await;
        let text = did_not_run(&settled, code);
        assert_eq!(ran.times(), 0, "{who}");
        assert!(!text.contains("boom"), "{who}: {text}");
    }
    // The same harness runs what is agreed to.
    let (harness, ran) = asking(Some(answers(&[Answer::Yes])));
    assert_eq!(one(&harness, ToolCall::new("1", "act", "")).await.record().code(), Code::Ok);
    assert_eq!(ran.times(), 1);
}

/// Answers belong to questions by their place: what is missing at the end is missing, and what is too much is nobody's.
#[tokio::test]
async fn inv08_a_missing_answer_is_missing_and_no_other_stands_in() {
    use Answer::{No, Yes};
    let cases: [(&'static [Answer], [Code; 3]); 5] = [
        (&[], [Code::ApprovalUnavailable; 3]),
        (&[Yes], [Code::Ok, Code::ApprovalUnavailable, Code::ApprovalUnavailable]),
        (&[Yes, No], [Code::Ok, Code::Rejected, Code::ApprovalUnavailable]),
        (&[No, Yes], [Code::Rejected, Code::Ok, Code::ApprovalUnavailable]),
        (&[No, No, No, Yes, Yes], [Code::Rejected; 3]),
    ];
    for (given, codes) in cases {
        let (harness, ran) = asking(Some(answers(given)));
        // One in between about which nobody is asked, so that places and calls differ.
        let calls = [
            ToolCall::new("0", "act", r#"{"n":"x"}"#),
            ToolCall::new("1", "act", r#"{"n":1}"#),
            ToolCall::new("2", "act", r#"{"n":2}"#),
            ToolCall::new("gone", "nobody", ""),
            ToolCall::new("3", "act", r#"{"n":3}"#),
        ];
        let settled = harness.run_settled(calls, None).await;
        let asked: Vec<_> = [1, 2, 4].iter().map(|&place: &usize| settled[place].record().code()).collect();
        assert_eq!(asked, codes, "{given:?}");
        assert_eq!(settled[0].record().code(), Code::InvalidArguments);
        assert_eq!(settled[3].record().code(), Code::UnknownTool);
        assert_eq!(ran.times(), codes.iter().filter(|code| **code == Code::Ok).count(), "{given:?}");
        for (number, place) in [1, 2, 4].into_iter().enumerate() {
            if codes[number] == Code::Ok {
                assert_eq!(settled[place].result().text(), (number + 1).to_string());
            }
        }
    }
}

/// All calls of a turn are asked about together, before any of them runs.
#[tokio::test]
async fn inv08_nothing_runs_while_the_answer_is_out() {
    let answered = Arc::new(AtomicBool::new(false));
    let (registry, ran) = watched([ActTool::host()]);
    let waits = Arc::clone(&answered);
    let harness = Harness::new(registry, |call: &CallFacts<'_>| match call.arguments().read::<i64>("/n") {
        Some(0) => Decision::Allow,
        _ => Decision::ask("it matters"),
    })
    .approver(move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        let waits = Arc::clone(&waits);
        Box::pin(async move {
            while !waits.load(Ordering::SeqCst) {
                tokio::task::yield_now().await;
            }
            vec![Answer::Yes; set.questions.len()]
        })
    });
    let calls = || [ToolCall::new("1", "act", r#"{"n":0}"#), ToolCall::new("2", "act", r#"{"n":1}"#)];
    {
        let mut turn = pin!(harness.run(calls()));
        for _ in 0..50 {
            assert!(matches!(poll_once(&mut turn), Poll::Pending));
        }
        assert_eq!(ran.times(), 0);
        // Nobody waits any more: nothing has run and nothing will.
    }
    assert_eq!(ran.times(), 0);
    answered.store(true, Ordering::SeqCst);
    assert_eq!(ran.times(), 0);
    assert!(harness.run(calls()).await.iter().all(|result| !result.is_error()));
    assert_eq!(ran.times(), 2);
}

/// Whoever judges and crashes has said no, also when others have said yes, and also in a person's place.
#[tokio::test]
async fn inv08_whoever_crashes_while_judging_has_said_no() {
    let panicking = |_: &CallFacts<'_>| -> Decision { panic!("boom") };
    let yes = || answers(&[Answer::Yes]);
    let allows = |_: &CallFacts<'_>| Decision::Allow;
    for case in 0..5 {
        let (registry, ran) = watched([ActTool::host()]);
        let harness = match case {
            0 => Harness::new(registry, panicking).approver(yes()),
            1 => Harness::new(registry, Policies::new().and(allows).and(panicking)).approver(yes()),
            2 => Harness::new(registry, Policies::new().and(panicking).and(allows)).approver(yes()),
            3 => Harness::new(registry, allows).guard(|_: &CallFacts<'_>| panic!("boom")).approver(yes()),
            // Only after it was approved.
            _ => {
                let asked = AtomicBool::new(false);
                Harness::new(registry, move |_: &CallFacts<'_>| {
                    assert!(!asked.swap(true, Ordering::SeqCst), "boom");
                    Decision::ask("it matters")
                })
                .approver(yes())
            }
        };
        let settled = one(&harness, ToolCall::new("1", "act", "")).await;
        let text = did_not_run(&settled, Code::Denied);
        assert!(!text.contains("boom"), "{case}: {text}");
        assert_eq!(ran.times(), 0, "{case}");
    }
}

/// A policy that has nothing to say hasn't said yes.
#[tokio::test]
async fn inv08_no_opinion_is_no_yes() {
    for policy in [Policies::new(), Policies::new().and(|_: &CallFacts<'_>| Decision::NoOpinion)] {
        let (registry, ran) = watched([ActTool::host()]);
        let settled = one(&Harness::new(registry, policy), ToolCall::new("1", "act", "")).await;
        did_not_run(&settled, Code::ApprovalUnavailable);
        assert_eq!(ran.times(), 0);
    }
}

/// A person said no; there was nobody to ask; nobody answered; nobody answered in time; the answer comes later; a rule
/// forbids it: a model reads six things.
#[tokio::test]
async fn inv08_the_model_reads_which_of_them_it_was() {
    let mut texts = BTreeSet::new();
    for (answer, says, says_not) in [
        (Some(Answer::No), "said no", ["nobody", "rule", "later"]),
        (Some(Answer::Unavailable), "nobody could be asked", ["said no", "rule", "in time"]),
        (None, "nobody could be asked", ["said no", "rule", "in time"]),
        (Some(Answer::Expired), "in time", ["said no", "rule", "could be asked"]),
        (Some(Answer::Later), "later", ["said no", "rule", "in time"]),
    ] {
        let approver: Option<Answers> =
            answer.map(|answer| -> Answers { Box::new(move |_| Box::pin(async move { vec![answer] })) });
        let (harness, _) = asking(approver);
        let text = one(&harness, ToolCall::new("1", "act", "")).await.result().text();
        assert!(text.contains(says), "{answer:?}: {text}");
        for word in says_not {
            assert!(!text.contains(word), "{answer:?} is mistaken for another ({word}): {text}");
        }
        // Whichever it was, the model knows that nothing happened.
        assert!(text.contains("did not run") || text.contains("has not run"), "{answer:?}: {text}");
        texts.insert(text);
    }
    let (registry, _) = watched([ActTool::host()]);
    let harness = Harness::new(registry, |_: &CallFacts<'_>| Decision::deny("never"));
    let denied = one(&harness, ToolCall::new("1", "act", "")).await.result().text();
    assert!(denied.contains("rule") && denied.contains("never") && denied.contains("did not run"), "{denied}");
    assert!(!denied.contains("person") && !denied.contains("nobody"), "{denied}");
    texts.insert(denied);
    assert_eq!(texts.len(), 6, "{texts:#?}");
}

/// Approvers are asked through a trait object too.
#[tokio::test]
async fn inv08_a_set_holds_what_waits_and_nothing_else() {
    struct Counting;
    impl Approver for Counting {
        fn ask(&self, questions: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
            let ids: Vec<_> = questions.questions.iter().map(|question| question.call_id.as_str().to_owned()).collect();
            assert_eq!(ids, ["2", "4"]);
            Box::pin(async { vec![Answer::Yes, Answer::No] })
        }
    }
    let (registry, ran) = watched([ActTool::host()]);
    let policy = |call: &CallFacts<'_>| match call.arguments().read::<i64>("/n") {
        Some(1) => Decision::Allow,
        Some(3) => Decision::deny("not three"),
        _ => Decision::ask("it matters"),
    };
    let harness = Harness::new(registry, policy).approver(Counting);
    let calls = (1..=4).map(|n| ToolCall::new(n.to_string(), "act", format!(r#"{{"n":{n}}}"#)));
    let settled = harness.run_settled(calls, None).await;
    let codes: Vec<_> = settled.iter().map(|settled| settled.record().code()).collect();
    assert_eq!(codes, [Code::Ok, Code::Ok, Code::Denied, Code::Rejected]);
    assert_eq!(ran.times(), 2);
}
