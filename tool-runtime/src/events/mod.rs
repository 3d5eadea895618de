//! What happens to calls, told to the host while it happens.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::call::{CallId, Word};
use crate::ledger::{Record, Verdict};
use crate::tool::{Progress, caught};

/// Is told what happens to calls. Closures are observers, and so is an `Arc` of one.
///
/// It is called where things happen, so it should be quick; one that has to wait hands the event on.
/// A panic of an observer harms nobody: neither the call nor the other observers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an observer",
    label = "can't be told of events",
    note = "implement `Observer` for it, or write a closure: `|event: &Event| …`"
)]
pub trait Observer: Send + Sync {
    /// Something happened.
    fn observe(&self, event: &Event);
}

#[diagnostic::do_not_recommend]
impl<F: Fn(&Event) + Send + Sync> Observer for F {
    fn observe(&self, event: &Event) {
        self(event);
    }
}

#[diagnostic::do_not_recommend]
impl<O: Observer + ?Sized> Observer for Arc<O> {
    fn observe(&self, event: &Event) {
        (**self).observe(event);
    }
}

/// Something that happened to a call. Serialisable, and not model-facing.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Event {
    sequence: u64,
    call_id: CallId,
    tool: Word,
    kind: EventKind,
}

/// What happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum EventKind {
    /// The model proposed the call.
    Proposed,
    /// A person is asked about it, for these reasons.
    Asked(Vec<String>),
    /// What was decided is in the ledger.
    Decided(Arc<Verdict>),
    /// Its body begins.
    Started,
    /// Its body says how far it is.
    Progress(Progress),
    /// The ledger could not keep an entry of it; this is what the ledger said.
    NotRecorded(Arc<str>),
    /// It has ended. There is one such event a call, and none after it, but that the ledger could not keep the end of a
    /// call which was dropped, and which therefore nobody waited for.
    Finished(Arc<Record>),
}

impl Event {
    /// Counts the events of a harness from 0, in the order in which they happened.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The call.
    pub fn call_id(&self) -> &CallId {
        &self.call_id
    }

    /// The name under which the model called.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What happened.
    pub fn kind(&self) -> &EventKind {
        &self.kind
    }
}

impl EventKind {
    /// The stable word, such as `started`.
    pub fn as_str(&self) -> &'static str {
        match self {
            EventKind::Proposed => "proposed",
            EventKind::Asked(_) => "asked",
            EventKind::Decided(_) => "decided",
            EventKind::Started => "started",
            EventKind::Progress(_) => "progress",
            EventKind::NotRecorded(_) => "not_recorded",
            EventKind::Finished(_) => "finished",
        }
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Event", 5)?;
        fields.serialize_field("sequence", &self.sequence)?;
        fields.serialize_field("call_id", &self.call_id)?;
        fields.serialize_field("tool", &*self.tool)?;
        fields.serialize_field("event", self.kind.as_str())?;
        match &self.kind {
            EventKind::Proposed | EventKind::Started => fields.skip_field("detail")?,
            EventKind::Asked(reasons) => fields.serialize_field("detail", reasons)?,
            EventKind::Decided(verdict) => fields.serialize_field("detail", &**verdict)?,
            EventKind::Progress(progress) => fields.serialize_field("detail", progress)?,
            EventKind::NotRecorded(error) => fields.serialize_field("detail", &**error)?,
            EventKind::Finished(record) => fields.serialize_field("detail", &**record)?,
        }
        fields.end()
    }
}

/// Everybody who is told.
#[derive(Clone, Default)]
pub(crate) struct Observers {
    list: Vec<Arc<dyn Observer>>,
    next: Arc<AtomicU64>,
    unrecorded: Arc<AtomicU64>,
}

impl Observers {
    pub(crate) fn add(&mut self, observer: Arc<dyn Observer>) {
        self.list.push(observer);
    }

    /// Counts, and tells all.
    pub(crate) fn not_recorded(&self, call_id: &CallId, tool: &Word, error: &str) {
        self.unrecorded.fetch_add(1, Ordering::Relaxed);
        self.tell(call_id, tool, || EventKind::NotRecorded(error.into()));
    }

    /// How many entries could not be recorded.
    pub(crate) fn unrecorded(&self) -> u64 {
        self.unrecorded.load(Ordering::Relaxed)
    }

    /// Tells all, if there are any.
    pub(crate) fn tell(&self, call_id: &CallId, tool: &Word, kind: impl FnOnce() -> EventKind) {
        if self.list.is_empty() {
            return;
        }
        let sequence = self.next.fetch_add(1, Ordering::Relaxed);
        let event = Event { sequence, call_id: call_id.clone(), tool: tool.clone(), kind: kind() };
        for observer in &self.list {
            if let Err(panic) = caught(|| observer.observe(&event)) {
                tracing::error!(target: "tool_runtime", panic, "an observer panicked");
            }
        }
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Observers({})", self.list.len())
    }
}
