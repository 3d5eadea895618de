//! Blocking bodies that were given up and still run.
//!
//! A thread can't be stopped. Its call has ended long since, in words that say so; but what it
//! touches is still being touched, and its thread is one that no other body gets.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::tool::Access;

/// The bodies of one host that were given up.
#[derive(Debug, Clone)]
pub(crate) struct Abandoned(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limit: usize,
    /// How many there are: mostly none, and then nobody needs the lock.
    count: AtomicUsize,
    bodies: Mutex<Vec<Arc<Body>>>,
}

#[derive(Debug)]
struct Body {
    access: Access,
    /// Cancelled once its thread has ended.
    ended: CancellationToken,
}

impl Abandoned {
    /// At most so many at a time.
    pub(crate) fn at_most(limit: usize) -> Self {
        Abandoned(Arc::new(Inner { limit, count: AtomicUsize::new(0), bodies: Mutex::new(Vec::new()) }))
    }

    /// Nothing of ours panics under this lock.
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Body>>> {
        self.0.bodies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There are so many that no further one may be risked.
    pub(crate) fn is_full(&self) -> bool {
        self.lock().len() >= self.0.limit
    }

    /// Waits until none is left that touches the same.
    pub(crate) async fn clear_of(&self, access: &Access) {
        loop {
            let in_the_way = self.lock().iter().find(|body| body.access.conflicts(access)).cloned();
            match in_the_way {
                Some(body) => body.ended.cancelled().await,
                None => return,
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.count.load(Ordering::Acquire) == 0
    }

    /// Adds one. What is returned has to be told of its end.
    fn add(&self, access: Access) -> Arc<Body> {
        let body = Arc::new(Body { access, ended: CancellationToken::new() });
        let mut bodies = self.lock();
        bodies.push(Arc::clone(&body));
        self.0.count.store(bodies.len(), Ordering::Release);
        drop(bodies);
        body
    }

    fn remove(&self, body: &Arc<Body>) {
        let mut bodies = self.lock();
        bodies.retain(|other| !Arc::ptr_eq(other, body));
        self.0.count.store(bodies.len(), Ordering::Release);
        drop(bodies);
        body.ended.cancel();
    }
}

/// Held by the thread of a blocking body, and by the call that waits for it: whichever leaves first.
#[derive(Debug)]
pub(crate) struct Thread(Arc<Mutex<Running>>);

#[derive(Debug)]
enum Running {
    /// It waits for a thread.
    NotYet,
    Yes,
    /// The call has ended before the thread could begin.
    Never,
    /// The thread has ended.
    Ended,
    /// The call has.
    GivenUp(Abandoned, Arc<Body>),
}

impl Thread {
    /// One for the call, one for the thread.
    ///
    /// `late` is what is done if the body ends after it was given up.
    pub(crate) fn pair(late: Option<Box<dyn FnOnce() + Send>>) -> (Thread, ThreadEnd) {
        let running = Arc::new(Mutex::new(Running::NotYet));
        (Thread(Arc::clone(&running)), ThreadEnd(running, late))
    }

    /// Gives the body up, unless it has ended. If it hasn't begun it never will.
    pub(crate) fn give_up(self, abandoned: &Abandoned, access: Access) -> GaveUp {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *running {
            Running::NotYet => *running = Running::Never,
            Running::Yes => *running = Running::GivenUp(abandoned.clone(), abandoned.add(access)),
            Running::Never | Running::Ended | Running::GivenUp(..) => {}
        }
        match *running {
            Running::NotYet | Running::Never => GaveUp::NotBegun,
            Running::Ended => GaveUp::Ended,
            Running::Yes | Running::GivenUp(..) => GaveUp::Running,
        }
    }
}

/// How far a blocking body was when its call gave it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GaveUp {
    NotBegun,
    /// It goes on, and nobody can stop it.
    Running,
    Ended,
}

/// Tells that the thread has ended, however it does.
pub(crate) struct ThreadEnd(Arc<Mutex<Running>>, Option<Box<dyn FnOnce() + Send>>);

impl ThreadEnd {
    /// There is a thread for the body. May it begin?
    pub(crate) fn begins(&self) -> bool {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Running::NotYet = *running {
            *running = Running::Yes;
        }
        matches!(*running, Running::Yes)
    }
}

impl std::fmt::Debug for ThreadEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ThreadEnd")
    }
}

impl Drop for ThreadEnd {
    fn drop(&mut self) {
        let before = {
            let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *running, Running::Ended)
        };
        if let Running::GivenUp(abandoned, body) = before {
            abandoned.remove(&body);
            if let Some(late) = self.1.take() {
                // The host's ledger may panic; this thread is nobody's to end.
                if let Err(panic) = crate::tool::caught(late) {
                    tracing::error!(target: "tool_runtime", panic, "the late end of a body could not be recorded");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_abandoned_until_its_thread_ends() {
        let abandoned = Abandoned::at_most(1);
        let (call, end) = Thread::pair(None);
        assert!(end.begins());
        assert_eq!(call.give_up(&abandoned, Access::Exclusive), GaveUp::Running);
        assert!(abandoned.is_full());
        drop(end);
        assert!(abandoned.is_empty());
    }

    #[test]
    fn a_body_that_has_ended_cannot_be_abandoned() {
        let abandoned = Abandoned::at_most(1);
        let (call, end) = Thread::pair(Some(Box::new(|| panic!("it was not late"))));
        assert!(end.begins());
        drop(end);
        assert_eq!(call.give_up(&abandoned, Access::Exclusive), GaveUp::Ended);
        assert!(!abandoned.is_full());
    }

    #[test]
    fn a_body_that_was_given_up_before_it_began_never_does() {
        let abandoned = Abandoned::at_most(1);
        let (call, end) = Thread::pair(Some(Box::new(|| panic!("it was not late"))));
        assert_eq!(call.give_up(&abandoned, Access::Exclusive), GaveUp::NotBegun);
        assert!(!abandoned.is_full() && !end.begins());
    }
}
