//! What a running call may say, and ask for: how far it is, and calls of its own.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::access::Access;
use super::going::Goings;
use super::queue::Queue;
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
pub(crate) struct Children {
    order: Mutex<Order>,
    going: Goings,
}

#[derive(Debug, Default)]
struct Order {
    made: usize,
    /// The call that makes them has ended: no more are taken.
    is_over: bool,
    /// Those that have begun. Who hasn't stands in nobody's way: who knows whether anybody will ever wait for it.
    queue: Queue,
    /// Those that wait until they may start, each with what tells it.
    waiting: HashMap<usize, CancellationToken>,
    /// How many may run at a time, as whoever waits has said.
    room: usize,
}

impl Order {
    /// Those that may start now.
    fn free(&mut self) -> Vec<CancellationToken> {
        let mut free = Vec::new();
        while let Some(number) = self.queue.next(self.room, |_| None) {
            free.extend(self.waiting.remove(&number));
        }
        free
    }
}

impl Children {
    /// Nothing of ours panics under this lock, and nobody is told anything.
    fn order(&self) -> MutexGuard<'_, Order> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next place. `None`: it is too late.
    pub(crate) fn enter(self: &Arc<Self>) -> Option<Place> {
        let mut order = self.order();
        if order.is_over {
            return None;
        }
        order.made += 1;
        Some(Place { family: Arc::clone(self), number: order.made })
    }

    /// The call that makes them has ended, and makes no more. Has it made any?
    pub(crate) fn close(&self) -> bool {
        let mut order = self.order();
        order.is_over = true;
        order.made > 0
    }

    pub(crate) fn is_over(&self) -> bool {
        self.order().is_over
    }

    /// What goes on of them.
    pub(crate) fn going(&self) -> &Goings {
        &self.going
    }
}

/// A place among the calls of one running call. Dropped, it is free.
#[derive(Debug)]
pub(crate) struct Place {
    family: Arc<Children>,
    number: usize,
}

impl Place {
    /// Counts the calls of the family from 1.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// From here on the later ones wait for it: what it touches isn't known yet.
    pub(crate) fn begins(&self) {
        self.family.order().queue.add(self.number, None);
    }

    /// Waits until it may start: until no earlier one that is left, and none that runs, touches the
    /// same, and fewer than `room` are running.
    pub(crate) async fn may_start(&self, access: Access, room: usize) {
        let may = CancellationToken::new();
        let free = {
            let mut order = self.family.order();
            order.queue.touches(self.number, access);
            order.waiting.insert(self.number, may.clone());
            order.room = room;
            order.free()
        };
        free.iter().for_each(CancellationToken::cancel);
        may.cancelled().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let free = {
            let mut order = self.family.order();
            order.queue.remove(self.number);
            order.waiting.remove(&self.number);
            order.free()
        };
        free.iter().for_each(CancellationToken::cancel);
    }
}
