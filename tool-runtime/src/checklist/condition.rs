//! Conditions: what they are checked against, and what they can come to.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::BoxFuture;
use crate::call::CallId;

/// A call whose conditions are checked. Cheap to clone.
#[derive(Clone)]
pub struct CheckedCall(Arc<CheckedParts>);

struct CheckedParts {
    call_id: CallId,
    tool: String,
    arguments: String,
}

impl CheckedCall {
    pub(crate) fn new(call_id: CallId, tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        CheckedCall(Arc::new(CheckedParts { call_id, tool: tool.into(), arguments: arguments.into() }))
    }

    /// The call.
    pub fn call_id(&self) -> &CallId {
        &self.0.call_id
    }

    /// The tool.
    pub fn tool(&self) -> &str {
        &self.0.tool
    }

    /// The accepted arguments as canonical text, as far as they are there. May hold secrets.
    pub fn arguments(&self) -> crate::gate::Arguments<'_> {
        crate::gate::Arguments::of(&self.0.arguments)
    }
}

impl fmt::Debug for CheckedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckedCall")
            .field("tool", &self.tool())
            .field("call_id", self.call_id())
            .finish_non_exhaustive()
    }
}

/// A condition that the host's code checks. Closures are conditions, and so is an `Arc` of one:
///
/// ```
/// use tool_runtime::{CheckedCall, Condition};
///
/// fn is_condition(_: impl Condition) {}
/// is_condition(|call: CheckedCall| async move {
///     let to = call.arguments().read::<String>("/to").ok_or("nobody is named")?;
///     Ok(to == "alice")
/// });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a condition",
    label = "can't be checked",
    note = "implement `Condition` for it, or write a closure that gives a future of `Result<bool, String>`: `|call: CheckedCall| async move {{ Ok(…) }}`",
    note = "such a future is `Send` and owns what it uses: the closure, which may be called again, gives it clones"
)]
pub trait Condition: Send + Sync {
    /// Is it so for this call?
    ///
    /// # Errors
    /// With why it can't be told, which is never taken for a yes or a no. A panic is taken for an error.
    fn check(&self, call: CheckedCall) -> BoxFuture<'static, Result<bool, String>>;
}

#[diagnostic::do_not_recommend]
impl<F, R> Condition for F
where
    F: Fn(CheckedCall) -> R + Send + Sync,
    R: Future<Output = Result<bool, String>> + Send + 'static,
{
    fn check(&self, call: CheckedCall) -> BoxFuture<'static, Result<bool, String>> {
        Box::pin(self(call))
    }
}

#[diagnostic::do_not_recommend]
impl<C: Condition + ?Sized> Condition for Arc<C> {
    fn check(&self, call: CheckedCall) -> BoxFuture<'static, Result<bool, String>> {
        (**self).check(call)
    }
}

/// A part of the world's state that conditions are checked against. What it gives is JSON text. Closures are states, and so
/// is an `Arc` of one:
///
/// ```
/// use tool_runtime::{CheckedCall, State};
///
/// fn is_state(_: impl State) {}
/// is_state(|_: CheckedCall| async { Ok(r#"{"balance": 120}"#.to_owned()) });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state",
    label = "can't be looked up",
    note = "implement `State` for it, or write a closure that gives a future of `Result<String, String>`, with JSON text: `|call: CheckedCall| async move {{ Ok(…) }}`",
    note = "such a future is `Send` and owns what it uses: the closure, which may be called again, gives it clones"
)]
pub trait State: Send + Sync {
    /// Looks it up for a call.
    ///
    /// # Errors
    /// With why it could not be, for the host. Conditions that need it can't be told then.
    fn observe(&self, call: CheckedCall) -> BoxFuture<'static, Result<String, String>>;
}

#[diagnostic::do_not_recommend]
impl<F, R> State for F
where
    F: Fn(CheckedCall) -> R + Send + Sync,
    R: Future<Output = Result<String, String>> + Send + 'static,
{
    fn observe(&self, call: CheckedCall) -> BoxFuture<'static, Result<String, String>> {
        Box::pin(self(call))
    }
}

#[diagnostic::do_not_recommend]
impl<S: State + ?Sized> State for Arc<S> {
    fn observe(&self, call: CheckedCall) -> BoxFuture<'static, Result<String, String>> {
        (**self).observe(call)
    }
}

/// What conditions may be checked against.
#[derive(Clone, Default)]
pub(crate) struct Registered {
    pub(crate) conditions: BTreeMap<String, Arc<dyn Condition>>,
    pub(crate) states: BTreeMap<String, Arc<dyn State>>,
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered")
            .field("conditions", &self.conditions.keys())
            .field("states", &self.states.keys())
            .finish()
    }
}
