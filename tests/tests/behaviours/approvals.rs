//! What a person is asked, what an answer does, and what it doesn't.

use std::collections::BTreeSet;
use std::io::{self, Cursor, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tool_runtime::path::Settled;
use tool_runtime::{
    AllowAll, Answer, AnswerError, Approver, BoxFuture, CallContext, CallFacts, Card, ChannelApprover, Code, Decision,
    DenyAll, DynamicTool, Entry, FirstOf, GrantScope, Grants, Harness, Ledger, LedgerError, MemoryLedger, NeverAsk,
    Policies, Question, QuestionId, QuestionSet, Registry, TerminalApprover, ToolCall, VerdictKind, tool,
};

use super::support::{Log, lock, logged, millis};

/// Pays somebody.
///
/// [notice] Money leaves the account.
#[tool(host(timeout = "50ms"))]
async fn pay(
    /// How much.
    amount: f64,
    /// To whom.
    #[arg(default = "me".to_owned(), alias = "recipient")]
    to: String,
    /// The number that allows it.
    #[arg(secret)]
    pin: Option<String>,
    #[host] log: &Log,
) -> String {
    drop(pin);
    log.note(format!("pay {amount} {to}"));
    "paid".to_owned()
}

/// Wires money.
///
/// [notice] Money leaves the account.
/// [notice] It can't be taken back.
#[tool]
async fn wire(
    /// How much.
    amount: f64,
    #[host] log: &Log,
) -> String {
    log.note(format!("wire {amount}"));
    "wired".to_owned()
}

/// Logs in.
#[tool(host(present_call = shows))]
async fn log_in(
    /// As whom.
    user: String,
    /// By which word.
    #[arg(secret)]
    word: String,
) -> String {
    drop(word);
    user
}

fn shows(args: &LogInArgs) -> Card {
    Card::new(format!("{} with {}", args.user, args.word)).with_body(&args.word)
}

/// Pays by another tool.
#[tool]
async fn outer(#[host] cx: &CallContext) -> Result<String, tool_runtime::SubCallError> {
    cx.call("pay", r#"{"amount":1}"#).await
}

const ASKS: fn(&CallFacts<'_>) -> Decision = |_| Decision::ask("it costs money");

fn pays(id: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, "pay", arguments)
}

fn harness() -> (Harness, Log, Arc<MemoryLedger>) {
    harness_of(ASKS)
}

fn harness_of(policy: impl tool_runtime::Policy + 'static) -> (Harness, Log, Arc<MemoryLedger>) {
    let (registry, log) = logged([PayTool::host(), WireTool::host(), OuterTool::host()]);
    let ledger = Arc::new(MemoryLedger::default());
    (Harness::new(registry, policy).ledger(Arc::clone(&ledger)), log, ledger)
}

/// Gives the same answer to every question, and keeps what it was asked.
#[derive(Clone)]
struct Person(Answer, Arc<Mutex<Vec<QuestionSet>>>);

impl Person {
    fn who_says(answer: Answer) -> Self {
        Person(answer, Arc::default())
    }

    fn asked(&self) -> Vec<Question> {
        lock(&self.1).iter().flat_map(|set| set.questions.clone()).collect()
    }
}

impl Approver for Person {
    fn ask(&self, set: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
        let answers = vec![self.0; set.questions.len()];
        lock(&self.1).push(set);
        Box::pin(std::future::ready(answers))
    }
}

async fn one(harness: &Harness, call: ToolCall) -> Settled {
    let mut settled = harness.run_settled([call], None).await;
    settled.pop().unwrap_or_else(|| panic!("one call has one result"))
}

async fn code(harness: &Harness, call: ToolCall) -> Code {
    one(harness, call).await.record().code()
}

/// The two ends of all questions that a ledger has: ids and answers.
fn asks(ledger: &MemoryLedger) -> (Vec<QuestionId>, Vec<(QuestionId, Option<Answer>)>) {
    let (mut asked, mut answered) = (Vec::new(), Vec::new());
    for entry in ledger.entries() {
        match entry {
            Entry::Asked(record) => asked.push(record.question().id.clone()),
            Entry::Answered(record) => answered.push((record.question().clone(), record.answer())),
            _ => {}
        }
    }
    (asked, answered)
}

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
async fn d67_b69_an_approver_sees_what_will_run() {
    let person = Person::who_says(Answer::Yes);
    let (harness, log, ledger) = harness();
    let harness = harness.approver(person.clone());
    let calls = [
        pays("1", r#"{"amount":5.0,"pin":"1234"}"#),
        pays("2", r#"{"amount":5,"recipient":"you","pin":null}"#),
        ToolCall::new("3", "wire", r#"{"amount":7}"#),
        pays("4", r#"{"amount":"many"}"#),
    ];
    let settled = harness.run_settled(calls, None).await;
    let codes: Vec<Code> = settled.iter().map(|one| one.record().code()).collect();
    assert_eq!(codes, [Code::Ok, Code::Ok, Code::Ok, Code::InvalidArguments]);
    assert_eq!(log.take(), ["pay 5 me", "pay 5 you", "wire 7"]);
    let sets = lock(&person.1).clone();
    assert_eq!(sets.len(), 1);
    assert_eq!(sets[0].notices, ["Money leaves the account.", "It can't be taken back."]);
    assert!(sets[0].token().is_cancelled());
    let [first, second, third] = &sets[0].questions[..] else { panic!("three questions") };
    assert_eq!((first.call_id.as_str(), &*first.tool), ("1", "pay"));
    assert_eq!(first.arguments, r#"{"amount":5,"to":"me","pin":"[redacted]"}"#);
    assert_eq!(first.defaults.iter().map(ToString::to_string).collect::<Vec<_>>(), ["to"]);
    assert_eq!(first.reasons, ["it costs money"]);
    assert_eq!(&first.definition, PayTool::host().digest());
    assert!(second.arguments.starts_with(r#"{"amount":5,"to":"you""#), "{}", second.arguments);
    assert!(second.defaults.iter().all(|path| path.to_string() == "pin"), "{:?}", second.defaults);
    assert!(third.defaults.is_empty());
    // What was asked about is what was recorded, and what ran.
    for (settled, question) in settled.iter().zip(&sets[0].questions) {
        let verdict = settled.record().verdict().unwrap_or_else(|| panic!("a verdict"));
        assert_eq!((verdict.question(), verdict.arguments()), (Some(&question.id), &*question.arguments));
    }
    let recorded = serde_json::to_string(&ledger.entries()).unwrap_or_default();
    assert!(!recorded.contains("1234"), "{recorded}");
}

/// Neither a presenter nor a policy can quote a secret into a prompt, a record, or a result.
#[tokio::test]
async fn d67_b82_no_secret_is_shown() {
    for (answer, denies) in [(Answer::No, false), (Answer::YesForSession(GrantScope::SameArguments), true)] {
        let (registry, _) = logged([LogInTool::host()]);
        let (person, ledger, grants) = (Person::who_says(answer), Arc::new(MemoryLedger::default()), Grants::new());
        let judged = AtomicUsize::new(0);
        let harness = Harness::new(registry, move |call: &CallFacts<'_>| {
            let reason = format!("with {}", call.arguments().as_str());
            if denies && judged.fetch_add(1, Ordering::SeqCst) > 0 {
                Decision::deny(reason)
            } else {
                Decision::ask(reason)
            }
        });
        let harness = harness.approver(person.clone()).ledger(Arc::clone(&ledger)).grants(grants.clone());
        let settled = one(&harness, ToolCall::new("1", "log_in", r#"{"user":"me","word":"t0k"}"#)).await;
        let recorded = serde_json::to_string(&ledger.entries()).unwrap_or_default();
        let asked = format!("{:?} {grants:?} {:?}", person.asked(), grants.list());
        for text in [&settled.result().text(), &recorded, &asked] {
            assert!(!text.contains("t0k"), "{text}");
        }
        let card = person.asked().remove(0).card;
        assert_eq!(card, Some(Card::new("me with [redacted]").with_body("[redacted]")));
    }
}

#[tokio::test]
async fn d68_asked_and_answered_leave_a_pair() {
    let (harness, _, ledger) = harness();
    let harness = harness.approver(Person::who_says(Answer::No));
    // The same id twice: questions have their own.
    harness.run([pays("1", r#"{"amount":1}"#), pays("1", r#"{"amount":1,"to":"me"}"#)]).await;
    let (asked, answered) = asks(&ledger);
    assert_eq!(asked.iter().collect::<BTreeSet<_>>().len(), 2);
    assert_eq!(answered, [(asked[0].clone(), Some(Answer::No)), (asked[1].clone(), Some(Answer::No))]);
    let lines: Vec<serde_json::Value> =
        ledger.entries().iter().map(|entry| serde_json::to_value(entry).unwrap_or_default()).collect();
    let words: Vec<&str> = lines.iter().map(|line| line["entry"].as_str().unwrap_or_default()).collect();
    assert_eq!(words[..4], ["asked", "asked", "answered", "answered"]);
    assert_eq!((&lines[0]["question"], &lines[2]["answer"]), (&lines[2]["question"], &"no".into()));
    assert_eq!(lines[0]["reasons"], serde_json::json!(["it costs money"]));
    for absent in ["card", "detail", "scope"] {
        assert_eq!(lines[0].get(absent), None, "{absent}");
    }
    // It came by a name of its own, so only the other has a default there.
    assert!(!lines[1].get("defaults").map(ToString::to_string).unwrap_or_default().contains("/to"));
}

/// Keeps what it may, and fails at what it is told to.
struct Fails(&'static str, Arc<MemoryLedger>);

impl Ledger for Fails {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        let line = serde_json::to_string(&entry).unwrap_or_default();
        match line.contains(self.0) {
            true => Box::pin(std::future::ready(Err(LedgerError::new("the disk is full")))),
            false => self.1.append(entry),
        }
    }
}

#[tokio::test]
async fn d68_what_is_not_recorded_is_not_asked() {
    for (fails, asked) in [(r#""entry":"asked","question""#, 0), (r#""entry":"answered""#, 1)] {
        let (harness, log, _) = harness();
        let kept = Arc::new(MemoryLedger::default());
        let person = Person::who_says(Answer::YesForSession(GrantScope::AnyArguments));
        let grants = Grants::new();
        let harness = harness
            .ledger(Fails(fails, Arc::clone(&kept)))
            .approver(person.clone())
            .grants(grants.clone())
            .observer(|_: &tool_runtime::Event| panic!("boom"));
        assert_eq!(code(&harness, pays("1", r#"{"amount":1}"#)).await, Code::NotRecorded);
        assert_eq!((person.asked().len(), log.take().len(), grants.len()), (asked, 0, 0), "{fails}");
    }
    // Only the one that could not be recorded.
    let (harness, log, _) = harness();
    let person = Person::who_says(Answer::Yes);
    let harness = harness.ledger(Fails("\"call_id\":\"1\",\"tool\":\"pay\",\"definition\"", Arc::default()));
    let harness = harness.approver(person.clone());
    let settled = harness.run_settled([pays("1", r#"{"amount":1}"#), pays("2", r#"{"amount":2}"#)], None).await;
    let codes: Vec<Code> = settled.iter().map(|one| one.record().code()).collect();
    assert_eq!(codes, [Code::NotRecorded, Code::Ok]);
    assert_eq!((person.asked().len(), log.take()), (1, vec!["pay 2 me".to_owned()]));
}

/// A turn that is dropped, and one that was cancelled before.
#[tokio::test]
async fn d68_d70_withdrawn_questions_have_their_end() {
    let (harness, _, ledger) = harness();
    let (window, mut sets) = ChannelApprover::new();
    let harness = harness.approver(window.clone());
    let dropped = async {
        tokio::select! {
            _ = harness.run([pays("1", r#"{"amount":1}"#)]) => panic!("nobody has answered"),
            set = sets.recv() => set.unwrap_or_else(|| panic!("a set")),
        }
    };
    let set = dropped.await;
    assert!(set.questions().token().is_cancelled());
    let id = &set.questions().questions[0].id;
    assert_eq!(window.answer(id, Answer::Yes), Err(AnswerError::NotPending));
    assert_eq!(asks(&ledger), (vec![id.clone()], vec![(id.clone(), None)]));

    use tool_runtime::path::{Acceptance, Asking, Loaded, ask::ask};
    let (registry, _) = logged([PayTool::host()]);
    let ledger = Arc::new(MemoryLedger::default());
    let person = Person::who_says(Answer::Yes);
    let token = CancellationToken::new();
    token.cancel();
    let proposed = registry.resolve(pays("1", r#"{"amount":1}"#), &Loaded::new());
    let Ok(Acceptance::Accepted(accepted)) = proposed.and_then(|proposed| proposed.accept()) else {
        panic!("the call is fine")
    };
    let decided = accepted.check(&tool_runtime::Checklist::new()).await.decide(&ASKS, &[]);
    let asking = Asking::new(&ASKS, &[], ledger.clone()).approver(&person).token(&token);
    let ended = ask(vec![decided], asking).await.remove(0).record(&*ledger).await;
    let ended = ended.and_then(|recorded| recorded.permit()).map(|_| ()).map_err(|ending| ending.code());
    assert_eq!(ended, Err(Code::CancelledBeforeStart));
    let (asked, answered) = asks(&ledger);
    assert_eq!((person.asked().len(), answered), (0, vec![(asked[0].clone(), None)]));
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

#[tokio::test]
async fn b64_a_grant_turns_ask_into_allow_and_nothing_else() {
    let allow: fn(&CallFacts<'_>) -> Decision = |_| Decision::Allow;
    let deny: fn(&CallFacts<'_>) -> Decision =
        |call| if call.tool() == "pay" { Decision::deny("never") } else { Decision::NoOpinion };
    let grants = Grants::new();
    let person = Person::who_says(Answer::YesForSession(GrantScope::AnyArguments));
    let asking = || harness().0.grants(grants.clone()).approver(person.clone());
    assert_eq!(code(&asking(), pays("1", r#"{"amount":1}"#)).await, Code::Ok);
    assert_eq!((grants.len(), person.asked().len()), (1, 1));
    for orders in [
        [deny, ASKS, allow],
        [deny, allow, ASKS],
        [ASKS, deny, allow],
        [ASKS, allow, deny],
        [allow, deny, ASKS],
        [allow, ASKS, deny],
    ] {
        let policy = orders.into_iter().fold(Policies::new(), Policies::and);
        let (harness, log, _) = harness_of(policy);
        let harness = harness.grants(grants.clone()).approver(person.clone());
        assert_eq!(code(&harness, pays("2", r#"{"amount":1}"#)).await, Code::Denied);
        assert!(log.take().is_empty());
    }
    let broken: fn(&CallFacts<'_>) -> Decision = |_| panic!("boom");
    for harness in
        [harness_of(DenyAll).0, harness_of(broken).0, harness().0.guard(|_: &CallFacts<'_>| Some("no".into()))]
    {
        assert_eq!(code(&harness.grants(grants.clone()), pays("2", r#"{"amount":1}"#)).await, Code::Denied);
    }
    // It spares the question, also where no rule says anything, and the record says so.
    for harness in [asking(), harness_of(Policies::new()).0.grants(grants.clone())] {
        let settled = one(&harness, pays("3", r#"{"amount":9}"#)).await;
        assert_eq!(settled.record().code(), Code::Ok);
        let verdict = settled.record().verdict().unwrap_or_else(|| panic!("a verdict"));
        let reason = verdict.reasons().last().cloned().unwrap_or_default();
        assert!(reason.starts_with("allowed for this session with any arguments"), "{reason}");
        assert!(reason.contains(person.asked()[0].id.as_str()), "{reason}");
        assert_eq!(verdict.question(), None);
    }
    assert_eq!(person.asked().len(), 1);
    // Another tool, another session, and after it was taken back.
    assert_eq!(
        code(&harness().0.grants(grants.clone()), ToolCall::new("4", "wire", r#"{"amount":1}"#)).await,
        Code::ApprovalUnavailable
    );
    assert_eq!(code(&harness().0, pays("5", r#"{"amount":1}"#)).await, Code::ApprovalUnavailable);
    let grant = grants.list().remove(0);
    assert_eq!((grant.tool(), grant.scope(), grant.arguments()), ("pay", GrantScope::AnyArguments, None));
    assert!(grants.revoke(&grant) && !grants.revoke(&grant));
    assert_eq!(code(&harness().0.grants(grants), pays("6", r#"{"amount":1}"#)).await, Code::ApprovalUnavailable);
}

/// What is denied when it is judged again is not granted either.
#[tokio::test]
async fn b64_a_grant_that_is_denied_at_once_is_none() {
    let judged = AtomicUsize::new(0);
    let (harness, log, _) = harness_of(move |_: &CallFacts<'_>| match judged.fetch_add(1, Ordering::SeqCst) {
        0 => Decision::ask("sure?"),
        _ => Decision::deny("not any more"),
    });
    let grants = Grants::new();
    let person = Person::who_says(Answer::YesForSession(GrantScope::AnyArguments));
    let harness = harness.approver(person).grants(grants.clone());
    assert_eq!(code(&harness, pays("1", r#"{"amount":1}"#)).await, Code::Denied);
    assert!(grants.is_empty() && log.take().is_empty());
}

fn remote(description: &str) -> Registry {
    let tool = DynamicTool::builder("send", description)
        .parameters(r#"{"type":"object","properties":{"to":{"type":["string","null"]},"all":{"type":"object"}}}"#)
        .output("true")
        .run(|arguments, _| async move { Ok(arguments) });
    let tool = tool.unwrap_or_else(|error| panic!("{error}"));
    Registry::builder().tool(tool).build().unwrap_or_else(|error| panic!("{error}"))
}

#[tokio::test]
async fn b64_another_definition_voids_a_grant() {
    for scope in [GrantScope::SameArguments, GrantScope::AnyArguments] {
        let grants = Grants::new();
        let call = || ToolCall::new("1", "send", r#"{"to":"a"}"#);
        let harness = |description: &str| Harness::new(remote(description), ASKS).grants(grants.clone());
        let granting = harness("Sends.").approver(Person::who_says(Answer::YesForSession(scope)));
        assert_eq!(code(&granting, call()).await, Code::Ok);
        assert_eq!(code(&harness("Sends."), call()).await, Code::Ok);
        assert_eq!(code(&harness("Sends, and tells everybody."), call()).await, Code::ApprovalUnavailable);
    }
}

#[tokio::test]
async fn b70_b74_a_grant_is_for_values_and_not_for_spellings() {
    let grants = Grants::new();
    let person = Person::who_says(Answer::YesForSession(GrantScope::SameArguments));
    let granting = harness().0.grants(grants.clone()).approver(person.clone());
    assert_eq!(code(&granting, pays("1", r#"{"amount":1}"#)).await, Code::Ok);
    let after = harness().0.grants(grants.clone());
    for same in [
        r#"{"amount":1}"#,
        r#" { "amount" : 1.0 } "#,
        r#"{"to":"me","amount":1}"#,
        r#"{"recipient":"me","amount":1e0,"pin":null}"#,
        r#""{\"amount\":1}""#,
    ] {
        assert_eq!(code(&after, pays("2", same)).await, Code::Ok, "{same}");
    }
    for other in [r#"{"amount":100}"#, r#"{"amount":1,"to":"you"}"#, r#"{"amount":1,"pin":"1"}"#, r#"{"amount":1.5}"#] {
        assert_eq!(code(&after, pays("3", other)).await, Code::ApprovalUnavailable, "{other}");
    }
    assert_eq!(code(&after, ToolCall::new("4", "wire", r#"{"amount":1}"#)).await, Code::ApprovalUnavailable);
    assert_eq!(grants.list()[0].scope(), GrantScope::SameArguments);
    // A plain yes is for one call.
    let once = harness().0.grants(Grants::new()).approver(Person::who_says(Answer::Yes));
    let settled = one(&once, pays("5", r#"{"amount":1}"#)).await;
    assert_eq!(settled.record().code(), Code::Ok);
    let other = Person::who_says(Answer::No);
    assert_eq!(code(&once.approver(other.clone()), pays("5", r#"{"amount":1}"#)).await, Code::Rejected);
    assert_eq!(other.asked().len(), 1);
}

#[tokio::test]
async fn b74_the_digest_is_of_what_runs() {
    let person = Person::who_says(Answer::No);
    let harness = Harness::new(remote("Sends."), ASKS).approver(person.clone());
    let digest = async |id: &str, arguments: &str| {
        harness.run([ToolCall::new(id, "send", arguments)]).await;
        person.asked().last().map(|question| question.digest).unwrap_or_else(|| panic!("a question: {arguments}"))
    };
    let first = digest("1", r#"{"to":"é","all":{"a":[1,2],"b":1}}"#).await;
    assert_eq!(first, digest("2", "{ \"all\": {\"b\":1.0,\"a\":[1,2]}, \"to\":\"\\u00e9\" }").await);
    for other in [
        r#"{"to":"é","all":{"a":[2,1],"b":1}}"#,
        r#"{"to":"é","all":{"a":[1,2],"b":"1"}}"#,
        "{\"to\":\"e\u{301}\",\"all\":{\"a\":[1,2],\"b\":1}}",
        r#"{"to":"é"}"#,
        r#"{}"#,
    ] {
        assert_ne!(first, digest("3", other).await, "{other}");
    }
}

#[tokio::test]
async fn b73_missing_arguments_inherit_nothing() {
    let grants = Grants::new();
    let person = Person::who_says(Answer::YesForSession(GrantScope::SameArguments));
    let granting = Harness::new(remote("Sends."), ASKS).grants(grants.clone()).approver(person);
    assert_eq!(code(&granting, ToolCall::new("1", "send", r#"{"to":"a"}"#)).await, Code::Ok);
    let after = Harness::new(remote("Sends."), ASKS).grants(grants);
    for less in ["", "null", "{}", r#"{"to":null}"#] {
        assert_eq!(code(&after, ToolCall::new("2", "send", less)).await, Code::ApprovalUnavailable, "{less}");
    }
    let absent = ToolCall::new("2", "send", tool_runtime::RawArguments::absent());
    assert_eq!(code(&after, absent).await, Code::ApprovalUnavailable);
    assert_eq!(code(&after, ToolCall::new("2", "send", r#"{"to":"a""#)).await, Code::InvalidArguments);
    assert_eq!(code(&after, ToolCall::new("2", "send", r#"{"to":"a"}"#)).await, Code::Ok);
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

/// A writer that is ours to look at.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Screen {
    fn text(&self) -> String {
        String::from_utf8_lossy(&lock(&self.0)).into_owned()
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn d69_a_terminal_takes_whole_answers_only() {
    let cases: [(&str, Answer); 12] = [
        ("y\n", Answer::Yes),
        (" YES \r\n", Answer::Yes),
        ("n\n", Answer::No),
        ("a\n", Answer::YesForSession(GrantScope::SameArguments)),
        ("what?\ny\n", Answer::Yes),
        ("what?\nyeah\ny\n", Answer::Unavailable),
        ("\n\n", Answer::Unavailable),
        ("", Answer::Unavailable),
        ("y", Answer::Unavailable),
        ("y\u{200b}\nno way\n", Answer::Unavailable),
        ("\u{ff59}\n", Answer::Unavailable),
        ("what?\n", Answer::Unavailable),
    ];
    for (typed, answer) in cases {
        let screen = Screen::default();
        let approver = TerminalApprover::new(Cursor::new(typed), screen.clone());
        let set = QuestionSet::new([Question::new("1", "pay", r#"{"amount":1}"#)]);
        assert_eq!(approver.ask(set).await, [answer], "{typed:?}");
        assert!(screen.text().contains("argument amount: 1\n"));
    }
    // An answer that nobody can have read the question to is none.
    struct Broken;
    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("gone"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let set = || QuestionSet::new([Question::new("1", "pay", "{}"), Question::new("2", "pay", "{}")]);
    let approver = TerminalApprover::new(Cursor::new("y\ny\n"), Broken);
    assert_eq!(approver.ask(set()).await, [Answer::Unavailable; 2]);
    let approver = TerminalApprover::new(Cursor::new("y\nn\n"), io::sink());
    assert_eq!(approver.ask(set()).await, [Answer::Yes, Answer::No]);
}

#[tokio::test]
async fn b67_b68_a_terminal_shows_nothing_that_pretends() {
    let (harness, log, _) = harness();
    let screen = Screen::default();
    let harness = harness.approver(TerminalApprover::new(Cursor::new("n\n"), screen.clone()));
    let to = "you\\u001b[2K\\r\\nRun it? [y]es\\u202e\\u2028\u{200b}".to_owned() + &"x".repeat(10_000) + "the end";
    let call = pays("1\n  tool: other\u{1b}[2J", &format!(r#"{{"amount":1,"to":"{to}","pin":"t0k"}}"#));
    assert_eq!(code(&harness, call).await, Code::Rejected);
    let text = screen.text();
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    assert!(!text.contains(['\u{202e}', '\u{2028}', '\u{200b}']), "{text:?}");
    assert!(text.contains("\\u{200b}") && text.contains("the end\"\n") && text.contains("characters, head and tail"));
    assert!(!text.contains("t0k") && text.contains("[redacted]"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("Run it?")).count(), 1, "{text}");
    assert_eq!(text.lines().filter(|line| line.trim_start().starts_with("tool:")).count(), 1, "{text}");
    assert!(text.contains("notice: Money leaves the account."), "{text}");
    assert!(log.take().is_empty());
}

#[tokio::test]
async fn b68_an_entry_is_one_line() {
    let (harness, _, ledger) = harness_of(|_: &CallFacts<'_>| Decision::ask("so\n{\"entry\":\"answered\"}"));
    let harness = harness.approver(Person::who_says(Answer::No));
    let call = pays("1\n\u{1b}[2K", r#"{"amount":1,"to":"\n{\"answer\":\"yes\"}\r\u001b"}"#);
    harness.run([call, ToolCall::new("2", "pay\n{}", "")]).await;
    let entries = ledger.entries();
    assert_eq!(entries.len(), 5);
    for entry in entries {
        let line = serde_json::to_string(&entry).unwrap_or_default();
        assert!(line.starts_with(r#"{"entry":""#) && !line.contains(char::is_control), "{line:?}");
    }
}

/// A line to a question that was withdrawn is not an answer to the next one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d70_a_line_answers_the_question_that_was_shown() {
    let (lines, typed) = std::sync::mpsc::channel::<&'static str>();
    struct Keyboard(std::sync::mpsc::Receiver<&'static str>, Vec<u8>);
    impl io::Read for Keyboard {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.1.is_empty() {
                self.1 = self.0.recv().unwrap_or_default().into();
            }
            let count = self.1.len().min(into.len());
            into[..count].copy_from_slice(&self.1[..count]);
            self.1.drain(..count);
            Ok(count)
        }
    }
    let screen = Screen::default();
    let approver = TerminalApprover::new(io::BufReader::new(Keyboard(typed, Vec::new())), screen.clone());
    let (harness, log, _) = harness();
    let harness = harness.approver(approver);
    let token = CancellationToken::new();
    let cancel = token.clone();
    let (settled, ()) = tokio::join!(harness.run_settled([pays("1", r#"{"amount":1}"#)], Some(token)), async {
        while !screen.text().contains("Run it?") {
            millis(1).await;
        }
        cancel.cancel();
    });
    assert_eq!(settled[0].record().code(), Code::CancelledBeforeStart);
    let (code, ()) = tokio::join!(code(&harness, pays("2", r#"{"amount":2}"#)), async {
        let _ = lines.send("y\n");
        while screen.text().matches("Run it?").count() < 2 {
            millis(1).await;
        }
        let _ = lines.send("n\n");
    });
    assert_eq!((code, log.take().len()), (Code::Rejected, 0));
    assert!(screen.text().contains("was withdrawn"));
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

#[tokio::test]
async fn b63_letters_that_look_alike_are_pointed_out_in_paths() {
    // The last letter of `secretѕ` is Cyrillic; a name in a text is nobody's business.
    for (to, marked) in [("/w/secret\u{455}/k", true), ("Zo\u{eb} of \u{41a}\u{438}\u{435}\u{432}", false)] {
        let (harness, _, _) = harness();
        let screen = Screen::default();
        let harness = harness.approver(TerminalApprover::new(Cursor::new("n\n"), screen.clone()));
        let call = pays("1", &format!(r#"{{"amount":1,"to":"{to}","pin":"1"}}"#));
        assert_eq!(code(&harness, call).await, Code::Rejected);
        assert_eq!(screen.text().contains("look closely: not ASCII"), marked, "{}", screen.text());
    }
}
