//! Which locks a call holds, in the order of locks.

use lock_runtime::{LockClient, in_current_hold};

use super::{closes_a_ring, nest, strict};

#[tokio::test]
async fn every_lock_of_the_tree_is_held_and_not_only_the_innermost() {
    let locks = strict();
    let body = locks.lock("a").run(async |_| nest(&locks, "b", "c").await);
    body.await.unwrap().unwrap();
    assert!(closes_a_ring(nest(&locks, "c", "a").await));
    assert!(closes_a_ring(nest(&locks, "c", "b").await));
}

#[tokio::test]
async fn siblings_are_in_no_order_with_each_other() {
    let locks = strict();
    let take = async |key: &str| locks.lock(key).run(async |_| ()).await.unwrap();
    let body = locks.lock("outer").run(async |_| {
        take("a").await;
        take("b").await;
        tokio::join!(take("b"), take("a"));
    });
    body.await.unwrap();
    nest(&locks, "b", "a").await.unwrap();
}

#[tokio::test]
async fn guard_outside_of_its_run_is_not_in_the_tree() {
    let locks = strict();
    let guard = locks.lock("a").acquire().await.unwrap();
    let take = |client: &LockClient| client.lock("b").run(async |_| ());
    take(&locks).await.unwrap();
    nest(&locks, "b", "c").await.unwrap();
    nest(&locks, "c", "d").await.unwrap();
    guard.run(take(&locks)).await.unwrap().unwrap();
    drop(guard);
    assert!(closes_a_ring(nest(&locks, "b", "a").await));
}

#[tokio::test]
async fn carried_future_holds_the_locks_of_its_tree_and_a_plain_future_none() {
    for is_carried in [true, false] {
        let locks = strict();
        let body = locks.lock("a").run(async |_| {
            let locks = locks.clone();
            let take = async move { locks.lock("b").run(async |_| ()).await };
            let task = if is_carried {
                tokio::spawn(in_current_hold(take))
            } else {
                tokio::spawn(take)
            };
            task.await.unwrap()
        });
        body.await.unwrap().unwrap();
        assert_eq!(closes_a_ring(nest(&locks, "b", "a").await), is_carried);
    }
}

#[tokio::test]
async fn lock_that_was_downgraded_is_held_for_reading() {
    let locks = strict();
    let (a, b) = (|| locks.lock("a"), || locks.lock("b"));
    let inside = b().run(async |_| a().read().run(async |_| ()).await);
    inside.await.unwrap().unwrap();
    let writing = a().write().acquire().await.unwrap();
    let reading = writing.downgrade().await.unwrap();
    reading.run(b().run(async |_| ())).await.unwrap().unwrap();
}
