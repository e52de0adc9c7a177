//! Options that are refused, and when.

use std::time::Duration;

use lock_runtime::{Acquire, LockErrorKind};

use super::store::Store;
use super::tools::{KEY, hold, is_held, ms};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Every way to acquire refuses the options, with a sentence that contains `words`.
async fn refused(acquire: Acquire, kind: LockErrorKind, words: &str) {
    let run = acquire.clone().run(async |_| unreachable!("no lock"));
    let errors = [
        acquire.clone().acquire().await.unwrap_err(),
        acquire.clone().try_acquire().await.unwrap_err(),
        acquire.clone().acquire_blocking().unwrap_err(),
        acquire.clone().try_acquire_blocking().unwrap_err(),
        run.await.unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(error.key().is_some(), "{error:?}");
    }
}

pub(crate) async fn a_ttl_must_be_in_range(store: Store) {
    let lock = || store.client().lock(KEY);
    let kind = LockErrorKind::InvalidOptions;
    refused(lock().ttl(Duration::ZERO), kind, "20 ms").await;
    refused(lock().ttl(ms(19)), kind, "20 ms").await;
    refused(lock().ttl(DAY + ms(1)), kind, "24 h").await;
    refused(lock().ttl(Duration::MAX), kind, "24 h").await;
    for ttl in [ms(20), store.longest_ttl] {
        match lock().ttl(ttl).acquire().await {
            Ok(guard) => drop(guard.release().await),
            // The shortest lease may expire before its answer arrives.
            Err(error) => assert!(error.is_lost() && ttl == ms(20), "{error}"),
        }
    }
}

pub(crate) async fn a_max_hold_must_leave_room_for_a_lease(store: Store) {
    let lock = || store.client().lock(KEY);
    let kind = LockErrorKind::InvalidOptions;
    refused(lock().max_hold(Duration::ZERO), kind, "max_hold").await;
    refused(lock().max_hold(ms(19)), kind, "max_hold").await;
    let guard = lock().max_hold(Duration::MAX).acquire().await.unwrap();
    assert!(guard.is_valid());
}

pub(crate) async fn a_key_must_be_usable(store: Store) {
    let client = store.client();
    let kind = LockErrorKind::InvalidKey;
    refused(client.lock(""), kind, "empty").await;
    refused(client.lock("x".repeat(513)), kind, "512").await;
    refused(client.lock("order:{}"), kind, "hash tag").await;
    refused(client.lock("order}"), kind, "hash tag").await;
    refused(client.lock("{order}:f"), kind, "`:f`").await;
    // Without a prefix, these keys would collide with records of other locks.
    let bare = store.builder().prefix("").build().unwrap();
    for (key, words) in [
        ("{order}", "only a hash tag"),
        ("{lock:}:n", "a quorum's marker"),
        ("{lock:}:audit", "an audit"),
        ("redisson_lock_queue:{order}", "a Redisson queue"),
    ] {
        refused(bare.lock(key), kind, words).await;
    }
    let longest = "x".repeat(512);
    for key in [
        &longest,
        "{order}:42",
        "{order}",
        "{order}:audit",
        "größe 鍵 \n\0",
    ] {
        let guard = client.lock(key).acquire().await.unwrap();
        assert_eq!(guard.key(), key);
        guard.release().await.unwrap();
    }
}

pub(crate) async fn a_builder_checks_its_settings(store: Store) {
    let builder = || store.builder();
    for (builder, words) in [
        (builder().ttl(ms(19)), "20 ms"),
        (builder().url("http://127.0.0.1"), "redis://"),
    ] {
        let error = builder.build().unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::InvalidOptions);
        assert!(error.to_string().contains(words), "{error}");
    }
    // The timeout must not lead to a time beyond the clock's range.
    let patient = builder().command_timeout(Duration::MAX);
    let patient = patient.connect().await.unwrap();
    hold(&patient).await.release().await.unwrap();
    patient.shutdown().await;
    let without_url = lock_runtime::LockClient::builder().build().unwrap_err();
    assert!(without_url.to_string().contains("url"), "{without_url}");
}

pub(crate) async fn defaults_come_from_the_client(store: Store) {
    let builder = store
        .builder()
        .ttl(ms(5_000))
        .wait(ms(30))
        .label("checkout");
    let client = builder.connect().await.unwrap();
    let guard = hold(&client).await;
    assert!(guard.remaining() <= ms(5_000));
    let error = client.lock(KEY).acquire().await.unwrap_err();
    assert!(error.waited().is_some_and(|waited| waited < ms(5_000)));
    let holder = error.holder().expect("there is one");
    assert!(holder.starts_with("checkout@"), "{holder}");
    let pid = format!(" (pid {})", std::process::id());
    assert!(holder.contains(&pid), "{holder}");
    guard.release().await.unwrap();
    assert!(!is_held(&client).await);
}
