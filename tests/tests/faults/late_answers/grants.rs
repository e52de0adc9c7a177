//! Grants that arrive after their lease.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use harness::{KEY, LOCK, LONG, Mode, behind_a_proxy, eventually, is_free, ms};
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

/// The answer to an acquire took longer than the lease that it granted. Bodies that are not dropped on a loss, such as
/// synchronous ones, ran without the lock.
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

/// A call that may wait asks again at once, not after a poll interval.
#[tokio::test]
async fn a_grant_that_arrives_after_its_lease_is_requested_again() {
    let (server, proxy, client) = behind_a_proxy().await;
    let mut monitor = server.monitor();
    // Long enough for a grant on a busy machine.
    let ttl = TTL * 5;
    let delay = ttl * 2;
    proxy.replies(Mode::Delay(delay));
    let waiting = tokio::spawn(client.lock(KEY).ttl(ttl).wait(LONG).acquire());
    let mut last: Option<Instant> = None;
    eventually("acquire soon after another", LONG, async || {
        let commands = monitor.take();
        let asks = commands.iter().any(|command| command.text.contains(LOCK));
        // A poll would come 600 ms after the late answer.
        let again = asks && last.is_some_and(|last| last.elapsed() < delay + ms(500));
        last = if asks { Some(Instant::now()) } else { last };
        again
    })
    .await;
    proxy.heal();
    let guard = waiting.await.unwrap();
    drop(guard.expect("the network is quick again"));
}
