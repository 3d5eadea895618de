//! A cleared verdict becomes the right to run, once.

use super::ending::{End, Ending};
use super::record::Recorded;
use super::state::{Approval, State};
use crate::call::Code;
use crate::checklist::{Party, Unknown};
use crate::ledger::{RulingRecord, VerdictKind};
use crate::tool::{Access, HostTool};

/// The right to run one recorded, cleared verdict once.
///
/// It owns the accepted arguments and the definition that was judged. There is no way to make one
/// but from a cleared [`Recorded`], none to copy one, and running it uses it up.
#[derive(Debug)]
#[must_use = "a permit that isn't used leaves the model without a result"]
pub struct Permit(pub(super) Box<State>);

impl Permit {
    /// The tool that may run.
    pub fn tool(&self) -> &HostTool {
        self.0.tool()
    }

    /// May it overlap other calls, or some of them? Judged by the arguments, and only what its tool
    /// says explicitly counts.
    pub fn is_concurrency_safe(&self) -> bool {
        self.0.access() != Access::Exclusive
    }
}

impl Recorded {
    /// Turns a cleared verdict into a permit.
    ///
    /// # Errors
    /// The verdict's own code if it is no yes.
    pub fn permit(self) -> Result<Permit, Ending> {
        let Recorded(state) = self;
        match state.verdict.as_ref().map(|verdict| verdict.kind()) {
            Some(VerdictKind::Cleared) if state.args.is_some() => Ok(Permit(state)),
            Some(VerdictKind::Blocked(code)) => Err(blocked(state, code)),
            _ => Err(blocked(state, Code::Blocked)),
        }
    }
}

/// What is still to be known, each with who can say it.
fn unanswered(tool: &str, unknowns: &[Unknown]) -> String {
    let of = |party: Party| -> Vec<String> {
        let named = unknowns.iter().filter(|unknown| unknown.party() == party).map(|unknown| match unknown.path() {
            Some(path) if unknown.asks().is_empty() => format!("`{path}`"),
            Some(path) => format!("`{path}` ({})", unknown.asks()),
            None => unknown.asks().to_owned(),
        });
        named.collect()
    };
    let (user, provider, host) = (of(Party::User), of(Party::Provider), of(Party::Host));
    let mut said = format!("`{tool}` did not run.");
    if !user.is_empty() {
        let open = user.join("; ");
        said.push_str(&format!(
            " Nobody has said yet what these are, and no source that may be searched has them: {open}. Ask the user, for all \
             of them at once, and don't fill them in yourself."
        ));
    }
    for (open, whose) in [(provider, "its provider"), (host, "the host")] {
        if !open.is_empty() {
            said.push_str(&format!(
                " Only {whose} can settle this, so don't ask the user for it: {}.",
                open.join("; ")
            ));
        }
    }
    said
}

#[cold]
fn blocked(mut state: Box<State>, code: Code) -> Ending {
    let tool = state.tool().name();
    let reasons = |reasons: &[std::borrow::Cow<'static, str>]| reasons.join("; ");
    let mut said = match code {
        Code::Denied if state.ruling.denied.is_empty() => format!(
            "`{tool}` did not run: this call would need somebody's consent, and a rule forbids asking. Don't repeat it unasked."
        ),
        Code::Denied => format!(
            "A rule forbids this call of `{tool}`, and it did not run: {}. Calling it again in the same way will be forbidden again.",
            reasons(&state.ruling.denied)
        ),
        Code::Rejected if state.refused_before.is_some() => format!(
            "A person has said no to this very call of `{tool}` before; it did not run, and nobody was asked again. Don't repeat it."
        ),
        Code::Rejected => format!(
            "A person was asked about this call of `{tool}` and said no; it did not run. Don't repeat it unasked."
        ),
        Code::PlanRejected => {
            let plan = state.rejected_plan();
            let apart: Vec<String> =
                plan.map(|plan| plan.of(tool).map(ToString::to_string).collect()).unwrap_or_default();
            let apart = if apart.is_empty() { String::new() } else { format!(": {}", apart.join("; ")) };
            format!(
                "`{tool}` did not run: {} drafts of this call were compared, and they don't agree{apart}. Look up what you aren't sure of, or ask for it; don't guess.",
                plan.map_or(0, RulingRecord::samples)
            )
        }
        Code::ApprovalUnavailable => {
            let asked = state.ruling.asked.iter().map(|reason| &**reason);
            let plan = state.unsettled_plan();
            let agree = state.agree().iter().map(|agree| agree.words.as_str());
            let why: Vec<&str> = asked.chain(agree).chain(plan.as_deref()).collect();
            let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) };
            let taken = match state.approval {
                Approval::Unavailable => ": nobody answered",
                _ => "",
            };
            format!("`{tool}` did not run: a person has to agree to this call{why}, and nobody could be asked{taken}.")
        }
        Code::ApprovalVoid => format!(
            "`{tool}` did not run: a person agreed to it, but it is not the same any more. It may be asked for again."
        ),
        Code::ApprovalExpired => format!(
            "`{tool}` did not run: a person has to agree to this call, and nobody answered in time. It may be asked for again."
        ),
        Code::ApprovalPending => {
            format!("`{tool}` has not run yet: a person has been asked about this call, and the answer comes later.")
        }
        Code::CancelledBeforeStart => super::ending::cancelled_before_start(tool),
        Code::Unanswered if state.unknowns().is_empty() && !state.untold().is_empty() => format!(
            "`{tool}` did not run: the user has to be told something first, and the host could show it to nobody. Only the host can settle this, so don't ask the user for it: {}.",
            state.untold().join("; ")
        ),
        Code::Unanswered => unanswered(tool, state.unknowns()),
        Code::ConditionNotMet => {
            let unmet = state.unmet().join("; ");
            format!("`{tool}` did not run: it is not so that {unmet}. Calling it again won't help before that is so.")
        }
        _ => format!("`{tool}` did not run: something that has to be known before is not."),
    };
    state.without_secrets([&mut said]);
    let mut end = End::new(code, said);
    if let Some(detail) = state.unrecorded.take() {
        end = end.with_detail(detail);
    }
    Ending::of(state, end)
}
