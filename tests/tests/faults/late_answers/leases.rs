//! Leases that are over, or are another's, before their caller gets to look.

use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use harness::{
    KEY, LOCK, LONG, Mode, Proxy, RedisServer, ask, bring_scripts, eventually, hold, ms, soon,
    wait_until,
};
use lock_runtime::{LockClient, LockError, LockGuard, testing};

/// A server, a proxy, and a client of it that waits for an answer for as long as a test takes, and
/// whose scripts are known.
async fn behind_a_proxy() -> (RedisServer, Proxy, LockClient) {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let builder = LockClient::builder().url(proxy.url());
    let client = builder.command_timeout(LONG).build().unwrap();
    bring_scripts(&client).await;
    (server, proxy, client)
}

/// Polls once.
async fn is_ready<F: Future>(mut future: Pin<&mut F>) -> bool {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_ready())).await
}

/// The owner in the lock's record.
fn owner(server: &RedisServer) -> Option<String> {
    let value: Option<String> = ask(&mut server.connection(), &["GET", LOCK]);
    value.map(|value| value[..22].to_owned())
}

/// Begins a release that names the first in line, and waits until the server has handed the lock
/// over and nobody here knows: no answer comes through.
async fn hand_over_unheard(
    server: &RedisServer,
    proxy: &Proxy,
    guard: LockGuard,
) -> tokio::task::JoinHandle<()> {
    let before = owner(server);
    proxy.replies(Mode::Hold);
    let release = tokio::spawn(async move { guard.release().await.expect("it was held") });
    eventually("hand-over", LONG, async || owner(server) != before).await;
    release
}

/// The first in line is named in the `end` of the holder, with its own ttl, and is gone before the
/// answer comes. Whoever follows it must not take that lease for one of its own length: it would
/// believe in it for longer than the server does.
#[tokio::test]
async fn a_lease_that_was_granted_to_another_caller_of_the_line_has_that_ones_length() {
    // Not the ttl of the holder: that lease would pass to it without a command.
    const FIRST: Duration = Duration::from_secs(20);
    const SECOND: Duration = Duration::from_secs(3_600);
    let (server, proxy, client) = behind_a_proxy().await;
    let guard = hold(&client).await;
    let mut first = Box::pin(client.lock(KEY).ttl(FIRST).wait(LONG).acquire());
    let mut second = pin!(client.lock(KEY).ttl(SECOND).wait(LONG).acquire());
    assert!(!is_ready(first.as_mut()).await, "it is held");
    assert!(!is_ready(second.as_mut()).await, "it is held");
    let release = hand_over_unheard(&server, &proxy, guard).await;
    drop(first);
    proxy.heal();
    let guard = soon(second).await.expect("it is its turn");
    let left: i64 = ask(&mut server.connection(), &["PTTL", LOCK]);
    assert!(
        left > FIRST.as_millis() as i64,
        "the holder believes in {:?}, the server in {left} ms",
        guard.remaining()
    );
    guard.release().await.unwrap();
    release.await.unwrap();
}

/// The answer that hands the lock on comes when that lease is over: it is asked for again.
#[tokio::test]
async fn a_lease_that_is_over_when_the_next_in_line_hears_of_it_is_asked_for_again() {
    // Long enough that a busy machine gets from a grant to its caller within it.
    const TTL: Duration = ms(4_000);
    let (server, proxy, client) = behind_a_proxy().await;
    let guard = hold(&client).await;
    let next = tokio::spawn(client.lock(KEY).ttl(TTL).wait(LONG).acquire());
    tokio::task::yield_now().await;
    let release = hand_over_unheard(&server, &proxy, guard).await;
    eventually("end of that lease", LONG, async || owner(&server).is_none()).await;
    proxy.heal();
    let guard = soon(next).await.unwrap().expect("it has time to ask again");
    assert!(guard.is_valid());
    guard.release().await.unwrap();
    release.await.unwrap();
}

/// A lease is granted while nobody polls its caller, and is over by the time that somebody does. A
/// body must not begin with it: one that cannot be stopped would run to its end.
#[tokio::test]
async fn a_lease_that_is_over_when_its_caller_is_polled_is_not_handed_over() {
    const TTL: Duration = ms(500);
    let server = RedisServer::start();
    let client = harness::client(server.url());
    // Passed on as it is, and named in an `end`.
    for first in [TTL, LONG] {
        let guard = client.lock(KEY).ttl(first).wait(LONG).await.unwrap();
        let mut late = pin!(client.lock(KEY).ttl(TTL).renew(false).wait(LONG).acquire());
        assert!(!is_ready(late.as_mut()).await, "it is held");
        let next = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
        tokio::task::yield_now().await;
        guard.release().await.unwrap();
        // It is behind: its turn comes when the other one's lease is over.
        let next = soon(next).await.unwrap().expect("its turn comes");
        let error = late.await.expect_err("its lease is over");
        assert!(error.is_lost(), "{error}");
        assert!(next.is_valid(), "it is none of its business");
        next.release().await.unwrap();
    }
}

/// A body loses its lock in its first poll, before anything is there to wake it for that, and goes to
/// sleep. Nothing else would wake it.
#[tokio::test]
async fn a_body_that_loses_its_lock_while_it_is_polled_does_not_sleep_on() {
    let server = RedisServer::start();
    let theirs = harness::client(server.url());
    let lease = theirs.lock(KEY).ttl(ms(1_000)).renew(false);
    let guard = lease.acquire().await.unwrap();
    is_stopped(async move {
        let body = async {
            // By the clock, while its thread is not there.
            wait_until("end of the lease", LONG, || !guard.is_valid());
            pending().await
        };
        guard.run(body).await
    })
    .await;

    let memory = LockClient::memory();
    let told = memory.clone();
    is_stopped(memory.lock(KEY).run(async move |_| {
        testing::lose(&told, KEY).expect("it has the lock");
        pending::<()>().await;
    }))
    .await;
}

/// The call fails, and does so without being polled by anybody whose own time is over.
async fn is_stopped(call: impl Future<Output = Result<(), LockError>> + Send + 'static) {
    let call = soon(tokio::spawn(call)).await.expect("it does not panic");
    let error = call.expect_err("it lost its lock");
    assert!(error.is_lost(), "{error}");
}
