use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Wake;
use std::time::Duration;

use super::*;
use crate::backend::redis::block_on;
use crate::background::Background;

const SHORT: Duration = Duration::from_millis(30);
const LONG: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Wakes(AtomicU32);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Polls a timer once; `wakes` counts how often it fires from then on.
fn poll(timer: Pin<&mut Timer<'_>>, wakes: &Arc<Wakes>) -> Poll<()> {
    let waker = Waker::from(wakes.clone());
    timer.poll(&mut Context::from_waker(&waker))
}

fn fired(wakes: &Arc<Wakes>) -> u32 {
    wakes.0.load(Ordering::SeqCst)
}

#[test]
fn timer_fires_for_caller_without_a_runtime() {
    let background = Background::get().unwrap();
    let timers = background.timers();
    let begun = Instant::now();
    block_on(timers.sleep_until(begun + SHORT));
    assert!(begun.elapsed() >= SHORT);

    let never = timers.timeout_at(begun + 2 * SHORT, std::future::pending::<()>());
    assert!(block_on(never).is_err());
    assert!(begun.elapsed() >= 2 * SHORT);
    assert!(begun.elapsed() < LONG);
}

#[test]
fn earlier_timer_fires_before_a_timer_that_was_set_first() {
    let background = Background::get().unwrap();
    let timers = background.timers();
    let begun = Instant::now();
    let mut late = pin!(timers.sleep_until(begun + LONG));
    let wakes = Arc::new(Wakes::default());
    assert!(poll(late.as_mut(), &wakes).is_pending());
    block_on(timers.sleep_until(begun + SHORT));
    assert!(begun.elapsed() < LONG);
    assert_eq!(fired(&wakes), 0, "its time has not come");
}

#[tokio::test(start_paused = true)]
async fn timer_ignores_paused_time() {
    let background = Background::get().unwrap();
    let begun = Instant::now();
    background.timers().sleep_until(begun + SHORT).await;
    assert!(begun.elapsed() >= SHORT);
}

#[test]
fn ready_result_wins_after_the_deadline() {
    let timers = Timers::new();
    let over = Instant::now();
    let answer = block_on(timers.timeout_at(over, async { 42 }));
    assert_eq!(answer.unwrap(), 42);
}

#[tokio::test]
async fn ready_result_wins_when_the_budget_of_the_task_is_used_up() {
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
        panic!("the result is there");
    };
    assert_eq!(answer.unwrap(), Ok(42));
}

#[test]
fn background_is_woken_only_for_earlier_timers() {
    let timers = Timers::new();
    let now = Instant::now();
    let is_woken = || {
        let mut woken = pin!(timers.earlier.notified());
        woken
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_ready()
    };
    let wakes = Arc::new(Wakes::default());
    let mut first = Box::pin(timers.sleep_until(now + LONG));
    assert!(poll(first.as_mut(), &wakes).is_pending());
    assert!(is_woken(), "no check was planned");
    for seconds in 0..100 {
        let until = now + LONG + Duration::from_secs(seconds);
        let mut later = pin!(timers.sleep_until(until));
        assert!(poll(later.as_mut(), &wakes).is_pending());
    }
    assert!(!is_woken(), "the next check is before that");
    drop(first);
    let mut after = pin!(timers.sleep_until(now + 2 * LONG));
    assert!(poll(after.as_mut(), &wakes).is_pending());
    assert!(
        !is_woken(),
        "the next check finds that the first was dropped"
    );
    assert!(timers.fire(now + LONG) >= Some(now + 2 * LONG));
    let mut earlier = pin!(timers.sleep_until(now + SHORT));
    assert!(poll(earlier.as_mut(), &wakes).is_pending());
    assert!(is_woken());
    assert_eq!(fired(&wakes), 0);
}

#[test]
fn timer_wakes_the_last_waker_and_nothing_once_it_is_dropped() {
    let timers = Timers::new();
    let now = Instant::now();
    let (first, last, gone) = <(Arc<Wakes>, Arc<Wakes>, Arc<Wakes>)>::default();
    let mut timer = pin!(timers.sleep_until(now + LONG));
    assert!(poll(timer.as_mut(), &first).is_pending());
    assert!(poll(timer.as_mut(), &last).is_pending());
    {
        let mut dropped = pin!(timers.sleep_until(now + LONG));
        assert!(poll(dropped.as_mut(), &gone).is_pending());
    }
    let check = timers.fire(now + LONG - SHORT).expect("one is set");
    assert!(check >= now + LONG && check <= now + LONG + SHORT);
    assert_eq!(fired(&last), 0);
    assert_eq!(timers.fire(check), None);
    assert_eq!((fired(&first), fired(&last), fired(&gone)), (0, 1, 0));
    assert!(timers.heap.lock().by_tick.is_empty());
}

#[test]
fn panicking_waker_does_not_stop_the_next_timer() {
    struct Panicking;
    impl Wake for Panicking {
        fn wake(self: Arc<Self>) {
            std::panic::resume_unwind(Box::new("on purpose"));
        }
    }
    let timers = Timers::new();
    let until = Instant::now() + LONG;
    let panicking = Waker::from(Arc::new(Panicking));
    let wakes = Arc::new(Wakes::default());
    let (mut first, mut second) = (
        pin!(timers.sleep_until(until)),
        pin!(timers.sleep_until(until)),
    );
    let polled = first.as_mut().poll(&mut Context::from_waker(&panicking));
    assert!(polled.is_pending());
    assert!(poll(second.as_mut(), &wakes).is_pending());
    timers.fire(until + SHORT);
    assert_eq!(fired(&wakes), 1);
}

/// The second timer is set for a time that has passed.
#[test]
fn fired_timer_does_not_replace_a_later_timer() {
    let timers = Timers::new();
    let over = Instant::now();
    let (fired_before, set_after) = <(Arc<Wakes>, Arc<Wakes>)>::default();
    let mut first = Box::pin(timers.sleep_until(over));
    assert!(poll(first.as_mut(), &fired_before).is_pending());
    timers.fire(over + SHORT);
    assert_eq!(fired(&fired_before), 1);
    let mut second = pin!(timers.sleep_until(over));
    assert!(poll(second.as_mut(), &set_after).is_pending());
    assert!(poll(first.as_mut(), &fired_before).is_ready());
    drop(first);
    timers.fire(over + 2 * SHORT);
    assert_eq!(fired(&set_after), 1);
}

#[test]
fn dropped_timers_leave_nothing_behind() {
    let timers = Timers::new();
    let wakes = Arc::new(Wakes::default());
    let until = Instant::now() + LONG;
    for round in 0..100 {
        let both = [0, round].map(|millis| {
            let mut timer = Box::pin(timers.sleep_until(until + Duration::from_millis(millis)));
            assert!(poll(timer.as_mut(), &wakes).is_pending());
            timer
        });
        drop(both);
    }
    let heap = timers.heap.lock();
    assert!(heap.by_tick.is_empty());
    assert!(heap.spare.len() <= MAX_SPARE);
    assert!(heap.spare.iter().all(Vec::is_empty));
}
