//! SIGTERM: a service that shuts its client down leaves no lock to its ttl.

use std::time::{Duration, Instant};

use harness::{KEY, PATIENCE, SLACK, Worker, ran_since, wait_until};

use crate::scene::{Scene, is_held};

const SERVICE: &str = env!("CARGO_BIN_EXE_lock-service");

/// Longer than any step of these tests takes; only a failing test waits for it.
const TTL: Duration = Duration::from_secs(30);

/// The locks that one service holds.
const HELD: [&str; 3] = [KEY, "order:43", "order:44"];

/// A service inside all of its locks: it works for `body` ms, and may finish within `grace` ms.
fn service(scene: &Scene, grace: &str, body: &str) -> Worker {
    let url = scene.server.url();
    let service = Worker::spawn(SERVICE, &[&[&*url, grace, body], &HELD[..]].concat());
    let mut entered: Vec<_> = HELD.map(|_| line(&service)).to_vec();
    entered.sort();
    assert_eq!(entered, HELD.map(|key| format!("entered {key}")));
    service
}

fn line(service: &Worker) -> String {
    service.line(PATIENCE).expect("it reports its progress")
}

/// The lines about its calls, until it has shut down.
fn last_words(service: &mut Worker) -> Vec<String> {
    let mut words: Vec<_> = HELD.map(|_| line(service)).to_vec();
    assert_eq!(line(service), "down");
    let status = service.ended(PATIENCE);
    assert!(status.success(), "{status}");
    words.sort();
    words
}

fn locks(scene: &mut Scene) -> Vec<String> {
    scene.lock.command(&["KEYS", "lock:*"])
}

/// Terminates a service while another process waits for one of its locks. Returns how long it took until that process
/// had the lock.
fn terminated(grace: &str, body: &str, outcome: &str) -> Duration {
    let mut scene = Scene::new();
    let mut service = service(&scene, grace, body);
    let next = scene.waiter(TTL);
    service.terminate();
    let began = Instant::now();
    let outcomes = HELD.map(|key| format!("{key} {outcome}"));
    assert_eq!(last_words(&mut service), outcomes);
    is_held(&line(&next));
    let took = ran_since(began);
    assert_eq!(locks(&mut scene), ["lock:order:42"], "the next one's");
    took
}

#[test]
fn a_terminated_service_finishes_its_work_and_frees_its_locks() {
    terminated("20000", "3000", "finished");
}

#[test]
fn work_that_outlasts_the_grace_is_ended_and_its_locks_are_freed() {
    let took = terminated("100", "60000", "failed Lost");
    assert!(took < SLACK * 2, "{took:?}");
}

#[test]
fn a_terminated_waiter_leaves_the_queue() {
    let mut scene = Scene::new();
    let _holder = scene.holder(TTL);
    let url = scene.server.url();
    let mut waiter = Worker::spawn(SERVICE, &[&url, "100", "0", KEY]);
    wait_until("waiter in the queue", PATIENCE, || {
        scene.lock.queue().len() == 1
    });
    waiter.terminate();
    assert_eq!(line(&waiter), format!("{KEY} failed Shutdown"));
    assert_eq!(line(&waiter), "down");
    assert_eq!(scene.lock.queue(), "", "before its heartbeat is over");
    assert!(waiter.ended(PATIENCE).success());
}
