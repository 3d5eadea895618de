//! What a ledger can be asked: which slot was empty, which source failed, where a call stopped, which rules applied, why it
//! waits, what its provider should hear, and a conversation's calls with their results.

use std::sync::Arc;

use tool_runtime::{
    AllowAll, Answer, Ask, BoxFuture, CallFacts, CaseState, CheckedCall, Checklist, Code, Decision, Entry, Harness,
    Hit, Ledger, Location, Lookup, MemoryLedger, Normalisation, Pointer, ProviderReport, Query, QuestionSet,
    SourceKind, ToolCall, source_fn, tool,
};

use crate::sql::Store;
use crate::support::{PayTool, Ran, fine, patient, payment, propose, registry, signed};

/// Sends money.
///
/// [required] the recipient has agreed to the terms
#[tool(host(destructive))]
async fn send(
    /// The account that is paid.
    iban: String,
    /// How much.
    amount: u32,
    #[host] ran: &Ran,
) -> String {
    ran.ran();
    format!("{amount} to {iban}")
}

/// Knows amounts, fails where an account is down, and says two things of one.
fn source(ask: Ask) -> Lookup {
    let hit =
        |value: &str| Hit::new(Location::whole(Pointer::Preset("known".into()), value), value, Normalisation::Exact);
    match (ask.slot(), ask.value()) {
        ("/iban", Some("\"DOWN\"")) => Lookup::Failed("the directory is down".to_owned()),
        ("/iban", Some("\"TWO\"")) => Lookup::Conflict(vec![hit("\"DE1\""), hit("\"DE2\"")]),
        ("/iban", Some("\"NONE\"")) => Lookup::NoResult,
        (_, Some(value)) => Lookup::Hit(hit(value)),
        _ => Lookup::NoResult,
    }
}

fn harness(ran: &Ran, ledger: &Arc<dyn Ledger>) -> Harness {
    let registry = registry(ran, [SendTool::host()]);
    let told = |call: CheckedCall| -> BoxFuture<'static, Result<bool, String>> {
        let amount = call.arguments().read::<u32>("/amount");
        Box::pin(async move { if amount == Some(404) { Err("the bank is closed".to_owned()) } else { Ok(true) } })
    };
    let lines = r#"{"line":[{"tool":"send","name":"open","check":"open","text":"the bank is open"}]}"#;
    let list = Checklist::builder()
        .source(source_fn(SourceKind::Preset, |ask: Ask| std::future::ready(source(ask))))
        .condition("open", told)
        .json("ours", lines);
    let list = fine(list.build(&registry));
    Harness::new(registry, |_: &CallFacts<'_>| Decision::ask("money"))
        .checklist(list)
        .approver(|set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            let answer = |blanks: usize| if blanks == 0 { Answer::Later } else { Answer::Yes };
            Box::pin(async move { set.questions.iter().map(|question| answer(question.blanks.len())).collect() })
        })
        .ledger(Arc::clone(ledger))
        .conversation("talk")
}

fn send_to(id: &str, iban: &str, amount: u32) -> ToolCall {
    ToolCall::new(id, "send", format!(r#"{{"iban":"{iban}","amount":{amount}}}"#))
}

#[tokio::test]
async fn each_question_about_a_call_is_a_query() {
    for store in Store::all().await {
        let (ran, ledger) = (Ran::default(), store.open("a").await);
        let harness = harness(&ran, &ledger);
        let calls = [
            send_to("down", "DOWN", 1),
            send_to("two", "TWO", 2),
            send_to("none", "NONE", 3),
            send_to("closed", "DE1", 404),
            send_to("fine", "DE1", 5),
        ];
        let results = harness.run(calls.clone()).await;
        let history = fine(ledger.history(Query::all().conversation("talk")).await);
        // A conversation's calls with their results.
        assert_eq!(history.cases().len(), 5);
        assert_eq!(history.results(&calls)[..4], results[..4]);
        let case = |id: &str| {
            let of = |case: &&tool_runtime::CaseHistory| case.call_id().is_some_and(|call| call.as_str() == id);
            history.cases().iter().find(of).unwrap_or_else(|| panic!("no {id}"))
        };
        // Which slot was empty, and where it stopped.
        for (id, open) in [("down", "/iban"), ("two", "/iban"), ("none", "/iban"), ("closed", "open")] {
            assert_eq!((case(id).open(), case(id).stopped_at()), (vec![open], Some(Code::Unanswered)), "{id}");
        }
        // Which source failed.
        let failed: Vec<_> =
            history.failed_sources().map(|(of, failure)| (of, failure.slot, failure.source, failure.why)).collect();
        let down =
            (case("down").id(), "/iban".to_owned(), Some(SourceKind::Preset), "the directory is down".to_owned());
        assert_eq!(failed[0], down);
        assert_eq!((failed.len(), failed[1].0, failed[1].1.as_str()), (2, case("closed").id(), "open"));
        assert!(failed[1].2.is_none() && failed[1].3.contains("the bank is closed"), "{failed:?}");
        // Which values were contradicted.
        assert_eq!(case("two").conflicts(), ["/iban"]);
        assert!(case("none").conflicts().is_empty() && case("none").failed_sources().is_empty());
        // Which rules applied, and why a case waits.
        assert_eq!(case("fine").state(), CaseState::Waiting);
        let because = case("fine").asked().map(|asked| asked.reasons()).unwrap_or_default();
        assert_eq!(because, ["money", "has to be so: the recipient has agreed to the terms"]);
        assert_eq!(case("fine").rules(), because);
        assert_eq!(history.waiting().map(|case| case.id()).collect::<Vec<_>>(), [case("fine").id()]);
        assert_eq!(history.stops().len(), 2);
        assert_eq!(ran.times(), 0);
    }
}

/// What stopped is found among what did not; a call that is gone on with isn't one of them any more.
#[tokio::test]
async fn what_stopped_is_a_query_of_its_own() {
    for store in Store::all().await {
        let (ran, ledger) = (Ran::default(), store.open("a").await);
        let registry = || registry(&ran, [PayTool::host()]);
        for amount in 1..=3 {
            Harness::new(registry(), AllowAll).ledger(Arc::clone(&ledger)).run([payment(amount)]).await;
        }
        let denies = |_: &CallFacts<'_>| Decision::deny("not today");
        let denied = Harness::new(registry(), denies).ledger(Arc::clone(&ledger)).run_settled([payment(4)], None).await;
        let denied = denied[0].record().case();
        let patient = patient(&ran, Arc::clone(&ledger));
        let (yes, no) = (propose(&patient, &ledger, payment(5)).await, propose(&patient, &ledger, payment(6)).await);
        let stopped = async |query: Query| -> Vec<_> {
            let history = fine(ledger.history(query.stopped()).await);
            history.cases().iter().map(|case| (case.id(), case.stopped_at())).collect()
        };
        let pending = Some(Code::ApprovalPending);
        let all = [(denied, Some(Code::Denied)), (yes.0, pending), (no.0, pending)];
        assert_eq!(stopped(Query::all()).await, all);
        assert_eq!(stopped(Query::all().tool("pay")).await, all);
        assert_eq!(stopped(Query::all().tool("unlock")).await, []);
        assert_eq!(stopped(Query::all().newest(1)).await, all[2..]);
        for (question, answer) in [(&yes.1, Answer::Yes), (&no.1, Answer::No)] {
            fine(ledger.reply(signed(question, answer)).await);
        }
        assert_eq!(stopped(Query::all()).await, all);
        for case in [yes.0, no.0] {
            drop(fine(patient.resume(case, None).await));
        }
        assert_eq!(stopped(Query::all()).await, [all[0], (no.0, Some(Code::Rejected))]);
        assert_eq!(ran.times(), 4);
    }
}

/// The provider's report is the same of what a ledger has as of the verdicts themselves.
#[tokio::test]
async fn the_providers_report_is_made_of_what_is_stored() {
    let kept = Arc::new(MemoryLedger::default());
    let ledger: Arc<dyn Ledger> = Arc::clone(&kept) as _;
    let harness = harness(&Ran::default(), &ledger);
    harness.run([send_to("none", "NONE", 3), send_to("closed", "DE1", 404), send_to("fine", "DE1", 5)]).await;
    let verdicts: Vec<_> = kept
        .entries()
        .into_iter()
        .filter_map(|entry| match entry {
            Entry::Verdict(verdict) => Some(verdict),
            _ => None,
        })
        .collect();
    let made = ProviderReport::of(verdicts.iter().map(|verdict| &**verdict));
    assert!(!made.is_empty());
    assert_eq!(ProviderReport::of_history(&fine(ledger.history(Query::all()).await)), made);
}
