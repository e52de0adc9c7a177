//! A lease that is handed over is the same lease: its events reach the current holder.

use std::time::Duration;

use harness::{KEY, LOCK, LONG, ask, ms, owner_on, served, server_and_client, soon, token_of};
use lock_runtime::{LockClient, LockError, LockGuard};

/// Renewed every second, so a busy machine has 2 s more.
const TTL: Duration = ms(3_000);

/// Longer than the ttl; otherwise it would not matter.
const MAX_HOLD: Duration = ms(4_000);

/// Longer than both.
const PAST: Duration = ms(4_500);

/// Returns a holder's token, and the guard of the caller that gets the lease after it.
async fn passed(
    client: &LockClient,
    next: impl Future<Output = Result<LockGuard, LockError>> + Send + 'static,
) -> (u64, LockGuard) {
    let first = client.lock(KEY).ttl(TTL).wait(LONG).await.unwrap();
    let token = token_of(&first).await.get();
    let next = tokio::spawn(next);
    tokio::task::yield_now().await;
    first.release().await.unwrap();
    (token, soon(next).await.unwrap().unwrap())
}

fn with_ttl(client: &LockClient, ttl: Duration) -> lock_runtime::Acquire {
    client.lock(KEY).ttl(ttl).wait(LONG)
}

#[tokio::test]
async fn a_passed_lease_is_renewed_and_a_max_hold_counts_for_its_own_turn_from_the_hand_over() {
    let (server, client) = server_and_client();
    let bounded = with_ttl(&client, TTL).max_hold(MAX_HOLD);
    let (token, guard) = passed(&client, bounded.acquire()).await;
    assert_eq!(token_of(&guard).await.get(), token + 1);
    let next = tokio::spawn(with_ttl(&client, TTL).acquire());
    tokio::task::yield_now().await;
    guard.release().await.unwrap();
    let next = soon(next).await.unwrap().unwrap();
    assert_eq!(token_of(&next).await.get(), token + 2);
    let before = owner_on(&server);
    assert!(before.is_some());
    tokio::time::sleep(PAST).await;
    assert!(next.is_valid(), "it has no max_hold");
    assert_eq!(owner_on(&server), before);
    next.release().await.unwrap();
    let left: i64 = ask(&mut server.connection(), &["EXISTS", LOCK]);
    assert_eq!(left, 0);

    let bounded = with_ttl(&client, TTL).max_hold(MAX_HOLD);
    let (token, guard) = passed(&client, bounded.acquire()).await;
    assert_eq!(token_of(&guard).await.get(), token + 1);
    soon(guard.lost()).await;
    let error = guard.release().await.unwrap_err();
    assert!(
        error.is_lost() && error.to_string().contains("max_hold"),
        "{error}"
    );
}

/// Whether its first owner notices the loss, or a renewal does in a later turn: the next caller acquires the lock
/// again.
#[tokio::test]
async fn lost_lease_is_not_handed_over_in_its_first_turn_or_a_later_turn() {
    let (server, client) = server_and_client();
    let lose = || ask::<()>(&mut server.connection(), &["DEL", LOCK]);
    let guard = with_ttl(&client, TTL).await.unwrap();
    let token = token_of(&guard).await.get();
    let next = tokio::spawn(with_ttl(&client, TTL).acquire());
    tokio::task::yield_now().await;
    lose();
    assert!(guard.renew().await.unwrap_err().is_lost());
    assert!(guard.release().await.unwrap_err().is_lost());
    let next = served(next).await;
    let grant = token_of(&next).await.get();
    assert!(grant >= token + 16, "{grant} after {token}");
    next.release().await.unwrap();

    let (token, guard) = passed(&client, with_ttl(&client, TTL).acquire()).await;
    assert_eq!(token_of(&guard).await.get(), token + 1);
    let next = tokio::spawn(with_ttl(&client, TTL).acquire());
    tokio::task::yield_now().await;
    lose();
    soon(guard.lost()).await;
    let next = served(next).await;
    let grant = token_of(&next).await.get();
    assert!(grant >= token + 16, "{grant} after {token}");
    assert!(guard.release().await.unwrap_err().is_lost());
    assert!(next.is_valid());
    next.release().await.unwrap();
}

/// The turn before was renewed.
#[tokio::test]
async fn turn_without_renewal_ends_with_its_lease() {
    let (_server, client) = server_and_client();
    let unrenewed = with_ttl(&client, TTL).renew(false);
    let (token, guard) = passed(&client, unrenewed.acquire()).await;
    assert_eq!(token_of(&guard).await.get(), token + 1);
    soon(guard.lost()).await;
    assert!(guard.release().await.unwrap_err().is_lost());
}
