//! A lock that is lost while nested calls run.

use std::sync::atomic::{AtomicBool, Ordering};

use harness::{LOCK, ask, patient, server_and_connection, wait_until};
use lock_runtime::{Acquire, LockClient, LockError, LockErrorKind, LockGuard, distributed_lock};

use super::{KEY, LONG, ms, soon};

fn short(client: &LockClient) -> Acquire {
    client.lock(KEY).ttl(ms(80)).renew(false)
}

/// Blocks its thread until the lease has expired.
fn outlast(guard: &LockGuard) {
    wait_until("loss", LONG, || !guard.is_valid());
}

/// The fallback of the nested call would run outside the lock of its caller.
#[distributed_lock(key = "order:42", client = locks, or_else = |_| fallback(ran))]
async fn with_fallback(locks: &LockClient, ran: &AtomicBool) {}

fn fallback(ran: &AtomicBool) {
    ran.store(true, Ordering::SeqCst);
}

/// Asserts that the outermost call fails: its body does not continue after `nested`.
async fn goes_no_further<T>(client: &LockClient, nested: impl AsyncFn(&LockGuard) -> T) {
    let went_on = AtomicBool::new(false);
    let body = async |outer: &LockGuard| {
        drop(nested(outer).await);
        went_on.store(true, Ordering::SeqCst);
    };
    let error = soon(short(client).run(body)).await.unwrap_err();
    assert!(error.is_lost(), "{error}");
    assert!(!went_on.load(Ordering::SeqCst), "the body continued");
}

#[tokio::test]
async fn a_nested_call_stays_pending_when_the_outer_hold_is_lost() {
    let (client, ran) = (LockClient::memory(), AtomicBool::new(false));
    goes_no_further(&client, async |outer| {
        outlast(outer);
        with_fallback(&client, &ran).await;
    })
    .await;
    assert!(!ran.load(Ordering::SeqCst), "the fallback ran");
    // It waits for a sibling,
    goes_no_further(&client, async |_| {
        let _sibling = client.lock(KEY).acquire().await.unwrap();
        client.lock(KEY).wait(LONG).acquire().await
    })
    .await;
    // or its own body runs.
    goes_no_further(&client, async |_| {
        let inner = async |_: &LockGuard| std::future::pending::<()>().await;
        client.lock(KEY).run(inner).await
    })
    .await;
}

/// At the mint the server reports another holder.
#[tokio::test]
async fn a_nested_call_that_asks_for_a_token_stays_pending_when_the_outer_hold_is_lost() {
    let (server, _) = server_and_connection();
    let client = patient(server.url()).build().unwrap();
    let body = async |_: &LockGuard| {
        let _: i64 = ask(&mut server.connection(), &["DEL", LOCK]);
        let nested = client.lock(KEY).fenced().acquire().await;
        unreachable!("the body continued: {nested:?}");
    };
    let error = soon(client.lock(KEY).run(body)).await.unwrap_err();
    assert!(error.is_lost(), "{error}");
}

#[tokio::test]
async fn a_sync_call_under_a_lost_hold_fails() {
    let client = LockClient::memory();
    let body = |outer: &LockGuard| {
        outlast(outer);
        client.lock(KEY).acquire_blocking().unwrap_err().kind()
    };
    let mut kind = None;
    let error = short(&client).run_blocking(|outer| kind = Some(body(outer)));
    assert!(error.unwrap_err().is_lost());
    assert_eq!(kind, Some(LockErrorKind::Lost));
}

/// A body that is allowed to finish is not dropped, so its nested calls must end.
#[distributed_lock(key = "order:42", ttl = "80ms", renew = false, on_lost = "finish", client = locks, guard = outer)]
async fn finishes(locks: &LockClient) -> Result<LockErrorKind, LockError> {
    outer.lost().await;
    Ok(soon(locks.lock(KEY).acquire()).await.unwrap_err().kind())
}

#[tokio::test]
async fn nested_calls_of_a_body_that_may_finish_fail_after_a_loss() {
    let client = LockClient::memory();
    assert_eq!(finishes(&client).await.unwrap(), LockErrorKind::Lost);
}
