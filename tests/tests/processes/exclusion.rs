//! Many processes with many tasks each: one at a time, and each its share.

use std::time::Duration;

use harness::{History, PATIENCE};

use crate::scene::{KEY, Scene, acquire, token};

const PROCESSES: usize = 4;
const TASKS: usize = 8;
const TTL: Duration = Duration::from_secs(30);

#[test]
fn processes_with_many_tasks_lose_no_update_and_get_equal_shares() {
    let scene = Scene::new();
    let mut workers: Vec<_> = (0..PROCESSES).map(|_| scene.worker()).collect();
    // So that all of them are connected when the race begins.
    for worker in &mut workers {
        token(&worker.ask(&acquire(TTL), PATIENCE));
        assert_eq!(worker.ask("release", PATIENCE), "ok");
    }
    for worker in &mut workers {
        worker.send(&format!("hammer {KEY} 30000 20000 {TASKS} 3000"));
    }
    let shares: Vec<usize> = workers
        .iter()
        .map(|worker| visits(&worker.line(PATIENCE).expect("a tally")))
        .collect();

    let entries = History::of(KEY).read(&mut scene.server.connection());
    assert_eq!(entries.len(), shares.iter().sum(), "updates are missing");
    History::assert_exclusive(&entries);
    let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
    assert!(*least >= 20, "too few to speak of shares: {shares:?}");
    assert!(most * 2 <= least * 3, "unequal shares: {shares:?}");
}

/// The visits of a hammer without any failure.
#[track_caller]
fn visits(tally: &str) -> usize {
    match tally.strip_prefix("hammered ").map(str::parse) {
        Some(Ok(visits)) => visits,
        _ => panic!("failures: {tally}"),
    }
}
