//! Leases that expire, or belong to another caller, before their caller is polled.

use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use harness::{
    KEY, LOCK, LONG, Mode, Proxy, RedisServer, ask, bring_scripts, eventually, hold, ms, soon,
    wait_until,
};
use lock_runtime::{LockClient, LockError, LockGuard, testing};

/// A server, a proxy, and a client that waits for answers as long as a test takes. The server knows the
/// client's scripts.
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

/// Begins a release that names the head of the local queue as successor. Waits until the server has
/// handed the lock over; the proxy holds the answer back, so the client does not know.
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

/// The holder's `end` names the head of the local queue, with the head's ttl, and the head is dropped
/// before the answer. The next caller must not take that lease for one of its own ttl: it would rely on
/// the lease for longer than the server keeps it.
#[tokio::test]
async fn a_lease_granted_to_another_local_caller_has_that_callers_ttl() {
    // Not the holder's ttl, since a lease of that ttl would pass without a command.
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

/// The answer to the hand-off comes after the lease has expired: the caller asks for the lock again.
#[tokio::test]
async fn a_lease_that_expires_before_its_hand_off_is_known_is_acquired_again() {
    // Long enough for a busy machine to get from the grant to its caller.
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

/// A lease is granted while its caller is not polled, and expires before the next poll. A body must not
/// begin with it, since a synchronous one would run to its end.
#[tokio::test]
async fn a_lease_that_is_over_when_its_caller_is_polled_is_not_handed_over() {
    const TTL: Duration = ms(500);
    let server = RedisServer::start();
    let client = harness::client(server.url());
    // Once by a local turn, and once named in an `end`.
    for first in [TTL, LONG] {
        let guard = client.lock(KEY).ttl(first).wait(LONG).await.unwrap();
        let mut late = pin!(client.lock(KEY).ttl(TTL).renew(false).wait(LONG).acquire());
        assert!(!is_ready(late.as_mut()).await, "it is held");
        let next = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
        tokio::task::yield_now().await;
        guard.release().await.unwrap();
        // `next` is second in the queue: its turn comes after the lease of the first.
        let next = soon(next).await.unwrap().expect("its turn comes");
        let error = late.await.expect_err("its lease is over");
        assert!(error.is_lost(), "{error}");
        assert!(next.is_valid(), "it is none of its business");
        next.release().await.unwrap();
    }
}

/// A body loses its lock in its first poll, before its waker is registered for the loss, and then
/// sleeps. Nothing else would wake it.
#[tokio::test]
async fn a_body_that_loses_its_lock_while_it_is_polled_does_not_sleep_on() {
    let server = RedisServer::start();
    let theirs = harness::client(server.url());
    let lease = theirs.lock(KEY).ttl(ms(1_000)).renew(false);
    let guard = lease.acquire().await.unwrap();
    is_stopped(async move {
        let body = async {
            // The loss is by the clock, while the thread blocks.
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

/// The call fails without another poll of the body after the deadline.
async fn is_stopped(call: impl Future<Output = Result<(), LockError>> + Send + 'static) {
    let call = soon(tokio::spawn(call)).await.expect("it does not panic");
    let error = call.expect_err("it lost its lock");
    assert!(error.is_lost(), "{error}");
}
