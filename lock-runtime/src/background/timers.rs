//! Timers for futures that may be polled anywhere: on a runtime without timers, under a paused
//! clock, or on a plain thread.
//!
//! The background fires them. Most are for commands that are answered long before: setting and dropping one
//! is a step in a map. The background is only woken for a timer that is earlier than its next check.
//! New timers are usually later, so this is rare. At the check, the background removes the timers that were dropped.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use tokio::sync::Notify;
use tokio::task::coop::{Unconstrained, unconstrained};

use crate::background::panics::wake_all;
use crate::background::sync::Mutex;

/// All timers of this process.
pub(crate) struct Timers {
    heap: Mutex<TimerHeap>,
    earlier: Notify,
    process: u32,
}

#[derive(Default)]
struct TimerHeap {
    /// By time and, since several timers may have the same time, a number.
    set: BTreeMap<(Instant, u64), Waker>,
    next_number: u64,
    /// When the background checks the heap next; `None` if it waits to be woken.
    next_check: Option<Instant>,
}

/// The timer fired first.
#[derive(Debug)]
pub(crate) struct Elapsed;

impl Timers {
    /// No timers yet. None fires unless [`run`](Timers::run) is polled.
    pub(crate) fn new() -> Timers {
        Timers {
            heap: Mutex::default(),
            earlier: Notify::new(),
            process: std::process::id(),
        }
    }

    /// Fires timers as they fall due, for ever.
    pub(crate) async fn run(&self) {
        loop {
            match self.fire(Instant::now()) {
                Some(next) => tokio::select! {
                    biased;
                    () = tokio::time::sleep_until(next.into()) => {}
                    () = self.earlier.notified() => {}
                },
                None => self.earlier.notified().await,
            }
        }
    }

    /// Waits for `future`, but not after `until`. A ready result wins even after the deadline.
    ///
    /// So a caller whose runtime was blocked gets its answer instead of a timeout. For the same reason the
    /// future is polled outside the budget of its task: a task without budget would not see the result.
    pub(crate) fn timeout_at<F: Future>(&self, until: Instant, future: F) -> Timeout<'_, F> {
        Timeout {
            future: unconstrained(future),
            timer: self.sleep_until(until),
        }
    }

    /// Completes at `until`, or up to two milliseconds after.
    pub(crate) fn sleep_until(&self, until: Instant) -> Timer<'_> {
        Timer {
            timers: self,
            until,
            set: None,
        }
    }

    /// Wakes `waker` at `until`, or up to two milliseconds after, unless the timer is dropped before. The
    /// timer need not be polled.
    pub(crate) fn timer_at(&self, until: Instant, waker: &Waker) -> Timer<'_> {
        Timer {
            timers: self,
            until,
            set: Some(self.set(until, waker)),
        }
    }

    /// Fires all timers until `now`, and returns the time of the next check.
    fn fire(&self, now: Instant) -> Option<Instant> {
        let mut heap = self.heap.lock();
        let later = heap.set.split_off(&(now, u64::MAX));
        let due = std::mem::replace(&mut heap.set, later);
        let next_check = heap.set.keys().next().map(|&(time, _)| time);
        heap.next_check = next_check;
        drop(heap);
        wake_all(due.into_values());
        next_check
    }

    /// Sets a timer, and returns its number.
    fn set(&self, until: Instant, waker: &Waker) -> u64 {
        let waker = waker.clone();
        let mut heap = self.heap.lock();
        let number = heap.next_number;
        heap.next_number += 1;
        heap.set.insert((until, number), waker);
        let is_earlier = heap.next_check.is_none_or(|check| until < check);
        if is_earlier {
            heap.next_check = Some(until);
        }
        drop(heap);
        if is_earlier {
            self.earlier.notify_one();
        }
        number
    }

    /// Replaces the waker of a timer. `false` if the timer has fired.
    fn reset(&self, until: Instant, number: u64, waker: &Waker) -> bool {
        // Cloned before and dropped after the mutex is held, since a waker may run any code.
        let mut waker = waker.clone();
        let mut heap = self.heap.lock();
        let set = heap.set.get_mut(&(until, number));
        let is_set = set.map(|set| std::mem::swap(set, &mut waker)).is_some();
        drop(heap);
        drop(waker);
        is_set
    }

    /// Removes a timer.
    fn unset(&self, until: Instant, number: u64) {
        let Some(mut heap) = self.heap.lock_unless_forked(self.process) else {
            return;
        };
        let waker = heap.set.remove(&(until, number));
        drop(heap);
        drop(waker);
    }
}

impl fmt::Debug for Timers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timers").finish_non_exhaustive()
    }
}

pin_project_lite::pin_project! {
    /// A future with a timer. Written by hand, since an async function would store the future twice, and
    /// that of a command takes a kilobyte.
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct Timeout<'a, F> {
        #[pin]
        future: Unconstrained<F>,
        #[pin]
        timer: Timer<'a>,
    }
}

impl<F: Future> Future for Timeout<'_, F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        match this.future.poll(cx) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => this.timer.poll(cx).map(|()| Err(Elapsed)),
        }
    }
}

/// One timer, set when it is first polled and removed when it is dropped.
#[derive(Debug)]
#[must_use = "a timer does nothing unless it is polled"]
pub(crate) struct Timer<'a> {
    timers: &'a Timers,
    until: Instant,
    set: Option<u64>,
}

impl Future for Timer<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // The clock is not read: most timers never fire, and the background fires a late one at once.
        match self.set {
            None => self.set = Some(self.timers.set(self.until, cx.waker())),
            Some(number) if self.timers.reset(self.until, number, cx.waker()) => {}
            Some(_) => return Poll::Ready(()),
        }
        Poll::Pending
    }
}

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.set {
            self.timers.unset(self.until, number);
        }
    }
}

#[cfg(test)]
mod tests;
