use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{compared, text_of};
use crate::BoxFuture;
use crate::call::CallId;
use crate::checklist::ask::Ask;
use crate::checklist::location::{Location, Pointer};
use crate::checklist::source::{Lookup, Source, SourceKind};
use crate::schema::json::Json;

/// What the user answered when asked for slots. Cheap to clone; all clones hold the same answers.
///
/// The newest answer for a slot replaces those before it, which are kept and linked. What was answered for one call
/// also holds for a later call of the same tool that proposes the same value; if it proposes another, that answer says
/// nothing about it.
///
/// ```
/// use tool_runtime::{Answers, Ask, Lookup, Shape, Source};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let answers = Answers::new();
/// let to = Ask::new("pay", "/to", Shape::Text).of_call("call_1");
/// assert_eq!(answers.give(&to, "\"alice\""), Some(1));
/// assert_eq!(answers.give(&to, "\"bob\""), Some(2));
///
/// let Lookup::Hit(hit) = answers.look(to.clone()).await else { panic!() };
/// assert_eq!((hit.value.as_str(), answers.replaced(2)), ("\"bob\"", Some(1)));
/// assert!(matches!(answers.look(to.with_value("\"alice\"")).await, Lookup::Conflict(_)));
/// # });
/// ```
#[derive(Clone, Default)]
pub struct Answers(Arc<Mutex<Given>>);

#[derive(Default)]
struct Given {
    all: Vec<Answered>,
    /// The newest for each slot of a tool, and for each of a call.
    newest: HashMap<SlotOf, usize>,
}

/// A slot of a tool, in one call or in whatever call.
type SlotOf = (Box<str>, Box<str>, Option<CallId>);

struct Answered {
    call: Option<CallId>,
    value: Json,
    replaces: Option<usize>,
    slot: (Box<str>, Box<str>),
}

impl Answers {
    /// Without any answer.
    pub fn new() -> Self {
        Answers::default()
    }

    /// Adds the answer to a question for a slot, as JSON text, and gives its number, from 1. `None` if the text is no
    /// JSON.
    pub fn give(&self, ask: &Ask, value: &str) -> Option<usize> {
        let value = Json::parse(value).ok()?;
        let slot: (Box<str>, Box<str>) = (ask.tool().into(), ask.slot().into());
        let mut given = self.given();
        let at = given.all.len();
        let of = |call: Option<CallId>| (slot.0.clone(), slot.1.clone(), call);
        let call = ask.call().cloned();
        // Of the slot in whatever call, and of the slot in this one.
        let mut replaces = given.newest.insert(of(None), at);
        if call.is_some() {
            replaces = given.newest.insert(of(call.clone()), at);
        }
        given.all.push(Answered { call, value, replaces, slot });
        Some(at + 1)
    }

    /// The number of the answer that this one replaced.
    pub fn replaced(&self, number: usize) -> Option<usize> {
        let replaces = self.given().all.get(number.checked_sub(1)?)?.replaces;
        replaces.map(|at| at + 1)
    }

    fn given(&self) -> MutexGuard<'_, Given> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Given {
    fn look(&self, ask: &Ask, proposed: Option<&Json>) -> Lookup {
        let of = |call: Option<CallId>| (Box::from(ask.tool()), Box::from(ask.slot()), call);
        let found = |at: &usize| self.all.get(*at).map(|answered| (Pointer::Answer(at + 1), answered));
        if let Some(call) = ask.call()
            && let Some((pointer, answered)) = self.newest.get(&of(Some(call.clone()))).and_then(found)
        {
            return compared(ask, proposed, pointer, &answered.value);
        }
        let newest = match ask.hint() {
            Some(Pointer::Answer(number)) => number.checked_sub(1).filter(|at| self.is_of(*at, ask)),
            _ => None,
        };
        let Some((pointer, answered)) = newest.as_ref().or_else(|| self.newest.get(&of(None))).and_then(found) else {
            return Lookup::NoResult;
        };
        // For another call: it vouches for the same value, and says nothing else.
        let elsewhere = ask.call().is_some() && answered.call.is_some();
        match proposed {
            Some(proposed) if elsewhere && *proposed != answered.value => Lookup::NoResult,
            None if elsewhere && newest.is_none() => Lookup::NoResult,
            proposed => compared(ask, proposed, pointer, &answered.value),
        }
    }

    fn is_of(&self, at: usize, ask: &Ask) -> bool {
        self.all.get(at).is_some_and(|answered| *answered.slot.0 == *ask.tool() && *answered.slot.1 == *ask.slot())
    }
}

#[diagnostic::do_not_recommend]
impl Source for Answers {
    fn kind(&self) -> SourceKind {
        SourceKind::Answer
    }

    fn look(&self, ask: Ask) -> BoxFuture<'static, Lookup> {
        let lookup = match ask.proposed() {
            Ok(proposed) => self.given().look(&ask, proposed),
            Err(reason) => Lookup::Failed(reason.to_owned()),
        };
        Box::pin(std::future::ready(lookup))
    }

    fn read(&self, location: &Location) -> Option<String> {
        let Pointer::Answer(number) = location.pointer() else { return None };
        location.read_in(&text_of(&self.given().all.get(number.checked_sub(1)?)?.value))
    }
}

impl fmt::Debug for Answers {
    /// How many there are: some may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers").field("given", &self.given().all.len()).finish_non_exhaustive()
    }
}
