//! Limits on executions: counted by the ledger, and reserved with the verdict, so that no two calls have the last place.

use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;
use tool_runtime::{
    AllowAll, Amount, Answer, Attempt, BoxFuture, CallFacts, CaseState, Checklist, Clearing, Code, Decision, Entry,
    Harness, Layer, Ledger, LedgerError, MemoryLedger, Query, QuestionSet, Registry, Tally, ToolCall,
};

use crate::sql::{Database, Store};
use crate::support::{Folder, PayTool, Ran, code, fine, propose, registry, signed, waiting};

fn list(registry: &Registry, limit: &str) -> Checklist {
    let line = format!(
        r#"{{"list":"user","origin":"ann","scope":{{"calls":"none"}},"line":[{{"tool":"pay","name":"limit","per":"day","text":"it is within the limit",{limit}}}]}}"#
    );
    fine(Checklist::builder().json("ann", line).build(registry))
}

fn limited(ran: &Ran, ledger: &Arc<dyn Ledger>, limit: &str) -> Harness {
    let registry = registry(ran, [PayTool::host()]);
    let list = list(&registry, limit);
    Harness::new(registry, AllowAll).checklist(list).ledger(Arc::clone(ledger))
}

fn pay(id: &str, amount: u32) -> ToolCall {
    ToolCall::new(id, "pay", format!(r#"{{"to":"bob","amount":{amount}}}"#))
}

async fn codes(harness: &Harness, calls: impl IntoIterator<Item = ToolCall>) -> Vec<Code> {
    harness.run_settled(calls, None).await.iter().map(code).collect()
}

#[tokio::test]
async fn a_limit_holds_in_a_batch_over_turns_and_after_a_restart() {
    for store in Store::all().await {
        let ran = Ran::default();
        let ledger = store.open("a").await;
        let harness = limited(&ran, &ledger, r#""at_most":3"#);
        assert_eq!(codes(&harness, [pay("1", 1), pay("2", 1)]).await, [Code::Ok, Code::Ok]);
        drop((harness, ledger));
        let ledger = store.open("b").await;
        let harness = limited(&ran, &ledger, r#""at_most":3"#);
        let settled = harness.run_settled([pay("3", 1), pay("4", 1), pay("5", 1)], None).await;
        // In the order of the model, whatever is faster.
        let came: Vec<Code> = settled.iter().map(code).collect();
        assert_eq!(came, [Code::Ok, Code::ConditionNotMet, Code::ConditionNotMet]);
        assert_eq!(ran.times(), 3);
        let said = settled[1].result().text();
        let expected = "it is within the limit (user: ann: 3 of 3 used, counted per day; this takes 1, and 0 is left)";
        assert!(said.contains(expected), "{said}");
        // The record has it.
        let history = fine(ledger.history(Query::all()).await);
        let verdicts: Vec<_> = history.cases().iter().filter_map(|case| case.verdict()).collect();
        let last = verdicts.last().map(|verdict| verdict.slots()).unwrap_or_default();
        assert_eq!(last[0].state().as_str(), "fails");
        assert_eq!(last[0].judged_by().collect::<Vec<_>>(), [("takes.limit", "1"), ("used.limit", "3")]);
        let taken: usize = verdicts.iter().map(|verdict| verdict.uses().len()).sum();
        assert_eq!(taken, 3);
    }
}

/// Several hosts on one ledger, many calls at once: as many run as fit, and no more.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn hosts_that_share_a_ledger_share_the_limit() {
    for (limit, fit) in [(r#""at_most":7"#, 7), (r#""at_most":11.5,"sum":"amount""#, 3)] {
        let mut stores = Store::all().await;
        // Whatever a database does by default.
        stores.extend(Database::all().await.into_iter().filter_map(|database| match database {
            Database::Postgres(url) => {
                let isolation = "%20-cdefault_transaction_isolation%3Drepeatable%5C%20read";
                Some(Store::Sql(Database::Postgres(format!("{url}{isolation}"))))
            }
            Database::Sqlite(_) => None,
        }));
        for store in stores {
            let ran = Ran::default();
            let mut hosts = Vec::new();
            let mut first = None;
            for name in ["a", "b", "c", "d"] {
                let ledger = match (&store, &first) {
                    // It has one writer.
                    (Store::File(_), Some(ledger)) => Arc::clone(ledger),
                    _ => store.open(name).await,
                };
                first = Some(Arc::clone(&ledger));
                let harness = limited(&ran, &ledger, limit);
                hosts.push(tokio::spawn(async move {
                    codes(&harness, (0..5).map(|call| pay(&format!("{call}"), 3))).await
                }));
            }
            let mut all = Vec::new();
            for host in hosts {
                all.extend(fine(host.await));
            }
            assert_eq!(all.iter().filter(|code| **code == Code::Ok).count(), fit, "{all:?}");
            assert!(all.iter().all(|code| matches!(code, Code::Ok | Code::ConditionNotMet)), "{all:?}");
            assert_eq!(ran.times(), fit);
        }
    }
}

/// Of calls that wait, what counts is when somebody goes on with them: of two who claim at once, one gets the last place.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_waits_takes_its_place_when_it_is_claimed() {
    for store in Store::all().await {
        let ran = Ran::default();
        let ledger = store.open("a").await;
        let registry = registry(&ran, [PayTool::host()]);
        let harness = Harness::new(registry.clone(), |_: &CallFacts<'_>| Decision::ask("money"))
            .approver(|set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
                Box::pin(async move { vec![Answer::Later; set.questions.len()] })
            })
            .checklist(list(&registry, r#""at_most":1"#))
            .ledger(Arc::clone(&ledger));
        let harness = Arc::new(harness);
        let mut waiting = Vec::new();
        for id in ["1", "2"] {
            let (case, question) = propose(&harness, &*ledger, pay(id, 1)).await;
            fine(ledger.reply(signed(&question, Answer::Yes)).await);
            let harness = Arc::clone(&harness);
            waiting.push(async move { code(&fine(harness.resume(case, None).await)) });
        }
        let [one, other] = <[_; 2]>::try_from(waiting).unwrap_or_else(|_| panic!("two"));
        let (one, other) = tokio::join!(tokio::spawn(one), tokio::spawn(other));
        let mut came = [fine(one), fine(other)];
        came.sort_by_key(|code| code.as_str());
        assert_eq!(came, [Code::ConditionNotMet, Code::Ok]);
        assert_eq!(ran.times(), 1);
    }
}

/// What is over in its period makes room, by the ledger's clock and nobody else's.
#[tokio::test]
async fn the_period_is_by_the_database_s_clock() {
    for database in Database::all().await {
        let ran = Ran::default();
        let ledger: Arc<dyn Ledger> = database.host("a").await;
        let harness = limited(&ran, &ledger, r#""at_most":1"#);
        assert_eq!(codes(&harness, [pay("1", 1)]).await, [Code::Ok]);
        assert_eq!(database.meddle("UPDATE tool_uses SET at = at - 86000000000").await, 1);
        assert_eq!(codes(&harness, [pay("2", 1)]).await, [Code::ConditionNotMet]);
        assert_eq!(database.meddle("UPDATE tool_uses SET at = at - 400000000").await, 1);
        assert_eq!(codes(&harness, [pay("3", 1)]).await, [Code::Ok]);
        // What can't be read is no number, and lets nothing run.
        assert_eq!(database.meddle("UPDATE tool_uses SET amount = 'many'").await, 2);
        let settled = harness.run_settled([pay("4", 1)], None).await;
        assert_eq!(code(&settled[0]), Code::Unanswered);
        assert!(settled[0].result().text().contains("Only the host can settle this"), "{}", settled[0].result().text());
    }
}

/// Rows go with their calls only once no line needs them any more.
#[tokio::test]
async fn pruning_forgets_nothing_that_still_counts() {
    for database in Database::all().await {
        let sql = database.host("a").await;
        let ledger: Arc<dyn Ledger> = Arc::clone(&sql) as _;
        let harness = limited(&Ran::default(), &ledger, r#""at_most":1"#);
        assert_eq!(codes(&harness, [pay("1", 1)]).await, [Code::Ok]);
        database.meddle("UPDATE tool_calls SET ended_at = ended_at - 1000000").await;
        assert_eq!(fine(sql.prune(std::time::Duration::from_millis(500)).await), 1);
        assert_eq!(codes(&harness, [pay("2", 1)]).await, [Code::ConditionNotMet]);
        database.meddle("UPDATE tool_uses SET at = at - 90000000000, expires = expires - 90000000000").await;
        fine(sql.prune(std::time::Duration::from_millis(500)).await);
        assert_eq!(database.meddle("DELETE FROM tool_uses").await, 0);
    }
}

struct Cached;

impl Layer for Cached {
    fn around<'a>(&'a self, attempt: Attempt<'a>) -> BoxFuture<'a, tool_runtime::Ran> {
        Box::pin(async move { attempt.answer(r#""known already""#) })
    }
}

/// A body that never began has used nothing; one that began has, also if nobody knows what became of it.
#[tokio::test]
async fn what_did_not_begin_is_given_back() {
    for store in Store::all().await {
        let ran = Ran::default();
        let ledger = store.open("a").await;
        // Answers in the tool's place.
        let harness = limited(&ran, &ledger, r#""at_most":1"#).layer(Cached);
        assert_eq!(codes(&harness, [pay("1", 1)]).await, [Code::Ok]);
        assert_eq!(ran.times(), 0);
        drop((harness, ledger));
        let ledger = store.open("a").await;
        let harness = limited(&ran, &ledger, r#""at_most":1"#);
        assert_eq!(codes(&harness, [pay("2", 1), pay("3", 1)]).await, [Code::Ok, Code::ConditionNotMet]);
    }
}

/// Only keeps.
#[derive(Default)]
struct Plain(MemoryLedger);

impl Ledger for Plain {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.0.append(entry)
    }
}

/// A ledger that can't count lets nothing run that has a limit, and says whose fault it is: never true, never false.
#[tokio::test]
async fn a_ledger_that_cant_count_is_the_hosts_trouble() {
    let plain = Arc::new(Plain::default());
    let ledger: Arc<dyn Ledger> = Arc::clone(&plain) as _;
    for unrecorded in [false, true] {
        let ran = Ran::default();
        let harness = limited(&ran, &ledger, r#""at_most":100"#);
        let harness = if unrecorded { harness.run_unrecorded() } else { harness };
        let settled = harness.run_settled([pay("1", 1)], None).await;
        assert_eq!((code(&settled[0]), ran.times()), (Code::Unanswered, 0));
        let said = settled[0].result().text();
        assert!(said.contains("Only the host can settle this") && said.contains("it is within the limit"), "{said}");
        let slots = settled[0].record().verdict().map(|verdict| verdict.slots().to_vec()).unwrap_or_default();
        assert!(slots[0].to_string().contains("host can help"), "{}", slots[0]);
    }
}

/// What is over and old may go with its file, but not while a limit counts it.
#[tokio::test]
async fn a_file_that_is_taken_out_takes_no_use_with_it() {
    let folder = Folder::new();
    let ran = Ran::default();
    let ledger = folder.open();
    let counting: Arc<dyn Ledger> = Arc::clone(&ledger) as _;
    let harness = limited(&ran, &counting, r#""at_most":1"#);
    assert_eq!(codes(&harness, [pay("1", 1), pay("2", 1)]).await, [Code::Ok, Code::ConditionNotMet]);
    // More than once: what is carried over counts as long as what was written first.
    for gone in [1, 0] {
        fine(ledger.rotate().await);
        assert_eq!(fine(ledger.prune(std::time::Duration::ZERO).await), gone);
    }
    drop((harness, counting, ledger));
    let ledger: Arc<dyn Ledger> = folder.open();
    let harness = limited(&ran, &ledger, r#""at_most":1"#);
    assert_eq!(codes(&harness, [pay("3", 1)]).await, [Code::ConditionNotMet]);
    assert_eq!(ran.times(), 1);
    // It is a call that was whole, and is.
    let history = fine(ledger.history(Query::all()).await);
    let states: Vec<CaseState> = history.cases().iter().map(|case| case.state()).collect();
    assert_eq!(states, [Code::Ok, Code::ConditionNotMet].map(CaseState::Ended));
}

/// A ledger to which something happens when a call is cleared.
struct AtClearing<F>(Arc<dyn Ledger>, F);

impl<F> Ledger for AtClearing<F>
where
    F: Fn(Arc<dyn Ledger>, Clearing) -> BoxFuture<'static, Result<bool, LedgerError>> + Send + Sync,
{
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.0.append(entry)
    }

    fn used(&self, tallies: Vec<Tally>) -> BoxFuture<'_, Result<Vec<Amount>, LedgerError>> {
        self.0.used(tallies)
    }

    fn clear(&self, clearing: Clearing) -> BoxFuture<'_, Result<bool, LedgerError>> {
        self.1(Arc::clone(&self.0), clearing)
    }
}

/// Its body didn't begin, so that it has used nothing.
#[tokio::test]
async fn what_was_given_up_while_it_was_cleared_is_given_back() {
    for store in Store::all().await {
        let ran = Ran::default();
        let ledger = store.open("a").await;
        let token = CancellationToken::new();
        let host = token.clone();
        // It clears the call, and the host stops waiting at that moment.
        let given_up = move |ledger: Arc<dyn Ledger>, clearing| -> BoxFuture<'static, Result<bool, LedgerError>> {
            let host = host.clone();
            Box::pin(async move {
                let cleared = ledger.clear(clearing).await;
                assert!(matches!(cleared, Ok(true)), "{cleared:?}");
                host.cancel();
                std::future::pending().await
            })
        };
        let slow: Arc<dyn Ledger> = Arc::new(AtClearing(Arc::clone(&ledger), given_up));
        let harness = limited(&ran, &slow, r#""at_most":1"#);
        let settled = harness.run_settled([pay("1", 1)], Some(token)).await;
        assert_eq!(code(&settled[0]), Code::CancelledBeforeStart);
        let harness = limited(&ran, &ledger, r#""at_most":1"#);
        assert_eq!(codes(&harness, [pay("2", 1), pay("3", 1)]).await, [Code::Ok, Code::ConditionNotMet]);
        assert_eq!(ran.times(), 1);
    }
}

/// Beyond this limit somebody is asked, as about every call, and answers by what they are shown.
fn asking_beyond(
    ran: &Ran,
    ledger: &Arc<dyn Ledger>,
    answer: impl Fn(Vec<String>) -> BoxFuture<'static, Answer> + Send + Sync + 'static,
) -> Harness {
    let registry = registry(ran, [PayTool::host()]);
    let list = list(&registry, r#""at_most":1,"over":"ask""#);
    Harness::new(registry, |_: &CallFacts<'_>| Decision::ask("money"))
        .approver(move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            let answered = answer(set.questions.iter().flat_map(|question| question.reasons.clone()).collect());
            Box::pin(async move { vec![answered.await] })
        })
        .checklist(list)
        .ledger(Arc::clone(ledger))
}

/// Whoever has said yes before others took the last place has not agreed to more, and is asked that.
#[tokio::test]
async fn a_yes_from_before_a_limit_was_reached_is_none_to_going_beyond() {
    for (second, came) in [(Answer::Yes, Code::Ok), (Answer::No, Code::Rejected)] {
        for store in Store::all().await {
            let ran = Ran::default();
            let ledger = store.open("a").await;
            let other = Arc::new(limited(&ran, &ledger, r#""at_most":9"#));
            let shown = Arc::new(Mutex::new(Vec::new()));
            let seen = Arc::clone(&shown);
            let harness = asking_beyond(&ran, &ledger, move |reasons| {
                let (other, seen) = (Arc::clone(&other), Arc::clone(&seen));
                Box::pin(async move {
                    let is_first = seen.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
                    seen.lock().unwrap_or_else(PoisonError::into_inner).push(reasons);
                    if is_first {
                        assert_eq!(codes(&other, [pay("other", 1)]).await, [Code::Ok]);
                        return Answer::Yes;
                    }
                    second
                })
            });
            assert_eq!(codes(&harness, [pay("1", 1)]).await, [came]);
            assert_eq!(ran.times(), if came == Code::Ok { 2 } else { 1 });
            let shown = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let [first, second] = &shown[..] else { panic!("{shown:?}") };
            assert!(first.iter().all(|reason| !reason.contains("limit")), "{first:?}");
            assert!(second.len() == 1 && second[0].contains("1 of 1 used"), "{second:?}");
        }
    }
}

/// Of two calls that wait, each was within the limit when somebody was asked about it.
#[tokio::test]
async fn what_waited_is_asked_about_again_if_it_goes_beyond_a_limit_by_now() {
    for store in Store::all().await {
        let ran = Ran::default();
        let ledger = store.open("a").await;
        let harness = asking_beyond(&ran, &ledger, |_| Box::pin(async { Answer::Later }));
        let mut cases = Vec::new();
        for id in ["1", "2"] {
            let (case, question) = propose(&harness, &*ledger, pay(id, 1)).await;
            fine(ledger.reply(signed(&question, Answer::Yes)).await);
            cases.push(case);
        }
        assert_eq!(code(&fine(harness.resume(cases[0], None).await)), Code::Ok);
        assert_eq!(code(&fine(harness.resume(cases[1], None).await)), Code::ApprovalPending);
        assert_eq!(ran.times(), 1);
        let (case, question) = waiting(&*ledger, cases[1]).await;
        // However much is used meanwhile: it is more, and they know that.
        assert_eq!(codes(&limited(&ran, &ledger, r#""at_most":9"#), [pay("3", 1)]).await, [Code::Ok]);
        fine(ledger.reply(signed(&question, Answer::Yes)).await);
        assert_eq!(code(&fine(harness.resume(case, None).await)), Code::Ok);
        assert_eq!(ran.times(), 3);
    }
}

/// Nobody can be asked any more: it doesn't run.
#[tokio::test]
async fn nobody_goes_beyond_a_limit_unasked_at_the_last_moment() {
    for store in Store::all().await {
        let ran = Ran::default();
        let ledger = store.open("a").await;
        let other = Arc::new(limited(&ran, &ledger, r#""at_most":9"#));
        // Others are faster, between the last question and the verdict.
        let faster = move |ledger: Arc<dyn Ledger>, clearing| -> BoxFuture<'static, Result<bool, LedgerError>> {
            let other = Arc::clone(&other);
            Box::pin(async move {
                assert_eq!(codes(&other, [pay("other", 1)]).await, [Code::Ok]);
                ledger.clear(clearing).await
            })
        };
        let beaten: Arc<dyn Ledger> = Arc::new(AtClearing(Arc::clone(&ledger), faster));
        let harness = asking_beyond(&ran, &beaten, |_| Box::pin(async { Answer::Yes }));
        assert_eq!(codes(&harness, [pay("1", 1)]).await, [Code::ApprovalUnavailable]);
        assert_eq!(ran.times(), 1);
    }
}
