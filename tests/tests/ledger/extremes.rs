//! Spans and numbers at the ends of what their types hold: no panic, no wrong answer.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use tool_runtime::{
    Answer, ChannelApprover, ClaimError, Code, Harness, MemoryLedger, SqlOptions, TimedLedger, ToolCall,
};

use crate::sql::{Database, Store};
use crate::support::{PayTool, Ran, asking, code, fine, patient, payment, propose, registry, signed};

/// From no time at all to more than any clock can say.
const SPANS: [Duration; 9] = [
    Duration::ZERO,
    Duration::from_nanos(1),
    Duration::from_secs(3600),
    // About where microseconds, nanoseconds, and seconds no longer fit.
    Duration::from_secs(9_223_372_036_854),
    Duration::from_secs(9_223_372_036_855),
    Duration::from_secs(18_446_744_073_709),
    Duration::from_secs(i64::MAX as u64),
    Duration::from_secs(u64::MAX - 1),
    Duration::MAX,
];

#[tokio::test]
async fn a_call_waits_for_any_span() {
    for span in SPANS {
        for store in Store::all().await {
            let (ran, ledger) = (Ran::default(), store.open("a").await);
            let harness = patient(&ran, Arc::clone(&ledger)).answers_within(Some(span));
            let (case, question) = propose(&harness, &ledger, payment(1)).await;
            let replied = ledger.reply(signed(&question, Answer::Yes)).await;
            // By whoever opens it next.
            drop((harness, ledger));
            let harness = patient(&ran, store.open("b").await);
            let settled = harness.resume(case, None).await;
            let is_over = span <= Duration::from_nanos(1);
            assert_eq!(replied.is_err(), is_over, "{span:?}: {replied:?}");
            let expected = if is_over { Code::ApprovalExpired } else { Code::Ok };
            assert_eq!(code(&fine(settled)), expected, "{span:?}");
            assert!(matches!(harness.resume(case, None).await, Err(ClaimError::NotWaiting)), "{span:?}");
            assert_eq!(ran.times(), usize::from(!is_over), "{span:?}");
        }
    }
}

#[tokio::test]
async fn a_host_has_a_lease_of_any_span() {
    for database in Database::all().await {
        for span in SPANS {
            let ran = Ran::default();
            let ledger = database.open(SqlOptions::new().host("a").lease(span)).await;
            let harness = Harness::new(registry(&ran, [PayTool::host()]), tool_runtime::AllowAll).ledger(ledger);
            let settled = harness.run_settled([payment(1)], None).await;
            assert_eq!((code(&settled[0]), ran.times()), (Code::Ok, 1), "{span:?}: {}", settled[0].result().text());
        }
    }
}

/// What is said of a host goes for each span and number that it may be given.
#[tokio::test]
async fn a_harness_takes_any_span_and_number() {
    for span in SPANS {
        for number in [0, 1, usize::MAX] {
            let (approver, mut sets) = ChannelApprover::new();
            let approver = approver.expires_after(span);
            let answering = tokio::spawn(async move {
                while let Some(set) = sets.recv().await {
                    for question in &set.questions().questions {
                        let _ = set.answer(&question.id, Answer::Yes);
                    }
                }
            });
            let ran = Ran::default();
            let registry = registry(&ran, [PayTool::host().with_timeout(span.max(Duration::from_nanos(1)))]);
            let harness =
                asking(registry, TimedLedger::new(MemoryLedger::default(), span.max(Duration::from_secs(60))))
                    .approver(approver)
                    .grace(span)
                    .max_abandoned(number)
                    .result_cap(number)
                    .max_concurrent(NonZeroUsize::new(number).unwrap_or(NonZeroUsize::MIN));
            let calls = (1..4).map(|id| ToolCall::new(format!("{id}"), "pay", r#"{"to":"b","amount":1}"#));
            let settled = harness.run_settled(calls, None).await;
            let name = format!("{span:?} {number}");
            assert_eq!(settled.len(), 3, "{name}");
            for settled in &settled {
                // What has no time at all may be over before it is looked at, and may not.
                let may_be = match span <= Duration::from_nanos(1) {
                    true => [Code::Ok, Code::ApprovalExpired, Code::Timeout].contains(&code(settled)),
                    false => code(settled) == Code::Ok,
                };
                assert!(may_be, "{name}: {} {}", code(settled), settled.result().text());
                assert!(settled.result().text().len() <= number, "{name}");
            }
            drop(harness);
            fine(answering.await);
        }
    }
}
