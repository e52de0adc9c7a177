//! Timers for futures that may be polled anywhere: on a runtime without timers, under a paused clock, or on a plain
//! thread.
//!
//! The background fires them. Most belong to commands that are answered long before. So timers for about the same time
//! share an entry in the map of ticks, and setting or dropping one only changes a list. A new timer wakes the
//! background only if it is due before the next check, which is rare, since new timers are usually later.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::task::coop::{Unconstrained, unconstrained};

use crate::background::fork::Origin;
use crate::background::panics::wake_all;
use crate::background::sync::Mutex;

/// Timers may fire this many µs late, so that those of about the same time fire together.
const TICK: u64 = 128;

/// How many lists are kept for future times.
const MAX_SPARE: usize = 8;

/// All timers of this process.
pub(crate) struct Timers {
    heap: Mutex<TimerHeap>,
    earlier: Notify,
    zero: Instant,
    origin: Origin,
}

/// A number of ticks since the zero of the timers.
type Tick = u64;

#[derive(Default)]
struct TimerHeap {
    by_tick: BTreeMap<Tick, Together>,
    /// All timers until this tick have fired or been dropped.
    fired: Tick,
    /// When the background checks the heap next; `None` if it waits to be woken.
    next_check: Option<Tick>,
    /// Empty lists.
    spare: Vec<Vec<Option<Waker>>>,
}

/// The timers of one tick. At least one of them is set.
struct Together {
    /// `None` for a timer that was dropped.
    wakers: Vec<Option<Waker>>,
    set: usize,
}

/// A timer that is or was set. Places are never reused: a tick that has fired does not come again.
#[derive(Clone, Copy, Debug)]
struct Place {
    tick: Tick,
    index: usize,
}

/// The timer fired first.
#[derive(Debug)]
pub(crate) struct Elapsed;

impl Timers {
    /// Creates an empty set. No timer fires unless [`run`](Timers::run) is polled.
    pub(crate) fn new() -> Timers {
        Timers {
            heap: Mutex::default(),
            earlier: Notify::new(),
            zero: Instant::now(),
            origin: Origin::here(),
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
    /// So a caller whose runtime was blocked gets its answer instead of a timeout. For the same reason the future is
    /// polled outside the coop budget of its task: a task without budget would not see the result.
    pub(crate) fn timeout_at<F: Future>(&self, until: Instant, future: F) -> Timeout<'_, F> {
        Timeout {
            future: unconstrained(future),
            timer: self.sleep_until(until),
        }
    }

    /// Completes at `until`, or up to 2.2 ms after.
    pub(crate) fn sleep_until(&self, until: Instant) -> Timer<'_> {
        Timer {
            timers: self,
            until,
            set: None,
        }
    }

    /// Wakes `waker` at `until`, or up to 2.2 ms after, unless the timer is dropped before. The timer need not be
    /// polled.
    pub(crate) fn timer_at(&self, until: Instant, waker: &Waker) -> Timer<'_> {
        Timer {
            timers: self,
            until,
            set: Some(self.set(until, waker)),
        }
    }

    /// Fires all timers until `now`, and returns the time of the next check.
    fn fire(&self, now: Instant) -> Option<Instant> {
        let now = self.ticks(now);
        let mut heap = self.heap.lock();
        let later = heap.by_tick.split_off(&(now + 1));
        let due = mem::replace(&mut heap.by_tick, later);
        heap.fired = heap.fired.max(now);
        let next_check = heap.by_tick.keys().next().copied();
        heap.next_check = next_check;
        drop(heap);
        for Together { wakers, .. } in due.into_values() {
            wake_all(wakers.into_iter().flatten());
        }
        next_check.map(|tick| self.zero + Duration::from_micros(tick.saturating_mul(TICK)))
    }

    /// Returns the number of whole ticks until `time`.
    fn ticks(&self, time: Instant) -> Tick {
        let micros = time.saturating_duration_since(self.zero).as_micros();
        u64::try_from(micros).unwrap_or(u64::MAX) / TICK
    }

    /// Sets a timer.
    fn set(&self, until: Instant, waker: &Waker) -> Place {
        let (waker, tick) = (waker.clone(), self.ticks(until) + 1);
        let mut heap = self.heap.lock();
        let place = heap.set(tick, waker);
        let is_earlier = heap.next_check.is_none_or(|check| place.tick < check);
        if is_earlier {
            heap.next_check = Some(place.tick);
        }
        drop(heap);
        if is_earlier {
            self.earlier.notify_one();
        }
        place
    }

    /// Replaces the waker of a timer. `false` if the timer has fired.
    fn reset(&self, place: Place, waker: &Waker) -> bool {
        // Cloned before the mutex is locked and dropped after, since a waker may run any code.
        let mut waker = waker.clone();
        let mut heap = self.heap.lock();
        let set = heap.by_tick.get_mut(&place.tick);
        let set = set.and_then(|together| together.wakers[place.index].as_mut());
        let is_set = set.map(|set| mem::swap(set, &mut waker)).is_some();
        drop(heap);
        drop(waker);
        is_set
    }

    /// Removes a timer.
    fn unset(&self, place: Place) {
        let Some(mut heap) = self.heap.lock_unless_forked(&self.origin) else {
            return;
        };
        let waker = heap.unset(place);
        drop(heap);
        drop(waker);
    }
}

impl TimerHeap {
    fn set(&mut self, tick: Tick, waker: Waker) -> Place {
        let tick = tick.max(self.fired + 1);
        let spare = &mut self.spare;
        let together = self.by_tick.entry(tick).or_insert_with(|| Together {
            wakers: spare.pop().unwrap_or_default(),
            set: 0,
        });
        let index = together.wakers.len();
        together.wakers.push(Some(waker));
        together.set += 1;
        Place { tick, index }
    }

    /// Removes a timer, unless it has fired.
    fn unset(&mut self, Place { tick, index }: Place) -> Option<Waker> {
        let Entry::Occupied(mut entry) = self.by_tick.entry(tick) else {
            return None;
        };
        let together = entry.get_mut();
        let waker = together.wakers[index].take();
        together.set -= 1;
        if together.set == 0 {
            let mut wakers = entry.remove().wakers;
            if self.spare.len() < MAX_SPARE {
                wakers.clear();
                self.spare.push(wakers);
            }
        }
        waker
    }
}

impl fmt::Debug for Timers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timers").finish_non_exhaustive()
    }
}

pin_project_lite::pin_project! {
    /// A future with a timer. Written by hand, since an async function would store the future twice, and a command's
    /// future takes a kilobyte.
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
    set: Option<Place>,
}

impl Future for Timer<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // The clock is not read: most timers never fire, and the background fires a late one at its next tick.
        match self.set {
            None => self.set = Some(self.timers.set(self.until, cx.waker())),
            Some(place) if self.timers.reset(place, cx.waker()) => {}
            Some(_) => return Poll::Ready(()),
        }
        Poll::Pending
    }
}

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.set {
            self.timers.unset(place);
        }
    }
}

#[cfg(test)]
mod tests;
