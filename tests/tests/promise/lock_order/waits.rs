//! Which calls wait for a lock, in the order of locks.

use std::time::Duration;

use lock_runtime::{Acquire, LockClient, LockError, LockGuard, distributed_lock};

use super::{closes_a_ring, nest, strict};

/// Nests two calls.
async fn nested(outer: Acquire, inner: Acquire) -> Result<(), LockError> {
    let body = async |_: &LockGuard| inner.run(async |_| ()).await;
    outer.run(body).await?
}

#[distributed_lock(key = "skipped", on_busy = "skip", client = locks)]
async fn skipping(locks: &LockClient) -> Result<(), LockError> {
    locks.lock("inner").run(async |_| ()).await
}

#[distributed_lock(key = "attempted", wait = "0s", client = locks)]
async fn attempting(locks: &LockClient) -> Result<(), LockError> {
    locks.lock("inner").run(async |_| ()).await
}

#[tokio::test]
async fn call_that_waits_for_nothing_is_only_a_holder() {
    let locks = strict();
    let body = locks.lock("outer").run(async |_| {
        skipping(&locks).await?;
        attempting(&locks).await?;
        let tried = locks
            .lock("tried")
            .try_acquire()
            .await?
            .expect("it is free");
        tried.run(locks.lock("inner").run(async |_| ())).await?
    });
    body.await.unwrap().unwrap();
    for first in ["skipped", "attempted", "tried"] {
        nest(&locks, first, "outer").await.unwrap();
        assert!(closes_a_ring(nest(&locks, "inner", first).await), "{first}");
    }
}

#[tokio::test]
async fn lock_that_the_tree_holds_is_not_waited_for() {
    let locks = strict();
    let a = || locks.lock("a");
    let again = a().run(async |_| nested(locks.lock("b"), a()).await);
    again.await.unwrap().unwrap();
    nest(&locks, "a", "b").await.unwrap();
    assert!(closes_a_ring(nest(&locks, "b", "a").await));
}

#[tokio::test]
async fn ring_needs_a_call_that_is_blocked_at_each_lock() {
    type Mode = fn(Acquire) -> Acquire;
    let (read, write): (Mode, Mode) = (Acquire::read, Acquire::write);
    let permits: Mode = |acquire| acquire.permits(5);
    // How `a` is held and waited for, while `b` is exclusive.
    for (held, awaited, closes) in [
        (read, read, false),
        (permits, read, false),
        (write, read, true),
        (read, write, true),
        (read, permits, true),
        (permits, permits, true),
        (permits, write, true),
    ] {
        let locks = strict();
        let (a, b) = (|mode: Mode| mode(locks.lock("a")), || locks.lock("b"));
        nested(a(held), b()).await.unwrap();
        assert_eq!(closes_a_ring(nested(b(), a(awaited)).await), closes);
        // The other one comes first.
        let locks = strict();
        let (a, b) = (|mode: Mode| mode(locks.lock("a")), || locks.lock("b"));
        nested(b(), a(awaited)).await.unwrap();
        assert_eq!(closes_a_ring(nested(a(held), b()).await), closes);
    }
}

/// Others see the writer, whichever call inside it goes on.
#[tokio::test]
async fn read_inside_write_of_one_lock_is_held_by_a_writer() {
    let locks = strict();
    let (a, b) = (|| locks.lock("a"), || locks.lock("b"));
    let inner = a().write().run(async |_| a().read().acquire().await);
    let inner = inner.await.unwrap().unwrap();
    inner.run(b().run(async |_| ())).await.unwrap().unwrap();
    drop(inner);
    assert!(closes_a_ring(nested(b(), a().read()).await));
}

#[tokio::test]
async fn stronger_calls_count_although_weaker_calls_came_first() {
    let locks = strict();
    let (a, b) = (|| locks.lock("a"), || locks.lock("b"));
    nested(a().read(), b().read()).await.unwrap();
    nested(b().read(), a().read()).await.unwrap();
    nested(a().write(), b().read()).await.unwrap();
    assert!(closes_a_ring(nested(b().write(), a().read()).await));
}

#[tokio::test]
async fn call_that_would_wait_long_enough_to_be_stuck_is_refused_at_once() {
    let locks = strict();
    nest(&locks, "a", "b").await.unwrap();
    let short = locks.lock("a").wait(Duration::from_millis(1));
    assert!(closes_a_ring(nested(locks.lock("b"), short).await));
}
