//! Timers for futures that may be polled anywhere: on a runtime without timers, under a paused
//! clock, or on a plain thread.
//!
//! The keeper rings them. Most are for commands that are answered long before: setting and dropping
//! one is a step in a map, and the keeper is only woken for one that is earlier than all it plans to
//! look at. Since deadlines rise, that is rare: it finds out by itself what has become of the rest.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use tokio::sync::Notify;
use tokio::task::coop::{Unconstrained, unconstrained};

use crate::background::fork::lock_unless_forked;
use crate::background::panics::catch_panics;

/// All alarms of this process.
pub(crate) struct Timers {
    heap: Mutex<TimerHeap>,
    sooner: Notify,
    process: u32,
}

#[derive(Default)]
struct TimerHeap {
    /// By time and, since several may have one, a number.
    set: BTreeMap<(Instant, u64), Waker>,
    next_number: u64,
    /// When the keeper looks at the board by itself; `None` if it waits to be told.
    next_look: Option<Instant>,
}

/// The time was up.
#[derive(Debug)]
pub(crate) struct Elapsed;

impl Timers {
    /// None yet. Nothing rings unless [`run`](Timers::run) is polled.
    pub(crate) fn new() -> Timers {
        Timers {
            heap: Mutex::default(),
            sooner: Notify::new(),
            process: std::process::id(),
        }
    }

    /// Rings what is due, for ever.
    pub(crate) async fn run(&self) {
        loop {
            match self.fire(Instant::now()) {
                Some(next) => tokio::select! {
                    biased;
                    () = tokio::time::sleep_until(next.into()) => {}
                    () = self.sooner.notified() => {}
                },
                None => self.sooner.notified().await,
            }
        }
    }

    /// Waits for `future`, but not after `until`. What it has brought counts however late it is
    /// asked: a caller whose runtime was blocked finds its answer and not that the time is over. For
    /// that it is polled outside the budget of its task, which would have it wait for another turn.
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

    /// Wakes `waker` at `until`, or up to two milliseconds after, unless what this returns is dropped
    /// before; it need not be polled.
    pub(crate) fn timer_at(&self, until: Instant, waker: &Waker) -> Timer<'_> {
        Timer {
            timers: self,
            until,
            set: Some(self.set(until, waker)),
        }
    }

    /// Rings all alarms until `now`, and says when to look again.
    fn fire(&self, now: Instant) -> Option<Instant> {
        let mut heap = self.heap();
        let later = heap.set.split_off(&(now, u64::MAX));
        let due = std::mem::replace(&mut heap.set, later);
        heap.next_look = heap.set.keys().next().map(|&(time, _)| time);
        let next_look = heap.next_look;
        drop(heap);
        for waker in due.into_values() {
            catch_panics(|| waker.wake());
        }
        next_look
    }

    /// Puts an alarm up, and returns its number.
    fn set(&self, until: Instant, waker: &Waker) -> u64 {
        let waker = waker.clone();
        let mut heap = self.heap();
        let number = heap.next_number;
        heap.next_number += 1;
        heap.set.insert((until, number), waker);
        let sooner = heap.next_look.is_none_or(|look| until < look);
        if sooner {
            heap.next_look = Some(until);
        }
        drop(heap);
        if sooner {
            self.sooner.notify_one();
        }
        number
    }

    /// Has an alarm wake `waker` from now on. `false` if it has rung.
    fn reset(&self, until: Instant, number: u64, waker: &Waker) -> bool {
        // Cloned before and dropped after the mutex is held: it may be of somebody's own making.
        let mut waker = waker.clone();
        let mut heap = self.heap();
        let set = heap.set.get_mut(&(until, number));
        let is_set = set.map(|set| std::mem::swap(set, &mut waker)).is_some();
        drop(heap);
        drop(waker);
        is_set
    }

    /// Takes an alarm down.
    fn unset(&self, until: Instant, number: u64) {
        let Some(mut heap) = lock_unless_forked(&self.heap, self.process) else {
            return;
        };
        let waker = heap.set.remove(&(until, number));
        drop(heap);
        drop(waker);
    }

    fn heap(&self) -> MutexGuard<'_, TimerHeap> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Timers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alarms").finish_non_exhaustive()
    }
}

pin_project_lite::pin_project! {
    /// A future with an alarm. By hand, since an async function would have room for the future twice,
    /// and the client library's take a kilobyte.
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

/// One alarm, put up when it is first polled and taken down when it is dropped.
#[derive(Debug)]
#[must_use = "an alarm does nothing unless it is polled"]
pub(crate) struct Timer<'a> {
    timers: &'a Timers,
    until: Instant,
    set: Option<u64>,
}

impl Future for Timer<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // No look at the clock: most are never rung, and the keeper rings at once what is late.
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
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::Wake;
    use std::time::Duration;

    use super::*;
    use crate::background::Background;

    const SHORT: Duration = Duration::from_millis(30);
    const LONG: Duration = Duration::from_secs(60);

    #[derive(Default)]
    struct WakeState(AtomicU32);

    impl Wake for WakeState {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Polls an alarm once, and says how often it has woken anybody since.
    fn poll(timer: Pin<&mut Timer<'_>>, wake_state: &Arc<WakeState>) -> Poll<()> {
        let waker = Waker::from(wake_state.clone());
        timer.poll(&mut Context::from_waker(&waker))
    }

    fn rung(wake_state: &Arc<WakeState>) -> u32 {
        wake_state.0.load(Ordering::SeqCst)
    }

    #[test]
    fn alarms_ring_in_time_for_callers_without_a_runtime() {
        let background = Background::get().unwrap();
        let timers = background.timers();
        let begun = Instant::now();
        pollster::block_on(timers.sleep_until(begun + SHORT));
        assert!(begun.elapsed() >= SHORT);

        let never = timers.timeout_at(begun + 2 * SHORT, std::future::pending::<()>());
        assert!(pollster::block_on(never).is_err());
        assert!(begun.elapsed() >= 2 * SHORT);
        assert!(begun.elapsed() < LONG);
    }

    #[test]
    fn an_earlier_alarm_rings_before_one_that_the_keeper_sleeps_for() {
        let background = Background::get().unwrap();
        let timers = background.timers();
        let begun = Instant::now();
        let mut late = pin!(timers.sleep_until(begun + LONG));
        let wake_state = Arc::new(WakeState::default());
        assert!(poll(late.as_mut(), &wake_state).is_pending());
        pollster::block_on(timers.sleep_until(begun + SHORT));
        assert!(begun.elapsed() < LONG);
        assert_eq!(rung(&wake_state), 0, "its time has not come");
    }

    #[tokio::test(start_paused = true)]
    async fn alarms_go_by_the_real_clock() {
        let background = Background::get().unwrap();
        let begun = Instant::now();
        background.timers().sleep_until(begun + SHORT).await;
        assert!(begun.elapsed() >= SHORT);
    }

    #[test]
    fn what_has_come_counts_however_late() {
        let timers = Timers::new();
        let over = Instant::now();
        let answer = pollster::block_on(timers.timeout_at(over, async { 42 }));
        assert_eq!(answer.unwrap(), 42);
    }

    #[tokio::test]
    async fn what_has_come_counts_when_the_budget_of_a_task_is_used_up() {
        let timers = Timers::new();
        let over = Instant::now();
        while tokio::task::coop::has_budget_remaining() {
            tokio::task::coop::consume_budget().await;
        }
        let (sender, answer) = tokio::sync::oneshot::channel();
        sender.send(42).unwrap();
        let mut late = pin!(timers.timeout_at(over, answer));
        let waker = Waker::noop();
        let Poll::Ready(answer) = late.as_mut().poll(&mut Context::from_waker(waker)) else {
            panic!("it has come");
        };
        assert_eq!(answer.unwrap(), Ok(42));
    }

    #[test]
    fn the_keeper_is_told_of_earlier_alarms_alone() {
        let timers = Timers::new();
        let now = Instant::now();
        let told = || {
            let mut told = pin!(timers.sooner.notified());
            told.as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_ready()
        };
        let wake_state = Arc::new(WakeState::default());
        let mut first = Box::pin(timers.sleep_until(now + LONG));
        assert!(poll(first.as_mut(), &wake_state).is_pending());
        assert!(told(), "it planned nothing");
        for seconds in 0..100 {
            let until = now + LONG + Duration::from_secs(seconds);
            let mut later = pin!(timers.sleep_until(until));
            assert!(poll(later.as_mut(), &wake_state).is_pending());
        }
        assert!(!told(), "it looks before that");
        drop(first);
        let mut after = pin!(timers.sleep_until(now + 2 * LONG));
        assert!(poll(after.as_mut(), &wake_state).is_pending());
        assert!(!told(), "it finds out by itself that the first is gone");
        assert_eq!(timers.fire(now + LONG), Some(now + 2 * LONG));
        let mut sooner = pin!(timers.sleep_until(now + SHORT));
        assert!(poll(sooner.as_mut(), &wake_state).is_pending());
        assert!(told());
        assert_eq!(rung(&wake_state), 0);
    }

    #[test]
    fn an_alarm_wakes_whoever_polled_it_last_and_nobody_once_it_is_dropped() {
        let timers = Timers::new();
        let now = Instant::now();
        let (first, last, gone) = <(Arc<WakeState>, Arc<WakeState>, Arc<WakeState>)>::default();
        let mut timer = pin!(timers.sleep_until(now + LONG));
        assert!(poll(timer.as_mut(), &first).is_pending());
        assert!(poll(timer.as_mut(), &last).is_pending());
        {
            let mut dropped = pin!(timers.sleep_until(now + LONG));
            assert!(poll(dropped.as_mut(), &gone).is_pending());
        }
        assert_eq!(timers.fire(now + LONG - SHORT), Some(now + LONG));
        assert_eq!(timers.fire(now + LONG), None);
        assert_eq!((rung(&first), rung(&last), rung(&gone)), (0, 1, 0));
        assert!(timers.heap().set.is_empty());
    }

    #[test]
    fn a_waker_that_panics_keeps_nobody_asleep() {
        struct Angry;
        impl Wake for Angry {
            fn wake(self: Arc<Self>) {
                std::panic::resume_unwind(Box::new("somebody's own waker"));
            }
        }
        let timers = Timers::new();
        let until = Instant::now() + LONG;
        let angry = Waker::from(Arc::new(Angry));
        let wake_state = Arc::new(WakeState::default());
        let (mut first, mut second) = (
            pin!(timers.sleep_until(until)),
            pin!(timers.sleep_until(until)),
        );
        let polled = first.as_mut().poll(&mut Context::from_waker(&angry));
        assert!(polled.is_pending());
        assert!(poll(second.as_mut(), &wake_state).is_pending());
        timers.fire(until);
        assert_eq!(rung(&wake_state), 1);
    }
}
