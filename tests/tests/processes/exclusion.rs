//! Many processes with many tasks each: only one is inside at a time, and the shares are fair.

use std::collections::BTreeMap;
use std::time::Duration;

use harness::{Entry, History, KEY, PATIENCE, Worker, ask, wait_until};

use crate::scene::{Scene, acquire, is_held};

const PROCESSES: usize = 4;
const TASKS: usize = 8;
const TTL: Duration = Duration::from_secs(30);

/// Visits of all processes together, once all take part.
const STAYS: usize = PROCESSES * 6;

/// The key that ends the race.
const END: &str = "end";

#[test]
fn processes_with_many_tasks_lose_no_update_and_get_equal_shares() {
    let scene = Scene::new();
    let mut workers: Vec<_> = (0..PROCESSES).map(|_| scene.worker()).collect();
    // All processes are connected when the race begins.
    for worker in &mut workers {
        is_held(&worker.ask(&acquire(TTL), PATIENCE));
        assert_eq!(worker.ask("release", PATIENCE), "ok");
    }
    for worker in &mut workers {
        worker.send(&format!("hammer-until {KEY} 30000 60000 {TASKS} {END}"));
    }
    let mut resource = scene.server.connection();
    let history = History::of(KEY);
    let mut shares = vec![0; PROCESSES];
    wait_until("stays of all processes", PATIENCE * 6, || {
        shares = stays(&history.read(&mut resource));
        shares.iter().sum::<usize>() >= STAYS
    });
    ask::<()>(&mut resource, &["SET", END, "1"]);
    let visits: usize = workers.iter().map(Worker::hammered).sum();

    let entries = history.read(&mut resource);
    assert_eq!(entries.len(), visits, "updates are missing");
    History::assert_exclusive(&entries);
    let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
    assert!(*most <= least * 2, "unequal shares: {shares:?}");
}

/// How often each process got in, once all take part. The machine decides how long a visit takes, and the queue how
/// often a process gets in.
fn stays(entries: &[Entry]) -> Vec<usize> {
    let mut stays = BTreeMap::new();
    let mut last = None;
    for entry in entries {
        let process = entry.process();
        if last.replace(process) == Some(process) {
            continue;
        }
        let all = stays.len() == PROCESSES;
        let stays = stays.entry(process).or_insert(0);
        *stays += usize::from(all);
    }
    stays.into_values().collect()
}
