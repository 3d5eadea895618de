//! The ledger comes first, also for a call that is cancelled while it writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::CancellationToken;
use tool_runtime::{
    AllowAll, BoxFuture, CallFacts, Code, Decision, Entry, Harness, Ledger, LedgerError, MemoryLedger, ToolCall, tool,
};

use super::support::{ends, lines, logged, millis};

/// Does something.
#[tool]
async fn act(#[host] log: &super::support::Log) -> u8 {
    log.note("ran");
    1
}

/// Takes its time over verdicts, and says when it is done.
struct Slow {
    kept: Arc<MemoryLedger>,
    done: Arc<AtomicBool>,
    fails: bool,
}

impl Ledger for Slow {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(async move {
            if matches!(entry, Entry::Verdict(_)) {
                millis(200).await;
                self.done.store(true, Ordering::SeqCst);
                if self.fails {
                    return Err(LedgerError::new("the disk is full"));
                }
            }
            self.kept.append(entry).await
        })
    }
}

#[tokio::test]
async fn d63_on_disk_before_the_body_and_cancelled_meanwhile() {
    for (fails, cancelled, code, ran) in [
        (false, false, Code::Ok, true),
        (true, false, Code::NotRecorded, false),
        (false, true, Code::CancelledBeforeStart, false),
        (true, true, Code::CancelledBeforeStart, false),
    ] {
        let (registry, log) = logged([ActTool::host()]);
        let (kept, done) = (Arc::new(MemoryLedger::default()), Arc::new(AtomicBool::new(false)));
        let seen = Arc::clone(&done);
        let slow = Slow { kept: Arc::clone(&kept), done, fails };
        let harness = Harness::new(registry, AllowAll).ledger(slow).observer(move |event: &tool_runtime::Event| {
            if matches!(event.kind(), tool_runtime::EventKind::Started) {
                assert!(seen.load(Ordering::SeqCst), "it began before its verdict was written");
            }
        });
        let token = CancellationToken::new();
        let cancel = token.clone();
        tokio::spawn(async move {
            millis(15).await;
            if cancelled {
                cancel.cancel();
            }
        });
        let settled = harness.run_settled([ToolCall::new("1", "act", "")], Some(token)).await;
        assert_eq!(ends(&settled), [("1", code, ran)], "{fails} {cancelled}");
        assert_eq!(log.take().len(), usize::from(ran), "{fails} {cancelled}");
        assert_eq!(lines(&kept).last(), Some(&format!("end 1 {code}")));
    }
}

/// A no stays a no, whether or not it can be written down, and nothing waits for ever.
#[tokio::test]
async fn b83_a_ledger_that_fails_turns_no_no_into_a_yes() {
    for (decision, code) in [
        (Decision::Allow, Code::NotRecorded),
        (Decision::deny("no"), Code::Denied),
        (Decision::ask("so"), Code::ApprovalUnavailable),
    ] {
        let (registry, log) = logged([ActTool::host()]);
        let slow = Slow { kept: Arc::default(), done: Arc::default(), fails: true };
        let harness = Harness::new(registry, move |_: &CallFacts<'_>| decision.clone()).ledger(slow);
        let settled = harness.run_settled([ToolCall::new("1", "act", "")], None).await;
        assert_eq!(ends(&settled), [("1", code, false)]);
        assert!(settled[0].record().detail().is_some_and(|detail| detail.contains("the disk is full")));
        assert_eq!(log.take(), [""; 0]);
    }
}
