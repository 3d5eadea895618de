//! Runs the body of a permitted call: with its budget, and whatever it does.

use std::time::Instant;

use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::ending::{End, Ending};
use super::permit::Permit;
use crate::call::Code;
use crate::execute::{Ended, run_body};
use crate::tool::{Body, BodyResult, CallContext, HostTool};

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

impl Permit {
    /// Runs the body, and uses the permit up. Ends in an outcome whatever the body does.
    ///
    /// `token` asks the body to stop.
    pub async fn execute(self, token: Option<CancellationToken>) -> Outcome {
        let Permit(mut state) = self;
        let Some(args) = state.args.take() else {
            // A permit has arguments from its beginning to here.
            return Outcome(Ending::of(state, End::lost()));
        };
        let tool = state.tool().clone();
        let budget = tool.timeout();
        let begun = Instant::now();
        let deadline = budget.and_then(|budget| begun.checked_add(budget));
        let cx = CallContext::new(
            tool.clone(),
            state.call.id.clone(),
            deadline,
            std::mem::take(&mut state.host),
            token.clone(),
        );
        let span = tracing::info_span!(
            target: "tool_runtime",
            "execute_tool",
            "gen_ai.operation.name" = "execute_tool",
            "gen_ai.tool.name" = tool.name(),
            "gen_ai.tool.call.id" = state.call.id.as_str(),
        );
        let body = Body { args, cx: cx.clone() };
        let ended = run_body(tool.run(), body, begun, budget, token.as_ref(), &cx).instrument(span).await;
        let end = narrate(&tool, ended);
        Outcome(Ending::of(state, End { took: begun.elapsed(), ..end }))
    }
}

/// What a text says after which effects may have happened.
fn effects(tool: &HostTool) -> &'static str {
    if tool.hints().read_only {
        "It changes nothing, so it may be called again."
    } else {
        "Its effects may have happened; look before you call it again."
    }
}

/// What the model reads of an outcome, and what the host does.
fn narrate(tool: &HostTool, ended: Ended) -> End {
    let (name, effects) = (tool.name(), effects(tool));
    let end = match ended {
        Ended::Body(BodyResult::Success(success)) => {
            End { value: Some(success.value), ..End::new(Code::Ok, success.content) }
        }
        Ended::Body(BodyResult::Failed(error)) => {
            let chain = chain(&error.message, &error.causes);
            let said = if tool.shows_causes() { chain.clone() } else { error.message };
            let said = if said.trim().is_empty() { format!("`{name}` failed.") } else { said };
            let end = End::new(Code::ToolError, said);
            if error.causes.is_empty() { end } else { end.with_detail(chain) }
        }
        Ended::Body(BodyResult::InvalidOutput { error, host }) => {
            End::new(Code::InvalidOutput, error.to_string()).with_detail(host)
        }
        Ended::Panicked(message) => End::new(Code::Panicked, format!("`{name}` failed unexpectedly. {effects}"))
            .with_detail(format!("panicked: {message}")),
        Ended::TimedOut { budget, still_running } => {
            let still = if still_running { " It may still be running." } else { "" };
            End::new(
                Code::Timeout,
                format!("`{name}` was stopped after its time budget of {}.{still} {effects}", shown(budget)),
            )
        }
        Ended::Cancelled { still_running } => {
            let still = if still_running { " It may still be running." } else { "" };
            End::new(Code::Cancelled, format!("`{name}` was cancelled while it ran.{still} {effects}"))
        }
        Ended::CancelledBeforeStart => {
            return End::new(
                Code::CancelledBeforeStart,
                format!("`{name}` was cancelled before it began; nothing happened."),
            );
        }
        Ended::NotRun(why) => {
            return End::new(
                Code::HostError,
                format!("`{name}` did not run: the host can't run tools now. This is not the call's fault."),
            )
            .with_detail(why);
        }
    };
    End { started: true, ..end }
}

/// An error and its causes on one line.
fn chain(message: &str, causes: &[String]) -> String {
    causes.iter().fold(message.to_owned(), |chain, cause| format!("{}: {cause}", chain.trim_end_matches('.')))
}

/// A span of time as a person says it.
fn shown(budget: std::time::Duration) -> String {
    if budget.as_secs() > 0 {
        format!("{} s", budget.as_secs_f64())
    } else {
        format!("{} ms", budget.as_millis().max(1))
    }
}
