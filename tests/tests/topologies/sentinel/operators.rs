//! What operators see of locks when another primary takes over.

use std::collections::BTreeSet;
use std::time::Duration;

use harness::{
    KEY, LONG, RedisSentinels, RedisServer, ask, eventually, hold, owner_on, patient, revocation,
    revoke, sees_waiters, served, soon, token_of,
};

/// Whether the holder of the lock on this server receives its messages from there.
fn is_heard_by_its_holder(server: &RedisServer) -> bool {
    owner_on(server).is_some_and(|owner| {
        let channel = format!("lock:{}", &owner[..8]);
        let count = ["PUBSUB", "NUMSUB", &channel];
        let (_, subscribers): (String, i64) = ask(&mut server.connection(), &count);
        subscribers == 1
    })
}

/// A cursor of the old primary means nothing to the new one.
#[tokio::test]
async fn listing_goes_on_at_the_primary_that_takes_over() {
    let all = RedisSentinels::start();
    let [holder, operator] = [(); 2].map(|()| patient(all.url()).build().unwrap());
    let mut guards = Vec::new();
    for number in 0..100 {
        let acquire = holder
            .lock(format!("order:{number}"))
            .ttl(Duration::from_secs(900));
        guards.push(acquire.await.unwrap());
    }
    all.wait_for_replication();
    let mut locks = operator.locks().page_size(10);
    let mut keys = BTreeSet::new();
    for page in 0.. {
        if page == 3 {
            all.fail_over(0);
        }
        match locks.next_page().await {
            Ok(None) => break,
            Ok(Some(page)) => {
                keys.extend(page.into_iter().map(|lock| lock.key.as_str().to_owned()))
            }
            // The command was on a connection that broke, or there is no primary for a moment.
            Err(error) => assert!(error.is_unavailable(), "{error}"),
        }
    }
    assert_eq!(keys.len(), 100);
    drop(guards);
}

#[tokio::test]
async fn lock_is_seen_and_revoked_at_the_old_primary_and_at_the_new_one() {
    const LEASE: Duration = Duration::from_secs(900);
    let all = RedisSentinels::start();
    let [holder, next, operator] = [(); 3].map(|()| patient(all.url()).build().unwrap());
    let first = holder.lock(KEY).ttl(LEASE).await.unwrap();
    let waiting = tokio::spawn(next.lock(KEY).ttl(LEASE).wait(LONG).acquire());
    sees_waiters(&operator, KEY, 1).await;
    revoke(&operator, KEY, token_of(&first).await).await;
    soon(first.lost()).await;
    let second = served(waiting).await;
    assert!(token_of(&second).await > token_of(&first).await);

    all.wait_for_replication();
    let primary = all.fail_over(0);
    // Calls fail while there is no primary, and the lock is confirmed at the new one. A holder that is still on its way
    // there would miss the message, and learn from its next renewal that it has lost the lock, but not to whom.
    eventually("holder at the new primary", LONG, async || {
        let seen = operator.inspect(KEY).await;
        let token = Some(token_of(&second).await);
        second.renew().await.is_ok()
            && seen.is_ok_and(|state| state.holders[0].token == token)
            && is_heard_by_its_holder(&all.servers[primary])
    })
    .await;
    // The old primary accepts commands until it learns that it is a replica: a revocation there has no effect here.
    eventually("revocation at the new primary", LONG, async || {
        let seen = token_of(&second).await;
        let _not_held_any_more = operator.revoke(KEY, seen, revocation()).await;
        owner_on(&all.servers[primary]).is_none()
    })
    .await;
    soon(second.lost()).await;
    let third = hold(&holder).await;
    assert!(token_of(&third).await > token_of(&second).await);
    for lost in [first, second] {
        let lost = lost.release().await.unwrap_err().to_string();
        assert!(
            lost.contains("revoked by ann@ops-1: stuck import"),
            "{lost}"
        );
    }
    third.release().await.unwrap();
}
