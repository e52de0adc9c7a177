//! Processes of an older version, which knows nothing of shares, beside readers, writers and permits of this
//! one: no two are inside that exclude each other, and all are served.
//!
//! That the older client hands the lock on to readers is a row of the fault table.

use std::time::{Duration, Instant};

use harness::{Entry, History, KEY, PATIENCE, SLACK, Worker, wait_until};

use crate::scene::{Scene, acquire, acquire_within, is_held};

const TTL: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_secs(1);

/// The time in which a waiter has to confirm its grant.
const CLAIM: Duration = Duration::from_millis(1_500);

/// Each way to hold a lock.
const MODES: &[&str] = &["plain", "write", "read", "permits 3 take 2"];

impl Scene {
    /// A process of the older version.
    fn older(&self) -> Worker {
        let (locks, resource) = (self.server.url(), self.server.admin_url());
        let arguments = [&locks, &resource, "older"];
        Worker::spawn(env!("CARGO_BIN_EXE_lock-worker"), &arguments)
    }

    /// A process of this version, whose calls hold the lock in this mode.
    fn worker_in(&self, mode: &str) -> Worker {
        let mut worker = self.worker();
        worker.ask_mode(mode);
        worker
    }

    /// Has a process wait for the lock, at the tail of the queue.
    fn queued(&mut self, mut worker: Worker, within: Duration) -> Worker {
        let before = self.lock.queue().len();
        worker.send(&acquire_within(TTL, within));
        wait_until("waiter in the queue", PATIENCE, || {
            self.lock.queue().len() == before + 1
        });
        worker
    }
}

/// Has a process acquire the lock.
fn hold(mut worker: Worker, ttl: Duration) -> Worker {
    is_held(&worker.ask(&acquire(ttl), PATIENCE));
    worker
}

/// Asserts that a waiter is granted the lock not long after `since`.
#[track_caller]
fn is_granted_by(worker: &Worker, since: Instant, limit: Duration) {
    is_held(&worker.line(PATIENCE).expect("an answer"));
    let took = since.elapsed();
    assert!(took < limit + SLACK, "after {took:?}");
}

#[track_caller]
fn release(worker: &mut Worker) {
    assert_eq!(worker.ask("release", PATIENCE), "ok");
}

#[test]
fn older_waiter_goes_in_after_the_last_reader_and_before_the_next() {
    let mut scene = Scene::new();
    let mut readers = [(); 2].map(|()| hold(scene.worker_in("read"), TTL));
    let older = scene.older();
    let mut older = scene.queued(older, PATIENCE);
    let late = scene.worker_in("read");
    let late = scene.queued(late, PATIENCE);
    release(&mut readers[0]);
    assert_eq!(older.line(Duration::ZERO), None, "a reader is inside");
    release(&mut readers[1]);
    is_granted_by(&older, Instant::now(), Duration::ZERO);
    assert_eq!(late.line(Duration::ZERO), None, "the older is inside");
    release(&mut older);
    is_granted_by(&late, Instant::now(), Duration::ZERO);
}

#[test]
fn older_waiter_polls_a_lock_whose_readers_are_dead() {
    let mut scene = Scene::new();
    let mut reader = hold(scene.worker_in("read"), SHORT);
    let older = scene.older();
    let older = scene.queued(older, PATIENCE);
    reader.kill9();
    let killed = Instant::now();
    let end = scene.lock.lease_end();
    is_granted_by(&older, killed, SHORT);
    assert!(Instant::now() >= end, "the lease was not respected");
}

#[test]
fn older_newcomer_does_not_overtake_a_waiting_permit() {
    let mut scene = Scene::new();
    let mut older = hold(scene.older(), TTL);
    let permit = scene.worker_in("permits 2");
    let mut permit = scene.queued(permit, PATIENCE);
    let newcomer = scene.older();
    let newcomer = scene.queued(newcomer, PATIENCE);
    release(&mut older);
    is_granted_by(&permit, Instant::now(), Duration::ZERO);
    assert_eq!(newcomer.line(Duration::ZERO), None, "a permit is taken");
    release(&mut permit);
    is_granted_by(&newcomer, Instant::now(), Duration::ZERO);
}

#[test]
fn older_waiter_that_gives_up_leaves_the_readers_behind_it_in_front() {
    let mut scene = Scene::new();
    let _reader = hold(scene.worker_in("read"), TTL);
    let older = scene.older();
    let older = scene.queued(older, Duration::from_millis(500));
    let late = scene.worker_in("read");
    let late = scene.queued(late, PATIENCE);
    let busy = older.line(PATIENCE).expect("an answer");
    let left = Instant::now();
    assert!(busy.starts_with("failed Busy "), "{busy}");
    // The older version serves none of them as it leaves: the reader polls.
    is_granted_by(&late, left, Duration::from_secs(1));
}

#[test]
fn readers_that_give_up_are_in_no_older_waiters_way() {
    let mut scene = Scene::new();
    let mut holder = hold(scene.older(), TTL);
    let reader = scene.worker_in("read");
    let reader = scene.queued(reader, Duration::from_millis(500));
    let next = scene.older();
    let next = scene.queued(next, PATIENCE);
    let busy = reader.line(PATIENCE).expect("an answer");
    assert!(busy.starts_with("failed Busy "), "{busy}");
    wait_until("end of the reader", PATIENCE, || {
        scene.lock.queue().len() == 1
    });
    release(&mut holder);
    is_granted_by(&next, Instant::now(), Duration::ZERO);
}

/// In both directions: the claim is written by the scripts of one version and ends for the other.
#[test]
fn claim_of_a_paused_waiter_ends_for_the_other_version() {
    for (sleeps, next) in [("read", None), ("older", Some("read"))] {
        let mut scene = Scene::new();
        let worker = |scene: &Scene, mode: Option<&str>| match mode {
            None | Some("older") => scene.older(),
            Some(mode) => scene.worker_in(mode),
        };
        let mut holder = hold(worker(&scene, next), TTL);
        let sleeper = worker(&scene, Some(sleeps));
        let mut sleeper = scene.queued(sleeper, PATIENCE);
        let waiting = worker(&scene, next);
        let mut waiting = scene.queued(waiting, PATIENCE);
        sleeper.stop();
        release(&mut holder);
        let released = Instant::now();
        let is_granted = scene.lock.is_held_by(&sleeper);
        assert!(is_granted, "it is first in the queue");
        is_granted_by(&waiting, released, CLAIM);
        sleeper.cont();
        wait_until("return to the queue", PATIENCE, || {
            scene.lock.queue().len() == 1
        });
        release(&mut waiting);
        is_held(&sleeper.line(PATIENCE).expect("an answer"));
        release(&mut sleeper);
    }
}

#[test]
fn older_processes_and_shares_are_never_inside_at_once() {
    let scene = Scene::new();
    let this_version = MODES.iter().map(|mode| scene.worker_in(mode));
    let mut workers: Vec<_> = this_version
        .chain([(); 2].map(|()| scene.older()))
        .collect();
    for worker in &mut workers {
        worker.ask("idle", PATIENCE);
    }
    for worker in &mut workers {
        worker.send(&format!("hammer {KEY} 30000 20000 2 3000"));
    }
    for worker in &workers {
        let tally = worker.line(PATIENCE * 2).expect("a tally");
        let visits = tally.strip_prefix("hammered ").map(str::parse::<u64>);
        assert!(matches!(visits, Some(Ok(1..))), "{tally}");
    }
    let entries = History::of(KEY).read(&mut scene.server.connection());
    assert_eq!(History::double_entries(&entries), Vec::<&Entry>::new());
    assert_eq!(History::overfull_entries(&entries), []);
    let fallen = entries
        .windows(2)
        .find(|pair| pair[0].token > pair[1].token);
    assert_eq!(fallen, None, "tokens fell");
}
