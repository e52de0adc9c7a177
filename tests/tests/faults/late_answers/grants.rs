//! Grants that arrive after their lease.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use harness::{
    KEY, LOCK, LONG, Mode, ask, behind_a_proxy, eventually, is_free, ms, nothing_is_left, served,
};
use lock_runtime::{LockClient, LockError, distributed_lock};

const TTL: Duration = ms(60);

/// The effect of a body that runs.
static RAN: AtomicBool = AtomicBool::new(false);

fn body() {
    RAN.store(true, Ordering::SeqCst);
}

#[distributed_lock(key = "order:42", ttl = TTL, wait = "0s", client = locks)]
async fn asynchronous(locks: &LockClient) -> Result<(), LockError> {
    body();
    Ok(())
}

#[distributed_lock(key = "order:42", ttl = TTL, wait = "0s", on_lost = "finish", client = locks)]
async fn finishing(locks: &LockClient) -> Result<(), LockError> {
    body();
    Ok(())
}

#[distributed_lock(key = "order:42", ttl = TTL, wait = "0s", client = locks)]
fn synchronous(locks: &LockClient) -> Result<(), LockError> {
    body();
    Ok(())
}

/// The answer to an acquire took longer than the lease that it granted. Bodies that are not dropped on
/// a loss, such as synchronous ones, ran without the lock.
#[tokio::test]
async fn a_grant_that_arrives_after_its_lease_is_not_handed_over() {
    let (server, proxy, client) = behind_a_proxy().await;
    proxy.replies(Mode::Delay(TTL * 3));
    let lock = || client.lock(KEY).ttl(TTL).wait(Duration::ZERO);
    let outcomes = [
        lock().acquire().await.map(drop),
        lock().wait(TTL * 2).acquire().await.map(drop),
        lock().acquire_blocking().map(drop),
        lock().run(async |_| body()).await,
        lock().run_blocking(|_| body()),
        asynchronous(&client).await,
        finishing(&client).await,
        synchronous(&client),
    ];
    for outcome in outcomes {
        let error = outcome.unwrap_err();
        assert!(error.is_unavailable(), "{error}");
        assert!(error.to_string().contains("took longer"), "{error}");
    }
    assert!(!RAN.load(Ordering::SeqCst), "a body ran without the lock");
    let mut connection = server.connection();
    is_free(&mut connection, LONG).await;
}

/// A grant that arrived after its lease ended the call, although its wait was not over.
#[tokio::test]
async fn a_grant_that_arrives_after_its_lease_is_requested_again() {
    let (server, proxy, client) = behind_a_proxy().await;
    let mut monitor = server.monitor();
    // Long enough to be had on a busy machine, and late before the command times out.
    let ttl = TTL * 5;
    proxy.replies(Mode::Delay(ttl * 2));
    let waiting = tokio::spawn(client.lock(KEY).ttl(ttl).wait(LONG).acquire());
    let mut asked = 0;
    eventually("second acquire", LONG, async || {
        let commands = monitor.take();
        asked += commands.iter().filter(|it| it.text.contains(LOCK)).count();
        asked >= 2
    })
    .await;
    proxy.heal();
    let guard = waiting.await.unwrap();
    drop(guard.expect("the network is quick again"));
}

#[tokio::test]
async fn a_waiter_gets_the_lock_that_was_granted_by_an_unanswered_command() {
    let (server, proxy, client) = behind_a_proxy().await;
    let mut connection = server.connection();
    // Longer than the command timeout, so that the first answer is given up.
    proxy.replies(Mode::Delay(ms(1_200)));
    let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    eventually("unanswered hold", LONG, async || {
        ask::<i64>(&mut connection, &["EXISTS", LOCK]) == 1
    })
    .await;
    let first: String = ask(&mut connection, &["GET", LOCK]);
    tokio::time::sleep(ms(1_100)).await;
    proxy.heal();
    let guard = served(waiting).await;
    let now: String = ask(&mut connection, &["GET", LOCK]);
    assert_eq!(first, now, "it is the same owner with the same token");
    guard.release().await.unwrap();
    nothing_is_left(&mut connection, ms(5_000)).await;
}
