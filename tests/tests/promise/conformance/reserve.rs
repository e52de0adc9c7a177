//! Locks that stay taken for a minimum time although their holders are done.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use harness::{eventually, failed, ran_since};
use lock_runtime::{Acquire, LockClient, LockErrorKind};

use super::store::Store;
use super::tools::{KEY, LONG, SLACK, becomes_free, is_held, ms, on_a_thread};

/// Longer than a machine stalls, and than the lease: the lock stays reserved for a while.
const MINIMUM: Duration = ms(2_500);

fn job(client: &LockClient) -> Acquire {
    client.lock(KEY).ttl(ms(2_000)).min_hold(MINIMUM)
}

pub(crate) async fn lock_stays_taken_until_its_minimum_is_over(store: Store) {
    let (client, other) = (store.client(), store.client());
    let begun = Instant::now();
    let guard = job(&client).acquire().await.unwrap();
    // Waiters of every client wait, including one that could have got the lease by a local turn.
    let waiting = [&client, &other].map(|client| {
        let acquire = client.lock(KEY).ttl(ms(2_000)).wait(LONG).acquire();
        tokio::spawn(async move {
            let guard = acquire.await.unwrap();
            let since = (begun.elapsed(), ran_since(begun));
            guard.release().await.unwrap();
            since
        })
    });
    tokio::time::sleep(ms(50)).await;
    guard.release().await.unwrap();
    for client in [&client, &other] {
        let refused = client.lock(KEY).wait(Duration::ZERO).acquire().await;
        let error = failed(refused, LockErrorKind::Busy);
        assert!(error.holder().unwrap().ends_with(" (reserved)"), "{error}");
    }
    for waiter in waiting {
        let (since, ran) = waiter.await.unwrap();
        assert!(since >= MINIMUM, "{since:?}");
        assert!(ran < MINIMUM + SLACK, "{since:?}");
    }
}

pub(crate) async fn longer_body_frees_the_lock_at_once(store: Store) {
    let (client, other) = (store.client(), store.client());
    let minimum = ms(200);
    let lock = client.lock(KEY).min_hold(minimum);
    let body = async |_: &_| tokio::time::sleep(minimum + ms(20)).await;
    lock.run(body).await.unwrap();
    assert!(!is_held(&other).await);
}

/// Covers every way in which a hold ends, all at once.
pub(crate) async fn every_end_of_a_hold_reserves_the_lock(store: Store) {
    let (client, other) = (store.client(), store.client());
    let job = |key| client.lock(key).min_hold(LONG);
    let failed = async |_: &_| Err::<(), _>("failed");
    job("fails").run(failed).await.unwrap().unwrap_err();
    let panics = job("panics");
    let panics = tokio::spawn(async move {
        let body = async |_: &_| std::panic::resume_unwind(Box::new(AssertUnwindSafe("as told")));
        panics.run(body).await
    });
    assert!(panics.await.unwrap_err().is_panic());
    drop(job("dropped").acquire().await.unwrap());
    let blocks = job("blocks");
    let thread = on_a_thread(move || blocks.run_blocking(|_| ()));
    thread.await.unwrap();
    for key in ["fails", "panics", "dropped", "blocks"] {
        eventually("reserved lock", LONG, async || {
            let attempt = other.lock(key).wait(Duration::ZERO).acquire().await;
            let error = attempt.expect_err("it stays taken");
            error.holder().unwrap().ends_with(" (reserved)")
        })
        .await;
    }
}

pub(crate) async fn lost_lock_is_not_reserved(store: Store) {
    let (client, other) = (store.client(), store.client());
    let lock = client.lock(KEY).ttl(ms(100)).renew(false);
    let guard = lock.min_hold(LONG).acquire().await.unwrap();
    guard.lost().await;
    assert!(guard.release().await.unwrap_err().is_lost());
    becomes_free(&other, SLACK).await;
}

/// In one slot of a cluster.
const PAIR: [&str; 2] = ["{order}:42", "{order}:43"];

pub(crate) async fn several_locks_are_reserved_together(store: Store) {
    let (client, other) = (store.client(), store.client());
    let all = client.lock_all(PAIR).min_hold(MINIMUM);
    all.run(async |_| ()).await.unwrap();
    for key in PAIR {
        assert!(other.lock(key).try_acquire().await.unwrap().is_none());
    }
    let all = other.lock_all(PAIR).wait(LONG).acquire();
    all.await.unwrap().release().await.unwrap();
}

pub(crate) async fn impossible_minimum_is_refused(store: Store) {
    let client = store.client();
    let lock = || client.lock(KEY).min_hold(MINIMUM);
    for (acquire, words) in [
        (lock().read(), "a share has no minimum hold"),
        (lock().permits(5), "a share has no minimum hold"),
        (lock().max_hold(ms(500)), "longer than `max_hold`"),
        (lock().min_hold(Duration::from_secs(86_401)), "24 h"),
    ] {
        let error = failed(acquire.acquire().await, LockErrorKind::InvalidOptions);
        assert!(error.to_string().contains(words), "{error}");
    }
}

pub(crate) async fn downgraded_writer_has_no_minimum(store: Store) {
    let (client, other) = (store.client(), store.client());
    let lock = client.lock(KEY).write().min_hold(LONG);
    let reading = lock.acquire().await.unwrap().downgrade().await.unwrap();
    reading.release().await.unwrap();
    becomes_free(&other, SLACK).await;
}
