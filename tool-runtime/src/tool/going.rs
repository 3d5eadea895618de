//! Calls of a tool's own, on their way: whoever waits for one drives it, and so does the call that made it.
//!
//! A future that was begun and is looked at no more would hold its place among the others for ever: `select!` leaves such
//! futures behind. So what has begun goes on for as long as the call that made it does.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Context, Poll, Wake, Waker};

use super::family::SubCallError;
use super::panic::CatchPanic;
use crate::BoxFuture;

/// What a call comes to.
type Came = Result<String, SubCallError>;

/// What a call is told that comes too late.
pub(super) const ENDED: &str = "the call that makes this one has ended";

/// All that goes on of one running call.
#[derive(Default)]
pub(crate) struct Goings(Arc<Mutex<Drive>>);

#[derive(Default)]
struct Drive {
    /// Those that have begun and haven't ended.
    begun: Vec<Arc<Going>>,
    /// Those that have something to do.
    ready: Vec<Arc<Going>>,
    /// Whoever drives them all.
    driver: Option<Waker>,
    /// The call that made them has ended.
    is_over: bool,
}

/// Nothing of ours panics under this lock, and nobody is woken or dropped.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Goings {
    /// A call that begins when it is first asked for.
    pub(crate) fn call(&self, tool: &str, running: BoxFuture<'static, Came>) -> Calling {
        let going = Arc::new(Going {
            drive: Arc::clone(&self.0),
            stage: Mutex::new(Stage::Running(CatchPanic::new(running))),
            has_to_do: AtomicBool::new(true),
            is_queued: AtomicBool::new(false),
            is_given_up: AtomicBool::new(false),
            waits: Mutex::new(None),
        });
        Calling { going, tool: tool.to_owned(), has_begun: false }
    }

    /// Has those go on that can. From here on `driver` is woken when others can.
    pub(crate) fn drive(&self, driver: &Waker) {
        let ready = {
            let mut drive = lock(&self.0);
            if !drive.driver.as_ref().is_some_and(|known| known.will_wake(driver)) {
                drive.driver = Some(driver.clone());
            }
            std::mem::take(&mut drive.ready)
        };
        for going in ready {
            going.is_queued.store(false, Ordering::SeqCst);
            going.advance();
        }
    }

    /// Drives them until none is left.
    pub(crate) async fn ended(&self) {
        poll_fn(|task| {
            self.drive(task.waker());
            if lock(&self.0).begun.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// The call that made them has ended: they end, too, and none begins any more.
    pub(crate) fn give_up(&self) {
        let begun = {
            let mut drive = lock(&self.0);
            drive.is_over = true;
            drive.ready.clear();
            std::mem::take(&mut drive.begun)
        };
        for going in begun {
            going.give_up();
            going.wake_waiting();
        }
    }
}

impl fmt::Debug for Goings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Goings({})", lock(&self.0).begun.len())
    }
}

struct Going {
    drive: Arc<Mutex<Drive>>,
    stage: Mutex<Stage>,
    /// It was woken since it was last asked to go on.
    has_to_do: AtomicBool,
    /// It is among those that are ready.
    is_queued: AtomicBool,
    /// Nobody wants it any more.
    is_given_up: AtomicBool,
    /// Whoever waits for its end.
    waits: Mutex<Option<Waker>>,
}

enum Stage {
    Running(CatchPanic<'static, Came>),
    Ended(Result<Came, String>),
    Over,
}

impl Going {
    /// Goes on, if there is anything to do. Of several that ask at once one drives it.
    fn advance(self: &Arc<Self>) {
        if !self.has_to_do.load(Ordering::SeqCst) {
            return;
        }
        // Whoever drives it looks again once it has let go of it.
        let Some(mut stage) = self.stage() else { return };
        self.has_to_do.store(false, Ordering::SeqCst);
        let Stage::Running(running) = &mut *stage else { return };
        let waker = Waker::from(Arc::clone(self));
        let polled = Pin::new(running).poll(&mut Context::from_waker(&waker));
        let before = match polled {
            Poll::Ready(result) => Some(std::mem::replace(&mut *stage, Stage::Ended(result))),
            Poll::Pending => None,
        };
        drop(stage);
        if before.is_some() {
            drop(before);
            self.leaves();
            self.wake_waiting();
        } else if self.is_given_up.load(Ordering::SeqCst) {
            // Whoever gave it up may have found it taken.
            self.give_up();
        } else if self.has_to_do.load(Ordering::SeqCst) {
            // So may somebody who would have driven it.
            self.wake_all();
        }
    }

    /// It is nobody's to drive any more.
    fn leaves(self: &Arc<Self>) {
        let driver = {
            let mut drive = lock(&self.drive);
            if let Some(place) = drive.begun.iter().position(|other| Arc::ptr_eq(self, other)) {
                drive.begun.swap_remove(place);
            }
            drive.driver.clone().filter(|_| drive.begun.is_empty())
        };
        // It may wait for the last of them.
        driver.inspect(Waker::wake_by_ref);
    }

    /// Has it end here, unless somebody drives it just now: they do it then.
    fn give_up(&self) {
        self.is_given_up.store(true, Ordering::SeqCst);
        let Some(mut stage) = self.stage() else { return };
        let before = std::mem::replace(&mut *stage, Stage::Over);
        drop(stage);
        drop(before);
    }

    /// Takes what it came to, if it has ended.
    fn result(&self) -> Option<Result<Came, String>> {
        let mut stage = self.stage()?;
        match std::mem::replace(&mut *stage, Stage::Over) {
            Stage::Ended(result) => Some(result),
            other => {
                *stage = other;
                None
            }
        }
    }

    /// How far it is, unless somebody drives it just now.
    fn stage(&self) -> Option<MutexGuard<'_, Stage>> {
        match self.stage.try_lock() {
            Ok(stage) => Some(stage),
            Err(TryLockError::Poisoned(stage)) => Some(stage.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn wake_waiting(&self) {
        let waits = lock(&self.waits).take();
        waits.inspect(Waker::wake_by_ref);
    }

    fn wake_all(self: &Arc<Self>) {
        let driver = {
            let mut drive = lock(&self.drive);
            if !drive.is_over && !self.is_queued.swap(true, Ordering::SeqCst) {
                drive.ready.push(Arc::clone(self));
            }
            drive.driver.clone()
        };
        driver.inspect(Waker::wake_by_ref);
        self.wake_waiting();
    }
}

impl Wake for Going {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.has_to_do.store(true, Ordering::SeqCst);
        self.wake_all();
    }
}

/// The result of a call of a tool's own, once it is there. Dropped, the call is given up.
pub(crate) struct Calling {
    going: Arc<Going>,
    tool: String,
    has_begun: bool,
}

impl Future for Calling {
    type Output = Came;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Came> {
        if !self.has_begun {
            self.has_begun = true;
            let mut drive = lock(&self.going.drive);
            if drive.is_over {
                self.going.is_given_up.store(true, Ordering::SeqCst);
            } else {
                drive.begun.push(Arc::clone(&self.going));
            }
        }
        {
            let mut waits = lock(&self.going.waits);
            if !waits.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
                *waits = Some(cx.waker().clone());
            }
        }
        if !self.going.is_given_up.load(Ordering::SeqCst) {
            self.going.advance();
        }
        match self.going.result() {
            Some(Ok(result)) => Poll::Ready(result),
            Some(Err(panic)) => {
                tracing::error!(target: "tool_runtime", panic, "a call of a tool's own broke");
                Poll::Ready(Err(SubCallError::new(&*self.tool, format!("`{}` could not be run.", self.tool))))
            }
            None if self.going.is_given_up.load(Ordering::SeqCst) => {
                Poll::Ready(Err(SubCallError::new(&*self.tool, ENDED)))
            }
            None => Poll::Pending,
        }
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        self.going.give_up();
        self.going.leaves();
    }
}
