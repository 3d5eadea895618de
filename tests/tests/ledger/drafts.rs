//! Calls with blanks that wait: filled in by somebody elsewhere, and gone on with in another process, without a model call
//! in between. What was confirmed before is shown as confirmed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tool_runtime::{
    Addressee, AllowAll, Answer, AnswerError, Approver, Ask, BoxFuture, CallFacts, Checklist, ClaimError, Code,
    Decision, Harness, Hit, JsonPath, Ledger, Location, Lookup, MemoryLedger, Normalisation, Pointer, Policy, Query,
    QuestionId, QuestionSet, Registry, Reply, ReplyError, Reported, SourceKind, Stored, StoredKind, ToolCall,
    source_fn, tool,
};

use crate::sql::Store;
use crate::support::{Ran, code, fine, signed, waiting};

/// Sends money.
#[tool(host(destructive))]
async fn send(
    /// The account that is paid.
    iban: String,
    /// How much.
    amount: u32,
    /// What for.
    #[arg(default = String::from("rent"))]
    purpose: String,
    #[host] ran: &Ran,
) -> String {
    ran.ran();
    format!("{amount} to {iban} for {purpose}")
}

/// Opens.
#[tool(host(destructive))]
async fn open_safe(
    /// Which.
    safe: String,
    /// By which.
    #[arg(secret)]
    pin: String,
    #[host] ran: &Ran,
) -> String {
    ran.ran();
    format!("{safe} opened by {} digits", pin.len())
}

fn later(set: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
    Box::pin(async move { vec![Answer::Later; set.questions.len()] })
}

fn preset(value: &str) -> Lookup {
    Lookup::Hit(Hit::new(Location::whole(Pointer::Preset("usual".into()), value), value, Normalisation::Exact))
}

fn registry(ran: &Ran) -> Registry {
    crate::support::registry(ran, [SendTool::host(), OpenSafeTool::host()])
}

fn harness(ran: &Ran, policy: impl Policy + 'static, ledger: &Arc<dyn Ledger>, by: impl Approver + 'static) -> Harness {
    let registry = registry(ran);
    // It knows the amount and the safe.
    let known = source_fn(SourceKind::Preset, |ask: Ask| {
        let known = matches!((ask.slot(), ask.value()), ("/amount", Some("5")) | ("/safe", Some("\"front\"")));
        std::future::ready(if known { preset(ask.value().unwrap_or_default()) } else { Lookup::NoResult })
    });
    let list = fine(Checklist::builder().source(known).build(&registry));
    Harness::new(registry, policy).checklist(list).approver(by).ledger(Arc::clone(ledger)).conversation("talk")
}

/// The model has found no account.
fn draft() -> ToolCall {
    ToolCall::new("call_1", "send", r#"{"amount":5}"#).with_no_result(JsonPath::from_pointer("/iban"))
}

async fn entries(ledger: &Arc<dyn Ledger>) -> Vec<Stored> {
    let history = fine(ledger.history(Query::all()).await);
    history.cases().iter().flat_map(|case| case.entries().to_vec()).collect()
}

fn last(entries: &[Stored], kind: StoredKind) -> Stored {
    entries.iter().rev().find(|entry| entry.kind() == kind).cloned().unwrap_or_else(|| panic!("no {kind:?}"))
}

#[tokio::test]
async fn a_draft_that_waits_is_filled_in_and_run_elsewhere() {
    for store in Store::all().await {
        let ran = Ran::default();
        let (case, question) = {
            let ledger = store.open("a").await;
            let settled = harness(&ran, AllowAll, &ledger, later).run_settled([draft()], None).await;
            assert_eq!(code(&settled[0]), Code::ApprovalPending, "{}", settled[0].result().text());
            let parked = last(&entries(&ledger).await, StoredKind::Verdict);
            assert_eq!((parked.open(), parked.revision()), (vec!["/iban"], Some(1)));
            waiting(&ledger, settled[0].record().case()).await
        };
        {
            let ledger = store.open("b").await;
            let harness = harness(&ran, AllowAll, &ledger, later);
            let yes = || signed(&question, Answer::Yes);
            // What isn't asked for, is none, or isn't taken; the question stays open.
            for wrong in [yes().fill("/bic", "\"X\""), yes().fill("/amount", "6"), yes().fill("/iban", "DE1")] {
                let said = ledger.reply(wrong.clone()).await;
                assert!(matches!(said, Err(ReplyError::Unfillable(_))), "{said:?}");
                assert!(matches!(harness.reply(wrong).await, Err(ReplyError::Unfillable(_))));
            }
            let said = harness.reply(yes().fill("/iban", "5")).await;
            assert!(
                matches!(&said, Err(ReplyError::Unfillable(why)) if why.to_string().contains("string")),
                "{said:?}"
            );
            assert!(matches!(harness.resume(case, None).await, Err(ClaimError::NotAnswered)));
            fine(harness.reply(yes().fill("/iban", "\"DE0\"").fill("/iban", "\"DE1\"")).await);
            let again = harness.reply(yes().fill("/iban", "\"DE2\"")).await;
            assert!(
                matches!(again, Err(ReplyError::Late(AnswerError::AlreadyAnswered | AnswerError::NotPending))),
                "{again:?}"
            );
        }
        let ledger = store.open("c").await;
        let settled = fine(harness(&ran, AllowAll, &ledger, later).resume(case, None).await);
        assert_eq!((settled.result().text().as_str(), ran.times()), ("5 to DE1 for rent", 1));
        // What was filled in, by whom, and what came of it, are in the records.
        let entries = entries(&ledger).await;
        let answered = last(&entries, StoredKind::Answered);
        assert_eq!((answered.filled(), answered.question()), (vec![("/iban", "\"DE1\"")], Some(question.clone())));
        assert_eq!(answered.signer().map(|signer| signer.by().to_owned()).as_deref(), Some("ann"));
        let verdict = last(&entries, StoredKind::Verdict);
        assert_eq!((verdict.revision(), verdict.is_cleared()), (Some(2), true));
        assert_eq!(verdict.arguments(), Some(r#"{"iban":"DE1","amount":5,"purpose":"rent"}"#));
        let slots = verdict.get("/slots").unwrap_or_default();
        assert!(slots.contains(r#""state":"answered""#) && slots.contains(question.as_str()), "{slots}");
    }
}

/// A yes fills nothing in by itself, and a no is a no, also to a blank.
#[tokio::test]
async fn what_stays_blank_does_not_run() {
    for (answer, expected) in [(Answer::Yes, Code::Unanswered), (Answer::No, Code::Rejected)] {
        for store in Store::all().await {
            let ran = Ran::default();
            let ledger = store.open("a").await;
            let harness = harness(&ran, AllowAll, &ledger, later);
            let settled = harness.run_settled([draft()], None).await;
            let (case, question) = waiting(&ledger, settled[0].record().case()).await;
            let reply = signed(&question, answer);
            fine(ledger.reply(if answer == Answer::No { reply.fill("/iban", "\"DE1\"") } else { reply }).await);
            let settled = fine(harness.resume(case, None).await);
            assert_eq!((code(&settled), ran.times()), (expected, 0), "{}", settled.result().text());
            // What is given with a no is given for nothing.
            assert!(entries(&ledger).await.iter().all(|entry| entry.filled().is_empty()));
        }
    }
}

/// Wants somebody's yes for one account, which only shows once the account is there.
fn wary(call: &CallFacts<'_>) -> Decision {
    match call.arguments().read::<String>("/iban") {
        Some(iban) if iban == "DE1" => Decision::ask("nobody has paid DE1 before"),
        Some(_) => Decision::Allow,
        None => Decision::ask("money"),
    }
}

/// What was filled in brings up another reason: a second question goes out, for the next revision, and it shows what
/// is confirmed already, each with the question that it was confirmed by.
#[tokio::test]
async fn a_second_question_shows_what_was_confirmed_before() {
    let sets = Arc::<Mutex<Vec<QuestionSet>>>::default();
    let seen = Arc::clone(&sets);
    let fills = move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        for question in &set.questions {
            for blank in &question.blanks {
                fine(set.fill_text(&question.id, &blank.slot, "DE1"));
            }
        }
        let answers = vec![Answer::Yes; set.questions.len()];
        seen.lock().unwrap_or_else(|error| panic!("{error}")).push(set);
        Box::pin(std::future::ready(answers))
    };
    let (ran, ledger): (_, Arc<dyn Ledger>) = (Ran::default(), Arc::new(MemoryLedger::default()));
    let settled = harness(&ran, wary, &ledger, fills).run_settled([draft()], None).await;
    assert_eq!((code(&settled[0]), ran.times()), (Code::Ok, 1), "{}", settled[0].result().text());
    let sets = sets.lock().unwrap_or_else(|error| panic!("{error}")).clone();
    let [first, second] = &sets[..] else { panic!("{} sets", sets.len()) };
    let (first, second) = (&first.questions[0], &second.questions[0]);
    assert_eq!((first.reasons.as_slice(), first.confirmed.len()), (&["money".to_owned()][..], 0));
    assert_eq!(second.reasons, ["nobody has paid DE1 before"]);
    assert!(second.blanks.is_empty());
    let confirmed: Vec<_> = second.confirmed.iter().map(|known| (known.slot.as_str(), &known.question)).collect();
    assert_eq!(confirmed, ["/amount", "/iban", "/purpose"].map(|slot| (slot, &first.id)));
    // The record of the second question cites the first, and the one verdict has every rule.
    let entries = entries(&ledger).await;
    let asked = last(&entries, StoredKind::Asked);
    let cited = ["/amount", "/iban", "/purpose"].map(|slot| (slot, first.id.clone()));
    assert_eq!(asked.confirmed(), cited);
    assert_eq!(entries.iter().filter(|entry| entry.kind() == StoredKind::Verdict).count(), 1);
}

/// The same between processes, one question after the other.
#[tokio::test]
async fn a_second_question_may_wait_elsewhere_too() {
    for store in Store::all().await {
        let ran = Ran::default();
        let (case, first) = {
            let ledger = store.open("a").await;
            let settled = harness(&ran, wary, &ledger, later).run_settled([draft()], None).await;
            waiting(&ledger, settled[0].record().case()).await
        };
        let second = {
            let ledger = store.open("b").await;
            let harness = harness(&ran, wary, &ledger, later);
            fine(harness.reply(signed(&first, Answer::Yes).fill("/iban", "\"DE1\"")).await);
            let settled = fine(harness.resume(case, None).await);
            assert_eq!((code(&settled), ran.times()), (Code::ApprovalPending, 0), "{}", settled.result().text());
            waiting(&ledger, case).await.1
        };
        assert_ne!(first, second);
        let ledger = store.open("c").await;
        let asked = last(&entries(&ledger).await, StoredKind::Asked);
        assert_eq!(asked.reasons(), ["nobody has paid DE1 before"]);
        assert_eq!(asked.confirmed(), ["/amount", "/iban", "/purpose"].map(|slot| (slot, first.clone())));
        let harness = harness(&ran, wary, &ledger, later);
        // The first question is over; the yes to it is none to the second.
        let stale = ledger.reply(signed(&first, Answer::Yes)).await;
        assert!(matches!(stale, Err(ReplyError::Late(AnswerError::NotPending))), "{stale:?}");
        assert!(matches!(harness.resume(case, None).await, Err(ClaimError::NotAnswered)));
        fine(harness.reply(signed(&second, Answer::Yes)).await);
        let settled = fine(harness.resume(case, None).await);
        assert_eq!((settled.result().text().as_str(), ran.times()), ("5 to DE1 for rent", 1));
    }
}

fn looks_at_all(_: &CallFacts<'_>) -> Decision {
    Decision::ask("payments are looked at")
}

/// Two have to be heard. Whoever fills in is asked first, and the other then about all values, with those that are
/// confirmed; each answers somewhere else, and one process after the other goes on.
#[tokio::test]
async fn one_fills_in_and_another_approves_each_elsewhere() {
    for store in Store::all().await {
        let ran = Ran::default();
        let two = |ledger: &Arc<dyn Ledger>| harness(&ran, looks_at_all, ledger, later).user(later);
        let (case, of_user) = {
            let ledger = store.open("a").await;
            let settled = two(&ledger).run_settled([draft()], None).await;
            assert_eq!(code(&settled[0]), Code::ApprovalPending, "{}", settled[0].result().text());
            let asked = entries(&ledger).await;
            let asked: Vec<_> = asked.iter().filter(|entry| entry.kind() == StoredKind::Asked).collect();
            // Of whoever approves nothing is asked while there is a blank.
            assert_eq!((asked.len(), asked[0].addressee()), (1, Addressee::User));
            waiting(&ledger, settled[0].record().case()).await
        };
        let of_approver = {
            let ledger = store.open("b").await;
            let harness = two(&ledger);
            fine(harness.reply(signed(&of_user, Answer::Yes).fill("/iban", "\"DE1\"")).await);
            let settled = fine(harness.resume(case, None).await);
            assert_eq!((code(&settled), ran.times()), (Code::ApprovalPending, 0), "{}", settled.result().text());
            waiting(&ledger, case).await.1
        };
        let ledger = store.open("c").await;
        let asked = last(&entries(&ledger).await, StoredKind::Asked);
        assert_eq!((asked.addressee(), asked.question()), (Addressee::Approver, Some(of_approver.clone())));
        assert_eq!(asked.reasons(), ["payments are looked at"]);
        assert_eq!(asked.confirmed(), ["/amount", "/iban", "/purpose"].map(|slot| (slot, of_user.clone())));
        let parked = last(&entries(&ledger).await, StoredKind::Verdict);
        assert_eq!((parked.revision(), parked.approvals()), (Some(2), vec![(Addressee::User, of_user.clone())]));
        let harness = two(&ledger);
        assert!(matches!(harness.resume(case, None).await, Err(ClaimError::NotAnswered)));
        fine(harness.reply(signed(&of_approver, Answer::Yes)).await);
        let settled = fine(harness.resume(case, None).await);
        assert_eq!((settled.result().text().as_str(), ran.times()), ("5 to DE1 for rent", 1));
        let mut approvals = last(&entries(&ledger).await, StoredKind::Verdict).approvals();
        approvals.sort();
        assert_eq!(approvals, [(Addressee::User, of_user), (Addressee::Approver, of_approver)]);
    }
}

/// A no of the second is a no, whatever the first has said and given.
#[tokio::test]
async fn a_no_after_what_was_filled_in_elsewhere_is_a_no() {
    let (ran, ledger): (_, Arc<dyn Ledger>) = (Ran::default(), Arc::new(MemoryLedger::default()));
    let no = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(std::future::ready(vec![Answer::No; set.questions.len()]))
    };
    let harness = harness(&ran, looks_at_all, &ledger, no).user(later);
    let settled = harness.run_settled([draft()], None).await;
    let (case, question) = waiting(&ledger, settled[0].record().case()).await;
    fine(harness.reply(signed(&question, Answer::Yes).fill("/iban", "\"DE1\"")).await);
    let settled = fine(harness.resume(case, None).await);
    assert_eq!((code(&settled), ran.times()), (Code::Rejected, 0), "{}", settled.result().text());
}

/// What somebody gives makes another's earlier yes none: that one is asked again, about all of it, and sees what is as it
/// was.
#[tokio::test]
async fn what_one_gives_voids_what_another_said_and_shows_what_is_the_same() {
    let (ran, ledger): (_, Arc<dyn Ledger>) = (Ran::default(), Arc::new(MemoryLedger::default()));
    let registry = registry(&ran);
    let looked = AtomicUsize::new(0);
    // It forgets the account while a person thinks.
    let known = source_fn(SourceKind::Preset, move |ask: Ask| {
        let forgets = || looked.fetch_add(1, Ordering::SeqCst) > 0;
        let known = ask.slot() == "/amount" || (ask.slot() == "/iban" && !forgets());
        std::future::ready(match ask.value() {
            Some(value) if known => preset(value),
            _ => Lookup::NoResult,
        })
    });
    let list = fine(Checklist::builder().source(known).build(&registry));
    let sets = Arc::<Mutex<Vec<QuestionSet>>>::default();
    let says_yes = || {
        let seen = Arc::clone(&sets);
        move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            for question in &set.questions {
                for blank in &question.blanks {
                    fine(set.fill_text(&question.id, &blank.slot, "DE2"));
                }
            }
            let answers = vec![Answer::Yes; set.questions.len()];
            seen.lock().unwrap_or_else(|error| panic!("{error}")).push(set);
            Box::pin(std::future::ready(answers))
        }
    };
    let harness = Harness::new(registry, looks_at_all)
        .checklist(list)
        .approver(says_yes())
        .user(says_yes())
        .ledger(Arc::clone(&ledger));
    let call = ToolCall::new("call_1", "send", r#"{"iban":"DE1","amount":5}"#);
    let settled = harness.run_settled([call], None).await.remove(0);
    assert_eq!((settled.result().text().as_str(), ran.times()), ("5 to DE2 for rent", 1));
    let sets = sets.lock().unwrap_or_else(|error| panic!("{error}")).clone();
    let to: Vec<&Addressee> = sets.iter().map(|set| &set.to).collect();
    assert_eq!(to, [&Addressee::Approver, &Addressee::User, &Addressee::Approver]);
    let [first, given, again] = [0, 1, 2].map(|place: usize| &sets[place].questions[0]);
    assert_eq!((&again.reasons, given.blanks.len()), (&first.reasons, 1));
    // Each value with whoever confirmed it: their own yes, or the gift.
    let confirmed: Vec<_> = again.confirmed.iter().map(|known| (known.slot.as_str(), &known.question)).collect();
    assert_eq!(confirmed, [("/amount", &first.id), ("/iban", &given.id), ("/purpose", &first.id)]);
    let verdict = last(&entries(&ledger).await, StoredKind::Verdict);
    let approvals = [(Addressee::User, given.id.clone()), (Addressee::Approver, again.id.clone())];
    let mut of_verdict = verdict.approvals();
    of_verdict.sort();
    assert_eq!(of_verdict, approvals);
}

/// B82: a secret that is filled in elsewhere is in no record, sealed until its call is over, and gone after it.
#[tokio::test]
async fn b82_a_secret_that_is_filled_in_elsewhere_is_sealed_and_erased() {
    for store in Store::all().await {
        let ran = Ran::default();
        let ledger = store.open("a").await;
        let call =
            ToolCall::new("call_1", "open_safe", r#"{"safe":"front"}"#).with_no_result(JsonPath::from_pointer("/pin"));
        let settled = harness(&ran, AllowAll, &ledger, later).run_settled([call], None).await;
        let (case, question) = waiting(&ledger, settled[0].record().case()).await;
        let asked = last(&entries(&ledger).await, StoredKind::Asked);
        assert_eq!(asked.get("/blanks/0/secret").as_deref(), Some("true"));
        let reply = signed(&question, Answer::Yes).fill("/pin", "\"t0k3n\"");
        assert!(!format!("{reply:?}").contains("t0k3n"));
        fine(harness(&ran, AllowAll, &ledger, later).reply(reply).await);
        drop(ledger);
        let everything = || async {
            match &store {
                Store::Memory(_) => String::new(),
                Store::File(folder) => folder.bytes(),
                Store::Sql(database) => database.bytes().await,
            }
        };
        assert!(!everything().await.contains("t0k3n"));
        let ledger = store.open("b").await;
        assert!(entries(&ledger).await.iter().all(|entry| !entry.text().contains("t0k3n")));
        let settled = fine(harness(&ran, AllowAll, &ledger, later).resume(case, None).await);
        assert_eq!((settled.result().text().as_str(), ran.times()), ("front opened by 5 digits", 1));
        assert!(!everything().await.contains("t0k3n"));
        match &store {
            Store::Memory(_) => {}
            Store::File(folder) => assert_eq!(folder.sealed(), 0),
            Store::Sql(database) => {
                assert_eq!(database.meddle("UPDATE tool_secrets SET case_id = case_id").await, 0);
            }
        }
    }
}

/// What the tool filled in is still its default when the call goes on elsewhere, and what the model pointed at is still
/// found there: neither is asked for again.
#[tokio::test]
async fn what_was_known_when_it_was_parked_is_known_when_it_goes_on() {
    for store in Store::all().await {
        let ran = Ran::default();
        let harness = |ledger: &Arc<dyn Ledger>| {
            let registry = registry(&ran);
            // Has values only where the model points at them.
            let pointed = source_fn(SourceKind::Preset, |ask: Ask| {
                let hit = match (ask.slot(), ask.hint()) {
                    ("/iban", Some(Pointer::Preset(name))) if name == "usual" => Some("\"DE1\""),
                    ("/amount", Some(Pointer::Preset(name))) if name == "usual" => Some("5"),
                    _ => None,
                };
                std::future::ready(hit.map_or(Lookup::NoResult, preset))
            });
            let list = fine(Checklist::builder().source(pointed).build(&registry));
            Harness::new(registry, |_: &CallFacts<'_>| Decision::ask("money"))
                .checklist(list)
                .approver(later)
                .ledger(Arc::clone(ledger))
        };
        let (case, question) = {
            let ledger = store.open("a").await;
            let call = ToolCall::new("call_1", "send", r#"{"amount":5}"#)
                .with_reported(Reported::new([("/iban", "p:usual"), ("/amount", "p:usual")]));
            let settled = harness(&ledger).run_settled([call], None).await;
            assert_eq!(code(&settled[0]), Code::ApprovalPending, "{}", settled[0].result().text());
            waiting(&ledger, settled[0].record().case()).await
        };
        let ledger = store.open("b").await;
        let harness = harness(&ledger);
        fine(harness.reply(signed(&question, Answer::Yes)).await);
        let settled = fine(harness.resume(case, None).await);
        assert_eq!((settled.result().text().as_str(), ran.times()), ("5 to DE1 for rent", 1));
        let verdict = last(&entries(&ledger).await, StoredKind::Verdict);
        let slots = verdict.get("/slots").unwrap_or_default();
        assert!(slots.contains(r#""state":"default""#) && slots.contains(r#""state":"found""#), "{slots}");
    }
}

/// An answer for another conversation's, tenant's or call's question, by whatever id, is none.
#[tokio::test]
async fn an_answer_is_for_its_own_question_alone() {
    for store in Store::all().await {
        let ran = Ran::default();
        let ledger = store.open("a").await;
        let ours = harness(&ran, AllowAll, &ledger, later);
        let theirs = harness(&ran, AllowAll, &ledger, later).conversation("other tenant");
        // The same call, by the same provider's id.
        let one = ours.run_settled([draft()], None).await.remove(0).record().case();
        let other = theirs.run_settled([draft()], None).await.remove(0).record().case();
        let (_, question) = waiting(&ledger, one).await;
        fine(ours.reply(signed(&question, Answer::Yes).fill("/iban", "\"DE1\"")).await);
        assert!(matches!(theirs.resume(other, None).await, Err(ClaimError::NotAnswered)));
        for id in ["call_1", "", &one.to_string(), &format!("{question} ")] {
            let said = ledger.reply(Reply::new(QuestionId::from(id), Answer::Yes, crate::support::ann())).await;
            assert!(matches!(said, Err(ReplyError::Late(AnswerError::NotPending))), "{id}: {said:?}");
        }
        assert_eq!(code(&fine(ours.resume(one, None).await)), Code::Ok);
        assert_eq!(ran.times(), 1);
    }
}
