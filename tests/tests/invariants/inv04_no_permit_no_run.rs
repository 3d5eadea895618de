//! Only a recorded, cleared verdict becomes a permit, and a permit runs one call once.
//!
//! That a permit can't be made, copied, or used twice, and that no stage can be skipped, are facts of types (trybuild);
//! those that can be asked for here are asked for again.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tool_runtime::path::{
    Acceptance, Accepted, Asked, Asking, Checked, Decided, Draft, Ending, Loaded, Outcome, Pending, Permit, Proposed,
    Recorded, ask,
};
use tool_runtime::{
    AllowAll, Answer, Approver, BoxFuture, CallFacts, Checklist, Code, Decision, DenyAll, Guard, JsonPath,
    MemoryLedger, Policy, QuestionSet, Record, Registry, ToolCall, Unknown, Verdict, VerdictKind,
};

use crate::support::{ActTool, Ran, implements, watched};

macro_rules! neither {
    ($($stage:ty),+ $(,)?) => {$(
        assert!(!implements!($stage: Clone), "{} can be cloned", stringify!($stage));
        assert!(!implements!($stage: Copy), "{} can be copied", stringify!($stage));
        assert!(!implements!($stage: Default), "{} comes from nothing", stringify!($stage));
        assert!(!implements!($stage: DeserializeOwned), "{} can be read in", stringify!($stage));
        assert!(!implements!($stage: Serialize), "{} can be written", stringify!($stage));
    )+};
}

#[test]
fn inv04_no_stage_can_be_copied_or_read_in() {
    neither!(
        Proposed, Accepted, Draft, Acceptance, Checked, Decided, Asked, Pending, Recorded, Permit, Outcome, Ending
    );
    // They travel between tasks all the same.
    assert!(implements!(Permit: Send));
    // What is recorded can be written, and comes from a call alone.
    assert!(implements!(Verdict: Serialize) && implements!(Record: Serialize));
    assert!(!implements!(Verdict: DeserializeOwned) && !implements!(Record: DeserializeOwned));
    assert!(!implements!(Verdict: Clone) && !implements!(Verdict: Default) && !implements!(VerdictKind: Default));
    // The host's word for what is missing: nothing that a model writes becomes one.
    assert!(!implements!(Unknown: DeserializeOwned) && !implements!(Unknown: Default));
}

/// The stages one by one, up to a permit.
async fn permitted(
    registry: &Registry,
    call: ToolCall,
    policy: &dyn Policy,
    guards: &[Arc<dyn Guard>],
    approver: Option<&dyn Approver>,
    ledger: &Arc<MemoryLedger>,
) -> Result<Permit, Ending> {
    let accepted = registry.resolve(call, &Loaded::new())?.accept()?;
    let decided = accepted.check(&Checklist::new()).await.decide(policy, guards);
    let mut asking = Asking::new(policy, guards, ledger.clone());
    if let Some(approver) = approver {
        asking = asking.approver(approver);
    }
    let mut asked = ask::ask(vec![decided], asking).await;
    let asked = asked.pop().unwrap_or_else(|| panic!("one asked, none came back"));
    assert!(asked_is_alone(&asked));
    asked.record(ledger).await?.permit()
}

fn asked_is_alone(asked: &Asked) -> bool {
    matches!(asked, Asked::Decided(_) | Asked::Pending(_))
}

fn says(answer: Answer) -> impl Approver {
    move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(async move { vec![answer; set.questions.len()] })
    }
}

fn asks(_: &CallFacts<'_>) -> Decision {
    Decision::ask("sure?")
}

/// Who judges, and what comes of it.
type Judges<'a> = (&'a dyn Policy, &'a [Arc<dyn Guard>], Option<&'a dyn Approver>, Code);

#[tokio::test]
async fn inv04_a_blocked_verdict_gives_no_permit() {
    let (registry, ran) = watched([ActTool::host()]);
    let ledger = Arc::new(MemoryLedger::default());
    let forbids: [Arc<dyn Guard>; 1] = [Arc::new(|_: &CallFacts<'_>| Some("no".into()))];
    let (no, later, nobody, late) =
        (says(Answer::No), says(Answer::Later), says(Answer::Unavailable), says(Answer::Expired));
    let silent = |_: QuestionSet| -> BoxFuture<'static, Vec<Answer>> { Box::pin(async { Vec::new() }) };
    let cases: [Judges<'_>; 9] = [
        (&DenyAll, &[], None, Code::Denied),
        (&DenyAll, &[], Some(&says(Answer::Yes)), Code::Denied),
        (&AllowAll, &forbids, None, Code::Denied),
        (&asks, &[], None, Code::ApprovalUnavailable),
        (&asks, &[], Some(&silent), Code::ApprovalUnavailable),
        (&asks, &[], Some(&no), Code::Rejected),
        (&asks, &[], Some(&later), Code::ApprovalPending),
        (&asks, &[], Some(&nobody), Code::ApprovalUnavailable),
        (&asks, &[], Some(&late), Code::ApprovalExpired),
    ];
    for (policy, guards, approver, code) in cases {
        let call = ToolCall::new("1", "act", "");
        match permitted(&registry, call, policy, guards, approver, &ledger).await {
            Ok(permit) => panic!("{code}: there is a permit for `{}`", permit.tool().name()),
            Err(ending) => {
                assert_eq!(ending.code(), code);
                assert!(!ending.started());
                let settled = ending.settle(&ledger, 1000).await;
                assert!(settled.result().is_error());
                assert_eq!(settled.record().verdict().map(Verdict::kind), Some(VerdictKind::Blocked(code)));
            }
        }
    }
    assert_eq!(ran.times(), 0);
}

/// A draft can be judged and asked about, and never runs: not even if everybody says yes.
#[tokio::test]
async fn inv04_no_draft_becomes_a_permit() {
    let (registry, ran) = watched([ActTool::host(), NamedTool::host()]);
    let ledger = Arc::new(MemoryLedger::default());
    let yes = says(Answer::Yes);
    for policy in [&AllowAll as &dyn Policy, &asks] {
        let call = ToolCall::new("1", "named", "{}").with_no_result(JsonPath::from_pointer("/name"));
        match permitted(&registry, call, policy, &[], Some(&yes), &ledger).await {
            Ok(_) => panic!("a draft has a permit"),
            Err(ending) => assert_eq!(ending.code(), Code::Unanswered),
        }
    }
    assert_eq!(ran.times(), 0);
}

/// Needs a name.
#[tool_runtime::tool]
async fn named(
    /// It.
    name: String,
    #[host] ran: Ran,
) -> String {
    ran.note();
    name
}

#[tokio::test]
async fn inv04_a_cleared_verdict_runs_once_and_only_when_executed() {
    let (registry, ran) = watched([ActTool::host()]);
    let ledger = Arc::new(MemoryLedger::default());
    let yes = says(Answer::Yes);
    let cases: [(&dyn Policy, Option<&dyn Approver>); 2] = [(&AllowAll, None), (&asks, Some(&yes))];
    for (round, (policy, approver)) in cases.into_iter().enumerate() {
        let call = ToolCall::new("1", "act", r#"{"n":5}"#);
        let permit = match permitted(&registry, call, policy, &[], approver, &ledger).await {
            Ok(permit) => permit,
            Err(ending) => panic!("{}", ending.code()),
        };
        assert_eq!(ran.times(), round, "it ran before it was executed");
        let outcome = permit.execute(None).await;
        assert_eq!(outcome.code(), Code::Ok);
        assert_eq!(ran.times(), round + 1);
        let settled = Ending::from(outcome).settle(&ledger, 1000).await;
        assert_eq!(settled.result().text(), "5");
        assert_eq!(settled.record().verdict().map(Verdict::kind), Some(VerdictKind::Cleared));
    }
    // A permit that nobody uses runs nothing.
    let call = ToolCall::new("1", "act", "");
    drop(permitted(&registry, call, &AllowAll, &[], None, &ledger).await);
    assert_eq!(ran.times(), 2);
}
