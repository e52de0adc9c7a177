//! Another program that locks the same key with its own `SET NX PX` and compare-and-delete.

use std::time::{Duration, Instant};

use harness::{Entry, History, KEY, PATIENCE, RawLock, ran_since};

use crate::scene::{Scene, acquire, is_held};

const TTL: Duration = Duration::from_secs(30);

/// The usual compare-and-delete.
const UNLOCK: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

/// The other program's value.
const NAME: &str = "another-program";

fn try_lock(lock: &mut RawLock, ttl: Duration) -> bool {
    let (k, px) = (lock.k.clone(), ttl.as_millis().to_string());
    let set: Option<String> = lock.command(&["SET", &k, NAME, "NX", "PX", &px]);
    set.is_some()
}

fn unlock(lock: &mut RawLock) -> bool {
    let k = lock.k.clone();
    lock.command(&["EVAL", UNLOCK, "1", &k, NAME])
}

/// The other program polls as fast as it can while two workers race: no two are inside at once.
#[tokio::test]
async fn a_foreign_program_and_workers_are_never_inside_at_once() {
    const VISITS: usize = 30;
    let mut scene = Scene::new();
    let mut workers = [scene.worker(), scene.worker()];
    let mut resource = scene.server.async_connection().await;
    let history = History::of(KEY);
    let mut own = 0;
    let start = Instant::now();
    while own < VISITS {
        // In short races, since the other program cannot get the lock while a worker queues.
        for worker in &mut workers {
            worker.send(&format!("hammer {KEY} 30000 20000 2 30"));
        }
        let mut tallies = 0;
        while tallies < workers.len() {
            assert!(ran_since(start) < PATIENCE, "{own} visits of {VISITS}");
            if try_lock(&mut scene.lock, TTL) {
                let seen = history.look(&mut resource, 0).await.unwrap();
                let entry = Entry {
                    token: 0,
                    seen,
                    writer: NAME.to_owned(),
                    share: None,
                };
                // The other program has no token.
                history.append(&mut resource, &entry).await.unwrap();
                own += 1;
                assert!(unlock(&mut scene.lock));
            }
            tallies += workers
                .iter()
                .filter_map(|worker| worker.line(Duration::ZERO))
                .inspect(|tally| assert!(!tally.contains('='), "failures: {tally}"))
                .count();
        }
    }
    let entries = history.read(&mut scene.server.connection());
    assert!(entries.iter().any(|entry| entry.writer != NAME));
    History::assert_no_double_entries(&entries);

    // Finally it leaves the lock to its ttl.
    assert!(try_lock(&mut scene.lock, Duration::from_millis(700)));
    let end = scene.lock.lease_end();
    is_held(&workers[0].ask(&acquire(TTL), PATIENCE));
    assert!(Instant::now() >= end, "its lease was not respected");
}
