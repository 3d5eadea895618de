use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Context;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::HostTool;
use super::card::{CardData, CardDataError};
use super::family::{Children, Place, Progress, SubCallError};
use super::going::ENDED;
use crate::BoxFuture;
use crate::call::{CallId, Content, RawArguments, Word};

/// Values of the host that tools ask for with `#[host]`, one of each type.
#[derive(Clone, Default)]
pub struct HostState(Option<Arc<HashMap<TypeId, Given>>>);

#[derive(Clone)]
struct Given {
    value: Arc<dyn Any + Send + Sync>,
    /// The type that it would be in an `Arc`.
    in_arc: TypeId,
}

impl HostState {
    /// Adds a value, in the place of one of the same type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        let given = Given { value: Arc::new(value), in_arc: TypeId::of::<Arc<T>>() };
        Arc::make_mut(self.0.get_or_insert_default()).insert(TypeId::of::<T>(), given);
    }

    /// The value of this type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.as_ref()?.get(&TypeId::of::<T>())?.value.downcast_ref()
    }

    pub(crate) fn has(&self, id: TypeId) -> bool {
        id == TypeId::of::<CallContext>() || self.0.as_ref().is_some_and(|state| state.contains_key(&id))
    }

    /// Is there a value that would be of this type if it were in an `Arc`?
    pub(crate) fn has_without_arc(&self, id: TypeId) -> bool {
        self.0.as_ref().is_some_and(|state| state.values().any(|given| given.in_arc == id))
    }
}

impl fmt::Debug for HostState {
    /// Without the values: they are the host's secrets, as likely as not.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostState({} values)", self.0.as_ref().map_or(0, |state| state.len()))
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
    around: Option<Arc<dyn Surroundings>>,
    lineage: Option<Arc<Lineage>>,
    /// Made when it makes a call of its own, or has to wait and might. `None` once its body has ended without.
    children: OnceLock<Option<Arc<Children>>>,
    /// `None` as long as nothing is left: mostly nothing is.
    left: OnceLock<Mutex<Left>>,
}

/// What a body leaves besides its output.
#[derive(Debug, Default)]
pub(crate) struct Left {
    pub(crate) asides: Vec<Content>,
    pub(crate) card_data: Option<CardData>,
}

/// Where a call of a tool's own comes from.
#[derive(Debug)]
pub(crate) struct Lineage {
    /// The call that a model proposed.
    pub(crate) root: CallId,
    pub(crate) parent: CallId,
    /// The tools that are running it, from the outside in.
    pub(crate) tools: Vec<Word>,
}

/// Whoever runs a call, as far as its body may ask something of it.
pub(crate) trait Surroundings: Send + Sync {
    /// Is told how far a call is.
    fn progress(&self, call_id: &CallId, tool: &str, progress: Progress);

    /// Runs a call that a running call makes.
    fn call(self: Arc<Self>, sub: SubCall) -> BoxFuture<'static, Result<String, SubCallError>>;
}

/// A call that a running call makes.
pub(crate) struct SubCall {
    pub(crate) name: Word,
    pub(crate) arguments: RawArguments,
    pub(crate) lineage: Arc<Lineage>,
    pub(crate) token: CancellationToken,
    pub(crate) place: Place,
}

impl CallContext {
    pub(crate) fn new(
        tool: HostTool,
        call_id: CallId,
        deadline: Option<Instant>,
        state: HostState,
        outer: Option<CancellationToken>,
        around: Option<Arc<dyn Surroundings>>,
        lineage: Option<Arc<Lineage>>,
    ) -> Self {
        CallContext(Arc::new(Inner {
            tool,
            call_id,
            deadline,
            state,
            outer,
            token: OnceLock::new(),
            around,
            lineage,
            children: OnceLock::new(),
            left: OnceLock::new(),
        }))
    }

    /// Leaves a message for the model, which reads it after the results of its turn.
    ///
    /// It is kept if the call fails, and dropped if the host withholds its result.
    pub fn aside(&self, content: impl Into<Content>) {
        self.left().asides.push(content.into());
    }

    /// Leaves small JSON for the tool's `present_result`, in the place of what was left before. A
    /// model never reads it.
    ///
    /// # Errors
    /// If the value can't be written as JSON, or comes to more than 16 KiB.
    pub fn card_data(&self, value: &impl serde::Serialize) -> Result<(), CardDataError> {
        let data = CardData::new(value)?;
        self.left().card_data = Some(data);
        Ok(())
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.0.left.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take_left(&self) -> Option<Left> {
        self.0.left.get().map(|_| std::mem::take(&mut *self.left()))
    }

    /// Says how far the call is: one line, and how much of it is done, from 0 to 1, as far as that is
    /// known. Whoever listens is told at once; nobody waits.
    pub fn progress(&self, message: &str, done: impl Into<Option<f64>>) {
        if let Some(around) = self.0.around.as_ref().filter(|_| !self.is_over()) {
            around.progress(&self.0.call_id, self.tool(), Progress::new(message, done.into()));
        }
    }

    /// Calls another tool, and gives what it returned as JSON text.
    ///
    /// Such a call takes the whole path: its arguments are checked, policy and guards judge it, a
    /// person may be asked, and it has a record that names this call as its parent. Several may be
    /// under way at a time, and those overlap that may.
    ///
    /// It begins when it is first waited for. From then on it goes on for as long as this call runs, also if nobody waits
    /// for it meanwhile; only the body of an `inline` tool, which keeps its thread to itself, has to. It is stopped when
    /// what is returned is dropped, and when this call ends.
    ///
    /// # Errors
    /// If the call failed or did not run, with what a model would have read.
    pub fn call(
        &self,
        tool: impl AsRef<str>,
        arguments: impl Into<RawArguments>,
    ) -> BoxFuture<'static, Result<String, SubCallError>> {
        let name = Word::from(tool.as_ref());
        let refused = |why: String| -> BoxFuture<'static, Result<String, SubCallError>> {
            let error = SubCallError::new(tool.as_ref(), why);
            Box::pin(std::future::ready(Err(error)))
        };
        let Some(around) = &self.0.around else {
            return refused("there is no harness that could run a call of a tool's own".to_owned());
        };
        // Whether it is in time and that it is one of the family is one step: who comes later is never forgotten.
        let family = self.0.children.get_or_init(|| Some(Arc::default()));
        let Some((family, place)) = family.as_ref().and_then(|family| Some((family, family.enter()?))) else {
            return refused(ENDED.to_owned());
        };
        let above = self.0.lineage.as_ref();
        let mut tools = above.map_or_else(Vec::new, |lineage| lineage.tools.clone());
        tools.push(Word::from(self.tool()));
        let sub = SubCall {
            name,
            arguments: arguments.into(),
            lineage: Arc::new(Lineage {
                root: above.map_or_else(|| self.0.call_id.clone(), |lineage| lineage.root.clone()),
                parent: self.0.call_id.clone(),
                tools,
            }),
            token: self.token().child_token(),
            place,
        };
        Box::pin(family.going().call(tool.as_ref(), Arc::clone(around).call(sub)))
    }

    /// The body has to wait: the calls that it has made go on meanwhile, also those that nobody asks for.
    pub(crate) fn drive(&self, task: &Context<'_>) {
        if self.0.around.is_some()
            && let Some(family) = self.0.children.get_or_init(|| Some(Arc::default()))
        {
            family.going().drive(task.waker());
        }
    }

    /// Its body has ended: the calls that it has made are stopped, and no more are taken. Gives those
    /// calls, if it has made any.
    pub(crate) fn finish(&self) -> Option<&Children> {
        // Only who has somebody around can make any.
        self.0.around.as_ref()?;
        let family = self.0.children.get_or_init(|| None).as_ref()?;
        if !family.close() {
            return None;
        }
        self.cancel();
        Some(family)
    }

    fn is_over(&self) -> bool {
        self.0.children.get().is_some_and(|family| family.as_ref().is_none_or(|family| family.is_over()))
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
