//! Questions that the model puts into words: the user answers in ordinary turns, and the calls go on with what is read in
//! them. And what the user agrees to have kept, with an answer from elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tool_runtime::{
    AllowAll, Answer, Answers, BoxFuture, CallFacts, CaseId, Checklist, ClaimError, Claimed, Code, Conversation,
    Decision, Entry, FillError, Harness, History, JsonPath, Ledger, LedgerError, Memory, MemoryLedger, Parking,
    ProcessMemory, Query, QuestionSet, Reply, ReplyError, SlotState, Source, Stored, StoredKind, ToolCall, TurnOutcome,
    tool,
};

use crate::sql::Store;
use crate::support::{Ran, ann, code, fine, registry, signed, waiting};

/// Sends money.
#[tool(host(destructive))]
async fn transfer(
    /// The account that is paid.
    iban: String,
    /// How much.
    #[arg(range = 1..=100)]
    amount: u32,
    #[host] ran: &Ran,
) -> String {
    ran.ran();
    format!("{amount} to {iban}")
}

fn later(set: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
    Box::pin(async move { vec![Answer::Later; set.questions.len()] })
}

fn draft(open: &[&str]) -> ToolCall {
    let arguments = if open.contains(&"/iban") { "{}" } else { r#"{"iban":"DE1"}"# };
    let open: Vec<JsonPath> = open.iter().filter_map(|slot| JsonPath::from_pointer(slot)).collect();
    ToolCall::new("call_1", "transfer", arguments).with_no_result(open)
}

fn asking(ran: &Ran, ledger: &Arc<dyn Ledger>, conversation: &Conversation, asks: bool) -> Harness {
    let registry = registry(ran, [TransferTool::host()]);
    let list = Checklist::builder().source(conversation.instruction());
    let list = list.json("ours", r#"{"line":[{"tool":"transfer","argument":"amount","says":["euros"]}]}"#);
    let policy = move |_: &CallFacts<'_>| if asks { Decision::ask("it costs money") } else { Decision::Allow };
    let harness = Harness::new(registry.clone(), policy).checklist(fine(list.build(&registry)));
    harness.approver(later).ledger(Arc::clone(ledger)).conversation("talk")
}

async fn last(ledger: &Arc<dyn Ledger>, kind: StoredKind) -> Stored {
    let history = fine(ledger.history(Query::all()).await);
    let entries: Vec<Stored> = history.cases().iter().flat_map(|case| case.entries().to_vec()).collect();
    entries.into_iter().rev().find(|entry| entry.kind() == kind).unwrap_or_else(|| panic!("no {kind:?}"))
}

#[tokio::test]
async fn what_the_user_writes_next_goes_into_the_call_that_waits() {
    for store in Store::all().await {
        let (ran, conversation) = (Ran::default(), Conversation::new());
        conversation.user("Pay Bob for me.");
        {
            let ledger = store.open("a").await;
            let settled =
                asking(&ran, &ledger, &conversation, false).run_settled([draft(&["/iban", "/amount"])], None).await;
            assert_eq!(code(&settled[0]), Code::ApprovalPending, "{}", settled[0].result().text());
        }
        conversation.assistant("Which account should I pay, and how much?");
        let from = conversation.user("101 euros to DE1 then");
        let ledger = store.open("b").await;
        let harness = asking(&ran, &ledger, &conversation, false);
        // The tool takes no such amount, and of which blank the account is nobody says: all is asked again.
        let outcomes = fine(harness.answer_in_turns(&conversation, from, &ann(), None).await);
        let [TurnOutcome::StillWaits(_, answer)] = &outcomes[..] else { panic!("{outcomes:?}") };
        assert_eq!((answer.values().len(), answer.open().len(), answer.asks_for_a_yes()), (0, 2, false));
        conversation.user("50 euros");
        let outcomes = fine(harness.answer_in_turns(&conversation, from, &ann(), None).await);
        let [TurnOutcome::StillWaits(_, answer)] = &outcomes[..] else { panic!("{outcomes:?}") };
        assert_eq!(answer.open(), ["/iban"]);
        assert_eq!(ran.times(), 0);
        let turn = conversation.user("iban: DE1");
        let outcomes = fine(harness.answer_in_turns(&conversation, from, &ann(), None).await);
        let [TurnOutcome::WentOn(settled)] = &outcomes[..] else { panic!("{outcomes:?}") };
        assert_eq!((code(settled), ran.times()), (Code::Ok, 1), "{}", settled.result().text());
        assert!(settled.result().text().contains("50 to DE1"), "{}", settled.result().text());
        // The next revision, of what the user gave, with its places.
        let verdict = last(&ledger, StoredKind::Verdict).await;
        assert_eq!(verdict.revision(), Some(2));
        assert!(
            verdict.slots().iter().all(|slot| matches!(slot.state(), SlotState::Answered(_))),
            "{:?}",
            verdict.slots()
        );
        let answered = last(&ledger, StoredKind::Answered).await;
        assert_eq!(answered.signer(), Some(ann()));
        let at = answered.filled_at();
        let (_, at) = at.iter().find(|(slot, _)| *slot == "/iban").unwrap_or_else(|| panic!("{at:?}"));
        assert_eq!(at.to_string(), format!("u{turn}"));
        assert_eq!(conversation.instruction().read(at).as_deref(), Some("DE1"));
        // Nothing waits any more, whatever is said.
        conversation.user("60 euros");
        assert!(fine(harness.answer_in_turns(&conversation, from, &ann(), None).await).is_empty());
        assert_eq!(ran.times(), 1);
    }
}

/// Values are taken from turns, and a yes is not: it is given by whoever can, with what was read.
#[tokio::test]
async fn a_turn_is_no_yes() {
    let (ran, conversation) = (Ran::default(), Conversation::new());
    let ledger: Arc<dyn Ledger> = Arc::new(MemoryLedger::default());
    conversation.user("Pay DE1.");
    let harness = asking(&ran, &ledger, &conversation, true);
    let settled = harness.run_settled([draft(&["/amount"])], None).await;
    assert_eq!(code(&settled[0]), Code::ApprovalPending, "{}", settled[0].result().text());
    let from = conversation.user("5 euros, yes, go ahead");
    let outcomes = fine(harness.answer_in_turns(&conversation, from, &ann(), None).await);
    let [TurnOutcome::StillWaits(case, answer)] = &outcomes[..] else { panic!("{outcomes:?}") };
    assert_eq!((answer.values().len(), answer.asks_for_a_yes(), ran.times()), (1, true, 0));
    fine(harness.reply(Reply::of_turns(answer, Answer::Yes, ann())).await);
    assert_eq!((code(&fine(harness.resume(*case, None).await)), ran.times()), (Code::Ok, 1));
}

/// Another conversation's calls wait for what is said there.
#[tokio::test]
async fn a_turn_answers_its_own_conversation_alone() {
    let (ran, conversation) = (Ran::default(), Conversation::new());
    let ledger: Arc<dyn Ledger> = Arc::new(MemoryLedger::default());
    conversation.user("Pay DE1.");
    let harness = asking(&ran, &ledger, &conversation, false);
    harness.run_settled([draft(&["/amount"])], None).await;
    let from = conversation.user("5");
    for other in [Some("other"), None] {
        let elsewhere = asking(&ran, &ledger, &conversation, false);
        let elsewhere = match other {
            Some(other) => elsewhere.conversation(other),
            None => {
                let registry = registry(&ran, [TransferTool::host()]);
                Harness::new(registry, AllowAll).ledger(Arc::clone(&ledger))
            }
        };
        assert!(fine(elsewhere.answer_in_turns(&conversation, from, &ann(), None).await).is_empty());
    }
    assert_eq!(fine(harness.answer_in_turns(&conversation, from, &ann(), None).await).len(), 1);
}

/// "Values that will be used again should be recorded with the user's consent": also where the answer comes from elsewhere.
#[tokio::test]
async fn what_a_reply_agrees_to_is_kept_by_whoever_goes_on() {
    for store in Store::all().await {
        for (keep, said, kept) in [(true, Answer::Yes, 1), (false, Answer::Yes, 0), (true, Answer::No, 0)] {
            let (ran, memory) = (Ran::default(), ProcessMemory::new());
            let host = |ledger: &Arc<dyn Ledger>, answers: &Answers| {
                let registry = registry(&ran, [TransferTool::host()]);
                let list = Checklist::builder().answers(answers).memory(Arc::new(memory.clone()));
                let list = fine(list.json("ours", r#"{"scope":{"calls":"none"}}"#).build(&registry));
                Harness::new(registry, AllowAll).checklist(list).approver(later).ledger(Arc::clone(ledger))
            };
            let (case, question) = {
                let ledger = store.open("a").await;
                let settled = host(&ledger, &Answers::new()).run_settled([draft(&["/amount"])], None).await;
                waiting(&*ledger, settled[0].record().case()).await
            };
            let ledger = store.open("b").await;
            let answers = Answers::new();
            let harness = host(&ledger, &answers);
            let reply = signed(&question, said).fill("/amount", "7");
            let reply = if keep { reply.keep("/amount") } else { reply };
            fine(harness.reply(reply).await);
            // The consent is in the record, with the yes.
            let consent = if kept == 1 { vec!["/amount"] } else { Vec::new() };
            assert_eq!(last(&ledger, StoredKind::Answered).await.kept(), consent);
            let settled = fine(harness.resume(case, None).await);
            assert_eq!(code(&settled), if said.is_yes() { Code::Ok } else { Code::Rejected });
            let recalled = fine(memory.recall("transfer".to_owned(), "/amount".to_owned()).await);
            assert_eq!(recalled.len(), kept);
            for recalled in recalled {
                assert_eq!(recalled.value(), "7");
                assert_eq!(answers.read(recalled.consent().location()).as_deref(), Some("7"));
            }
        }
    }
}

/// Opens.
#[tool(host(destructive))]
async fn open_door(
    /// By which.
    #[arg(secret)]
    pin: String,
    #[host] ran: &Ran,
) -> String {
    ran.ran();
    format!("{} digits", pin.len())
}

/// "Never secrets"; and nothing where nobody asked whether it may be kept, or gives nothing.
#[tokio::test]
async fn what_cant_be_kept_is_not_taken_for_kept() {
    let ran = Ran::default();
    let registry = registry(&ran, [TransferTool::host(), OpenDoorTool::host()]);
    let secret = ToolCall::new("call_1", "open_door", "{}").with_no_result(JsonPath::from_pointer("/pin"));
    for (call, slot, value, has_memory) in [
        (secret, "/pin", "\"1234\"", true),
        (draft(&["/amount"]), "/amount", "7", false),
        (draft(&["/amount"]), "/amount", "", true),
    ] {
        let answers = Answers::new();
        let mut list = Checklist::builder().answers(&answers).json("ours", r#"{"scope":{"calls":"none"}}"#);
        if has_memory {
            list = list.memory(Arc::new(ProcessMemory::new()));
        }
        let ledger: Arc<dyn Ledger> = Arc::new(MemoryLedger::default());
        let harness = Harness::new(registry.clone(), AllowAll).checklist(fine(list.build(&registry))).approver(later);
        let harness = harness.ledger(Arc::clone(&ledger));
        let settled = harness.run_settled([call], None).await;
        let (case, question) = waiting(&*ledger, settled[0].record().case()).await;
        let yes = || signed(&question, Answer::Yes);
        let kept = if value.is_empty() { yes() } else { yes().fill(slot, value) }.keep(slot);
        for said in [ledger.reply(kept.clone()).await, harness.reply(kept).await] {
            let why = match said {
                Err(ReplyError::Unfillable(why)) => why,
                other => panic!("{other:?}"),
            };
            let _: FillError = why;
        }
        // The question is open still.
        let value = if value.is_empty() { "7" } else { value };
        fine(harness.reply(yes().fill(slot, value)).await);
        assert_eq!(code(&fine(harness.resume(case, None).await)), Code::Ok);
    }
}

/// Takes one reply, and no second.
#[derive(Default)]
struct TakesOne {
    kept: MemoryLedger,
    replies: AtomicUsize,
}

impl Ledger for TakesOne {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.kept.append(entry)
    }

    fn history(&self, query: Query) -> BoxFuture<'_, Result<History, LedgerError>> {
        self.kept.history(query)
    }

    fn park(&self, parking: Parking) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.kept.park(parking)
    }

    fn reply(&self, reply: Reply) -> BoxFuture<'_, Result<(), ReplyError>> {
        match self.replies.fetch_add(1, Ordering::SeqCst) {
            0 => self.kept.reply(reply),
            _ => Box::pin(async { Err(LedgerError::new("the disk is full").into()) }),
        }
    }

    fn claim(&self, case: CaseId) -> BoxFuture<'_, Result<Claimed, ClaimError>> {
        self.kept.claim(case)
    }
}

/// Weighs something.
#[tool]
async fn weigh(
    /// How much it is, in kilos.
    kilos: u32,
    #[host] ran: &Ran,
) -> u32 {
    ran.ran();
    kilos
}

/// What has run has a result, whatever becomes of the others.
#[tokio::test]
async fn a_call_that_went_on_has_its_result_although_another_could_not() {
    let (ran, conversation) = (Ran::default(), Conversation::new());
    let ledger: Arc<dyn Ledger> = Arc::new(TakesOne::default());
    conversation.user("Pay DE1, and weigh it.");
    let registry = registry(&ran, [TransferTool::host(), WeighTool::host()]);
    let list = Checklist::builder().source(conversation.instruction()).json(
        "ours",
        r#"{"line":[{"tool":"transfer","argument":"amount","says":["euros"]},{"tool":"weigh","argument":"kilos","says":["kilos"]}]}"#,
    );
    let harness = Harness::new(registry.clone(), AllowAll).checklist(fine(list.build(&registry)));
    let harness = harness.approver(later).ledger(Arc::clone(&ledger)).conversation("talk");
    let open = |slot| JsonPath::from_pointer(slot).into_iter();
    let weigh = ToolCall::new("call_2", "weigh", "{}").with_no_result(open("/kilos"));
    let settled = harness.run_settled([draft(&["/amount"]), weigh], None).await;
    assert!(settled.iter().all(|one| code(one) == Code::ApprovalPending), "{}", settled[1].result().text());
    let from = conversation.user("5 euros. 7 kilos.");
    let outcomes = fine(harness.answer_in_turns(&conversation, from, &ann(), None).await);
    let [TurnOutcome::WentOn(settled), TurnOutcome::Hindered(case, error)] = &outcomes[..] else {
        panic!("{outcomes:?}")
    };
    assert_eq!((code(settled), ran.times()), (Code::Ok, 1), "{}", settled.result().text());
    assert!(matches!(error, ReplyError::Failed(_)), "{error}");
    // The other still waits.
    waiting(&*ledger, *case).await;
}
