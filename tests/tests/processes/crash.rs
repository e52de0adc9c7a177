//! kill -9 of the holder, and of those who wait.

use std::time::{Duration, Instant};

use harness::{PATIENCE, Worker, wait_until};

use crate::scene::{SLACK, Scene, TTL, acquire, served, token};

const LONG: Duration = Duration::from_secs(30);

#[test]
fn a_killed_holder_is_followed_by_its_waiter_when_its_lease_ends() {
    let mut scene = Scene::new();
    let (mut holder, first) = scene.holder(TTL);
    let waiter = scene.waiter(TTL);

    holder.kill9();
    let killed = Instant::now();
    let end = scene.lease_end();
    let second = served(&waiter, PATIENCE);
    assert!(Instant::now() >= end, "the lease was not respected");
    assert!(killed.elapsed() <= TTL + SLACK, "{:?}", killed.elapsed());
    assert!(second > first);
}

#[test]
fn a_killed_holder_is_followed_by_whoever_comes_later() {
    let mut scene = Scene::new();
    let (mut holder, first) = scene.holder(TTL);
    holder.kill9();
    let killed = Instant::now();
    let end = scene.lease_end();
    let (mut next, second) = scene.holder(TTL);
    assert!(Instant::now() >= end, "the lease was not respected");
    assert!(killed.elapsed() <= TTL + SLACK, "{:?}", killed.elapsed());
    assert!(second > first);
    assert_eq!(next.ask("release", PATIENCE), "ok");
}

#[test]
fn a_killed_waiter_is_skipped() {
    killed_waiters_are_skipped(1);
}

#[test]
fn ten_killed_waiters_are_skipped_and_cost_no_claim_each() {
    killed_waiters_are_skipped(10);
}

fn killed_waiters_are_skipped(dead: usize) {
    let mut scene = Scene::new();
    let (mut holder, first) = scene.holder(LONG);
    let mut killed: Vec<_> = (0..dead).map(|_| scene.waiter(LONG)).collect();
    let mut waiter = scene.waiter(LONG);
    killed.iter_mut().for_each(Worker::kill9);
    scene.wait_for_processes(2);
    assert_eq!(scene.lock.queue().len(), dead + 1, "the dead do not leave");

    assert_eq!(holder.ask("release", PATIENCE), "ok");
    assert!(scene.is_held_by(&waiter), "the release itself serves it");
    assert!(served(&waiter, PATIENCE) > first);
    assert_eq!(waiter.ask("release", PATIENCE), "ok");
}

#[test]
fn killed_waiters_leave_nothing_behind() {
    let mut scene = Scene::new();
    let (mut holder, _) = scene.holder(LONG);
    let mut dead = [scene.waiter(LONG), scene.waiter(LONG)];
    dead.iter_mut().for_each(Worker::kill9);
    scene.wait_for_processes(1);
    assert_eq!(holder.ask("release", PATIENCE), "ok");
    wait_until("forgotten queue", PATIENCE, || {
        scene.lock.queue().is_empty()
    });
    // The next one finds the lock free, and nobody before it.
    token(&holder.ask(&acquire(LONG), PATIENCE));
    assert_eq!(holder.ask("release", PATIENCE), "ok");
    assert_eq!(scene.lock.value(), None);
}
