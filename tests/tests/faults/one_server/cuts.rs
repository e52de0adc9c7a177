//! A connection that breaks in mid-command, for a caller of one lock and for a caller of several: the client does not
//! know whether the command ran.

use std::time::Duration;

use harness::{
    LONG, Proxy, RedisServer, ask, behind_a_proxy, eventually, ms, served, soon, token_of,
};
use lock_runtime::{Acquire, LockClient, LockGuard};
use redis::Connection;

use super::{Waiting, nothing_is_left, waiting_for};

/// The locks that a caller acquires.
const CALLERS: [&[&str]; 2] = [&["order:42"], &["order:41", "order:42", "order:43"]];

fn locks(client: &LockClient, keys: &[&'static str]) -> Acquire {
    match keys {
        [key] => client.lock(*key),
        keys => client.lock_all(keys.iter().copied()),
    }
}

/// Cuts the next command about these locks on its way, or its answer. The proxy recognizes it by the first lock's name.
fn cut(proxy: &Proxy, keys: &[&str], round: usize) {
    let command = format!("lock:{}", keys[0]);
    if round.is_multiple_of(2) {
        proxy.cut_next_reply(&command);
    } else {
        proxy.cut_next_request(&command);
    }
}

fn values(connection: &mut Connection, keys: &[&str]) -> Vec<Option<String>> {
    let value = |key: &&str| ask(connection, &["GET", &format!("lock:{key}")]);
    keys.iter().map(value).collect()
}

#[tokio::test]
async fn acquire_and_release_that_are_cut_are_sent_again() {
    for keys in CALLERS {
        let (server, proxy, client) = behind_a_proxy().await;
        let mut connection = server.connection();
        for round in 0..4 {
            cut(&proxy, keys, round);
            let guard = soon(locks(&client, keys).wait(LONG).acquire());
            let guard = guard.await.unwrap();
            assert_eq!(proxy.cuts(), 2 * round + 1, "the fault happened");
            // The repeated acquire had the same owner, so that no second token was made.
            let token = format!("{:016}", token_of(&guard).await.get());
            for value in values(&mut connection, keys) {
                assert_eq!(value.expect("it is held")[23..39], token);
            }
            cut(&proxy, keys, round);
            guard.release().await.expect("it was held until here");
            assert_eq!(proxy.cuts(), 2 * round + 2, "the fault happened");
            nothing_is_left(&mut connection).await;
        }
    }
}

#[tokio::test]
async fn attempt_that_is_cut_leaves_nothing_behind() {
    for keys in CALLERS {
        let (server, proxy, client) = behind_a_proxy().await;
        let mut connection = server.connection();
        for round in 0..4 {
            cut(&proxy, keys, round);
            let attempt = locks(&client, keys).try_acquire().await;
            assert!(attempt.unwrap_err().is_unavailable());
            nothing_is_left(&mut connection).await;
        }
    }
}

#[tokio::test]
async fn renewal_that_is_cut_is_sent_again() {
    let [one, several] = CALLERS.map(|keys| async move {
        let (server, proxy, client) = behind_a_proxy().await;
        // A lease that outlasts a stall of the machine.
        let guard = locks(&client, keys).ttl(ms(6_000)).acquire().await;
        let guard = guard.unwrap();
        let mut connection = server.connection();
        let mut rest = || -> Vec<i64> {
            let rest = |key: &&str| ask(&mut connection, &["PTTL", &format!("lock:{key}")]);
            keys.iter().map(rest).collect()
        };
        for round in 0..2 {
            cut(&proxy, keys, round);
            eventually("cut renewal", LONG, async || proxy.cuts() == round + 1).await;
            let mut before = rest();
            // Waits for a renewal that was not cut.
            eventually("renewal of all", LONG, async || {
                let now = rest();
                let before = std::mem::replace(&mut before, now.clone());
                now.iter().zip(before).all(|(now, before)| *now > before)
            })
            .await;
        }
        assert!(guard.is_valid());
        guard.release().await.unwrap();
    });
    tokio::join!(one, several);
}

/// Another caller holds the last of these keys, and one more waits for it.
async fn waiting(
    server: &RedisServer,
    waiter: &LockClient,
    keys: &[&'static str],
) -> (LockGuard, Waiting) {
    let last = keys.last().expect("there is a key");
    waiting_for(server, last, locks(waiter, keys).wait(LONG)).await
}

#[tokio::test]
async fn waiter_whose_polls_are_cut_keeps_its_locks_and_its_place() {
    for keys in CALLERS {
        let (server, proxy, client) = behind_a_proxy().await;
        let mut connection = server.connection();
        let (held, waiting) = waiting(&server, &client, keys).await;
        let queue = format!("{{lock:{}}}:w", keys[keys.len() - 1]);
        let place = |connection: &mut Connection| -> Vec<(String, f64)> {
            let range = ["ZRANGE", &queue, "0", "+inf", "BYSCORE", "WITHSCORES"];
            ask(connection, &range)
        };
        let before = place(&mut connection);
        let owner = before[0].0[..22].to_owned();
        for round in 0..4 {
            cut(&proxy, keys, round);
            eventually("cut poll", LONG, async || proxy.cuts() == round + 1).await;
        }
        assert_eq!(place(&mut connection), before);
        held.release().await.unwrap();
        let guard = served(waiting).await;
        for value in values(&mut connection, keys) {
            assert_eq!(value.expect("it is held")[..22], owner);
        }
        guard.release().await.unwrap();
        nothing_is_left(&mut connection).await;
    }
}

#[tokio::test]
async fn caller_that_gives_up_while_the_connection_is_cut_leaves_nothing_behind() {
    for keys in CALLERS {
        let (server, proxy, client) = behind_a_proxy().await;
        let mut connection = server.connection();
        for round in 0..2 {
            let (held, waiting) = waiting(&server, &client, keys).await;
            cut(&proxy, keys, round);
            waiting.abort();
            held.release().await.unwrap();
            nothing_is_left(&mut connection).await;
        }
    }
}

/// Each lease is confirmed once on the new connection: no storm of commands.
#[tokio::test]
async fn held_locks_are_confirmed_once_after_a_cut() {
    const HOLDS: usize = 20;
    // So long that no renewal is due.
    const TTL: Duration = Duration::from_secs(3_600);
    let (server, proxy, client) = behind_a_proxy().await;
    let mut guards = Vec::new();
    for number in 0..HOLDS {
        let lock = client.lock(format!("order:{number}")).ttl(TTL);
        guards.push(lock.acquire().await.unwrap());
    }
    let (mut monitor, mut renewals) = (server.monitor(), 0);
    let mut count = || {
        let names = monitor.names();
        renewals += names.iter().filter(|name| *name == "EVALSHA").count();
        renewals
    };
    proxy.kill_connections();
    eventually("renewals", LONG, async || count() >= HOLDS).await;
    // Further ones come at once.
    tokio::time::sleep(ms(100)).await;
    assert_eq!(count(), HOLDS);
    assert!(guards.iter().all(LockGuard::is_valid));
}
