//! Which calls of a turn run when.
//!
//! A call waits for every earlier one that it conflicts with, and for room in the pool. So one that
//! touches anything at all is a barrier, calls that write one thing keep their order, and nothing
//! that waits can wait for itself. What calls come to is taken in order; what is written down of it then may wait
//! together, so that the ends of a turn are one write.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::BoxFuture;
use crate::tool::{Access, Queue};

/// Starts `jobs` as they may, and gives what `settle` makes of each, in their order. Settling is begun in that order, too,
/// and what of it waits doesn't keep the next from beginning.
///
/// `access` is asked when a job is first looked at, for what waits behind it, and anew before it starts. Everything runs
/// inside the future that is returned: when it is dropped, nothing goes on.
pub(crate) async fn schedule<J, R, T, Running, Settling>(
    jobs: Vec<J>,
    room: NonZeroUsize,
    access: impl Fn(&J) -> Access,
    start: impl Fn(J) -> Running,
    settle: impl Fn(R) -> Settling,
) -> Vec<T>
where
    Running: Future<Output = R> + Send,
    Settling: Future<Output = T> + Send,
    R: Send,
{
    let mut settled = Vec::with_capacity(jobs.len());
    let mut batch = Batch {
        waiting: jobs.into_iter().map(Some).collect(),
        queue: Queue::default(),
        next: 0,
        running: Vec::new(),
        ended: Vec::new(),
        room: room.get(),
    };
    batch.ended.resize_with(batch.waiting.len(), || None);
    let mut settling: VecDeque<(Pin<Box<Settling>>, Option<T>)> = VecDeque::new();
    // Nothing more can start before something has ended.
    let mut is_full = false;
    poll_fn(|cx| {
        loop {
            let ended = batch.poll_running(cx);
            let mut moved = ended;
            is_full &= !ended;
            // The next in order, once they have ended.
            while let Some(next) = batch.ended.get_mut(settled.len() + settling.len()).and_then(Option::take) {
                settling.push_back((Box::pin(settle(next)), None));
            }
            for (current, value) in settling.iter_mut().filter(|(_, value)| value.is_none()) {
                if let Poll::Ready(settled) = current.as_mut().poll(cx) {
                    *value = Some(settled);
                }
            }
            while let Some(value) = settling.front_mut().and_then(|(_, value)| value.take()) {
                settling.pop_front();
                settled.push(value);
                moved = true;
            }
            if settled.len() == batch.ended.len() {
                return Poll::Ready(());
            }
            if !is_full {
                moved |= batch.start(&access, &start);
                is_full = true;
            }
            if !moved {
                return Poll::Pending;
            }
        }
    })
    .await;
    settled
}

struct Batch<'j, J, R> {
    /// `None` once it was started.
    waiting: Vec<Option<J>>,
    queue: Queue,
    /// All before it are in the queue, or were.
    next: usize,
    running: Vec<Started<'j, R>>,
    /// What has ended and isn't settled.
    ended: Vec<Option<R>>,
    room: usize,
}

struct Started<'j, R> {
    position: usize,
    future: BoxFuture<'j, R>,
}

impl<'j, J, R> Batch<'j, J, R> {
    /// Starts what may start. Did anything?
    fn start<Running: Future<Output = R> + Send + 'j>(
        &mut self,
        access: impl Fn(&J) -> Access,
        start: impl Fn(J) -> Running,
    ) -> bool {
        let before = self.running.len();
        loop {
            let (queue, waiting) = (&mut self.queue, &self.waiting);
            let again = |position: usize| waiting.get(position)?.as_ref().map(&access);
            if let Some(position) = queue.next(self.room, again) {
                if let Some(job) = self.waiting.get_mut(position).and_then(Option::take) {
                    self.running.push(Started { position, future: Box::pin(start(job)) });
                }
                continue;
            }
            // Nobody asks what those touch that can't begin yet whatever it is.
            if !self.queue.has_room(self.room) || self.queue.is_barred() {
                break;
            }
            let Some(job) = self.waiting.get(self.next).and_then(Option::as_ref) else { break };
            self.queue.add(self.next, Some(access(job)));
            self.next += 1;
        }
        self.running.len() > before
    }

    /// Polls what runs. Has anything ended?
    fn poll_running(&mut self, cx: &mut Context<'_>) -> bool {
        let before = self.running.len();
        let (ended, queue) = (&mut self.ended, &mut self.queue);
        self.running.retain_mut(|running| match Pin::new(&mut running.future).poll(cx) {
            Poll::Ready(value) => {
                ended[running.position] = Some(value);
                queue.remove(running.position);
                false
            }
            Poll::Pending => true,
        });
        self.running.len() < before
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::sync::Mutex;

    use super::*;

    /// Yields so often before it ends.
    async fn yields(times: usize) {
        for _ in 0..times {
            let mut yielded = false;
            poll_fn(|cx| {
                if std::mem::replace(&mut yielded, true) {
                    return Poll::Ready(());
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        }
    }

    fn run(jobs: &[(usize, Access)], room: usize) -> (Vec<usize>, Vec<String>) {
        let log = Mutex::new(Vec::new());
        let note = |what: String| log.lock().unwrap().push(what);
        let jobs: Vec<_> = jobs.iter().cloned().enumerate().collect();
        let settled = futures_lite(schedule(
            jobs,
            NonZeroUsize::new(room).unwrap(),
            |(_, (_, access))| access.clone(),
            |(position, (times, _))| {
                note(format!("+{position}"));
                async move {
                    yields(times).await;
                    position
                }
            },
            |position| async move { position },
        ));
        (settled, log.into_inner().unwrap())
    }

    /// Polls until it is ready.
    fn futures_lite<F: Future>(future: F) -> F::Output {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    #[test]
    fn d47_a_call_that_touches_anything_is_a_barrier() {
        let safe = || Access::Shared(Vec::new());
        let order = RefCell::new(Vec::new());
        let jobs = vec![(0, safe(), 3), (1, safe(), 1), (2, Access::Exclusive, 2), (3, safe(), 1)];
        let ended = Mutex::new(Vec::new());
        let settled = futures_lite(schedule(
            jobs,
            NonZeroUsize::new(8).unwrap(),
            |(_, access, _)| access.clone(),
            |(position, _, times)| {
                order.borrow_mut().push((position, ended.lock().unwrap().len()));
                let ended = &ended;
                async move {
                    yields(times).await;
                    ended.lock().unwrap().push(position);
                    position
                }
            },
            |position| async move { position },
        ));
        assert_eq!(settled, [0, 1, 2, 3]);
        // Who started, and how many had ended by then.
        assert_eq!(*order.borrow(), [(0, 0), (1, 0), (2, 2), (3, 3)]);
    }

    #[test]
    fn d48_the_pool_rolls() {
        let safe = || Access::Shared(Vec::new());
        let (settled, started) = run(&[(5, safe()), (1, safe()), (1, safe()), (1, safe())], 2);
        assert_eq!(settled, [0, 1, 2, 3]);
        assert_eq!(started, ["+0", "+1", "+2", "+3"]);
    }

    #[test]
    fn results_are_settled_in_order_whichever_ends_first() {
        let safe = || Access::Shared(Vec::new());
        assert_eq!(run(&[(9, safe()), (0, safe()), (4, safe())], 3).0, [0, 1, 2]);
        assert_eq!(run(&[], 3).0, [0_usize; 0]);
    }
}
