//! A call between its proposal and its result, wherever it is.
//!
//! Whoever drops a turn drops the futures of its calls, and with them the values that stages hand on
//! to each other. What is known of a call is therefore kept here too, so that it has a result and a
//! record however far it came.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::ending::{End, Ending, cancelled_before_start};
use super::execute::cancelled_while_it_ran;
use super::record::append_detached;
use super::review::Review;
use super::settle::Settled;
use super::state::State;
use crate::call::{CallId, Code, Content, Place, ToolCall, Word};
use crate::events::{EventKind, Observers};
use crate::ledger::{Ledger, Verdict};
use crate::tool::{HostState, HostTool};

/// Where the calls of one turn end.
pub(crate) struct Landing<'h> {
    pub(crate) ledger: &'h Arc<dyn Ledger>,
    pub(crate) observers: &'h Observers,
    pub(crate) result_cap: usize,
    conversation: Option<Arc<str>>,
    /// What calls came to that nobody waited for, each with its place in the turn.
    kept: Mutex<Vec<(usize, Settled)>>,
}

impl<'h> Landing<'h> {
    pub(crate) fn new(
        ledger: &'h Arc<dyn Ledger>,
        observers: &'h Observers,
        result_cap: usize,
        conversation: Option<Arc<str>>,
    ) -> Self {
        Landing { ledger, observers, result_cap, conversation, kept: Mutex::new(Vec::new()) }
    }

    pub(crate) fn take(&self) -> Vec<(usize, Settled)> {
        std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// One call of a turn. Dropped before it is settled, it settles itself without waiting.
pub(crate) struct Flight<'t> {
    landing: &'t Landing<'t>,
    position: usize,
    place: Place,
    /// `None` once it is settled.
    known: Option<Box<Known>>,
}

struct Known {
    call_id: CallId,
    name: Word,
    tool: Option<HostTool>,
    verdict: Option<Arc<Verdict>>,
    started: bool,
    ending: Option<Ending>,
    /// What the host has to say besides.
    asides: Vec<Content>,
}

impl<'t> Flight<'t> {
    pub(crate) fn new(landing: &'t Landing<'t>, position: usize, call: &ToolCall) -> Self {
        let (call_id, name) = (call.id.clone(), call.name.clone());
        landing.observers.tell(&call_id, &name, || EventKind::Proposed);
        let place = Place::new(landing.conversation.clone());
        Flight::placed(landing, position, place, call_id, name)
    }

    /// A call that goes on from where it waited.
    pub(crate) fn resumed(landing: &'t Landing<'t>, place: Place, call: &ToolCall) -> Self {
        Flight::placed(landing, 0, place, call.id.clone(), call.name.clone())
    }

    fn placed(landing: &'t Landing<'t>, position: usize, place: Place, call_id: CallId, name: Word) -> Self {
        let known =
            Known { call_id, name, tool: None, verdict: None, started: false, ending: None, asides: Vec::new() };
        Flight { landing, position, place, known: Some(Box::new(known)) }
    }

    /// Its place in the turn.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// Where it belongs.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Which tool it calls.
    pub(crate) fn resolved(&mut self, tool: &HostTool) {
        if let Some(known) = &mut self.known {
            known.tool = Some(tool.clone());
        }
    }

    /// Something of it could not be recorded.
    pub(crate) fn not_recorded(&self, error: &str) {
        if let Some(known) = &self.known {
            self.landing.observers.not_recorded(&known.call_id, &known.name, error);
        }
    }

    /// What was recorded of it.
    pub(crate) fn recorded(&mut self, verdict: Option<&Arc<Verdict>>) {
        if let Some(known) = &mut self.known {
            known.verdict = verdict.cloned();
            if let Some(verdict) = verdict {
                self.landing.observers.tell(&known.call_id, &known.name, || EventKind::Decided(Arc::clone(verdict)));
            }
        }
    }

    /// The host has something to say besides: behind all that others say.
    pub(crate) fn aside(&mut self, content: Content) {
        if let Some(known) = &mut self.known {
            known.asides.push(content);
        }
    }

    /// A person is about to be asked.
    pub(crate) fn asked(&self, reasons: impl FnOnce() -> Vec<String>) {
        if let Some(known) = &self.known {
            self.landing.observers.tell(&known.call_id, &known.name, || EventKind::Asked(reasons()));
        }
    }

    /// Its body is about to begin.
    pub(crate) fn started(&mut self) {
        if let Some(known) = &mut self.known {
            known.started = true;
            self.landing.observers.tell(&known.call_id, &known.name, || EventKind::Started);
        }
    }

    /// It has ended.
    pub(crate) fn ended(mut self, ending: Ending) -> Self {
        self.ends(ending);
        self
    }

    pub(crate) fn ends(&mut self, ending: Ending) {
        if let Some(known) = &mut self.known {
            known.ending = Some(ending);
        }
    }

    /// How long its body may take.
    pub(crate) fn budget(&self) -> Option<Duration> {
        self.known.as_ref().and_then(|known| known.tool.as_ref()).and_then(HostTool::timeout)
    }

    /// Something that was given up and still runs is in its way.
    pub(crate) fn busy(mut self) -> Self {
        if let Some(known) = &mut self.known {
            let said = format!(
                "`{}` did not run: a call before it was stopped, and what it touches is still in use. Try again later.",
                &*known.name
            );
            known.ending = Some(known.ending_of(&self.place, End::new(Code::Busy, said)));
        }
        self
    }

    /// It was given up before its end.
    pub(crate) fn cut_short(mut self) -> Self {
        if let Some(known) = &mut self.known {
            let ending = known.cut_short(&self.place);
            known.ending = Some(ending);
        }
        self
    }

    /// Reviews and settles it, and waits until its end is recorded.
    pub(crate) async fn settle(mut self, review: Option<&dyn Review>) -> Settled {
        let (landing, position) = (self.landing, self.position);
        let settled = match self.known.take() {
            Some(mut known) => {
                let ending = known.ending.take().unwrap_or_else(|| known.cut_short(&self.place));
                let ending = match review {
                    Some(review) if ending.is_reviewed() => ending.review(review),
                    _ => ending,
                };
                ending.with_asides(known.asides).prepared(landing.result_cap)
            }
            // Nobody settles a call twice: this takes it by value.
            None => unreachable!("a call that is in flight is known"),
        };
        let entry = settled.entry();
        let recording = Recording { landing, position, settled: Some(settled) };
        let written = super::settle::record_end(&**landing.ledger, entry).await;
        let settled = recording.done();
        if let Err(error) = written {
            let record = settled.record();
            landing.observers.not_recorded(record.call_id(), record.name(), &error);
        }
        landing.finished(&settled);
        settled
    }
}

impl Known {
    fn cut_short(&mut self, place: &Place) -> Ending {
        let end = if self.started {
            // A thread can't be stopped by dropping whoever waits for it.
            let outlasts = self.tool.as_ref().is_some_and(HostTool::may_block);
            let hints = self.tool.as_ref().map(HostTool::hints).unwrap_or_default();
            let said = cancelled_while_it_ran(&self.name, hints, outlasts);
            End { started: true, ..End::new(Code::Cancelled, said) }
        } else {
            End::new(Code::CancelledBeforeStart, cancelled_before_start(&self.name))
        };
        self.ending_of(place, end)
    }

    fn ending_of(&mut self, place: &Place, end: End) -> Ending {
        let call = ToolCall::of_parts(self.call_id.clone(), self.name.clone());
        let mut state = State::new(place.clone(), call, self.tool.take(), HostState::default());
        state.verdict = self.verdict.take();
        Ending::of(Box::new(state), end)
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let Some(mut known) = self.known.take() else { return };
        let ending = known.ending.take().unwrap_or_else(|| known.cut_short(&self.place));
        let settled = ending.with_asides(known.asides).prepared(self.landing.result_cap);
        let runtime = tokio::runtime::Handle::try_current().ok();
        let (observers, record) = (self.landing.observers.clone(), Arc::clone(settled.shared_record()));
        append_detached(Arc::clone(self.landing.ledger), settled.entry(), runtime.as_ref(), move |error| {
            observers.not_recorded(record.call_id(), record.name(), error);
        });
        self.landing.finished(&settled);
        self.landing.keep(self.position, settled);
    }
}

impl Landing<'_> {
    fn finished(&self, settled: &Settled) {
        let record = settled.shared_record();
        self.observers.tell(record.call_id(), record.name(), || EventKind::Finished(Arc::clone(record)));
    }

    pub(crate) fn keep(&self, position: usize, settled: Settled) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push((position, settled));
    }
}

/// A call whose end is being written down. The ledger has it already; if nobody waits for that, the
/// result is kept.
struct Recording<'t> {
    landing: &'t Landing<'t>,
    position: usize,
    settled: Option<Settled>,
}

impl Recording<'_> {
    fn done(mut self) -> Settled {
        match self.settled.take() {
            Some(settled) => settled,
            None => unreachable!("only the end of a recording takes it"),
        }
    }
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        if let Some(settled) = self.settled.take() {
            self.landing.finished(&settled);
            self.landing.keep(self.position, settled);
        }
    }
}
