//! Holders of all kinds learn that their lock was revoked.

use std::time::Duration;

use harness::{
    KEY, LOCK, LONG, OPERATION, QUEUE, RedisServer, ask, hold, in_line, ms, server_and_connection,
    soon, token_of,
};

use super::{assert_revoked, client, revoke};

/// The next renewal is due only in minutes, so only the message reaches a holder in time.
const LEASE: Duration = Duration::from_secs(900);

#[tokio::test]
async fn every_guard_of_a_shared_lease_is_notified() {
    let server = RedisServer::start();
    let (holder, operator) = (client(&server), client(&server));
    let acquire = holder.lock(KEY).ttl(LEASE);
    let lost = acquire
        .run(async |guard| {
            let nested = holder.lock(KEY).ttl(LEASE).await.unwrap();
            assert_eq!(token_of(&nested).await, token_of(guard).await);
            revoke(&operator).await;
            soon(nested.lost()).await;
            soon(guard.lost()).await;
            drop(nested);
        })
        .await;
    assert_revoked(&lost.unwrap_err());
}

/// A turn has the next token of its lease; the record has the token of the grant.
#[tokio::test]
async fn later_turn_of_a_lease_is_revoked_by_either_token() {
    for by_its_own in [false, true] {
        let server = RedisServer::start();
        let (holder, operator) = (client(&server), client(&server));
        let first = holder.lock(KEY).ttl(LEASE).await.unwrap();
        let second = tokio::spawn(holder.lock(KEY).ttl(LEASE).wait(LONG).acquire());
        in_line(&holder, 1).await;
        let token = token_of(&first).await;
        first.release().await.unwrap();
        let second = soon(second).await.unwrap().unwrap();
        assert_eq!(token_of(&second).await.get(), token.get() + 1);
        let seen = if by_its_own {
            token_of(&second).await
        } else {
            token
        };
        harness::revoke(&operator, KEY, seen).await;
        soon(second.lost()).await;
        let third = hold(&holder).await;
        assert!(token_of(&third).await.get() >= token.get() + 16);
        assert_revoked(&second.release().await.unwrap_err());
        third.release().await.unwrap();
    }
}

/// No caller holds a retained lease, so none learns of its loss.
#[tokio::test]
async fn retained_lease_that_is_revoked_is_dropped() {
    let server = RedisServer::start();
    let (holder, operator) = (client(&server), client(&server));
    let retain = || holder.lock(KEY).ttl(LEASE).retain(Duration::from_secs(200));
    let guard = retain().await.unwrap();
    let token = token_of(&guard).await;
    guard.release().await.unwrap();
    assert!(
        operator.inspect(KEY).await.unwrap().is_held(),
        "it is retained"
    );
    assert!(holder.held().is_empty());
    revoke(&operator).await;
    // The notice may arrive after a fast caller, which then has a turn of that lease to lose.
    let guard = loop {
        let guard = soon(async { retain().wait(LONG).await }).await.unwrap();
        let seen = guard.fencing_token().await;
        if seen.is_ok_and(|seen| seen.get() >= token.get() + 16) {
            break guard;
        }
        soon(guard.lost()).await;
        assert_revoked(&guard.release().await.unwrap_err());
    };
    guard.release().await.unwrap();
}

/// A message names an owner, which only the server and the owner's process know.
#[tokio::test]
async fn forged_messages_affect_no_holder() {
    let (server, mut connection) = server_and_connection();
    let holder = client(&server);
    let guard = holder.lock(KEY).ttl(LEASE).await.unwrap();
    let record: String = ask(&mut connection, &["GET", LOCK]);
    let (owner, channel) = (&record[..22], format!("lock:{}", &record[..8]));
    let other = format!("{}{}", &owner[..8], "x".repeat(14));
    let notice = format!("\u{1f}{OPERATION}\u{1f}eve\u{1f}\u{1f}");
    for forged in [
        "!".to_owned(),
        format!("!{owner}"),
        format!("!{owner}{LOCK}"),
        format!("!{other}{notice}{LOCK}"),
        format!("!{notice}{LOCK}"),
    ] {
        let receivers: i64 = ask(&mut connection, &["PUBLISH", &channel, &forged]);
        assert_eq!(receivers, 1);
        guard.renew().await.unwrap();
    }
    assert!(guard.is_valid());
    guard.release().await.unwrap();
}

#[tokio::test]
async fn revocation_goes_on_although_its_caller_is_gone() {
    let (server, mut connection) = server_and_connection();
    let (holder, operator) = (client(&server), client(&server));
    let guard = holder.lock(KEY).ttl(LEASE).await.unwrap();
    let token = token_of(&guard).await;
    server.pause();
    let revoking = operator.revoke(KEY, token, super::revocation());
    let left = tokio::time::timeout(ms(50), revoking).await;
    server.resume();
    assert!(left.is_err(), "the server did not answer");
    soon(guard.lost()).await;
    assert_revoked(&guard.release().await.unwrap_err());
    assert_eq!(ask::<i64>(&mut connection, &["EXISTS", LOCK, QUEUE]), 0);
}
