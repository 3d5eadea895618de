//! What several of the behaviours need.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tool_runtime::path::Settled;
use tool_runtime::{Code, HostTool, MemoryLedger, Registry};

/// A lock that a failed assertion elsewhere doesn't take away.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What happened, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn note(&self, what: impl Into<String>) {
        lock(&self.0).push(what.into());
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.0))
    }
}

/// Lets bodies go that block their threads, however a test ends: a runtime waits for them.
pub(crate) struct Goes(pub(crate) Arc<AtomicBool>);

impl Drop for Goes {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A registry that has to be fine, whose tools write into the log.
pub(crate) fn logged(tools: impl IntoIterator<Item = HostTool>) -> (Registry, Log) {
    let log = Log::default();
    match Registry::builder().tools(tools).state(log.clone()).build() {
        Ok(registry) => (registry, log),
        Err(error) => panic!("the registry was refused: {error}"),
    }
}

/// How each call ended, and whether its body had begun.
pub(crate) fn ends(settled: &[Settled]) -> Vec<(&str, Code, bool)> {
    let end = |one: &'_ Settled| (one.record().code(), one.record().started());
    settled
        .iter()
        .map(|one| {
            let (code, started) = end(one);
            (one.result().call_id().as_str(), code, started)
        })
        .collect()
}

/// A ledger's lines, as text.
pub(crate) fn lines(ledger: &MemoryLedger) -> Vec<String> {
    let line = |entry: &tool_runtime::Entry| match entry {
        tool_runtime::Entry::Verdict(verdict) => format!("verdict {}", verdict.call_id()),
        tool_runtime::Entry::End(record) => format!("end {} {}", record.call_id(), record.code()),
        tool_runtime::Entry::LateEnd(late) => format!("late {}", late.call_id()),
        other => format!("{other:?}"),
    };
    ledger.entries().iter().map(line).collect()
}

pub(crate) async fn millis(span: u64) {
    tokio::time::sleep(Duration::from_millis(span)).await;
}
