//! What a running call may say, and ask for: how far it is, and calls of its own.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::access::Access;
use crate::schema::text;

/// How far a running call is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Progress {
    /// One line, cut and made visible.
    pub message: String,
    /// How much of it is done, from 0 to 1, as far as that is known.
    pub done: Option<f64>,
}

/// How long the message of a progress may be, in characters.
const MESSAGE: usize = 200;

impl Progress {
    pub(super) fn new(message: &str, done: Option<f64>) -> Self {
        let done = done.filter(|done| done.is_finite()).map(|done| done.clamp(0.0, 1.0));
        Progress { message: text::shown(message, MESSAGE), done }
    }
}

/// A call that a tool made has failed, or did not run.
///
/// Its text is what a model would have read; which stage ended the call is the host's to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubCallError {
    tool: String,
    message: String,
}

impl SubCallError {
    pub(crate) fn new(tool: impl Into<String>, message: impl Into<String>) -> Self {
        SubCallError { tool: tool.into(), message: message.into() }
    }

    /// The tool that was called.
    pub fn tool(&self) -> &str {
        &self.tool
    }
}

impl fmt::Display for SubCallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SubCallError {}

/// The calls that one running call has made, in the order in which it made them.
#[derive(Debug, Default)]
pub(crate) struct Children(Mutex<Brood>);

#[derive(Debug, Default)]
struct Brood {
    made: u64,
    /// Those that haven't ended, by their numbers.
    open: Vec<(u64, Child)>,
    /// Cancelled, and replaced, when anything here changes that others may wait for.
    changed: CancellationToken,
}

#[derive(Debug)]
enum Child {
    /// Nobody has waited for it yet, and who knows whether anybody will: it stands in nobody's way.
    Made,
    /// What it touches isn't known yet, so it stands in the way of all later ones.
    Unknown,
    Waits(Access),
    Runs(Access),
}

impl Brood {
    fn change(&mut self) {
        std::mem::take(&mut self.changed).cancel();
    }

    fn set(&mut self, number: u64, child: Child) {
        if let Some(slot) = self.open.iter_mut().find(|(other, _)| *other == number) {
            slot.1 = child;
        }
    }

    /// Has a call its way free?
    fn is_free(&self, own: u64, access: &Access, room: usize) -> bool {
        let is_clear = self.open.iter().all(|(number, child)| match child {
            _ if *number == own => true,
            Child::Made => true,
            Child::Unknown => *number > own,
            Child::Waits(theirs) => *number > own || !theirs.conflicts(access),
            Child::Runs(theirs) => !theirs.conflicts(access),
        });
        is_clear && self.open.iter().filter(|(_, child)| matches!(child, Child::Runs(_))).count() < room
    }
}

impl Children {
    /// Nothing of ours panics under this lock.
    fn lock(&self) -> MutexGuard<'_, Brood> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next place.
    pub(crate) fn enter(self: &Arc<Self>) -> Place {
        let mut brood = self.lock();
        brood.made += 1;
        let number = brood.made;
        brood.open.push((number, Child::Made));
        Place { family: Arc::clone(self), number }
    }

    /// Waits until all have ended.
    pub(crate) async fn drained(&self) {
        loop {
            let changed = {
                let brood = self.lock();
                if brood.open.is_empty() {
                    return;
                }
                brood.changed.clone()
            };
            changed.cancelled().await;
        }
    }
}

/// A place among the calls of one running call. Dropped, it is free.
#[derive(Debug)]
pub(crate) struct Place {
    family: Arc<Children>,
    number: u64,
}

impl Place {
    /// Counts the calls of the family from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// From here on the later ones wait for it.
    pub(crate) fn begins(&self) {
        self.family.lock().set(self.number, Child::Unknown);
    }

    /// Waits until it may start: until no earlier one that is left, and none that runs, touches the
    /// same, and fewer than `room` are running.
    pub(crate) async fn may_start(&self, access: Access, room: usize) {
        {
            let mut brood = self.family.lock();
            brood.set(self.number, Child::Waits(access.clone()));
            brood.change();
        }
        loop {
            let changed = {
                let mut brood = self.family.lock();
                if brood.is_free(self.number, &access, room) {
                    brood.set(self.number, Child::Runs(access));
                    return;
                }
                brood.changed.clone()
            };
            changed.cancelled().await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut brood = self.family.lock();
        brood.open.retain(|(number, _)| *number != self.number);
        brood.change();
    }
}
