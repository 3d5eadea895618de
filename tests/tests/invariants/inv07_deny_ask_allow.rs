//! Deny beats ask beats allow, in any order of rules and however they are nested.
//!
//! Remembered grants are in `behaviours::approvals`.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use tests::config;
use tool_runtime::{
    Answer, BoxFuture, CallFacts, Code, Decision, Harness, Policies, Policy, QuestionSet, ToolCall, VerdictKind,
};

use crate::support::{ActTool, block_on, lock, one, watched};

/// What a rule says, before it is numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Allow,
    Deny,
    Ask,
    Nothing,
}

const ALL: [Says; 4] = [Says::Allow, Says::Deny, Says::Ask, Says::Nothing];

fn decision(says: Says, number: usize) -> Decision {
    match says {
        Says::Allow => Decision::Allow,
        Says::Deny => Decision::deny(format!("deny {number}.")),
        Says::Ask => Decision::ask(format!("ask {number}.")),
        Says::Nothing => Decision::NoOpinion,
    }
}

fn rule(says: Says, number: usize) -> impl Policy {
    move |_: &CallFacts<'_>| decision(says, number)
}

/// What all of them come to, by the words of the invariant alone.
fn expected(rules: &[Says], guarded: bool) -> Says {
    if guarded || rules.contains(&Says::Deny) {
        Says::Deny
    } else if rules.contains(&Says::Ask) || !rules.contains(&Says::Allow) {
        Says::Ask
    } else {
        Says::Allow
    }
}

/// Runs one call under `policy`, once with a person who says yes to everything and once with nobody.
fn check(make: impl Fn() -> Policies, rules: &[Says], guards: &[bool]) {
    let guarded = guards.contains(&true);
    for answers in [true, false] {
        let (registry, ran) = watched([ActTool::host()]);
        let asked = Arc::new(AtomicUsize::new(0));
        let reasons = Arc::new(Mutex::new(Vec::new()));
        let mut harness = Harness::new(registry, make());
        for (number, forbids) in guards.iter().copied().enumerate() {
            harness = harness.guard(move |_: &CallFacts<'_>| -> Option<Cow<'static, str>> {
                forbids.then(|| format!("guard {number}.").into())
            });
        }
        if answers {
            let (asked, reasons) = (Arc::clone(&asked), Arc::clone(&reasons));
            harness = harness.approver(move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
                asked.fetch_add(1, Ordering::SeqCst);
                set.questions.iter().for_each(|question| lock(&reasons).extend(question.reasons.iter().cloned()));
                Box::pin(async move { vec![Answer::Yes; set.questions.len()] })
            });
        }
        let settled = block_on(one(&harness, ToolCall::new("1", "act", "")));
        let expected = expected(rules, guarded);
        let code = match (expected, answers) {
            (Says::Deny, _) => Code::Denied,
            (Says::Ask, false) => Code::ApprovalUnavailable,
            _ => Code::Ok,
        };
        let context = format!("{rules:?}, guards {guards:?}, answers: {answers}");
        assert_eq!(settled.record().code(), code, "{context}");
        assert_eq!(ran.times(), usize::from(code == Code::Ok), "{context}");
        // A denied call asks nothing, an allowed one neither.
        assert_eq!(asked.load(Ordering::SeqCst), usize::from(answers && expected == Says::Ask), "{context}");
        let Some(verdict) = settled.record().verdict() else { panic!("{context}: no verdict") };
        assert_eq!(verdict.kind() == VerdictKind::Cleared, code == Code::Ok, "{context}");
        // Whoever says no, or asks, is read about by those whom it concerns.
        let text = settled.result().text();
        let recorded = verdict.reasons().join(" ");
        for (number, says) in rules.iter().enumerate() {
            if *says == Says::Deny {
                assert!(text.contains(&format!("deny {number}.")), "{context}: {text}");
                assert!(recorded.contains(&format!("deny {number}.")), "{context}: {recorded}");
            }
            if *says == Says::Ask && expected == Says::Ask {
                let reason = format!("ask {number}.");
                assert!(recorded.contains(&reason), "{context}: {recorded}");
                assert!(!answers || lock(&reasons).iter().any(|said| said.contains(&reason)), "{context}");
            }
        }
        for (number, _) in guards.iter().enumerate().filter(|(_, forbids)| **forbids) {
            assert!(recorded.contains(&format!("guard {number}.")), "{context}: {recorded}");
        }
    }
}

fn flat(rules: &[Says]) -> Policies {
    rules.iter().enumerate().fold(Policies::new(), |policies, (number, says)| policies.and(rule(*says, number)))
}

/// Each rule one level deeper than the one before it.
fn nested(rules: &[Says]) -> Policies {
    rules
        .iter()
        .enumerate()
        .rev()
        .fold(Policies::new(), |inner, (number, says)| Policies::new().and(rule(*says, number)).and(inner))
}

#[test]
fn inv07_every_order_of_up_to_four_rules() {
    let mut orders: Vec<Vec<Says>> = vec![Vec::new()];
    let mut longest = orders.clone();
    for _ in 0..4 {
        longest = longest
            .iter()
            .flat_map(|order| ALL.map(|says| order.iter().copied().chain([says]).collect::<Vec<_>>()))
            .collect();
        orders.extend(longest.iter().cloned());
    }
    assert_eq!(orders.len(), 341);
    for rules in &orders {
        check(|| flat(rules), rules, &[]);
        check(|| nested(rules), rules, &[]);
    }
}

#[test]
fn inv07_a_guard_forbids_whatever_the_rules_say() {
    for says in ALL {
        for guards in [&[true][..], &[false, true], &[true, false], &[false], &[false, false], &[true, true]] {
            check(|| flat(&[says]), &[says], guards);
        }
    }
}

proptest! {
    #![proptest_config(config(200))]

    /// Rules in groups of any size, in any order, with any guards.
    #[test]
    fn inv07_any_groups_in_any_order(
        groups in prop::collection::vec(prop::collection::vec(prop::sample::select(&ALL[..]), 0..6), 0..5),
        guards in prop::collection::vec(prop::bool::weighted(0.2), 0..3),
    ) {
        let rules: Vec<Says> = groups.iter().flatten().copied().collect();
        let make = || {
            let mut number = 0;
            groups.iter().fold(Policies::new(), |outer, group| {
                let inner = group.iter().fold(Policies::new(), |inner, says| {
                    let inner = inner.and(rule(*says, number));
                    number += 1;
                    inner
                });
                outer.and(inner)
            })
        };
        check(make, &rules, &guards);
    }
}

/// A yes is to the question, not to what the world has become: whatever forbids the call after it was approved still
/// does.
#[tokio::test]
async fn inv07_an_approval_does_not_outweigh_a_later_no() {
    for by_guard in [false, true] {
        let (registry, ran) = watched([ActTool::host()]);
        let approved = Arc::new(AtomicUsize::new(0));
        let (of_policy, of_guard) = (Arc::clone(&approved), Arc::clone(&approved));
        let harness = Harness::new(registry, move |_: &CallFacts<'_>| {
            if !by_guard && of_policy.load(Ordering::SeqCst) > 0 {
                Decision::deny("too late")
            } else {
                Decision::ask("now?")
            }
        })
        .guard(move |_: &CallFacts<'_>| (by_guard && of_guard.load(Ordering::SeqCst) > 0).then(|| "too late".into()))
        .approver(move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            approved.fetch_add(1, Ordering::SeqCst);
            Box::pin(async move { vec![Answer::Yes; set.questions.len()] })
        });
        let settled = one(&harness, ToolCall::new("1", "act", "")).await;
        assert_eq!(settled.record().code(), Code::Denied);
        assert_eq!(ran.times(), 0);
    }
}
