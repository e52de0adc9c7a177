//! A count for each thread, and renewals that stop after a number of them. A thread is no holder: a
//! task moves between threads, and many tasks share one.

use std::thread::{self, ThreadId};
use std::time::Instant;

use lock_runtime::distributed_lock;
use tokio::runtime;
use tokio::sync::Notify;

use super::{KEY, LockClient, LockError, RedisServer, client, hold, ms};

/// Enters its lock a second time, on whichever thread it is woken.
#[distributed_lock(key = "order:42", client = locks)]
async fn outer(
    locks: &LockClient,
    asleep: &Notify,
    wake: &Notify,
) -> Result<[ThreadId; 2], LockError> {
    let before = inner(locks).await?;
    asleep.notify_one();
    wake.notified().await;
    Ok([before, inner(locks).await?])
}

#[distributed_lock(key = "order:42", wait = "0s", client = locks)]
async fn inner(locks: &LockClient) -> Result<ThreadId, LockError> {
    Ok(thread::current().id())
}

fn runtime() -> runtime::Runtime {
    let mut builder = runtime::Builder::new_current_thread();
    builder.enable_all().build().expect("a runtime can be made")
}

#[test]
fn a_call_tree_enters_its_own_lock_on_any_thread() {
    let server = RedisServer::start();
    let (locks, asleep, wake) = (client(server.url()), Notify::new(), Notify::new());
    let mut call = Box::pin(outer(&locks, &asleep, &wake));
    runtime().block_on(async {
        tokio::select! {
            _ = &mut call => unreachable!("it sleeps first"),
            () = asleep.notified() => {}
        }
    });
    wake.notify_one();
    let ids = thread::scope(|scope| {
        let other = scope.spawn(|| runtime().block_on(call));
        other
            .join()
            .unwrap()
            .expect("the second entry is nested too")
    });
    assert_ne!(ids[0], ids[1], "it moved");
}

#[tokio::test]
async fn another_task_on_the_same_thread_is_another_caller() {
    let server = RedisServer::start();
    let locks = client(server.url());
    let guard = hold(&locks).await;
    let other = tokio::spawn(locks.lock(KEY).try_acquire());
    assert!(other.await.unwrap().unwrap().is_none());
    guard.release().await.unwrap();
}

#[tokio::test]
async fn renewals_end_at_max_hold() {
    let server = RedisServer::start();
    let locks = client(server.url());
    let acquire = locks.lock(KEY).ttl(ms(1_000)).max_hold(ms(2_000));
    let started = Instant::now();
    let endless = acquire.run(async |_| std::future::pending::<()>().await);
    assert!(endless.await.unwrap_err().is_lost());
    let elapsed = started.elapsed();
    assert!(elapsed >= ms(1_500), "it was renewed before: {elapsed:?}");
}
