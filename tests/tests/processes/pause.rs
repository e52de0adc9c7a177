//! SIGSTOP: a process that stands still does not know that time goes by.

use std::time::{Duration, Instant};

use harness::{PATIENCE, wait_until};

use crate::scene::{CLAIM, SLACK, Scene, TTL, served, token};

const LONG: Duration = Duration::from_secs(30);

#[test]
fn a_holder_that_slept_past_its_lease_knows_and_harms_nobody() {
    let mut scene = Scene::new();
    let (mut sleeper, first) = scene.holder(TTL);
    let mut next = scene.waiter(LONG);
    assert_eq!(sleeper.ask("valid", PATIENCE), "true");
    assert_eq!(sleeper.ask("look", PATIENCE), "looked");

    sleeper.stop();
    let end = scene.lease_end();
    let second = served(&next, PATIENCE);
    assert!(Instant::now() >= end, "the lease was not respected");
    assert!(second > first);
    assert_eq!(next.ask("look", PATIENCE), "looked");
    assert_eq!(next.ask("write", PATIENCE), "written");

    sleeper.cont();
    assert_eq!(sleeper.ask("valid", PATIENCE), "false");
    let stale = sleeper.ask("write", PATIENCE);
    assert_eq!(stale, "stale", "the resource refuses the older token");
    let refused = sleeper.ask("renew", PATIENCE);
    assert!(refused.starts_with("failed Lost "), "{refused}");
    let refused = sleeper.ask("release", PATIENCE);
    assert!(refused.starts_with("failed Lost "), "{refused}");

    // The lock is still the next one's, whatever the sleeper sent.
    assert!(scene.is_held_by(&next));
    assert_eq!(next.ask("valid", PATIENCE), "true");
    assert_eq!(next.ask("renew", PATIENCE), "ok");
    assert_eq!(next.ask("look", PATIENCE), "looked");
    assert_eq!(next.ask("write", PATIENCE), "written");
    assert_eq!(next.ask("release", PATIENCE), "ok");
}

/// Nobody took the lock meanwhile. It is lost all the same: nobody can know what happened.
#[test]
fn a_holder_that_slept_past_its_lease_does_not_take_it_up_again() {
    let mut scene = Scene::new();
    let (mut sleeper, first) = scene.holder(TTL);
    sleeper.stop();
    wait_until("end of the lease", PATIENCE, || {
        scene.lock.value().is_none()
    });
    sleeper.cont();
    assert_eq!(sleeper.ask("valid", PATIENCE), "false");
    let refused = sleeper.ask("release", PATIENCE);
    assert!(refused.starts_with("failed Lost "), "{refused}");
    assert_eq!(scene.lock.value(), None, "a renewal made the lock again");
    let (_next, second) = scene.holder(TTL);
    assert!(second > first);
}

#[test]
fn a_waiter_that_sleeps_costs_one_claim_and_waits_again_when_it_wakes() {
    let mut scene = Scene::new();
    let (mut holder, _) = scene.holder(LONG);
    let mut sleeper = scene.waiter(LONG);
    let mut next = scene.waiter(LONG);
    sleeper.stop();

    let released = Instant::now();
    assert_eq!(holder.ask("release", PATIENCE), "ok");
    assert!(scene.is_held_by(&sleeper), "it is first in the queue");
    let claim = scene.lease_end();
    let token = served(&next, PATIENCE);
    assert!(Instant::now() >= claim, "the claim was not respected");
    assert!(
        released.elapsed() < CLAIM + SLACK,
        "{:?}",
        released.elapsed()
    );

    // The grant that it finds on waking is not its own any more.
    sleeper.cont();
    wait_until("sleeper in the queue", PATIENCE, || {
        scene.lock.queue().len() == 1
    });
    assert!(scene.is_held_by(&next));
    assert_eq!(next.ask("release", PATIENCE), "ok");
    assert!(served(&sleeper, PATIENCE) > token);
    assert_eq!(sleeper.ask("release", PATIENCE), "ok");
}

/// It was served after its time: it takes the lock or declines it, but does not sit on it.
#[test]
fn a_waiter_that_wakes_after_its_time_passes_the_lock_on() {
    const WAIT: Duration = Duration::from_millis(500);
    let mut scene = Scene::new();
    let (mut holder, _) = scene.holder(LONG);
    let started = Instant::now();
    let mut sleeper = scene.waiter_within(LONG, WAIT);
    // Before its time is over, of which the start of another process may be most. It stays in the queue.
    sleeper.stop();
    let next = scene.waiter(LONG);
    wait_until("end of its time", PATIENCE, || {
        started.elapsed() > WAIT + SLACK
    });

    assert_eq!(holder.ask("release", PATIENCE), "ok");
    assert!(scene.is_held_by(&sleeper), "it is first in the queue");
    let claim = scene.lease_end();
    sleeper.cont();
    let answer = sleeper.line(PATIENCE).expect("an answer");
    if !answer.starts_with("failed Busy ") {
        token(&answer);
        assert_eq!(sleeper.ask("release", PATIENCE), "ok");
    }
    served(&next, PATIENCE);
    assert!(Instant::now() < claim, "it sat on its claim");
}
