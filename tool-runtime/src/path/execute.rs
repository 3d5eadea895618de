//! Runs the body of a permitted call: with its budget, and whatever it does.

use std::fmt;
use std::pin::pin;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::ending::{End, Ending, cancelled_before_start};
use super::permit::Permit;
use super::record::append_detached;
use crate::call::{Code, Place, ToolCall};
use crate::execute::{Abandoned, Ended, Layer, OneCall, timers};
use crate::ledger::{Entry, LateEnd, Ledger};
use crate::tool::{Access, BodyResult, Hints, HostTool, Left, Surroundings};

/// What running a call came to.
#[derive(Debug)]
#[must_use = "a call that isn't settled leaves the model without a result"]
pub struct Outcome(pub(super) Ending);

impl Outcome {
    /// How it ended.
    pub fn code(&self) -> Code {
        self.0.code()
    }
}

impl From<Outcome> for Ending {
    fn from(outcome: Outcome) -> Self {
        outcome.0
    }
}

/// Under what bodies run. Set up once, and the same for all calls of a host.
#[derive(Clone)]
pub struct Execution {
    grace: Duration,
    abandoned: Abandoned,
    ledger: Option<Arc<dyn Ledger>>,
    layers: Vec<Arc<dyn Layer>>,
}

impl Execution {
    /// How long a body that watches its token may go on after it was told to stop, unless the host
    /// says otherwise.
    pub const DEFAULT_GRACE: Duration = Duration::from_millis(50);

    /// How many blocking bodies that were given up may still run, unless the host says otherwise.
    pub const DEFAULT_ABANDONED: usize = 16;

    /// The defaults.
    pub fn new() -> Self {
        Execution {
            grace: Self::DEFAULT_GRACE,
            abandoned: Abandoned::at_most(Self::DEFAULT_ABANDONED),
            ledger: None,
            layers: Vec::new(),
        }
    }

    /// Sets how long a body that watches its [token](crate::CallContext::token) may go on after it was
    /// told to stop. Then its future is dropped; one that doesn't watch it is dropped at once.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Sets how many blocking bodies may still run although their calls were given up. While there
    /// are so many, no further one begins: its call ends `busy`.
    #[must_use]
    pub fn max_abandoned(mut self, bodies: usize) -> Self {
        self.abandoned = Abandoned::at_most(bodies);
        self
    }

    /// Puts a layer around execution, inside those that are there.
    #[must_use]
    pub fn layer(mut self, layer: impl Layer + 'static) -> Self {
        self.layers.push(Arc::new(layer));
        self
    }

    /// Sets where it is written down that a body has ended after its call.
    #[must_use]
    pub fn ledger(mut self, ledger: Arc<dyn Ledger>) -> Self {
        self.ledger = Some(ledger);
        self
    }

    /// No body that was given up still runs.
    pub(crate) fn is_clear(&self) -> bool {
        self.abandoned.is_empty()
    }

    /// Waits until no body that was given up touches the same, but no longer than the call itself
    /// may take. Is it so?
    pub(crate) async fn clear_of(&self, access: Access, budget: Option<Duration>) -> bool {
        let cleared = self.abandoned.clear_of(&access);
        match budget {
            Some(budget) if timers().is_ok() => tokio::time::timeout(budget, cleared).await.is_ok(),
            _ => {
                cleared.await;
                true
            }
        }
    }

    /// What is done when a body that blocks its thread outlasts its call.
    fn late<'a>(
        &'a self,
        place: &'a Place,
        call: &'a ToolCall,
        begun: Instant,
    ) -> impl Fn() -> Box<dyn FnOnce() + Send> + Sync + 'a {
        move || {
            let (call_id, tool, ledger) = (call.id.clone(), call.name.clone(), self.ledger.clone());
            let place = place.clone();
            let runtime = tokio::runtime::Handle::try_current().ok();
            Box::new(move || {
                tracing::warn!(target: "tool_runtime", %call_id, tool = &*tool, "a body ended after its call");
                if let Some(ledger) = ledger {
                    let entry = Entry::LateEnd(Arc::new(LateEnd::new(place, call_id, tool, begun.elapsed())));
                    append_detached(ledger, entry, runtime.as_ref(), |_| {});
                }
            })
        }
    }
}

impl Default for Execution {
    fn default() -> Self {
        Execution::new()
    }
}

impl fmt::Debug for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Execution").field("grace", &self.grace).finish_non_exhaustive()
    }
}

impl Permit {
    /// Runs the body, and uses the permit up. Ends in an outcome whatever the body does.
    ///
    /// `token` asks the body to stop.
    pub async fn execute(self, token: Option<CancellationToken>) -> Outcome {
        self.execute_under(&Execution::new(), token).await
    }

    /// As [`execute`](Self::execute), under the rules of a host.
    pub async fn execute_under(self, execution: &Execution, token: Option<CancellationToken>) -> Outcome {
        self.execute_within(execution, token, None).await
    }

    /// As [`execute_under`](Self::execute_under), with somebody around who hears of progress and
    /// runs calls of the body's own.
    pub(crate) async fn execute_within(
        self,
        execution: &Execution,
        token: Option<CancellationToken>,
        around: Option<Arc<dyn Surroundings>>,
    ) -> Outcome {
        let Permit(mut state) = self;
        let Some(args) = state.args.take() else {
            // A permit has arguments from its beginning to here.
            return Outcome(Ending::of(state, End::lost()));
        };
        let tool = state.tool().clone();
        let begun = Instant::now();
        let (host, lineage) = (std::mem::take(&mut state.host), state.lineage.clone());
        let late = execution.late(&state.place, &state.call, begun);
        let span = tracing::info_span!(
            target: "tool_runtime",
            "execute_tool",
            "gen_ai.operation.name" = "execute_tool",
            "gen_ai.tool.name" = tool.name(),
            "gen_ai.tool.call.id" = state.call.id.as_str(),
            "error.type" = tracing::field::Empty,
        );
        let call = OneCall {
            tool: &tool,
            call_id: &state.call.id,
            canonical: state.canonical(),
            host,
            lineage,
            around,
            begun,
            budget: tool.timeout(),
            grace: execution.grace,
            abandoned: &execution.abandoned,
            late: &late,
            outlasted: AtomicBool::new(false),
            left: Mutex::default(),
        };
        // By reference: a span's wrapper takes what it is given by value, and the future is a large one.
        let (ended, started) = pin!(call.run(&execution.layers, args, token)).instrument(span.clone()).await;
        if ended.code() != Code::Ok {
            span.record("error.type", ended.code().as_str());
        }
        let outlasted = call.outlasted.into_inner();
        let Left { asides, card_data } = call.left.into_inner().unwrap_or_else(PoisonError::into_inner);
        drop(late);
        let end = narrate(&tool, ended, started, outlasted);
        Outcome(Ending::of(state, End { took: begun.elapsed(), started, asides, card_data, ..end }))
    }
}

/// What a text says after which effects may have happened, also of a body that nobody can stop.
fn effects(hints: Hints, outlasted: bool) -> &'static str {
    match (hints.read_only, outlasted) {
        (true, false) => "It changes nothing, so it may be called again.",
        (true, true) => "It may still be running. It changes nothing, so it may be called again.",
        (false, false) => "Its effects may have happened; look before you call it again.",
        (false, true) => "It may still be running. Its effects may have happened; look before you call it again.",
    }
}

/// What a text says of a call that was cancelled after its body had begun.
pub(super) fn cancelled_while_it_ran(name: &str, hints: Hints, outlasted: bool) -> String {
    format!("`{name}` was cancelled while it ran. {}", effects(hints, outlasted))
}

/// What the model reads of an outcome, and what the host does. What did not run may have run before, tried again by a
/// layer; and a body that a layer gave up may have `outlasted` its call, whatever that came to.
fn narrate(tool: &HostTool, ended: Ended, started: bool, outlasted: bool) -> End {
    let (name, effects) = (tool.name(), effects(tool.hints(), outlasted));
    let did_not_run = if started { "had begun, and did not run again" } else { "did not run" };
    let and_then = if started { format!(" {effects}") } else { String::new() };
    match ended {
        Ended::Body(BodyResult::Success(success)) => {
            End { value: Some(success.value), ..End::new(Code::Ok, success.content) }
        }
        Ended::Body(BodyResult::Failed(error)) => {
            let chain = chain(&error.message, &error.causes);
            let said = if tool.shows_causes() { chain.clone() } else { error.message };
            let said = if said.trim().is_empty() { format!("`{name}` failed.") } else { said };
            let end = End { error_code: error.code, ..End::new(Code::ToolError, said) };
            if error.causes.is_empty() { end } else { end.with_detail(chain) }
        }
        Ended::Body(BodyResult::InvalidOutput { error, host }) => {
            End::new(Code::InvalidOutput, error.to_string()).with_detail(host)
        }
        Ended::Panicked(message) => End::new(Code::Panicked, format!("`{name}` failed unexpectedly. {effects}"))
            .with_detail(format!("panicked: {message}")),
        Ended::TimedOut { budget } => End::new(
            Code::Timeout,
            format!("`{name}` was stopped after its time budget of {}. {effects}", shown(budget)),
        ),
        Ended::Cancelled => End::new(Code::Cancelled, cancelled_while_it_ran(name, tool.hints(), outlasted)),
        Ended::CancelledBeforeStart => End::new(Code::CancelledBeforeStart, cancelled_before_start(name)),
        Ended::Busy => End::new(
            Code::Busy,
            format!("`{name}` {did_not_run}: the host has no thread left for it. Try again later.{and_then}"),
        ),
        Ended::NotRun(why) => End::new(
            Code::HostError,
            format!("`{name}` {did_not_run}: the host can't run tools now. This is not the call's fault.{and_then}"),
        )
        .with_detail(why),
    }
}

/// An error and its causes on one line.
fn chain(message: &str, causes: &[String]) -> String {
    causes.iter().fold(message.to_owned(), |chain, cause| format!("{}: {cause}", chain.trim_end_matches('.')))
}

/// A span of time as a person says it.
fn shown(budget: Duration) -> String {
    if budget.as_secs() > 0 {
        format!("{} s", budget.as_secs_f64())
    } else {
        format!("{} ms", budget.as_millis().max(1))
    }
}
