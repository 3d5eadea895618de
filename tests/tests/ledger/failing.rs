//! B83: a ledger that fails, panics, or takes its time, on verdicts and on ends.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tool_runtime::{
    Answer, BoxFuture, CallFacts, Code, Decision, Entry, Event, EventKind, Harness, Ledger, LedgerError, MemoryLedger,
    QuestionSet, TimedLedger,
};

use crate::support::{PayTool, Ran, code, payment, registry};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Does {
    Fail,
    Panic,
    Hang,
}

/// What a ledger does to verdicts or ends.
struct Failing {
    verdicts: bool,
    does: Does,
    kept: MemoryLedger,
}

impl Ledger for Failing {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        if matches!(entry, Entry::Verdict(_)) != self.verdicts || matches!(entry, Entry::Asked(_) | Entry::Answered(_))
        {
            return self.kept.append(entry);
        }
        match self.does {
            Does::Fail => Box::pin(async { Err(LedgerError::new("the disk is full")) }),
            Does::Panic => panic!("the disk is full"),
            Does::Hang => Box::pin(std::future::pending()),
        }
    }
}

#[tokio::test]
async fn b83_the_switch_decides_whether_what_is_not_recorded_runs() {
    let decisions =
        [(Decision::Allow, Code::Ok), (Decision::ask("money"), Code::Ok), (Decision::deny("no"), Code::Denied)];
    for does in [Does::Fail, Does::Panic, Does::Hang] {
        for (verdicts, open) in [(true, false), (true, true), (false, false), (false, true)] {
            for (decision, kept) in decisions.clone() {
                let ran = Ran::default();
                let told = Arc::<Mutex<Vec<String>>>::default();
                let heard = Arc::clone(&told);
                let failing = Failing { verdicts, does, kept: MemoryLedger::default() };
                let judged = decision.clone();
                let mut harness =
                    Harness::new(registry(&ran, [PayTool::host()]), move |_: &CallFacts<'_>| judged.clone())
                        .approver(|set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
                            Box::pin(async move { vec![Answer::Yes; set.questions.len()] })
                        })
                        .ledger(TimedLedger::new(failing, Duration::from_millis(20)))
                        .observer(move |event: &Event| {
                            if let EventKind::NotRecorded(error) = event.kind() {
                                heard.lock().unwrap_or_else(|error| panic!("{error}")).push(error.to_string());
                            }
                        });
                if open {
                    harness = harness.run_unrecorded();
                }
                let settled = harness.run_settled([payment(1)], None).await;
                let expected = if verdicts && !open && kept == Code::Ok { Code::NotRecorded } else { kept };
                let name = format!("{does:?} {verdicts} {open} {decision:?}");
                assert_eq!(code(&settled[0]), expected, "{name}");
                assert_eq!(ran.times(), usize::from(expected == Code::Ok), "{name}");
                let told = told.lock().unwrap_or_else(|error| panic!("{error}")).clone();
                assert_eq!((told.len(), harness.unrecorded()), (1, 1), "{name}: {told:?}");
                let why = if does == Does::Hang { "longer than" } else { "the disk is full" };
                assert!(told[0].contains(why), "{name}: {told:?}");
            }
        }
    }
}
