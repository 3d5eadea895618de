//! What the user is told before a call runs.

use std::sync::{Arc, Mutex};

use tool_runtime::{
    AllowAll, Answer, BoxFuture, CallFacts, Checklist, Code, Decision, Harness, Notices, Party, QuestionSet, SlotState,
};

use crate::bench::{Bench, PAY, code_of, pay, seen};

/// "[notice] — something the user should know in advance": it is shown before the run, and costs no answer.
#[tokio::test]
async fn a_notice_is_shown_before_the_run_and_costs_no_answer() {
    use std::io::Cursor;

    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let bench = Bench::with("Pays.\n[notice] Payments can't be taken back.", PAY);
    let screen = Screen::default();
    let terminal = tool_runtime::TerminalApprover::new(Cursor::new(""), screen.clone());
    let harness = Harness::new(bench.registry.clone(), AllowAll).ledger(Arc::clone(&bench.ledger)).approver(terminal);
    let (code, _) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!(code, Code::Ok);
    let shown = String::from_utf8(screen.0.lock().unwrap().clone()).unwrap();
    assert_eq!(shown, "  notice: Payments can't be taken back.\n");
    assert_eq!(bench.slot("notice").1, SlotState::Told);
}

/// "[notice] must have been shown": nobody who can show it, no run, unless the host says that a record will do.
#[tokio::test]
async fn a_notice_that_nobody_can_be_shown_keeps_the_call_from_running() {
    let bench = Bench::with("Pays.\n[notice] Payments can't be taken back.", PAY);
    let call = || pay(r#"{"iban":"DE1","amount":5}"#);
    // A closure can be asked, and can't tell.
    let agrees = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(std::future::ready(vec![Answer::Yes; set.questions.len()]))
    };
    let harness = || Harness::new(bench.registry.clone(), AllowAll).ledger(Arc::clone(&bench.ledger));
    for harness in [harness(), harness().approver(agrees)] {
        let (code, said) = code_of(&harness, call()).await;
        assert_eq!((code, seen(&bench.ran).len()), (Code::Unanswered, 0));
        assert!(said.contains("Only the host can settle this") && said.contains("can't be taken back"), "{said}");
        let verdicts = bench.verdicts();
        assert_eq!(verdicts.last().unwrap().open(), ["notice"]);
        assert!(matches!(bench.slot("notice").1, SlotState::Open { party: Party::Host, .. }));
    }
    // Whoever is asked is shown it with the question.
    let asks = |_: &CallFacts<'_>| Decision::ask("money");
    let asked = Harness::new(bench.registry.clone(), asks).ledger(Arc::clone(&bench.ledger)).approver(agrees);
    assert_eq!(code_of(&asked, call()).await.0, Code::Ok);
    assert_eq!(bench.slot("notice").1, SlotState::Told);
    // The host may say so.
    let recorded = harness().checklist(Checklist::new().with_notices(Notices::RecordedOnly));
    assert_eq!(code_of(&recorded, call()).await.0, Code::Ok);
    assert_eq!(bench.slot("notice").1, SlotState::Unconfirmed);
}
