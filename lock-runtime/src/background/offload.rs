//! Background tasks, polled inline by the caller that awaits their answer.
//!
//! While the caller polls its task, commands and answers cross no threads. But other waiters may depend on the task. So
//! the background takes it over when its caller is dropped, or when nobody polls it for a while after a wake-up: the
//! caller's runtime may be blocked, or its future left unpolled.

mod watched_tasks;

use std::future::{Future, poll_fn};
use std::mem;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use tokio::task::coop::unconstrained;

use self::watched_tasks::{WATCHED_TASKS, WatchId, Watched};
use crate::background::Background;
use crate::background::panics::catch_panics;
use crate::background::panics::wake_all;
use crate::background::sync::Mutex;

/// Boxed on creation: it may take kilobytes, and only the box moves to the caller or the background.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The slots of one caller: a task that it polls while it waits, and the answer, which that task or another part of the
/// client sends.
///
/// A task that owns the [`Reply`] keeps its own slot alive, until the task ends or its caller is gone.
pub(crate) struct Offloaded<T> {
    background: Background,
    id: WatchId,
    state: Mutex<State<T>>,
    /// Whether the task or the answer has woken the caller since its last poll. Written under the mutex.
    is_woken: AtomicBool,
    /// The value of `is_woken` at the last check.
    was_woken: AtomicBool,
    /// Whether neither the caller nor the background has anything left to do here.
    is_done: AtomicBool,
}

struct State<T> {
    slot: Slot,
    answer: AnswerState<T>,
    /// `None` while the caller polls.
    caller: Option<Waker>,
    /// Whether the caller no longer waits.
    is_closed: bool,
    /// Wakes a task in the background that ends with its caller.
    closing: Option<Waker>,
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

enum AnswerState<T> {
    Awaited,
    Sent(T),
    /// The answer was taken, or will never come, because the [`Reply`] was dropped.
    Over,
}

impl<T: Send + 'static> Offloaded<T> {
    fn new(background: &Background) -> Arc<Offloaded<T>> {
        Arc::new(Offloaded {
            background: background.clone(),
            id: WatchId::new(),
            state: Mutex::new(State {
                slot: Slot::Empty,
                answer: AnswerState::Awaited,
                caller: None,
                is_closed: false,
                closing: None,
            }),
            is_woken: AtomicBool::new(false),
            was_woken: AtomicBool::new(false),
            is_done: AtomicBool::new(false),
        })
    }

    /// Runs `task` in its caller, or in the background if the caller is gone.
    pub(crate) fn assign(self: &Arc<Offloaded<T>>, task: Task) {
        let mut state = self.state.lock();
        if !matches!(state.slot, Slot::Empty) {
            drop(state);
            self.background.spawn_boxed(task);
            return;
        }
        // Watched before it can be polled: a poll that ends it also ends the watch.
        WATCHED_TASKS.watch(&self.background, self.id, self.clone());
        state.slot = Slot::Ready(task);
        drop(state);
        self.wake_by_ref();
    }

    /// Polls the task, if there is one, and then takes the answer, which the task usually sends.
    ///
    /// Wake-ups in between are only noted. Otherwise the runtime would schedule the caller's task while it is being
    /// polled, and poll it once more for nothing.
    fn poll_for_answer(self: &Arc<Offloaded<T>>, cx: &Context<'_>) -> Poll<Option<T>> {
        let (previous, task) = {
            let mut state = self.state.lock();
            // Under the mutex: otherwise this could clear a wake-up whose cause the poll below does not see yet.
            self.is_woken.store(false, Ordering::Relaxed);
            (state.caller.take(), state.slot.take_task())
        };
        self.was_woken.store(false, Ordering::Relaxed);
        if let Some(task) = task {
            self.poll_task(task);
        }
        // A waker is the runtime's code, and may panic. Here no task is lost if it does.
        drop(previous);
        let waker = cx.waker().clone();
        let mut state = self.state.lock();
        match mem::replace(&mut state.answer, AnswerState::Over) {
            AnswerState::Sent(answer) => return Poll::Ready(Some(answer)),
            AnswerState::Over => return Poll::Ready(None),
            AnswerState::Awaited => state.answer = AnswerState::Awaited,
        }
        if self.is_woken.load(Ordering::Relaxed) {
            drop(state);
            wake_all([waker]);
        } else {
            state.caller = Some(waker);
        }
        Poll::Pending
    }

    /// Polls the task without the mutex, since the task may wake itself. A task that panics has ended.
    fn poll_task(self: &Arc<Offloaded<T>>, mut task: Task) {
        let close = CloseOnDrop(self);
        let waker = Waker::from(self.clone());
        if task
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
        {
            mem::forget(close);
            self.state.lock().slot = Slot::Ready(task);
        }
    }

    /// The caller no longer waits. Drops an answer that it has not taken.
    fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        let (caller, closing) = (state.caller.take(), state.closing.take());
        let answer = mem::replace(&mut state.answer, AnswerState::Over);
        drop(state);
        wake_all(closing);
        catch_panics(|| drop(caller));
        drop(answer);
    }
}

impl<T> Offloaded<T> {
    /// Notes that the caller must poll. Returns its waker, unless it polls now.
    fn note_woken(&self, state: &mut State<T>) -> Option<Waker> {
        self.is_woken.store(true, Ordering::Relaxed);
        state.caller.take()
    }

    /// Ends the watch.
    fn done(&self) {
        self.is_done.store(true, Ordering::Relaxed);
        WATCHED_TASKS.forget(self.id);
    }
}

impl Slot {
    /// Takes the task, unless there is none or a thread is polling it.
    fn take_task(&mut self) -> Option<Task> {
        match mem::replace(self, Slot::Polling) {
            Slot::Ready(task) => Some(task),
            other => {
                *self = other;
                None
            }
        }
    }
}

/// Closes the slot of a task that has ended or panicked.
struct CloseOnDrop<'a, T>(&'a Offloaded<T>);

impl<T> Drop for CloseOnDrop<'_, T> {
    fn drop(&mut self) {
        self.0.state.lock().slot = Slot::Closed;
        self.0.done();
    }
}

impl<T: Send + 'static> Watched for Offloaded<T> {
    fn is_stuck(&self) -> bool {
        let is_woken = self.is_woken.load(Ordering::Relaxed);
        self.was_woken.swap(is_woken, Ordering::Relaxed) && is_woken
    }

    /// Moves the task to the background, and sends any later task there, too.
    fn move_to_background(&self) {
        let mut state = self.state.lock();
        if matches!(state.slot, Slot::Polling) {
            // A task that is being polled right now is not stuck.
            return;
        }
        let left = mem::replace(&mut state.slot, Slot::Closed);
        drop(state);
        self.done();
        if let Slot::Ready(task) = left {
            self.background.spawn_boxed(task);
        }
    }
}

impl<T: Send + 'static> Wake for Offloaded<T> {
    fn wake(self: Arc<Offloaded<T>>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Offloaded<T>>) {
        // Taken out, so that the mutex is free while the waker runs. The caller's next poll stores another one.
        let caller = self.note_woken(&mut self.state.lock());
        wake_all(caller);
    }
}

/// The duty to answer a caller, which is notified if this is dropped.
pub(crate) struct Reply<T> {
    /// `None` once the answer was sent.
    to: Option<Arc<Offloaded<T>>>,
}

impl<T> Reply<T> {
    fn offloaded(&self) -> &Offloaded<T> {
        self.to.as_deref().expect("a reply is sent once")
    }

    /// Answers the caller. Returns `Err` with the answer if the caller is gone.
    pub(crate) fn send(mut self, answer: T) -> Result<(), T> {
        let to = self.to.take().expect("a reply is sent once");
        let mut state = to.state.lock();
        if state.is_closed {
            return Err(answer);
        }
        state.answer = AnswerState::Sent(answer);
        let caller = to.note_woken(&mut state);
        drop(state);
        wake_all(caller);
        Ok(())
    }

    /// Whether the caller no longer waits.
    pub(crate) fn is_closed(&self) -> bool {
        self.offloaded().state.lock().is_closed
    }

    /// Completes when the caller no longer waits. For the caller's task only.
    pub(crate) async fn closed(&self) {
        poll_fn(|cx| {
            let waker = cx.waker();
            let mut state = self.offloaded().state.lock();
            if state.is_closed {
                return Poll::Ready(());
            }
            // A caller that polls this task still waits.
            if matches!(state.slot, Slot::Closed) {
                let previous = state.closing.replace(waker.clone());
                drop(state);
                drop(previous);
            }
            Poll::Pending
        })
        .await;
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        let Some(to) = self.to.take() else { return };
        // In a forked child, another thread of the parent may have held the mutex during the fork.
        let Some(mut state) = to.state.lock_unless_forked(to.background.origin()) else {
            return;
        };
        state.answer = AnswerState::Over;
        let caller = to.note_woken(&mut state);
        drop(state);
        wake_all(caller);
    }
}

/// A caller that polls a task while it waits for its answer. Dropped, it leaves the task to the background.
pub(crate) struct InlineRunner<T: Send + 'static> {
    offloaded: Arc<Offloaded<T>>,
    is_answered: bool,
}

impl<T: Send + 'static> InlineRunner<T> {
    /// Creates a caller without a task.
    pub(crate) fn new(background: &Background) -> (InlineRunner<T>, Reply<T>) {
        let offloaded = Offloaded::new(background);
        let to = Some(offloaded.clone());
        let runner = InlineRunner {
            offloaded,
            is_answered: false,
        };
        (runner, Reply { to })
    }

    /// Returns the slots of the caller.
    pub(crate) fn offloaded(&self) -> &Arc<Offloaded<T>> {
        &self.offloaded
    }

    /// Waits for the answer, and polls the task meanwhile. `None` if the reply was dropped.
    pub(crate) async fn answer(&mut self) -> Option<T> {
        poll_fn(|cx| self.poll_answer(cx)).await
    }

    /// Like [`answer`](InlineRunner::answer).
    ///
    /// Ignores the coop budget of the caller's task. Once that is spent, tokio wakes the task only after its poll has
    /// ended, which never happens if an executor inside the poll waits for this.
    pub(crate) fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let InlineRunner {
            offloaded,
            is_answered,
        } = self;
        let answer = poll_fn(|cx| offloaded.poll_for_answer(cx));
        let polled = pin!(unconstrained(answer)).poll(cx);
        *is_answered |= polled.is_ready();
        polled
    }

    /// Closes the slot, if it is empty: no task will be assigned.
    pub(crate) fn expects_nothing(&self) {
        let mut state = self.offloaded.state.lock();
        if matches!(state.slot, Slot::Empty) {
            state.slot = Slot::Closed;
            self.offloaded.is_done.store(true, Ordering::Relaxed);
        }
    }
}

impl<T: Send + 'static> Drop for InlineRunner<T> {
    fn drop(&mut self) {
        let is_done = self.offloaded.is_done.load(Ordering::Relaxed);
        if is_done && self.is_answered {
            return;
        }
        // In a forked child, another thread of the parent may have held the mutexes during the fork.
        if self.offloaded.background.check_process().is_err() {
            return;
        }
        if !self.is_answered {
            self.offloaded.close();
        }
        if !is_done {
            self.offloaded.move_to_background();
        }
    }
}

#[cfg(test)]
mod tests;
