//! How long fences are kept for clients that set another time than a day.

use std::time::Duration;

use harness::{
    FENCE, KEY, LOCK, LONG, RedisQuorum, RedisServer, ask, eventually, exists, is_awaited, ms,
    patient, token_of,
};
use lock_runtime::{FencingToken, LockClient, LockGuard};

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);
const WEEK: Duration = Duration::from_secs(7 * 24 * 3_600);

fn client(url: impl Into<String>, memory: Duration) -> LockClient {
    let builder = patient(url);
    builder.fence_retention(memory).build().unwrap()
}

/// How long a fence is kept after the time of its token, by the server's own clock.
fn memory_of(server: &RedisServer, fence: &str) -> Duration {
    let mut connection = server.connection();
    let token: u64 = ask(&mut connection, &["GET", fence]);
    // One command reads both, so that no time passes in between.
    let script = "local time = redis.call('TIME') \
                  return time[1] * 1000 + math.floor(time[2] / 1000) + redis.call('PTTL', KEYS[1])";
    let end: u64 = ask(&mut connection, &["EVAL", script, "1", fence]);
    Duration::from_millis(end - token / 1_000)
}

/// Asserts that a fence lives for `memory`, or a moment longer, since the script that wrote it took some time.
#[track_caller]
fn assert_memory(server: &RedisServer, fence: &str, memory: Duration) {
    let found = memory_of(server, fence);
    let is_expected = found + ms(2) >= memory && found < memory + Duration::from_secs(60);
    assert!(is_expected, "{found:?} in place of {memory:?}");
}

async fn lock(client: &LockClient) -> LockGuard {
    client.lock(KEY).wait(LONG).acquire().await.unwrap()
}

#[tokio::test]
async fn every_grant_remembers_the_fence_for_its_clients_time() {
    let server = RedisServer::start();
    for memory in [HOUR, WEEK, DAY] {
        let clients = [0; 2].map(|_| client(server.url(), memory));
        let [client, other] = &clients;
        // Checks a free lock, with the lock and after it.
        let fenced = client.lock(KEY).wait(LONG).fenced().acquire();
        fenced.await.unwrap().release().await.unwrap();
        assert_memory(&server, FENCE, memory);
        let _: bool = ask(&mut server.connection(), &["PEXPIRE", FENCE, "100000000"]);
        let guard = lock(client).await;
        token_of(&guard).await;
        assert_memory(&server, FENCE, memory);
        // Checks a lock that goes to a waiter.
        let waiting = tokio::spawn(other.lock(KEY).wait(LONG).acquire());
        is_awaited(&mut server.connection()).await;
        let _: bool = ask(&mut server.connection(), &["PEXPIRE", FENCE, "100000000"]);
        guard.release().await.unwrap();
        let guard = waiting.await.unwrap().unwrap();
        assert_memory(&server, FENCE, memory);
        guard.release().await.unwrap();
        // Checks the other modes.
        for mode in [
            client.lock("modes").read(),
            client.lock("modes").write(),
            client.lock("modes").permits(3),
            client.lock_all(["modes", "modes:2"]),
        ] {
            let guard = mode.wait(LONG).acquire().await.unwrap();
            assert_memory(&server, "{lock:modes}:f", memory);
            guard.release().await.unwrap();
        }
        let writer = client.lock("written").write().acquire().await.unwrap();
        let reader = writer.downgrade().await.unwrap();
        assert_memory(&server, "{lock:written}:f", memory);
        reader.release().await.unwrap();
    }
}

#[tokio::test]
async fn every_node_of_a_quorum_remembers_the_fence_for_its_clients_time() {
    let quorum = RedisQuorum::start();
    for memory in [HOUR, WEEK, DAY] {
        let client = client(quorum.url(), memory);
        let guard = lock(&client).await;
        for node in &quorum.nodes {
            eventually("vote", LONG, async || {
                exists(&mut node.connection(), FENCE)
                    && memory_of(node, FENCE) + ms(2) >= memory
                    && memory_of(node, FENCE) < memory + Duration::from_secs(60)
            })
            .await;
        }
        guard.release().await.unwrap();
        // A node that is late with the release gives the next client no vote.
        for node in &quorum.nodes {
            eventually("free node", LONG, async || {
                !exists(&mut node.connection(), LOCK)
            })
            .await;
        }
    }
}

/// The tokens of clients that take turns, whatever each does to the fence.
async fn tokens_of(clients: &[&LockClient]) -> Vec<FencingToken> {
    let mut tokens = Vec::new();
    for client in clients {
        let guard = lock(client).await;
        tokens.push(token_of(&guard).await);
        guard.release().await.unwrap();
    }
    tokens
}

#[tokio::test]
async fn tokens_rise_among_clients_of_different_memories() {
    let server = RedisServer::builder().own_clock().start();
    let [hour, day, week] = [HOUR, DAY, WEEK].map(|memory| client(server.url(), memory));
    let mut tokens = tokens_of(&[&week, &hour, &day, &hour, &week, &day]).await;
    // The clock is set back by less than the shortest memory.
    server.back(Duration::from_secs(3_500));
    tokens.extend(tokens_of(&[&hour, &day, &week, &hour]).await);
    // The fence is ahead of the clock. It is kept from its own time on, so that the clock has passed it when it
    // expires.
    let ahead = memory_of(&server, FENCE);
    assert!(ahead + ms(2) >= HOUR, "{ahead:?}");
    server.forward(Duration::from_secs(3_500 + 3_700));
    let fence: Option<u64> = ask(&mut server.connection(), &["GET", FENCE]);
    assert_eq!(fence, None, "the client of an hour was the last");
    tokens.extend(tokens_of(&[&week, &day, &hour, &week]).await);
    assert!(tokens.is_sorted_by(|one, next| one < next), "{tokens:?}");
}
