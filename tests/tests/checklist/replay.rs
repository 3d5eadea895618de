//! Recorded verdicts, held against another list or another policy.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tool_runtime::{
    AllowAll, Answer, BoxFuture, CallFacts, CheckedCall, Checklist, ChecklistBuilder, Code, Conversation, Decision,
    GrantScope, History, Ledger, Lookup, Policy, Query, QuestionSet, Registry, Replay, Replayed, Reported, SlotState,
    SourceKind, Stored, VerdictKind, WouldBe, source_fn,
};

use crate::bench::{Bench, PAY, Ran, check, code_of, fills, pay, presets, says, tool_of};

impl Bench {
    async fn history(&self) -> History {
        self.ledger.history(Query::all()).await.unwrap()
    }

    /// All recorded calls, by another list and policy.
    async fn replay(&self, policy: &dyn Policy, list: ChecklistBuilder) -> Vec<Replayed> {
        let list = list.build(&self.registry).unwrap_or_else(|error| panic!("{error}"));
        Replay::new(&self.registry, policy).checklist(&list).of(&self.history().await)
    }

    /// The only one.
    async fn replay_one(&self, policy: &dyn Policy, list: ChecklistBuilder) -> Replayed {
        let mut all = self.replay(policy, list).await;
        assert_eq!(all.len(), 1);
        all.remove(0)
    }
}

const CALL: &str = r#"{"iban":"DE1","amount":5}"#;

fn blocked(code: Code) -> WouldBe {
    WouldBe::Certain(VerdictKind::Blocked(code))
}

const CLEARED: WouldBe = WouldBe::Certain(VerdictKind::Cleared);

/// All that this call has stands in presets.
fn sourced() -> ChecklistBuilder {
    Checklist::builder().source(presets(&[("/iban", "\"DE1\""), ("/amount", "5")]))
}

/// Held against what it was decided by, every verdict is the same again, whatever it was.
#[tokio::test]
async fn a_verdict_held_against_its_own_list_and_policy_is_the_same_again() {
    let asks = |_: &CallFacts<'_>| Decision::ask("payments are looked at");
    let says_of = |answer: Answer| {
        move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            Box::pin(std::future::ready(vec![answer; set.questions.len()]))
        }
    };
    let lists: [&dyn Fn() -> ChecklistBuilder; 6] = [
        &sourced,
        &Checklist::builder,
        &|| sourced().condition("known", says(Ok(true))).json("ours", check("approve_if")),
        &|| sourced().condition("known", says(Ok(false))).json("ours", check("holds")),
        &|| sourced().condition("known", says(Err("down"))).json("ours", check("holds")),
        &|| sourced().json("ours", r#"{"fixed":{"intent":true,"timing":true}}"#),
    ];
    for (at, list) in lists.into_iter().enumerate() {
        for answer in [None, Some(Answer::Yes), Some(Answer::No), Some(Answer::Expired), Some(Answer::Later)] {
            let bench = Bench::with("Pays.\n[confirm] Money leaves.\n[notice] For good.", PAY);
            let mut harness = bench.harness(asks, list());
            if let Some(answer) = answer {
                harness = harness.approver(says_of(answer));
            }
            let draft = pay(r#"{"amount":5}"#).with_reported(Reported::new([("/iban", Reported::NO_RESULT)]));
            for call in [pay(CALL), pay(r#"{"iban":"DE2","amount":5}"#), draft] {
                code_of(&harness, call).await;
            }
            for replayed in bench.replay(&asks, list()).await {
                assert!(!replayed.differs(), "list {at}, {answer:?}: {replayed}\n{:?}", replayed.slots());
                assert!(!replayed.is_redefined());
            }
        }
    }
}

/// What was filled in, and what was granted for the session, counts again.
#[tokio::test]
async fn answers_and_grants_count_again() {
    let asks = |_: &CallFacts<'_>| Decision::ask("payments are looked at");
    let bench = Bench::with("Pays.", PAY);
    let list = || Checklist::builder().source(presets(&[("/amount", "5")]));
    let harness = bench.harness(asks, list()).approver(fills(&[("The account that is paid.", "DE7")], &Arc::default()));
    let draft = pay(r#"{"amount":5}"#).with_reported(Reported::new([("/iban", Reported::NO_RESULT)]));
    assert_eq!(code_of(&harness, draft).await.0, Code::Ok);
    let replayed = bench.replay_one(&asks, list()).await;
    assert_eq!(*replayed.would(), CLEARED, "{replayed}");

    let bench = Bench::with("Pays.", PAY);
    let session = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(std::future::ready(vec![Answer::YesForSession(GrantScope::SameArguments); set.questions.len()]))
    };
    let harness = bench.harness(asks, sourced()).approver(session);
    assert_eq!(code_of(&harness, pay(CALL)).await.0, Code::Ok);
    assert_eq!(code_of(&harness, pay(CALL)).await.0, Code::Ok);
    let all = bench.replay(&asks, sourced()).await;
    assert!(all.iter().all(|replayed| !replayed.differs()), "{all:?}");
    // A line that nobody has agreed to is none that a grant is for.
    let more = sourced().condition("known", says(Ok(true))).json("ours", check("approve_if"));
    let all = bench.replay(&asks, more).await;
    assert!(all.iter().all(|replayed| *replayed.would() != CLEARED), "{all:?}");
}

/// The policy is judged over the canonical text.
#[tokio::test]
async fn another_policy_is_seen_before_it_decides() {
    let bench = Bench::with("Pays.", PAY);
    let harness = bench.harness(AllowAll, sourced());
    code_of(&harness, pay(CALL)).await;
    let deny = |call: &CallFacts<'_>| match call.arguments().get("/amount") {
        Some("5") => Decision::deny("no fives"),
        _ => Decision::Allow,
    };
    let replayed = bench.replay_one(&deny, sourced()).await;
    assert_eq!((replayed.was(), replayed.would()), (VerdictKind::Cleared, &blocked(Code::Denied)));
    assert_eq!(replayed.reasons(), ["no fives"]);
    assert!(replayed.to_string().ends_with("call_1 pay: was cleared; would be denied: no fives"), "{replayed}");
    let asks = |_: &CallFacts<'_>| Decision::ask("payments are looked at");
    assert_eq!(*bench.replay_one(&asks, sourced()).await.would(), WouldBe::UpToAnswers);
    let panics = |_: &CallFacts<'_>| -> Decision { panic!("boom") };
    assert_eq!(*bench.replay_one(&panics, sourced()).await.would(), blocked(Code::Denied));

    // The other way: what was denied, and what nobody could be asked about, would run.
    let bench = Bench::with("Pays.", PAY);
    code_of(&bench.harness(deny, sourced()), pay(CALL)).await;
    code_of(&bench.harness(asks, sourced()), pay(CALL)).await;
    let all = bench.replay(&AllowAll, sourced()).await;
    assert_eq!(all.iter().map(Replayed::would).collect::<Vec<_>>(), [&CLEARED; 2]);
}

/// Nothing is looked up by asking anybody: what was never looked up is unknown.
#[tokio::test]
async fn a_replay_asks_nobody_and_looks_nothing_up() {
    let bench = Bench::with("Pays.", PAY);
    let harness = bench.harness(AllowAll, sourced());
    code_of(&harness, pay(CALL)).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let (at_source, at_check) = (asked.clone(), asked.clone());
    let source = source_fn(SourceKind::Instruction, move |_| {
        at_source.fetch_add(1, Ordering::Relaxed);
        std::future::ready(Lookup::NoResult)
    });
    let known = move |_: CheckedCall| -> BoxFuture<'static, Result<bool, String>> {
        at_check.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(Ok(true)))
    };
    let list = || {
        let lines = check("holds").replace(r#","scope":{"calls":"none"}"#, "");
        Checklist::builder().source(source.clone()).condition("known", known.clone()).json("ours", lines)
    };
    let replayed = bench.replay_one(&AllowAll, list()).await;
    assert_eq!(*replayed.would(), blocked(Code::Unanswered), "{replayed}");
    assert_eq!(replayed.reasons(), ["the recipient is known"]);
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    let changed: Vec<_> = replayed.changed().map(|(slot, ..)| slot.to_owned()).collect();
    assert_eq!(changed, ["recipient"]);
    // Values stand where they stood.
    let found = replayed.slots().iter().filter(|slot| matches!(slot.state(), SlotState::Found { .. })).count();
    assert_eq!(found, 2);
}

/// What a check said then is what it says, whatever follows from it now.
#[tokio::test]
async fn a_check_is_taken_from_the_record() {
    let list = |then: &str, truth: Result<bool, &'static str>| {
        sourced().condition("known", says(truth)).json("ours", check(then))
    };
    for (truth, then, would) in [
        (true, "holds", CLEARED),
        (true, "prohibits", blocked(Code::ConditionNotMet)),
        (true, "approve_if", WouldBe::UpToAnswers),
        (false, "holds", blocked(Code::ConditionNotMet)),
        (false, "prohibits", CLEARED),
        (false, "approve_if", CLEARED),
    ] {
        let bench = Bench::with("Pays.", PAY);
        code_of(&bench.harness(AllowAll, list("holds", Ok(truth))), pay(CALL)).await;
        // What it would say today is another matter.
        let replayed = bench.replay_one(&AllowAll, list(then, Ok(!truth))).await;
        assert_eq!(*replayed.would(), would, "{truth} {then}: {replayed}");
    }
}

/// A source that is no longer one vouches for nothing.
#[tokio::test]
async fn a_narrower_list_of_sources_leaves_values_unknown() {
    let bench = Bench::with("Pays.", PAY);
    code_of(&bench.harness(AllowAll, sourced()), pay(CALL)).await;
    let narrower = r#"{"line":[{"tool":"pay","argument":"iban","from":["answer","instruction"]}]}"#;
    let replayed = bench.replay_one(&AllowAll, sourced().json("ours", narrower)).await;
    assert_eq!(*replayed.would(), WouldBe::UpToAnswers);
    assert_eq!(replayed.reasons(), ["The account that is paid."]);
    // And one that was open because of that is not found by a wider one: nobody has looked there.
    let bench = Bench::with("Pays.", PAY);
    code_of(&bench.harness(AllowAll, sourced().json("ours", narrower)), pay(CALL)).await;
    let replayed = bench.replay_one(&AllowAll, sourced()).await;
    assert!(!replayed.differs(), "{replayed}");
}

/// A list in the shadow is replayed before it blocks anything.
#[tokio::test]
async fn what_a_shadow_recorded_shows_what_the_list_would_block() {
    let bench = Bench::with("Pays.", PAY);
    let shadow = Checklist::builder().json("ours", r#"{"scope":{"shadow":true}}"#);
    assert_eq!(code_of(&bench.harness(AllowAll, shadow), pay(CALL)).await.0, Code::Ok);
    let replayed = bench.replay_one(&AllowAll, Checklist::builder()).await;
    assert_eq!((replayed.was(), replayed.would()), (VerdictKind::Cleared, &WouldBe::UpToAnswers));
}

/// A yes is for what was shown with it: a new reason asks again, and a no stays one.
#[tokio::test]
async fn what_was_said_counts_for_what_was_shown() {
    let more = || {
        let lines = r#"{"line":[{"tool":"pay","label":"confirm","text":"it is the right day"}]}"#;
        sourced().json("ours", lines)
    };
    for (answer, same, with_more) in [
        (Answer::Yes, CLEARED, WouldBe::UpToAnswers),
        (Answer::No, blocked(Code::Rejected), blocked(Code::Rejected)),
        (Answer::Expired, blocked(Code::ApprovalExpired), blocked(Code::ApprovalExpired)),
    ] {
        let bench = Bench::with("Pays.\n[confirm] Money leaves.", PAY);
        let says = move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            Box::pin(std::future::ready(vec![answer; set.questions.len()]))
        };
        code_of(&bench.harness(AllowAll, sourced()).approver(says), pay(CALL)).await;
        assert_eq!(*bench.replay_one(&AllowAll, sourced()).await.would(), same);
        assert_eq!(*bench.replay_one(&AllowAll, more()).await.would(), with_more);
    }
}

/// What the record doesn't say is no guess.
#[tokio::test]
async fn secrets_are_not_in_the_record_and_not_guessed() {
    let parameters = PAY.replace(r#""memo":{"type":"string"}"#, r#""pin":{"type":"string","x-tool-secret":true}"#);
    let bench = Bench::with("Pays.", &parameters);
    let list = || sourced().json("ours", r#"{"line":[{"tool":"pay","argument":"pin","authored":true}]}"#);
    let harness = bench.harness(AllowAll, list());
    code_of(&harness, pay(r#"{"iban":"DE1","amount":5,"pin":"4711"}"#)).await;
    let replayed = bench.replay_one(&AllowAll, list()).await;
    assert!(matches!(replayed.would(), WouldBe::Untold(_)) && replayed.differs(), "{replayed}");
    code_of(&harness, pay(CALL)).await;
    let all = bench.replay(&AllowAll, list()).await;
    assert!(!all[1].differs(), "{}", all[1]);
}

/// The tools may have changed, too.
#[tokio::test]
async fn another_definition_is_seen_and_judged() {
    let bench = Bench::with("Pays.", PAY);
    code_of(&bench.harness(AllowAll, sourced()), pay(CALL)).await;
    let history = bench.history().await;
    let against = |description: &str, parameters: &str| {
        let tool = tool_of(&Ran::default(), "pay", description, parameters);
        let registry = Registry::builder().tool(tool).build().unwrap();
        Replay::new(&registry, &AllowAll).of(&history).remove(0)
    };
    let other = against("Pays.\n[confirm] Sure?", PAY);
    assert!(other.is_redefined() && *other.would() == WouldBe::UpToAnswers, "{other}");
    let stricter = against("Pays.", &PAY.replace(r#""minimum":1"#, r#""minimum":6"#));
    assert_eq!(*stricter.would(), blocked(Code::InvalidArguments));
    let none = Registry::builder().build().unwrap();
    let gone = Replay::new(&none, &AllowAll).of(&history).remove(0);
    assert_eq!(*gone.would(), blocked(Code::UnknownTool));
}

/// A record in which slots were struck out, or that says something else than this crate writes, vouches for nothing.
#[tokio::test]
async fn a_record_that_cant_be_read_vouches_for_nothing() {
    let bench = Bench::with("Pays.", PAY);
    code_of(&bench.harness(AllowAll, sourced()), pay(CALL)).await;
    let list = sourced().build(&bench.registry).unwrap();
    let history = bench.history().await;
    let entry = history.cases()[0].verdict().unwrap().text().to_owned();
    let replay = |text: &str| {
        let history = History::of([Stored::read(text).unwrap()]);
        Replay::new(&bench.registry, &AllowAll).checklist(&list).of(&history).remove(0)
    };
    assert!(!replay(&entry).differs());
    for (from, to) in [
        (r#""state":"found""#, r#""state":"certain""#),
        (r#""slots":["#, r#""slot":["#),
        (r#""slots":["#, r#""slots":["x","#),
        (r#""value":"\"DE1\"""#, r#""value":"\"DE2\"""#),
        (r#""normalisation":"exact""#, r#""normalisation":"more or less""#),
        (r#""pointer":"p:"#, r#""pointer":"q:"#),
    ] {
        assert!(entry.contains(from), "{from} is not in {entry}");
        let replayed = replay(&entry.replacen(from, to, 1));
        let expected = if to.contains(r#"["x""#) { CLEARED } else { WouldBe::UpToAnswers };
        assert_eq!(*replayed.would(), expected, "{to}: {replayed}");
    }
    let replayed = replay(&entry.replace(r#""arguments":"{"#, r#""arguments":"["#));
    assert_eq!(*replayed.would(), blocked(Code::InvalidArguments));
}

/// The user's words count again, where they were found.
#[tokio::test]
async fn intent_is_taken_from_the_record() {
    let bench = Bench::with("Pays.", PAY);
    let conversation = Conversation::new();
    conversation.user("Pay 5 to DE1, now.");
    let list = || sourced().source(conversation.instruction()).json("ours", r#"{"fixed":{"timing":true}}"#);
    let call = |reported: &[(&str, &str)]| pay(CALL).with_reported(Reported::new(reported.iter().copied()));
    let harness = bench.harness(AllowAll, list());
    assert_eq!(code_of(&harness, call(&[("@when", "u1")])).await.0, Code::Ok);
    assert_eq!(code_of(&harness, call(&[])).await.0, Code::ApprovalUnavailable);
    let all = bench.replay(&AllowAll, list()).await;
    assert!(all.iter().all(|replayed| !replayed.differs()), "{all:?}");
    // Of the action nothing was recorded.
    let more = sourced().json("ours", r#"{"fixed":{"intent":true}}"#);
    let all = bench.replay(&AllowAll, more).await;
    assert!(all.iter().all(|replayed| *replayed.would() == WouldBe::UpToAnswers), "{all:?}");
}

#[cfg(feature = "cel")]
mod expressions {
    use super::*;

    fn state(json: &'static str) -> impl Fn(CheckedCall) -> BoxFuture<'static, Result<String, String>> {
        move |_| Box::pin(std::future::ready(Ok(json.to_owned())))
    }

    fn list(balance: &'static str, condition: &str) -> ChecklistBuilder {
        let line = format!(
            r#"{{"scope":{{"calls":"none"}},"line":[{{"tool":"pay","name":"balance","holds":"{condition}","text":"the balance is sufficient"}}]}}"#
        );
        let list = Checklist::builder().state("balance", state(balance)).state("limit", state("100"));
        list.json("ours", line)
    }

    /// A changed condition is judged by the state of that time.
    #[tokio::test]
    async fn a_condition_is_judged_by_the_recorded_state() {
        let bench = Bench::with("Pays.", PAY);
        let harness = bench.harness(AllowAll, list("7", "args.amount <= state.balance"));
        assert_eq!(code_of(&harness, pay(CALL)).await.0, Code::Ok);
        let verdicts = bench.verdicts();
        assert_eq!(verdicts[0].slots()[0].judged_by().collect::<Vec<_>>(), [("state.balance", "7")]);
        for (condition, would) in [
            ("args.amount <= state.balance", CLEARED),
            ("args.amount + 3 <= state.balance", blocked(Code::ConditionNotMet)),
            // What nobody observed then is unknown, whatever it is today.
            ("args.amount <= state.limit", blocked(Code::Unanswered)),
            ("args.amount == 5 || state.limit > 0", CLEARED),
            ("now > timestamp('2020-01-01T00:00:00Z')", blocked(Code::Unanswered)),
        ] {
            let replayed = bench.replay_one(&AllowAll, list("0", condition)).await;
            assert_eq!(*replayed.would(), would, "{condition}: {replayed}");
        }
    }

    /// So is the time, where it was one that a condition read.
    #[tokio::test]
    async fn a_condition_is_judged_at_the_recorded_time() {
        use std::time::{Duration, UNIX_EPOCH};

        let at = |seconds: u64| move || UNIX_EPOCH + Duration::from_secs(seconds);
        let bench = Bench::with("Pays.", PAY);
        let before = |moment: &str| list("7", &format!("now < timestamp('{moment}')"));
        let harness = bench.harness(AllowAll, before("2024-03-01T13:00:00Z").clock(at(1_709_294_400)));
        assert_eq!(code_of(&harness, pay(CALL)).await.0, Code::Ok);
        let later = || at(1_909_294_400);
        let same = bench.replay_one(&AllowAll, before("2024-03-01T13:00:00Z").clock(later())).await;
        assert!(!same.differs(), "{same}");
        let earlier = bench.replay_one(&AllowAll, before("2024-03-01T11:00:00Z").clock(later())).await;
        assert_eq!(*earlier.would(), blocked(Code::ConditionNotMet), "{earlier}");
    }

    /// A record quotes no secret, also where a state does, and nothing that is large.
    #[tokio::test]
    async fn a_record_keeps_no_state_that_quotes_a_secret_or_is_large() {
        let parameters = PAY.replace(r#""memo":{"type":"string"}"#, r#""pin":{"type":"string","x-tool-secret":true}"#);
        let large: &'static str = Box::leak(format!("[{}1]", "1,".repeat(3000)).into_boxed_str());
        for (state, kept) in [
            ("[4711]", true),
            (r#"["a","4\"7"]"#, true),
            (r#"["has 4\"711"]"#, false),
            (r#"{"4\"711":1}"#, false),
            (large, false),
        ] {
            let bench = Bench::with("Pays.", &parameters);
            let harness = bench.harness(AllowAll, list(state, "state.balance != null"));
            code_of(&harness, pay(r#"{"iban":"DE1","amount":5,"pin":"4\"711"}"#)).await;
            let verdicts = bench.verdicts();
            let slot = verdicts[0].slots().iter().find(|slot| slot.name() == "balance").unwrap();
            assert_eq!(slot.judged_by().len() == 1, kept, "{state:.40}");
        }
    }

    /// A value that followed by a formula follows from the same, or from nothing.
    #[tokio::test]
    async fn a_derived_value_follows_from_the_record() {
        let derive = |formula: &str| {
            let lines = format!(r#"{{"line":[{{"tool":"pay","argument":"amount","derive":"{formula}"}}]}}"#);
            Checklist::builder()
                .source(presets(&[("/iban", "\"DE1\"")]))
                .state("total", state("12"))
                .json("ours", lines)
        };
        let bench = Bench::with("Pays.", PAY);
        let harness = bench.harness(AllowAll, derive("state.total - 7")).approver(fills(&[], &Arc::default()));
        assert_eq!(code_of(&harness, pay(CALL)).await.0, Code::Ok);
        assert!(!bench.replay_one(&AllowAll, derive("state.total - 7")).await.differs());
        for other in ["state.total - 6", "state.total"] {
            assert_eq!(*bench.replay_one(&AllowAll, derive(other)).await.would(), WouldBe::UpToAnswers);
        }
    }
}
