//! A lease that passes is the same lease: its events reach the current holder.

use std::time::Duration;

use harness::{KEY, LOCK, LONG, RedisServer, ask, client, hold, ms, soon};
use lock_runtime::{LockClient, LockError, LockGuard};

/// Renewed each second, with 2 s more for a busy machine.
const TTL: Duration = ms(3_000);

/// Longer than the ttl; otherwise it would not matter.
const MAX_HOLD: Duration = ms(4_000);

/// Longer than both.
const PAST: Duration = ms(4_500);

/// A holder, and the caller that has the lease after it.
async fn passed(
    client: &LockClient,
    next: impl Future<Output = Result<LockGuard, LockError>> + Send + 'static,
) -> (u64, LockGuard) {
    let first = client.lock(KEY).ttl(TTL).wait(LONG).await.unwrap();
    let token = first.fencing_token().get();
    let next = tokio::spawn(next);
    tokio::task::yield_now().await;
    first.release().await.unwrap();
    (token, soon(next).await.unwrap().unwrap())
}

fn with_ttl(client: &LockClient, ttl: Duration) -> lock_runtime::Acquire {
    client.lock(KEY).ttl(ttl).wait(LONG)
}

/// The owner in the lock's record.
fn owner(server: &RedisServer) -> String {
    let value: String = ask(&mut server.connection(), &["GET", LOCK]);
    value[..22].to_owned()
}

#[tokio::test]
async fn a_passed_lease_is_renewed() {
    let server = RedisServer::start();
    let client = client(server.url());
    let (token, guard) = passed(&client, with_ttl(&client, TTL).acquire()).await;
    assert_eq!(guard.fencing_token().get(), token + 1);
    let before = owner(&server);
    tokio::time::sleep(PAST).await;
    assert!(guard.is_valid());
    assert_eq!(owner(&server), before);
    guard.release().await.unwrap();
    let left: i64 = ask(&mut server.connection(), &["EXISTS", LOCK]);
    assert_eq!(left, 0);
}

#[tokio::test]
async fn a_passed_lease_can_be_lost() {
    let server = RedisServer::start();
    let client = client(server.url());
    let (_, guard) = passed(&client, with_ttl(&client, TTL).acquire()).await;
    let after = tokio::spawn(with_ttl(&client, TTL).acquire());
    tokio::task::yield_now().await;
    let deleted: i64 = ask(&mut server.connection(), &["DEL", LOCK]);
    assert_eq!(deleted, 1);
    // A renewal finds the loss. The next caller acquires anew, as another owner.
    soon(guard.lost()).await;
    let after = soon(after).await.unwrap().unwrap();
    assert!(after.fencing_token() > guard.fencing_token());
    assert!(after.is_valid());
    assert!(guard.release().await.unwrap_err().is_lost());
    after.release().await.unwrap();
}

#[tokio::test]
async fn a_lost_lease_is_not_passed_on() {
    let server = RedisServer::start();
    let client = client(server.url());
    let guard = hold(&client).await;
    let next = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    tokio::task::yield_now().await;
    let _: i64 = ask(&mut server.connection(), &["DEL", LOCK]);
    assert!(guard.renew().await.unwrap_err().is_lost());
    let token = guard.fencing_token();
    assert!(guard.release().await.unwrap_err().is_lost());
    let next = soon(next).await.unwrap().unwrap();
    assert!(
        next.fencing_token().get() >= token.get() + 16,
        "a grant of its own"
    );
    next.release().await.unwrap();
}

/// A caller with another ttl asks the server for the lock.
#[tokio::test]
async fn a_lease_passes_only_to_a_caller_with_the_same_ttl() {
    let server = RedisServer::start();
    let client = client(server.url());
    let (token, guard) = passed(&client, with_ttl(&client, ms(30_000)).acquire()).await;
    assert!(guard.fencing_token().get() >= token + 16);
    let left: i64 = ask(&mut server.connection(), &["PTTL", LOCK]);
    assert!(left > TTL.as_millis() as i64, "{left}");
    guard.release().await.unwrap();
}

#[tokio::test]
async fn a_max_hold_counts_from_the_hand_over_and_for_its_own_turn_only() {
    let server = RedisServer::start();
    let client = client(server.url());
    let bounded = with_ttl(&client, TTL).max_hold(MAX_HOLD);
    let (token, guard) = passed(&client, bounded.acquire()).await;
    assert_eq!(guard.fencing_token().get(), token + 1);
    let next = tokio::spawn(with_ttl(&client, TTL).acquire());
    tokio::task::yield_now().await;
    guard.release().await.unwrap();
    let next = soon(next).await.unwrap().unwrap();
    assert_eq!(next.fencing_token().get(), token + 2);
    tokio::time::sleep(PAST).await;
    assert!(next.is_valid(), "it has no max_hold");
    next.release().await.unwrap();

    let bounded = with_ttl(&client, TTL).max_hold(MAX_HOLD);
    let (token, guard) = passed(&client, bounded.acquire()).await;
    assert_eq!(guard.fencing_token().get(), token + 1);
    soon(guard.lost()).await;
    let error = guard.release().await.unwrap_err();
    assert!(
        error.is_lost() && error.to_string().contains("max_hold"),
        "{error}"
    );
}

#[tokio::test]
async fn a_turn_without_renewal_ends_with_its_lease() {
    let server = RedisServer::start();
    let client = client(server.url());
    let unrenewed = with_ttl(&client, TTL).renew(false);
    let (token, guard) = passed(&client, unrenewed.acquire()).await;
    assert_eq!(guard.fencing_token().get(), token + 1);
    soon(guard.lost()).await;
    assert!(guard.release().await.unwrap_err().is_lost());
}
