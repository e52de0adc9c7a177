//! Background tasks polled inline by the caller that awaits their result.
//!
//! Polled in the caller's task, their commands and answers cross no threads. But other waiters depend on
//! them too. So the background takes a task over in two cases: its caller was dropped, or the task was woken and not
//! polled for a while. Then the caller's runtime may be blocked, or its future left unpolled.

use std::future::{Future, poll_fn};
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use foldhash::HashMap;
use tokio::sync::oneshot;
use tokio::task::coop::unconstrained;

use crate::background::panics::wake_all;
use crate::background::sync::Mutex;
use crate::background::{Background, fork};

/// The time between two checks of the offloaded tasks. A task that was woken before one check and is not
/// polled by the next is taken over: soon enough to keep its queue entry and its lease.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// After so many checks without a task, checking stops until the next task is assigned.
const IDLE_CHECKS: u32 = 10;

/// Boxed where it is made: it may take kilobytes, and is not moved on its way to the caller or the
/// background.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A slot for a task that its caller polls while it waits.
pub(crate) struct OffloadedTask {
    number: u64,
    slot: Mutex<Slot>,
    /// Nothing while the caller polls.
    caller: Mutex<Option<Waker>>,
    /// Whether the task or its answer woke and the caller has not polled since. Written under the mutex of `caller`.
    is_woken: AtomicBool,
    /// The same, at the last check.
    was_woken: AtomicBool,
    /// Whether neither the caller nor the background has anything left to do here.
    is_done: AtomicBool,
}

enum Slot {
    /// No task was assigned yet.
    Empty,
    Ready(Task),
    /// The task is being polled at this moment.
    Polling,
    /// The task has ended or is with the background, which also gets every later task.
    Closed,
}

impl OffloadedTask {
    fn new() -> Arc<OffloadedTask> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Arc::new(OffloadedTask {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            slot: Mutex::new(Slot::Empty),
            caller: Mutex::default(),
            is_woken: AtomicBool::new(false),
            was_woken: AtomicBool::new(false),
            is_done: AtomicBool::new(false),
        })
    }

    /// Has `task` run, by the caller if it is still there.
    pub(crate) fn assign(self: &Arc<OffloadedTask>, background: &Background, task: Task) {
        let mut slot = self.slot.lock();
        if !matches!(*slot, Slot::Empty) {
            drop(slot);
            background.spawn(task);
            return;
        }
        // Watched before it can be polled: a poll that ends it also ends the watch.
        WATCHED_TASKS.watch(background, self);
        *slot = Slot::Ready(task);
        drop(slot);
        self.wake_by_ref();
    }

    /// Polls the task, if there is one, and then `answer`, which is usually sent by the task.
    ///
    /// What the task wakes meanwhile is only noted: with the answer, the caller's task would be scheduled although it
    /// is just being polled, and polled once more for nothing.
    fn poll_for<T>(
        self: &Arc<OffloadedTask>,
        answer: &mut oneshot::Receiver<T>,
        cx: &Context<'_>,
    ) -> Poll<Option<T>> {
        // Under the mutex, or this could erase a note of what the polls below do not see yet.
        let previous = {
            let mut caller = self.caller.lock();
            self.is_woken.store(false, Ordering::Relaxed);
            caller.take()
        };
        drop(previous);
        self.was_woken.store(false, Ordering::Relaxed);
        let waker = Waker::from(self.clone());
        let mut inner = Context::from_waker(&waker);
        self.poll(&mut inner);
        if let Poll::Ready(answer) = Pin::new(answer).poll(&mut inner) {
            return Poll::Ready(answer.ok());
        }
        let waker = cx.waker().clone();
        let mut caller = self.caller.lock();
        if self.is_woken.load(Ordering::Relaxed) {
            drop(caller);
            wake_all([waker]);
        } else {
            *caller = Some(waker);
        }
        Poll::Pending
    }

    /// Polls the task, if there is one and no thread is polling it.
    fn poll(&self, cx: &mut Context<'_>) {
        let mut slot = self.slot.lock();
        let mut task = match mem::replace(&mut *slot, Slot::Polling) {
            Slot::Ready(task) => task,
            other => {
                *slot = other;
                return;
            }
        };
        drop(slot);
        // Polled without the mutex, since the task may wake itself. If it panics, it is done.
        let close = CloseOnDrop(self);
        if task.as_mut().poll(cx).is_pending() {
            mem::forget(close);
            *self.slot.lock() = Slot::Ready(task);
        }
    }

    /// Moves the task to the background, and any task that may still be assigned.
    fn move_to(&self, background: &Background) {
        let mut slot = self.slot.lock();
        if matches!(*slot, Slot::Polling) {
            // A task that is being polled right now is not stuck.
            return;
        }
        let left = mem::replace(&mut *slot, Slot::Closed);
        drop(slot);
        self.done();
        if let Slot::Ready(task) = left {
            background.spawn(task);
        }
    }

    /// Ends the watch.
    fn done(&self) {
        self.is_done.store(true, Ordering::Relaxed);
        WATCHED_TASKS.forget(self);
    }
}

/// Closes the slot of a task whose poll was its last one, or panicked.
struct CloseOnDrop<'a>(&'a OffloadedTask);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        *self.0.slot.lock() = Slot::Closed;
        self.0.done();
    }
}

impl Wake for OffloadedTask {
    fn wake(self: Arc<OffloadedTask>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<OffloadedTask>) {
        // Taken out, so that the mutex is free while it is woken. The caller's next poll brings another.
        let caller = {
            let mut caller = self.caller.lock();
            self.is_woken.store(true, Ordering::Relaxed);
            caller.take()
        };
        wake_all(caller);
    }
}

/// A caller that polls a task while it waits for its result. Dropped, it leaves the task to the background.
pub(crate) struct InlineRunner {
    background: Background,
    offloaded: Arc<OffloadedTask>,
    /// Whether the process was compared since this task of the caller was last polled.
    is_compared: bool,
}

impl InlineRunner {
    /// A caller without a task so far, which has just [compared the process](Background::check_process) and waits next.
    pub(crate) fn new(background: &Background) -> InlineRunner {
        InlineRunner {
            background: background.clone(),
            offloaded: OffloadedTask::new(),
            is_compared: true,
        }
    }

    /// The slot in which the caller's task is put.
    pub(crate) fn offloaded(&self) -> &Arc<OffloadedTask> {
        &self.offloaded
    }

    /// Waits for `answer`, and polls the task meanwhile. `None` if the answer's sender is gone.
    ///
    /// The answer is polled outside the budget of the caller's task. When that is used up, tokio wakes the
    /// task after its poll has ended, and so never if an executor inside the poll waits for this.
    pub(crate) async fn wait_for<T>(&mut self, answer: &mut oneshot::Receiver<T>) -> Option<T> {
        let InlineRunner {
            offloaded,
            is_compared,
            ..
        } = self;
        unconstrained(poll_fn(|cx| {
            if mem::take(is_compared) {
                fork::after_comparison(|| offloaded.poll_for(answer, cx))
            } else {
                offloaded.poll_for(answer, cx)
            }
        }))
        .await
    }

    /// Closes the slot, if it is empty: no task will be assigned any more.
    pub(crate) fn expects_nothing(&self) {
        let mut slot = self.offloaded.slot.lock();
        if matches!(*slot, Slot::Empty) {
            *slot = Slot::Closed;
            self.offloaded.is_done.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for InlineRunner {
    fn drop(&mut self) {
        // In a forked child another thread may have held the mutexes when the process was forked.
        let is_done = self.offloaded.is_done.load(Ordering::Relaxed);
        if !is_done && self.background.check_process().is_ok() {
            self.offloaded.move_to(&self.background);
        }
    }
}

/// The tasks that callers of this process poll, so that the background can take over those that are stuck.
static WATCHED_TASKS: LazyLock<WatchedTasks> = LazyLock::new(WatchedTasks::default);

#[derive(Default)]
struct WatchedTasks(Mutex<Watched>);

#[derive(Default)]
struct Watched {
    by_number: HashMap<u64, Arc<OffloadedTask>>,
    /// Whether a task of the background checks them.
    is_watching: bool,
}

impl WatchedTasks {
    fn watch(&self, background: &Background, offloaded: &Arc<OffloadedTask>) {
        let mut watched = self.0.lock();
        let number = offloaded.number;
        watched.by_number.insert(number, offloaded.clone());
        if !mem::replace(&mut watched.is_watching, true) {
            drop(watched);
            let taking_over = background.clone();
            background.spawn(async move { WATCHED_TASKS.check(&taking_over).await });
        }
    }

    fn forget(&self, offloaded: &OffloadedTask) {
        let forgotten = self.0.lock().by_number.remove(&offloaded.number);
        // Outside the mutex: it may be the last reference to a task.
        drop(forgotten);
    }

    /// Takes stuck tasks over, until there are none to watch.
    async fn check(&self, background: &Background) {
        let mut idle = 0;
        while idle < IDLE_CHECKS || !self.stop_watching() {
            tokio::time::sleep(CHECK_INTERVAL).await;
            let stuck = self.stuck();
            idle = if stuck.is_none() { idle + 1 } else { 0 };
            for offloaded in stuck.into_iter().flatten() {
                offloaded.move_to(background);
            }
        }
    }

    /// The tasks that were woken before the last check and have not been polled since; `None` if there are
    /// no tasks at all.
    fn stuck(&self) -> Option<Vec<Arc<OffloadedTask>>> {
        let watched = self.0.lock();
        let is_stuck = |offloaded: &&Arc<OffloadedTask>| {
            let is_woken = offloaded.is_woken.load(Ordering::Relaxed);
            offloaded.was_woken.swap(is_woken, Ordering::Relaxed) && is_woken
        };
        let stuck = watched.by_number.values().filter(is_stuck).cloned();
        let stuck = stuck.collect();
        (!watched.by_number.is_empty()).then_some(stuck)
    }

    /// Ends the checks, if there is no task to watch.
    fn stop_watching(&self) -> bool {
        let mut watched = self.0.lock();
        watched.is_watching = !watched.by_number.is_empty();
        !watched.is_watching
    }
}

#[cfg(test)]
mod tests;
