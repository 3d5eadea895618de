//! Calls that wait for several people, each of whom answers elsewhere.

use std::sync::Arc;

use tool_runtime::{
    Addressee, Answer, AnswerError, BoxFuture, CallFacts, CaseHistory, CaseId, CaseState, CheckedCall, Checklist,
    ClaimError, Code, Decision, Harness, Ledger, Query, QuestionId, QuestionSet, Reply, ReplyError, Signer, ToolCall,
    tool,
};

use crate::sql::Store;
use crate::support::{Ran, code, fine, registry};

/// Sends money.
///
/// [confirm] Money leaves the account.
#[tool(host(destructive))]
async fn send(
    /// To whom.
    to: String,
    /// How much.
    #[arg(secret)]
    amount: u32,
    #[host] ran: &Ran,
) -> String {
    ran.ran();
    format!("{amount} to {to}")
}

const LINES: &str = r#"{"origin":"treasury policy 4","line":[{"tool":"send","name":"recipient","check":"known","approver":"@treasurer","then":"approve_if","text":"the recipient is known"}],"scope":{"calls":"none"}}"#;

/// The user, the approver and the treasurer have to be heard, and all of them answer later.
fn harness(ran: &Ran, ledger: &Arc<dyn Ledger>) -> Harness {
    let registry = registry(ran, [SendTool::host()]);
    let known = |_: CheckedCall| -> BoxFuture<'static, Result<bool, String>> { Box::pin(async { Ok(true) }) };
    let list = fine(Checklist::builder().condition("known", known).json("ours", LINES).build(&registry));
    let later = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(async move { vec![Answer::Later; set.questions.len()] })
    };
    Harness::new(registry, |_: &CallFacts<'_>| Decision::ask("money"))
        .checklist(list)
        .approver(later)
        .user(later)
        .person("treasurer", later)
        .ledger(Arc::clone(ledger))
        .conversation("talk")
}

fn read(case: &CaseHistory) -> Vec<(Addressee, QuestionId)> {
    let of = |asked: &tool_runtime::Stored| Some((asked.addressee(), asked.question()?));
    let mut waits: Vec<_> = case.waits_for().filter_map(of).collect();
    waits.sort_by_key(|(by, _)| by.to_string());
    waits
}

async fn history(ledger: &Arc<dyn Ledger>, case: CaseId) -> CaseHistory {
    let history = fine(ledger.history(Query::all().case(case)).await);
    history.case(case).cloned().unwrap_or_else(|| panic!("{case} is there"))
}

async fn proposed(store: &Store, ran: &Ran) -> (CaseId, Vec<QuestionId>) {
    let ledger = store.open("a").await;
    let call = ToolCall::new("call_1", "send", r#"{"to":"alice","amount":10}"#);
    let settled = harness(ran, &ledger).run_settled([call], None).await;
    assert_eq!(code(&settled[0]), Code::ApprovalPending, "{}", settled[0].result().text());
    let case = history(&ledger, settled[0].record().case()).await;
    let waits = read(&case);
    let people = [Addressee::person("treasurer"), Addressee::Approver, Addressee::User];
    assert_eq!(waits.iter().map(|(by, _)| by.clone()).collect::<Vec<_>>(), people);
    (case.id(), waits.into_iter().map(|(_, question)| question).collect())
}

fn says(question: &QuestionId, answer: Answer, who: &str) -> Reply {
    Reply::new(question.clone(), answer, Signer::new(who, "web"))
}

/// Each answers in a process of their own, in any order; whoever goes on with it then has all their answers.
#[tokio::test]
async fn a_call_that_waits_for_several_is_cleared_by_all_of_them() {
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        for store in Store::all().await {
            let ran = Ran::default();
            let (case, questions) = proposed(&store, &ran).await;
            for (place, of) in order.into_iter().enumerate() {
                let ledger = store.open(&format!("host-{of}")).await;
                let before = history(&ledger, case).await;
                assert_eq!((before.state(), read(&before).len()), (CaseState::Waiting, 3 - place));
                let early = harness(&ran, &ledger).resume(case, None).await;
                assert!(matches!(early, Err(ClaimError::NotAnswered)), "{early:?}");
                let asked = fine(ledger.history(Query::all().question(&questions[of])).await);
                assert_eq!(asked.cases().iter().map(CaseHistory::id).collect::<Vec<_>>(), [case]);
                fine(ledger.reply(says(&questions[of], Answer::Yes, &format!("person {of}"))).await);
                // Once each.
                for answer in [Answer::Yes, Answer::No] {
                    let again = ledger.reply(says(&questions[of], answer, "somebody else")).await;
                    assert!(matches!(again, Err(ReplyError::Late(AnswerError::AlreadyAnswered))), "{again:?}");
                }
            }
            let ledger = store.open("b").await;
            assert_eq!(history(&ledger, case).await.state(), CaseState::Answered);
            let settled = fine(harness(&ran, &ledger).resume(case, None).await);
            assert_eq!((settled.result().text().as_str(), ran.times()), ("10 to alice", 1));
            assert!(matches!(harness(&ran, &ledger).resume(case, None).await, Err(ClaimError::NotWaiting)));
            // The record says who agreed, each in which question.
            let after = history(&ledger, case).await;
            let mut agreed = after.verdict().map(|verdict| verdict.approvals()).unwrap_or_default();
            agreed.sort_by_key(|(by, _)| by.to_string());
            assert_eq!(agreed.into_iter().map(|(_, question)| question).collect::<Vec<_>>(), questions);
            assert_eq!(ran.times(), 1);
        }
    }
}

/// One no is a no: nobody has to answer after it, and whoever does is late.
#[tokio::test]
async fn one_no_of_several_is_a_no() {
    for no in 0..3 {
        for store in Store::all().await {
            let ran = Ran::default();
            let (case, questions) = proposed(&store, &ran).await;
            let ledger = store.open("b").await;
            let (first, last) = ((no + 1) % 3, (no + 2) % 3);
            fine(ledger.reply(says(&questions[first], Answer::Yes, "ann")).await);
            fine(ledger.reply(says(&questions[no], Answer::No, "bob")).await);
            let late = ledger.reply(says(&questions[last], Answer::Yes, "eve")).await;
            assert!(matches!(late, Err(ReplyError::Late(AnswerError::AlreadyAnswered))), "{late:?}");
            assert_eq!(history(&ledger, case).await.state(), CaseState::Answered);
            let settled = fine(harness(&ran, &ledger).resume(case, None).await);
            assert_eq!((code(&settled), ran.times()), (Code::Rejected, 0));
        }
    }
}

/// Many who answer at once: one answer a question, and the call is answered when the last of them is.
#[tokio::test]
async fn several_who_answer_at_once_leave_one_answer_each() {
    for store in Store::all().await {
        let ran = Ran::default();
        let (case, questions) = proposed(&store, &ran).await;
        let ledger = store.open("b").await;
        let replies: Vec<_> = (0..24)
            .map(|number| {
                let (ledger, question) = (Arc::clone(&ledger), questions[number % 3].clone());
                tokio::spawn(async move { ledger.reply(says(&question, Answer::Yes, &format!("{number}"))).await })
            })
            .collect();
        let mut taken = 0;
        for reply in replies {
            match fine(reply.await) {
                Ok(()) => taken += 1,
                Err(ReplyError::Late(AnswerError::AlreadyAnswered)) => {}
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(taken, 3);
        assert_eq!(history(&ledger, case).await.state(), CaseState::Answered);
        assert_eq!(code(&fine(harness(&ran, &ledger).resume(case, None).await)), Code::Ok);
        assert_eq!(ran.times(), 1);
    }
}
