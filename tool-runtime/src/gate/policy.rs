use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::CallFacts;
use crate::tool::caught;

/// What a policy says of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// It may run.
    Allow,
    /// It may not, and the model reads why.
    Deny(Cow<'static, str>),
    /// A person has to say so, and reads why.
    Ask(Cow<'static, str>),
    /// This policy has nothing to say. If none has, a person is asked.
    NoOpinion,
}

impl Decision {
    /// It may not run.
    pub fn deny(reason: impl Into<Cow<'static, str>>) -> Self {
        Decision::Deny(reason.into())
    }

    /// A person has to say so.
    pub fn ask(reason: impl Into<Cow<'static, str>>) -> Self {
        Decision::Ask(reason.into())
    }
}

/// Says whether a call may run, from the tool, its hints and the accepted arguments alone.
///
/// It doesn't wait: what has to be looked up first is a [`Condition`](crate::Condition) of a checklist, or a
/// [`State`](crate::State) that its conditions are held against.
///
/// Closures are policies, and so is an `Arc` of one:
///
/// ```
/// use tool_runtime::{CallFacts, Decision, Policy};
///
/// let policy = |call: &CallFacts<'_>| {
///     if call.hints().read_only { Decision::Allow } else { Decision::ask("it changes something") }
/// };
/// fn is_policy(_: impl Policy) {}
/// is_policy(policy);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a policy",
    label = "says nothing of calls",
    note = "implement `Policy` for it, or take `Rules`, `Policies` or a closure that gives a `Decision` at once: `|call: &CallFacts<'_>| …`",
    note = "an `Arc<dyn Policy>` is a policy too; of a `Box<dyn Policy>` it is `Arc::<dyn Policy>::from(boxed)`"
)]
pub trait Policy: Send + Sync {
    /// Judges one call. A panic is a no.
    fn decide(&self, call: &CallFacts<'_>) -> Decision;
}

#[diagnostic::do_not_recommend]
impl<F: Fn(&CallFacts<'_>) -> Decision + Send + Sync> Policy for F {
    fn decide(&self, call: &CallFacts<'_>) -> Decision {
        self(call)
    }
}

#[diagnostic::do_not_recommend]
impl<P: Policy + ?Sized> Policy for Arc<P> {
    fn decide(&self, call: &CallFacts<'_>) -> Decision {
        (**self).decide(call)
    }
}

/// Can forbid a call, and nothing else: its answer has no word for yes. Closures are guards, and so is an `Arc` of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a guard",
    label = "can't forbid a call",
    note = "implement `Guard` for it, or write a closure that gives the reason for a no, if there is one: `|call: &CallFacts<'_>| -> Option<Cow<'static, str>> {{ … }}`"
)]
pub trait Guard: Send + Sync {
    /// Why the call is forbidden, if it is. A panic forbids it.
    fn forbids(&self, call: &CallFacts<'_>) -> Option<Cow<'static, str>>;
}

#[diagnostic::do_not_recommend]
impl<F: Fn(&CallFacts<'_>) -> Option<Cow<'static, str>> + Send + Sync> Guard for F {
    fn forbids(&self, call: &CallFacts<'_>) -> Option<Cow<'static, str>> {
        self(call)
    }
}

#[diagnostic::do_not_recommend]
impl<G: Guard + ?Sized> Guard for Arc<G> {
    fn forbids(&self, call: &CallFacts<'_>) -> Option<Cow<'static, str>> {
        (**self).forbids(call)
    }
}

/// Lets every call run.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

#[diagnostic::do_not_recommend]
impl Policy for AllowAll {
    fn decide(&self, _: &CallFacts<'_>) -> Decision {
        Decision::Allow
    }
}

/// Lets no call run.
#[derive(Debug, Clone, Copy, Default)]
pub struct DenyAll;

#[diagnostic::do_not_recommend]
impl Policy for DenyAll {
    fn decide(&self, _: &CallFacts<'_>) -> Decision {
        Decision::deny("no tool may run here")
    }
}

/// Several policies together: deny beats ask beats allow, in whatever order they were added.
///
/// ```
/// use tool_runtime::{AllowAll, CallFacts, Decision, Policies};
///
/// let policy = Policies::new().and(AllowAll).and(|call: &CallFacts<'_>| match call.tool() {
///     "rm" => Decision::deny("files stay"),
///     _ => Decision::NoOpinion,
/// });
/// ```
#[derive(Default)]
pub struct Policies(Vec<Box<dyn Policy>>);

impl Policies {
    /// None yet: it asks about every call.
    pub fn new() -> Self {
        Policies::default()
    }

    /// Adds one.
    #[must_use]
    pub fn and(mut self, policy: impl Policy + 'static) -> Self {
        self.0.push(Box::new(policy));
        self
    }
}

impl fmt::Debug for Policies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Policies({})", self.0.len())
    }
}

#[diagnostic::do_not_recommend]
impl Policy for Policies {
    fn decide(&self, call: &CallFacts<'_>) -> Decision {
        let mut ruling = Ruling::default();
        for policy in &self.0 {
            ruling.add(policy.decide(call));
        }
        ruling.into_decision()
    }
}

/// Everything that was said of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ruling {
    pub(crate) denied: Vec<Cow<'static, str>>,
    pub(crate) asked: Vec<Cow<'static, str>>,
    pub(crate) allowed: bool,
    /// Somebody panicked who should have judged.
    pub(crate) broken: bool,
}

impl Ruling {
    fn add(&mut self, decision: Decision) {
        match decision {
            Decision::Allow => self.allowed = true,
            Decision::Deny(reason) => self.denied.push(reason),
            Decision::Ask(reason) => self.asked.push(reason),
            Decision::NoOpinion => {}
        }
    }

    pub(super) fn into_decision(self) -> Decision {
        if !self.denied.is_empty() {
            Decision::Deny(joined(self.denied))
        } else if !self.asked.is_empty() {
            Decision::Ask(joined(self.asked))
        } else if self.allowed {
            Decision::Allow
        } else {
            Decision::NoOpinion
        }
    }

    #[cold]
    fn broken(&mut self, call: &CallFacts<'_>, who: &'static str, mut panic: String) {
        // It was shown the arguments as they are, and may quote them.
        call.without_secrets(&mut panic);
        tracing::error!(target: "tool_runtime", who, panic, "panicked while it judged a call; the call is denied");
        self.denied.push("the call could not be judged".into());
        self.broken = true;
    }

    /// A person has to be asked: a policy says so, or none says anything.
    pub(crate) fn has_to_ask(&self) -> bool {
        self.denied.is_empty() && (!self.asked.is_empty() || !self.allowed)
    }
}

fn joined(reasons: Vec<Cow<'static, str>>) -> Cow<'static, str> {
    match <[_; 1]>::try_from(reasons) {
        Ok([only]) => only,
        Err(reasons) => reasons.join("; ").into(),
    }
}

/// Asks a policy and all guards. Whoever panics says no, in fixed words.
pub(crate) fn judge(policy: &dyn Policy, guards: &[Arc<dyn Guard>], call: &CallFacts<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    match caught(|| policy.decide(call)) {
        Ok(decision) => ruling.add(decision),
        Err(panic) => ruling.broken(call, "policy", panic),
    }
    for guard in guards {
        match caught(|| guard.forbids(call)) {
            Ok(None) => {}
            Ok(Some(reason)) => ruling.denied.push(reason),
            Err(panic) => ruling.broken(call, "guard", panic),
        }
    }
    ruling
}
