//! `ttl`, `wait`, `renew`, `max_hold`, `reentrant`, `on_lost`, `client`, `guard`, and the order of them all.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use lock_runtime::{LockClient, LockError, LockErrorKind, distributed_lock};

const TTL: Duration = Duration::from_secs(5);

struct Limits {
    ttl: Duration,
}

/// Asserts the lease of a call, in seconds.
macro_rules! assert_lease {
    ($limits:ident, $ttl:expr => $seconds:literal) => {{
        #[distributed_lock(key = "ttl", ttl = $ttl, client = locks, guard = lock)]
        fn remaining(locks: &LockClient, $limits: Limits) -> Result<Duration, LockError> {
            let _ = &$limits;
            Ok(lock.remaining())
        }
        let (limits, ttl) = (Limits { ttl: TTL }, Duration::from_secs($seconds));
        let remaining = remaining(&LockClient::memory(), limits).unwrap();
        assert!(
            remaining <= ttl && remaining > ttl / 2,
            "{remaining:?} of {ttl:?}"
        );
    }};
}

#[test]
fn ttl_is_the_lease() {
    assert_lease!(limits, "2s" => 2);
    assert_lease!(limits, TTL * 2 => 10);
    assert_lease!(limits, limits.ttl => 5);
}

#[tokio::test(start_paused = true)]
async fn wait_bounds_the_waiting() {
    #[distributed_lock(key = "wait", wait = "1m30s", client = locks)]
    async fn waiting(locks: &LockClient) -> Result<(), LockError> {
        Ok(())
    }

    let locks = LockClient::memory();
    let _elsewhere = locks.lock("wait").acquire().await.unwrap();
    let started = tokio::time::Instant::now();
    let error = waiting(&locks).await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Busy);
    let waited = started.elapsed();
    assert!(
        waited >= Duration::from_secs(90) && waited < Duration::from_secs(92),
        "{waited:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn only_renew_and_max_hold_end_the_renewals() {
    #[distributed_lock(key = "lease", ttl = "1s", client = locks)]
    async fn renewed(locks: &LockClient) -> Result<(), LockError> {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok(())
    }

    #[distributed_lock(key = "lease", ttl = "1s", renew = false, client = locks)]
    async fn lapsing(locks: &LockClient) -> Result<(), LockError> {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok(())
    }

    #[distributed_lock(key = "lease", ttl = "1s", max_hold = "5s", client = locks)]
    async fn hanging(locks: &LockClient) -> Result<(), LockError> {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok(())
    }

    let locks = LockClient::memory();
    renewed(&locks).await.unwrap();
    assert!(lapsing(&locks).await.unwrap_err().is_lost());
    let started = tokio::time::Instant::now();
    assert!(hanging(&locks).await.unwrap_err().is_lost());
    let held = started.elapsed();
    assert!(
        held > Duration::from_secs(4) && held <= Duration::from_secs(5),
        "{held:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn min_hold_keeps_the_lock_after_the_call() {
    #[distributed_lock(key = "minimum", min_hold = "30s", wait = "0s", client = locks)]
    async fn once(locks: &LockClient) -> Result<(), LockError> {
        Ok(())
    }

    let locks = LockClient::memory();
    once(&locks).await.unwrap();
    assert!(once(&locks).await.unwrap_err().is_busy());
}

#[distributed_lock(key = "tree", client = locks)]
async fn entering(locks: &LockClient) -> Result<u8, LockError> {
    once(locks).await
}

#[distributed_lock(key = "tree", reentrant = false, client = locks)]
async fn once(locks: &LockClient) -> Result<u8, LockError> {
    Ok(1)
}

#[tokio::test]
async fn reentrant_is_the_nested_calls_choice() {
    let locks = LockClient::memory();
    assert_eq!(once(&locks).await.unwrap(), 1);
    let error = entering(&locks).await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Reentered);
}

#[tokio::test(start_paused = true)]
async fn finish_lets_a_lost_body_end() {
    #[distributed_lock(key = "lost", ttl = "1s", renew = false, on_lost = "finish", client = locks)]
    async fn finishing(locks: &LockClient) -> Result<u8, LockError> {
        tokio::time::sleep(Duration::from_secs(5)).await;
        Ok(1)
    }

    assert_eq!(finishing(&LockClient::memory()).await.unwrap(), 1);
}

#[test]
fn finish_keeps_a_sync_result() {
    #[distributed_lock(key = "lost", ttl = "300ms", renew = false, on_lost = "finish", guard = lock, client = locks)]
    fn finishing(locks: &LockClient) -> Result<u8, LockError> {
        while lock.is_valid() {
            std::thread::yield_now();
        }
        Ok(1)
    }

    #[distributed_lock(key = "lost", ttl = "300ms", renew = false, guard = lock, client = locks)]
    fn failing(locks: &LockClient) -> Result<u8, LockError> {
        while lock.is_valid() {
            std::thread::yield_now();
        }
        Ok(1)
    }

    let locks = LockClient::memory();
    assert_eq!(finishing(&locks).unwrap(), 1);
    assert!(failing(&locks).unwrap_err().is_lost());
}

#[tokio::test]
async fn client_is_any_pointer_to_one() {
    macro_rules! taking {
        ($name:ident, $type:ty) => {
            #[distributed_lock(key = "client", client = locks)]
            async fn $name(locks: $type) -> Result<(), LockError> {
                let _ = &locks;
                Ok(())
            }
        };
    }
    taking!(by_value, LockClient);
    taking!(by_reference, &&LockClient);
    taking!(by_arc, Arc<LockClient>);
    taking!(by_box, Box<LockClient>);

    let locks = LockClient::memory();
    by_value(locks.clone()).await.unwrap();
    by_reference(&&locks).await.unwrap();
    by_arc(Arc::new(locks.clone())).await.unwrap();
    by_box(Box::new(locks)).await.unwrap();
}

/// Records that an option's expression was evaluated.
struct Notes(Mutex<Vec<&'static str>>);

impl Notes {
    fn note<T>(&self, what: &'static str, value: T) -> T {
        self.0.lock().unwrap().push(what);
        value
    }
}

#[tokio::test]
async fn options_are_evaluated_once_in_the_documented_order() {
    #[distributed_lock(
        client = notes.note("client", locks),
        retain = notes.note("retain", Duration::ZERO),
        min_hold = notes.note("min_hold", Duration::ZERO),
        max_hold = notes.note("max_hold", TTL),
        take = notes.note("take", 2),
        permits = notes.note("permits", 5),
        wait = notes.note("wait", TTL),
        ttl = notes.note("ttl", TTL),
        key = notes.note("key", "ordered"),
    )]
    async fn noted(locks: &LockClient, notes: &Notes) -> Result<(), LockError> {
        notes.note("body", ());
        Ok(())
    }

    let notes = Notes(Mutex::default());
    noted(&LockClient::memory(), &notes).await.unwrap();
    assert_eq!(
        *notes.0.lock().unwrap(),
        [
            "key", "ttl", "wait", "permits", "take", "max_hold", "min_hold", "retain", "client",
            "body"
        ]
    );
}
