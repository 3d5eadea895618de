use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::HostTool;
use crate::call::CallId;

/// Values of the host that tools ask for with `#[host]`, one of each type.
#[derive(Clone, Default)]
pub struct HostState(Arc<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl HostState {
    /// Adds a value, in the place of one of the same type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        Arc::make_mut(&mut self.0).insert(TypeId::of::<T>(), Arc::new(value));
    }

    /// The value of this type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.get(&TypeId::of::<T>())?.downcast_ref()
    }

    pub(crate) fn has(&self, id: TypeId) -> bool {
        id == TypeId::of::<CallContext>() || self.0.contains_key(&id)
    }
}

impl fmt::Debug for HostState {
    /// Without the values: they are the host's secrets, as likely as not.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostState({} values)", self.0.len())
    }
}

/// What a running call may know of itself. Owned, and cheap to clone.
#[derive(Clone)]
pub struct CallContext(Arc<Inner>);

struct Inner {
    tool: HostTool,
    call_id: CallId,
    deadline: Option<Instant>,
    state: HostState,
    outer: Option<CancellationToken>,
    /// Made when somebody asks for it: most tools don't.
    token: OnceLock<CancellationToken>,
}

impl CallContext {
    pub(crate) fn new(
        tool: HostTool,
        call_id: CallId,
        deadline: Option<Instant>,
        state: HostState,
        outer: Option<CancellationToken>,
    ) -> Self {
        CallContext(Arc::new(Inner { tool, call_id, deadline, state, outer, token: OnceLock::new() }))
    }

    /// Cancelled when the call should stop: its turn was cancelled, or its time is over.
    pub fn token(&self) -> &CancellationToken {
        self.0
            .token
            .get_or_init(|| self.0.outer.as_ref().map_or_else(CancellationToken::new, CancellationToken::child_token))
    }

    /// Somebody has asked for the token, so the body may know when to stop.
    pub(crate) fn is_watched(&self) -> bool {
        self.0.token.get().is_some()
    }

    /// Tells a body that watches its token to stop.
    pub(crate) fn cancel(&self) {
        self.token().cancel();
    }

    /// The provider's identifier of this call.
    pub fn call_id(&self) -> &CallId {
        &self.0.call_id
    }

    /// The name of the tool that runs.
    pub fn tool(&self) -> &str {
        self.0.tool.name()
    }

    /// When the call's time is over.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.deadline
    }

    /// A value of the host, if there is one of this type.
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.state.get()
    }

    pub(super) fn host_tool(&self) -> &HostTool {
        &self.0.tool
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("tool", &self.tool())
            .field("call_id", &self.call_id())
            .finish_non_exhaustive()
    }
}

/// A type that the host can lend to a tool: `#[host] client: &Client`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be lent by the host",
    label = "not a host value",
    note = "a `#[host]` parameter is `&CallContext`, or state that was given to the registry, which has to be `Send + Sync + 'static`"
)]
pub trait HostValue: Send + Sync + Sized + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> HostValue for T {}

/// A type that the host can give to a tool: `#[host] client: Arc<Client>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be given by the host",
    label = "not a host value that can be cloned",
    note = "take it by reference, or put it into an `Arc`; it has to be `Clone + Send + Sync + 'static`"
)]
pub trait HostOwned: Clone + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Sync + 'static> HostOwned for T {}

/// The host value of a parameter that is taken by reference.
///
/// # Panics
/// If the host has none of this type, which a registry finds out when it is built.
pub fn host_ref<T: HostValue>(cx: &CallContext) -> &T {
    let found = match (cx as &dyn Any).downcast_ref() {
        Some(cx) => Some(cx),
        None => cx.state(),
    };
    match found {
        Some(value) => value,
        None => missing(std::any::type_name::<T>()),
    }
}

/// The host value of a parameter that is taken by value.
///
/// # Panics
/// If the host has none of this type, which a registry finds out when it is built.
pub fn host<T: HostOwned>(cx: &CallContext) -> T {
    host_ref::<T>(cx).clone()
}

/// The object whose method runs.
///
/// # Panics
/// If the tool was made without one.
pub fn receiver<T: 'static>(cx: &CallContext) -> Arc<T> {
    match cx.host_tool().receiver().and_then(|receiver| receiver.downcast_ref::<Arc<T>>()) {
        Some(receiver) => Arc::clone(receiver),
        None => missing(std::any::type_name::<T>()),
    }
}

#[cold]
fn missing(type_name: &str) -> ! {
    panic!("the host has no value of type `{type_name}`")
}
