//! The field `token` is in the span and the events of a hold that has a token, and in no other.

use harness::token_of;
use lock_runtime::distributed_lock;
use tracing::Instrument;
use tracing::field::Empty;

use super::{LONG, LockClient, LockError, delete, ms, server_and_client};
use crate::journal::{only, told};

#[distributed_lock(key = "never", wait = LONG, client = locks)]
async fn never(locks: &LockClient) -> Result<(), LockError> {
    Ok(())
}

#[distributed_lock(key = "later", wait = LONG, client = locks, guard = held)]
async fn later(locks: &LockClient) -> Result<u64, LockError> {
    Ok(held.fencing_token().await?.get())
}

#[distributed_lock(key = "at once", wait = LONG, client = locks, token = token)]
async fn at_once(locks: &LockClient) -> Result<u64, LockError> {
    Ok(token.get())
}

#[distributed_lock(key = "lost", ttl = "3s", client = locks)]
async fn lost(locks: &LockClient, body: impl AsyncFnOnce()) -> Result<(), LockError> {
    body().await;
    std::future::pending().await
}

#[tokio::test]
async fn token_is_in_the_span_and_the_events_of_its_hold() {
    crate::record();
    let (server, locks) = server_and_client();
    never(&locks).await.unwrap();
    assert!(!only("lock_acquired", "never").has("token"));
    assert!(!only("lock_hold", "never").has("token"));

    let token = later(&locks).await.unwrap();
    assert!(!only("lock_acquired", "later").has("token"));
    assert_eq!(only("lock_hold", "later").field("token"), token.to_string());

    let token = at_once(&locks).await.unwrap();
    for line in ["lock_acquired", "lock_hold"] {
        assert_eq!(only(line, "at once").field("token"), token.to_string());
    }

    let delete = async || delete(&server, "lost");
    assert!(lost(&locks, delete).await.unwrap_err().is_lost());
    for line in ["lock_lost", "lock_hold"] {
        assert!(!only(line, "lost").has("token"), "{line}");
    }
}

/// The client holds a lease without a token. The lease gets a token before the call's hold has a span.
#[tokio::test]
async fn token_that_is_minted_later_is_in_no_span_of_the_caller() {
    crate::record();
    let (_server, locks) = server_and_client();
    let lock = || locks.lock("retained").name("retained").retain(ms(5_000));
    lock().acquire().await.unwrap().release().await.unwrap();
    let own = tracing::info_span!("own", template = "retained", token = Empty);
    let call = async {
        let guard = lock().fenced().acquire().await.unwrap();
        let token = token_of(&guard).await;
        guard.release().await.unwrap();
        token
    };
    let token = call.instrument(own).await;
    let own = only("own", "retained");
    assert!(!own.has("token"), "{own:?}");
    let holds = told("lock_hold", "retained");
    assert!(!holds[0].has("token"), "{holds:?}");
    assert_eq!(holds[1].field("token"), token.to_string());
}
