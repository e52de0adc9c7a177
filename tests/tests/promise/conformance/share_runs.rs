//! The recorded runs of calls that share a lock, or hold several.

use std::mem;
use std::time::Duration;

use lock_runtime::inspect::RunOutcome;
use lock_runtime::{Acquire, LockGuard};

use super::runs::{begun, has_died, job, outcomes};
use super::store::Store;
use super::tools::{KEY, STEADY, at_once, ms};

pub(crate) async fn run_of_several_locks_is_recorded_for_each(store: Store) {
    let (client, operator) = (store.client(), store.operator());
    let keys = ["{account}:1", "{account}:2"];
    let both = client.lock_all(keys).ttl(STEADY).runs(3);
    let guard = both.clone().acquire().await.unwrap();
    for key in keys {
        let runs = begun(&operator, key, 1).await;
        assert_eq!(runs[0].outcome, RunOutcome::Running, "{key}");
    }
    guard.release().await.unwrap();
    // A call that holds one of the locks acquires only the other.
    let body = async |_: &LockGuard| both.run(async |_| ()).await.unwrap();
    client.lock(keys[0]).run(body).await.unwrap();
    for (key, count) in [(keys[0], 1), (keys[1], 2)] {
        let done = vec![RunOutcome::Done; count];
        assert_eq!(outcomes(&operator, key, count).await, done, "{key}");
    }
}

pub(crate) async fn readers_and_permits_have_a_run_each(store: Store) {
    let (client, other, operator) = (store.client(), store.client(), store.operator());
    let share: [fn(Acquire) -> Acquire; 2] = [Acquire::read, |lock| lock.permits(5).take(2)];
    for (key, share) in ["read", "permits"].into_iter().zip(share) {
        let one = at_once(share(job(&client, key))).await;
        let two = at_once(share(job(&other, key))).await;
        let runs = begun(&operator, key, 2).await;
        assert!(
            runs.iter().all(|run| run.outcome == RunOutcome::Running) && runs.len() == 2,
            "{key}: {runs:?}"
        );
        one.release().await.unwrap();
        drop(two);
        let mut ends = outcomes(&operator, key, 2).await;
        ends.sort_by_key(|end| end.as_str().to_owned());
        assert_eq!(ends, [RunOutcome::Cancelled, RunOutcome::Done], "{key}");
    }
}

pub(crate) async fn writer_that_becomes_a_reader_has_one_run(store: Store) {
    let (client, operator) = (store.client(), store.operator());
    let writing = job(&client, KEY).write().acquire().await.unwrap();
    let reading = writing.downgrade().await.unwrap();
    let runs = begun(&operator, KEY, 1).await;
    assert_eq!(runs[0].outcome, RunOutcome::Running);
    reading.release().await.unwrap();
    assert_eq!(outcomes(&operator, KEY, 1).await, [RunOutcome::Done]);
    // A writer that is lost at that moment has ended.
    let lock = client
        .lock("lost")
        .write()
        .ttl(ms(300))
        .renew(false)
        .runs(3);
    let writing = lock.acquire().await.unwrap();
    writing.lost().await;
    assert!(writing.downgrade().await.unwrap_err().is_lost());
    assert_eq!(outcomes(&operator, "lost", 1).await, [RunOutcome::Lost]);
}

/// The share of a reader that crashed expires, while others hold theirs.
pub(crate) async fn reader_that_crashed_died(store: Store) {
    let (client, other, operator) = (store.client(), store.client(), store.operator());
    let _reading = at_once(other.lock(KEY).read().ttl(Duration::from_secs(30))).await;
    let lock = client.lock(KEY).read().ttl(ms(300)).renew(false).runs(3);
    mem::forget(at_once(lock).await);
    has_died(&operator).await;
}
