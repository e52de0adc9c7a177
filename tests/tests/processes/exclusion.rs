//! Many processes with many tasks each: one at a time, and each its share.

use std::time::Duration;

use harness::{Entry, History, PATIENCE};

use crate::scene::{KEY, Scene, acquire, token};

const PROCESSES: usize = 4;
const TASKS: usize = 8;
const TTL: Duration = Duration::from_secs(30);

/// Of all processes together: enough for six stays of each, of sixteen visits at most.
const VISITS: usize = PROCESSES * 6 * 16;

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
        worker.send(&format!("hammer-up-to {KEY} 30000 60000 {TASKS} {VISITS}"));
    }
    let visits: usize = workers
        .iter()
        .map(|worker| visits(&worker.line(PATIENCE * 6).expect("a tally")))
        .sum();

    let entries = History::of(KEY).read(&mut scene.server.connection());
    assert_eq!(entries.len(), visits, "updates are missing");
    History::assert_exclusive(&entries);
    let stays = stays(&entries);
    let shares = workers.iter().map(|worker| {
        let pid = worker.pid().to_string();
        stays.iter().filter(|writer| **writer == pid).count()
    });
    let shares: Vec<usize> = shares.collect();
    let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
    assert!(*least >= 3, "too few to speak of shares: {shares:?}");
    assert!(*most <= least * 2, "unequal shares: {shares:?}");
}

/// Who was inside, each as often as it came in, from where all of them take part. How long a process
/// takes for a visit is up to the machine, and in how much of its time it gets it done; how often it
/// comes in is up to the queue.
fn stays(entries: &[Entry]) -> Vec<&str> {
    let mut stays: Vec<&str> = entries.iter().map(|entry| &entry.writer[..]).collect();
    stays.dedup();
    let all = (0..stays.len()).find(|&end| {
        let mut writers = stays[..end].to_vec();
        writers.sort_unstable();
        writers.dedup();
        writers.len() == PROCESSES
    });
    stays.split_off(all.expect("all of them have been inside"))
}

/// The visits of a hammer without any failure.
#[track_caller]
fn visits(tally: &str) -> usize {
    match tally.strip_prefix("hammered ").map(str::parse) {
        Some(Ok(visits)) => visits,
        _ => panic!("failures: {tally}"),
    }
}
