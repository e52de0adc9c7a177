//! Callers of one client that want the same lock: how many commands they cost, and the turns of callers that leave.

use std::time::{Duration, Instant};

use harness::{
    KEY, LOCK, LONG, QUEUE, ask, behind_a_proxy, client, client_without_turns, cycle, eventually,
    exists, hold, ms, server_and_connection,
};
use lock_runtime::LockClient;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Pseudo-random numbers, the same in every run.
struct Random(u64);

impl Random {
    /// A time below `most` µs.
    fn micros(&mut self, most: u64) -> Duration {
        // Marsaglia's xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        Duration::from_micros(self.0 % most)
    }
}

/// Callers that hold the lock for a moment and wait hardly longer. Most give up, or are dropped, at about the time of
/// their turn.
async fn crowd(clients: &[LockClient]) {
    const CALLERS: usize = 32;
    const CALLS: usize = 60;
    let mut callers = JoinSet::new();
    for caller in 1..=CALLERS {
        let client = clients[caller % clients.len()].clone();
        let mut random = Random((caller as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        callers.spawn(async move {
            for _ in 0..CALLS {
                let [wait, stay, leave] = [6_000, 4_000, 6_000].map(|most| random.micros(most));
                let lock = client.lock(KEY).wait(wait);
                let visit = lock.run(async |_| sleep(stay).await);
                tokio::select! {
                    // The caller is dropped even if its turn comes at this moment.
                    biased;
                    () = sleep(leave) => {}
                    Err(error) = visit => assert!(error.is_busy(), "{error}"),
                    else => {}
                }
            }
        });
    }
    callers.join_all().await;
    // After a lost turn no waiter is woken: each waits for its full time, and then makes an attempt.
    for client in clients {
        let after = client.lock(KEY).wait(LONG).acquire();
        let after = timeout(LONG / 4, after).await;
        let after = after.expect("the last turn was handed over").unwrap();
        after.release().await.unwrap();
    }
}

/// If a caller gave up at the moment of its turn, the turn could be lost, and the local queue with it: no caller of
/// this process would have got the lock again.
#[tokio::test]
async fn a_turn_is_never_lost_on_a_server() {
    let (server, mut connection) = server_and_connection();
    // With one client, holders hand over every turn; with two, some turns go to waiters in Redis.
    for clients in 1..=2 {
        let clients: Vec<LockClient> = (0..clients).map(|_| client(server.url())).collect();
        crowd(&clients).await;
    }
    // Sooner than an abandoned queue entry would expire.
    eventually("empty queue", ms(5_000), async || {
        !exists(&mut connection, QUEUE) && !exists(&mut connection, LOCK)
    })
    .await;
}

/// The same in the memory backend.
#[tokio::test]
async fn a_turn_is_never_lost_in_memory() {
    let client = LockClient::memory();
    crowd(std::slice::from_ref(&client)).await;
    cycle(&client).await;
}

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
            let words: Vec<&str> = command.text.split('"').skip(1).step_by(2).collect();
            match words[..] {
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
