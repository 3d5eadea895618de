use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{text_of, whole};
use crate::BoxFuture;
use crate::checklist::ask::Ask;
use crate::checklist::location::{Location, Pointer};
use crate::checklist::source::{Lookup, Source, SourceKind};
use crate::schema::Day;
use crate::schema::json::Json;

/// Where the user agreed that a value is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent(Location);

impl Consent {
    /// The user's turn or answer in which they agreed. `None` for any other place: nobody but the user can.
    pub fn at(location: Location) -> Option<Self> {
        matches!(location.source(), SourceKind::Answer | SourceKind::Instruction).then_some(Consent(location))
    }

    /// Where it was.
    pub fn location(&self) -> &Location {
        &self.0
    }
}

/// A value that is kept for a slot beyond the conversation, with the user's consent. Never a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    key: String,
    tool: String,
    slot: String,
    value: String,
    consent: Consent,
    until: Option<Day>,
}

impl Kept {
    /// A value for the slot of an ask, as canonical JSON text. Its key is how it is pointed at (`s:key`), and how it
    /// is withdrawn.
    ///
    /// # Errors
    /// For a secret, which isn't kept, and for a text that is no JSON.
    pub fn new(
        key: impl Into<String>,
        ask: &Ask,
        value: impl Into<String>,
        consent: Consent,
    ) -> Result<Self, KeptError> {
        let value = value.into();
        match () {
            () if ask.is_secret() => Err(KeptError("a secret isn't kept")),
            () if Json::parse(&value).is_err() => Err(KeptError("a value that is kept has to be a JSON text")),
            () => Ok(Kept {
                key: key.into(),
                tool: ask.tool().to_owned(),
                slot: ask.slot().to_owned(),
                value,
                consent,
                until: None,
            }),
        }
    }

    /// Keeps it up to this day, and not on the next.
    #[must_use]
    pub fn until(mut self, day: Day) -> Self {
        self.until = Some(day);
        self
    }

    /// How it is pointed at and withdrawn.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The JSON Pointer of the argument.
    pub fn slot(&self) -> &str {
        &self.slot
    }

    /// As canonical JSON text.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Where the user agreed.
    pub fn consent(&self) -> &Consent {
        &self.consent
    }

    /// The last day on which it counts; `None` if there is none.
    pub fn last_day(&self) -> Option<Day> {
        self.until
    }

    /// Does it count at the host's date? One that ends doesn't where the date isn't known.
    fn counts(&self, now: Option<Day>) -> bool {
        self.until.is_none_or(|until| now.is_some_and(|now| now <= until))
    }
}

/// A value that can't be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptError(&'static str);

impl fmt::Display for KeptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for KeptError {}

/// Where kept values live: a database, a file, or [`ProcessMemory`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a memory",
    label = "can't keep values",
    note = "implement `Memory` for it, or use `ProcessMemory`"
)]
pub trait Memory: Send + Sync {
    /// The values that are kept for an argument of a tool.
    ///
    /// # Errors
    /// The reason why it can't be said, for the host.
    fn recall(&self, tool: String, slot: String) -> BoxFuture<'static, Result<Vec<Kept>, String>>;

    /// Keeps a value, in the place of the one with the same key.
    ///
    /// # Errors
    /// The reason why it isn't kept, for the host.
    fn keep(&self, kept: Kept) -> BoxFuture<'static, Result<(), String>>;

    /// Lets a value go, as the user wants. Says whether there was one.
    ///
    /// # Errors
    /// The reason why it may still be there, for the host.
    fn withdraw(&self, key: String) -> BoxFuture<'static, Result<bool, String>>;

    /// The value with this key, if it is at hand without waiting.
    fn at_hand(&self, key: &str) -> Option<Kept>;
}

/// Keeps values for as long as the process runs. Cheap to clone; all clones hold the same values.
#[derive(Clone, Default)]
pub struct ProcessMemory(Arc<Mutex<BTreeMap<String, Kept>>>);

impl ProcessMemory {
    /// Without any value.
    pub fn new() -> Self {
        ProcessMemory::default()
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory for ProcessMemory {
    fn recall(&self, tool: String, slot: String) -> BoxFuture<'static, Result<Vec<Kept>, String>> {
        let of_slot = |kept: &&Kept| kept.tool == tool && kept.slot == slot;
        let found = self.kept().values().filter(of_slot).cloned().collect();
        Box::pin(std::future::ready(Ok(found)))
    }

    fn keep(&self, kept: Kept) -> BoxFuture<'static, Result<(), String>> {
        self.kept().insert(kept.key.clone(), kept);
        Box::pin(std::future::ready(Ok(())))
    }

    fn withdraw(&self, key: String) -> BoxFuture<'static, Result<bool, String>> {
        let was_there = self.kept().remove(&key).is_some();
        Box::pin(std::future::ready(Ok(was_there)))
    }

    fn at_hand(&self, key: &str) -> Option<Kept> {
        self.kept().get(key).cloned()
    }
}

impl fmt::Debug for ProcessMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.kept().keys()).finish()
    }
}

/// Prior state: the values that a [`Memory`] keeps. Cheap to clone.
#[derive(Clone)]
pub struct Prior(Arc<dyn Memory>);

impl Prior {
    /// What this memory keeps.
    pub fn new(memory: Arc<dyn Memory>) -> Self {
        Prior(memory)
    }
}

impl fmt::Debug for Prior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prior").finish_non_exhaustive()
    }
}

#[diagnostic::do_not_recommend]
impl Source for Prior {
    fn kind(&self) -> SourceKind {
        SourceKind::Prior
    }

    fn look(&self, ask: Ask) -> BoxFuture<'static, Lookup> {
        if ask.is_secret() {
            return Box::pin(std::future::ready(Lookup::NoResult));
        }
        let recalled = self.0.recall(ask.tool().to_owned(), ask.slot().to_owned());
        Box::pin(async move {
            let kept = match recalled.await {
                Ok(kept) => kept,
                Err(reason) => return Lookup::Failed(reason),
            };
            let proposed = match ask.proposed() {
                Ok(proposed) => proposed,
                Err(reason) => return Lookup::Failed(reason.to_owned()),
            };
            let pointed = |kept: &Kept| match ask.hint() {
                Some(Pointer::Prior(key)) => *key == kept.key,
                _ => false,
            };
            let mut hits = Vec::new();
            // A memory may give more than it was asked for.
            let of_slot = |kept: &&Kept| kept.tool == ask.tool() && kept.slot == ask.slot();
            for kept in kept.iter().filter(of_slot).filter(|kept| kept.counts(ask.now())) {
                let Ok(value) = Json::parse(&kept.value) else {
                    return Lookup::Failed(format!("the kept value `{}` is no JSON", kept.key));
                };
                let hit = whole(&ask, Pointer::Prior(kept.key.clone()), &value);
                if proposed == Some(&value) || (proposed.is_none() && pointed(kept)) {
                    return Lookup::Hit(hit);
                }
                hits.push(hit);
            }
            match hits.len() {
                0 => Lookup::NoResult,
                // What is kept for this slot is another value.
                _ if proposed.is_some() => Lookup::Conflict(hits),
                1 => Lookup::Hit(hits.remove(0)),
                _ => Lookup::Conflict(hits),
            }
        })
    }

    fn read(&self, location: &Location) -> Option<String> {
        let Pointer::Prior(key) = location.pointer() else { return None };
        location.read_in(&text_of(&Json::parse(&self.0.at_hand(key)?.value).ok()?))
    }
}
