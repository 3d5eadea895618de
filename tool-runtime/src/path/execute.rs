//! Runs the body of a permitted call: with its budget, and whatever it does.

use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::ending::{End, Ending};
use super::permit::Permit;
use crate::call::Code;
use crate::execute::{Ended, run_body};
use crate::tool::{Body, BodyResult, CallContext};

/// What running a call came to.
#[derive(Debug)]
#[must_use = "a call that isn't settled leaves the model without a result"]
pub struct Outcome(pub(super) Ending);

impl Outcome {
    /// How it ended.
    pub fn code(&self) -> Code {
        self.0.0.end.code
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
            return Outcome(Ending::of(
                *state,
                End::new(Code::HostError, "The call could not be run."),
            ));
        };
        let tool = state.tool.clone();
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
        let ended = run_body(tool.run(), Body { args, cx: cx.clone() }, budget, token.as_ref(), &cx).await;
        let end = narrate(&tool, ended);
        Outcome(Ending::of(
            *state,
            End {
                took: begun.elapsed(),
                ..end
            },
        ))
    }
}

/// Effects may have happened, as every text says after which they may.
const MAY_HAVE_RUN: &str = "Its effects may have happened; look before you call it again.";

/// What the model reads of an outcome, and what the host does.
fn narrate(tool: &crate::tool::HostTool, ended: Ended) -> End {
    let name = tool.name();
    let end = match ended {
        Ended::Body(BodyResult::Success(success)) => End {
            value: Some(success.value),
            ..End::new(Code::Ok, success.content)
        },
        Ended::Body(BodyResult::Failed(error)) => {
            let chain: Vec<&str> = std::iter::once(error.message.as_str())
                .chain(error.causes.iter().map(String::as_str))
                .collect();
            let said = if tool.shows_causes() {
                chain.join(": ")
            } else {
                error.message.clone()
            };
            let said = if said.trim().is_empty() {
                format!("`{name}` failed.")
            } else {
                said
            };
            let end = End::new(Code::ToolError, said);
            if error.causes.is_empty() {
                end
            } else {
                end.with_detail(chain.join(": "))
            }
        }
        Ended::Body(BodyResult::InvalidOutput { error, host }) => {
            End::new(Code::InvalidOutput, error.to_string()).with_detail(host)
        }
        Ended::Panicked(message) => End::new(Code::Panicked, format!("`{name}` failed unexpectedly. {MAY_HAVE_RUN}"))
            .with_detail(format!("panicked: {message}")),
        Ended::TimedOut { budget, still_running } => {
            let still = if still_running { " It may still be running." } else { "" };
            End::new(
                Code::Timeout,
                format!(
                    "`{name}` was stopped after its time budget of {}.{still} {MAY_HAVE_RUN}",
                    shown(budget)
                ),
            )
        }
        Ended::Cancelled { still_running } => {
            let still = if still_running { " It may still be running." } else { "" };
            End::new(
                Code::Cancelled,
                format!("`{name}` was cancelled while it ran.{still} {MAY_HAVE_RUN}"),
            )
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

/// A span of time as a person says it.
fn shown(budget: std::time::Duration) -> String {
    if budget.as_secs() > 0 {
        format!("{} s", budget.as_secs_f64())
    } else {
        format!("{} ms", budget.as_millis().max(1))
    }
}
