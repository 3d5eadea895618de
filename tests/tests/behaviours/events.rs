//! What a host is told while calls run.

use std::sync::{Arc, Mutex};

use tool_runtime::{
    Answer, CallContext, CallFacts, Decision, Event, EventKind, Harness, QuestionSet, Registry, ToolCall, tool,
};

use super::support::{lock, logged};

/// Logs in.
#[tool]
async fn login(
    /// The key.
    #[arg(secret)]
    key: String,
    #[host] cx: &CallContext,
) -> Result<String, String> {
    cx.progress("half\u{1b}[2K of it\nis done", 0.5);
    cx.progress("odd", f64::NAN);
    if key.is_empty() { Err("no key".to_owned()) } else { Ok("in".to_owned()) }
}

fn policy(call: &CallFacts<'_>) -> Decision {
    if call.call_id().as_str() == "asked" { Decision::ask("it logs in") } else { Decision::Allow }
}

#[tokio::test]
async fn d65_the_events_of_calls_in_their_order_and_without_secrets() {
    let seen = Arc::<Mutex<Vec<Event>>>::default();
    let told = Arc::clone(&seen);
    let harness = Harness::new(registry(), policy)
        .approver(|questions: QuestionSet| -> tool_runtime::BoxFuture<'static, Vec<Answer>> {
            Box::pin(async move { vec![Answer::Yes; questions.questions.len()] })
        })
        .observer(|_: &Event| panic!("the first observer breaks"))
        .observer(move |event: &Event| lock(&told).push(event.clone()));
    let results = harness
        .run([
            ToolCall::new("good", "login", r#"{"key":"t0k"}"#),
            ToolCall::new("asked", "login", r#"{"key":"t0k"}"#),
            ToolCall::new("bad", "login", r#"{"key":7}"#),
            ToolCall::new("unknown", "logout", ""),
        ])
        .await;
    let seen = std::mem::take(&mut *lock(&seen));
    let of = |id: &str| -> Vec<&str> {
        seen.iter().filter(|event| event.call_id().as_str() == id).map(|event| event.kind().as_str()).collect()
    };
    assert_eq!(of("good"), ["proposed", "decided", "started", "progress", "progress", "finished"]);
    assert_eq!(of("asked"), ["proposed", "asked", "decided", "started", "progress", "progress", "finished"]);
    assert_eq!(of("bad"), ["proposed", "finished"]);
    assert_eq!(of("unknown"), ["proposed", "finished"]);
    let numbers: Vec<u64> = seen.iter().map(Event::sequence).collect();
    assert_eq!(numbers, (0..seen.len() as u64).collect::<Vec<_>>());
    for event in &seen {
        let line = serde_json::to_string(event).expect("events are JSON");
        assert!(!line.contains("t0k") && !line.contains('\u{1b}') && !line.contains('\n'), "{line}");
        match event.kind() {
            EventKind::Progress(progress) => {
                assert!(matches!(progress.done, Some(0.5) | None));
                assert!(!progress.message.contains(['\n', '\u{1b}']), "{progress:?}");
            }
            EventKind::Finished(record) => {
                // The very result that the caller got.
                let result = results.iter().find(|result| result.call_id() == event.call_id());
                assert_eq!(result.map(|result| result.text()), Some(record.content().to_text()));
            }
            _ => {}
        }
    }
}

/// Waits for ever.
#[tool]
async fn wait() -> u8 {
    std::future::pending().await
}

#[tokio::test]
async fn d65_every_ending_is_told_once_and_as_the_caller_has_it() {
    let finished = Arc::<Mutex<Vec<(String, String, bool)>>>::default();
    let told = Arc::clone(&finished);
    let policy = |call: &CallFacts<'_>| match call.call_id().as_str() {
        "denied" => Decision::deny("no"),
        _ => Decision::Allow,
    };
    let harness = Harness::new(logged([LoginTool::host(), WaitTool::host()]).0, policy)
        .review(|seen: &tool_runtime::StoredResult| match seen.is_error {
            true => tool_runtime::path::Reviewed::Accept,
            false => tool_runtime::path::Reviewed::Replace("other words".into()),
        })
        .observer(move |event: &Event| {
            if let EventKind::Finished(record) = event.kind() {
                let is_error = record.code() != tool_runtime::Code::Ok;
                lock(&told).push((record.call_id().to_string(), record.content().to_text(), is_error));
            }
        });
    let token = tokio_util::sync::CancellationToken::new();
    let cancel = token.clone();
    tokio::spawn(async move {
        super::support::millis(150).await;
        cancel.cancel();
    });
    let login = |id: &str, key: &str| ToolCall::new(id, "login", format!(r#"{{"key":{key}}}"#));
    let calls = [
        login("ok", r#""k""#),
        login("denied", r#""k""#),
        login("invalid", "7"),
        login("failed", r#""""#),
        ToolCall::new("cancelled", "wait", ""),
        login("before", r#""k""#),
    ];
    let settled = harness.run_settled(calls, Some(token)).await;
    let got: Vec<_> = settled
        .iter()
        .map(|settled| {
            let result = settled.result();
            (result.call_id().to_string(), result.text(), result.is_error())
        })
        .collect();
    assert_eq!(got[0].1, "other words");
    assert_eq!(got.iter().map(|(_, _, is_error)| *is_error).collect::<Vec<_>>(), [false, true, true, true, true, true]);
    assert_eq!(*lock(&finished), got);
}

fn registry() -> Registry {
    logged([LoginTool::host()]).0
}
