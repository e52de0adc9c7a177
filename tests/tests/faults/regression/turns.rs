//! Callers of one client that want the same lock, and the hand-off from one to the next.

use std::time::Instant;

use harness::{
    KEY, LOCK, LONG, Mode, ask, behind_a_proxy, bring_scripts, client_without_turns, eventually,
    hold, ms, patient, server_and_connection, server_and_proxy,
};

/// The `end` of a holder names the next caller as successor. If the lock turned out to be lost, the client forgot the
/// successor and did not end it, although the `end`, sent twice, may have queued it.
#[tokio::test]
async fn an_owner_that_was_named_as_the_successor_is_ended() {
    let (server, mut connection) = server_and_connection();
    let client = client_without_turns(server.url());
    let guard = hold(&client).await;
    let next = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    tokio::task::yield_now().await;
    // The `end` runs on the same thread, after the other caller has begun to wait.
    guard.renew().await.unwrap();
    let mut monitor = server.monitor();
    let mut named = None;
    let _: i64 = ask(&mut connection, &["DEL", LOCK]);
    assert!(guard.release().await.unwrap_err().is_lost());
    let mut ended = Vec::new();
    eventually("end of the named successor", LONG, async || {
        for command in monitor.take() {
            // EVALSHA sha 3 lock fence queue owner [next ttl]
            match command.words()[..] {
                [_, _, "3", LOCK, _, _, _, next, _] => named = Some(next.to_owned()),
                [_, _, "3", LOCK, _, _, owner] => ended.push(owner.to_owned()),
                _ => {}
            }
        }
        named.as_ref().is_some_and(|named| ended.contains(named))
    })
    .await;
    next.await.unwrap().unwrap().release().await.unwrap();
}

/// The lease of a successor that a slow `end` names counts from before that `end`.
#[tokio::test]
async fn a_lease_that_is_handed_over_counts_from_before_the_hand_off() {
    let (_server, proxy) = server_and_proxy();
    let client = patient(proxy.url()).build().unwrap();
    bring_scripts(&client).await;
    let guard = hold(&client).await;
    // Another ttl than the holder's: the `end` names the next owner.
    let next = client.lock(KEY).ttl(ms(8_000)).renew(false).wait(LONG);
    let next = tokio::spawn(next.acquire());
    tokio::task::yield_now().await;
    proxy.replies(Mode::Delay(ms(1_000)));
    guard.release().await.unwrap();
    let next = next.await.unwrap().unwrap();
    assert!(next.remaining() < ms(7_000), "{:?}", next.remaining());
}

/// If the connection broke during a hand-off, it was repeated only after half a second, although a waiter was queued.
#[tokio::test]
async fn a_hand_over_that_is_not_answered_is_sent_again_at_once() {
    const ROUNDS: u32 = 5;
    let (_server, proxy, _) = behind_a_proxy().await;
    let client = client_without_turns(proxy.url());
    let mut quickest = LONG;
    for _ in 0..ROUNDS {
        let first = client.lock(KEY).wait(LONG).acquire().await.unwrap();
        let second = client.lock(KEY).wait(LONG).acquire();
        let second = tokio::spawn(async move { (second.await, Instant::now()) });
        // The caller is in the local queue, which costs no command.
        tokio::task::yield_now().await;
        proxy.cut_next_request("");
        let released = Instant::now();
        first.release().await.unwrap();
        let (second, served) = second.await.unwrap();
        quickest = quickest.min(served - released);
        second.unwrap().release().await.unwrap();
    }
    assert_eq!(proxy.cuts(), ROUNDS as usize);
    assert!(quickest < ms(350), "{quickest:?} at best");
}
