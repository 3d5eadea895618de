use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// How a call ended, for the host: stable words for records, metrics and rules.
///
/// A model never reads a code; it reads the text of its [`ToolResult`](crate::ToolResult).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Code {
    /// The tool ran and its output was accepted.
    Ok,
    /// No tool has the name.
    UnknownTool,
    /// The tool's loading is deferred and the model has not loaded it.
    NotLoaded,
    /// The arguments aren't what the schema asks for.
    InvalidArguments,
    /// A person was asked; the answer comes later.
    ApprovalPending,
    /// The verdict could not be recorded, so the tool did not run.
    NotRecorded,
    /// The verdict forbids the call, and no other code says why.
    Blocked,
    /// A condition of the checklist does not hold.
    ConditionNotMet,
    /// Questions are left that nobody answered.
    Unanswered,
    /// A rule or a guard forbids the call.
    Denied,
    /// It is from one of several sampled plans, and no plan stands out.
    PlanRejected,
    /// A person said no.
    Rejected,
    /// A person had to be asked and nobody could be.
    ApprovalUnavailable,
    /// Nobody answered in time.
    ApprovalExpired,
    /// What was approved is not what would run now.
    ApprovalVoid,
    /// The budget was used up; the effects may have happened.
    Timeout,
    /// Cancelled while it ran; the effects may have happened.
    Cancelled,
    /// Cancelled before it began; nothing happened.
    CancelledBeforeStart,
    /// The host stopped before the call began; nothing happened. Found out from the ledger.
    NotStarted,
    /// The host stopped while the call ran or was about to; the effects may have happened. Found out
    /// from the ledger.
    OutcomeUnknown,
    /// The tool panicked.
    Panicked,
    /// The tool returned an error.
    ToolError,
    /// Too many abandoned bodies are still running.
    Busy,
    /// The host can't run tools: no runtime, no timer, no state.
    HostError,
    /// The host's review withheld the result.
    Withheld,
    /// What the tool returned is not what its output schema says.
    InvalidOutput,
}

impl Code {
    /// Every code there is.
    pub(crate) const ALL: [Code; 26] = [
        Code::Ok,
        Code::UnknownTool,
        Code::NotLoaded,
        Code::InvalidArguments,
        Code::ApprovalPending,
        Code::NotRecorded,
        Code::Blocked,
        Code::ConditionNotMet,
        Code::Unanswered,
        Code::Denied,
        Code::PlanRejected,
        Code::Rejected,
        Code::ApprovalUnavailable,
        Code::ApprovalExpired,
        Code::ApprovalVoid,
        Code::Timeout,
        Code::Cancelled,
        Code::CancelledBeforeStart,
        Code::NotStarted,
        Code::OutcomeUnknown,
        Code::Panicked,
        Code::ToolError,
        Code::Busy,
        Code::HostError,
        Code::Withheld,
        Code::InvalidOutput,
    ];

    /// The stable word, such as `invalid_arguments`.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::Ok => "ok",
            Code::UnknownTool => "unknown_tool",
            Code::NotLoaded => "not_loaded",
            Code::InvalidArguments => "invalid_arguments",
            Code::ApprovalPending => "approval_pending",
            Code::NotRecorded => "not_recorded",
            Code::Blocked => "blocked",
            Code::ConditionNotMet => "condition_not_met",
            Code::Unanswered => "unanswered",
            Code::Denied => "denied",
            Code::PlanRejected => "plan_rejected",
            Code::Rejected => "rejected",
            Code::ApprovalUnavailable => "approval_unavailable",
            Code::ApprovalExpired => "approval_expired",
            Code::ApprovalVoid => "approval_void",
            Code::Timeout => "timeout",
            Code::Cancelled => "cancelled",
            Code::CancelledBeforeStart => "cancelled_before_start",
            Code::NotStarted => "not_started",
            Code::OutcomeUnknown => "outcome_unknown",
            Code::Panicked => "panicked",
            Code::ToolError => "tool_error",
            Code::Busy => "busy",
            Code::HostError => "host_error",
            Code::Withheld => "withheld",
            Code::InvalidOutput => "invalid_output",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl FromStr for Code {
    type Err = UnknownCode;

    /// Takes the words of [`as_str`](Code::as_str).
    fn from_str(word: &str) -> Result<Self, UnknownCode> {
        Code::ALL.into_iter().find(|code| code.as_str() == word).ok_or(UnknownCode)
    }
}

/// A text is no [`Code`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownCode;

impl fmt::Display for UnknownCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no code of how a call ends")
    }
}

impl std::error::Error for UnknownCode {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_read_back_from_its_word() {
        for (place, code) in Code::ALL.into_iter().enumerate() {
            assert_eq!(code.as_str().parse(), Ok(code));
            // A code that is missing in the list would shift those after it.
            assert_eq!(code as usize, place);
        }
        assert_eq!(Code::InvalidOutput as usize + 1, Code::ALL.len());
        assert!("OK".parse::<Code>().is_err());
    }
}
