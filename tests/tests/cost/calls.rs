//! What an uncontended call costs a server, in what can be counted: commands, bytes and allocations. The bench measures
//! time.

use std::time::{Duration, Instant};

use harness::{
    KEY, LONG, QUEUE, RedisQuorum, RedisServer, ask, eventually, figure, hold, is_awaited, ms,
    patient, release_command, served, server_and_connection, token_of,
};
use lock_runtime::LockClient;
use redis::Connection;
use stats_alloc::Region;
use tokio::sync::oneshot;

use crate::{COUNTING, alone};

const CALLS: usize = 1_000;

/// A connection that was idle for this long or longer is read before a release.
const LOOKED_FOR: Duration = Duration::from_millis(1);

/// Bytes to the server, for a key of eight bytes and no label.
const BYTES: u64 = 300;

/// The most bytes that a node reads for a call: about 300 for an acquire, and 190 for an `end`. If the grant came in
/// time, a release of about 120 replaces the `end`.
const BYTES_ON_A_QUORUM: u64 = 512;

/// Bytes to the server for two keys of eight bytes.
const BYTES_OF_TWO_KEYS: u64 = 400;

/// The same for 32 keys.
const BYTES_OF_32_KEYS: u64 = 3_100;

/// Five of them are the labels of metrics, which this build of the tests records.
const ALLOCATIONS: usize = 16;

async fn call(client: &LockClient) {
    let guard = client.lock(KEY).acquire().await.unwrap();
    guard.release().await.unwrap();
}

/// A call whose grant has the token.
async fn fenced_call(client: &LockClient) {
    let guard = client.lock(KEY).fenced().acquire().await.unwrap();
    token_of(&guard).await;
    guard.release().await.unwrap();
}

/// A call that requests its token while it holds the lock.
async fn late_call(client: &LockClient) {
    let guard = client.lock(KEY).acquire().await.unwrap();
    for _ in 0..3 {
        token_of(&guard).await;
    }
    guard.release().await.unwrap();
}

/// A client that has connected, and whose scripts the server knows.
async fn warm(server: &RedisServer, label: bool) -> LockClient {
    let builder = patient(server.url());
    let builder = if label {
        builder.label("a service")
    } else {
        builder.without_label()
    };
    let client = builder.connect().await.unwrap();
    call(&client).await;
    fenced_call(&client).await;
    late_call(&client).await;
    client
}

/// All bytes that a server has read so far.
fn bytes_read(connection: &mut Connection) -> u64 {
    figure(connection, "total_net_input_bytes")
}

/// The bytes of the query itself, which are counted as well.
fn bytes_to_ask(connection: &mut Connection) -> u64 {
    bytes_read(connection).abs_diff(bytes_read(connection))
}

#[tokio::test]
async fn a_call_is_two_commands_of_three_hundred_bytes() {
    let _alone = alone().await;
    let (server, mut connection) = server_and_connection();
    let client = warm(&server, false).await;
    let look = bytes_to_ask(&mut connection);
    let release = release_command(&mut connection);

    for fenced in [false, true] {
        let call = async || {
            if fenced {
                fenced_call(&client).await;
            } else {
                call(&client).await;
            }
        };
        let before = bytes_read(&mut connection);
        call().await;
        let bytes = bytes_read(&mut connection) - before - look;
        println!("fenced: {fenced}, {bytes} bytes");
        assert!(bytes <= BYTES, "{bytes} bytes, fenced: {fenced}");

        let mut monitor = server.monitor();
        call().await;
        let acquire = if fenced { "EVALSHA" } else { "SET" };
        assert_eq!(monitor.names(), [acquire, release]);
    }
    let mut monitor = server.monitor();
    tokio::time::sleep(ms(2_000)).await;
    assert_eq!(monitor.names(), [""; 0], "an idle client sends nothing");
}

#[tokio::test]
async fn a_token_that_is_asked_for_later_is_one_command_and_first_a_question() {
    let _alone = alone().await;
    let (server, mut connection) = server_and_connection();
    let client = warm(&server, false).await;
    let release = release_command(&mut connection);
    let newcomer = patient(server.url()).connect().await.unwrap();
    call(&newcomer).await;
    let mut monitor = server.monitor();
    late_call(&newcomer).await;
    assert_eq!(monitor.names(), ["SET", "EVALSHA", "EVALSHA", release]);
    // Now it knows the server's time.
    late_call(&newcomer).await;
    assert_eq!(monitor.names(), ["SET", "EVALSHA", release]);
    // Nested calls send nothing, except that one requests the token for the outermost call.
    let nested = client.lock(KEY).run(async |_| {
        fenced_call(&client).await;
        call(&client).await;
        late_call(&client).await;
        client.lock(KEY).run(async |_| ()).await.unwrap();
        client.lock(KEY).run_blocking(|_| ()).unwrap();
        let strict = client.lock(KEY).reentrant(false).acquire().await;
        assert!(strict.unwrap_err().is_reentered());
    });
    nested.await.unwrap();
    assert_eq!(monitor.names(), ["SET", "EVALSHA", release]);
}

#[tokio::test]
async fn call_of_a_share_with_its_token_is_two_commands() {
    let _alone = alone().await;
    let server = RedisServer::start();
    let client = warm(&server, false).await;
    for share in [
        client.lock(KEY).read(),
        client.lock(KEY).write(),
        client.lock(KEY).permits(5),
    ] {
        let call = async || {
            let guard = share.clone().acquire().await.unwrap();
            token_of(&guard).await;
            guard.release().await.unwrap();
        };
        // From here on the server knows the scripts.
        call().await;
        let mut monitor = server.monitor();
        call().await;
        assert_eq!(monitor.names(), ["EVALSHA", "EVALSHA"]);
    }
    // A writer that becomes a reader gets another token, by the same command.
    let downgrade = async || {
        let guard = client.lock(KEY).write().acquire().await.unwrap();
        let reading = guard.downgrade().await.unwrap();
        token_of(&reading).await;
        reading.release().await.unwrap();
    };
    downgrade().await;
    let mut monitor = server.monitor();
    downgrade().await;
    assert_eq!(monitor.names(), ["EVALSHA"; 3]);
}

/// Several keys have a single owner, so each further key adds only its names.
#[tokio::test]
async fn call_of_several_keys_with_their_token_is_two_commands() {
    let _alone = alone().await;
    let (server, mut connection) = server_and_connection();
    let client = warm(&server, false).await;
    let look = bytes_to_ask(&mut connection);
    let call = async |keys: &[String]| {
        let guard = client.lock_all(keys.iter().cloned()).acquire().await;
        let guard = guard.unwrap();
        token_of(&guard).await;
        guard.release().await.unwrap();
    };
    for (count, at_most) in [(2, BYTES_OF_TWO_KEYS), (32, BYTES_OF_32_KEYS)] {
        let keys: Vec<String> = (10..10 + count).map(|of| format!("order:{of}")).collect();
        // From here on the server knows the scripts.
        call(&keys).await;
        let before = bytes_read(&mut connection);
        call(&keys).await;
        let bytes = bytes_read(&mut connection) - before - look;
        println!("{count} keys: {bytes} bytes");
        assert!(bytes <= at_most, "{count} keys: {bytes} bytes");

        let mut monitor = server.monitor();
        call(&keys).await;
        assert_eq!(monitor.names(), ["EVALSHA"; 2], "{count} keys");
    }
}

/// The owners are asked again only if nodes gave different tokens, which takes a command that is milliseconds late. A
/// busy machine causes that, so the cheapest of a few calls is counted.
#[tokio::test]
async fn call_on_a_quorum_is_two_commands_for_each_node() {
    const CALLS: usize = 10;
    const BATCHES: usize = 20;
    let _alone = alone().await;
    let quorum = RedisQuorum::start();
    let builder = patient(quorum.url()).without_label();
    let client = builder.connect().await.unwrap();
    // The nodes load the scripts, and the client measures how far their clocks are from its own.
    for _ in 0..10 * CALLS {
        call(&client).await;
    }
    let calls = async || {
        for _ in 0..CALLS {
            call(&client).await;
        }
    };
    let mut connections: Vec<_> = quorum.nodes.iter().map(RedisServer::connection).collect();
    let mut received = || connections.iter_mut().map(bytes_read).sum::<u64>();
    let look = received().abs_diff(received());
    let mut least = u64::MAX;
    for _ in 0..BATCHES {
        let before = received();
        calls().await;
        least = least.min(received() - before - look);
    }
    let bytes = least / (CALLS * quorum.nodes.len()) as u64;
    assert!(bytes <= BYTES_ON_A_QUORUM, "{bytes} bytes");

    let mut monitors: Vec<_> = quorum.nodes.iter().map(RedisServer::monitor).collect();
    let mut taken = || -> usize { monitors.iter_mut().map(|it| it.take().len()).sum() };
    let mut sent = Vec::new();
    for _ in 0..BATCHES {
        calls().await;
        sent.push(taken());
    }
    client.shutdown().await;
    let (all, least) = (sent.iter().sum::<usize>() + taken(), 2 * CALLS * 3);
    assert!(all >= BATCHES * least, "{sent:?}");
    assert!(sent.iter().any(|sent| *sent <= least), "{sent:?}");
}

/// The end goes in front of the release, and nobody waits for the answer to either entry.
#[tokio::test]
async fn a_call_that_records_its_run_is_two_commands_more() {
    let _alone = alone().await;
    let (server, mut connection) = server_and_connection();
    let client = warm(&server, false).await;
    let release = release_command(&mut connection);
    let recording = async || {
        let guard = client.lock(KEY).runs(3).acquire().await.unwrap();
        guard.release().await.unwrap();
    };
    // Until the first answer, an entry carries the script.
    let mut monitor = server.monitor();
    eventually("recorded run", LONG, async || {
        monitor.take();
        recording().await;
        monitor.names() == ["SET", "EVALSHA", "EVALSHA", release]
    })
    .await;
    // The server reads the end and the release at once, unless the background happens to write between the two.
    eventually("end in one write with the release", LONG, async || {
        let guard = client.lock(KEY).runs(3).acquire().await.unwrap();
        let mut seen = Vec::new();
        eventually("begin", LONG, async || {
            seen.extend(monitor.names());
            seen == ["SET", "EVALSHA"]
        })
        .await;
        let before = figure(&mut connection, "total_reads_processed");
        guard.release().await.unwrap();
        let reads = figure(&mut connection, "total_reads_processed") - before;
        monitor.take();
        // The figure itself is a read.
        reads == 2
    })
    .await;
    // The next call that records nothing sends nothing more.
    call(&client).await;
    assert_eq!(monitor.names(), ["SET", release]);
}

/// It writes nothing, so there is nothing to end.
#[tokio::test]
async fn an_attempt_at_a_held_lock_is_one_command() {
    let _alone = alone().await;
    let server = RedisServer::start();
    let (holder, other) = (warm(&server, true).await, warm(&server, true).await);
    let _guard = hold(&holder).await;
    let mut monitor = server.monitor();
    for attempts in 0..10 {
        let attempt = other.lock(KEY).try_acquire().await;
        assert!(attempt.unwrap().is_none(), "after {attempts}");
        assert_eq!(monitor.names(), ["EVALSHA"]);
    }
}

/// Its lock expires each time, and a caller that begins with a `SET` would come before the waiters each time.
#[tokio::test]
async fn call_with_a_minimum_hold_reads_the_queue_first() {
    let _alone = alone().await;
    let server = RedisServer::start();
    let client = warm(&server, true).await;
    let mut monitor = server.monitor();
    let lock = client.lock(KEY).min_hold(ms(1));
    let _guard = lock.acquire().await.unwrap();
    assert_eq!(monitor.names(), ["EVALSHA"]);
}

/// The holder knows from a message that a waiter queues, so it ends the lock without trying a release
/// first.
#[tokio::test]
async fn a_hand_off_is_two_commands() {
    let _alone = alone().await;
    let server = RedisServer::start();
    let (holder, waiter) = (warm(&server, true).await, warm(&server, true).await);
    let mut monitor = server.monitor();
    let mut connection = server.connection();
    // The first round brings the script to the server.
    for round in 0..3 {
        let guard = hold(&holder).await;
        let waiting = tokio::spawn(waiter.lock(KEY).wait(LONG).acquire());
        is_awaited(&mut connection).await;
        // The holder receives the message before its next answer.
        let other = holder.lock("other").acquire().await.unwrap();
        other.release().await.unwrap();
        monitor.take();
        guard.release().await.unwrap();
        let guard = served(waiting).await;
        let names = monitor.names();
        if round > 0 {
            assert_eq!(names, ["EVALSHA", "EVALSHA"], "round {round}");
        }
        guard.release().await.unwrap();
    }
}

/// The holder learns at its release that a waiter has queued meanwhile. Sometimes the background reads the message at
/// that moment; then the holder tries a release first.
#[tokio::test]
async fn a_hand_off_by_a_thread_that_was_busy_is_two_commands() {
    let _alone = alone().await;
    let server = RedisServer::start();
    // No runtime reads the connection for the holder.
    let holder = patient(server.url()).connect().await.unwrap();
    let waiter = warm(&server, true).await;
    let mut monitor = server.monitor();
    let mut connection = server.connection();
    eventually("hand-off of two commands", LONG, async || {
        let (holder, waiter) = (holder.clone(), waiter.clone());
        let (inside, is_inside) = oneshot::channel();
        let (go_on, goes_on) = std::sync::mpsc::channel::<()>();
        let holding = std::thread::spawn(move || {
            let guard = holder.lock(KEY).acquire_blocking().unwrap();
            inside.send(()).unwrap();
            goes_on.recv().unwrap();
            guard.release_blocking().unwrap();
        });
        is_inside.await.unwrap();
        let waiting = tokio::spawn(async move { hold(&waiter).await });
        // Short, or the background would have read the message; long enough for the release to read the
        // connection first.
        let started = Instant::now();
        while started.elapsed() < LOOKED_FOR || ask::<i64>(&mut connection, &["ZCARD", QUEUE]) == 0
        {
            tokio::task::yield_now().await;
        }
        go_on.send(()).unwrap();
        let guard = waiting.await.unwrap();
        holding.join().unwrap();
        let mut names = monitor.names();
        names.retain(|name| name != "ZCARD");
        guard.release().await.unwrap();
        monitor.take();
        // The holder's acquire, the waiter's acquire, and the two ends. From the first round on, the waiter knows that
        // the lock is contended.
        names == ["SET", "EVALSHA", "EVALSHA", "EVALSHA"]
    })
    .await;
}

#[tokio::test]
async fn a_call_allocates_as_little_as_possible_with_and_without_a_label() {
    let _alone = alone().await;
    let server = RedisServer::start();
    for label in [false, true] {
        let client = warm(&server, label).await;
        let region = Region::new(COUNTING);
        for _ in 0..CALLS {
            call(&client).await;
        }
        let change = region.change();
        let allocations = (change.allocations + change.reallocations) / CALLS;
        assert!(
            allocations <= ALLOCATIONS,
            "{allocations} allocations a call, label: {label}"
        );
    }
}
